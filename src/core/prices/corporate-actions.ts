import { setImmediate } from 'node:timers/promises';
import { addDays, type CalendarDate, countDays, utcDate, type DateSpan } from '#time/calendar.ts';
import type { Database, Reader } from '#database/database.ts';
import {
  type ContradictedSplit,
  contradictedSplits,
  dividendCoverage,
  storeDividends,
  storeSplits,
  storeSplitSpans,
} from '#database/splits-and-dividends.ts';
import { type Suspicion, unexplainedJumps } from '#database/suspicion-queries.ts';
import {
  type Coverage,
  spanWithout,
  splitSpans,
  symbolsWithAdjustedPrices,
} from '#database/prices.ts';
import { combineSplits } from './amounts.ts';
import type {
  ActionList,
  ActionPage,
  ActionQuery,
  DateProvider,
  Failed,
  SymbolProvider,
} from './provider.ts';
import { type DownloadContext, type DownloadReport, newStamp } from './download.ts';

/** The splits and dividends of a period, from a provider that lists them by range of dates. */

/** With more pages than this, a list does not end. */
const MAX_PAGES = 50;

/**
 * Requests and stores the splits and dividends of some symbols in a period, unless they are known.
 * What the provider or the customer's plan does not have is in the report, and the downloads
 * continue; a limit or a bad key stops them.
 */
export async function downloadActions(
  context: DownloadContext<DateProvider>,
  query: ActionQuery,
  report: DownloadReport,
): Promise<void> {
  const { provider, clock, database } = context;
  const today = utcDate(clock());
  if (!areSplitsKnown(database, query, today))
    await downloadSplits(context, { ...query, to: today > query.to ? today : query.to }, report);
  if (report.stop !== null || context.signal.aborted) return;
  if (isKnown(query, dividendCoverage(database, query.symbols, query), today)) return;
  const ask = provider.dividends;
  const dividends = await readPages(context, 'dividends', { ask, query, report });
  if (dividends === null) return;
  const spans = readableSpans(query, dividends.unreadable, yesterday(today));
  const stamp = newStamp(provider, clock);
  const list = { dividends: dividends.actions, spans, basis: 'as_paid' } as const;
  await database.write(() => storeDividends(database, list, stamp));
}

/**
 * Prices that are adjusted for splits are adjusted for all up to today, by which their dividends
 * are divided.
 */
function areSplitsKnown(reader: Reader, query: ActionQuery, today: CalendarDate): boolean {
  const spans = splitSpans.between(reader, query.symbols, { from: query.from, to: today });
  const adjusted = [...symbolsWithAdjustedPrices(reader, query.symbols)];
  const throughToday = { symbols: adjusted, from: query.from, to: yesterday(today) };
  return isKnown(query, spans, today) && isKnown(throughToday, spans, today);
}

/** Requests and stores the splits of some symbols in a period. */
export async function downloadSplits(
  context: DownloadContext<DateProvider>,
  query: ActionQuery,
  report: DownloadReport,
): Promise<void> {
  const { provider, clock, database } = context;
  const splits = await readPages(context, 'splits', { ask: provider.splits, query, report });
  if (splits === null) return;
  const stamp = newStamp(provider, clock);
  const list = {
    splits: combineSplits(splits.actions),
    spans: readableSpans(query, splits.unreadable, query.to),
    knownThrough: yesterday(utcDate(clock())),
  };
  await database.write(() => storeSplitSpans(database, list, stamp));
}

function yesterday(today: CalendarDate): CalendarDate {
  return addDays(today, -1);
}

/** Whether each symbol's spans, in order, reach over the whole period. */
export function isKnown(
  { symbols, from, to }: ActionQuery,
  spans: readonly Coverage[],
  today: CalendarDate,
): boolean {
  if (to >= today) return false; // what is announced for today may still change
  const spansOfSymbol = Map.groupBy(spans, ({ symbol }) => symbol);
  return symbols.every((symbol) => {
    let known = yesterday(from);
    for (const { startDate, endDate } of spansOfSymbol.get(symbol) ?? [])
      if (startDate <= addDays(known, 1) && endDate > known) known = endDate;
    return known >= to;
  });
}

/**
 * The period for each symbol, without the dates on which an action could not be read; none where
 * such an action has no date.
 */
function readableSpans(
  { symbols, from, to }: ActionQuery,
  unreadable: RefusedActions,
  last: CalendarDate,
): Coverage[] {
  const endDate = to < last ? to : last;
  const ofSymbol = Map.groupBy(unreadable, ({ symbol }) => symbol);
  return symbols.flatMap((symbol) => {
    const dates = ofSymbol.get(symbol)?.map(({ date }) => date) ?? [];
    return dates.includes(null)
      ? []
      : spanWithout(
          { symbol, startDate: from, endDate },
          dates.filter((date) => date !== null),
        );
  });
}

type RefusedActions = ActionPage<unknown>['refused'];

/**
 * All pages of a list, and which of its actions cannot be read; null where the provider does not
 * return it, which the report says. An action that is on two pages counts once.
 */
async function readPages<Action>(
  { patience, signal }: DownloadContext<DateProvider>,
  kind: 'splits' | 'dividends',
  { ask, query, report }: { ask: ActionList<Action>; query: ActionQuery; report: DownloadReport },
) {
  const list = { actions: [] as Action[], unreadable: [] as RefusedActions };
  const ids = new Set<string>();
  let page: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const response: Awaited<ReturnType<typeof ask>> = await patience.ask(() =>
      ask(query, page, signal),
    );
    if (signal.aborted) return null;
    if (response.problem !== undefined) {
      noteProblem(report, kind, response);
      return null;
    }
    const { actions, refused, skipped, next } = response.value;
    const problem = endlessReason(response.value, { page, pages, ids });
    for (const { id, action } of actions) {
      if (id !== null && ids.has(id)) continue;
      if (id !== null) ids.add(id);
      list.actions.push(action);
    }
    list.unreadable.push(...refused.filter(({ isUnreadable }) => isUnreadable));
    report.refusedActions.push(...refused);
    report.skippedActions += skipped;
    if (next === null) return list;
    if (problem !== null) {
      report.unreadable.set(kind, problem);
      return null;
    }
    page = next;
  }
}

/**
 * Why a list that names a next page is given up, or null. A list that has nothing new is given up
 * at once: following it would use up the provider's limit before any day is downloaded.
 */
function endlessReason<Action>(
  { actions, isEmpty, next }: ActionPage<Action>,
  { page, pages, ids }: { page: string | null; pages: number; ids: ReadonlySet<string> },
): string | null {
  if (next === page) return 'its next page is the same page';
  if (isEmpty) return 'an empty page has a next one';
  if (actions.length > 0 && actions.every(({ id }) => id !== null && ids.has(id)))
    return 'its pages repeat what they have';
  return pages === MAX_PAGES ? `it has more than ${MAX_PAGES} pages` : null;
}

function noteProblem(
  report: DownloadReport,
  kind: 'splits' | 'dividends',
  { problem, message }: Failed,
): void {
  if (problem === 'beyond_plan' || problem === 'premium') report.withoutActions.set(kind, message);
  else if (problem === 'unreadable' || problem === 'unknown_symbol')
    report.unreadable.set(kind, message);
  else report.stop = { problem, message };
}

/** Jumps this long before the first date still matter: models look at past prices. */
export const SPLIT_HISTORY_DAYS = 150;
/**
 * Symbols examined in one turn of the event loop, at most; fewer over years, because all their bars
 * are read.
 */
const SYMBOLS_PER_TURN = 20;
const DAYS_PER_TURN = 7_000;

/** What is found in all symbols, some of them in each turn of the event loop. */
async function findInTurns<Found>(
  symbols: readonly string[],
  perTurn: number,
  find: (some: readonly string[]) => readonly Found[],
): Promise<Found[]> {
  const found: Found[] = [];
  for (let from = 0; from < symbols.length; from += perTurn) {
    found.push(...find(symbols.slice(from, from + perTurn)));
    await setImmediate();
  }
  return found;
}

/** Overnight jumps that look like splits but that no split explains. */
export function findJumps(
  database: Database,
  symbols: readonly string[],
  span: DateSpan,
): Promise<Suspicion[]> {
  const perTurn = Math.ceil(DAYS_PER_TURN / countDays(span.from, span.to));
  return findInTurns(symbols, Math.min(SYMBOLS_PER_TURN, perTurn), (some) =>
    unexplainedJumps(database, some, span),
  );
}

/** The splits, of any time, that the stored prices of some symbols contradict. */
export function findContradictions(
  database: Database,
  symbols: readonly string[],
): Promise<ContradictedSplit[]> {
  return findInTurns(symbols, SYMBOLS_PER_TURN, (some) => contradictedSplits(database, some));
}

/**
 * Requests from the provider the splits of the symbols that jump, and stores them. Stops when the
 * provider returns none; the remaining jumps stay unexplained.
 */
export async function askForSplits(
  context: DownloadContext<SymbolProvider>,
  jumps: readonly Suspicion[],
): Promise<void> {
  const { database, clock, provider, patience, signal } = context;
  for (const symbol of new Set(jumps.map((jump) => jump.symbol))) {
    const { value: splits, problem } = await patience.ask(() => provider.splits(symbol, signal));
    if (signal.aborted) return;
    if (splits === undefined) {
      if (problem === 'unknown_symbol' || problem === 'unreadable') continue;
      return;
    }
    const endDate = yesterday(utcDate(clock()));
    const stamp = newStamp(provider, clock);
    await database.write(() => storeSplits(database, { symbol, splits, endDate }, stamp));
  }
}
