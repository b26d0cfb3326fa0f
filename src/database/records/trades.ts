import type { CalendarDate } from '../../calendar.ts';
import type { Money } from '../../money.ts';
import { type SessionFilters, committedSessions } from '../chosen.ts';
import type { Database } from '../database.ts';
import { PARTS, portionsOf } from './results.ts';

/** An executed order. */
export interface Trade {
  model: string;
  date: CalendarDate;
  side: 'buy' | 'sell';
  symbol: string;
  amount: number;
  price: Money;
  cashBefore: Money;
  cash: Money;
}

/** The cash before the first action of a day is that of the close it started from, or the initial cash. */
const TRADES = `
  SELECT model, date, action_type AS side, symbol, amount, price_e4 AS price, cash_e4 AS cash,
    coalesce(
      (SELECT cash_e4 FROM positions AS before
        WHERE before.session_id = positions.session_id AND before.action_id = positions.action_id - 1),
      (SELECT cash_e4 FROM positions AS past
        WHERE past.session_id = trading_sessions.started_from_session_id ORDER BY action_id DESC LIMIT 1),
      initial_cash_e4, 0) AS cashBefore ${PARTS}`;

/** The executed orders of the model-days that the filters let through, by model, date and action. Null between two steps. */
export function* tradesOf(database: Database, filters: SessionFilters, at: number): Generator<Trade | null> {
  const models = filters.model === undefined ? modelsWithSessions(database) : [filters.model];
  for (const model of models) {
    for (const sessions of committedSessions(database, { ...filters, model }, at)) {
      yield null;
      for (const portion of portionsOf(database, sessions.map(({ sessionId }) => sessionId))) {
        const rows = database.statement(TRADES).all(JSON.stringify(portion)) as never as Trade[];
        yield* rows.filter(({ side }) => side === 'buy' || side === 'sell');
        yield null;
      }
    }
  }
}

/** By name, one look-up for each. */
export function* modelsWithSessions(database: Database): Generator<string> {
  const next = database.statement(
    'SELECT model FROM trading_sessions INDEXED BY sessions_by_model WHERE model > ? ORDER BY model LIMIT 1',
  );
  for (let row = next.get(''); row !== undefined; row = next.get(row['model'] as string)) yield String(row['model']);
}
