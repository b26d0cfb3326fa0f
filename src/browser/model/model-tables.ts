import { modelDayPath } from '../../page-paths.ts';
import { link, section } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { count, money, price, profit } from '../parts/format.ts';
import { numberColumn, table, textColumn } from '../parts/table.ts';
import type { ModelReport, ResultsRecord } from '../service/responses.ts';
import { type Day, amountOf, dividendsOf } from './days.ts';

/** How many items of a longer list are shown until the reader asks for all. */
const ROWS_AT_FIRST = 25;

/** What a model holds, with its cost. */
export function holdingsTable({ open_positions: rows }: ModelReport): HTMLElement {
  return section(
    'Current holdings',
    table<(typeof rows)[number]>({
      caption: 'Holdings at the last close',
      rows,
      columns: [
        textColumn('Symbol', ({ symbol }) => symbol, { isName: true }),
        numberColumn('Shares', ({ quantity }) => quantity, count),
        textColumn('Since', ({ since }) => since),
        numberColumn('Cost', (row) => row.cost_basis, money),
        numberColumn('Value', ({ value }) => value, money),
        numberColumn('Profit', (row) => row.unrealised_profit, profit, { isToned: true }),
      ],
    }),
  );
}

const order = [
  textColumn<ResultsRecord>('Action', (row) => row.action_type, { look: (row) => `action ${row.action_type}` }),
  textColumn<ResultsRecord>('Symbol', (row) => row.symbol),
  numberColumn<ResultsRecord>('Shares', (row) => row.amount, count),
  numberColumn<ResultsRecord>('Price', (row) => row.price, price),
];
const cashAfter = numberColumn<ResultsRecord>('Cash after', (row) => row.cash, money);

/** Every executed order, split and dividend of a model, newest first. */
export function trades(caption: string, records: readonly ResultsRecord[]): HTMLElement {
  const before = new Map(records.map((record, index) => [record, records[index - 1]]));
  const rows = tradesIn(records).toReversed();
  if (rows.length === 0) return section('Trades', h('p.quiet', 'The model has not traded.'));
  const date = textColumn<ResultsRecord>('Date', (row) => row.date, {
    cell: (row) => link(modelDayPath(row.model, row.date), row.date),
  });
  const amount = numberColumn<ResultsRecord>('Amount', (row) => amountOf(row, before.get(row)), money);
  const columns = [date, ...order, amount, cashAfter];
  return section('Trades', table({ caption, rows, most: ROWS_AT_FIRST, columns }));
}

/** The executed orders, splits and dividends of one model-day, in the order in which they happened. */
export function tradesOfDay(records: readonly ResultsRecord[]): HTMLElement {
  const rows = tradesIn(records);
  if (rows.length === 0) return section('Trades', h('p.quiet', 'The model did not trade.'));
  const columns = [numberColumn<ResultsRecord>('#', (row) => row.action_id, count), ...order, cashAfter];
  return section('Trades', table({ caption: 'Trades of the day', rows, isFixed: true, columns }));
}

function tradesIn(records: readonly ResultsRecord[]): ResultsRecord[] {
  return records.filter(({ action_type }) => action_type !== 'no_trade');
}

/** The days of a model, newest first; with their dividends where there were any. */
export function dayTable(model: string, days: readonly Day[]): HTMLElement {
  const received = new Map(days.map((day, index) => [day, dividendsOf(day, days[index - 1]?.close)]));
  const hasDividends = received.values().some((dividends) => dividends !== null);
  const dividends = numberColumn<Day>('Dividends', (day) => received.get(day) ?? null, money);
  return section(
    'Model-days',
    table<Day>({
      caption: `Model-days of ${model}`,
      rows: days.toReversed(),
      most: ROWS_AT_FIRST,
      columns: [
        textColumn('Date', ({ date }) => date, {
          isName: true,
          cell: ({ date }) => link(modelDayPath(model, date), date),
        }),
        numberColumn('Value', ({ close }) => close.portfolio_value, money),
        numberColumn('Profit', ({ close }) => close.daily_profit, profit, { isToned: true }),
        ...(hasDividends ? [dividends] : []),
        numberColumn('Trades', tradesOn, count),
        {
          title: 'Holdings',
          look: () => 'held-then',
          cell: ({ close }) =>
            close.holdings.map(({ symbol, quantity }) => `${symbol} ${count(quantity)}`).join(', ') || 'none',
        },
      ],
    }),
  );
}

function tradesOn({ records }: Day): number {
  return records.filter(({ action_type }) => action_type === 'buy' || action_type === 'sell').length;
}
