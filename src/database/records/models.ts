import type { CalendarDate } from '../../calendar.ts';
import type { JobStatus } from '../../domain.ts';
import type { Money } from '../../money.ts';
import type { Database } from '../database.ts';

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

const LAST_RUN = `
  SELECT model, job_id AS jobId, jobs.status AS jobStatus, jobs.created_at AS jobCreatedAt
  FROM simulation_runs JOIN jobs USING (job_id) WHERE model = ? ORDER BY simulation_runs.created_at DESC LIMIT 1`;

/** From the index of active generations alone. */
const DAYS = `
  SELECT min(date) AS firstDate, max(date) AS lastDate, count(*) AS modelDays
  FROM trading_sessions WHERE model = ? AND status = 'active'`;

const CLOSING_VALUE = `
  SELECT portfolio_value_e4 AS portfolioValue FROM positions WHERE session_id = (
    SELECT session_id FROM trading_sessions WHERE model = ? AND date = ? AND status = 'active')
  ORDER BY action_id DESC LIMIT 1`;

/** What is known of a model; undefined when no job has named it. */
export function seenModel(database: Database, model: string): SeenModel | undefined {
  const run = database.statement(LAST_RUN).get(model);
  if (run === undefined) return undefined;
  const days = database.statement(DAYS).get(model) as { lastDate: CalendarDate | null };
  const closing = days.lastDate === null ? undefined : database.statement(CLOSING_VALUE).get(model, days.lastDate);
  return { ...run, ...days, portfolioValue: closing?.['portfolioValue'] ?? null } as never;
}

/** Every model that a job has named, by name: one look-up for each, however many jobs there are. */
export function* namedModels(database: Database): Generator<string> {
  const next = database.statement('SELECT model FROM simulation_runs WHERE model > ? ORDER BY model LIMIT 1');
  for (let row = next.get(''); row !== undefined; row = next.get(row['model'] as string)) yield String(row['model']);
}
