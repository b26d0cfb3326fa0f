import { type Cell, csvLine } from '#text/csv.ts';
import { setAttributes, svg } from './element.ts';
import { type Look, swatch } from './look.ts';
import { button } from './ui.ts';

/** Files that the browser makes of what a page shows, without a request. */

/** A button that saves a table as CSV; the table is made when the button is pressed. */
export function csvButton(caption: string, sheet: () => Sheet): HTMLButtonElement {
  const save = () =>
    saveFile(`${fileName(caption)}.csv`, new Blob([sheetCsv(sheet())], { type: 'text/csv' }));
  return button('CSV', save, { class: 'export', 'aria-label': `${caption} as CSV` });
}

/** A plot, for a file: its drawing on the page, and the lines that its legend names. */
interface DrawnPlot {
  drawing: Element;
  lines: readonly (Look & { label: string })[];
}

/** A button that saves a plot as it looks now, with its title and its legend, as SVG. */
export function svgButton(caption: string, drawn: () => DrawnPlot): HTMLButtonElement {
  const save = () => {
    const text = standaloneSvg(caption, drawn());
    if (text !== null)
      saveFile(`${fileName(caption)}.svg`, new Blob([text], { type: 'image/svg+xml' }));
  };
  return button('SVG', save, { class: 'export', 'aria-label': `${caption} as SVG` });
}

/**
 * Safari reads what it saves only some time after the click, so that a file stays in memory until
 * then.
 */
const KEPT_MS = 60_000;

/** Saves a file to the reader's disk. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

/** A table for a file: its columns, and a cell per column in each row. */
export interface Sheet {
  columns: readonly string[];
  rows: Iterable<readonly Cell[]>;
}

/** Excel takes a file without it for one in an old encoding. */
const BYTE_ORDER_MARK = '\ufeff';
const MAX_NAME_LENGTH = 60;

/** The text of a table as a CSV file. */
export function sheetCsv({ columns, rows }: Sheet): string {
  const lines = [csvLine(columns)];
  for (const row of rows) lines.push(csvLine(row));
  return BYTE_ORDER_MARK + lines.join('');
}

/** A caption as the name of a file: letters and digits of any script, joined by hyphens. */
export function fileName(caption: string): string {
  const words = caption.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? ['table'];
  return [...words.join('-')].slice(0, MAX_NAME_LENGTH).join('');
}

/** Layout of a saved plot, in pixels. */
const PADDING = 16;
const TITLE = 28;
const ROW = 22;
const SWATCH = 38;
/** CSS properties that a saved drawing takes along. */
const STYLE_PROPERTIES = [
  ...['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity'],
  ...['opacity', 'font-size', 'font-family', 'font-weight', 'text-anchor', 'display'],
];

/**
 * The drawing as a file of its own, below its title and its legend, with all that it gets from the
 * style sheet of the page; null before it is drawn.
 */
function standaloneSvg(title: string, { drawing, lines }: DrawnPlot): string | null {
  const plot = drawing.querySelector('svg')?.cloneNode(true);
  if (!(plot instanceof SVGSVGElement)) return null;
  const { width, height } = plot.viewBox.baseVal;
  plot.querySelector('.cursor')?.remove();
  const top = PADDING + TITLE + lines.length * ROW;
  setAttributes(plot, { x: PADDING, y: top, class: null });
  const legend = lines.map((line, place) => {
    const name = svg('text', { class: 'name', x: SWATCH, y: 9 }, line.label);
    const y = PADDING + TITLE + place * ROW;
    return svg('g', { transform: `translate(${PADDING} ${y})` }, swatch(line), name);
  });
  const size = { width: width + 2 * PADDING, height: top + height + PADDING };
  const whole = svg(
    'svg',
    { class: 'saved', ...size, viewBox: `0 0 ${size.width} ${size.height}` },
    svg('rect', { class: 'ground', width: '100%', height: '100%' }),
    svg('text', { class: 'title', x: PADDING, y: PADDING + 12 }, title),
    ...legend,
    plot,
  );
  drawing.append(whole); // only what is in the page has its looks
  const parts = [whole, ...whole.querySelectorAll('*')];
  for (const part of parts) {
    const style = getComputedStyle(part);
    for (const name of STYLE_PROPERTIES) part.setAttribute(name, style.getPropertyValue(name));
  }
  whole.remove();
  for (const part of parts) part.removeAttribute('class');
  return new XMLSerializer().serializeToString(whole);
}
