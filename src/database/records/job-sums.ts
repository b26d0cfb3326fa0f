import type { Reader } from '../database.ts';
import { integer, query } from '../rows.ts';
import { sumOf } from '../usage.ts';

/** What the model-days of a job add up to. */

/**
 * SQL, of a row of jobs: how many model-days it has; a large job that was just created has not
 * added all of them yet.
 */
export const MODEL_DAYS_OF_JOB = `json_array_length(dates)
  * (SELECT count(*) FROM simulation_runs WHERE simulation_runs.job_id = jobs.job_id)`;

/**
 * In one pass. Skipped model-days count as done, except those skipped by a cancellation; the cost
 * is of all, failed ones too.
 */
export function sumsOf(jobId: string): string {
  return `
  (SELECT (SELECT ${MODEL_DAYS_OF_JOB} FROM jobs WHERE job_id = ${jobId}) AS total,
      count(*) FILTER (WHERE ${IS_DONE}) AS completed,
      count(*) FILTER (WHERE status = 'failed') AS failed,
      ${sumOf('cost_usd')} AS cost_usd,
      count(*) FILTER (WHERE ${LACKS_COST}) AS without_cost
    FROM job_details WHERE job_id = ${jobId}) AS sums`;
}

const IS_DONE = `status = 'completed' OR (status = 'skipped' AND error <> 'Cancelled')`;
const LACKS_COST = 'steps > 0 AND cost_usd IS NULL';

const TOTAL = query(`SELECT ${MODEL_DAYS_OF_JOB} FROM jobs WHERE job_id = ?`, [integer]);

/** How many model-days a job has; 0 for an unknown job. */
export function countModelDays(reader: Reader, jobId: string): number {
  return TOTAL.get(reader, jobId)?.[0] ?? 0;
}
