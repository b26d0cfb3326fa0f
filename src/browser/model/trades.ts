import { modelDayPath } from '../../page-paths.ts';
import { h } from '../element.ts';
import { count, money, price } from '../format.ts';
import type { Trade } from '../service/trades.ts';
import { numberColumn, table, textColumn } from '../table.ts';
import { link, section } from '../ui.ts';

/** How many rows are shown until the reader asks for all. */
const ROWS_AT_FIRST = 25;

/** Every executed order, split and dividend of a model, newest first. */
export function tradesTable(model: string, trades: readonly Trade[]): HTMLElement {
  if (trades.length === 0) return section('Trades', h('p.quiet', 'The model has not traded.'));
  const columns = [
    textColumn<Trade>('Date', ({ date }) => date, {
      cell: ({ date }) => link(modelDayPath(model, date), date),
    }),
    textColumn<Trade>('Action', ({ side }) => side, { look: ({ side }) => `action ${side}` }),
    textColumn<Trade>('Symbol', ({ symbol }) => symbol),
    numberColumn<Trade>('Shares', ({ amount }) => amount, count),
    numberColumn<Trade>('Price', (row) => row.price, price),
    numberColumn<Trade>('Amount', (row) => Math.abs(row.cashChange), money, {
      meaning: 'What it cost or brought in',
    }),
    numberColumn<Trade>('Cash after', ({ cash }) => cash, money),
  ];
  return section(
    'Trades',
    table({
      caption: `Trades of ${model}`,
      rows: trades.toReversed(),
      most: ROWS_AT_FIRST,
      columns,
    }),
  );
}
