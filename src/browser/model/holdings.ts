import { h } from '../element.ts';
import { count, money, profit, share } from '../format.ts';
import type { HeldDay, HeldSymbol, ModelReport } from '../responses.ts';
import { dateColumn, numberColumn, table, textColumn } from '../table.ts';
import { section } from '../ui.ts';
import { weightStrip } from './strip.ts';

/** How many rows are shown until the reader asks for all. */
const ROWS_AT_FIRST = 20;
/** The same in the table of current holdings, which is beside another of this length. */
const CURRENT_AT_FIRST = 12;

/**
 * Every symbol that was held at a close, the heaviest on average first: how much of the portfolio
 * it was, and when.
 */
export function holdingsOverTime({
  days,
  symbols,
}: {
  days: readonly HeldDay[];
  symbols: readonly HeldSymbol[];
}): HTMLElement {
  const title = 'Holdings over time';
  if (symbols.length === 0)
    return section(title, h('p.quiet', 'No shares were held at any close.'));
  const weights = new Map(
    symbols.map(({ symbol }) => [symbol, new Array<number>(days.length).fill(0)]),
  );
  days.forEach(({ holdings }, place) => {
    for (const { symbol, weight } of holdings) {
      const own = weights.get(symbol);
      if (own !== undefined) own[place] = weight ?? 0;
    }
  });
  const tallest = symbols.reduce(
    (most, { highest_weight: weight }) => Math.max(most, weight ?? 0),
    0,
  );
  const strip = ({ symbol }: HeldSymbol) => weightStrip(weights.get(symbol) ?? [], tallest);
  const columns = [
    textColumn<HeldSymbol>('Symbol', ({ symbol }) => symbol, { isName: true }),
    { title: 'Weight over time', cell: strip, look: () => 'over-time', isDrawing: true },
    numberColumn<HeldSymbol>('Mean weight', (row) => row.mean_weight, share, {
      meaning: 'Over all days, held or not',
    }),
    numberColumn<HeldSymbol>('Highest weight', (row) => row.highest_weight, share),
    numberColumn<HeldSymbol>('Days', (row) => row.days, count),
    dateColumn<HeldSymbol>('First day', (row) => row.first_date),
    dateColumn<HeldSymbol>('Last day', (row) => row.last_date),
  ];
  return section(title, table({ caption: title, rows: symbols, columns, most: ROWS_AT_FIRST }));
}

type Position = ModelReport['open_positions'][number] & { weight: number | null };

/** What the model holds, the largest first, with its cost. */
export function currentHoldings(
  { open_positions: positions }: ModelReport,
  last: HeldDay | undefined,
): HTMLElement {
  const title = 'Current holdings';
  if (positions.length === 0) return section(title, h('p.quiet', 'No shares at the last close.'));
  const weights = new Map(last?.holdings.map(({ symbol, weight }) => [symbol, weight]));
  const rows = positions.map((position) => ({
    ...position,
    weight: weights.get(position.symbol) ?? null,
  }));
  const columns = [
    textColumn<Position>('Symbol', ({ symbol }) => symbol, { isName: true }),
    numberColumn<Position>('Shares', ({ quantity }) => quantity, count),
    dateColumn<Position>('Since', ({ since }) => since),
    numberColumn<Position>('Cost', (row) => row.cost_basis, money),
    numberColumn<Position>('Value', ({ value }) => value, money),
    numberColumn<Position>('Weight', ({ weight }) => weight, share),
    numberColumn<Position>('Profit', (row) => row.unrealised_profit, profit, { isToned: true }),
  ];
  return section(
    title,
    table({
      caption: 'Holdings at the last close',
      rows,
      columns,
      sortedBy: 'Value',
      most: CURRENT_AT_FIRST,
    }),
  );
}
