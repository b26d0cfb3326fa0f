import { modelDayPath } from '../../page-paths.ts';
import { change, count, counted, money } from '../format.ts';
import type { HeldDay, ModelReport } from '../responses.ts';
import type { Trade } from '../service/trades.ts';
import { numberColumn, table, textColumn } from '../table.ts';
import { link, section } from '../ui.ts';

/** How many rows are shown until the reader asks for all. */
const ROWS_AT_FIRST = 25;
/** How many holdings of a day are named: the largest. */
const MOST_NAMED = 8;

type Point = ModelReport['curve'][number];

interface Sources {
  trades: readonly Trade[];
  held: readonly HeldDay[];
}

/** The days of a model, newest first; with their dividends where there were any. */
export function dayTable({ model, curve }: ModelReport, { trades, held }: Sources): HTMLElement {
  const orders = Map.groupBy(
    trades.filter(({ side }) => side === 'buy' || side === 'sell'),
    ({ date }) => date,
  );
  const heldOn = new Map(held.map((day) => [day.date, day.holdings]));
  const dividends = numberColumn<Point>(
    'Dividends',
    (day) => (day.dividends === 0 ? null : day.dividends),
    money,
  );
  const columns = [
    textColumn<Point>('Date', ({ date }) => date, {
      isName: true,
      cell: ({ date }) => link(modelDayPath(model, date), date),
    }),
    numberColumn<Point>('Value', ({ value }) => value, money),
    numberColumn<Point>('Return', (day) => day.daily_return, change, { isToned: true }),
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
    table<Point>({ caption: `Model-days of ${model}`, rows, most: ROWS_AT_FIRST, columns }),
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
