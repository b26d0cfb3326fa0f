import type uPlot from 'uplot';
import { on } from '../element.ts';
import { type DrawnLine, lineAt } from './choosing.ts';
import { type PlotOptions, isOpenable } from './lines.ts';

/** A plot as it is now. */
export interface Shown {
  plot: uPlot | null;
  options: PlotOptions;
  hidden: ReadonlySet<number>;
}

/** A click on a curve opens the day under the pointer; over a curve the pointer says so. */
export function openOnClick(canvas: HTMLElement, shown: () => Shown): void {
  const dayAt = (event: MouseEvent) => {
    const { plot, options, hidden } = shown();
    if (plot === null || options.onOpen === undefined) return null;
    if (!(event.target instanceof Node && plot.over.contains(event.target))) return null;
    const { left, top } = plot.over.getBoundingClientRect();
    const found = lineAt(drawnLines(plot, options, hidden), {
      x: event.clientX - left,
      y: event.clientY - top,
    });
    return found === null ? null : openerOf(options, found.line, found.index);
  };
  on(canvas, 'click', (event) => dayAt(event)?.());
  on(canvas, 'pointermove', (event) => {
    shown().plot?.over.classList.toggle('on-curve', dayAt(event) !== null);
  });
}

/** Opens the day of a line at a place of the dates; null where there is no day. */
export function openerOf(options: PlotOptions, line: number, index: number): (() => void) | null {
  const { lines, dates, onOpen, hasStart = false } = options;
  const [chosen, date] = [lines[line], dates[index]];
  const isDay =
    chosen !== undefined &&
    isOpenable(chosen) &&
    chosen.values[index] != null &&
    !(hasStart && index === 0);
  if (!isDay || date === undefined || onOpen === undefined) return null;
  return () => onOpen(chosen.label, date);
}

/** The place of the line whose days can be opened, if there is only one; -1 otherwise. */
export function soleLine({ lines }: PlotOptions): number {
  const openable = [...lines.keys()].filter(
    (place) => lines[place] !== undefined && isOpenable(lines[place]),
  );
  return openable.length === 1 ? (openable[0] ?? -1) : -1;
}

/** The lines that can be opened, in pixels of the drawing area. */
function drawnLines(
  plot: uPlot,
  { lines, dates }: PlotOptions,
  hidden: ReadonlySet<number>,
): DrawnLine[] {
  const xs = dates.map((_date, index) => plot.valToPos(plot.data[0][index] ?? 0, 'x'));
  return lines.flatMap((line, place): DrawnLine[] => {
    if (hidden.has(place) || !isOpenable(line)) return [];
    const points = line.values.flatMap((value, index) =>
      value === null ? [] : [{ index, x: xs[index] ?? 0, y: plot.valToPos(value, 'y') }],
    );
    return [{ line: place, points }];
  });
}
