import { type PriceSource, realDates, seriesSource } from '#database/prices.ts';
import { type Meaning, priceMeaning } from '#database/schema/price-conditions.ts';
import type { Database } from '#database/database.ts';
import {
  contradicts,
  isSplitSeen,
  type SplitNight,
  storedSplits,
} from '#database/splits-and-dividends.ts';
import type { StagedSymbol, Staging } from './staging-queries.ts';
import { describeNight } from '#prices/split-nights.ts';
import type { Defect } from '#prices/row.ts';

/**
 * What the prices of a file are: what a person says; or what its format tells; or what is seen
 * across a split that is known; or else adjusted for splits, as most sources send them.
 */

const BY_MEANING: Record<Meaning, PriceSource> = {
  raw: 'csv',
  'split-adjusted': 'file-split-adjusted',
  'total-return': 'file-total-return',
};

/** What the prices of a file are taken for. */
export interface Interpretation {
  meaning: Meaning;
  source: PriceSource;
  by: 'said' | 'format' | 'seen' | 'default';
  /** The split that showed it. */
  night: SplitNight | null;
}

/**
 * The closes around all splits of the file's symbols that are known, from the file itself or from
 * the database.
 */
export function findNights(
  database: Database,
  staging: Staging,
  symbols: readonly StagedSymbol[],
): SplitNight[] {
  const splits = Map.groupBy(staging.splits(), ({ symbol }) => symbol);
  return symbols.flatMap(({ symbol }) => {
    const stored = storedSplits(database, symbol);
    const byDate = new Map(
      [...stored, ...(splits.get(symbol) ?? [])].map((split) => [split.date, split]),
    );
    return [...byDate.values()].flatMap((split) => staging.night(split) ?? []);
  });
}

/** Decides what a file's prices are. Where its symbols show both, the more of them count. */
export function interpretPrices(
  source: PriceSource | null,
  said: Meaning | null,
  nights: readonly SplitNight[],
): Interpretation {
  if (said !== null) {
    const fits = source !== null && priceMeaning(source) === said;
    return { meaning: said, source: fits ? source : BY_MEANING[said], by: 'said', night: null };
  }
  if (source !== null) return { meaning: priceMeaning(source), source, by: 'format', night: null };
  const bySight = Map.groupBy(nights, (night) => isSplitSeen(night));
  const countSymbols = (isSeen: boolean) =>
    new Set(bySight.get(isSeen)?.map(({ symbol }) => symbol)).size;
  const isRaw = countSymbols(true) > countSymbols(false);
  const meaning = isRaw ? 'raw' : 'split-adjusted';
  const night = bySight.get(isRaw)?.[0] ?? null;
  return { meaning, source: BY_MEANING[meaning], by: night === null ? 'default' : 'seen', night };
}

/** Why a symbol's prices cannot be imported as they are taken, or null. */
export function findDefect(
  database: Database,
  symbol: string,
  {
    staging,
    taken,
    nights,
  }: { staging: Staging; taken: Interpretation; nights: readonly SplitNight[] },
): Defect | null {
  const wrong = nights.find(
    (night) => night.symbol === symbol && contradicts(night, taken.meaning),
  );
  if (wrong !== undefined)
    return {
      reason: `a known split contradicts that the prices are ${taken.meaning}`,
      value: describeNight(wrong),
    };
  const source = seriesSource(database, symbol);
  if (source === null || priceMeaning(source) === taken.meaning) return null;
  if (taken.by === 'said' && realDates(database, symbol).every((date) => staging.has(symbol, date)))
    return null;
  return {
    reason: `${taken.meaning} prices for a symbol whose stored prices are ${priceMeaning(source)}`,
    value: `${symbol} has prices from ${source}`,
  };
}
