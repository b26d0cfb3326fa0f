import {
  type Evidence,
  type KnownDividend,
  type KnownSplit,
  marksIn,
} from '../database/evidence.ts';
import type { LedgerRecord } from '../database/audit.ts';
import {
  dividendOn,
  inEarlierShares,
  inOrder,
  type MorningEvent,
  payDividend,
} from '../trading/morning.ts';
import {
  applySplit,
  buy,
  fillPrice,
  type Portfolio,
  quantityOf,
  sell,
  type TradingCosts,
  valueOf,
} from '../trading/portfolio.ts';
import { nameOf, nameOfDividend } from './evidence.ts';
import {
  type Act,
  afterRecord,
  atAction,
  checkPrice,
  type Note,
  refuse,
  type RightPrice,
} from './effect.ts';
import type { CalendarDate } from '../basics/calendar.ts';
import { formatDollars, type Money, money } from '../basics/money.ts';
import { percent } from '../trading/day-records.ts';

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
export function replayMorning(
  records: readonly LedgerRecord[],
  starts: readonly Portfolio[],
  { splits, dividends, markOf, note }: MorningEvidence & { note: Note },
): (readonly Portfolio[])[] {
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
    const act = morningActOf(record, { event: events[index], later, markOf }, noteHere);
    before = afterRecord(record, { before, act }, noteHere);
    return before;
  };
  const after = records.map(apply);
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

function morningActOf(
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
export function replay(
  records: readonly LedgerRecord[],
  starts: readonly Portfolio[],
  { date, evidence, costs, note }: Conditions,
): (readonly Portfolio[])[] {
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
  const afterMorning = replayMorning(records.slice(0, count), starts, {
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
  const afterTrades = records.slice(count).map(trade);
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

/**
 * Records with the portfolios they may have, as `replay` returns them, and the values that the day
 * may have started from.
 */
export interface Figures {
  records: readonly LedgerRecord[];
  portfolios: readonly (readonly Portfolio[])[];
  startValues: readonly Money[];
}

/**
 * Checks the amounts in a day's records: holdings valued at the closing marks, and the profit
 * against the value that the day started from. Returns what each record should be worth; null where
 * a price is missing.
 */
export function checkFigures(
  { records, portfolios, startValues }: Figures,
  { evidence, note }: { evidence: Evidence; note: Note },
): (Money | null)[] {
  const marks = marksIn(evidence);
  const isComplete = evidence.prices.every(({ close }) => close !== null);
  const check = (record: LedgerRecord, index: number) => {
    const [likeliest = null, ...others] =
      portfolios[index]?.map((portfolio) => valueAt(portfolio, marks)) ?? [];
    const worths = [likeliest, ...others].filter((worth) => worth !== null);
    const known = { isComplete: isComplete || worths.length > 0 };
    const noteHere = (sentence: string) => note(`action ${record.actionId}: ${sentence}`, known);
    checkRecord(record, { worths, startValues, note: noteHere });
    return likeliest;
  };
  return records.map(check);
}

function checkRecord(
  { portfolioValue, dailyProfit, dailyReturnPct }: LedgerRecord,
  {
    worths,
    startValues,
    note,
  }: { worths: readonly Money[]; startValues: readonly Money[]; note: (sentence: string) => void },
): void {
  const [worth] = worths;
  if (worth === undefined) return note('portfolio_value cannot be recomputed: a price is missing');
  if (!worths.includes(portfolioValue))
    note(`portfolio_value is ${formatDollars(portfolioValue)}, should be ${formatDollars(worth)}`);
  // Compared with the right value and the stored one, so that one wrong figure is reported once.
  const profits = [worth, portfolioValue].flatMap((value) =>
    startValues.map((start) => ({ start, profit: money(value - start) })),
  );
  const fitting = profits.filter(({ profit }) => profit === dailyProfit);
  if (fitting.length === 0)
    note(
      `daily_profit is ${formatDollars(dailyProfit)}, should be ${formatDollars(profits[0]?.profit ?? worth)}`,
    );
  const returns = (fitting.length === 0 ? profits : fitting).map(({ start, profit }) =>
    start === 0 ? null : percent(profit / start),
  );
  if (!returns.includes(dailyReturnPct))
    note(`daily_return_pct is ${dailyReturnPct}, should be ${returns[0]}`);
}

/** The value of a portfolio; null when a mark is missing. */
function valueAt(portfolio: Portfolio, marks: ReadonlyMap<string, Money>): Money | null {
  return [...portfolio.holdings.keys()].every((symbol) => marks.has(symbol))
    ? valueOf(portfolio, marks)
    : null;
}
