import { asArray } from '../../basics/json.ts';
import { h, type Live, on, replace, setAttributes, svg } from '../element.ts';
import { keep } from '../history.ts';
import { svgButton } from '../save.ts';
import { dateColumn, numberColumn, table } from '../table.ts';
import { drawPlot, scaleOf } from './drawing.ts';
import type { Line, PlotOptions } from './lines.ts';
import {
  type Cursor,
  KEYS,
  type Shown,
  fillTip,
  listenToKeys,
  listenToPointer,
  placeTip,
} from './reading.ts';

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
  const cursor: Cursor = { index: null, chosen: null };
  const line = svg('line', { class: 'cursor' });
  const show = () => {
    const { index, chosen } = cursor;
    const x = index === null ? undefined : shown?.scale.xs[index];
    tip.hidden = x === undefined;
    line.classList.toggle('there', x !== undefined);
    if (shown === null || index === null || x === undefined) return;
    setAttributes(line, { x1: x, x2: x });
    fillTip(tip, shown, { index, chosen });
    placeTip(tip, x, drawing.clientWidth);
  };
  const draw = () => {
    const width = drawing.clientWidth;
    if (width === 0) return;
    const scale = scaleOf(latest, { width, isLog, hidden });
    shown = { options: latest, hidden, scale };
    const { top, height } = scale.area;
    setAttributes(line, { y1: top, y2: top + height });
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
