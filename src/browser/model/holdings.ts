import { scroller } from '../parts/blocks.ts';
import { h, svg } from '../parts/element.ts';
import { count, counted, longDate } from '../parts/format.ts';
import { type Day, type Span, holdingSpans } from './days.ts';

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
  if (symbols.length === 0) return h('p.quiet', 'No shares were held at any close.');
  const shown = symbols.slice(0, MAX_SYMBOLS);
  const height = HEAD + shown.length * ROW;
  const edge = { y: 12, class: 'label' };
  const label = `Holdings of ${counted(symbols.length, 'symbol')} over ${counted(days.length, 'day')}`;
  const drawing = svg(
    'svg',
    { class: 'holdings', viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: 'img', 'aria-label': label },
    svg('text', { x: NAMES, ...edge }, days[0]?.date),
    svg('text', { x: WIDTH, 'text-anchor': 'end', ...edge }, days.at(-1)?.date),
    ...shown.flatMap((symbol, row) => rowOf(symbol, bySymbol.get(symbol) ?? [], { row, days })),
  );
  const more = symbols.length - shown.length;
  return scroller('Holdings over time', drawing, more > 0 && h('p.quiet', `and ${counted(more, 'more symbol')}`));
}

function rowOf(
  symbol: string,
  spans: readonly Span[],
  { row, days }: { row: number; days: readonly Day[] },
): SVGElement[] {
  const dayWidth = (WIDTH - NAMES) / days.length;
  const most = Math.max(...spans.map(({ quantity }) => quantity));
  const middle = HEAD + row * ROW + ROW / 2;
  const dateAt = (place: number) => longDate(days[place]?.date ?? '');
  const bars = spans.map(({ quantity, from, to }) => {
    const thickness = Math.max(3, BAR * Math.sqrt(quantity / most));
    const box = {
      x: (NAMES + from * dayWidth).toFixed(2),
      y: (middle - thickness / 2).toFixed(2),
      width: Math.max(1.5, (to - from + 1) * dayWidth - 0.5).toFixed(2),
      height: thickness.toFixed(2),
    };
    const words = `${symbol}: ${count(quantity)} shares, ${dateAt(from)} to ${dateAt(to)}`;
    return svg('rect', { ...box, class: 'held' }, svg('title', {}, words));
  });
  return [
    svg('line', { x1: NAMES, x2: WIDTH, y1: middle, y2: middle, class: 'rule' }),
    svg('text', { x: 0, y: middle + 4, class: 'label' }, symbol),
    ...bars,
  ];
}
