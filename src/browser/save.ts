import { type Cell, csvLine } from '../basics/csv.ts';
import { button } from './ui.ts';

/** Files that the browser makes of what a page shows, without a request. */

/** A button that saves a table as CSV; the table is made when the button is pressed. */
export function csvButton(caption: string, sheet: () => Sheet): HTMLButtonElement {
  const save = () =>
    saveFile(`${fileName(caption)}.csv`, new Blob([csvOf(sheet())], { type: 'text/csv' }));
  return button('CSV', save, { class: 'export', 'aria-label': `${caption} as CSV` });
}

/** A button that saves a plot as it looks now, below its heading and its legend, as PNG. */
export function pngButton(caption: string, plot: () => Element): HTMLButtonElement {
  const save = async () => {
    const parts = withWords(plot());
    for (const part of parts) part.classList.add('whole'); // a long legend scrolls on the screen
    const picture = await pictureOf(parts).finally(() =>
      parts.forEach((part) => part.classList.remove('whole')),
    );
    saveFile(`${fileName(caption)}.png`, picture);
  };
  return button('PNG', () => void save(), { class: 'export', 'aria-label': `${caption} as PNG` });
}

function withWords(plot: Element): Element[] {
  const home = plot.closest('.two > *, section') ?? plot;
  const words = [home.querySelector('h2, h3'), home.querySelector('.legends, .key-line, .key')];
  return [...words, plot].filter((part) => part !== null);
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
export function csvOf({ columns, rows }: Sheet): string {
  const lines = [csvLine(columns)];
  for (const row of rows) lines.push(csvLine(row));
  return BYTE_ORDER_MARK + lines.join('');
}

/** A caption as the name of a file: letters and digits of any script, joined by hyphens. */
export function fileName(caption: string): string {
  const words = caption.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? ['table'];
  return [...words.join('-')].slice(0, MAX_NAME_LENGTH).join('');
}

const PADDING = 16;
const GAP = 8;
const SIZE = 16_384;
/** What has a meaning only on the screen. */
const LEFT_OUT = '.export, .tools, .tip, .unseen, details:not([open]) > :not(summary)';
/** What a drawing gets from the style sheet. */
const DRAWN = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
  'display',
  'overflow',
];

type Ink = CanvasRenderingContext2D;

/**
 * The elements as they look on the screen, one below the other on the page's ground, as PNG: their
 * text, borders, grounds, drawings and canvases.
 */
async function pictureOf(parts: readonly Element[]): Promise<Blob> {
  const sizes = parts.map((part) => part.getBoundingClientRect());
  const width = sizes.reduce((most, size) => Math.max(most, size.width), 0) + 2 * PADDING;
  const height = sizes.reduce((sum, size) => sum + size.height + GAP, 2 * PADDING - GAP);
  const scale = Math.min(devicePixelRatio, SIZE / width, SIZE / height);
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  const ink = canvas.getContext('2d');
  if (ink === null) throw new Error('Cannot draw a picture: the browser has no canvas');
  ink.scale(scale, scale);
  ink.fillStyle = getComputedStyle(parts[0]?.closest('section') ?? document.body).backgroundColor;
  ink.fillRect(0, 0, width, height);
  let top = PADDING;
  for (const part of parts) {
    const box = part.getBoundingClientRect();
    ink.save();
    ink.translate(PADDING - Math.round(box.left), Math.round(top) - Math.round(box.top));
    await draw(ink, part);
    ink.restore();
    top += box.height + GAP;
  }
  const { promise, resolve, reject } = Promise.withResolvers<Blob>();
  canvas.toBlob((blob) =>
    blob === null ? reject(new Error('Cannot draw a picture: it is too large')) : resolve(blob),
  );
  return promise;
}

/** Draws an element and what is in it, in pixels of the window. */
async function draw(ink: Ink, element: Element): Promise<void> {
  if (element.matches(LEFT_OUT) || !element.checkVisibility()) return;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (element instanceof HTMLCanvasElement)
    return ink.drawImage(element, Math.round(box.left), Math.round(box.top), box.width, box.height);
  if (element instanceof SVGSVGElement) return drawSvg(ink, element, box);
  drawBox(ink, box, style);
  ink.save();
  if (style.overflowX !== 'visible') {
    ink.beginPath();
    ink.rect(box.left, box.top, box.width, box.height);
    ink.clip();
  }
  ink.globalAlpha *= Number(style.opacity);
  for (const child of element.childNodes) {
    if (child instanceof Text) drawText(ink, child, style);
    else if (child instanceof Element) await draw(ink, child);
  }
  ink.restore();
}

function drawBox(
  ink: Ink,
  { left, top, width, height }: DOMRect,
  style: CSSStyleDeclaration,
): void {
  ink.fillStyle = style.backgroundColor;
  ink.fillRect(left, top, width, height);
  const edges = [
    ['top', left, top, width, 0],
    ['right', left + width, top, 0, height],
    ['bottom', left, top + height, width, 0],
    ['left', left, top, 0, height],
  ] as const;
  for (const [side, x, y, across, down] of edges) {
    const thickness = parseFloat(style.getPropertyValue(`border-${side}-width`));
    if (thickness === 0 || style.getPropertyValue(`border-${side}-style`) === 'none') continue;
    ink.fillStyle = style.getPropertyValue(`border-${side}-color`);
    const [back, up] = [side === 'right' ? thickness : 0, side === 'bottom' ? thickness : 0];
    ink.fillRect(x - back, y - up, across || thickness, down || thickness);
  }
}

/** Text is drawn line by line, because the canvas does not break lines. */
function drawText(ink: Ink, node: Text, style: CSSStyleDeclaration): void {
  if (node.data.trim() === '') return;
  ink.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  ink.fillStyle = style.color;
  ink.textBaseline = 'middle';
  for (const { text, box } of linesOf(node)) {
    ink.fillText(text, box.left, box.top + box.height / 2);
    const isStruck = node.parentElement?.closest('[aria-pressed=false]');
    if (isStruck) ink.fillRect(box.left, box.top + box.height / 2, box.width, 1);
  }
}

/** The lines into which the browser has broken a text, each with its place. */
function linesOf(node: Text): { text: string; box: DOMRect }[] {
  const range = document.createRange();
  const lines: { text: string; box: DOMRect }[] = [];
  let start = 0;
  const placeOf = (from: number, to: number) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return range.getBoundingClientRect();
  };
  const close = (end: number) => {
    const line = node.data.slice(start, end);
    const text = line.trim();
    const first = start + line.length - line.trimStart().length;
    if (text !== '')
      lines.push({ text: text.replace(/\s+/g, ' '), box: placeOf(first, first + text.length) });
    start = end;
  };
  range.selectNodeContents(node);
  if (range.getClientRects().length > 1) {
    let top = -Infinity;
    for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
      const box = placeOf(index, index + word.length);
      if (box.top > top + 2 && start !== index) close(index);
      top = box.top;
    }
  }
  close(node.data.length);
  return lines;
}

/** A copy of the drawing that carries its looks with it, as an image. */
async function drawSvg(ink: Ink, drawing: SVGSVGElement, box: DOMRect): Promise<void> {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const originals = [drawing, ...drawing.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((part, index) => {
    const style = getComputedStyle(originals[index] ?? drawing);
    for (const name of DRAWN) part.setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute('width', String(box.width));
  copy.setAttribute('height', String(box.height));
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  ink.drawImage(image, box.left, box.top, box.width, box.height);
}
