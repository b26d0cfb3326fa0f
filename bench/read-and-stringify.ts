import { DatabaseSync } from 'node:sqlite';
import { serveLines } from './helper.ts';

/**
 * The peer of /results, a helper: reads the same rows into objects, joins the holdings, makes one
 * text of them.
 */

/** The columns that the program computes with; the others are passed on as they are. */
type Row = Record<'id' | 'price_e4' | 'cash_e4' | 'portfolio_value_e4' | 'daily_profit_e4', number>;

type Holding = { symbol: string; quantity: number };

interface Asked {
  path: string;
  format: 'json' | 'csv';
}

await serveLines(async ({ path, format }: Asked) => {
  const startedAt = performance.now();
  const database = new DatabaseSync(path, { readOnly: true });
  const records = readRecords(database);
  const text =
    format === 'csv' ? csvOf(records) : JSON.stringify({ results: records, count: records.length });
  database.close();
  return { ms: performance.now() - startedAt, length: text.length };
});

function readRecords(database: DatabaseSync) {
  const holdings = readHoldings(database);
  const rows = database
    .prepare(
      `SELECT position_id AS id, job_id, date, model, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4,
         daily_profit_e4, daily_return_pct, created_at
       FROM positions JOIN trading_sessions USING (session_id) WHERE status = 'active' ORDER BY date, model, action_id`,
    )
    .all() as Row[];
  return rows.map(({ price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, ...row }) => ({
    ...row,
    price: price_e4 / 10_000,
    cash: cash_e4 / 10_000,
    portfolio_value: portfolio_value_e4 / 10_000,
    daily_profit: daily_profit_e4 / 10_000,
    holdings: holdings.get(row.id) ?? [],
  }));
}

function readHoldings(database: DatabaseSync): Map<number, Holding[]> {
  const rows = database
    .prepare('SELECT position_id, symbol, quantity FROM holdings ORDER BY position_id, symbol')
    .all();
  const holdings = new Map<number, Holding[]>();
  for (const { position_id: id, symbol, quantity } of rows as (Holding & {
    position_id: number;
  })[]) {
    const held = holdings.get(id);
    if (held === undefined) holdings.set(id, [{ symbol, quantity }]);
    else held.push({ symbol, quantity });
  }
  return holdings;
}

function csvOf(records: ReturnType<typeof readRecords>): string {
  const lines = records.map(({ holdings, ...record }) => {
    const held = holdings.map(({ symbol, quantity }) => `${symbol}:${quantity}`).join(' ');
    return `${Object.values(record).join(',')},${held}`;
  });
  return `${Object.keys(records[0] ?? {}).join(',')}\r\n${lines.join('\r\n')}\r\n`;
}
