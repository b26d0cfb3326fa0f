import type { Database } from '../../src/core/database/database.ts';

const listOf = (rows: string) =>
  `(SELECT group_concat(symbol || ':' || quantity, ' ' ORDER BY symbol) FROM (${rows}))`;
/** As stored, at the close. */
const AT_CLOSE = listOf(
  'SELECT symbol, quantity FROM holdings WHERE holdings.session_id = positions.session_id',
);
/** From the close before, action by action. */
const AFTER_ACTION = listOf(`
  SELECT symbol, sum(quantity) AS quantity FROM (
    SELECT symbol, quantity FROM holdings WHERE holdings.session_id = started_from_session_id
    UNION ALL
    SELECT symbol, CASE WHEN action_type IN ('sell', 'exchange') THEN -amount ELSE amount END FROM positions AS earlier
    WHERE earlier.session_id = positions.session_id AND earlier.action_id <= positions.action_id AND action_type IN ('buy', 'sell', 'split', 'exchange', 'received'))
  GROUP BY symbol HAVING sum(quantity) <> 0`);

/**
 * The active positions of a model as a text ledger: `date action symbol amount price => cash value
 * profit holdings`.
 */
export function ledgerOf(database: Database, model: string): string[] {
  const rows = database
    .statement(
      `SELECT date, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4,
         iif(action_id = (SELECT max(action_id) FROM positions AS own WHERE own.session_id = positions.session_id),
           ${AT_CLOSE}, ${AFTER_ACTION}) AS holdings
       FROM positions JOIN trading_sessions USING (session_id) WHERE model = ? AND status = 'active' ORDER BY date, action_id`,
    )
    .all(model);
  return rows.map((row) => {
    const action = [
      row['date'],
      row['action_type'],
      row['symbol'],
      row['amount'],
      dollars(row['price_e4']),
    ].filter((part) => part !== null);
    const state = [
      dollars(row['cash_e4']),
      dollars(row['portfolio_value_e4']),
      dollars(row['daily_profit_e4']),
      row['holdings'],
    ].filter((part) => part !== null);
    return `${action.join(' ')} => ${state.join(' ')}`;
  });
}

/** A text table in the form of `ledgerOf`. */
export function ledger(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '');
}

function dollars(units: unknown): number | null {
  return typeof units === 'number' ? units / 10_000 : null;
}
