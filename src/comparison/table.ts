import type { ModelReport } from './models.ts';
import type { PairReport } from './pairs.ts';
import { type Cutoff, modelOf, pairOf } from './response.ts';

/** The parts of a comparison as rows of tables, with a cell per column. */

export const columns = {
  models: [
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
  ],
  pairs: [
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
  ],
};

type Row = (string | number | boolean | null)[];

/** `run_returns` is `gpt-5:0.031 gpt-5#2:0.012`; `unavailable` says why figures are empty. */
export function modelRow(report: ModelReport, cutoff: Cutoff): Row {
  const model = modelOf(report, cutoff);
  const returns = model.runs.map((run, index) => `${run}:${model.run_returns[index] ?? ''}`);
  return rowOf(columns.models, { ...model, runs: model.runs.length, run_returns: returns.join(' ') });
}

export function pairRow(report: PairReport): Row {
  return rowOf(columns.pairs, pairOf(report));
}

interface Part {
  interval: { low: number; high: number } | null;
  unavailable: Record<string, string | undefined>;
}

function rowOf(names: readonly string[], part: Part & Record<string, unknown>): Row {
  const reasons = [...new Set(Object.values(part.unavailable))].join('; ');
  const { low, high } = part.interval ?? {};
  const cells: Record<string, unknown> = { ...part, interval_low: low, interval_high: high, unavailable: reasons || null };
  return names.map((name) => (cells[name] ?? null) as Row[number]);
}
