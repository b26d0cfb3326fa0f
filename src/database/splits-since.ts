/**
 * The splits from the ex-date of a row of `dividends` on, in order, as '2024-06-10 10:1, 2025-01-02
 * 2:1'; '' where there are none.
 */
export const SPLITS_SINCE = `coalesce((SELECT group_concat(date || ' ' || numerator || ':' || denominator, ', ') FROM (
      SELECT date, numerator, denominator FROM stock_splits
      WHERE stock_splits.symbol = dividends.symbol AND stock_splits.date >= dividends.ex_date ORDER BY date)), '')`;
