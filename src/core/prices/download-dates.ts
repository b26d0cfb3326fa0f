import {
  addDays,
  type CalendarDate,
  utcDate,
  isWeekday,
  weekdayBefore,
  weekdaysBefore,
} from '#time/calendar.ts';
import {
  daysStoredEarly,
  hasLaterBars,
  storeMarketDay,
  symbolsWithBarsOfOthers,
  symbolsWithoutBars,
} from '#database/market-queries.ts';
import { addCoverage, replaceBars, revisedBars, type Stamp } from '#database/prices.ts';
import { downloadActions } from './corporate-actions.ts';
import {
  dateOrder,
  type Horizon,
  isBeyond,
  nextDate,
  noteRefusal,
  noteSupply,
} from './download-order.ts';
import {
  type DownloadContext,
  type DownloadReport,
  emptyReport,
  MAX_UNREADABLE_IN_A_ROW,
  newStamp,
  stopAt,
} from './download.ts';
import type { WantedDays } from './needs.ts';
import type { DateProvider, MarketDay } from './provider.ts';

/**
 * A date this long past has certainly been published: without bars, it was a day without trading.
 */
const PUBLISHED_AFTER_DAYS = 2;
/**
 * A day that was downloaded earlier than this after it was may have been corrected since; it is
 * requested once more.
 */
const SETTLED_AFTER_DAYS = 3;

type Progress = ReturnType<typeof newState>;

function newState(context: DownloadContext<DateProvider>, wanted: WantedDays) {
  return {
    ...context,
    wanted,
    report: emptyReport('day', context.keyVariable, wanted.needs.length),
    horizon: { refused: [], supplied: [] } as Horizon,
    /** Dates whose response had bars in this run, and those without. */
    supplied: new Set<CalendarDate>(),
    empty: new Set<CalendarDate>(),
    /** Dates with bars of only some symbols that are too recent to be covered. */
    incomplete: new Set<CalendarDate>(),
    unreadableInARow: 0,
    /** Whether a limit was met that is not waited out. */
    isLimited: false,
  };
}

/**
 * Downloads the splits and dividends of the period, then the job's dates, then the trading days
 * before them from the nearest on, and last the days that may have been corrected. Each response is
 * stored as it arrives, with what it covers, so nothing is requested twice. Null when nothing is to
 * be requested.
 */
export async function downloadDates(
  context: DownloadContext<DateProvider>,
  wanted: WantedDays,
): Promise<DownloadReport | null> {
  const state = newState(context, wanted);
  const { report } = state;
  if (wanted.actions.symbols.length > 0)
    await downloadActions(state, { ...wanted.actions, to: wanted.last }, report);
  await downloadNeeds(state);
  await downloadHistory(state);
  await downloadEarlyDays(state);
  await coverEmptyDays(state);
  if (report.downloaded.length > 0)
    report.unknown = symbolsWithoutBars(context.database, wanted.symbols);
  return context.patience.requests === 0 ? null : report;
}

function isDone({ report, signal, horizon, wanted }: Progress): boolean {
  const downloadsLeft = wanted.downloadsLeft ?? Infinity;
  return report.stop !== null || signal.aborted || horizon.supplied.length >= downloadsLeft;
}

async function downloadNeeds(state: Progress): Promise<void> {
  const { report, horizon, wanted, onProgress } = state;
  let left = dateOrder(wanted.needs);
  for (;;) {
    const beyond = left.filter((date) => isBeyond(horizon, date));
    report.beyond.dates.push(...beyond);
    left = left.filter((date) => !beyond.includes(date));
    const date = nextDate(left, horizon);
    if (date === undefined || isDone(state)) break;
    const total = wanted.needs.length;
    onProgress?.({ done: total - left.length, total, item: date });
    const end = await downloadDay(state, date, { waits: true, isOwn: true });
    if (end === 'stopped') break;
    if (end === 'stored' || end === 'empty') report.downloaded.push(date);
    if (end !== 'refused') left = left.filter((other) => other !== date);
  }
  report.beyond.dates.sort();
}

/**
 * The trading days before the first date, the nearest first: the first morning needs the closes of
 * that one.
 */
async function downloadHistory(state: Progress): Promise<void> {
  const { wanted, report, horizon } = state;
  const { days, stateOf, isWaitedFor } = wanted.history;
  if (days === 0) return;
  let found = 0;
  let isAsking = wanted.downloadsLeft === null;
  for (const date of historyDates(wanted)) {
    if (found === days) break;
    let known = stateOf(date);
    if (
      (known === 'unknown' || known === 'partial') &&
      isAsking &&
      !isDone(state) &&
      !isBeyond(horizon, date)
    ) {
      const end = await downloadDay(state, date, { waits: isWaitedFor || found === 0 });
      if (end === 'stored') known = 'whole';
      if (end === 'empty') known = 'no_trading';
      isAsking = end !== 'limited' && end !== 'stopped';
    }
    if (hasBars(known)) found += 1;
  }
  if (found < days) report.history = { before: wanted.first, wanted: days, found };
}

/** How many of the wanted trading days before the first date have prices, without a request. */
export function countHistory(wanted: WantedDays): number {
  const { days, stateOf } = wanted.history;
  return Math.min(days, historyDates(wanted).filter((date) => hasBars(stateOf(date))).length);
}

function hasBars(state: ReturnType<WantedDays['history']['stateOf']>): boolean {
  return state === 'whole' || state === 'partial';
}

/**
 * Weekdays that are looked at, the latest first: holidays are at most every fourth, and a few days
 * may be unknown.
 */
function historyDates({ first, history: { days } }: WantedDays): CalendarDate[] {
  return weekdaysBefore(first, 2 * days + 5).reverse();
}

/** Days that were downloaded soon after they were, which the provider may have corrected. */
async function downloadEarlyDays(state: Progress): Promise<void> {
  const { database, provider, clock, wanted, supplied } = state;
  if (wanted.downloadsLeft !== null || state.isLimited) return;
  const span = {
    from: addDays(wanted.first, -2 * wanted.history.days),
    to: addDays(utcDate(clock()), -SETTLED_AFTER_DAYS),
    settledAfterDays: SETTLED_AFTER_DAYS,
  };
  for (const date of daysStoredEarly(database, provider.source, span)) {
    if (supplied.has(date) || isDone(state)) continue;
    if ((await downloadDay(state, date, { waits: false })) === 'limited') return;
  }
}

/**
 * How the request of a day ended; `limited`: at a limit that was not, or could not be, waited out.
 */
type DayOutcome = 'stored' | 'empty' | 'refused' | 'unreadable' | 'limited' | 'stopped';

/**
 * At a limit, the downloads stop where the date is the job's own; otherwise they only end early.
 */
async function downloadDay(
  state: Progress,
  date: CalendarDate,
  { waits, isOwn = false }: { waits: boolean; isOwn?: boolean },
): Promise<DayOutcome> {
  const { provider, patience, signal, wanted, report, horizon } = state;
  const response = await patience.ask(() => provider.bars(date, wanted.symbols, signal), { waits });
  if (signal.aborted) return 'stopped';
  const { problem } = response;
  state.unreadableInARow = problem === 'unreadable' ? state.unreadableInARow + 1 : 0;
  if (problem === undefined) {
    noteSupply(horizon, date);
    return storeDay(state, date, response.value);
  }
  if (problem === 'beyond_plan' || problem === 'premium') {
    noteRefusal(horizon, date);
    report.beyond.message = response.message;
    return 'refused';
  }
  if (problem === 'short_limit' && !isOwn) {
    state.isLimited = true;
    return 'limited';
  }
  if (problem === 'unreadable' && state.unreadableInARow < MAX_UNREADABLE_IN_A_ROW) {
    report.unreadable.set(date, response.message);
    return 'unreadable';
  }
  stopAt(report, response);
  return 'stopped';
}

/** Stores what a day's response has of the symbols, and that it covers all of them. */
async function storeDay(
  state: Progress,
  date: CalendarDate,
  { bars, refused, others }: MarketDay,
): Promise<'stored' | 'empty'> {
  const { database, provider, clock, wanted, report, supplied, empty } = state;
  const { source } = provider;
  report.refusedBars.push(...refused);
  report.others += others;
  if (bars.length + refused.length + others === 0) {
    empty.add(date);
    await coverEmptyDays(state);
    return 'empty';
  }
  supplied.add(date);
  const today = utcDate(clock());
  const kept = symbolsWithBarsOfOthers(database, date, { symbols: wanted.symbols, source });
  const own = bars.filter(({ symbol }) => !kept.has(symbol));
  const isPublished =
    date <= addDays(today, -PUBLISHED_AFTER_DAYS) || 2 * bars.length >= wanted.symbols.length;
  const isCovered = isPublished && date < today;
  const stamp = newStamp(provider, clock);
  const write = await database.write(() => {
    const { number, replaced } = replaceBars(database, own, stamp);
    report.syntheticReplaced.push(...replaced);
    if (isCovered) coverDay(state, date, stamp);
    storeMarketDay(database, date, stamp); // without it, the day is requested again
    return number;
  });
  const symbols = own.map(({ symbol }) => symbol);
  if (!isCovered && bars.length < wanted.symbols.length) state.incomplete.add(date);
  const { revisions } = report;
  for (const symbol of revisedBars(database, symbols, write))
    revisions.set(symbol, 1 + (revisions.get(symbol) ?? 0));
  return 'stored';
}

/**
 * Within the caller's transaction. A weekend is covered with the days beside it, so that the spans
 * of a year are one.
 */
function coverDay({ database, clock, wanted }: Progress, date: CalendarDate, stamp: Stamp): void {
  const yesterday = addDays(utcDate(clock()), -1);
  const startDate = addDays(weekdayBefore(date), 1);
  let endDate = date;
  while (endDate < yesterday && !isWeekday(addDays(endDate, 1))) endDate = addDays(endDate, 1);
  for (const symbol of wanted.symbols) addCoverage(database, { symbol, startDate, endDate }, stamp);
}

/**
 * Covers the days without bars that are certainly over: a later day has bars, or they are long
 * enough past.
 */
async function coverEmptyDays(state: Progress): Promise<void> {
  const { database, provider, clock, wanted, empty, incomplete, report } = state;
  const today = utcDate(clock());
  const published = addDays(today, -PUBLISHED_AFTER_DAYS);
  const isPast = (date: CalendarDate) =>
    date <= published ||
    hasLaterBars(database, date, { symbols: wanted.symbols, source: provider.source });
  const past = [...empty].filter((date) => date < today && isPast(date));
  const stamp = newStamp(provider, clock);
  for (const date of past) {
    await database.write(() => coverDay(state, date, stamp));
    empty.delete(date);
  }
  report.unpublished = [...empty, ...incomplete].filter((date) => date >= wanted.first).sort();
}
