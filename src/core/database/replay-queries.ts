import type { CalendarDate } from '#time/calendar.ts';
import { actionTypes, answerFaults, messageRoles } from '#domain/vocabulary.ts';
import { closingHoldings } from './active-days.ts';
import type { Reader } from './database.ts';
import {
  amount,
  distinct,
  flag,
  integer,
  oneOf,
  orNull,
  query,
  reads,
  real,
  text,
  type RowOf,
  type ShapedRow,
} from './rows.ts';
import { countActiveDays, type SessionFilters, modelsWithSessions } from './session-filters.ts';

/** What the replay reads of a model-day: its record, and the terms on which it ran. */

/** The model-days to replay: all of them, or those of one job, some models, or both. */
export type ReplayFilters = Pick<SessionFilters, 'jobId' | 'models'>;

/** How many models have active model-days, and how many of these there are. */
export function countActive(
  reader: Reader,
  { jobId, models = [...modelsWithSessions(reader)] }: ReplayFilters,
) {
  const days = models.map((name) => countActiveDays(reader, name, { jobId }));
  return {
    models: days.filter((count) => count > 0).length,
    modelDays: days.reduce((sum, count) => sum + count, 0),
  };
}

/** The dates that have sessions, in order, one at a time. */
export const datesOfSessions = distinct(
  'date',
  'trading_sessions INDEXED BY sessions_in_answer_order',
);

/** A committed session as it is stored. */
export type ReplayedSession = RowOf<typeof committedSessionsOn>;

/** The committed sessions of a date, active and superseded, by model. */
export const committedSessionsOn = reads(
  'all',
  `SELECT {own}, own.started_from_session_id AS startedFrom, own.session_summary AS summary,
     agent_config AS agentConfig, run.entry AS entry, past.model AS pastModel, past.date AS pastDate, past.status AS pastStatus
   FROM trading_sessions AS own
     LEFT JOIN jobs ON jobs.job_id = own.job_id
     LEFT JOIN simulation_runs AS run ON run.job_id = own.job_id AND run.model = own.model
     LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   WHERE own.date = ?1 AND own.status IN ('active', 'superseded')
     AND own.job_id = coalesce(?2, own.job_id) AND (?3 IS NULL OR own.model IN (SELECT value FROM json_each(?3)))
   ORDER BY own.model, own.session_id`,
  {
    sessionId: integer,
    date: text,
    model: text,
    status: oneOf(['active', 'superseded']),
    morningWrite: integer,
    commitWrite: integer,
    initialCash: orNull(amount), // of the first day of a chain only
    paysDividends: flag,
    note: orNull(text),
    confidence: orNull(real),
    unread: flag,
    unfilled: orNull(text),
    documents: orNull(text),
    steps: integer,
    totalMessages: integer,
    wording: integer,
    startedFrom: orNull(integer),
    summary: orNull(text),
    agentConfig: orNull(text), // null when its job is missing
    entry: orNull(text), // null when its run is missing
    pastModel: orNull(text), // of the day it started from; all three are null when that is missing
    pastDate: orNull(text),
    pastStatus: orNull(text),
  },
  (date: CalendarDate, { jobId, models }: ReplayFilters) => [date, jobId ?? null, models ?? null],
);

export const POSITION = {
  actionId: integer,
  actionType: oneOf(actionTypes),
  symbol: orNull(text),
  amount: orNull(integer),
  price: orNull(amount),
  cash: amount,
  portfolioValue: amount,
  dailyProfit: amount,
  dailyReturnPct: orNull(real),
};

type StoredPosition = ShapedRow<typeof POSITION>;

const RECORDS = query(`SELECT {} FROM positions WHERE session_id = ? ORDER BY action_id`, POSITION);

/** A position as it is stored: with what was held only if it is the last one of its session. */
export interface LedgerRecord extends StoredPosition {
  holdings: ReadonlyMap<string, number> | null;
}

/** The ledger of one session, in order of its actions. */
export function ledgerRecords(reader: Reader, sessionId: number): LedgerRecord[] {
  const rows = RECORDS.all(reader, sessionId);
  const held = closingHoldings(reader, sessionId).map(
    ({ symbol, quantity }) => [symbol, quantity] as const,
  );
  return rows.map((row, index) => ({
    ...row,
    holdings: index === rows.length - 1 ? new Map(held) : null,
  }));
}

const MESSAGE = {
  messageIndex: integer,
  role: oneOf(messageRoles),
  content: text,
  toolName: orNull(text),
  toolInput: orNull(text),
  /** The tool calls of an assistant's message, as JSON. */
  toolCalls: orNull(text),
  /** The fields its provider wants sent back with it, as JSON. */
  carried: orNull(text),
  fault: orNull(oneOf(answerFaults)),
  timestamp: text,
};

/** A message of a reasoning log, with the time when it was written. */
export type StoredMessage = RowOf<typeof sessionMessages>;

/** The messages of a session, in order. */
export const sessionMessages = reads(
  'all',
  `SELECT {} FROM reasoning_logs WHERE session_id = ? ORDER BY message_index`,
  MESSAGE,
  (sessionId: number) => [sessionId],
);

/** The tool usage of a session, by the name of the tool. */
export const sessionToolUsage = reads(
  'all',
  'SELECT {} FROM tool_usage WHERE session_id = ? ORDER BY tool_name',
  {
    toolName: text,
    calls: integer,
    refused: integer,
  },
  (sessionId: number) => [sessionId],
);
