import { type LedgerRecord, RECORDS_PER_STEP } from '../database/audit.ts';
import type { CalendarDate } from '../calendar.ts';
import type { Evidence } from '../database/evidence.ts';
import { type Portfolio, type TradingCosts, buy, fillPrice, sell } from '../trading/portfolio.ts';
import { type Steps, mapInSteps } from '../turns.ts';
import { isOfMorning, replayMorning } from './morning.ts';
import type { Note } from './notes.ts';
import { type Act, type RightPrice, afterRecord, atAction, checkPrice, refuse } from './effect.ts';

/** What a day's actions are replayed with. */
interface Conditions {
  date: CalendarDate;
  evidence: Evidence;
  costs: TradingCosts;
  note: Note;
}

/**
 * Replays a day's actions in order, with the prices that it used. Returns for each record the
 * portfolio that its action makes of the one before. Where a record differs from its action, this
 * is noted once and replay continues with both: the portfolio as it should be, then the record's
 * own. So one wrong figure is reported in one sentence.
 */
export function* replay(
  records: readonly LedgerRecord[],
  starts: readonly Portfolio[],
  { date, evidence, costs, note }: Conditions,
): Steps<(readonly Portfolio[])[]> {
  const opens = new Map(evidence.prices.map(({ symbol, open }) => [symbol, open]));
  const openOf = (symbol: string, asFill: boolean): RightPrice => {
    const open = opens.get(symbol);
    if (open === undefined || (asFill && open !== null && open.date !== date)) return null;
    return open === null ? 'unknown' : open.price;
  };
  const firstTrade = records.findIndex((record) => !isOfMorning(record));
  const count = firstTrade === -1 ? records.length : firstTrade;
  const { splits, dividends } = evidence;
  const markOf = (symbol: string) => openOf(symbol, false);
  const afterMorning = yield* replayMorning(records.slice(0, count), starts, {
    splits,
    dividends,
    markOf,
    note,
  });
  let before: readonly Portfolio[] = afterMorning.at(-1) ?? starts;
  const trade = (record: LedgerRecord) => {
    const noteHere = atAction(record, note);
    const act = actOf(record, { openOf: (symbol) => openOf(symbol, true), costs, note: noteHere });
    before = afterRecord(record, { before, act }, noteHere);
    return before;
  };
  const afterTrades = yield* mapInSteps(records.slice(count), trade, RECORDS_PER_STEP);
  checkOrder(records, note);
  return [...afterMorning, ...afterTrades];
}

function actOf(
  record: LedgerRecord,
  {
    openOf,
    costs,
    note,
  }: { openOf: (symbol: string) => RightPrice; costs: TradingCosts; note: Note },
): Act {
  const { actionType, symbol, amount } = record;
  if (actionType === 'split' || actionType === 'dividend')
    return refuse(`a ${actionType} is recorded after the trades of the day`);
  if (actionType === 'no_trade' || symbol === null || amount === null)
    return (portfolio) => portfolio; // a constraint ensures it
  const open = openOf(symbol);
  const price = checkPrice(
    record,
    typeof open === 'number' ? fillPrice(open, actionType, costs) : open,
    note,
  );
  if (price === null) return refuse('it has no price');
  const trade = actionType === 'buy' ? buy : sell;
  return (before) => {
    const { portfolio, refusal } = trade(before, { symbol, amount, price, costs });
    return portfolio ?? String(refusal);
  };
}

/**
 * `action_id` counts from 1. A day without trades has one `no_trade` record, its last; a day with
 * trades has none.
 */
function checkOrder(records: readonly LedgerRecord[], note: Note): void {
  const missing = records.findIndex(({ actionId }, index) => actionId !== index + 1);
  if (missing !== -1) note(`action ${missing + 1} is missing`);
  const count = records.filter(({ actionType }) => actionType === 'no_trade').length;
  const hasTraded = records.some(({ actionType }) => actionType === 'buy' || actionType === 'sell');
  if (records.length === 0) note('it has no record');
  else if (hasTraded && count > 0) note('it has a no_trade record beside its trades');
  else if (!hasTraded && count !== 1) note(`it has no trade and ${count} no_trade records`);
}
