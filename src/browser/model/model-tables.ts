import type { Day } from './days.ts';
import { h } from '../parts/element.ts';
import { count, money, price, profit, tone } from '../parts/format.ts';
import { modelDayPath } from '../../page-paths.ts';
import type { ModelReport, ResultsRecord } from '../service/responses.ts';
import { table } from '../parts/table.ts';

/** Of longer tables the rest is shown on request. */
const ROWS_AT_FIRST = 25;

/** What it holds, with what that cost. */
export function openPositions({ open_positions: rows }: ModelReport): HTMLElement {
  return h(
    'section',
    {},
    h('h2', {}, 'Open positions'),
    table<ModelReport['open_positions'][number]>({
      caption: 'Open positions at the last close',
      rows,
      columns: [
        { title: 'Symbol', isName: true, by: ({ symbol }) => symbol, cell: ({ symbol }) => symbol },
        { title: 'Shares', isFigure: true, by: ({ quantity }) => quantity, cell: ({ quantity }) => count(quantity) },
        { title: 'Since', by: ({ since }) => since, cell: ({ since }) => since },
        { title: 'Cost', isFigure: true, by: (row) => row.cost_basis, cell: (row) => money(row.cost_basis) },
        { title: 'Value', isFigure: true, by: ({ value }) => value, cell: ({ value }) => money(value) },
        {
          title: 'Profit',
          isFigure: true,
          by: (row) => row.unrealised_profit,
          cell: (row) => profit(row.unrealised_profit),
          tone: (row) => tone(row.unrealised_profit),
        },
      ],
    }),
  );
}

/** Every order that was executed, and every split, newest first. */
export function trades(model: string, records: readonly ResultsRecord[]): HTMLElement {
  const rows = records.filter(({ action_type }) => action_type !== 'no_trade').toReversed();
  return h(
    'section',
    {},
    h('h2', {}, 'Trades'),
    rows.length === 0
      ? h('p', { class: 'quiet' }, 'It has not traded.')
      : table<ResultsRecord>({
          caption: `Trades of ${model}`,
          rows,
          most: ROWS_AT_FIRST,
          columns: [
            {
              title: 'Date',
              by: ({ date }) => date,
              cell: ({ date }) => h('a', { href: modelDayPath(model, date) }, date),
            },
            {
              title: 'Action',
              by: (row) => row.action_type,
              cell: (row) => row.action_type,
              tone: (row) => `action ${row.action_type}`,
            },
            { title: 'Symbol', by: ({ symbol }) => symbol, cell: ({ symbol }) => symbol },
            { title: 'Shares', isFigure: true, by: ({ amount }) => amount, cell: ({ amount }) => count(amount) },
            { title: 'Price', isFigure: true, by: (row) => row.price, cell: (row) => price(row.price) },
            { title: 'Amount', isFigure: true, by: amountOf, cell: (row) => money(amountOf(row)) },
            { title: 'Cash after', isFigure: true, by: ({ cash }) => cash, cell: ({ cash }) => money(cash) },
          ],
        }),
  );
}

function amountOf({ price: paid, amount }: ResultsRecord): number | null {
  return paid === null || amount === null ? null : paid * amount;
}

/** The days of a model, newest first. */
export function dayTable(model: string, days: readonly Day[]): HTMLElement {
  return h(
    'section',
    {},
    h('h2', {}, 'Model-days'),
    table<Day>({
      caption: `Model-days of ${model}`,
      rows: days.toReversed(),
      most: ROWS_AT_FIRST,
      columns: [
        {
          title: 'Date',
          isName: true,
          by: ({ date }) => date,
          cell: ({ date }) => h('a', { href: modelDayPath(model, date) }, date),
        },
        {
          title: 'Value',
          isFigure: true,
          by: ({ close }) => close.portfolio_value,
          cell: ({ close }) => money(close.portfolio_value),
        },
        {
          title: 'Profit',
          isFigure: true,
          by: ({ close }) => close.daily_profit,
          cell: ({ close }) => profit(close.daily_profit),
          tone: ({ close }) => tone(close.daily_profit),
        },
        { title: 'Trades', isFigure: true, by: tradesOn, cell: (day) => count(tradesOn(day)) },
        {
          title: 'Holdings',
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
