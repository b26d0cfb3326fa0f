import type { CalendarDate } from '#time/calendar.ts';
import { type AnswerFault, jobStatuses, skipReasons } from '#domain/vocabulary.ts';
import type { Database } from './database.ts';
import { integer, oneOf, query, reads, text, type RowOf } from './rows.ts';

/**
 * The model-days of a job. Whatever happens to all of them is one statement within the caller's
 * transaction, so that no reader, and no process that continues after a crash, finds half of it. A
 * job of 100,000 model-days may hold up other requests for a second.
 */

/** The dates of a job, in order. */
export const datesOfJob = reads(
  'column',
  'SELECT value FROM jobs, json_each(jobs.dates) WHERE job_id = ? ORDER BY value',
  [text],
  (jobId: string) => [jobId],
);

/** Adds a job's model-days: one for each of its dates and runs. */
export function addModelDays(database: Database, jobId: string): void {
  database
    .statement(
      // CROSS JOIN keeps this order: the other way round, SQLite reads the JSON again for every
      // run.
      `INSERT INTO job_details (job_id, date, model)
       SELECT job_id, day.value, simulation_runs.model
       FROM jobs CROSS JOIN json_each(jobs.dates) AS day CROSS JOIN simulation_runs USING (job_id)
       WHERE job_id = ?`,
    )
    .run(jobId);
}

/**
 * The model-days of job ?1 that have not ended, with the reason to skip each before prices are
 * considered: it is completed and not to be replaced, or comes before its model's own start. NULL
 * if it is to be run.
 */
const OPEN = `
  SELECT date, model, CASE
      WHEN NOT replace_existing AND EXISTS (SELECT 1 FROM trading_sessions AS done
        WHERE done.model = day.model AND done.date = day.date AND done.status = 'active') THEN '${skipReasons.alreadyCompleted}'
      WHEN date < run.start_date THEN '${skipReasons.beforeResumeDate.replace("'", "''")}' END AS reason
  FROM jobs CROSS JOIN job_details AS day USING (job_id) CROSS JOIN simulation_runs AS run USING (job_id, model)
  WHERE job_id = ?1 AND day.completed_at IS NULL`;

/** The dates on which a job has something to run, as far as prices allow, in order. */
export const datesToRun = reads(
  'column',
  `SELECT DISTINCT date FROM (${OPEN}) WHERE reason IS NULL ORDER BY date`,
  [text],
  (jobId: string) => [jobId],
);

const SKIP = `
  UPDATE job_details SET status = 'skipped', error = open.reason, completed_at = ?2
  FROM (SELECT date, model,
      coalesce(reason, iif(date IN (SELECT value FROM json_each(?3)), NULL, '${skipReasons.noPriceData}')) AS reason
    FROM (${OPEN})) AS open
  WHERE job_id = ?1 AND job_details.date = open.date AND job_details.model = open.model AND open.reason IS NOT NULL`;

/**
 * Skips the model-days of a job that are not to be run, each for the first reason that applies; the
 * last is that its date is not among those `priced`.
 */
export function skipModelDays(
  database: Database,
  jobId: string,
  { priced, at }: { priced: readonly CalendarDate[]; at: string },
): void {
  database.statement(SKIP).run(jobId, at, JSON.stringify(priced));
}

/** How many model-days of a date were skipped for a reason. */
export type SkippedOnDate = RowOf<typeof skippedModelDays>;

/** What was skipped of a job, by date and reason. */
export const skippedModelDays = reads(
  'all',
  `SELECT coalesce(error, '') AS reason, {}, count(*) AS modelDays FROM job_details
   WHERE job_id = ? AND status = 'skipped' GROUP BY date, error`,
  { reason: text, date: text, modelDays: integer },
  (jobId: string) => [jobId],
);

/** The model-days of a date that have not ended, in the order of the job's models. */
export const pendingModelDays = reads(
  'all',
  `SELECT {} FROM job_details JOIN simulation_runs USING (job_id, model)
   WHERE job_id = ? AND date = ? AND completed_at IS NULL ORDER BY model_index`,
  { jobId: text, date: text, model: text },
  (jobId: string, date: CalendarDate) => [jobId, date],
);

/**
 * Ends every model-day that has not ended: it fails, because the job itself cannot continue, or is
 * skipped, because the job is cancelled. Returns how many.
 */
export function endModelDays(
  database: Database,
  jobId: string,
  { status, error, at }: { status: 'failed' | 'skipped'; error: string; at: string },
): number {
  const { changes } = database
    .statement(
      `UPDATE job_details SET status = ?, error = ?, completed_at = ?
       WHERE job_id = ? AND completed_at IS NULL`,
    )
    .run(status, error, at, jobId);
  return Number(changes);
}

/**
 * The status of a job whose model-days have all ended: `completed` if none failed, `partial` if
 * some completed, else `failed`.
 */
export const finalStatus = reads(
  'cell',
  `SELECT iif(max(status = 'failed') IS NOT 1, 'completed', iif(max(status = 'completed'), 'partial', 'failed'))
   FROM job_details WHERE job_id = ?`,
  [oneOf(jobStatuses)],
  (jobId: string) => [jobId],
);

/**
 * More messages than running sessions have, so that the sum changes with every message and with
 * every model-day that ends.
 */
const ENDED_COUNTS = 1_000_000;
const NOTE_RESTART = query(
  `UPDATE jobs SET idle_restarts = iif(progress_mark = done, idle_restarts + max(life_counts, ?2), 0),
     progress_mark = done, life_counts = 0
   FROM (SELECT (SELECT count(*) FROM job_details WHERE job_id = ?1 AND completed_at IS NOT NULL) * ${ENDED_COUNTS} + count(*) AS done
     FROM trading_sessions INDEXED BY one_running_session JOIN reasoning_logs USING (session_id) WHERE job_id = ?1 AND status = 'running')
   WHERE job_id = ?1 RETURNING idle_restarts`,
  [integer],
);

/**
 * Records that an unfinished job is resumed, and makes its running model-days pending again, to
 * be resumed where their reasoning logs end.
 * Returns how many restarts in a row had logged nothing and ended no model-day since the one
 * before. A process that lived too briefly to count (see `markLongLived`) leaves that number unchanged,
 * unless the restart `counts` in any case.
 */
export function recordRestart(database: Database, jobId: string, { counts = false } = {}): number {
  database
    .statement(`UPDATE job_details SET status = 'pending' WHERE job_id = ? AND status = 'running'`)
    .run(jobId);
  return NOTE_RESTART.one(database, jobId, Number(counts))[0];
}

/** Records whether this process, if it ended now, would count as a restart without progress. */
export function markLongLived(database: Database, jobId: string, counts: boolean): void {
  database
    .statement('UPDATE jobs SET life_counts = ?1 WHERE job_id = ?2 AND life_counts <> ?1')
    .run(Number(counts), jobId);
}

const answersWith = (fault: AnswerFault) =>
  `sum((SELECT count(*) FROM reasoning_logs AS log WHERE log.session_id = own.session_id AND fault = '${fault}'))`;

/**
 * By entry, on how many active days of a job no answer was a decision, and how many answers were
 * refused or have orders written as text; only those with any.
 */
export const faultyAnswers = reads(
  'all',
  `SELECT family, sum(unread) AS unread, ${answersWith('refused')} AS refused, ${answersWith('written_call')} AS written
   FROM trading_sessions AS own JOIN simulation_runs USING (job_id, model)
   WHERE job_id = ? AND own.status = 'active'
   GROUP BY family HAVING unread + refused + written > 0 ORDER BY family`,
  { family: text, unread: integer, refused: integer, written: integer },
  (jobId: string) => [jobId],
);
