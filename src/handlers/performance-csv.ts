import { type Trade, tradesOf } from '../database/records/trades.ts';
import { money, toDollars } from '../money.ts';
import { type Cell, csvTable } from './csv.ts';
import type { Table } from './handler.ts';
import type { Choice } from './performance-records.ts';

/** Which part of the figures is the table: the curve, day by day, or the trades, order by order. */
export const performanceTables = ['curve', 'trades'] as const;

export const curveColumns = ['model', 'date', 'value', 'daily_return', 'stale', 'benchmark_value'];
export const tradeColumns = ['model', 'date', 'side', 'symbol', 'amount', 'price', 'commission', 'cash'];

/** A line per model-day, with a cell for each of `curveColumns`. */
export function curveTable(rows: Iterable<readonly Cell[] | null>): Table {
  return csvTable('curve.csv', curveColumns, rows);
}

/** A line per executed order, by model, date and action. */
export function tradeTable(choice: Choice): Table {
  return csvTable('trades.csv', tradeColumns, tradeRows(choice));
}

function* tradeRows({ database, filters, at }: Choice): Generator<Cell[] | null> {
  for (const trade of tradesOf(database, filters, at)) yield trade === null ? null : tradeRow(trade);
}

/** The commission is what the order took from the cash, or brought, beside shares times price. */
function tradeRow({ model, date, side, symbol, amount, price, cashBefore, cash }: Trade): Cell[] {
  const traded = amount * price;
  const commission = money(side === 'buy' ? cashBefore - cash - traded : traded - (cash - cashBefore));
  return [model, date, side, symbol, amount, toDollars(price), toDollars(commission), toDollars(cash)];
}
