import type { CalendarDate } from '../basics/calendar.ts';
import { messageRoles } from '../basics/domain.ts';
import { COMMITTED_SESSIONS, OF_ONE_DATE } from './audit.ts';
import type { Reader } from './database.ts';
import { amount, flag, integer, oneOf, orNull, query, type RowOf, text } from './rows.ts';

/** What the replay reads of a model-day: its record, and the terms on which it ran. */

const SESSIONS = query(
  `SELECT own.session_id AS sessionId, own.date, own.model, own.status, market.opened_at AS openedAt, own.started_at AS startedAt,
     coalesce(own.completed_at, '') AS completedAt, own.initial_cash_e4 AS initialCash, own.pays_dividends AS paysDividends,
     own.started_from_session_id AS startedFrom, own.session_summary AS summary, own.note, own.steps,
     own.total_messages AS totalMessages, own.wording, agent_config AS agentConfig, entry
   ${COMMITTED_SESSIONS}
     LEFT JOIN simulation_runs AS run ON run.job_id = own.job_id AND run.model = own.model
   ${OF_ONE_DATE}`,
  {
    sessionId: integer,
    date: text,
    model: text,
    status: oneOf(['active', 'superseded']),
    openedAt: text, // the earliest start of its job's sessions on the date: they share one market, opened just before
    startedAt: text,
    completedAt: text,
    initialCash: orNull(amount), // of the first day of a chain only
    paysDividends: flag,
    startedFrom: orNull(integer),
    summary: orNull(text),
    note: orNull(text),
    steps: integer,
    totalMessages: integer,
    wording: integer,
    agentConfig: orNull(text), // null when its job is missing
    entry: orNull(text), // null when its run is missing
  },
);

/** A committed session as it is stored. */
export type ReplayedSession = RowOf<typeof SESSIONS>;

/** The committed sessions of a date, active and superseded, by model. */
export function committedSessionsOn(reader: Reader, date: CalendarDate): ReplayedSession[] {
  return SESSIONS.all(reader, date);
}

const MESSAGES = query(
  `SELECT message_index AS messageIndex, role, content, tool_name AS toolName, tool_input AS toolInput, tool_calls AS toolCalls,
     carried, timestamp FROM reasoning_logs WHERE session_id = ? ORDER BY message_index`,
  {
    messageIndex: integer,
    role: oneOf(messageRoles),
    content: text,
    toolName: orNull(text),
    toolInput: orNull(text),
    toolCalls: orNull(text),
    carried: orNull(text),
    timestamp: text,
  },
);

/** A message of a reasoning log, with the time when it was written. */
export type StoredMessage = RowOf<typeof MESSAGES>;

/** The messages of a session, in order. */
export function conversationOf(reader: Reader, sessionId: number): StoredMessage[] {
  return MESSAGES.all(reader, sessionId);
}

const TOOL_USAGE = query(
  'SELECT tool_name AS toolName, calls, refused FROM tool_usage WHERE session_id = ? ORDER BY tool_name',
  {
    toolName: text,
    calls: integer,
    refused: integer,
  },
);

export type StoredToolUsage = RowOf<typeof TOOL_USAGE>;

/** The tool usage of a session, by the name of the tool. */
export function toolUsageOf(reader: Reader, sessionId: number): StoredToolUsage[] {
  return TOOL_USAGE.all(reader, sessionId);
}
