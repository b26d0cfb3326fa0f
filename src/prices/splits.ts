import { setImmediate } from 'node:timers/promises';
import { type CalendarDate, addDays, countDays, dateOf, timestamp } from '../calendar.ts';
import {
  type ContradictedSplit,
  type Jump,
  contradictedSplits,
  storeSplits,
  unexplainedJumps,
} from '../database/splits.ts';
import { writeInSteps } from '../database/write-in-steps.ts';
import type { DownloadContext } from './download.ts';
import type { SymbolProvider } from './provider.ts';

/** Jumps this long before the first date still matter: models look at past prices. */
export const SPLIT_HISTORY_DAYS = 150;
/**
 * Symbols examined in one turn of the event loop, at most; fewer over years, because all their bars
 * are read.
 */
const SYMBOLS_PER_TURN = 20;
const DAYS_PER_TURN = 7_000;

export interface JumpSpan {
  from: CalendarDate;
  to: CalendarDate;
}

/** Overnight jumps that look like splits but that no split explains. */
export async function findJumps(
  database: DownloadContext['database'],
  symbols: readonly string[],
  span: JumpSpan,
): Promise<Jump[]> {
  const jumps: Jump[] = [];
  const perTurn = Math.min(
    SYMBOLS_PER_TURN,
    Math.ceil(DAYS_PER_TURN / countDays(span.from, span.to)),
  );
  for (let from = 0; from < symbols.length; from += perTurn) {
    jumps.push(...unexplainedJumps(database, symbols.slice(from, from + perTurn), span));
    await setImmediate();
  }
  return jumps;
}

/** The splits, of any time, that the stored prices of some symbols contradict. */
export async function findContradictions(
  database: DownloadContext['database'],
  symbols: readonly string[],
): Promise<ContradictedSplit[]> {
  const contradicted: ContradictedSplit[] = [];
  for (let from = 0; from < symbols.length; from += SYMBOLS_PER_TURN) {
    contradicted.push(
      ...contradictedSplits(database, symbols.slice(from, from + SYMBOLS_PER_TURN)),
    );
    await setImmediate();
  }
  return contradicted;
}

/**
 * Requests from the provider the splits of the symbols that jump, and stores them. Stops when the
 * provider returns none; the remaining jumps stay unexplained.
 */
export async function askForSplits(
  context: DownloadContext<SymbolProvider>,
  jumps: readonly Jump[],
): Promise<void> {
  const { database, clock, provider, patience, signal } = context;
  for (const symbol of new Set(jumps.map((jump) => jump.symbol))) {
    const { value: splits, problem } = await patience.ask(() => provider.splits(symbol, signal));
    if (signal.aborted) return;
    if (splits === undefined) {
      if (problem === 'unknown_symbol' || problem === 'unreadable') continue;
      return;
    }
    const endDate = addDays(dateOf(clock()), -1);
    const stamp = { source: provider.source, recordedAt: timestamp(clock()) };
    await writeInSteps(database, storeSplits(database, { symbol, splits, endDate }, stamp));
  }
}
