import { jobStatuses } from '../../domain.ts';
import type { Money } from '../../money.ts';
import type { Database } from '../database.ts';
import {
  type RowOf,
  amount,
  distinctValues,
  integer,
  oneOf,
  orNull,
  query,
  text,
} from '../rows.ts';

const LAST_RUN = query(
  `SELECT model, coalesce(family, model) AS family, entry, job_id AS jobId, jobs.status AS jobStatus,
     jobs.created_at AS jobCreatedAt
   FROM simulation_runs JOIN jobs USING (job_id) WHERE run_id = (SELECT max(run_id) FROM simulation_runs WHERE model = ?)`,
  {
    model: text,
    family: text,
    entry: orNull(text),
    jobId: text,
    jobStatus: oneOf(jobStatuses),
    jobCreatedAt: text,
  },
);

/** Reads only the index of active generations. */
const DAYS = query(
  `SELECT min(date) AS firstDate, max(date) AS lastDate, count(*) AS modelDays
   FROM trading_sessions WHERE model = ? AND status = 'active'`,
  { firstDate: orNull(text), lastDate: orNull(text), modelDays: integer },
);

const SERVED = query(
  `SELECT served.model, min(date) AS first_date, max(date) AS last_date FROM trading_sessions AS own
     CROSS JOIN served_models AS served USING (session_id) WHERE own.model = ? AND own.status = 'active'
   GROUP BY served.model ORDER BY first_date, served.model`,
  { model: text, first_date: text, last_date: text },
);

/**
 * The models that answered for a run, in their providers' names, with the dates of its completed
 * days; by first date.
 */
export function servedOf(database: Database, model: string): RowOf<typeof SERVED>[] {
  return SERVED.all(database, model);
}

const CLOSING_VALUE = query(
  `SELECT portfolio_value_e4 FROM positions WHERE session_id = (
     SELECT session_id FROM trading_sessions WHERE model = ? AND date = ? AND status = 'active')
   ORDER BY action_id DESC LIMIT 1`,
  [amount],
);

/**
 * A model that some job has named, with its newest job, what it has completed, and its value at the
 * close of its last completed date; dates and value are null before its first day.
 */
export type SeenModel = RowOf<typeof LAST_RUN> &
  RowOf<typeof DAYS> & { portfolioValue: Money | null };

/** The record of a model; undefined when no job has named it. */
export function seenModel(database: Database, model: string): SeenModel | undefined {
  const run = LAST_RUN.get(database, model);
  if (run === undefined) return undefined;
  const days = DAYS.one(database, model);
  const closing =
    days.lastDate === null ? undefined : CLOSING_VALUE.get(database, model, days.lastDate);
  return { ...run, ...days, portfolioValue: closing?.[0] ?? null };
}

const NEXT_MODEL = query(
  'SELECT model FROM simulation_runs WHERE model > ? ORDER BY model LIMIT 1',
  [text],
);

/** Every model that a job has named, by name. */
export function namedModels(database: Database): Generator<string> {
  return distinctValues(database, NEXT_MODEL);
}
