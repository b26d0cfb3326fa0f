import assert from 'node:assert/strict';
import type { CalendarDate } from '#time/calendar.ts';
import {
  asWarning,
  type DeploymentMode,
  type JobStatus,
  jobStatuses,
  type Warning,
} from '#domain/vocabulary.ts';
import { asArray, asObject, tryParse } from '#json/json.ts';
import type { Database, Reader } from './database.ts';
import { addModelDays, datesOfJob } from './model-days.ts';
import { flag, insertRow, integer, oneOf, orNull, query, reads, text, type RowOf } from './rows.ts';

const RUNS = query(
  `SELECT {} FROM simulation_runs
   WHERE job_id = ? ORDER BY model_index`,
  { model: text, startDate: text, family: text, entry: text },
);

/**
 * A model's part of a job; in resume mode it has its own start date. `entry` is what ran, as text
 * (entry.ts).
 */
export type JobRun = RowOf<typeof RUNS>;

export interface NewJob {
  jobId: string;
  startDate: CalendarDate;
  endDate: CalendarDate;
  dates: readonly CalendarDate[];
  runs: readonly JobRun[];
  replaceExisting: boolean;
  agentConfig: object;
  /**
   * The name of the universe that the trigger picked; its symbols are in `agentConfig`. Default:
   * null.
   */
  universe?: string | null;
  /** Default: null, the study without a name. */
  study?: string | null;
  /** The mode of the service that creates it. */
  deploymentMode: DeploymentMode;
  createdAt: string;
  warnings: readonly (string | Warning)[];
}

/** Inserts a job with its runs and all its model-days, within the caller's transaction. */
export function insertJob(database: Database, job: NewJob): void {
  const {
    jobId,
    createdAt,
    startDate,
    endDate,
    deploymentMode,
    universe = null,
    study = null,
  } = job;
  const own = { jobId, createdAt };
  insertRow(database, 'jobs', {
    ...{ ...own, status: 'pending', startDate, endDate, deploymentMode, universe, study },
    dates: JSON.stringify(job.dates),
    replaceExisting: Number(job.replaceExisting),
    agentConfig: JSON.stringify(job.agentConfig),
  });
  for (const [modelIndex, { startDate, model, entry, family }] of job.runs.entries())
    insertRow(database, 'simulation_runs', { ...own, modelIndex, startDate, model, entry, family });
  addModelDays(database, jobId);
  addWarnings(database, jobId, job.warnings);
}

const MODES = query(
  `SELECT EXISTS (SELECT 1 FROM jobs WHERE deployment_mode = 'DEV') AS isDev,
     EXISTS (SELECT 1 FROM jobs WHERE deployment_mode = 'PROD') AS isProd`,
  { isDev: flag, isProd: flag },
);

/**
 * The mode in which the jobs of a file were created: DEV where any of them was, because its models
 * are simulated.
 */
export function modeOfJobs(database: Database): DeploymentMode | 'UNKNOWN' {
  const { isDev, isProd } = MODES.one(database);
  return isDev ? 'DEV' : isProd ? 'PROD' : 'UNKNOWN';
}

/** The only unfinished job, or null. */
export const unfinishedJobId = reads(
  'value',
  'SELECT job_id FROM jobs WHERE completed_at IS NULL',
  [text],
);

const JOB = query(`SELECT {} FROM jobs WHERE job_id = ?`, {
  jobId: text,
  startDate: text,
  endDate: text,
  replaceExisting: flag,
  agentConfig: text,
  universe: orNull(text),
  study: orNull(text),
});

/** The study of a job, '' being the one without a name; null for an unknown job. */
export const studyOfJob = reads(
  'value',
  `SELECT coalesce(study, '') FROM jobs WHERE job_id = ?`,
  [text],
  (jobId: string) => [jobId],
);

/** The studies that jobs name, by name. */
export const studiesOfJobs = reads(
  'column',
  `SELECT DISTINCT coalesce(study, '') FROM jobs WHERE study IS NOT NULL ORDER BY study`,
  [text],
);

/** The newest job of a study that has active model-days, '' being the one without a name; or of any. */
export const newestActiveJob = reads(
  'get',
  `SELECT {},
     (SELECT max(wording) FROM trading_sessions WHERE trading_sessions.job_id = jobs.job_id) AS wording
   FROM jobs WHERE (?1 IS NULL OR coalesce(study, '') = ?1) AND EXISTS (
     SELECT 1 FROM trading_sessions WHERE trading_sessions.job_id = jobs.job_id AND status = 'active')
   ORDER BY rowid DESC LIMIT 1`,
  { jobId: text, agentConfig: text, study: orNull(text), wording: orNull(integer) },
  (study?: string) => [study ?? null],
);

export function loadJob(reader: Reader, jobId: string) {
  const { replaceExisting, ...job } = JOB.one(reader, jobId);
  return { ...job, replaceExisting: replaceExisting === 1, runs: RUNS.all(reader, jobId) };
}

/** The models of a job, by name. */
export const modelsOfJob = reads(
  'column',
  'SELECT model FROM simulation_runs WHERE job_id = ? ORDER BY model',
  [text],
  (jobId: string) => [jobId],
);

/** Advances an unfinished job to another status; the first time also stores when it started. */
export function setJobStatus(
  database: Database,
  jobId: string,
  { status, at }: { status: JobStatus; at: string },
): void {
  database
    .statement('UPDATE jobs SET status = ?, started_at = coalesce(started_at, ?) WHERE job_id = ?')
    .run(status, at, jobId);
}

/** When an unfinished job, or the last of its running sessions, was started; empty before that. */
export const lastStartTime = reads(
  'cell',
  `SELECT coalesce(max(started_at), '') FROM (
     SELECT started_at FROM jobs WHERE job_id = ?1 UNION ALL
     SELECT started_at FROM trading_sessions INDEXED BY one_running_session WHERE job_id = ?1 AND status = 'running')`,
  [text],
  (jobId: string) => [jobId],
);

/** Warnings as they are stored. */
export interface StoredWarnings {
  warnings: string | null;
  warningCodes: string;
}

const WARNINGS = query('SELECT {} FROM jobs WHERE job_id = ?', {
  warnings: orNull(text),
  warningCodes: text,
});

/** Adds to a job's warnings, each sentence only once. */
export function addWarnings(
  database: Database,
  jobId: string,
  added: readonly (string | Warning)[],
): void {
  if (added.length === 0) return;
  const stored = readWarnings(WARNINGS.one(database, jobId)) ?? [];
  const all = new Map([...stored, ...added.map(asWarning)].map((one) => [one.message, one]));
  const codes = [...all.values()].map(({ code, about }) => code && { code, about });
  database
    .statement('UPDATE jobs SET warnings = ?, warning_codes = ? WHERE job_id = ?')
    .run(JSON.stringify([...all.keys()]), JSON.stringify(codes), jobId);
}

/** Ends an unfinished job within the caller's transaction. */
export function endJob(
  database: Database,
  jobId: string,
  { status, error, at }: { status: JobStatus; error: string | null; at: string },
): void {
  const { changes } = database
    .statement(
      `UPDATE jobs SET status = ?1, error = ?2, started_at = coalesce(started_at, ?3), completed_at = ?3
       WHERE job_id = ?4 AND completed_at IS NULL`,
    )
    .run(status, error, at, jobId);
  assert.equal(changes, 1, 'only an unfinished job can end');
}

/** The first ends that are still to be announced: as many as are announced at a time. */
export const nextAnnouncements = reads(
  'all',
  'SELECT {} FROM announcements ORDER BY rowid LIMIT 100',
  { jobId: text, body: text },
);

/** An end of a job, and the JSON that announces it. */
export type Announcement = RowOf<typeof nextAnnouncements>;

/** Stores what is to be announced, within the transaction that ends the job. */
export function addAnnouncement(database: Database, { jobId, body }: Announcement): void {
  insertRow(database, 'announcements', { jobId, body });
}

export function removeAnnouncement(database: Database, jobId: string): void {
  database.statement('DELETE FROM announcements WHERE job_id = ?').run(jobId);
}

interface RunKey {
  jobId: string;
  model: string;
}

/** What the provider of a run has refused of what the service adds to requests. */
export const readLeftOut = reads(
  'column',
  'SELECT value FROM simulation_runs CROSS JOIN json_each(left_out) WHERE job_id = ? AND model = ?',
  [text],
  ({ jobId, model }: RunKey) => [jobId, model],
);

/** Adds to what the provider of a run has refused, each addition once. */
export function addLeftOut(database: Database, run: RunKey, refused: readonly string[]): void {
  const all = [...new Set([...readLeftOut(database, run), ...refused])];
  database
    .statement('UPDATE simulation_runs SET left_out = ? WHERE job_id = ? AND model = ?')
    .run(JSON.stringify(all), run.jobId, run.model);
}

/** The status of a job; null for an unknown one. */
export const statusOfJob = reads(
  'value',
  'SELECT status FROM jobs WHERE job_id = ?',
  [oneOf(jobStatuses)],
  (jobId: string) => [jobId],
);

/**
 * The stored warnings; null when there are none or the stored text is not a JSON array of strings.
 */
export function readWarnings({ warnings, warningCodes }: StoredWarnings): Warning[] | null {
  const messages = asArray(tryParse(warnings ?? ''));
  if (!messages?.every((message) => typeof message === 'string')) return null;
  const codes = asArray(tryParse(warningCodes)) ?? [];
  return messages.map((message, index) => ({ code: null, ...asObject(codes[index]), message }));
}

/** What the warnings with a code are about, of all jobs but the discarded ones. */
export const warnedSubjects = reads(
  'set',
  `SELECT about.value FROM jobs, json_each(warning_codes) AS warning, json_each(warning.value, '$.about') AS about
   WHERE status <> 'discarded' AND json_extract(warning.value, '$.code') = ?`,
  [text],
  (code: Warning['code']) => [code],
);

const REMEMBERED = query('SELECT {} FROM idempotency_keys WHERE key = ?', {
  jobId: text,
  requestHash: text,
  /** The response, as JSON. */
  answer: text,
});

/** A trigger that created a job: a hash of its request, and the response. */
type RememberedTrigger = RowOf<typeof REMEMBERED>;

/** The first trigger with an `Idempotency-Key`. */
export function findTrigger(database: Database, key: string): RememberedTrigger | undefined {
  return REMEMBERED.get(database, key);
}

/** Stores a trigger within the transaction that inserts its job; throws when the key is taken. */
export function rememberTrigger(
  database: Database,
  key: string,
  { jobId, requestHash, answer }: RememberedTrigger,
): void {
  insertRow(database, 'idempotency_keys', { key, jobId, requestHash, answer });
}

/**
 * Discards an ended job within the caller's transaction; nothing is erased. Of each model-day the
 * newest generation counts whose job is not discarded. Returns how many were withdrawn, and for how
 * many of them an earlier one counts again.
 */
export function discard(database: Database, jobId: string) {
  const run = (sql: string, ...values: string[]) =>
    Number(database.statement(sql).run(jobId, ...values).changes);
  run(`UPDATE jobs SET status = 'discarded' WHERE job_id = ?`);
  let [withdrawn, restored] = [0, 0];
  // From the last date on, so that whatever looks for a day's latest earlier active one finds it at
  // once.
  for (const date of datesOfJob(database, jobId).reverse()) {
    withdrawn += run(WITHDRAW, date);
    restored += run(RESTORE, date);
  }
  run(DISCARDED);
  return { withdrawn, restored };
}

const WITHDRAW = `
  UPDATE trading_sessions SET status = 'superseded' WHERE job_id = ? AND date = ? AND status = 'active'`;

const RESTORE = `
  UPDATE trading_sessions SET status = 'active' WHERE status = 'superseded' AND session_id IN (
    SELECT (SELECT max(session_id) FROM trading_sessions AS other JOIN jobs USING (job_id)
      WHERE other.model = own.model AND other.date = own.date AND other.status IN ('active', 'superseded')
        AND jobs.status <> 'discarded')
    FROM trading_sessions AS own WHERE job_id = ? AND date = ?)`;

/** A discarded run has no active model-day, and whatever has one is active. */
const DISCARDED = `
  UPDATE simulation_runs SET status = iif(job_id = ?1, 'superseded', 'active')
  WHERE job_id = ?1 OR (job_id, model) IN (
    SELECT job_id, model FROM trading_sessions
    WHERE status = 'active' AND model IN (SELECT model FROM simulation_runs WHERE job_id = ?1))`;
