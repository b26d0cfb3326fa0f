import { modelDayPath } from '../../page-paths.ts';
import { type Child, h } from '../element.ts';
import { count, longDate, price } from '../format.ts';
import { lookOf, swatch } from '../look.ts';
import { speakerOf } from '../model-day/speakers.ts';
import type { Decision, FoundMessage } from '../responses.ts';
import { localTime } from '../ui.ts';
import { piecesOf } from './marked.ts';

/**
 * One decision: what a model did, in its words why, and what became of it. It links to its
 * model-day. Words that are those of the item above are not repeated.
 */
export function decisionItem(decision: Decision, above: Decision | null): HTMLElement {
  const { kind, model, date, reason, detail, timestamp } = decision;
  return h(
    `li.${kind}`,
    h(
      'p.did',
      dayLink(model, date),
      h(`span.act.${kind}`, ...deedOf(decision)),
      h('span.when.quiet', localTime(timestamp)),
    ),
    detail !== null && h('p.detail', detail),
    reason !== null &&
      (isSameReason(decision, above)
        ? h('p.reason.quiet', 'For the same reason.')
        : h('p.reason', reason)),
  );
}

function isSameReason({ session_id: session, reason }: Decision, above: Decision | null): boolean {
  return above?.session_id === session && above.reason === reason;
}

/** A message that was found, with the words that were searched for. */
export function messageItem(message: FoundMessage): HTMLElement {
  const { model, date, tool_name: tool, excerpt, matches, timestamp } = message;
  const pieces = piecesOf(excerpt, matches).map(({ text, isMatch }) =>
    isMatch ? h('mark', text) : text,
  );
  return h(
    'li.found',
    h(
      'p.did',
      dayLink(model, date),
      h('span', longDate(date)),
      h('span.quiet', tool === null ? speakerOf(message) : h('code', tool)),
      h('span.when.quiet', localTime(timestamp)),
    ),
    h('p.reason', ...pieces),
  );
}

function dayLink(model: string, date: string): HTMLElement {
  return h(
    'span.who-did',
    swatch(lookOf(model)),
    h('a', { href: modelDayPath(model, date), title: model }, model),
  );
}

function deedOf({ kind, side, amount, symbol, price: paid }: Decision): Child[] {
  if (kind === 'no_trade') return ['No trade'];
  if (kind === 'failure') return ['Failed'];
  const order = [amount === null ? null : count(amount), symbol]
    .filter((part) => part !== null)
    .join(' ');
  if (kind === 'refusal') return [`Order refused: ${side} ${order}`];
  return [`${side === 'buy' ? 'Bought' : 'Sold'} ${order} at ${price(paid)}`];
}
