import { benchmarkName } from '../plot/lines.ts';
import type { Comparison } from '../responses.ts';
import { measured } from './pairs.ts';

/** The benchmark over the days compared, or why it cannot be placed beside the models. */
export type BenchmarkReturn = { name: string; value: number } | { reason: string };

const OTHER_DAYS = { reason: 'The benchmark is not drawn: its days are not those compared.' };

interface Curve {
  curve: readonly { date: string; daily_return: number | null }[];
}

/** What is read of `GET /performance`. */
interface Curves {
  models: readonly (Curve & { model: string })[];
  benchmark: Curve & { name: string };
}

/**
 * The benchmark's return over the days compared: those on which every run has a return; if only
 * clean days, the last of them.
 */
export function benchmarkOver(
  { align, days, models }: Pick<Comparison, 'align' | 'days' | 'models'>,
  { models: reports, benchmark }: Curves,
  { isClean }: { isClean: boolean },
): BenchmarkReturn {
  if (align === 'number')
    return {
      reason: 'The benchmark is not drawn: days with the same number are not the same dates.',
    };
  const curves = new Map(reports.map(({ model, curve }) => [model, curve]));
  const [first = [], ...others] = measured(models).flatMap(({ runs }) =>
    runs.map(
      (run) =>
        new Set(
          curves.get(run)?.flatMap(({ date, daily_return }) => (daily_return === null ? [] : date)),
        ),
    ),
  );
  const common = [...first].filter((date) => others.every((dates) => dates.has(date)));
  const returns = new Map(benchmark.curve.map(({ date, daily_return }) => [date, daily_return]));
  const daily = (isClean ? common.slice(-days) : common).flatMap((date) => returns.get(date) ?? []);
  if (days === 0 || daily.length !== days) return OTHER_DAYS;
  const value = daily.reduce((growth, one) => growth * (1 + one), 1) - 1;
  return { name: benchmarkName(benchmark.name), value };
}
