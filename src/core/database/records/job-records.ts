import type { Database, Reader } from '#database/database.ts';
import { flag, integer, orNull, query, reads, text, type RowOf } from '#database/rows.ts';
import { sumSql, USAGE_COUNTS } from '#database/usage.ts';
import { type JobStatus, skipReasons } from '#domain/vocabulary.ts';

/** What the model-days of a job add up to. */

/** SQL, of a row of jobs: how many model-days it has, without counting them. */
const MODEL_DAYS_OF_JOB = `json_array_length(dates)
  * (SELECT count(*) FROM simulation_runs WHERE simulation_runs.job_id = jobs.job_id)`;

const IS_CANCELLED = `status = 'skipped' AND error = '${skipReasons.cancelled}'`;
const IS_SKIPPED = `status = 'skipped' AND NOT (${IS_CANCELLED})`;
const IS_DONE = `status = 'completed' OR (${IS_SKIPPED})`;
const LACKS_COST = 'steps > 0 AND cost_usd IS NULL';

/**
 * In one pass. Skipped model-days count as done, except those skipped by a cancellation; the cost
 * is of all, failed ones too.
 */
const SUMS = `
  (SELECT (SELECT ${MODEL_DAYS_OF_JOB} FROM jobs WHERE job_id = ?1) AS total,
      count(*) FILTER (WHERE ${IS_DONE}) AS completed,
      count(*) FILTER (WHERE status = 'failed') AS failed,
      count(*) FILTER (WHERE ${IS_SKIPPED}) AS skipped,
      count(*) FILTER (WHERE ${IS_CANCELLED}) AS cancelled,
      ${sumSql('cost_usd')},
      count(*) FILTER (WHERE ${LACKS_COST}) AS without_cost
    FROM job_details WHERE job_id = ?1) AS sums`;

const TOTAL = query(`SELECT ${MODEL_DAYS_OF_JOB} FROM jobs WHERE job_id = ?`, [integer]);

/** How many model-days a job has; 0 for an unknown job. */
export function countModelDays(reader: Reader, jobId: string): number {
  return TOTAL.get(reader, jobId)?.[0] ?? 0;
}

/** Whether all jobs together have more model-days; reads so many entries of an index. */
export const hasMoreModelDays = reads(
  'has',
  'SELECT 1 FROM job_details LIMIT 1 OFFSET ?',
  [integer],
  (count: number) => [count],
);

/**
 * SQL: a JSON object of columns as a SELECT names them (`date`, `price_e4 / 10000.0 AS price`), in
 * their order.
 */
export function jsonObject(columns: readonly string[]): string {
  const members = columns.map((column) => {
    const [, value = '', name = value] = /^(.*?)(?: AS (\w+))?$/s.exec(column) ?? [];
    return `'${name}', ${value}`;
  });
  return `json_object(${members.join(', ')})`;
}

const PROGRESS = `json_object('total_model_days', sums.total, 'completed', sums.completed, 'failed', sums.failed,
    'pending', sums.total - sums.completed - sums.failed, 'skipped', sums.skipped, 'cancelled', sums.cancelled) AS progress`;
const USAGE = `json_object('cost_usd', sums.cost_usd, 'model_days_without_cost', sums.without_cost) AS usage`;

const MODELS = `
  (SELECT json_group_array(model ORDER BY model_index) FROM simulation_runs WHERE simulation_runs.job_id = jobs.job_id) AS models`;

/**
 * What each model of a job asks, as a JSON list. It never changes. Per family, its runs and what
 * the first of them asks: the others differ in their number and their seed. Joined as texts,
 * because what is stored is JSON: to parse it again takes twice as long, and a job may have
 * thousands of entries.
 */
export const jobEntries = reads(
  'cell',
  `SELECT '[' || coalesce(group_concat('{"family":' || json_quote(family) || ',"runs":' || runs || ',"entry":' || entry
      || '}', ',' ORDER BY place), '') || ']'
   FROM (SELECT family, json_group_array(model ORDER BY model_index) AS runs,
       min(model_index) AS place, entry
     FROM simulation_runs WHERE job_id = ? GROUP BY family)`,
  [text],
  (jobId: string) => [jobId],
);

const COURSE = [
  'created_at',
  'started_at',
  'completed_at',
  `round(unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec'), 3) AS total_duration_seconds`,
  'error',
  USAGE,
];

/** Usage columns of a model-day. */
export const USAGE_COLUMNS = ['duration_seconds', ...USAGE_COUNTS, 'cost_usd'];

const MODEL_DAY = jsonObject([
  'date',
  'model',
  'status',
  'error',
  'started_at',
  'completed_at',
  ...USAGE_COLUMNS,
]);
/** SQLite builds the JSON: twice as fast as turning rows into objects and objects into text. */
const MODEL_DAYS = query(
  `SELECT ${MODEL_DAY} FROM job_details WHERE job_id = ? ORDER BY date, model`,
  [text],
);

/** The model-days of a job as JSON texts, by date and model. */
export function* jobModelDays(reader: Reader, jobId: string): Generator<string> {
  for (const [json] of MODEL_DAYS.iterate(reader, jobId)) yield json;
}

const WARNINGS = { warnings: orNull(text), warningCodes: text };

/**
 * A job's status as JSON text without its entries and its model-days, of which it has the sums;
 * separately, as stored, what has to be read before it is sent. Undefined for an unknown job.
 */
export const jobStatus = reads(
  'get',
  `SELECT ${jsonObject(['job_id', 'status', PROGRESS, 'json(dates) AS date_range', MODELS, 'universe', 'study', ...COURSE])} AS json,
     warnings, warning_codes AS warningCodes, agent_config AS agentConfig, replace_existing AS replaceExisting
   FROM jobs, ${SUMS} WHERE job_id = ?1`,
  { json: text, ...WARNINGS, agentConfig: text, replaceExisting: flag },
  (jobId: string) => [jobId],
);

/** `rowid` orders jobs of the same millisecond; 0 sorts before them all. */
const PLACE = query('SELECT rowid FROM jobs WHERE job_id = ?', { rowid: integer });

/**
 * A job's place in the list: jobs created earlier come after it. By their order, not by time:
 * clocks are set back.
 */
export type JobPlace = RowOf<typeof PLACE>;

interface JobFilters {
  status?: JobStatus | undefined;
  /** '' is the study without a name. */
  study?: string | undefined;
  before: JobPlace | null;
}

const LISTED = [
  `SELECT job_id AS jobId, rowid FROM jobs
   WHERE (?1 IS NULL OR status = ?1) AND (?3 IS NULL OR coalesce(study, '') = ?3) AND rowid < coalesce(?2, ${Number.MAX_SAFE_INTEGER})
   ORDER BY rowid DESC`,
  { jobId: text, rowid: integer },
  ({ status, before, study }: JobFilters) => [status ?? null, before?.rowid ?? null, study ?? null],
] as const;

/** The newest job and its place in the list. Undefined when there is none. */
export const nextJob = reads('get', ...LISTED);

/** How many jobs there are from a place on. */
export const countJobs = reads('count', ...LISTED);

/** Most failures of a job have one cause, such as a wrong key. */
const MOST_FREQUENT_ERROR = `json(iif(sums.failed = 0, NULL,
    (SELECT json_object('reason', error, 'model_days', count(*)) FROM job_details
      WHERE job_id = ?1 AND status = 'failed' GROUP BY error ORDER BY count(*) DESC, error LIMIT 1))) AS most_frequent_error`;

/** A job of the list as JSON text, and its warnings separately, as stored. */
export const listedJob = reads(
  'one',
  `SELECT ${jsonObject([
    'job_id',
    'status',
    PROGRESS,
    'start_date',
    'end_date',
    MODELS,
    'universe',
    'study',
    ...COURSE,
    MOST_FREQUENT_ERROR,
  ])} AS json, warnings, warning_codes AS warningCodes
   FROM jobs, ${SUMS} WHERE job_id = ?1`,
  { json: text, ...WARNINGS },
  (jobId: string) => [jobId],
);

export function placeOfJob(database: Database, jobId: string): JobPlace | undefined {
  return PLACE.get(database, jobId);
}

const LAST_BEFORE = query('SELECT coalesce(max(rowid), 0) FROM jobs WHERE created_at < ?', [
  integer,
]);

/** The place after which the list begins with the newest job that was created before a time. */
export function placeAt(database: Database, createdAt: string): JobPlace {
  return { rowid: LAST_BEFORE.one(database, createdAt)[0] + 1 };
}
