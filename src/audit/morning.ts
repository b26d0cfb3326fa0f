import type { KnownDividend, KnownSplit } from '../database/evidence.ts';
import { type LedgerRecord, RECORDS_PER_STEP } from '../database/audit.ts';
import {
  type MorningEvent,
  dividendOn,
  inEarlierShares,
  inOrder,
  payDividend,
} from '../trading/morning.ts';
import { type Portfolio, applySplit, quantityOf } from '../trading/portfolio.ts';
import { type Steps, mapInSteps } from '../turns.ts';
import { nameOfDividend } from './dividends.ts';
import { nameOf } from './evidence.ts';
import type { Note } from './notes.ts';
import { type Act, type RightPrice, afterRecord, atAction, checkPrice, refuse } from './effect.ts';

/** The splits and dividends that a session knew, and the value of its holdings in the morning. */
export interface MorningEvidence {
  splits: readonly KnownSplit[];
  dividends: readonly KnownDividend[];
  markOf: (symbol: string) => RightPrice;
}

type Event = MorningEvent<KnownSplit, KnownDividend>;

/** Whether a record is of what happened before the session: a split or a dividend. */
export function isOfMorning({ actionType }: LedgerRecord): boolean {
  return actionType === 'split' || actionType === 'dividend';
}

/**
 * Applies the splits and pays the dividends since the day that a session started from again, and
 * compares them with its first records. Returns for each of these the portfolios it may have left,
 * as `replay` does for all records.
 */
export function* replayMorning(
  records: readonly LedgerRecord[],
  starts: readonly Portfolio[],
  { splits, dividends, markOf, note }: MorningEvidence & { note: Note },
): Steps<(readonly Portfolio[])[]> {
  const events: readonly Event[] = inOrder(splits, dividends);
  let before = starts;
  let next = 0;
  const skipTo = (index: number) => {
    for (const event of events.slice(next, index))
      if (before.every((portfolio) => quantityOf(portfolio, symbolOf(event)) > 0))
        note(`${describe(event)} has no record`);
    next = index + 1;
  };
  const apply = (record: LedgerRecord) => {
    const noteHere = atAction(record, note);
    const index = events.findIndex((event, place) => place >= next && isRecordOf(record, event));
    if (index !== -1) skipTo(index);
    const later = events
      .slice(index + 1)
      .flatMap(({ split }) => (split?.symbol === record.symbol ? [split] : []));
    const act = actOf(record, { event: events[index], later, markOf }, noteHere);
    before = afterRecord(record, { before, act }, noteHere);
    return before;
  };
  const after = yield* mapInSteps(records, apply, RECORDS_PER_STEP);
  skipTo(events.length);
  return after;
}

function symbolOf({ split, dividend }: Event): string {
  return (split ?? dividend).symbol;
}

function isRecordOf({ actionType, symbol }: LedgerRecord, event: Event): boolean {
  return (
    symbol === symbolOf(event) && actionType === (event.split === undefined ? 'dividend' : 'split')
  );
}

function describe({ split, dividend }: Event): string {
  if (split !== undefined)
    return `the split of ${split.symbol} on ${split.date} (${nameOf(split)})`;
  return `the dividend of ${dividend.symbol} on ${dividend.exDate} (${nameOfDividend(dividend)})`;
}

function actOf(
  record: LedgerRecord,
  {
    event,
    later,
    markOf,
  }: Pick<MorningEvidence, 'markOf'> & { event: Event | undefined; later: readonly KnownSplit[] },
  note: Note,
): Act {
  if (event === undefined) return refuse(`no ${record.actionType} of ${record.symbol} was known`);
  return event.split === undefined
    ? dividendAct(record, event.dividend, note)
    : splitAct(record, { split: event.split, later, markOf }, note);
}

function dividendAct(
  record: LedgerRecord,
  { symbol, paid: perShare }: KnownDividend,
  note: Note,
): Act {
  checkPrice(record, dividendOn(1, perShare), note);
  return (before) => {
    const { portfolio, shares } = payDividend(before, { symbol, perShare });
    return shares === record.amount
      ? portfolio
      : `amount of ${symbol} is ${record.amount}, the dividend is paid on ${shares}`;
  };
}

function splitAct(
  record: LedgerRecord,
  {
    split,
    later,
    markOf,
  }: Pick<MorningEvidence, 'markOf'> & { split: KnownSplit; later: readonly KnownSplit[] },
  note: Note,
): Act {
  const { symbol, numerator, denominator } = split;
  const price = checkPrice(record, inShares(markOf(symbol), later), note);
  if (price === null) return refuse('it has no price');
  return (before) => {
    const { portfolio, added } = applySplit(before, { symbol, numerator, denominator, price });
    if (added === record.amount) return portfolio;
    return `amount of ${symbol} is ${record.amount}, the split ${nameOf(split)} of ${quantityOf(before, symbol)} adds ${added}`;
  };
}

/**
 * Fractions are paid at the morning's mark, converted back to the shares of this split where others
 * follow it.
 */
function inShares(mark: RightPrice, later: readonly KnownSplit[]): RightPrice {
  if (mark === null || mark === 'unknown') return mark;
  return inEarlierShares(
    mark,
    later.reduce((ratio, { numerator, denominator }) => ratio * (numerator / denominator), 1),
  );
}
