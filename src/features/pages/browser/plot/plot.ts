import { asArray } from '#json/json.ts';
import { h, type LiveView, on, replace, setAttributes, svg } from '../element.ts';
import { historyValue } from '../history.ts';
import { svgButton } from '../save.ts';
import { dateColumn, numberColumn, table } from '../table.ts';
import { drawPlot, createScale } from './drawing.ts';
import { type Line, type PlotOptions, isOpenable } from './lines.ts';
import { MISSING, wholeNumber, longDate } from '../format.ts';
import { fold } from '../ui.ts';
import { swatch } from '../look.ts';
import type { Scale } from './scale.ts';

/**
 * How a reader reads a plot and opens its days, by mouse and by keyboard: the values at the cursor,
 * beside it and in words.
 */

/** A plot as it is drawn now. */
interface PlotState {
  options: PlotOptions;
  hidden: ReadonlySet<number>;
  scale: Scale;
}

/** Where the reader is: a place of the dates, and one of the lines. */
interface Cursor {
  index: number | null;
  chosen: number | null;
}

interface LineValue {
  /** Its place among the lines. */
  place: number;
  line: Line;
  value: number;
}

/** The values of the shown lines on one date, highest first. */
function valuesAt({ options, hidden }: PlotState, index: number): LineValue[] {
  return options.lines
    .flatMap((line, place) => {
      const value = line.values[index] ?? null;
      return value === null || hidden.has(place) ? [] : [{ place, line, value }];
    })
    .sort((one, other) => other.value - one.value);
}

interface PlotParts {
  /** Null before the plot is drawn. */
  now: () => PlotState | null;
  cursor: Cursor;
  spoken: HTMLElement;
  /** Shows the values at the cursor, or nothing where it is nowhere. */
  show: () => void;
}

/** The pointer reads the values of the nearest date; a click on a curve opens the day there. */
function listenToPointer(drawing: HTMLElement, { now, cursor, show }: PlotParts): void {
  const follow = (event: MouseEvent) => {
    const shown = now();
    if (shown === null) return null;
    const { left, top } = drawing.getBoundingClientRect();
    const index = nearestDate(shown.scale.xs, event.clientX - left);
    const chosen = index === null ? null : nearestLine(shown, index, event.clientY - top);
    const open = dayOpener(shown, { index, chosen });
    if (index !== cursor.index || chosen !== cursor.chosen) {
      Object.assign(cursor, { index, chosen });
      drawing.classList.toggle('on-curve', open !== null);
      show();
    }
    return open;
  };
  on(drawing, 'pointermove', follow);
  on(drawing, 'click', (event) => follow(event)?.());
}

function hideOnLeave(drawing: HTMLElement, { cursor, show }: PlotParts): void {
  const leave = () => {
    Object.assign(cursor, { index: null, chosen: null });
    drawing.classList.remove('on-curve');
    show();
  };
  on(on(drawing, 'pointerleave', leave), 'blur', leave);
}

/** The place of the date nearest to a point; null without dates. */
export function nearestDate(xs: readonly number[], x: number): number | null {
  if (xs.length === 0) return null;
  const right = xs.findIndex((own) => own >= x);
  if (right <= 0) return right === 0 ? 0 : xs.length - 1;
  return x - (xs[right - 1] ?? 0) < (xs[right] ?? 0) - x ? right - 1 : right;
}

/** In pixels: how far from a value the pointer may be. */
const REACH = 24;

/** The line whose value on a date is nearest to a height, if one is within reach. */
export function nearestLine(shown: PlotState, index: number, top: number): number | null {
  const [nearest] = valuesAt(shown, index)
    .map(({ place, value }) => ({ place, distance: Math.abs(shown.scale.y(value) - top) }))
    .sort((one, other) => one.distance - other.distance);
  return nearest === undefined || nearest.distance > REACH ? null : nearest.place;
}

/** Opens the day at the cursor; null where there is none, as at the start. */
function dayOpener({ options }: PlotState, { index, chosen }: Cursor): (() => void) | null {
  const { lines, dates, onOpen } = options;
  const [line, date] = [lines[chosen ?? -1], dates[index || -1]];
  const isDay = line !== undefined && isOpenable(line) && line.values[index ?? -1] != null;
  if (!isDay || date === undefined || onOpen === undefined) return null;
  return () => onOpen(line.label, date);
}

/**
 * The line that up or down choose, of those that have a value (highest first); any other key leaves
 * the choice.
 */
export function nextLine(
  places: readonly number[],
  chosen: number | null,
  key: string,
): number | null {
  if (key === 'Escape') return null;
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return chosen;
  const at = chosen === null ? -1 : places.indexOf(chosen);
  const next = key === 'ArrowDown' ? at + 1 : at === -1 ? places.length - 1 : at - 1;
  return places[Math.max(0, Math.min(places.length - 1, next))] ?? null;
}

/** What the keys do, for screen readers. */
const KEYS = 'Left and right read the values, up and down choose a line';

/**
 * Says the values at the cursor after each key; Enter opens the day of the chosen line, or of the
 * highest one that has days.
 */
function listenToKeys(drawing: HTMLElement, { now, cursor, spoken, show }: PlotParts): void {
  on(drawing, 'keydown', (event) => {
    const shown = now();
    if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = cursor.index ?? -1;
    const rows = valuesAt(shown, at);
    if (event.key === 'Enter') {
      const first = rows.find(({ line }) => isOpenable(line))?.place ?? null;
      return dayOpener(shown, { index: at, chosen: cursor.chosen ?? first })?.();
    }
    const last = shown.options.dates.length - 1;
    const places: Record<string, number> = {
      ArrowLeft: Math.max(0, at - 1),
      ArrowRight: Math.min(last, at + 1),
      Home: 0,
      End: last,
    };
    const place = places[event.key];
    const lines = rows.map((row) => row.place);
    const chosen = nextLine(lines, cursor.chosen, event.key);
    if (place === undefined && chosen === cursor.chosen) return;
    event.preventDefault();
    const index = place ?? cursor.index;
    Object.assign(cursor, { index, chosen });
    show();
    if (index !== null) replace(spoken, spokenValues(shown, index, chosen));
  });
}

/** Readers compare few values at once, and the tip is to be no taller than its plot. */
const MAX_TIP_ROWS = 10;

/** Where the rows of the tip begin: of many it shows those around the chosen one. */
export function firstTipRow(rows: number, rank: number): number {
  return Math.max(0, Math.min(rank - MAX_TIP_ROWS / 2, rows - MAX_TIP_ROWS));
}

/** Shows the values of one date, highest first. */
function fillTip(
  tip: HTMLElement,
  shown: PlotState,
  { index, chosen }: Cursor & { index: number },
): void {
  const rows = valuesAt(shown, index);
  const rank = rows.findIndex(({ place }) => place === chosen);
  const from = firstTipRow(rows.length, rank);
  const cells = rows.slice(from, from + MAX_TIP_ROWS).map(({ place, line, value }) => {
    const name = h('th', { scope: 'row' }, swatch(line), line.label);
    const words = h('td', shown.options.format(value));
    return h('tr', { class: place === chosen && 'chosen' }, name, words);
  });
  const more = rows.length - cells.length;
  const rest = more > 0 && h('tr', h('th', { colspan: 2 }, `and ${wholeNumber(more)} more`));
  replace(tip, h('p', dateText(shown, index)), h('table', h('tbody', ...cells, rest)));
}

function dateText({ options }: PlotState, index: number): string {
  return index === 0 ? 'Start' : longDate(options.dates[index] ?? '');
}

/** The same in words, for screen readers; with a chosen line only its value. */
function spokenValues(shown: PlotState, index: number, chosen: number | null): string {
  const rows = valuesAt(shown, index);
  const rank = rows.findIndex(({ place }) => place === chosen);
  const values = (rank === -1 ? rows : rows.slice(rank, rank + 1)).map(
    ({ line, value }) => `${line.label} ${shown.options.format(value)}`,
  );
  const which = rank === -1 ? '' : `, number ${rank + 1} of ${rows.length}`;
  return `${dateText(shown, index)}: ${values.join(', ') || MISSING}${which}`;
}

/** Moves the tip beside the cursor, to the side with room. */
function placeTip(tip: HTMLElement, x: number, width: number): void {
  const gap = 14;
  const left =
    x + gap + tip.offsetWidth <= width ? x + gap : Math.max(0, x - gap - tip.offsetWidth);
  tip.style.setProperty('transform', `translate(${Math.round(left)}px, 8px)`);
}

/** A plot on a page. */
export type Plot = ReturnType<typeof createPlot>;

/**
 * A plot of values over session dates, which are read with the pointer or the keyboard. When the
 * reader comes back to the page, the same lines are hidden and the scale is the same. `update` shows
 * later values of the same lines; hidden lines stay hidden.
 */
export function createPlot(options: PlotOptions, signal: AbortSignal) {
  const kept = plotHistory(options);
  const names = asArray(kept.hidden.read()) ?? [];
  const hidden = new Set(
    options.lines.flatMap((line, place) => (names.includes(line.label) ? [place] : [])),
  );
  let isLog = kept.isLog.read() === true;
  let shown: PlotState | null = null;
  let latest = options;
  const { element, drawing, tip, spoken } = createFrame(options);
  const cursor: Cursor = { index: null, chosen: null };
  const cursorLine = svg('line', { class: 'cursor' });
  const show = () => {
    const { index, chosen } = cursor;
    const x = index === null ? undefined : shown?.scale.xs[index];
    tip.hidden = x === undefined;
    cursorLine.classList.toggle('there', x !== undefined);
    if (shown === null || index === null || x === undefined) return;
    setAttributes(cursorLine, { x1: x, x2: x });
    fillTip(tip, shown, { index, chosen });
    placeTip(tip, x, drawing.clientWidth);
  };
  const visibleLines = () => latest.lines.filter((_line, place) => !hidden.has(place));
  const draw = () => {
    const width = drawing.clientWidth;
    if (width === 0) return;
    const visible = { ...latest, lines: visibleLines() };
    const scale = createScale(visible, { width, isLog });
    shown = { options: latest, hidden, scale };
    const { top, height } = scale.area;
    setAttributes(cursorLine, { y1: top, y2: top + height });
    const drawn = drawPlot(visible, scale, width);
    drawn.append(cursorLine);
    replace(drawing, drawn);
    latest.onDrawn?.(scale);
    show();
  };
  const parts = { now: () => shown, cursor, spoken, show };
  listenToKeys(drawing, parts);
  listenToPointer(drawing, parts);
  hideOnLeave(drawing, parts);
  const sizes = new ResizeObserver(draw);
  sizes.observe(drawing);
  signal.addEventListener('abort', () => sizes.disconnect());
  const save = svgButton(options.label, () => ({ drawing, lines: visibleLines() }));
  const values = valueFold(() => latest);
  element.append(h('div.exports', values.element, save));
  return {
    element,
    setVisible(place: number, isVisible: boolean) {
      if (isVisible) hidden.delete(place);
      else hidden.add(place);
      kept.hidden.write([...hidden].map((own) => latest.lines[own]?.label));
      draw();
    },
    isVisible: (place: number) => !hidden.has(place),
    isLog: () => isLog,
    setLog(wanted: boolean) {
      isLog = wanted;
      kept.isLog.write(isLog);
      draw();
    },
    update(dates: readonly string[], lines: readonly Line[]) {
      latest = { ...latest, dates, lines };
      values.update();
      draw();
    },
  };
}

/** What a reader chose, kept for when they come back to the page. */
function plotHistory({ label, historyKey = label }: PlotOptions) {
  return { hidden: historyValue(`hidden ${historyKey}`), isLog: historyValue(`log ${historyKey}`) };
}

/** The values as a table, made when the reader unfolds it, for those who cannot see the plot. */
function valueFold(now: () => PlotOptions): LiveView<void> {
  const place = h('div');
  const update = () => replace(place, element.open && valueTable(now()));
  const element: HTMLDetailsElement = on(fold('Values as a table', place), 'toggle', update);
  return { element, update };
}

function createFrame({ label, height, onOpen }: PlotOptions) {
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

function valueTable({ label, dates, lines, format }: PlotOptions): HTMLElement {
  return table({
    caption: label,
    rows: [...dates.keys()].reverse(),
    limit: 20,
    columns: [
      { ...dateColumn('Date', (index: number) => dates[index] ?? null), isName: true },
      ...lines.map(({ label: title, values }) =>
        numberColumn(title, (index: number) => values[index] ?? null, format),
      ),
    ],
  });
}
