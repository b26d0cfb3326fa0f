import type { CalendarDate } from '../calendar.ts';
import type { JobStatus } from '../domain.ts';
import type { Money } from '../money.ts';
import type { Database } from './database.ts';

/** A model that some job has named, with what it has completed; the dates and the value are null before its first day. */
export interface SeenModel {
  model: string;
  firstDate: CalendarDate | null;
  lastDate: CalendarDate | null;
  modelDays: number;
  /** At the close of its last completed date. */
  portfolioValue: Money | null;
  jobId: string;
  jobStatus: JobStatus;
  jobCreatedAt: string;
}

/** The days come from the index of active generations alone; a bare column goes with the row that has the maximum. */
const SEEN_MODELS = `
  WITH last_runs AS (SELECT model, job_id, max(created_at) AS created_at FROM simulation_runs GROUP BY model),
    days AS (SELECT model, min(date) AS first_date, max(date) AS last_date, count(*) AS model_days
      FROM trading_sessions WHERE status = 'active' GROUP BY model)
  SELECT last_runs.model, days.first_date AS firstDate, days.last_date AS lastDate, coalesce(days.model_days, 0) AS modelDays,
    (SELECT portfolio_value_e4 FROM positions WHERE session_id = (
        SELECT session_id FROM trading_sessions AS last
        WHERE last.model = last_runs.model AND last.date = days.last_date AND last.status = 'active')
      ORDER BY action_id DESC LIMIT 1) AS portfolioValue,
    job_id AS jobId, jobs.status AS jobStatus, jobs.created_at AS jobCreatedAt
  FROM last_runs JOIN jobs USING (job_id) LEFT JOIN days ON days.model = last_runs.model
  ORDER BY last_runs.model`;

/** Every model that a job has named, by name. */
export function seenModels(database: Database): SeenModel[] {
  return database.statement(SEEN_MODELS).all() as never;
}
