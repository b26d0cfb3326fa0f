import type * as v from 'valibot';
import type { healthResponse } from '../../handlers/health.ts';
import type { jobsResponse } from '../../handlers/jobs.ts';
import type { modelsResponse } from '../../handlers/models.ts';
import type { performanceResponse } from '../../handlers/performance-response.ts';
import type { reasoningResponse } from '../../handlers/reasoning.ts';
import type { resultsResponse } from '../../handlers/results.ts';
import type { statusResponse } from '../../handlers/status.ts';
import type { triggerRequest, triggerResponse } from '../../handlers/trigger.ts';

/** The types of responses, from the schemas that the server is tested against. Nothing here runs. */

export type Health = v.InferOutput<typeof healthResponse>;
export type Status = v.InferOutput<typeof statusResponse>;
export type JobEntry = Status['entries'][number];
export type Detail = Status['details'][number];
export type ResultsRecord = v.InferOutput<typeof resultsResponse>['results'][number];
export type Session = v.InferOutput<typeof reasoningResponse>['sessions'][number];
export type Message = NonNullable<Session['conversation']>[number];
export type TriggerRequest = v.InferInput<typeof triggerRequest>;
export type TriggerResponse = v.InferOutput<typeof triggerResponse>;

export type Jobs = v.InferOutput<typeof jobsResponse>;
export type KnownModels = v.InferOutput<typeof modelsResponse>;
export type Performance = v.InferOutput<typeof performanceResponse>;
export type ModelReport = Performance['models'][number];

type Maybe = number | null;
interface Shared {
  interval: { low: number; high: number } | null;
  standard_error_daily: Maybe;
  degrees_of_freedom: Maybe;
  variance_share_of_runs: Maybe;
  interval_is_lower_bound: boolean;
  unavailable: Record<string, string>;
}
export interface ComparedModel extends Shared {
  model: string;
  runs: string[];
  run_returns: Maybe[];
  total_return: Maybe;
  probability_best: Maybe;
  knowledge_cutoff: string | null;
  days_before_cutoff: number;
}
export interface ComparedPair extends Shared {
  model: string;
  against: string;
  difference: Maybe;
  mean_daily_difference: Maybe;
  p_value: Maybe;
  p_value_holm: Maybe;
  shown: boolean;
  smallest_difference: Maybe;
  days_needed: Maybe;
  sentence: string;
}
export interface Leader {
  model: string | null;
  sharpe_ratio_daily: Maybe;
  probabilistic_sharpe_ratio: Maybe;
  deflated_sharpe_ratio: Maybe;
  expected_best_sharpe_ratio_daily: Maybe;
  trials: number;
  unavailable: Record<string, string>;
}
export interface Comparison {
  start_date: string | null;
  end_date: string | null;
  days: number;
  align: 'date' | 'number';
  confidence: number;
  left_out: { date?: string; number?: number; runs: string[] }[];
  clean_after: string | null;
  left_out_models: string[];
  models: ComparedModel[];
  pairs: ComparedPair[];
  leader: Leader;
  conventions: Record<string, string>;
}
