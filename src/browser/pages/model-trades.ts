import { modelDayPath } from '../../basics/paths.ts';
import { h, svg } from '../element.ts';
import { change, count, counted, money, price, profit, unbrokenDate } from '../format.ts';
import { highest, lowest } from '../plot/scale.ts';
import type { Details, HeldDay, ModelReport } from '../responses.ts';
import { nameColumn, numberColumn, table, textColumn } from '../table.ts';
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
      most: 25,
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

/** How many holdings of a day are named: the largest. */
const MOST_NAMED = 8;

type Point = ModelReport['curve'][number];

/** The days of a model, newest first; with their dividends where there were any. */
export function dayTable({ report, trades }: ModelData, held: readonly HeldDay[]): HTMLElement {
  const { model, curve } = report;
  const orders = Map.groupBy(
    trades.filter(({ side }) => side === 'buy' || side === 'sell'),
    ({ date }) => date,
  );
  const heldOn = new Map(held.map((day) => [day.date, day.holdings]));
  const dividends = numberColumn<Point>('Dividends', (day) => day.dividends || null, money);
  const columns = [
    nameColumn<Point>('Date', 'date', {
      look: () => 'date',
      cell: ({ date }) => link(modelDayPath(model, date), unbrokenDate(date)),
    }),
    numberColumn<Point>('Value', 'value', money),
    numberColumn<Point>('Return', 'daily_return', change, { isToned: true }),
    ...(curve.some((day) => day.dividends !== 0) ? [dividends] : []),
    numberColumn<Point>('Trades', ({ date }) => orders.get(date)?.length ?? 0, count),
    {
      title: 'Holdings',
      look: () => 'held-then',
      cell: ({ date }: Point) => inWords(heldOn.get(date) ?? []),
      raw: ({ date }: Point) =>
        heldOn
          .get(date)
          ?.map(({ symbol, quantity }) => `${symbol} ${quantity}`)
          .join(', ') ?? null,
    },
  ];
  const rows = curve.toReversed();
  return section(
    'Model-days',
    table<Point>({ caption: `Model-days of ${model}`, rows, most: 25, columns }),
  );
}

function inWords(holdings: HeldDay['holdings']): string {
  const named = holdings
    .slice(0, MOST_NAMED)
    .map(({ symbol, quantity }) => `${symbol} ${count(quantity)}`);
  const more = holdings.length - named.length;
  return more > 0
    ? `${named.join(', ')} and ${counted(more, 'other')}`
    : named.join(', ') || 'none';
}

type Row = Details['symbols'][number];

/** At first, in two tables that are beside each other. */
export const ROWS_BESIDE = 12;

/** The profit with each symbol, as a bar from zero and in numbers. */
export function profitBySymbol({ details, performance }: ModelData): HTMLElement {
  const { symbols } = details;
  const title = 'Profit by symbol';
  if (symbols.length === 0) return section(title, h('p.quiet', 'The model has not traded.'));
  const barOf = barScale(symbols.map((row) => row.profit ?? 0));
  const bars = table<Row>({
    caption: title,
    rows: symbols,
    most: ROWS_BESIDE,
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
  return section(title, bars, meaningOf(performance, 'symbols'));
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
