import type { ContradictedSplit, SplitNight } from '#database/splits-and-dividends.ts';

/** A split with the closes around it. */
export function describeNight(night: SplitNight): string {
  const { symbol, numerator, denominator, date, previousDate, previousClose, nextDate, nextClose } =
    night;
  return (
    `${symbol} split ${numerator}:${denominator} on ${date}, and closed at ${previousClose} on ${previousDate}` +
    ` and at ${nextClose} on ${nextDate}`
  );
}

/** The splits that stored prices contradict, in sentences. */
export function describeContradictions(contradicted: readonly ContradictedSplit[]): string[] {
  return contradicted.map(
    ({ meaning, ...night }) =>
      `Prices of ${night.symbol} are stored as ${meaning}, which a split contradicts: ${describeNight(night)};` +
      ` import all of them again with --as ${meaning === 'raw' ? 'split-adjusted' : 'raw'}`,
  );
}
