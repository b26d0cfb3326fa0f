import { h, svg } from '../element.ts';
import { count, counted, money, profit, share } from '../format.ts';
import { type Line, datesFromStart } from '../plot/lines.ts';
import { createPlot } from '../plot/plot.ts';
import type { HeldDay, HeldSymbol, ModelReport } from '../responses.ts';
import { highest } from '../plot/scale.ts';
import { dateColumn, nameColumn, numberColumn, table } from '../table.ts';
import { section } from '../ui.ts';
import { ROWS_BESIDE } from './model-trades.ts';

const HEIGHT = 260;

/** What part of the portfolio was in what, at each close. */
export function weightsOverTime(
  { days, symbols }: { days: readonly HeldDay[]; symbols: readonly HeldSymbol[] },
  signal: AbortSignal,
): HTMLElement {
  const layers = weightLayers(days, symbols).toReversed();
  // The start has no weights; it is there so that all plots have the same dates.
  const lines = layers.map((layer) => ({ ...layer, values: [null, ...layer.values] }));
  const caption = `Weights at the close over ${counted(days.length, 'day')}`;
  const dates = datesFromStart(days.map(({ date }) => date));
  const options = {
    label: caption,
    dates,
    lines,
    format: share,
    height: HEIGHT,
    group: 'model',
    isStacked: true,
  };
  const { element } = createPlot(options, signal);
  const key = layers.map(({ label, colour }) => h('li', h(`span.block.${colour}`), label));
  const list = h('ul.key', { 'aria-label': 'Layers of the plot, from the top' }, ...key);
  return section('Weights over time', list, element, gapsOf(days));
}

/** Why the layers do not fill the plot, where they do not. */
function gapsOf(days: readonly HeldDay[]): HTMLElement | null {
  const gaps = days.filter(({ holdings }) => holdings.some(({ weight }) => weight === null)).length;
  if (gaps === 0) return null;
  return h(
    'p.quiet',
    `On ${counted(gaps, 'day')} the weight of some holdings is unknown, because no price was stored for them.`,
  );
}

/** How many symbols have a layer of their own. */
const MOST_NAMED = 10;

/** A line of a plot, whose values are null where nothing was held. */
interface Layer extends Line {
  values: (number | null)[];
}

/**
 * The share of the portfolio in each of the symbols that were heaviest on average, the heaviest
 * first, then in all others, then in cash.
 */
export function weightLayers(days: readonly HeldDay[], symbols: readonly HeldSymbol[]): Layer[] {
  const named = symbols.slice(0, MOST_NAMED).map(({ symbol }) => symbol);
  const others = symbols.length - named.length;
  const places = new Map(named.map((symbol, place) => [symbol, place]));
  const layers = named.map(
    (label, place): Layer => ({ label, colour: `series-${place}`, values: [] }),
  );
  const rest: Layer = {
    label: counted(others, 'other'),
    colour: 'layer-others',
    values: [],
  };
  const cash: Layer = { label: 'Cash', colour: 'layer-cash', values: [] };
  const all = [...layers, ...(others > 0 ? [rest] : []), cash];
  days.forEach((day, index) => {
    for (const { values } of all) values.push(null);
    cash.values[index] = day.cash_weight;
    for (const { symbol, weight } of day.holdings) {
      const { values } = layers[places.get(symbol) ?? -1] ?? rest;
      if (weight !== null) values[index] = (values[index] ?? 0) + weight;
    }
  });
  return all;
}

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
  const weights = new Map(
    symbols.map(({ symbol }) => [symbol, new Array<number>(days.length).fill(0)]),
  );
  days.forEach(({ holdings }, place) => {
    for (const { symbol, weight } of holdings) {
      const own = weights.get(symbol);
      if (own !== undefined) own[place] = weight ?? 0;
    }
  });
  const tallest = highest(symbols.map((row) => row.highest_weight ?? 0));
  const holdings = table<HeldSymbol>({
    caption: title,
    rows: symbols,
    none: 'No shares were held at any close.',
    most: 20,
    columns: [
      nameColumn('Symbol', 'symbol'),
      {
        title: 'Weight over time',
        cell: ({ symbol }) => weightStrip(weights.get(symbol) ?? [], tallest),
        look: () => 'over-time',
        isDrawing: true,
      },
      numberColumn('Mean weight', 'mean_weight', share, {
        meaning: 'Over all days, held or not',
      }),
      numberColumn('Highest weight', 'highest_weight', share),
      numberColumn('Days', 'days', count),
      dateColumn('First day', 'first_date'),
      dateColumn('Last day', 'last_date'),
    ],
  });
  return section(title, holdings);
}

type Position = ModelReport['open_positions'][number];

/** What the model holds, the largest first, with its cost. */
export function currentHoldings(
  { open_positions: positions }: ModelReport,
  last: HeldDay | undefined,
): HTMLElement {
  const weights = new Map(last?.holdings.map(({ symbol, weight }) => [symbol, weight]));
  return section(
    'Current holdings',
    table<Position>({
      caption: 'Holdings at the last close',
      rows: positions,
      none: 'No shares at the last close.',
      sortedBy: 'Value',
      most: ROWS_BESIDE,
      columns: [
        nameColumn('Symbol', 'symbol'),
        numberColumn('Shares', 'quantity', count),
        dateColumn('Since', 'since'),
        numberColumn('Cost', 'cost_basis', money),
        numberColumn('Value', 'value', money),
        numberColumn('Weight', ({ symbol }) => weights.get(symbol) ?? null, share),
        numberColumn('Profit', 'unrealised_profit', profit, { isToned: true }),
      ],
    }),
  );
}

/**
 * A symbol's weight over the days, as tall as it was heavy. The columns beside it say when and how
 * much.
 */
function weightStrip(weights: readonly number[], tallest: number): SVGElement {
  const steps = stepsOf(weights);
  const box = {
    viewBox: `0 0 ${steps.length} ${STRIP_HEIGHT}`,
    preserveAspectRatio: 'none',
    width: '100%',
    height: STRIP_HEIGHT,
  };
  const path = svg('path', { d: outlineOf(steps, tallest || 1) });
  return svg('svg', { class: 'strip', 'aria-hidden': 'true', ...box }, path);
}

/** A strip has at most this many steps, however many days: it is a few hundred pixels wide. */
const MOST_STEPS = 200;
/** In pixels, as all heights here. */
const STRIP_HEIGHT = 18;
/** The height of the least that was held, so that it can be seen. */
const LEAST = 1.5;

/** The highest weight in each step, of about as many days each; 0 where the symbol was not held. */
export function stepsOf(weights: readonly number[], most = MOST_STEPS): number[] {
  const steps = Math.min(most, weights.length);
  return Array.from({ length: steps }, (_, step) => {
    const [from, to] = [
      Math.floor((step * weights.length) / steps),
      Math.floor(((step + 1) * weights.length) / steps),
    ];
    return highest(weights.slice(from, to), 0);
  });
}

/**
 * The outline of a strip: a block over each run of equal steps. `tallest` is the weight that fills
 * the height.
 */
export function outlineOf(steps: readonly number[], tallest: number): string {
  const parts: string[] = [];
  for (let from = 0, to = 0; from < steps.length; from = to) {
    const weight = steps[from] ?? 0;
    while (to < steps.length && steps[to] === weight) to += 1;
    if (weight === 0) continue;
    const height = Math.max(LEAST, (weight / tallest) * STRIP_HEIGHT);
    parts.push(
      `M${from} ${STRIP_HEIGHT}V${(STRIP_HEIGHT - height).toFixed(1)}H${to}V${STRIP_HEIGHT}Z`,
    );
  }
  return parts.join('');
}
