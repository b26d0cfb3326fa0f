import type { Reader } from './database.ts';
import { type RowOf, oneOf, query, text } from './rows.ts';
import { jobStatuses } from '../domain.ts';

const JOB = query(
  'SELECT job_id AS jobId, status, end_date AS endDate, agent_config AS agentConfig FROM jobs WHERE job_id = ?',
  {
    jobId: text,
    status: oneOf(jobStatuses),
    endDate: text,
    agentConfig: text,
  },
);

/** A job that a package may hold. */
export type PackagedJob = RowOf<typeof JOB>;

/** Undefined when there is no such job. */
export function packagedJob(reader: Reader, jobId: string): PackagedJob | undefined {
  return JOB.get(reader, jobId);
}

const NEWEST = query('SELECT job_id FROM jobs ORDER BY created_at DESC LIMIT 1000', [text]);

/** The ids of jobs, the newest first. */
export function newestJobs(reader: Reader): string[] {
  return NEWEST.all(reader).map(([jobId]) => jobId);
}

const SYMBOLS = query(
  `SELECT symbol FROM trading_sessions CROSS JOIN session_prices USING (session_id) WHERE job_id = ?1
   UNION
   SELECT holdings.symbol FROM trading_sessions AS own CROSS JOIN positions ON positions.session_id = own.started_from_session_id
     CROSS JOIN holdings USING (position_id) WHERE own.job_id = ?1`,
  [text],
);

/** Every symbol that the model-days of a job traded or held, or that their start held. */
export function symbolsOfJob(reader: Reader, jobId: string): string[] {
  return SYMBOLS.all(reader, jobId).map(([symbol]) => symbol);
}
