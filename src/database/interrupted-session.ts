import assert from 'node:assert/strict';
import { messageRoles } from '../domain.ts';
import type { Database } from './database.ts';
import { type RowOf, integer, oneOf, orNull, query, text } from './rows.ts';
import type { ModelDay } from './sessions.ts';

const MESSAGES = query(
  'SELECT role, content, tool_calls AS toolCalls, carried FROM reasoning_logs WHERE session_id = ? ORDER BY message_index',
  {
    role: oneOf(messageRoles),
    content: text,
    /** The tool calls of an assistant's message, as JSON. */
    toolCalls: orNull(text),
    /** The fields its provider wants sent back with it, as JSON. */
    carried: orNull(text),
  },
);

/** A message as stored in the reasoning log. */
export type LoggedMessage = RowOf<typeof MESSAGES>;

const RUNNING = query(
  `SELECT session_id AS sessionId, started_from_session_id AS startedFrom FROM trading_sessions
   WHERE job_id = ? AND date = ? AND model = ? AND status = 'running'`,
  {
    sessionId: integer,
    /** The session whose closing portfolio it started from; null for the initial cash. */
    startedFrom: orNull(integer),
  },
);

/** A session that was running when its process ended, with its reasoning log. */
export type InterruptedSession = RowOf<typeof RUNNING> & { messages: LoggedMessage[] };

/** The interrupted session of a model-day; null when it has none. */
export function interruptedSession(
  database: Database,
  { jobId, date, model }: ModelDay,
): InterruptedSession | null {
  const session = RUNNING.get(database, jobId, date, model);
  return session === undefined
    ? null
    : { ...session, messages: MESSAGES.all(database, session.sessionId) };
}

/**
 * Ends a session whose log cannot be resumed; its model-day then starts over with a new session.
 */
export function setAside(
  database: Database,
  sessionId: number,
  { error, completedAt }: { error: string; completedAt: string },
): void {
  const { changes } = database
    .statement(
      `UPDATE trading_sessions SET status = 'failed', error = ?, completed_at = ?,
         total_messages = (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)
       WHERE session_id = ? AND status = 'running'`,
    )
    .run(error, completedAt, sessionId);
  assert.equal(changes, 1, 'only a running session can be set aside');
}

/** Marks as running a model-day whose session is resumed. */
export function markRunning(database: Database, { jobId, date, model }: ModelDay): void {
  database
    .statement(
      `UPDATE job_details SET status = 'running' WHERE job_id = ? AND date = ? AND model = ?`,
    )
    .run(jobId, date, model);
}
