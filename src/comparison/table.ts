import type { Interval } from './difference.ts';
import type { ModelReport } from './models.ts';
import type { PairReport } from './pairs.ts';
import { type Cutoff, modelOf, pairOf } from './response.ts';

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
] as const satisfies readonly (keyof ReturnType<typeof modelCells>)[];

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
] as const satisfies readonly (keyof ReturnType<typeof pairCells>)[];

export const columns = { models: modelColumns, pairs: pairColumns };

type Row = (string | number | boolean | null)[];

/** `run_returns` is `gpt-5:0.031 gpt-5#2:0.012`; `unavailable` says why figures are empty. */
export function modelRow(report: ModelReport, cutoff: Cutoff): Row {
  const cells = modelCells(report, cutoff);
  return modelColumns.map((name) => cells[name]);
}

export function pairRow(report: PairReport): Row {
  const cells = pairCells(report);
  return pairColumns.map((name) => cells[name]);
}

function modelCells(report: ModelReport, cutoff: Cutoff) {
  const model = modelOf(report, cutoff);
  const returns = model.runs.map((run, index) => `${run}:${model.run_returns[index] ?? ''}`);
  return {
    ...model,
    runs: model.runs.length,
    run_returns: returns.join(' '),
    ...commonCells(model),
  };
}

/** Correlation and curve are not in the table, so neither are their reasons. */
function pairCells(report: PairReport) {
  const { correlation: _, ...pair } = pairOf({ ...report, curve: null }, []);
  const { correlation: _reason, ...unavailable } = pair.unavailable;
  return { ...pair, ...commonCells({ ...pair, unavailable }) };
}

function commonCells({
  interval,
  unavailable,
}: {
  interval: Interval | null;
  unavailable: Record<string, string | undefined>;
}) {
  const reasons = [...new Set(Object.values(unavailable))].join('; ');
  return {
    interval_low: interval?.low ?? null,
    interval_high: interval?.high ?? null,
    unavailable: reasons || null,
  };
}
