import type { Database } from '../../src/database/database.ts';

/**
 * The active positions of a model as a text ledger: `date action symbol amount price => cash value
 * profit holdings`.
 */
export function ledgerOf(database: Database, model: string): string[] {
  const rows = database
    .statement(
      `SELECT date, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4,
         (SELECT group_concat(symbol || ':' || quantity, ' ' ORDER BY symbol) FROM holdings WHERE holdings.position_id = positions.position_id) AS holdings
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
