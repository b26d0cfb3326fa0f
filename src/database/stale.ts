import type { CalendarDate } from '../calendar.ts';
import type { Steps } from '../turns.ts';
import { committedSessions, lastChange } from './chosen.ts';
import type { Database, Reader } from './database.ts';

const LAST_POSITION = `
  (SELECT position_id FROM positions WHERE positions.session_id = own.session_id ORDER BY action_id DESC LIMIT 1)`;

/** Of `active`: model-days with the active one before each, and their own last position. */
const IS_STALE = `
  SELECT model, date FROM active
  WHERE started_from_session_id IS NOT previous_session_id
    OR EXISTS ( -- a split of something it held in the morning was learned after it started
      SELECT 1 FROM positions JOIN holdings USING (position_id) JOIN stock_splits ON stock_splits.symbol = holdings.symbol
      WHERE positions.session_id = active.started_from_session_id
        AND positions.action_id = (SELECT max(action_id) FROM positions AS other WHERE other.session_id = positions.session_id)
        AND stock_splits.date > active.previous_date AND stock_splits.date <= active.date AND stock_splits.recorded_at > active.started_at
        AND NOT EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = stock_splits.symbol AND adjusted))
    OR EXISTS ( -- the close it was marked at, or an open it traded at, is another now
      SELECT 1 FROM price_data AS bar
      WHERE bar.date = active.date AND bar.recorded_at > active.completed_at
        AND bar.symbol IN (
          SELECT symbol FROM holdings WHERE position_id = active.last_position_id
          UNION SELECT symbol FROM positions WHERE positions.session_id = active.session_id AND symbol IS NOT NULL)
        AND NOT EXISTS (
          SELECT 1 FROM price_revisions AS known
          WHERE known.symbol = bar.symbol AND known.date = bar.date
            AND known.recorded_at <= active.completed_at AND known.replaced_at > active.completed_at
            AND known.open = bar.open AND known.close IS bar.close))
  ORDER BY model, date`;

/**
 * Active model-days whose past is no longer what it was when they ran: another day is now their latest earlier active
 * one, or a split or a price that they depend on was learned later. Takes the models as a JSON array. Reads all their days
 * at once, so it is for a process of its own.
 */
export const STALE = `
  WITH active AS (
    SELECT session_id, model, date, started_at, completed_at, started_from_session_id,
      lag(session_id) OVER days AS previous_session_id, lag(date) OVER days AS previous_date,
      ${LAST_POSITION} AS last_position_id
    FROM trading_sessions AS own WHERE status = 'active' AND model IN (SELECT value FROM json_each(?))
    WINDOW days AS (PARTITION BY model ORDER BY date)
  ) ${IS_STALE}`;

/** As STALE, of some sessions: a JSON array of their ids. */
const STALE_SESSIONS = `
  WITH active AS (
    SELECT own.session_id, own.model, own.date, own.started_at, own.completed_at, own.started_from_session_id,
      previous.session_id AS previous_session_id, previous.date AS previous_date, ${LAST_POSITION} AS last_position_id
    FROM json_each(?) AS chosen CROSS JOIN trading_sessions AS own ON own.session_id = chosen.value
      LEFT JOIN trading_sessions AS previous ON previous.session_id = (
        SELECT session_id FROM trading_sessions AS earlier
        WHERE earlier.model = own.model AND earlier.date < own.date AND earlier.status = 'active'
        ORDER BY earlier.date DESC LIMIT 1)
    WHERE own.status = 'active'
  ) ${IS_STALE}`;

export interface StaleModelDay {
  model: string;
  date: CalendarDate;
}

/** The stale model-days among some sessions, by model and date. */
export function staleAmong(reader: Reader, sessionIds: readonly number[]): StaleModelDay[] {
  return reader.statement(STALE_SESSIONS).all(JSON.stringify(sessionIds)) as never;
}

/** The stale model-days of some models, in the order of these and by date, step by step. */
export function* staleModelDays(database: Database, models: readonly string[]): Steps<StaleModelDay[]> {
  const stale: StaleModelDay[] = [];
  for (const model of models) {
    for (const sessions of committedSessions(database, { model }, lastChange(database))) {
      stale.push(...staleAmong(database, sessions.map(({ sessionId }) => sessionId)));
      yield null;
    }
  }
  return stale;
}
