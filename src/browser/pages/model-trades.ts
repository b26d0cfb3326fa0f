import { modelDayPath } from '../../basics/paths.ts';
import type { Child } from '../element.ts';
import { count, money, price, profit, share, unbrokenDate } from '../format.ts';
import type { Details, ModelReport } from '../responses.ts';
import { dateColumn, nameColumn, numberColumn, table, textColumn } from '../table.ts';
import { link, section } from '../ui.ts';
import { meaningOf, type ModelData, type Trade } from './model-data.ts';

/** Every executed order, split and dividend of a model, newest first. */
export function tradesTable({ report, trades }: ModelData): HTMLElement {
  const { model } = report;
  return section(
    'Trades',
    table<Trade>({
      caption: `Trades of ${model}`,
      rows: trades.toReversed(),
      none: 'The model has not traded.',
      most: 10,
      columns: [
        textColumn('Date', 'date', {
          cell: ({ date }) => link(modelDayPath(model, date), unbrokenDate(date)),
        }),
        textColumn('Action', 'side', { look: ({ side }) => `action ${side}` }),
        textColumn('Symbol', 'symbol'),
        numberColumn('Shares', 'amount', count),
        numberColumn('Price', 'price', price),
        numberColumn('Amount', (row) => Math.abs(row.cashChange), money, {
          meaning: 'What it cost or brought in',
        }),
        numberColumn('Cash after', 'cash', money),
      ],
    }),
  );
}

type Row = Details['symbols'][number];

type Position = ModelReport['open_positions'][number];

/** What the model holds, the largest first, with its cost. */
export function currentHoldings({ open_positions, end_value }: ModelReport): HTMLElement {
  return section(
    'Holdings now',
    table<Position>({
      caption: 'Holdings at the last close',
      rows: open_positions,
      none: 'No shares at the last close.',
      sortedBy: 'Value',
      most: 8,
      columns: [
        nameColumn('Symbol', 'symbol'),
        numberColumn('Shares', 'quantity', count),
        dateColumn('Since', 'since'),
        numberColumn('Cost', 'cost_basis', money),
        numberColumn('Value', 'value', money),
        numberColumn(
          'Weight',
          ({ value }) => (value === null || end_value === 0 ? null : value / end_value),
          share,
        ),
        numberColumn('Profit', 'unrealised_profit', profit, { isToned: true }),
      ],
    }),
  );
}

/** The profit with each symbol. */
export function profitBySymbol({ details, performance }: ModelData): Child[] {
  const { symbols } = details;
  const rows = table<Row>({
    caption: 'Profit by symbol',
    rows: symbols,
    none: 'The model has not traded.',
    most: 25,
    columns: [
      nameColumn('Symbol', 'symbol'),
      numberColumn('Profit', 'profit', profit, { isToned: true }),
      numberColumn('Realised', 'realised_profit', profit),
      numberColumn('Unrealised', 'unrealised_profit', profit),
      numberColumn('Dividends', 'dividends', money),
      numberColumn('Trades', 'trades', count),
    ],
  });
  return [rows, symbols.length > 0 && meaningOf(performance, 'symbols')];
}
