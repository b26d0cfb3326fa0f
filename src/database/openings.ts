import type { Money } from '../money.ts';
import type { Reader } from './database.ts';
import { type RowOf, amount, integer, orNull, query, text } from './rows.ts';

/**
 * Openings: the closes of days of other jobs from which the chains of a file with one job continue.
 */

const LOTS = query(
  `SELECT session_id AS sessionId, symbol, bought_on AS date, quantity, cost_e4 AS cost
   FROM json_each(?) AS chosen CROSS JOIN opening_lots ON session_id = chosen.value ORDER BY session_id, symbol, lot`,
  { sessionId: integer, symbol: text, date: text, quantity: integer, cost: amount },
);

/** Shares that were held at an opening and had been bought together, with their cost. */
export type OpeningLot = RowOf<typeof LOTS>;

/** The lots of those of some sessions that are openings, by session and symbol, oldest first. */
export function openingLots(reader: Reader, sessionIds: readonly number[]): OpeningLot[] {
  return LOTS.all(reader, JSON.stringify(sessionIds));
}

const OUTSIDE_STARTS = query(
  `SELECT DISTINCT past.session_id AS sessionId, past.model, past.started_from_session_id AS startedFrom
   FROM trading_sessions AS own JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   WHERE own.job_id = ?1 AND past.job_id IS NOT ?1 ORDER BY past.session_id`,
  { sessionId: integer, model: text, startedFrom: orNull(integer) },
);

/** A session that belongs to no model-day of a job, and from which one of its sessions started. */
export type OutsideStart = RowOf<typeof OUTSIDE_STARTS>;

/** The sessions outside a job from which its sessions started. */
export function outsideStarts(reader: Reader, jobId: string): OutsideStart[] {
  return OUTSIDE_STARTS.all(reader, jobId);
}

/** What a package needs to know of a session from which a chain of its job continues. */
export interface Opening {
  sessionId: number;
  /** Of the model's first completed day; null when unknown. */
  initialCash: Money | null;
  /** Of everything that is held at its close, by symbol and oldest first. */
  lots: readonly Omit<OpeningLot, 'sessionId'>[];
}
