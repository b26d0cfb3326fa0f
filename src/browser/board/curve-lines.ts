import { byName } from '../format.ts';
import { looksOf } from '../look.ts';
import { type BenchmarkCurve, type Line, benchmarkLines } from '../plot/lines.ts';
import {
  type Day,
  datesFromStart,
  isGrown,
  titleOfCurves,
  valuesFromStart,
} from '../plot/values.ts';
import type { ModelReport } from '../responses.ts';

/** What the curves use of a model's report. */
export interface ModelCurve extends Pick<ModelReport, 'model' | 'initial_cash' | 'start_value'> {
  curve: readonly Day[];
}

interface EquityCurves {
  /** The first one is where the curves start, before the first day. */
  dates: string[];
  lines: Line[];
  title: string;
}

/**
 * The curves of all models and the benchmark, which start together at the initial cash. Where a
 * model had another value before its first day of these, or some of its days do not count, its
 * curve is what the initial cash would have grown to.
 */
export function curvesFromStart({
  models,
  benchmark,
}: {
  models: readonly ModelCurve[];
  benchmark: BenchmarkCurve;
}): EquityCurves {
  const start = usualStart(models);
  const dates = datesFromStart(
    [...new Set(models.flatMap(({ curve }) => curve.map(({ date }) => date)))].sort(),
  );
  const looks = looksOf(models.map(({ model }) => model));
  const inOrder = models.toSorted((one, other) => byName(one.model, other.model));
  const own = inOrder.map(({ model, curve }): Line => {
    const values = curve.map(({ date, growth }) => ({ date, value: growth * start }));
    const { colour: look = '', dash, marker } = looks.get(model) ?? {};
    return { label: model, values: valuesFromStart(dates, values, start), look, dash, marker };
  });
  const isValue = models.every(({ curve }) => curve.every((day) => isGrown(day, start)));
  const title = titleOfCurves(start, { isValue });
  return { dates, lines: [...own, ...benchmarkLines(benchmark, dates, start)], title };
}

/**
 * What a model is worth at its last close; where it had another value before its first day of
 * these, or some of its days do not count, what the initial cash would have grown to, as in its
 * curve.
 */
export function valueAtEnd(
  { curve, end_value: value }: Pick<ModelReport, 'end_value'> & Pick<ModelCurve, 'curve'>,
  start: number,
): number {
  const last = curve.at(-1);
  return last === undefined || curve.every((day) => isGrown(day, start))
    ? value
    : last.growth * start;
}

/** The initial cash of most models; the highest of those equally common. */
export function usualStart(
  models: readonly Pick<ModelReport, 'initial_cash' | 'start_value'>[],
): number {
  const groups = [
    ...Map.groupBy(models, ({ initial_cash: cash, start_value: start }) => cash ?? start),
  ];
  const [usual] = groups.sort(([one, a], [other, b]) => b.length - a.length || other - one);
  return usual?.[0] ?? 0;
}
