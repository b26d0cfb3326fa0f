import { modelDayPath } from '../../page-paths.ts';
import { link, section } from '../parts/blocks.ts';
import { count, money, profit } from '../parts/format.ts';
import { numberColumn, table, textColumn } from '../parts/table.ts';
import type { ModelReport } from '../service/responses.ts';
import type { Day } from './days.ts';

/** Of a longer list, so many are shown until the reader asks for all. */
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

/** The days of a model, newest first. */
export function dayTable(model: string, days: readonly Day[]): HTMLElement {
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
        numberColumn('Trades', tradesOn, count),
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
