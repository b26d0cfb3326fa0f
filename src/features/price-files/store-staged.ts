import { type CommandDatabase, type Database, MAX_PAUSE_MS } from '#database/database.ts';
import { type EventLoop, eventLoop } from '#time/event-loop.ts';
import { addDays, type CalendarDate, type Clock, timestamp } from '#time/calendar.ts';
import { type Meaning, priceMeaning } from '#database/schema/price-conditions.ts';
import type { Progress } from './lines.ts';
import type { Defect } from '#prices/row.ts';
import { type Dividend, storeDividends, storeSplitSpans } from '#database/splits-and-dividends.ts';
import {
  addCoverage,
  dropSyntheticPrices,
  type PriceSource,
  spanWithout,
  storeStagedBars,
} from '#database/prices.ts';
import type { StagedSymbol, Staging } from './staging-queries.ts';

/**
 * Stores the rows of a file that have been staged, symbol by symbol: bars, splits and dividends.
 * Meanwhile it shares the write lock with a server that runs beside it.
 */

/**
 * How long one transaction of an import takes on more work; a server's commit waits for its end.
 */
export const TRANSACTION_MS = 100;
/**
 * How long the lock is free between two transactions. SQLite's lock has no queue: a server that
 * waits for it tries again after at most `MAX_PAUSE_MS`, so it has to find the lock free for longer
 * than that.
 */
const FREE_MS = MAX_PAUSE_MS + 10;

/** As much of the event loop as an import needs. */
type Time = Pick<EventLoop, 'now' | 'sleep'>;

/**
 * Does work that writes a little at each step: in transactions of at most `TRANSACTION_MS` (and one
 * step), which leave the lock free for `FREE_MS` after each.
 */
export async function writeInTurns(
  database: CommandDatabase,
  work: Iterator<unknown>,
  time: Time = eventLoop,
): Promise<void> {
  for (let isDone = false; !isDone; ) {
    // The time spent waiting for the lock does not count.
    isDone = database.transaction(() => runFor(work, time));
    const freeUntil = time.now() + FREE_MS;
    for (let left = FREE_MS; left > 0; left = freeUntil - time.now()) await time.sleep(left);
  }
}

/** Returns whether the work is done. */
function runFor(work: Iterator<unknown>, time: Time): boolean {
  const end = time.now() + TRANSACTION_MS;
  do {
    if (work.next().done === true) return true;
  } while (time.now() < end);
  return false;
}

export interface ImportOptions {
  clock: Clock;
  /** What a person says that the prices are. */
  as?: Meaning | undefined;
  /** Receives bytes of the file while it is read. */
  onProgress?: Progress;
  /** Called while the rows of a file of prices are stored, after all of them have been read. */
  onStored?: Progress;
  onRefused?: (line: number, defect: Defect) => void;
  /** When it writes; by default, the machine's time. */
  time?: Time;
}

export type Refuse = (line: number, defect: Defect, rows?: number) => void;

/** How the rows of one file are imported. */
export interface RowOptions extends ImportOptions {
  today: CalendarDate;
  refuse: Refuse;
}

/** The source of splits and dividends beside prices. */
const ACTIONS_SOURCE = 'csv';

/** What is stored of a file, in which these symbols have rows between these dates. */
export function createProgress(
  spans: readonly Pick<StagedSymbol, 'symbol' | 'firstDate' | 'lastDate'>[],
) {
  const dates = spans.flatMap(({ firstDate, lastDate }) => [firstDate, lastDate]).sort();
  return {
    symbols: [...new Set(spans.map(({ symbol }) => symbol))].sort(),
    /** Rows with prices that are now in the database, including those that already were. */
    bars: 0,
    /**
     * Those of them that are new or were changed; without prices, dividends that are or were
     * removed.
     */
    changed: 0,
    dates: 0,
    firstDate: dates[0] ?? null,
    lastDate: dates.at(-1) ?? null,
    /** Symbols whose synthetic prices were replaced. */
    syntheticReplaced: 0,
    dividends: 0,
    splits: 0,
    /** Lines without prices which say that there was no split. */
    noSplits: 0,
    /** Of a file of exchanges, how many lines said that there was one, and that there was none. */
    exchanges: null as { stored: number; none: number } | null,
    /** Dividends that are paid on the morning of one of them, and of its share. */
    paidTwice: [] as Dividend[],
    /** Symbols whose dividends are not known to be complete, because rows were refused. */
    incomplete: 0,
    /** Dates of refused rows between the known ones of a symbol, as `AAPL 2024-05-10`. */
    unknown: [] as string[],
  };
}

/** What refused rows may have told of dividends and splits. */
export interface Ambiguities {
  all: boolean;
  symbols: Set<string>;
  dates: Map<string, Set<CalendarDate>>;
}

interface StoreOptions extends RowOptions {
  /** Those whose rows are stored. */
  symbols: readonly StagedSymbol[];
  source: PriceSource;
  hasPrices: boolean;
  doubts: Ambiguities;
  progress: ReturnType<typeof createProgress>;
}

/** Does so in steps, and adds to the progress. */
export function* storeSymbols(
  database: Database,
  staging: Staging,
  options: StoreOptions,
): Generator<null> {
  const { progress, hasPrices, symbols } = options;
  const total = symbols.reduce((sum, { rows }) => sum + rows, 0);
  for (const facts of symbols) {
    const { symbol, rows } = facts;
    if (hasPrices) {
      // Real prices replace synthetic ones in the transaction that stores the others.
      if (dropSyntheticPrices(database, symbol)) progress.syntheticReplaced += 1;
      progress.changed += storeStagedBars(database, symbol, options);
      progress.bars += rows;
      options.onStored?.(progress.bars, total);
      yield null;
    }
    storeDeclared(database, staging, { facts, ...options });
    yield null;
  }
}

/** Only days before today are covered: today's bar may still change. */
function storeDeclared(
  database: Database,
  staging: Staging,
  {
    facts,
    source,
    hasPrices,
    doubts,
    clock,
    today,
    progress,
  }: StoreOptions & { facts: StagedSymbol },
): void {
  const { symbol, firstDate, lastDate } = facts;
  const recordedAt = timestamp(clock());
  const yesterday = addDays(today, -1);
  const closedSpan = (startDate: CalendarDate | null, last: CalendarDate | null) => {
    if (startDate === null || last === null || startDate > yesterday) return [];
    return [{ symbol, startDate, endDate: last < yesterday ? last : yesterday }];
  };
  for (const span of closedSpan(facts.firstComplete, facts.lastComplete))
    addCoverage(database, span, { source, recordedAt });
  const isDoubtful = doubts.all || doubts.symbols.has(symbol);
  const unknown = [...(doubts.dates.get(symbol) ?? [])];
  const known = isDoubtful
    ? []
    : closedSpan(firstDate, lastDate).flatMap((span) => spanWithout(span, unknown));
  const spans = facts.hasDividendGaps ? [] : known;
  const hasActions = facts.hasActions === 1;
  const dividends = hasActions ? staging.symbolDividends(symbol) : [];
  const splits = hasActions ? staging.symbolSplits(symbol) : [];
  const stamp = { source: hasPrices ? ACTIONS_SOURCE : source, recordedAt };
  // Without prices, splits do not tell from when to when they are all.
  const splitSpans = hasPrices && !facts.hasSplitGaps ? known : [];
  storeSplitSpans(database, { splits, spans: splitSpans, knownThrough: yesterday }, stamp);
  // A dividend is in the shares of the prices beside it; without them, it is what was paid.
  const basis = !hasPrices || priceMeaning(source) === 'raw' ? 'as_paid' : 'split_adjusted';
  const changed = storeDividends(database, { dividends, spans, basis }, stamp);
  if (!hasPrices) progress.changed += changed;
  progress.dividends += dividends.length;
  progress.splits += splits.length;
  progress.noSplits += splits.filter((split) => split.numerator === split.denominator).length;
  if (facts.hasDividendGaps) return;
  if (isDoubtful) progress.incomplete += 1;
  const between = unknown.filter((date) => firstDate <= date && date <= lastDate);
  progress.unknown.push(...between.sort().map((date) => `${symbol} ${date}`));
}
