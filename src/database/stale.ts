import type { CalendarDate } from '../calendar.ts';
import type { Reader } from './database.ts';

/**
 * Active model-days whose past is no longer what it was when they ran: another day is now their latest earlier active
 * one, or a split or a price that they depend on was learned later. Takes the models as a JSON array.
 */
export const STALE = `
  WITH active AS (
    SELECT session_id, model, date, started_at, completed_at, started_from_session_id,
      lag(session_id) OVER days AS previous_session_id, lag(date) OVER days AS previous_date,
      (SELECT position_id FROM positions WHERE positions.session_id = trading_sessions.session_id
        ORDER BY action_id DESC LIMIT 1) AS last_position_id
    FROM trading_sessions WHERE status = 'active' AND model IN (SELECT value FROM json_each(?))
    WINDOW days AS (PARTITION BY model ORDER BY date)
  )
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

export interface StaleModelDay {
  model: string;
  date: CalendarDate;
}

/** The stale model-days of some models, by model and date. */
export function staleModelDays(reader: Reader, models: readonly string[]): StaleModelDay[] {
  return reader.statement(STALE).all(JSON.stringify(models)) as never;
}
