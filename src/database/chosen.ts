import type { CalendarDate } from '../calendar.ts';
import type { Database } from './database.ts';

/** Which model-days an answer is about; an absent filter lets all through. Both ends of the dates are included. */
export interface SessionFilters {
  jobId?: string | undefined;
  model?: string | undefined;
  startDate?: CalendarDate | undefined;
  endDate?: CalendarDate | undefined;
}

/** A session that is in an answer. */
export interface ChosenSession {
  sessionId: number;
  jobId: string;
  date: CalendarDate;
  model: string;
}

/** Index entries that one statement looks at: bounds what it returns, and how long other requests wait for it. */
export const SESSIONS_PER_STEP = 200;

/**
 * The state of the ledger as a number: every commit of a model-day and every replacement has a greater one. The sessions
 * that counted at a number are found again later, so an answer that is read step by step shows one moment.
 */
export function lastChange(database: Database): number {
  return Number(database.statement('SELECT number FROM last_change').get()?.['number']);
}

/** The sessions whose positions counted at a change, by date and model; some at a time, and at times none. */
export function* committedSessions(
  database: Database,
  filters: SessionFilters,
  at: number,
): Generator<ChosenSession[]> {
  for (const rows of sessionSteps(database, filters)) yield rows.filter((row) => countedAt(row, at)).map(chosen);
}

/**
 * As `committedSessions`, with the sessions of model-days that had none then: those that were running, and those that
 * failed. A session that has been committed since is one of them.
 */
export function* visibleSessions(database: Database, filters: SessionFilters, at: number): Generator<ChosenSession[]> {
  const newest = newestSession(database);
  const isVisible = (row: SessionRow) =>
    countedAt(row, at) ||
    ((row.activeTo === null || row.activeTo > at) && row.sessionId <= newest && !isCompletedAt(database, row, at));
  for (const rows of sessionSteps(database, filters)) yield rows.filter(isVisible).map(chosen);
}

interface SessionRow extends ChosenSession {
  activeFrom: number | null;
  activeTo: number | null;
}

function countedAt({ activeFrom, activeTo }: SessionRow, at: number): boolean {
  return activeFrom !== null && activeFrom <= at && (activeTo === null || activeTo > at);
}

function chosen({ sessionId, jobId, date, model }: SessionRow): ChosenSession {
  return { sessionId, jobId, date, model };
}

function newestSession(database: Database): number {
  return Number(database.statement('SELECT max(session_id) AS id FROM trading_sessions').get()?.['id'] ?? 0);
}

/** Whether a model-day had a session that counted. */
function isCompletedAt(database: Database, { model, date }: ChosenSession, at: number): boolean {
  const row = database
    .statement(
      `SELECT 1 FROM trading_sessions INDEXED BY sessions_by_model
       WHERE model = ?1 AND date = ?2 AND active_from <= ?3 AND (active_to IS NULL OR active_to > ?3)`,
    )
    .get(model, date, at);
  return row !== undefined;
}

/**
 * All sessions that the filters let through, whatever became of them, step by step: each begins behind the last row of the
 * one before, so that nothing is kept in between.
 */
function* sessionSteps(database: Database, filters: SessionFilters): Generator<SessionRow[]> {
  const { sql, values } = stepQuery(filters);
  const statement = database.statement(sql);
  let last: readonly [date: string, model: string, sessionId: number] = [filters.startDate ?? '', '', 0];
  for (let isOver = false; !isOver;) {
    const rows = statement.all(...last, ...values) as never as SessionRow[];
    isOver = rows.length < SESSIONS_PER_STEP;
    const end = rows.at(-1);
    if (end !== undefined) last = [end.date, end.model, end.sessionId];
    yield rows;
  }
}

/** Each index has the rows in the order of the answer, so a step ends after as many rows as it may return. */
function stepQuery({ jobId, model, endDate }: SessionFilters): { sql: string; values: string[] } {
  const index =
    model !== undefined ? 'sessions_by_model' : jobId !== undefined ? 'sessions_by_job' : 'sessions_in_answer_order';
  const conditions: [condition: string, value: string | undefined][] = [
    ['date <= ?', endDate],
    ['model = ?', model],
    ['job_id = ?', jobId],
  ];
  const given = conditions.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    sql: `
      SELECT session_id AS sessionId, job_id AS jobId, date, model, active_from AS activeFrom, active_to AS activeTo
      FROM trading_sessions INDEXED BY ${index}
      WHERE (date, model, session_id) > (?, ?, ?)${given.map(([condition]) => ` AND ${condition}`).join('')}
      ORDER BY date, model, session_id LIMIT ${SESSIONS_PER_STEP}`,
    values: given.map(([, value]) => value),
  };
}
