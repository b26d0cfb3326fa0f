import type { CalendarDate } from '../basics/calendar.ts';
import { type JobStatus, skipReasons } from '../basics/domain.ts';
import { bySlices, mapInSteps, nextTurn, type Steps } from '../basics/turns.ts';
import type { Database, Reader } from './database.ts';
import { storeFailures } from './decisions.ts';
import { flag, integer, orNull, query, type RowOf, text } from './rows.ts';
import { endModelDay, type ModelDay } from './sessions.ts';

/**
 * The model-days of a job. There may be hundreds of thousands, so whatever is done to all of them
 * is done for a span of dates at a time, and other requests are answered in between. A job of
 * ordinary size has one span.
 */

/**
 * Model-days that one transaction writes: some milliseconds. A date is not divided, even if it has
 * more.
 */
const MODEL_DAYS_PER_SPAN = 2_000;

/** The first and the last of some consecutive dates of a job. */
export interface DateSpan {
  from: CalendarDate;
  to: CalendarDate;
}

const DATES = query(
  'SELECT value FROM jobs, json_each(jobs.dates) WHERE job_id = ? ORDER BY value',
  [text],
);

/** The dates of a job, in order. */
export function datesOfJob(reader: Reader, jobId: string): CalendarDate[] {
  return DATES.all(reader, jobId).map(([date]) => date);
}

const RUNS = query('SELECT count(*) FROM simulation_runs WHERE job_id = ?', [integer]);

/** All dates of a job, in order, in spans of so many model-days. */
export function dateSpans(
  reader: Reader,
  jobId: string,
  modelDays = MODEL_DAYS_PER_SPAN,
): DateSpan[] {
  const dates = datesOfJob(reader, jobId);
  const perSpan = Math.max(1, Math.floor(modelDays / RUNS.one(reader, jobId)[0]));
  return dates.flatMap((from, index) => {
    const to = dates[Math.min(index + perSpan, dates.length) - 1];
    return index % perSpan === 0 && to !== undefined ? [{ from, to }] : [];
  });
}

/**
 * Writes something to a job span by span, each in a transaction of its own, after which `onWritten`
 * is called. If the process ends in between, what was written stays.
 */
export async function writeBySpans(
  database: Database,
  jobId: string,
  write: (span: DateSpan, isLast: boolean) => void,
  {
    signal,
    onWritten = () => {},
  }: { signal?: AbortSignal | undefined; onWritten?: (isLast: boolean) => void } = {},
): Promise<void> {
  const spans = dateSpans(database, jobId);
  for (const span of spans) {
    const isLast = span === spans.at(-1);
    await database.write(() => write(span, isLast), { signal });
    onWritten(isLast);
    if (!isLast) await nextTurn();
  }
}

/** Reads something of a job span by span, one in each step. */
export function readBySpans<Result>(
  reader: Reader,
  jobId: string,
  read: (span: DateSpan) => Result,
): Steps<Result[]> {
  return mapInSteps(dateSpans(reader, jobId), read, 1);
}

const LAST_ADDED = query('SELECT max(date) FROM job_details WHERE job_id = ?', [orNull(text)]);

/**
 * Adds the model-days of a span that a job does not have yet, in the order of their dates; within
 * the caller's transaction.
 */
export function addModelDays(database: Database, jobId: string, { from, to }: DateSpan): void {
  const after = LAST_ADDED.one(database, jobId)[0] ?? '';
  if (after >= to) return;
  database
    .statement(
      // CROSS JOIN keeps this order: the other way round, SQLite reads the JSON again for every
      // run.
      `INSERT INTO job_details (job_id, date, model)
       SELECT job_id, day.value, simulation_runs.model
       FROM jobs CROSS JOIN json_each(jobs.dates) AS day CROSS JOIN simulation_runs USING (job_id)
       WHERE job_id = ? AND day.value BETWEEN ? AND ? AND day.value > ?`,
    )
    .run(jobId, from, to, after);
}

const HAS_ALL = query(
  `SELECT (SELECT max(date) FROM job_details WHERE job_id = ?1) IS (SELECT max(value) FROM jobs, json_each(jobs.dates) WHERE job_id = ?1)`,
  [flag],
);

/** Adds the model-days that a large job did not get when it was created. */
export async function addMissingModelDays(
  database: Database,
  jobId: string,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  if (HAS_ALL.one(database, jobId)[0] === 1) return;
  await writeBySpans(database, jobId, (span) => addModelDays(database, jobId, span), { signal });
  await nextTurn();
}

const PENDING = query(
  `SELECT job_id AS jobId, date, model FROM job_details JOIN simulation_runs USING (job_id, model)
   WHERE job_id = ? AND date BETWEEN ? AND ? AND job_details.status IN ('pending', 'running') ORDER BY date, model_index`,
  { jobId: text, date: text, model: text },
);

/** The model-days of a span that have not ended, by date, then in the order of the job's models. */
export function pendingModelDays(
  reader: Reader,
  jobId: string,
  { from, to }: DateSpan,
): ModelDay[] {
  return PENDING.all(reader, jobId, from, to);
}

const ENDED = query(
  'SELECT count(*) FROM job_details WHERE job_id = ? AND date BETWEEN ? AND ? AND completed_at IS NOT NULL',
  [integer],
);

/** How many model-days of a job have ended, in any status. */
export function* endedModelDays(reader: Reader, jobId: string): Steps<number> {
  const ended = yield* readBySpans(
    reader,
    jobId,
    ({ from, to }) => ENDED.one(reader, jobId, from, to)[0],
  );
  return ended.reduce((sum, ofSpan) => sum + ofSpan, 0);
}

/** Some model-days, and why they are skipped. */
export interface Skips {
  reason: string;
  modelDays: readonly ModelDay[];
}

/** Model-days that are skipped in one transaction, row by row: some milliseconds. */
const SKIPS_PER_TRANSACTION = 500;

/** Marks model-days as skipped, each with its reason. */
export async function skipModelDays(
  database: Database,
  skips: readonly Skips[],
  { at, signal }: { at: string; signal?: AbortSignal | undefined },
): Promise<void> {
  for (const some of portions(skips)) {
    const write = () => {
      for (const [modelDay, error] of some)
        endModelDay(database, modelDay, { status: 'skipped', error, completedAt: at });
    };
    await database.write(write, { signal });
    await nextTurn();
  }
}

/**
 * What is skipped in one transaction: each date has reasons of its own, and a commit of its own for
 * each could take seconds.
 */
function* portions(skips: readonly Skips[]): Generator<[ModelDay, reason: string][]> {
  let portion: [ModelDay, reason: string][] = [];
  for (const { reason, modelDays } of skips)
    for (const modelDay of modelDays)
      if (portion.push([modelDay, reason]) === SKIPS_PER_TRANSACTION) {
        yield portion;
        portion = [];
      }
  if (portion.length > 0) yield portion;
}

const SKIPPED = query(
  `SELECT coalesce(error, '') AS reason, date, count(*) AS modelDays FROM job_details
   WHERE job_id = ? AND date BETWEEN ? AND ? AND status = 'skipped' GROUP BY date, error`,
  { reason: text, date: text, modelDays: integer },
);

/** How many model-days of a date were skipped for a reason. */
export type SkippedOnDate = RowOf<typeof SKIPPED>;

/** What was skipped of a job, by date and reason. */
export function* skippedModelDays(reader: Reader, jobId: string): Steps<SkippedOnDate[]> {
  return (yield* readBySpans(reader, jobId, ({ from, to }) =>
    SKIPPED.all(reader, jobId, from, to),
  )).flat();
}

/**
 * Fails every model-day of a span that has not ended, because the job itself cannot continue;
 * within the caller's transaction.
 */
export function failModelDays(
  database: Database,
  jobId: string,
  end: { span: DateSpan; error: string; at: string },
): void {
  endModelDays(database, jobId, { ...end, status: 'failed' });
}

/**
 * Skips every model-day of a span that has not ended, because the job is cancelled. Returns how
 * many; within the caller's transaction.
 */
export function cancelModelDays(
  database: Database,
  jobId: string,
  end: { span: DateSpan; at: string },
): number {
  return endModelDays(database, jobId, { ...end, status: 'skipped', error: skipReasons.cancelled });
}

function endModelDays(
  database: Database,
  jobId: string,
  {
    span,
    status,
    error,
    at,
  }: { span: DateSpan; status: 'failed' | 'skipped'; error: string; at: string },
): number {
  addModelDays(database, jobId, span);
  const { changes } = database
    .statement(
      `UPDATE job_details SET status = ?, error = ?, completed_at = ?
       WHERE job_id = ? AND date BETWEEN ? AND ? AND completed_at IS NULL`,
    )
    .run(status, error, at, jobId, span.from, span.to);
  if (status === 'failed') storeFailures(database, { jobId, ...span });
  return Number(changes);
}

const HAS_CANCELLED = query(
  `SELECT 1 FROM job_details
   WHERE job_id = ? AND date BETWEEN ? AND ? AND status = 'skipped' AND error = '${skipReasons.cancelled}'`,
  [integer],
);

/**
 * Whether an unfinished job was being cancelled when the process ended, or when the database could
 * not be written.
 */
export function* isBeingCancelled(reader: Reader, jobId: string): Steps<boolean> {
  return (yield* readBySpans(reader, jobId, ({ from, to }) =>
    HAS_CANCELLED.has(reader, jobId, from, to),
  )).includes(true);
}

const COUNTS = query(
  `SELECT count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed
   FROM job_details WHERE job_id = ? AND date BETWEEN ? AND ?`,
  { completed: integer, failed: integer },
);

/**
 * The status of a job whose model-days have all ended: `completed` if none failed, `partial` if
 * some completed, else `failed`.
 */
export function* finalStatus(reader: Reader, jobId: string): Steps<JobStatus> {
  const counts = yield* readBySpans(reader, jobId, ({ from, to }) =>
    COUNTS.one(reader, jobId, from, to),
  );
  if (counts.every(({ failed }) => failed === 0)) return 'completed';
  return counts.some(({ completed }) => completed > 0) ? 'partial' : 'failed';
}

/** Makes running model-days pending again, to be resumed where their reasoning logs end. */
export async function returnToPending(
  database: Database,
  jobId: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const update = `UPDATE job_details SET status = 'pending' WHERE job_id = ? AND date BETWEEN ? AND ? AND status = 'running'`;
  await writeBySpans(
    database,
    jobId,
    ({ from, to }) => void database.statement(update).run(jobId, from, to),
    { signal },
  );
}

/**
 * More messages than running sessions have, so that the sum changes with every message and with
 * every model-day that ends.
 */
const ENDED_COUNTS = 1_000_000;
const NOTE_RESTART = query(
  `UPDATE jobs SET idle_restarts = iif(progress_mark = done, idle_restarts + life_counts, 0),
     progress_mark = done, life_counts = 0
   FROM (SELECT CAST(?2 AS INTEGER) * ${ENDED_COUNTS} + count(*) AS done
     FROM trading_sessions INDEXED BY one_running_session JOIN reasoning_logs USING (session_id) WHERE job_id = ?1 AND status = 'running')
   WHERE job_id = ?1 RETURNING idle_restarts`,
  [integer],
);

/**
 * Records that an unfinished job is resumed, and makes its running model-days pending again.
 * Resolves to how many restarts in a row had logged nothing and ended no model-day since the one
 * before. A process that lived too briefly to count (see `noteLife`) leaves that number unchanged.
 */
export async function noteRestart(database: Database, jobId: string): Promise<number> {
  await returnToPending(database, jobId);
  const ended = await bySlices(endedModelDays(database, jobId));
  return database.write(() => NOTE_RESTART.one(database, jobId, ended)[0]);
}

/**
 * Records whether this process, if it ended now, would count as a restart without progress; within
 * the caller's transaction.
 */
export function noteLife(database: Database, jobId: string, counts: boolean): void {
  database.statement('UPDATE jobs SET life_counts = ? WHERE job_id = ?').run(counts ? 1 : 0, jobId);
}
