import { h, on, replace } from '../element.ts';
import { pngButton } from '../save.ts';
import { numberColumn, table, textColumn } from '../table.ts';
import type { PlotOptions } from './lines.ts';

/**
 * A plot's values as a table, for readers who cannot see it, and for a file; and the plot as a
 * picture.
 */

/** Rows at first; the reader may ask for more. */
const ROWS = 20;

interface Exports {
  element: HTMLElement;
  /** Shows later values. */
  update(): void;
}

/** The exports of a plot; `shown` returns what it shows now. */
export function plotExports(canvas: HTMLElement, shown: () => PlotOptions): Exports {
  return drawingExports(canvas, shown().label, () => valueTable(shown()));
}

/** For any drawing, given the table of its values, which is made when it is unfolded. */
export function drawingExports(
  drawing: Element,
  label: string,
  values: () => HTMLElement,
): Exports {
  const place = h('div');
  const update = () => replace(place, fold.open && values());
  const fold: HTMLDetailsElement = on(
    h('details.fold', h('summary', 'Values as a table'), place),
    'toggle',
    update,
  );
  return {
    element: h(
      'div.exports',
      fold,
      pngButton(label, () => drawing),
    ),
    update,
  };
}

function valueTable({ label, dates, lines, format }: PlotOptions): HTMLElement {
  const columns = lines.map((line) =>
    numberColumn<number>(line.label, (index) => line.values[index] ?? null, format),
  );
  return table<number>({
    caption: label,
    rows: [...dates.keys()].reverse(),
    most: ROWS,
    columns: [textColumn('Date', (index) => dates[index] ?? null, { isName: true }), ...columns],
  });
}
