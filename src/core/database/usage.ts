import type { CalendarDate } from '#time/calendar.ts';
import type { Database, Reader } from './database.ts';
import { integer, query, reads, real, text } from './rows.ts';
import type { ModelDay } from './sessions.ts';

/** What a step of a model-day used; null where unknown. */
export interface Usage {
  steps: number;
  requests: number;
  promptTokens: number | null;
  completionTokens: number | null;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  costUsd: number | null;
}

/**
 * Adds to what a model-day used, over all its attempts. Unknown values leave the sum unchanged. A
 * sum is capped at the largest integer that a JavaScript number holds exactly, whatever was stored
 * before.
 */
export function addUsage(database: Database, { jobId, date, model }: ModelDay, usage: Usage): void {
  database
    .statement(ADD_USAGE)
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

export const USAGE_COUNTS = [
  'steps',
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
];
const ADD_USAGE = `
  UPDATE job_details SET ${USAGE_COUNTS.map(
    (column, index) =>
      `${column} = min(coalesce(${column} + ?${index + 4}, ?${index + 4}, ${column}), ${Number.MAX_SAFE_INTEGER})`,
  ).join(', ')},
    cost_usd = coalesce(cost_usd + ?10, ?10, cost_usd)
  WHERE job_id = ?1 AND date = ?2 AND model = ?3`;

/**
 * SQL: the sum of a column over a group, under its name, null when it is unknown in every row. `total()` returns a
 * floating-point number, which does not overflow and always fits a JavaScript number, unlike
 * integers beyond 2^53.
 */
export function sumSql(column: string): string {
  return `iif(count(${column}) = 0, NULL, total(${column})) AS ${column}`;
}

const COSTS = query(
  `SELECT family, total(cost_usd) FROM job_details CROSS JOIN simulation_runs USING (job_id, model)
   WHERE job_id = ? AND date < ? GROUP BY family`,
  [text, real],
);

/** What each family of a job has cost before a date, in dollars; 0 when nothing is known. */
export function costsBefore(
  reader: Reader,
  jobId: string,
  date: CalendarDate,
): Map<string, number> {
  return new Map(COSTS.all(reader, jobId, date));
}

/** What the runs of a family have cost on a date so far, in dollars; 0 when nothing is known. */
export const costOnDate = reads(
  'cell',
  `SELECT total(cost_usd) FROM simulation_runs CROSS JOIN job_details USING (job_id, model)
   WHERE job_id = ? AND family = ? AND date = ?`,
  [real],
  ({ jobId, date, family }: { jobId: string; date: CalendarDate; family: string }) => [
    jobId,
    family,
    date,
  ],
);

/** Whether a model-day sent its model a request whose cost is unknown. */
export const hasUnknownCost = reads(
  'has',
  'SELECT 1 FROM job_details WHERE job_id = ? AND date = ? AND model = ? AND steps > 0 AND cost_usd IS NULL',
  [integer],
  ({ jobId, date, model }: ModelDay) => [jobId, date, model],
);
