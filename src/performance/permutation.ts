import type { Database } from '../database/database.ts';
import { closingsOf } from '../database/records/holdings.ts';
import type { ActiveDay } from '../database/records/performance.ts';
import { at, medianOf } from '../statistics/moments.ts';
import { createUniforms } from '../statistics/random.ts';
import { benchmarkReturns, type BothLevels } from './benchmark.ts';
import { allMissing, MIN_DAYS_FOR_RISK, reportFigures, rounded } from './figure.ts';
import { tooFew } from './risk-and-return.ts';

/**
 * Did the return come from the names that a model chose, or from the market? A permutation test:
 * the same weights on the same days, other names.
 */

export const DRAWS = 2000;
/** With fewer names there are too few ways to choose others. */
const MIN_SYMBOLS = 10;
/** Totals that differ by less than this differ only by rounding: they tie. */
const TIE = 1e-12;

/** A weight at the close before a day, of a name by its place in the universe. */
interface Weight {
  place: number;
  weight: number;
}

/** Weights at the close before each day, and returns from that close to the day's own. */
interface HeldWeights {
  /** By day: the return of each name of the universe. */
  returns: readonly Float64Array[];
  /** By day. */
  weights: readonly (readonly Weight[])[];
}

/** Total returns: of the model's own names, and of other names in each draw, in order. */
interface Permuted {
  own: number;
  draws: Float64Array;
}

/**
 * Own is Π(1 + Σ w[t−1](X) · r[t](X)) − 1; each draw replaces the names by a random one-to-one map
 * of all names into themselves, the same on all days (Fisher, The Design of Experiments, 1935).
 */
export function permuteNames({ returns, weights }: HeldWeights, seed: string): Permuted {
  const held = [...new Set(weights.flatMap((own) => own.map(({ place }) => place)))];
  const indexOf = new Map(held.map((place, index) => [place, index]));
  const days = weights.map((own, day) => ({
    returns: at(returns, day),
    indexes: Uint16Array.from(own, ({ place }) => indexOf.get(place) ?? 0),
    weights: Float64Array.from(own, ({ weight }) => weight),
  }));
  const uniform = createUniforms(seed);
  const order = Uint16Array.from(returns[0] ?? [], (_, place) => place);
  const chosen = new Uint16Array(held.length * TOGETHER);
  const draws = new Float64Array(DRAWS);
  for (let first = 0; first < DRAWS; first += TOGETHER) {
    for (let lane = 0; lane < TOGETHER; lane += 1) {
      // The first places of a shuffle (Fisher & Yates 1938): more of it would change nothing.
      for (let index = 0; index < held.length; index += 1) {
        const other = index + Math.floor(uniform() * (order.length - index));
        const name = order[other] as number;
        order[other] = order[index] as number;
        order[index] = chosen[index * TOGETHER + lane] = name;
      }
    }
    draws.set(totals(days, chosen), first);
  }
  const own = Uint16Array.from(chosen, (_, index) => at(held, Math.floor(index / TOGETHER)));
  return { own: totals(days, own)[0], draws: draws.sort() };
}

interface DayOfNames {
  returns: Float64Array;
  indexes: Uint16Array;
  weights: Float64Array;
}

/** Draws that are added up side by side: one sum would wait for itself. */
const TOGETHER = 4;

/**
 * The total returns of four draws; `names` has, for each index, the name of each. Read without a
 * check, as numbers that are there: with one this takes twice as long.
 */
function totals(days: readonly DayOfNames[], names: Uint16Array): [number, number, number, number] {
  let [one, two, three, four] = [1, 1, 1, 1];
  for (const { returns, indexes, weights } of days) {
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let index = 0; index < weights.length; index += 1) {
      const weight = weights[index] as number;
      const first = (indexes[index] as number) * TOGETHER;
      a += weight * (returns[names[first] as number] as number);
      b += weight * (returns[names[first + 1] as number] as number);
      c += weight * (returns[names[first + 2] as number] as number);
      d += weight * (returns[names[first + 3] as number] as number);
    }
    one *= 1 + a;
    two *= 1 + b;
    three *= 1 + c;
    four *= 1 + d;
  }
  return [one - 1, two - 1, three - 1, four - 1];
}

/**
 * Where the model's own total lies among the draws. The p-value is two-sided: twice the smaller of
 * the shares (b + 1)/(N + 1), b the draws that are at most, and at least, as high. `interval90`
 * leaves out a twentieth of the draws at each end.
 */
export function placeAmong({ own, draws }: Permuted) {
  const tie = TIE * (1 + Math.abs(own));
  let [below, ties] = [0, 0];
  for (const draw of draws) {
    if (Math.abs(draw - own) <= tie) ties += 1;
    else if (draw < own) below += 1;
  }
  const share = (count: number) => (count + 1) / (draws.length + 1);
  const above = draws.length - below - ties;
  return {
    percentile: (below + ties / 2) / draws.length,
    pValue: Math.min(1, 2 * Math.min(share(below + ties), share(above + ties))),
    median: medianOf(draws),
    interval90: {
      low: rounded(at(draws, Math.ceil(0.05 * draws.length) - 1)),
      high: rounded(at(draws, Math.ceil(0.95 * draws.length) - 1)),
    },
  };
}

/** What the tests of all models share. */
export interface Market {
  /** The symbols of a job's universe. */
  universeOf: (jobId: string) => readonly string[];
  levelsOf: (symbol: string) => BothLevels;
}

/**
 * The test of one model over its days that started from a close, with the symbols that are in the
 * universe of all its jobs and have a level at each of these closes; or why there is none.
 */
function readWeights(
  database: Database,
  all: readonly ActiveDay[],
  market: Market,
): HeldWeights | { reason: string } {
  const days = all.filter(({ startedFrom }) => startedFrom !== null);
  if (days.length < MIN_DAYS_FOR_RISK) return { reason: tooFew(days.length, MIN_DAYS_FOR_RISK) };
  const [first = [], ...others] = [...new Set(days.map(({ jobId }) => jobId))].map(
    market.universeOf,
  );
  const shared = first.filter((symbol) => others.every((universe) => universe.includes(symbol)));
  const exchangeable = shared.flatMap((symbol) => {
    const own = benchmarkReturns(market.levelsOf(symbol), days).filter((known) => known !== null);
    return own.length < days.length ? [] : [{ symbol, own }];
  });
  if (exchangeable.length < MIN_SYMBOLS)
    return {
      reason: `Needs ${MIN_SYMBOLS} symbols of the universe with a price on every day; there are ${exchangeable.length}`,
    };
  const places = new Map(exchangeable.map(({ symbol }, place) => [symbol, place]));
  const weights: Weight[][] = [];
  const starts = days.flatMap(({ startedFrom }) => startedFrom ?? []);
  // Two days start from one close when a missed day was run later: it is read once.
  const closings = new Map(
    closingsOf(database, [...new Set(starts)]).map((closing) => [closing.sessionId, closing]),
  );
  for (const start of starts) {
    const closing = closings.get(start);
    if (closing === undefined) return { reason: 'The holdings that it started from are unknown' };
    const { date, value, holdings } = closing;
    const own: Weight[] = [];
    for (const { symbol, quantity, price } of holdings) {
      const place = places.get(symbol);
      if (place === undefined) return { reason: whyWithout(symbol, shared) };
      if (price === null || value === 0)
        return { reason: `The weight of ${symbol} at the close of ${date} is unknown` };
      own.push({ place, weight: (quantity * price) / value });
    }
    weights.push(own);
  }
  if (weights.every(({ length }) => length === 0))
    return { reason: 'It held nothing at the start of any day' };
  const returns = days.map((_, day) => Float64Array.from(exchangeable, ({ own }) => at(own, day)));
  return { returns, weights };
}

function whyWithout(symbol: string, universe: readonly string[]): string {
  return universe.includes(symbol)
    ? `It held ${symbol}, which has no price on some of these days`
    : `It held ${symbol}, which is not in the universe of every job`;
}

const FIGURES = ['return', 'percentile', 'p_value', 'median', 'interval_90'] as const;

/** Named as in the response. The same model over the same days draws the same names. */
export function reportSelection(
  database: Database,
  { model, days, market }: { model: string; days: readonly ActiveDay[]; market: Market },
) {
  const held = readWeights(database, days, market);
  if ('reason' in held)
    return { symbols: 0, days: 0, ...reportFigures(allMissing(FIGURES, held.reason)) };
  const seed = JSON.stringify([model, days[0]?.date, days.at(-1)?.date]);
  const permuted = permuteNames(held, seed);
  const { percentile, pValue, median, interval90 } = placeAmong(permuted);
  const figures = { return: permuted.own, percentile, p_value: pValue, median };
  const { unavailable, ...reported } = reportFigures(figures);
  return {
    symbols: held.returns[0]?.length ?? 0,
    days: held.returns.length,
    ...reported,
    interval_90: interval90,
    unavailable,
  };
}
