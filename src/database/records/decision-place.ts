import type { Database } from '../database.ts';
import { integer, query, text } from '../rows.ts';
import type { DayPlace } from './decision-days.ts';

/**
 * A place among the orders of a session, which go from the last to the first: before this message,
 * and before this action.
 */
export interface OrderPlace {
  message: number;
  action: number;
}

/**
 * The place of a decision in the feed. The session is null for a failure, the order null for a
 * model-day without a trade.
 */
export interface DecisionPlace extends DayPlace {
  sessionId: number | null;
  order: OrderPlace | null;
}

/** Before all orders of a session. */
export const ALL_ORDERS: OrderPlace = {
  message: Number.MAX_SAFE_INTEGER,
  action: Number.MAX_SAFE_INTEGER,
};

const FAILURE = /^failure:(\d{4}-\d\d-\d\d):([^:]+):(.+)$/s;
const IN_SESSION = /^(\d{1,15})(?::(\d{1,15})(?::(\d{1,15}))?)?$/;

/**
 * The id of a decision, from which its place can be found again. A model's name comes last: it may
 * have any character.
 */
export function idOf({ date, model, jobId, sessionId, order }: DecisionPlace): string {
  if (sessionId === null) return `failure:${date}:${jobId}:${model}`;
  const { message, action } = order ?? ALL_ORDERS;
  return [sessionId, message, action].filter((part) => part !== Number.MAX_SAFE_INTEGER).join(':');
}

const SESSION = query(
  `SELECT date, model, job_id AS jobId FROM trading_sessions WHERE session_id = ? AND status <> 'opening'`,
  {
    date: text,
    model: text,
    jobId: text,
  },
);

/** Undefined for a text that is not the id of a decision. */
export function placeOf(database: Database, id: string): DecisionPlace | undefined {
  const [, date, jobId, model] = FAILURE.exec(id) ?? [];
  if (date !== undefined && jobId !== undefined && model !== undefined)
    return { date, model, jobId, sessionId: null, order: null };
  const [, session, message, action] = IN_SESSION.exec(id) ?? [];
  const day = session === undefined ? undefined : SESSION.get(database, Number(session));
  if (day === undefined) return undefined;
  const numberOf = (part: string | undefined) =>
    part === undefined ? Number.MAX_SAFE_INTEGER : Number(part);
  return {
    ...day,
    sessionId: Number(session),
    order: { message: numberOf(message), action: numberOf(action) },
  };
}

const ACTIVE = query(
  `SELECT session_id FROM trading_sessions WHERE session_id = ? AND status = 'active'`,
  [integer],
);

/** Whether a session still counts. */
export function isActive(database: Database, sessionId: number): boolean {
  return ACTIVE.has(database, sessionId);
}
