import type { Split } from '../database/market.ts';
import type { DatedBar } from '../database/prices.ts';
import { ServiceError } from '../domain.ts';
import { UNITS_PER_DOLLAR } from '../money.ts';
import { MAX_PRICE, MAX_VOLUME } from '../prices/formats/bar.ts';
import { DISGUISE_COLUMNS } from '../prices/formats/csv.ts';
import { type Disguise, shiftBack } from './key.ts';

export const HEADER = `${DISGUISE_COLUMNS.join()}\n`;

/**
 * The bars of one symbol as lines of `prices.csv`: adjusted for its splits after each bar,
 * multiplied by the factor, under the code, on the shifted date. An unknown value stays an empty
 * cell. Throws a `ServiceError` (`no_prices`) for a bar that would no longer be one.
 */
export function disguisedRows(
  bars: readonly DatedBar[],
  { symbol, code, factor, weeks, splits }: Disguise & { weeks: number; splits: readonly Split[] },
): string[] {
  return bars.map(({ date, open, high, low, close, volume }) => {
    const scale = scaleOf(
      splits.filter((split) => split.date > date),
      factor,
    );
    const prices = [open, high, low, close].map(
      (price) => price && Math.round(price * scale * UNITS_PER_DOLLAR) / UNITS_PER_DOLLAR,
    );
    const traded = volume && Math.round(volume / scale);
    if (
      prices.some((price) => price === 0 || (price ?? 0) > MAX_PRICE) ||
      (traded ?? 0) > MAX_VOLUME
    )
      throw new ServiceError(
        'no_prices',
        `Cannot disguise ${symbol}: its bar of ${date} would be out of range; try another seed`,
      );
    return `${[code, shiftBack(date, { weeks }), ...prices, traded, 'disguise'].join()}\n`;
  });
}

/**
 * What dollars per share are multiplied by: the factor, divided by the new shares for an old one of
 * the splits that follow.
 */
export function scaleOf(later: readonly Split[], factor: number): number {
  return later.reduce(
    (value, { numerator, denominator }) => (value * denominator) / numerator,
    factor,
  );
}
