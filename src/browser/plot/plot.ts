import { asArray } from '../../basics/json.ts';
import { h, type Live, on, replace, svg } from '../element.ts';
import { keep } from '../history.ts';
import { swatch } from '../look.ts';
import { svgButton } from '../save.ts';
import { dateColumn, numberColumn, table } from '../table.ts';
import { toggle } from '../ui.ts';
import { type Cursor, KEYS, listenToKeys, listenToPointer, type Shown } from './choosing.ts';
import { AXIS_HEIGHT, drawPlot, scaleOf } from './drawing.ts';
import { type Line, type PlotOptions, rankOrder } from './lines.ts';
import { fillTip, placeTip } from './reading.ts';
import type { Scale } from './scale.ts';

/** A plot on a page. */
export interface Plot {
  element: HTMLElement;
  setVisible(line: number, isVisible: boolean): void;
  /**
   * Which lines are hidden, and whether the scale is logarithmic, when the reader comes back to the
   * page.
   */
  isVisible(line: number): boolean;
  isLog(): boolean;
  setLog(isLog: boolean): void;
  /** Shows later values of the same lines; hidden lines stay hidden. */
  update(dates: readonly string[], lines: readonly Line[]): void;
}

/** A plot of values over session dates, which are read with the pointer or the keyboard. */
export function createPlot(options: PlotOptions, signal: AbortSignal): Plot {
  const { label, keptAs = label } = options;
  const kept = { hidden: keep(`hidden ${keptAs}`), isLog: keep(`log ${keptAs}`) };
  const names = asArray(kept.hidden.read()) ?? [];
  const hidden = new Set(
    options.lines.flatMap((line, place) => (names.includes(line.label) ? [place] : [])),
  );
  let isLog = kept.isLog.read() === true;
  let shown: Shown | null = null;
  let latest = options;
  const { element, drawing, tip, spoken } = frame(options);
  const cursor: Cursor = { index: null, top: 0, chosen: null };
  const line = svg('line', { class: 'cursor' });
  const show = () => {
    const { index, top, chosen } = cursor;
    const scale = shown?.scale;
    const x = index === null ? undefined : scale?.xs[index];
    tip.hidden = x === undefined;
    line.classList.toggle('there', x !== undefined);
    if (scale === undefined || index === null || x === undefined) return;
    for (const name of ['x1', 'x2']) line.setAttribute(name, String(x));
    fillTip(tip, latest, { scale, index, hidden, pointer: { top, chosen } });
    placeTip(tip, x, drawing.clientWidth);
  };
  const draw = () => {
    const width = drawing.clientWidth;
    if (width === 0) return;
    const scale = scaleOf(latest, { width, isLog, hidden });
    shown = { options: latest, hidden, scale };
    const { top, height } = scale.area;
    line.setAttribute('y1', String(top));
    line.setAttribute('y2', String(top + height));
    const drawn = drawPlot(latest, scale, { width, hidden });
    drawn.append(line);
    replace(drawing, drawn);
    latest.onDrawn?.(scale);
    show();
  };
  const parts = { now: () => shown, cursor, spoken, show };
  listenToKeys(drawing, parts);
  listenToPointer(drawing, parts);
  const sizes = new ResizeObserver(draw);
  sizes.observe(drawing);
  signal.addEventListener('abort', () => sizes.disconnect());
  const isShown = (_line: Line, place: number) => !hidden.has(place);
  const save = svgButton(label, () => ({ drawing, lines: latest.lines.filter(isShown) }));
  const values = valueFold(() => latest);
  element.append(h('div.exports', values.element, save));
  return {
    element,
    setVisible(place, isVisible) {
      if (isVisible) hidden.delete(place);
      else hidden.add(place);
      kept.hidden.write([...hidden].map((own) => latest.lines[own]?.label));
      draw();
    },
    isVisible: (place) => !hidden.has(place),
    isLog: () => isLog,
    setLog(wanted) {
      isLog = wanted;
      kept.isLog.write(isLog);
      draw();
    },
    update(dates, lines) {
      latest = { ...latest, dates, lines };
      values.update();
      draw();
    },
  };
}

/** The values as a table, made when the reader unfolds it, for those who cannot see the plot. */
function valueFold(now: () => PlotOptions): Live<void> {
  const place = h('div');
  const update = () => replace(place, element.open && valueTable(now()));
  const summary = h('summary', 'Values as a table');
  const element: HTMLDetailsElement = on(h('details.fold', summary, place), 'toggle', update);
  return { element, update };
}

function frame({
  label,
  height,
  onOpen,
}: PlotOptions): Record<'element' | 'drawing' | 'tip' | 'spoken', HTMLElement> {
  const tip = h('div.tip', { hidden: true });
  const spoken = h('div.unseen', { role: 'status' });
  const drawing = h('div.drawing', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'plot',
    'aria-label': `${label}. ${KEYS}${onOpen === undefined ? '' : ', Enter opens a day'}.`,
  });
  drawing.style.setProperty('height', `${height}px`);
  return { element: h('div.plot', drawing, tip, spoken), drawing, tip, spoken };
}

/** Later values of the same lines put the names into another order. */
interface Legend extends Live<readonly Line[]> {
  /** Moves the names to the ends of their lines, in a plot as it is drawn now. */
  place(scale: Scale): void;
}

/** In pixels, between the names at the ends of the lines. */
const LEGEND_ROW = 24;

/**
 * The names of the lines, highest last value first, with words such as their return; each hides and
 * shows its own. In a wide window the style sheet puts them where `place` says, at the right ends of
 * the lines, if a plot of this height has room for all.
 */
export function legend(
  plot: Plot,
  lines: readonly Line[],
  { wordsOf, height = 0 }: { wordsOf?: (line: Line) => string; height?: number } = {},
): Legend {
  const words = lines.map(() => h('b'));
  const items = lines.map((line, place) => {
    const attributes = {
      class: 'legend',
      'aria-pressed': String(plot.isVisible(place)),
      title: `Hide or show ${line.label}`,
    };
    const parts = [swatch(line), h('span', line.label), wordsOf !== undefined && words[place]];
    return h(
      'li',
      toggle(parts, (isShown) => plot.setVisible(place, isShown), attributes),
    );
  });
  const element = h('ul.legends', { 'aria-label': 'Lines of the plot' });
  // From the start, so that nothing moves when the plot is drawn.
  element.classList.toggle('ends', items.length * LEGEND_ROW <= height - AXIS_HEIGHT - LEGEND_ROW);
  let order: number[] = [];
  let shown = lines;
  const update = (later: readonly Line[]) => {
    shown = later;
    later.forEach((line, place) => words[place]?.replaceChildren(wordsOf?.(line) ?? ''));
    const next = rankOrder(later);
    if (next.join() === order.join()) return;
    order = next;
    const focused = document.activeElement;
    element.append(...order.flatMap((place) => items[place] ?? []));
    if (focused instanceof HTMLElement && element.contains(focused))
      focused.focus({ preventScroll: true });
  };
  update(lines);
  const place = ({ y, area }: Scale) => {
    element.classList.add('placed');
    const wanted = order.map((line) => y(lastOf(shown[line])) || 0);
    spreadOut(wanted, { gap: LEGEND_ROW, height: area.top + area.height }).forEach((top, rank) =>
      items[order[rank] ?? 0]?.style.setProperty('--y', `${Math.round(top)}px`),
    );
  };
  return { element, update, place };
}

function lastOf(line: Line | undefined): number {
  return line?.values.findLast((value) => value !== null) ?? 0;
}

/**
 * Heights from the top, in order, at least a gap apart and within the height, each as near to where
 * it is wanted as those before it leave.
 */
export function spreadOut(
  wanted: readonly number[],
  { gap, height }: { gap: number; height: number },
): number[] {
  let free = 0;
  const down = wanted.map((y) => {
    const own = Math.max(free, y);
    free = own + gap;
    return own;
  });
  let floor = height;
  return down
    .toReversed()
    .map((y) => {
      const own = Math.min(floor, y);
      floor = own - gap;
      return own;
    })
    .reverse();
}

function valueTable({ label, dates, lines, format }: PlotOptions): HTMLElement {
  return table({
    caption: label,
    rows: [...dates.keys()].reverse(),
    most: 20,
    columns: [
      { ...dateColumn('Date', (index: number) => dates[index] ?? null), isName: true },
      ...lines.map(({ label: title, values }) =>
        numberColumn(title, (index: number) => values[index] ?? null, format),
      ),
    ],
  });
}
