import { parseRun } from '#domain/runs.ts';
import { h, replace, setAttributes, svg } from './element.ts';
import type { KnownModels } from '../responses.ts';
import { button } from './ui.ts';

/**
 * How readers recognise a line, in the plot and wherever its model is named: by colour and dash.
 * They follow from the order in which jobs first named the entries, so that the first ten
 * never share a colour, and a name looks the same on every page.
 */
export interface Look {
  /** The class of the style sheet that gives the colour. */
  colour: string;
  /** Lengths of strokes and gaps in pixels; undefined for a solid line. */
  dash?: readonly number[] | undefined;
}

const COLOURS = 10;
const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [9, 4],
  [2, 3],
  [9, 3, 2, 3],
  [5, 2, 5, 8],
];

/** The benchmark is not a model: it has a colour of its own. */
export const BENCHMARK_LOOK: Look = { colour: 'benchmark', dash: [4, 4] };

/** Which entry a name belongs to, counted in the order of the database, and which run of it. */
interface Place {
  order: number;
  run: number;
}

const places = new Map<string, Place>();
const agents = new Set<string>();
let next = 0;

/** Takes the order of the entries from what the service knows, for every page of this tab. */
export function learnOrder(models: KnownModels['models']): void {
  for (const { signature, family, order, entry } of models) {
    if (entry?.kind === 'agent') agents.add(signature).add(family);
    if (order === null) continue;
    places.set(signature, { order, run: splitName(signature).run });
    places.set(family, { order, run: 1 });
    next = Math.max(next, order + 1);
  }
}

/** What makes a figure of an agent another kind of figure. */
export const OUTSIDE = {
  words: 'outside agent',
  reason: 'It has a network of its own: nothing here keeps it from looking up the future',
};

/** Beside the name of an agent; null beside others. */
export function outsideMark(model: string): HTMLElement | null {
  return agents.has(model)
    ? h('small.caveat', { title: OUTSIDE.reason }, ` ${OUTSIDE.words}`)
    : null;
}

/** In which respects a model is not like most others: in a few words, and in sentences. */
export function incomparableMark(respects: readonly { kind: string; reason: string }[]) {
  const kinds = respects.map(({ kind }) => kind.replaceAll('_', ' ')).join(', ');
  return {
    words: `not comparable: ${kinds}`,
    reason: respects.map(({ reason }) => reason).join('. '),
  };
}

function splitName(name: string) {
  return parseRun(name) ?? { family: name, run: 1 };
}

/** An entry that is not known yet comes after all that are. */
function placeOf(name: string): Place {
  const known = places.get(name);
  if (known !== undefined) return known;
  const { family, run } = splitName(name);
  const { order } = places.get(family) ?? { order: next };
  next = Math.max(next, order + 1);
  places.set(family, { order, run: 1 });
  return { order, run };
}

/**
 * The look of a name, the same on every page. The first ten entries differ by colour and are solid,
 * the next ten are dashed, and so on. A run has the colour of its entry and the next dash.
 */
export function lookOf(name: string): Look {
  const { order, run } = placeOf(name);
  const dash = DASHES[(Math.floor(order / COLOURS) + run - 1) % DASHES.length];
  return { colour: `series-${order % COLOURS}`, dash };
}

/** In pixels; long enough for a whole period of every dash. */
const [WIDTH, HEIGHT] = [30, 10];

/** A short piece of a line with its colour and dash, to show beside its name. */
export function swatch({ colour, dash }: Look): SVGElement {
  const middle = HEIGHT / 2;
  const box = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` };
  return svg(
    'svg',
    { class: `swatch ${colour}`, 'aria-hidden': 'true', ...box },
    svg('line', { x1: 0, x2: WIDTH, y1: middle, y2: middle, 'stroke-dasharray': dash?.join(' ') }),
  );
}

const STORED_AS = 'theme';
const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

function storedTheme(): Theme {
  const name = localStorage.getItem(STORED_AS);
  return themes.find((theme) => theme === name) ?? 'auto';
}

function apply(theme: Theme): void {
  setAttributes(document.documentElement, { 'data-theme': theme === 'auto' ? null : theme });
}

/** A button that cycles through the themes: the system's, light, dark. */
export function themeSwitch(): HTMLElement {
  apply(storedTheme());
  const showName = () => replace(element, h('span.wide-only', 'Theme: '), storedTheme());
  const next = () => {
    const theme = themes[(themes.indexOf(storedTheme()) + 1) % themes.length] ?? 'auto';
    localStorage.setItem(STORED_AS, theme);
    apply(theme);
    showName();
  };
  const element = button(null, next, { class: 'ghost', 'data-action': 'theme' });
  showName();
  return element;
}

/**
 * Prints pages in light colours and as wide as paper: while the browser prints, the style sheet
 * gives the page the width of A4 and Letter, and the plots are drawn again to fit it.
 */
export function preparePaper(): void {
  const root = document.documentElement;
  let theme: string | null = null;
  addEventListener('beforeprint', () => {
    theme = root.getAttribute('data-theme');
    setAttributes(root, { 'data-theme': 'light', 'data-paper': true });
  });
  addEventListener('afterprint', () =>
    setAttributes(root, { 'data-theme': theme, 'data-paper': null }),
  );
}
