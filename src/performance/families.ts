import type { CalendarDate } from '../basics/calendar.ts';
import { count } from '../basics/sentences.ts';
import { mean } from '../statistics/moments.ts';
import { type Figure, reportFigures, rounded } from './figure.ts';
import { sampleDeviation } from './risk-and-return.ts';
import type { DayReturn, Style } from './style.ts';

/** What the figures of a family need of each of its runs. */
export interface RunOfFamily {
  model: string;
  family: string;
  model_days: number;
  total_return: number | null;
  /** What one dollar has become, by date; read only for the curve of the family. */
  curve: readonly { date: CalendarDate; growth: number }[];
}

/**
 * The runs of each entry side by side, with the mean and the spread of their returns. The mean is
 * that of the log returns, as in a comparison, so that an entry has one return. Without curves only
 * entries with several runs are reported; with them every entry, and several runs have a mean curve.
 */
export function reportFamilies(
  runs: readonly RunOfFamily[],
  {
    withCurves,
    styleOf,
  }: { withCurves: boolean; styleOf?: ((returns: DayReturn[]) => Style | null) | undefined },
) {
  return [...Map.groupBy(runs, ({ family }) => family)].flatMap(([family, own]) => {
    if (own.length < 2 && !withCurves) return [];
    const returns = own.map((run) => run.total_return).filter((fraction) => fraction !== null);
    const figure = (least: number, compute: () => number): Figure =>
      returns.length < least
        ? { reason: `Needs ${count(least, 'run')} with a return, has ${returns.length}` }
        : compute();
    const least = withCurves ? 1 : 2;
    return [
      {
        family,
        runs: own.map(({ model, model_days, total_return }) => ({
          model,
          model_days,
          total_return,
        })),
        ...reportFigures({
          mean_total_return: figure(
            least,
            () => meanGrowth(returns.map((fraction) => 1 + fraction)) - 1,
          ),
          total_return_deviation: figure(2, () => sampleDeviation(returns, 0)),
          lowest_total_return: figure(least, () => Math.min(...returns)),
          highest_total_return: figure(least, () => Math.max(...returns)),
        }),
        ...(withCurves && own.length > 1 && { curve: curveOf(own) }),
        ...(styleOf && { details: { style: styleOf(meanReturns(own)) } }),
      },
    ];
  });
}

/** What one dollar has become in the mean run, the lowest and the highest, on each date that all runs share. */
function curveOf(runs: readonly RunOfFamily[]) {
  const [first, ...others] = runs.map(({ curve }) => curve);
  const byDate = others.map((curve) => new Map(curve.map(({ date, growth }) => [date, growth])));
  return (first ?? []).flatMap(({ date, growth }) => {
    const all = [growth, ...byDate.flatMap((own) => own.get(date) ?? [])];
    if (all.length < runs.length) return [];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return [{ date, growth: rounded(meanGrowth(all)), low, high }];
  });
}

/** The returns of the mean run, on each date that all runs share. */
function meanReturns(runs: readonly RunOfFamily[]): DayReturn[] {
  let [growth, startDate]: [number, CalendarDate | null] = [1, null];
  return curveOf(runs).map((day) => {
    const own = { date: day.date, startDate, dailyReturn: day.growth / growth - 1 };
    [growth, startDate] = [day.growth, day.date];
    return own;
  });
}

/** exp of the mean logarithm; 0 where one of them lost everything. */
function meanGrowth(growths: readonly number[]): number {
  return Math.exp(mean(growths.map(Math.log)));
}
