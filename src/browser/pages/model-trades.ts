import { modelDayPath } from '../../basics/paths.ts';
import { type Child, svg } from '../element.ts';
import { count, money, price, profit, share, unbrokenDate } from '../format.ts';
import { highest, lowest } from '../plot/scale.ts';
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
      most: 15,
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
      most: 12,
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

/** The profit with each symbol, as a bar from zero and in numbers. */
export function profitBySymbol({ details, performance }: ModelData): Child[] {
  const { symbols } = details;
  const barOf = barScale(symbols.map((row) => row.profit ?? 0));
  const bars = table<Row>({
    caption: 'Profit by symbol',
    rows: symbols,
    none: 'The model has not traded.',
    most: 25,
    columns: [
      nameColumn('Symbol', 'symbol'),
      {
        title: 'Loss and gain',
        cell: (row) => barOf(row.profit),
        look: () => 'profit-bar',
        isDrawing: true,
      },
      numberColumn('Profit', 'profit', profit, {
        isToned: true,
        meaning: performance.conventions.definitions['symbols'],
      }),
      numberColumn('Realised', 'realised_profit', profit),
      numberColumn('Unrealised', 'unrealised_profit', profit),
      numberColumn('Dividends', 'dividends', money),
      numberColumn('Trades', 'trades', count),
    ],
  });
  return [bars, symbols.length > 0 && meaningOf(performance, 'symbols')];
}

/**
 * Draws bars that share one scale, with zero at the same place in all. The number is in the next
 * column.
 */
function barScale(values: readonly number[]): (value: number | null) => SVGElement | null {
  const [low, high] = [lowest(values, 0), highest(values, 0)];
  const percent = (value: number) => ((value - low) / (high - low || 1)) * 100;
  const zero = percent(0);
  return (value) => {
    if (value === null) return null;
    const [from, to] = value < 0 ? [percent(value), zero] : [zero, percent(value)];
    const bar = { x: `${from.toFixed(2)}%`, width: `${(to - from).toFixed(2)}%`, y: 2, height: 10 };
    return svg(
      'svg',
      { 'aria-hidden': 'true', width: '100%', height: 14 },
      svg('rect', { class: value < 0 ? 'bar loss' : 'bar gain', ...bar }),
      svg('line', {
        class: 'zero',
        x1: `${zero.toFixed(2)}%`,
        x2: `${zero.toFixed(2)}%`,
        y1: 0,
        y2: 14,
      }),
    );
  };
}
