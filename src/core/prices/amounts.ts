import { parseFraction, microDollars } from '#money/money.ts';
import type { Split } from '#database/market-queries.ts';

/** Amounts of splits and dividends, read exactly from decimal text. */

const SHARES = /^\d{1,40}(\.\d{0,20})?([eE][+-]?\d{1,2})?$/;
/** A higher dividend per share is a mistake; the database refuses it too. */
export const MAX_CASH = 1_000_000_000_000;
/** The database holds no larger number of shares in a split. */
const MAX_SHARES = 1_000_000n;

/**
 * The ratio of new to old shares, which may be decimals (`1.1` to `1`), in lowest terms. Where
 * these are beyond what the database holds (a third as `0.3333333333`), the nearest ratio that it
 * does hold. Null for no ratio.
 */
export function parseShares(
  newShares: string,
  oldShares: string,
): { numerator: number; denominator: number } | null {
  const [to, from] = [newShares, oldShares].map((text) =>
    SHARES.test(text.trim()) ? parseFraction(text.trim()) : null,
  );
  if (!to || !from || to.over === 0n || from.over === 0n) return null;
  const { over, under } = nearestRatio(to.over * from.under, to.under * from.over);
  if (over === 0n || under === 0n) return null;
  return { numerator: Number(over), denominator: Number(under) };
}

/** The ratio of a split, which is not 1. */
export function parseRatio(newShares: string, oldShares: string): ReturnType<typeof parseShares> {
  const ratio = parseShares(newShares, oldShares);
  return ratio?.numerator === ratio?.denominator ? null : ratio;
}

/**
 * The last convergent of the continued fraction whose numbers are small enough: the fraction itself
 * where it is.
 */
function nearestRatio(over: bigint, under: bigint): { over: bigint; under: bigint } {
  let [before, last] = [
    { over: 0n, under: 1n },
    { over: 1n, under: 0n },
  ];
  let [a, b] = [over, under];
  while (b !== 0n) {
    const whole = a / b;
    const next = {
      over: whole * last.over + before.over,
      under: whole * last.under + before.under,
    };
    if (next.over > MAX_SHARES || next.under > MAX_SHARES) return last;
    [before, last] = [last, next];
    [a, b] = [b, a % b];
  }
  return last;
}

/**
 * Cash per share in 1/1,000,000 dollar, rounded half even; null unless it is a plausible amount
 * above 0.
 */
export function parseCash(text: string): number | null {
  const cash = microDollars(text.trim());
  return cash !== null && cash > 0 && cash <= MAX_CASH ? cash : null;
}

/**
 * A provider may name a split twice (which counts once), or two of one day (which multiply); a
 * product of 1 is none.
 */
export function combineSplits(splits: readonly Split[]): Split[] {
  const byDay = Map.groupBy(splits, ({ symbol, date }) => `${symbol} ${date}`);
  return [...byDay.values()].flatMap((ofDay) => {
    const ratios = new Map(ofDay.map((one) => [`${one.numerator}/${one.denominator}`, one]));
    let [over, under] = [1n, 1n];
    for (const { numerator, denominator } of ratios.values()) {
      over *= BigInt(numerator);
      under *= BigInt(denominator);
    }
    const ratio = parseRatio(String(over), String(under));
    return ratio === null ? [] : ofDay.slice(0, 1).map((split) => ({ ...split, ...ratio }));
  });
}

/** Factors of Alpha Vantage have four decimals: 0.3333 means a third. */
const FACTOR_TOLERANCE = 0.00005;
const MAX_FACTOR = 10_000;
/** Old shares in a split; the last three take the decimals literally where no small number fits. */
const DENOMINATORS = [...Array.from({ length: 30 }, (_, index) => index + 1), 100, 1_000, 10_000];

/** The fraction of new to old shares that a split factor means; null for an implausible factor. */
export function factorToRatio(factor: number): { numerator: number; denominator: number } | null {
  if (!(factor > 0 && factor <= MAX_FACTOR)) return null;
  const inverse = Math.round(1 / factor); // one new share for so many old ones: by far the most common below 1
  for (const denominator of factor < 1 ? [inverse, ...DENOMINATORS] : DENOMINATORS) {
    const numerator = Math.round(factor * denominator);
    if (numerator > 0 && Math.abs(numerator / denominator - factor) <= FACTOR_TOLERANCE)
      return numerator === denominator ? null : { numerator, denominator };
  }
  return null;
}
