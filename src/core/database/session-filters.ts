import type { CalendarDate } from '#time/calendar.ts';
import type { Reader } from './database.ts';
import { distinct, integer, type Query, query, text, type Ways } from './rows.ts';

/** A range of dates, both ends included; an absent end is open. */
export interface DateWindow {
  startDate?: CalendarDate | undefined;
  endDate?: CalendarDate | undefined;
}

/** A window, and the only job or study whose model-days are in it; all without one. */
export interface JobWindow extends DateWindow {
  jobId?: string | undefined;
  /** '' is the study without a name. */
  study?: string | undefined;
}

/** Which model-days a response covers; an absent filter matches everything. */
export interface SessionFilters extends Omit<JobWindow, 'study'> {
  /** One of the models; it has an index. */
  model?: string | undefined;
  models?: readonly string[] | undefined;
}

/** Sorts after every date, including any text that other programs may have stored as one. */
const LAST_DATE = '~';

/** The ends of a window as texts to compare dates with. */
export function dateBounds({
  startDate = '',
  endDate = LAST_DATE,
}: DateWindow): [start: string, end: string] {
  return [startDate, endDate];
}

/**
 * A query over sessions, `own`, by date and model: one statement for each combination of the
 * filters of model and job, each with an index that has this order. `declare` takes what follows
 * FROM, which ends in a WHERE clause and takes the dates as ?1 and ?2, the models as ?3; and the terms of its ORDER
 * BY.
 */
export function overSessions<Row>(
  declare: (sessions: (joined?: string) => string, order: string) => Query<Row>,
) {
  const statement = (index: string, condition: string) =>
    declare(
      (joined = '') =>
        `trading_sessions AS own INDEXED BY ${index} ${joined} WHERE own.date BETWEEN ?1 AND ?2
         AND (?3 IS NULL OR own.model IN (SELECT value FROM json_each(?3))) ${condition}`,
      'own.date, own.model, own.session_id',
    );
  const all = statement('sessions_in_answer_order', '');
  const byModel = statement('sessions_by_model', 'AND own.model = ?4');
  const ofJob = statement('sessions_by_job', 'AND own.job_id = ?4');
  const byModelAndJob = statement('sessions_by_model', 'AND own.model = ?4 AND own.job_id = ?5');
  const ask =
    <Way extends 'iterate' | 'count'>(way: Way) =>
    (reader: Reader, { jobId, model, models, ...window }: SessionFilters) => {
      const ways: Ways<Row> =
        model === undefined
          ? jobId === undefined
            ? all
            : ofJob
          : jobId === undefined
            ? byModel
            : byModelAndJob;
      const values = [model, jobId].filter((value) => value !== undefined);
      return ways[way](reader, ...dateBounds(window), models ?? null, ...values);
    };
  return Object.assign(ask('iterate'), { count: ask('count') });
}

/** The sessions that count, by date and model. */
export const activeSessions = overSessions((sessions, order) =>
  query(
    `SELECT {} FROM ${sessions()}
     AND status = 'active' ORDER BY ${order}`,
    { sessionId: integer, jobId: text, date: text, model: text },
  ),
);

/**
 * SQL: whether the model-day of a session, or of a job, `own`, has no session that counts, in a
 * job that is not discarded.
 */
export const NONE_COUNTS = `NOT EXISTS (SELECT 1 FROM trading_sessions AS other INDEXED BY one_active_generation
    WHERE other.model = own.model AND other.date = own.date AND other.status = 'active')
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = own.job_id AND jobs.status = 'discarded')`;

/**
 * SQL: whether a session, `own`, is shown with its conversation: it counts, or it runs or has
 * failed and its model-day has none that counts, in a job that is not discarded.
 */
export const IS_SHOWN = `(own.status = 'active' OR own.status IN ('running', 'failed') AND ${NONE_COUNTS})`;

/** The ids of some sessions. */
export function pickIds(sessions: readonly { sessionId: number }[]): number[] {
  return sessions.map(({ sessionId }) => sessionId);
}

/** Without a job, reads only the index of active generations. */
const countQuery = (ofJob: string) =>
  query(
    `SELECT count(*) FROM trading_sessions WHERE model = ? AND status = 'active' AND date BETWEEN ? AND ? ${ofJob}`,
    [integer],
  );
const ACTIVE_DAYS = countQuery('');
const ACTIVE_DAYS_OF_JOB = countQuery('AND job_id = ?');

/** How many active model-days a model has in a window. */
export function countActiveDays(
  reader: Reader,
  model: string,
  { jobId, ...window }: JobWindow = {},
): number {
  if (jobId === undefined) return ACTIVE_DAYS.one(reader, model, ...dateBounds(window))[0];
  return ACTIVE_DAYS_OF_JOB.one(reader, model, ...dateBounds(window), jobId)[0];
}

/** The models that have sessions, by name. */
export const modelsWithSessions = distinct(
  'model',
  'trading_sessions INDEXED BY sessions_by_model',
);
