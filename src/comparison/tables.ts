import type { Cell } from '../basics/csv.ts';
import type { Interval } from './difference.ts';
import type { ModelReport } from './models.ts';
import type { PairReport } from './pairs.ts';

/** The parts of a comparison as rows of tables, with a cell per column. */

const modelColumns = [
  'model',
  'runs',
  'run_returns',
  'total_return',
  'interval_low',
  'interval_high',
  'standard_error_daily',
  'degrees_of_freedom',
  'variance_share_of_runs',
  'probability_best',
  'knowledge_cutoff',
  'days_before_cutoff',
  'unavailable',
] as const satisfies readonly (keyof Cells<ModelReport>)[];

const pairColumns = [
  'model',
  'against',
  'difference',
  'interval_low',
  'interval_high',
  'mean_daily_difference',
  'standard_error_daily',
  'degrees_of_freedom',
  'p_value',
  'p_value_holm',
  'shown',
  'smallest_difference',
  'days_needed',
  'variance_share_of_runs',
  'sentence',
  'unavailable',
] as const satisfies readonly (keyof Cells<PairReport>)[];

export const columns = { models: modelColumns, pairs: pairColumns };

interface Reported {
  interval: Interval | null;
  unavailable: Readonly<Record<string, string | undefined>>;
}

type Cells<Report extends Reported> = Omit<Report, 'interval'> & ReturnType<typeof cellsOf>;

/** `unavailable` says why figures are empty. */
function cellsOf({ interval, unavailable }: Reported) {
  const reasons = [...new Set(Object.values(unavailable))].join('; ');
  return {
    interval_low: interval?.low ?? null,
    interval_high: interval?.high ?? null,
    unavailable: reasons || null,
  };
}

/** `run_returns` is `gpt-5:0.031 gpt-5#2:0.012`. */
export function modelRow(model: ModelReport): Cell[] {
  const returns = model.runs.map((run, index) => `${run}:${model.run_returns[index] ?? ''}`);
  const cells = { ...model, ...cellsOf(model), run_returns: returns.join(' ') };
  return modelColumns.map((name) => (name === 'runs' ? model.runs.length : cells[name]));
}

/** Correlation and curve are not in the table, so neither are their reasons. */
export function pairRow(pair: PairReport): Cell[] {
  const { correlation: _, ...unavailable } = pair.unavailable;
  const cells = { ...pair, ...cellsOf({ ...pair, unavailable }) };
  return pairColumns.map((name) => cells[name]);
}
