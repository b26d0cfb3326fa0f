import type { MessageRole } from '../domain.ts';
import type { Database } from './database.ts';
import type { ModelDay } from './sessions.ts';

/** A message of a reasoning log as it stands there. */
export interface JournalMessage {
  role: MessageRole;
  content: string;
  /** JSON of what an assistant's message asked for. */
  toolCalls: string | null;
  /** JSON of what the provider wants back with it. */
  carried: string | null;
}

/** The session of a model-day that a process left running when it ended, with all that was said in it. */
export interface Journal {
  sessionId: number;
  startedFrom: number | null;
  messages: JournalMessage[];
}

export function openJournal(database: Database, { jobId, date, model }: ModelDay): Journal | null {
  const row = database
    .statement(
      `SELECT session_id AS sessionId, started_from_session_id AS startedFrom FROM trading_sessions
       WHERE job_id = ? AND date = ? AND model = ? AND status = 'running'`,
    )
    .get(jobId, date, model) as Omit<Journal, 'messages'> | undefined;
  if (row === undefined) return null;
  const messages = database
    .statement(
      'SELECT role, content, tool_calls AS toolCalls, carried FROM reasoning_logs WHERE session_id = ? ORDER BY message_index',
    )
    .all(row.sessionId);
  return { ...row, messages: messages as never };
}

/** Ends a journal that cannot be gone on with; its model-day then starts over with a session of its own. */
export function setJournalAside(
  database: Database,
  sessionId: number,
  { error, completedAt }: { error: string; completedAt: string },
): void {
  database
    .statement(
      `UPDATE trading_sessions SET status = 'failed', error = ?, completed_at = ?,
         total_messages = (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)
       WHERE session_id = ?`,
    )
    .run(error, completedAt, sessionId);
}

/** A model-day whose journal is gone on with runs again. */
export function markRunning(database: Database, { jobId, date, model }: ModelDay): void {
  database
    .statement(`UPDATE job_details SET status = 'running' WHERE job_id = ? AND date = ? AND model = ?`)
    .run(jobId, date, model);
}
