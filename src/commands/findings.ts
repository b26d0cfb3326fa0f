import type { Finding } from '../audit/audit.ts';
import type { Listed } from '../domain.ts';
import { forTerminal } from '../text.ts';
import { number } from './words.ts';

/** At most this many items of a list are printed; the others are counted. */
const MAX_PRINTED = 200;

/** What was found in model-days, below a title. */
export function findings(title: string, list: Listed<Finding>): string[] {
  return listed(title, list, ({ model, date, sessionId, status, sentences }) => {
    const session =
      sessionId === null
        ? ''
        : ` (session ${sessionId}${status === 'active' ? '' : `, ${status}`})`;
    return [`${model} ${date}${session}`, ...sentences.map((sentence) => `  ${sentence}`)];
  });
}

/** A title with the number, and a bounded number of items below it; nothing when there are none. */
export function listed<Item>(
  title: string,
  { first, total }: Listed<Item>,
  linesOf: (item: Item) => string[],
): string[] {
  if (total === 0) return [];
  const printed = first.slice(0, MAX_PRINTED);
  const more = total > printed.length ? [`and ${number(total - printed.length)} more`] : [];
  const lines = [...printed.flatMap(linesOf), ...more].map((text) => `    ${forTerminal(text)}`);
  return [`  ${title}: ${number(total)}`, ...lines];
}
