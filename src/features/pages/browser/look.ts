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
interface SeriesPosition {
  order: number;
  run: number;
}

const positions = new Map<string, SeriesPosition>();
const agentNames = new Set<string>();
let nextOrder = 0;

/** Takes the order of the entries of a study from what the service knows, for every page. */
export function learnOrder(models: KnownModels['models'], isOtherStudy = false): void {
  if (isOtherStudy) {
    positions.clear();
    nextOrder = 0;
  }
  for (const { signature, family, order, entry } of models) {
    if (entry?.kind === 'agent') agentNames.add(signature).add(family);
    if (order === null) continue;
    positions.set(signature, { order, run: parseRun(signature).run });
    positions.set(family, { order, run: 1 });
    nextOrder = Math.max(nextOrder, order + 1);
  }
}

/** What makes a figure of an agent another kind of figure. */
export const OUTSIDE_MARK = {
  words: 'outside agent',
  reason:
    'It has a network connection of its own, so this service cannot keep it from looking up the future',
};

/** Beside the name of an agent; null beside others. */
export function outsideMark(model: string): HTMLElement | null {
  return agentNames.has(model)
    ? h('small.caveat', { title: OUTSIDE_MARK.reason }, ` ${OUTSIDE_MARK.words}`)
    : null;
}

/** In which respects a model is not like most others: in a few words, and in sentences. */
export function incomparableMark(respects: readonly { kind: string; reason: string }[]) {
  const kinds = respects.map(({ kind }) => kind.replaceAll('_', ' ')).join(', ');
  const isPart = kinds === 'part of universe';
  return {
    // "holds 52 of 101 symbols"
    words: isPart ? `${respects[0]?.reason.replace(/^It |:.*/g, '')}` : `not comparable: ${kinds}`,
    reason: respects.map(({ reason }) => reason).join('. '),
  };
}

/** An entry that is not known yet comes after all that are. */
function findPosition(name: string): SeriesPosition {
  const known = positions.get(name);
  if (known !== undefined) return known;
  const { family, run } = parseRun(name);
  const { order } = positions.get(family) ?? { order: nextOrder };
  nextOrder = Math.max(nextOrder, order + 1);
  positions.set(family, { order, run: 1 });
  return { order, run };
}

/**
 * The look of a name, the same on every page. The first ten entries differ by colour and are solid,
 * the next ten are dashed, and so on. A run has the colour of its entry and the next dash.
 */
export function lineLook(name: string): Look {
  const { order, run } = findPosition(name);
  const dash = DASHES[(Math.floor(order / COLOURS) + run - 1) % DASHES.length];
  return { colour: `series-${order % COLOURS}`, dash };
}

/** Size of a swatch in pixels: room for a period of every dash. */
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

const THEME_KEY = 'theme';
const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

function storedTheme(): Theme {
  const name = localStorage.getItem(THEME_KEY);
  return themes.find((theme) => theme === name) ?? 'auto';
}

function applyTheme(theme: Theme): void {
  setAttributes(document.documentElement, { 'data-theme': theme === 'auto' ? null : theme });
}

/** A button that cycles through the themes: the system's, light, dark. */
export function themeSwitch(): HTMLElement {
  applyTheme(storedTheme());
  const showName = () => replace(element, h('span.wide-only', 'Theme: '), storedTheme());
  const switchTheme = () => {
    const theme = themes[(themes.indexOf(storedTheme()) + 1) % themes.length] ?? 'auto';
    localStorage.setItem(THEME_KEY, theme);
    applyTheme(theme);
    showName();
  };
  const element = button(null, switchTheme, { class: 'ghost', 'data-action': 'theme' });
  showName();
  return element;
}

/**
 * Prints pages in light colours and as wide as paper: while the browser prints, the style sheet
 * gives the page the width of A4 and Letter, and the plots are drawn again to fit it.
 */
export function preparePrint(): void {
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
