import { DatabaseSync } from 'node:sqlite';

/** The columns that the program reads; the others are passed on as they are. */
type Row = Record<'id' | 'price_e4' | 'cash_e4' | 'portfolio_value_e4' | 'daily_profit_e4', number>;

/** The peer of /results: reads the same rows into objects, joins the holdings, stringifies; prints the seconds it took. */
const database = new DatabaseSync(process.argv[2] as string, { readOnly: true });
const startedAt = performance.now();
const holdings = new Map<number, { symbol: string; quantity: number }[]>();
for (const { position_id, symbol, quantity } of database
  .prepare('SELECT position_id, symbol, quantity FROM holdings ORDER BY position_id, symbol')
  .all() as { position_id: number; symbol: string; quantity: number }[]) {
  const held = holdings.get(position_id);
  if (held === undefined) holdings.set(position_id, [{ symbol, quantity }]);
  else held.push({ symbol, quantity });
}
const rows = database
  .prepare(
    `SELECT position_id AS id, job_id, date, model, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4,
       daily_profit_e4, daily_return_pct, created_at
     FROM positions JOIN trading_sessions USING (session_id) WHERE status = 'active' ORDER BY date, model, action_id`,
  )
  .all() as Row[];
const results = rows.map(({ price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, ...row }) => ({
  ...row,
  price: price_e4 / 10_000,
  cash: cash_e4 / 10_000,
  portfolio_value: portfolio_value_e4 / 10_000,
  daily_profit: daily_profit_e4 / 10_000,
  holdings: holdings.get(row.id),
}));
const text = JSON.stringify({ results, count: results.length });
if (text.length < 1_000_000) throw new Error('The answer is too short');
console.log((performance.now() - startedAt) / 1000);
