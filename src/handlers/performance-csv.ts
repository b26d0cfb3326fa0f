import { type Money, money, toDollars } from '../money.ts';
import type { ModelRecord } from '../performance/record.ts';
import { type reportModel, type reportReturns } from '../performance/report.ts';
import { type Cell, csvTable } from './csv.ts';
import type { Table } from './handler.ts';

/** Which part of the figures is the table: the curve, day by day, or the trades, order by order. */
export const performanceTables = ['curve', 'trades'] as const;

export const curveColumns = ['model', 'date', 'value', 'daily_return', 'stale', 'benchmark_value'];
export const tradeColumns = ['model', 'date', 'side', 'symbol', 'amount', 'price', 'commission', 'cash'];

type Curve = ReturnType<typeof reportModel>['curve'];
type BenchmarkCurve = readonly { date: string; value: number }[];
export type BenchmarkReport = ReturnType<typeof reportReturns> & { curve: BenchmarkCurve };

/** A line per model-day; the benchmark beside it is what one dollar has become. */
export function curveTable(models: Iterable<{ model: string; curve: Curve }>, benchmark: BenchmarkReport): Table {
  const benchmarkValues = new Map(benchmark.curve.map(({ date, value }) => [date, value]));
  return csvTable('curve.csv', curveColumns, curveRows(models, benchmarkValues));
}

function* curveRows(
  models: Iterable<{ model: string; curve: Curve }>,
  benchmarkValues: ReadonlyMap<string, number>,
): Generator<Cell[]> {
  for (const { model, curve } of models) {
    for (const { date, value, daily_return: dailyReturn, stale } of curve)
      yield [model, date, value, dailyReturn, stale, benchmarkValues.get(date) ?? null];
  }
}

/** A line per executed order. */
export function tradeTable(records: Iterable<{ model: string; record: ModelRecord }>): Table {
  return csvTable('trades.csv', tradeColumns, tradeRows(records));
}

function* tradeRows(records: Iterable<{ model: string; record: ModelRecord }>): Generator<Cell[]> {
  for (const { model, record } of records) {
    const closing = new Map(record.ledger.map(({ sessionId, cash }) => [sessionId, cash]));
    for (const day of record.ledger) {
      if (!record.chosen.has(day.sessionId)) continue;
      let before = (day.startedFrom === null ? day.initialCash : closing.get(day.startedFrom)) ?? money(0);
      for (const { actionType, symbol, amount, price, cash } of day.actions) {
        if (actionType === 'buy' || actionType === 'sell') {
          const traded = (amount ?? 0) * (price ?? 0);
          const commission = money(actionType === 'buy' ? before - cash - traded : traded - (cash - before));
          yield [
            model,
            day.date,
            actionType,
            symbol,
            amount,
            toDollars(price as Money),
            toDollars(commission),
            toDollars(cash),
          ];
        }
        before = cash;
      }
    }
  }
}
