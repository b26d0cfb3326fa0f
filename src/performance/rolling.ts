import type { CalendarDate } from '../calendar.ts';
import { ROLLING_WINDOW } from './conventions.ts';
import type { Figure } from './figure.ts';
import { type DayOfCurve, seriesOf } from './returns.ts';
import { annualisedVolatility, sharpeRatio } from './risk.ts';

/** Risk figures over the days of one window. */
export interface RollingPoint {
  /** The window's last day. */
  date: CalendarDate;
  sharpeRatio: Figure;
  annualisedVolatility: Figure;
}

/**
 * The figures of risk over the last `ROLLING_WINDOW` days with a return, by the formulas of the
 * whole period, for each day on which there are that many.
 */
export function rollingRisk(
  curve: readonly DayOfCurve[],
  { leastReturn, riskFree }: { leastReturn: number; riskFree: number },
): RollingPoint[] {
  const days = curve.filter(({ dailyReturn }) => dailyReturn !== null);
  const points: RollingPoint[] = [];
  for (const [index, { date }] of days.slice(ROLLING_WINDOW - 1).entries()) {
    const series = seriesOf(days.slice(index, index + ROLLING_WINDOW), leastReturn);
    points.push({
      date,
      sharpeRatio: sharpeRatio(series, riskFree),
      annualisedVolatility: annualisedVolatility(series),
    });
  }
  return points;
}
