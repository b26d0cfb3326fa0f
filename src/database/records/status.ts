import type { JobStatus } from '../../domain.ts';
import type { Database } from '../database.ts';
import { finite } from '../usage.ts';

/** Skipped model-days are done, except for those that a cancellation skipped. */
const PROGRESS = `
  (SELECT json_object(
      'total_model_days', total, 'completed', completed, 'failed', failed, 'pending', total - completed - failed)
    FROM (SELECT count(*) AS total,
      count(*) FILTER (WHERE status = 'completed' OR (status = 'skipped' AND error <> 'Cancelled')) AS completed,
      count(*) FILTER (WHERE status = 'failed') AS failed
      FROM job_details WHERE job_details.job_id = jobs.job_id))`;

const MODELS = `
  (SELECT json_group_array(model ORDER BY model_index) FROM simulation_runs WHERE simulation_runs.job_id = jobs.job_id)`;

const DURATION = `round(unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec'), 3)`;

/** Built as JSON by SQLite: twice as fast as rows that become objects that become text. The details come in key order. */
const STATUS = `
  SELECT json_object(
    'job_id', job_id, 'status', status, 'progress', ${PROGRESS},
    'date_range', json(dates), 'models', ${MODELS},
    'created_at', created_at, 'started_at', started_at, 'completed_at', completed_at,
    'total_duration_seconds', ${DURATION}, 'error', error,
    'details', (SELECT json_group_array(json_object(
        'date', date, 'model', model, 'status', status, 'error', error, 'started_at', started_at,
        'completed_at', completed_at, 'duration_seconds', duration_seconds, 'steps', steps, 'requests', requests,
        'prompt_tokens', prompt_tokens, 'completion_tokens', completion_tokens, 'cached_tokens', cached_tokens,
        'reasoning_tokens', reasoning_tokens, 'cost_usd', ${finite('cost_usd')}))
      FROM (SELECT * FROM job_details WHERE job_details.job_id = jobs.job_id ORDER BY date, model))
  ) AS json, warnings
  FROM jobs WHERE job_id = ?`;

/** A job's status as JSON text, without its warnings; these as they are stored. Undefined for an unknown job. */
export function jobStatus(database: Database, jobId: string): { json: string; warnings: string | null } | undefined {
  return database.statement(STATUS).get(jobId) as never;
}

/** A job's place in the list: what was created before it comes after it. */
export interface JobPlace {
  createdAt: string;
  /** Tells jobs of the same millisecond apart; 0 stands before them all. */
  rowid: number;
}

export interface JobFilters {
  status?: JobStatus | undefined;
  before: JobPlace | null;
}

const NEXT = `
  SELECT job_id AS jobId, warnings, json_object(
    'job_id', job_id, 'status', status, 'progress', ${PROGRESS}, 'start_date', start_date, 'end_date', end_date,
    'models', ${MODELS}, 'created_at', created_at, 'started_at', started_at, 'completed_at', completed_at,
    'total_duration_seconds', ${DURATION}, 'error', error) AS json
  FROM jobs
  WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR (created_at, rowid) < (?2, ?3))
  ORDER BY created_at DESC, rowid DESC LIMIT 1`;

/** The newest job, as JSON text without its warnings; these as they are stored. Undefined when there is none. */
export function nextJob(
  database: Database,
  { status, before }: JobFilters,
): { jobId: string; json: string; warnings: string | null } | undefined {
  return database.statement(NEXT).get(status ?? null, before?.createdAt ?? null, before?.rowid ?? null) as never;
}

export function placeOfJob(database: Database, jobId: string): JobPlace | undefined {
  return database.statement('SELECT created_at AS createdAt, rowid FROM jobs WHERE job_id = ?').get(jobId) as never;
}
