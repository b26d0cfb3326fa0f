import { type Day, type Span, holdingSpans } from './days.ts';
import { h, svg } from '../parts/element.ts';
import { count, longDate } from '../parts/format.ts';

const ROW = 20;
const BAR = 12;
const NAMES = 72;
const WIDTH = 1_000;
const HEAD = 18;
const MAX_SYMBOLS = 40;

/** Which symbols were held when: a row per symbol, thicker the more shares. */
export function holdingsOverTime(days: readonly Day[]): HTMLElement {
  const bySymbol = Map.groupBy(holdingSpans(days), ({ symbol }) => symbol);
  const symbols = [...bySymbol.keys()].sort();
  if (symbols.length === 0) return h('p', { class: 'quiet' }, 'Nothing was held at any close.');
  const shown = symbols.slice(0, MAX_SYMBOLS);
  const width = (WIDTH - NAMES) / days.length;
  const rows = shown.flatMap((symbol, row) => rowOf(symbol, bySymbol.get(symbol) ?? [], { row, width, days }));
  const height = HEAD + shown.length * ROW;
  const edge = { y: 12, class: 'label' };
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Holdings over time' },
    svg(
      'svg',
      {
        class: 'holdings',
        viewBox: `0 0 ${WIDTH} ${height}`,
        width: WIDTH,
        height,
        role: 'img',
        'aria-label': `Holdings of ${symbols.length} symbols over ${days.length} days`,
      },
      svg('text', { x: NAMES, ...edge }, days[0]?.date),
      svg('text', { x: WIDTH, 'text-anchor': 'end', ...edge }, days.at(-1)?.date),
      ...rows,
    ),
    symbols.length > shown.length && h('p', { class: 'quiet' }, `and ${symbols.length - shown.length} more symbols`),
  );
}

function rowOf(
  symbol: string,
  spans: readonly Span[],
  { row, width, days }: { row: number; width: number; days: readonly Day[] },
): SVGElement[] {
  const most = Math.max(...spans.map(({ quantity }) => quantity));
  const middle = HEAD + row * ROW + ROW / 2;
  const bars = spans.map(({ quantity, from, to }) => {
    const thickness = Math.max(3, BAR * Math.sqrt(quantity / most));
    const words = `${symbol}: ${count(quantity)} shares, ${longDate(days[from]?.date ?? '')} to ${longDate(days[to]?.date ?? '')}`;
    return svg(
      'rect',
      {
        x: (NAMES + from * width).toFixed(2),
        y: (middle - thickness / 2).toFixed(2),
        width: Math.max(1.5, (to - from + 1) * width - 0.5).toFixed(2),
        height: thickness.toFixed(2),
        class: 'held',
      },
      svg('title', {}, words),
    );
  });
  return [
    svg('line', { x1: NAMES, x2: WIDTH, y1: middle, y2: middle, class: 'rule' }),
    svg('text', { x: 0, y: middle + 4, class: 'label' }, symbol),
    ...bars,
  ];
}
