import type { CalendarDate } from '../calendar.ts';
import type { Split } from '../database/market.ts';
import { microDollars } from '../money.ts';
import { MAX_CASH } from './formats/dividends.ts';

/** Amounts of splits and dividends, read exactly from decimal text. */

const DECIMAL = /^(\d{1,40})(?:\.(\d{0,20}))?(?:[eE]([+-]?\d{1,2}))?$/;
/** The database holds no larger number of shares in a split. */
const MAX_SHARES = 1_000_000n;

/** An exact fraction; null for text that is not a decimal number from 0. */
function fractionOf(text: string): { over: bigint; under: bigint } | null {
  const [, whole, decimals = '', exponent = '0'] = DECIMAL.exec(text.trim()) ?? [];
  if (whole === undefined) return null;
  const places = decimals.length - Number(exponent);
  const digits = BigInt(whole + decimals);
  return places >= 0
    ? { over: digits, under: 10n ** BigInt(places) }
    : { over: digits * 10n ** BigInt(-places), under: 1n };
}

/**
 * The ratio of new to old shares, which may be decimals (`1.1` to `1`), in lowest terms. Where
 * these are beyond what the database holds (a third as `0.3333333333`), the nearest ratio that it
 * does hold. Null for no ratio, and for one of 1.
 */
export function ratioOf(
  newShares: string,
  oldShares: string,
): { numerator: number; denominator: number } | null {
  const [to, from] = [fractionOf(newShares), fractionOf(oldShares)];
  if (to === null || from === null || to.over === 0n || from.over === 0n) return null;
  const { over, under } = nearest(to.over * from.under, to.under * from.over);
  if (over === 0n || under === 0n || over === under) return null;
  return { numerator: Number(over), denominator: Number(under) };
}

/**
 * The last convergent of the continued fraction whose numbers are small enough: the fraction itself
 * where it is.
 */
function nearest(over: bigint, under: bigint): { over: bigint; under: bigint } {
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
export function cashOf(text: string): number | null {
  const cash = microDollars(text.trim());
  return cash !== null && cash > 0 && cash <= MAX_CASH ? cash : null;
}

/**
 * What a split or dividend that cannot be read leaves unknown: its date, or without one all of its
 * symbol.
 */
export function whatIsUnknown(noun: string, date: CalendarDate | null): string {
  return `a ${noun} that cannot be read${date === null ? '' : `, so only ${date} is unknown`}`;
}

/**
 * A provider may name a split twice (which counts once), or two of one day (which multiply); a
 * product of 1 is none.
 */
export function combineSplits(splits: readonly Split[]): Split[] {
  return [...Map.groupBy(splits, ({ symbol, date }) => `${symbol} ${date}`).values()].flatMap(
    (ofDay) => {
      const [first] = ofDay;
      if (first === undefined) return [];
      const ratios = new Map(
        ofDay.map(({ numerator, denominator }) => [
          `${numerator}/${denominator}`,
          { numerator, denominator },
        ]),
      );
      let [over, under] = [1n, 1n];
      for (const { numerator, denominator } of ratios.values()) {
        over *= BigInt(numerator);
        under *= BigInt(denominator);
      }
      const ratio = ratioOf(String(over), String(under));
      return ratio === null ? [] : [{ symbol: first.symbol, date: first.date, ...ratio }];
    },
  );
}
