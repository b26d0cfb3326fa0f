import { h, svg } from '../element.ts';
import { count, money, profit } from '../format.ts';
import { highest, lowest } from '../parts/extremes.ts';
import type { Details } from '../responses.ts';
import { numberColumn, table, textColumn } from '../table.ts';
import { section } from '../ui.ts';
import { type Definitions, meaningOf } from './meaning.ts';

type Row = Details['symbols'][number];

/** How many rows are shown until the reader asks for all. */
const ROWS_AT_FIRST = 12;

/** The profit with each symbol, as a bar from zero and in numbers. */
export function profitBySymbol({ symbols }: Details, definitions: Definitions): HTMLElement {
  const title = 'Profit by symbol';
  if (symbols.length === 0) return section(title, h('p.quiet', 'The model has not traded.'));
  const barOf = barScale(symbols.map((row) => row.profit ?? 0));
  const columns = [
    textColumn<Row>('Symbol', ({ symbol }) => symbol, { isName: true }),
    {
      title: 'Loss and gain',
      cell: (row: Row) => barOf(row.profit),
      look: () => 'profit-bar',
      isDrawing: true,
    },
    numberColumn<Row>('Profit', (row) => row.profit, profit, {
      isToned: true,
      meaning: definitions['symbols'],
    }),
    numberColumn<Row>('Realised', (row) => row.realised_profit, profit),
    numberColumn<Row>('Unrealised', (row) => row.unrealised_profit, profit),
    numberColumn<Row>('Dividends', (row) => row.dividends, money),
    numberColumn<Row>('Trades', (row) => row.trades, count),
  ];
  return section(
    title,
    table({ caption: title, rows: symbols, columns, most: ROWS_AT_FIRST }),
    meaningOf(definitions, 'symbols'),
  );
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
