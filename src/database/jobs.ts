import type { CalendarDate } from '../calendar.ts';
import type { AgentConfiguration } from '../configuration.ts';
import { parseAgentConfiguration } from '../configuration.ts';
import { type JobStatus, skipReasons } from '../domain.ts';
import type { Database } from './database.ts';
import { type ModelDay, endModelDay } from './sessions.ts';

/** A model's part of a job; in resume mode it starts on its own date. */
export interface Run {
  model: string;
  startDate: CalendarDate;
}

export interface NewJob {
  jobId: string;
  startDate: CalendarDate;
  endDate: CalendarDate;
  dates: readonly CalendarDate[];
  runs: readonly Run[];
  replaceExisting: boolean;
  agentConfig: AgentConfiguration;
  createdAt: string;
  warnings: readonly string[];
}

/** A job as the worker needs it. */
export interface Job {
  jobId: string;
  startDate: CalendarDate;
  endDate: CalendarDate;
  replaceExisting: boolean;
  agentConfig: AgentConfiguration;
  runs: Run[];
  /** The model-days that have not ended, by date, then in the order of the job's models. */
  pending: ModelDay[];
}

/** Inserts a job with its runs and model-days within the caller's transaction. */
export function insertJob(database: Database, job: NewJob): void {
  database
    .statement(
      `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, warnings)
       VALUES (?, 'pending', ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      job.jobId,
      job.startDate,
      job.endDate,
      JSON.stringify(job.dates),
      job.replaceExisting ? 1 : 0,
      JSON.stringify(job.agentConfig),
      job.createdAt,
      job.warnings.length === 0 ? null : JSON.stringify(job.warnings),
    );
  const insertRun = database.statement(
    'INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  job.runs.forEach(({ model, startDate }, index) => insertRun.run(job.jobId, model, index, startDate, job.createdAt));
  database
    .statement(
      `INSERT INTO job_details (job_id, date, model)
       SELECT job_id, day.value, simulation_runs.model
       FROM jobs, json_each(jobs.dates) AS day JOIN simulation_runs USING (job_id) WHERE job_id = ?`,
    )
    .run(job.jobId);
}

export function jobExists(database: Database, jobId: string): boolean {
  return database.statement('SELECT 1 FROM jobs WHERE job_id = ?').get(jobId) !== undefined;
}

/** The one unfinished job, or null. */
export function unfinishedJobId(database: Database): string | null {
  return (
    (database.statement('SELECT job_id FROM jobs WHERE completed_at IS NULL').get()?.['job_id'] as
      string | undefined) ?? null
  );
}

export function loadJob(database: Database, jobId: string): Job {
  const row = database
    .statement('SELECT start_date, end_date, replace_existing, agent_config FROM jobs WHERE job_id = ?')
    .get(jobId) as { start_date: string; end_date: string; replace_existing: number; agent_config: string };
  const runs = database
    .statement('SELECT model, start_date AS startDate FROM simulation_runs WHERE job_id = ? ORDER BY model_index')
    .all(jobId) as unknown as Run[];
  const pending = database
    .statement(
      `SELECT job_id AS jobId, date, model FROM job_details JOIN simulation_runs USING (job_id, model)
       WHERE job_id = ? AND job_details.status IN ('pending', 'running') ORDER BY date, model_index`,
    )
    .all(jobId) as unknown as ModelDay[];
  return {
    jobId,
    startDate: row.start_date,
    endDate: row.end_date,
    replaceExisting: row.replace_existing === 1,
    agentConfig: parseAgentConfiguration(JSON.parse(row.agent_config)),
    runs,
    pending,
  };
}

/** How many model-days of a job have ended, however they did. */
export function endedModelDays(database: Database, jobId: string): number {
  const row = database
    .statement('SELECT count(*) AS count FROM job_details WHERE job_id = ? AND completed_at IS NOT NULL')
    .get(jobId);
  return Number(row?.['count']);
}

/** Moves an unfinished job on; the first time also notes when it started. */
export function setJobStatus(
  database: Database,
  jobId: string,
  { status, at }: { status: JobStatus; at: string },
): void {
  database
    .statement('UPDATE jobs SET status = ?, started_at = coalesce(started_at, ?) WHERE job_id = ?')
    .run(status, at, jobId);
}

/** Adds sentences to a job's warnings; one that stands there already is not repeated. */
export function addWarnings(database: Database, jobId: string, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const stored =
    readWarnings(database.statement('SELECT warnings FROM jobs WHERE job_id = ?').get(jobId)?.['warnings']) ?? [];
  const all = [...new Set([...stored, ...warnings])];
  database.statement('UPDATE jobs SET warnings = ? WHERE job_id = ?').run(JSON.stringify(all), jobId);
}

/** Marks model-days as skipped, each with its reason. */
export function skipModelDays(
  database: Database,
  skips: readonly { modelDay: ModelDay; reason: string }[],
  at: string,
): void {
  for (const { modelDay, reason } of skips)
    endModelDay(database, modelDay, { status: 'skipped', error: reason, completedAt: at });
}

/** Fails every model-day of a job that has not ended, because the job itself cannot go on. */
export function failRemainingModelDays(
  database: Database,
  jobId: string,
  { error, at }: { error: string; at: string },
): void {
  database
    .statement(
      `UPDATE job_details SET status = 'failed', error = ?, completed_at = ? WHERE job_id = ? AND completed_at IS NULL`,
    )
    .run(error, at, jobId);
}

/**
 * Ends a job. Its status follows from its model-days: `completed` when none failed, `partial` when some did and some
 * completed, else `failed`; a job-level error makes it `failed`.
 */
export function finishJob(
  database: Database,
  jobId: string,
  { error, at }: { error: string | null; at: string },
): JobStatus {
  const counts = database
    .statement(
      `SELECT count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed
       FROM job_details WHERE job_id = ?`,
    )
    .get(jobId) as { completed: number; failed: number };
  const withoutError = counts.failed === 0 ? 'completed' : counts.completed > 0 ? 'partial' : 'failed';
  const status = error === null ? withoutError : 'failed';
  database
    .statement(
      'UPDATE jobs SET status = ?, error = ?, started_at = coalesce(started_at, ?), completed_at = ? WHERE job_id = ?',
    )
    .run(status, error, at, at, jobId);
  return status;
}

/** What ran is pending again, to be resumed where its reasoning log ends; within the caller's transaction. */
export function returnToPending(database: Database, jobId: string): void {
  database.statement(`UPDATE job_details SET status = 'pending' WHERE job_id = ? AND status = 'running'`).run(jobId);
}

/** Cancels an unfinished job within the caller's transaction; what has completed stays. Returns how many days were not run. */
export function cancelJob(database: Database, jobId: string, at: string): number {
  const skipped = database
    .statement(
      `UPDATE job_details SET status = 'skipped', error = ?, completed_at = ? WHERE job_id = ? AND completed_at IS NULL`,
    )
    .run(skipReasons.cancelled, at, jobId);
  database
    .statement(
      `UPDATE jobs SET status = 'cancelled', started_at = coalesce(started_at, ?1), completed_at = ?1 WHERE job_id = ?2`,
    )
    .run(at, jobId);
  return Number(skipped.changes);
}

/** Where a job stands; null for an unknown one. */
export function statusOfJob(database: Database, jobId: string): JobStatus | null {
  const row = database.statement('SELECT status FROM jobs WHERE job_id = ?').get(jobId);
  return (row?.['status'] as JobStatus | undefined) ?? null;
}

/** The stored warnings; null when there are none or the stored text is not a JSON array of strings. */
export function readWarnings(stored: unknown): string[] | null {
  if (typeof stored !== 'string') return null;
  try {
    const warnings: unknown = JSON.parse(stored);
    return Array.isArray(warnings) && warnings.every((warning) => typeof warning === 'string') ? warnings : null;
  } catch {
    return null;
  }
}
