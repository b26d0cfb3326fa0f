import type { CalendarDate } from '../basics/calendar.ts';
import type { Reader } from './database.ts';
import { distinctValues, integer, orNull, query, type RowOf, text } from './rows.ts';

/** A range of dates, both ends included; an absent end is open. */
export interface Window {
  startDate?: CalendarDate | undefined;
  endDate?: CalendarDate | undefined;
}

/** A window, and the only job whose model-days are in it; all without one. */
export interface JobWindow extends Window {
  jobId?: string | undefined;
}

/** Which model-days a response covers; an absent filter matches everything. */
export interface SessionFilters extends JobWindow {
  model?: string | undefined;
}

/** Sorts after every date, including any text that other programs may have stored as one. */
const LAST_DATE = '~';

/** The ends of a window as texts to compare dates with. */
export function boundsOf({
  startDate = '',
  endDate = LAST_DATE,
}: Window): [start: string, end: string] {
  return [startDate, endDate];
}

/**
 * Index entries that one statement reads: bounds its result, and how long other requests wait for
 * it.
 */
export const SESSIONS_PER_STEP = 200;

const CHANGE = query('SELECT number FROM last_change', [integer]);

/**
 * The state of the ledger as a number, which every commit and every replacement of a model-day
 * increases. The sessions active at a given number can be found later, so a response that is read
 * step by step shows one consistent state.
 */
export function lastChange(database: Reader): number {
  return CHANGE.one(database)[0];
}

/**
 * The sessions between two dates in the order of the response, step by step. Each step continues
 * after the last row of the one before, so nothing is kept in between. An index has this order, so
 * a step reads no more rows than it may return.
 */
const sessionSteps = (index: string, condition: string) =>
  query(
    `SELECT session_id, job_id, date, model, active_from, active_to
     FROM trading_sessions INDEXED BY ${index}
     WHERE (date, model, session_id) > (?1, ?2, ?3) AND date <= ?4 AND status <> 'opening' ${condition}
     ORDER BY date, model, session_id LIMIT ${SESSIONS_PER_STEP}`,
    [integer, text, text, text, orNull(integer), orNull(integer)],
  );
const ALL = sessionSteps('sessions_in_answer_order', '');
const OF_MODEL = sessionSteps('sessions_by_model', 'AND model = ?5');
const OF_JOB = sessionSteps('sessions_by_job', 'AND job_id = ?5');
const OF_MODEL_IN_JOB = sessionSteps('sessions_by_model', 'AND model = ?5 AND job_id = ?6');

/** A session with the changes between which it was active. */
type NumberedSession = RowOf<typeof ALL>;

/** A session in a response. */
export interface ChosenSession {
  sessionId: number;
  jobId: string;
  date: CalendarDate;
  model: string;
}

/**
 * All sessions of jobs that match the filters, whatever their status; in batches, some of them
 * empty.
 */
function* filteredSessions(
  database: Reader,
  { jobId, model, ...window }: SessionFilters,
): Generator<NumberedSession[]> {
  const [startDate, endDate] = boundsOf(window);
  const steps =
    model === undefined
      ? jobId === undefined
        ? ALL
        : OF_JOB
      : jobId === undefined
        ? OF_MODEL
        : OF_MODEL_IN_JOB;
  const values = [model, jobId].filter((value) => value !== undefined);
  let last: ReturnType<typeof placeOf> | null = [startDate, '', 0];
  while (last !== null) {
    const sessions: NumberedSession[] = steps.all(database, ...last, endDate, ...values);
    const end = sessions[SESSIONS_PER_STEP - 1];
    last = end === undefined ? null : placeOf(end);
    yield sessions;
  }
}

function placeOf([sessionId, , date, model]: NumberedSession): [
  date: string,
  model: string,
  sessionId: number,
] {
  return [date, model, sessionId];
}

/** The sessions active at a change, by date and model; in batches, some of them empty. */
export function* committedSessions(
  database: Reader,
  filters: SessionFilters,
  at: number,
): Generator<ChosenSession[]> {
  for (const sessions of filteredSessions(database, filters))
    yield sessions.filter((session) => countedAt(session, at)).map(chosen);
}

const NEWEST = query('SELECT coalesce(max(session_id), 0) FROM trading_sessions', [integer]);

/**
 * The sessions at one moment: those up to `newest`, of which those count that were active at a
 * change.
 */
export interface SessionsThen {
  at: number;
  newest: number;
}

/** The sessions as they are now. */
export function sessionsNow(reader: Reader): SessionsThen {
  return { at: CHANGE.one(reader)[0], newest: NEWEST.one(reader)[0] };
}

/**
 * As `committedSessions`, plus the sessions of model-days that had no active one at that change:
 * the running and the failed. These include sessions that have been committed since.
 */
export function* visibleSessions(
  database: Reader,
  filters: SessionFilters,
  { at, newest }: SessionsThen,
): Generator<ChosenSession[]> {
  const isVisible = (session: NumberedSession) => {
    const [sessionId, jobId, date, model, , activeTo] = session;
    if (countedAt(session, at)) return true;
    return (
      (activeTo === null || activeTo > at) &&
      sessionId <= newest &&
      !IS_OVER.has(database, model, date, at, jobId)
    );
  };
  for (const sessions of filteredSessions(database, filters))
    yield sessions.filter(isVisible).map(chosen);
}

const RUNNING = query(
  `SELECT session_id FROM trading_sessions INDEXED BY one_running_session
   WHERE status = 'running' AND date BETWEEN ?1 AND ?2 AND model = coalesce(?3, model) AND job_id = coalesce(?4, job_id)
   ORDER BY session_id`,
  [integer],
);

/** The sessions that match the filters and run now: at most one for each child process. */
export function runningSessions(
  reader: Reader,
  { jobId, model, ...window }: SessionFilters,
): { sessionId: number }[] {
  const found = RUNNING.all(reader, ...boundsOf(window), model ?? null, jobId ?? null);
  return found.map(([sessionId]) => ({ sessionId }));
}

/** Whether a model-day had an active session at a change, or the job is discarded. */
const IS_OVER = query(
  `SELECT 1 FROM trading_sessions INDEXED BY sessions_by_model
   WHERE model = ?1 AND date = ?2 AND active_from <= ?3 AND (active_to IS NULL OR active_to > ?3)
   UNION ALL SELECT 1 FROM jobs WHERE job_id = ?4 AND status = 'discarded'`,
  [integer],
);

function countedAt([, , , , activeFrom, activeTo]: NumberedSession, at: number): boolean {
  return activeFrom !== null && activeFrom <= at && (activeTo === null || activeTo > at);
}

function chosen([sessionId, jobId, date, model]: NumberedSession): ChosenSession {
  return { sessionId, jobId, date, model };
}

/** The ids of some sessions as a JSON array, which a statement takes as one parameter. */
export function jsonIds(sessions: readonly { sessionId: number }[]): string {
  return JSON.stringify(sessions.map(({ sessionId }) => sessionId));
}

/** Reads only the index of active generations. */
const ACTIVE_DAYS = query(
  `SELECT count(*) FROM trading_sessions WHERE model = ? AND status = 'active' AND date BETWEEN ? AND ?`,
  [integer],
);

const ACTIVE_DAYS_OF_JOB = query(
  `SELECT count(*) FROM trading_sessions WHERE model = ? AND status = 'active' AND date BETWEEN ? AND ? AND job_id = ?`,
  [integer],
);

/** How many active model-days a model has in a window. */
export function countActiveDays(
  reader: Reader,
  model: string,
  { jobId, ...window }: JobWindow = {},
): number {
  if (jobId === undefined) return ACTIVE_DAYS.one(reader, model, ...boundsOf(window))[0];
  return ACTIVE_DAYS_OF_JOB.one(reader, model, ...boundsOf(window), jobId)[0];
}

const NEXT_MODEL = query(
  'SELECT model FROM trading_sessions INDEXED BY sessions_by_model WHERE model > ? ORDER BY model LIMIT 1',
  [text],
);

/** The models that have sessions, by name. */
export function modelsWithSessions(reader: Reader): Generator<string> {
  return distinctValues(reader, NEXT_MODEL);
}
