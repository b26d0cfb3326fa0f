import type { Reader } from '../database.ts';
import { addTo, longSum, totalOf } from '../long-sum.ts';
import { flag, integer, orNull, query, real, text } from '../rows.ts';
import { sumOf } from '../usage.ts';

/**
 * What the model-days of a job add up to. A job may have hundreds of thousands, so those of a large
 * one are read in steps.
 */

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

/** In the order of the columns of `sumsOf`. */
export type JobSums = [
  total: number,
  completed: number,
  failed: number,
  costUsd: number | null,
  withoutCost: number,
];

/** A job with more is counted in steps: one statement takes some milliseconds for so many. */
export const MODEL_DAYS_AT_ONCE = 20_000;
/** Model-days that one step reads. */
const MODEL_DAYS_PER_STEP = 1_000;

const TOTAL = query(`SELECT ${MODEL_DAYS_OF_JOB} FROM jobs WHERE job_id = ?`, [integer]);
const STATUS = query('SELECT status FROM jobs WHERE job_id = ?', [text]);
const AT_ONCE = query(`SELECT sums.* FROM ${sumsOf('?1')}`, [
  integer,
  integer,
  integer,
  orNull(real),
  integer,
]);
const STEP = query(
  `SELECT date, model, ${IS_DONE}, status = 'failed', ${LACKS_COST}, cost_usd FROM job_details
   WHERE job_id = ? AND (date, model) > (?, ?) ORDER BY date, model LIMIT ${MODEL_DAYS_PER_STEP}`,
  [text, text, flag, flag, flag, orNull(real)],
);

/**
 * The sums of a job; null between two steps, to let other work run. The job has one status from the
 * first step to the last, so that a completed one has nothing pending.
 */
export function* sumModelDays(
  reader: Reader,
  jobId: string,
  atOnce = MODEL_DAYS_AT_ONCE,
): Generator<null, JobSums> {
  const [total] = TOTAL.one(reader, jobId);
  if (total <= atOnce) return AT_ONCE.one(reader, jobId);
  for (;;) {
    const [before] = STATUS.one(reader, jobId);
    const sums = yield* sumInSteps(reader, jobId, total);
    if (STATUS.one(reader, jobId)[0] === before) return sums;
  }
}

function* sumInSteps(reader: Reader, jobId: string, total: number): Generator<null, JobSums> {
  let [completed, failed, withoutCost, costs] = [0, 0, 0, 0];
  const cost = longSum();
  for (let [date, model, count] = ['', '', MODEL_DAYS_PER_STEP]; count === MODEL_DAYS_PER_STEP; ) {
    count = 0;
    for (const row of STEP.all(reader, jobId, date, model)) {
      [date, model] = row;
      count += 1;
      completed += row[2];
      failed += row[3];
      withoutCost += row[4];
      if (row[5] === null) continue;
      costs += 1;
      addTo(cost, row[5]);
    }
    if (count === MODEL_DAYS_PER_STEP) yield null;
  }
  return [total, completed, failed, costs === 0 ? null : totalOf(cost), withoutCost];
}
