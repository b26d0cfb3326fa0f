import type { Database } from './database.ts';
import type { ModelDay } from './sessions.ts';

/** What a step of a model-day took; null where nobody knows. */
export interface Usage {
  steps: number;
  requests: number;
  promptTokens: number | null;
  completionTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  costUsd: number | null;
}

/** Adds to what a model-day took, over all its attempts. What is unknown leaves the sum as it is. */
export function addUsage(database: Database, { jobId, date, model }: ModelDay, usage: Usage): void {
  const sums = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens', 'cost_usd'];
  const assignments = sums.map(
    (column, index) => `${column} = coalesce(${column} + ?${index + 6}, ?${index + 6}, ${column})`,
  );
  database
    .statement(
      `UPDATE job_details SET steps = steps + ?4, requests = requests + ?5, ${assignments.join(', ')}
       WHERE job_id = ?1 AND date = ?2 AND model = ?3`,
    )
    .run(
      jobId,
      date,
      model,
      usage.steps,
      usage.requests,
      usage.promptTokens,
      usage.completionTokens,
      usage.cachedTokens,
      usage.reasoningTokens,
      usage.costUsd,
    );
}

/** What a model has cost in a job so far, in dollars; 0 when nothing is known. */
export function costInJob(database: Database, jobId: string, model: string): number {
  const row = database
    .statement('SELECT total(cost_usd) AS cost FROM job_details WHERE job_id = ? AND model = ?')
    .get(jobId, model);
  return row?.['cost'] as number;
}

/** Whether a model-day asked its model and nobody knows what that cost. */
export function hasUnknownCost(database: Database, { jobId, date, model }: ModelDay): boolean {
  const row = database
    .statement(
      'SELECT 1 FROM job_details WHERE job_id = ? AND date = ? AND model = ? AND steps > 0 AND cost_usd IS NULL',
    )
    .get(jobId, date, model);
  return row !== undefined;
}
