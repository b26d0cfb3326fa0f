import { h } from '../element.ts';
import { count, counted } from '../format.ts';
import { entryView } from '../model/entry.ts';
import type { JobEntry, Status } from '../responses.ts';
import { definitions, foldAfter, section } from '../ui.ts';
import { entryName } from './job-words.ts';
import { termsInWords } from './terms.ts';

/** The others of a large job are in a fold of their own. */
const ENTRIES_AT_FIRST = 20;

/** What a job ran with: its terms, and what each model was asked. */
export function ranWith(status: Status): HTMLElement {
  const { symbols } = status.terms;
  return section(
    'Terms',
    definitions('entry', termsInWords(status)),
    h('details.fold', h('summary', counted(symbols.length, 'symbol')), h('p', symbols.join(', '))),
    h('h3', 'What ran'),
    ...foldAfter(
      ENTRIES_AT_FIRST,
      status.entries.map(entryFold),
      (others) => `${count(others)} more`,
    ),
  );
}

function entryFold(ran: JobEntry): HTMLElement {
  return h('details.fold', h('summary', entryName(ran)), entryView(ran.entry));
}
