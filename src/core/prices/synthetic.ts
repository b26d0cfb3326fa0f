import { setImmediate } from 'node:timers/promises';
import {
  addDays,
  type CalendarDate,
  type Clock,
  closedThrough,
  countDays,
  utcDate,
  EARLIEST_DATE,
  isWeekday,
  timestamp,
  weekdays,
} from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import { addCoverage, type Bar, storeBars, symbolsWithRealPrices } from '#database/prices.ts';
import { addToHash, hashText } from '#text/hash.ts';
import { type DatePrices, listMissing, missingSpans } from './needs.ts';
import { openOnly } from './provider.ts';

/**
 * Made-up prices for DEV. The price of a symbol at a moment is a closed formula of (symbol,
 * moment): value noise summed over octaves, as in fractal terrain. So it needs no history, is the
 * same on every machine, and two neighbouring days match whichever was made first.
 */

/**
 * Synthetic bars start this long before the first date that needs them, so that models have past prices to look
 * at.
 */
const HISTORY_DAYS = 120;
/** Days of a symbol that are made and stored without a pause: some milliseconds. */
const DAYS_PER_TRANSACTION = 400;
const EPOCH: CalendarDate = '1970-01-01';
/** Periods in days, each with the size of its swing in the logarithm of the price. */
const OCTAVES = [
  [512, 0.3],
  [256, 0.2],
  [128, 0.14],
  [64, 0.1],
  [32, 0.07],
  [16, 0.05],
  [8, 0.034],
  [4, 0.023],
  [2, 0.015],
  [1, 0.01],
] as const;
/** Where within its day a bar's moments are. */
const OPEN_TIME = 0.2;
const CLOSE_TIME = 0.8;
/** High and low are at most this far beyond open and close. */
const MAX_WICK = 0.01;
const LEAST_BASE = 20;
const BASE_RANGE = 480;

/**
 * Makes the missing prices of some dates. Symbols with real prices are left out: no series mixes
 * real and made-up prices.
 */
export async function makeSyntheticPrices(
  { database, clock }: { database: Database; clock: Clock },
  dates: readonly DatePrices[],
): Promise<void> {
  const today = utcDate(clock());
  const unfinished = addDays(closedThrough(clock()), 1);
  const spans = missingSpans(listMissing(dates, { clock }));
  const real = symbolsWithRealPrices(database, [...spans.keys()]);
  const stamp = { source: 'synthetic', recordedAt: timestamp(clock()) } as const;
  for (const { symbol, first, last } of spans.values()) {
    if (real.has(symbol)) continue;
    const historyStart = addDays(first, -HISTORY_DAYS);
    const startDate = historyStart > EARLIEST_DATE ? historyStart : EARLIEST_DATE;
    const days = weekdays(startDate, last);
    for (let from = 0; from < days.length; from += DAYS_PER_TRANSACTION) {
      const bars = syntheticBars(symbol, days.slice(from, from + DAYS_PER_TRANSACTION), unfinished);
      await database.write(() => storeBars(database, bars, stamp));
      await setImmediate(); // requests are answered between transactions
    }
    const endDate = last < today ? last : addDays(today, -1);
    await database.write(() => addCoverage(database, { symbol, startDate, endDate }, stamp));
  }
}

/**
 * The bars of the weekdays among some dates. Of an unfinished day, only the open exists, as with
 * real prices.
 */
export function syntheticBars(
  symbol: string,
  dates: readonly CalendarDate[],
  unfinished: CalendarDate,
): Bar[] {
  return dates.filter(isWeekday).map((date) => {
    const bar = wholeBar(symbol, date);
    return date < unfinished ? bar : openOnly(bar);
  });
}

function wholeBar(symbol: string, date: CalendarDate): Bar {
  const day = countDays(EPOCH, date);
  const open = priceAt(symbol, day + OPEN_TIME);
  const close = priceAt(symbol, day + CLOSE_TIME);
  const high = cents(Math.max(open, close) * (1 + MAX_WICK * noise(`${symbol} high`, day)));
  const low = cents(Math.min(open, close) * (1 - MAX_WICK * noise(`${symbol} low`, day)));
  return {
    symbol,
    date,
    open,
    high,
    low,
    close,
    volume: Math.round(1e6 * (1 + 9 * noise(`${symbol} volume`, day))),
  };
}

/** Dollars at a time in days since the epoch. */
function priceAt(symbol: string, time: number): number {
  const base = LEAST_BASE + BASE_RANGE * noise(`${symbol} base`, 0) ** 2;
  const swing = OCTAVES.reduce(
    (sum, [period, size]) =>
      sum + size * (smoothNoise(`${symbol} ${period}`, time / period) - 0.5) * 2,
    0,
  );
  return cents(base * Math.exp(swing));
}

/** Noise between two lattice points, smoothed so that it has no corners. */
function smoothNoise(name: string, position: number): number {
  const left = Math.floor(position);
  const fraction = position - left;
  const eased = fraction * fraction * (3 - 2 * fraction);
  return noise(name, left) * (1 - eased) + noise(name, left + 1) * eased;
}

/**
 * A number from 0 up to 1 that looks random and depends only on its name and index (FNV-1a, then
 * murmur3's finaliser).
 */
function noise(name: string, index: number): number {
  let hash = addToHash(hashText(name), index);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

function cents(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}
