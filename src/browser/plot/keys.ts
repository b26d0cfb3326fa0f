import type uPlot from 'uplot';
import { on, replace } from '../element.ts';
import { nextChoice } from './choosing.ts';
import { type Shown, openerOf, soleLine } from './opening.ts';
import { ZOOM_STEP, rowsAt, showAll, spokenValues, zoom } from './reading.ts';

/** A plot by keyboard. */

/** What the keys do, for screen readers. */
export const KEYS =
  'Left and right read the values, up and down choose a line, plus and minus zoom, Escape shows all dates';

interface Parts {
  now: () => Shown;
  /** The line that the reader has chosen. */
  choice: { line: number | null };
  spoken: HTMLElement;
  showTip: (plot: uPlot) => void;
}

/**
 * Says the values at the cursor after each key; Enter opens the day of the chosen line, or of the
 * only one.
 */
export function listenToKeys(canvas: HTMLElement, { now, choice, spoken, showTip }: Parts): void {
  on(canvas, 'keydown', (event) => {
    const { plot, options, hidden } = now();
    if (plot === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = plot.cursor.idx ?? -1;
    const places = rowsAt(options, { index: at, hidden }).map(({ place }) => place);
    if (event.key === 'Enter') return openerOf(options, choice.line ?? soleLine(options), at)?.();
    const before = choice.line;
    choice.line = nextChoice(places, before, event.key);
    const hasChosen = choice.line !== before;
    if (!handleKey(plot, event.key) && !hasChosen) return;
    event.preventDefault();
    if (hasChosen) showTip(plot);
    const index = plot.cursor.idx;
    if (index != null) replace(spoken, spokenValues(options, { index, hidden }, choice.line));
  });
  on(canvas, 'pointermove', () => (choice.line = null));
}

/**
 * Left and right move the cursor, plus and minus zoom, Escape shows all dates. Returns whether the
 * key has a function.
 */
function handleKey(plot: uPlot, key: string): boolean {
  const at = plot.cursor.idx ?? -1;
  const last = plot.data[0].length - 1;
  const places: Record<string, number> = {
    ArrowLeft: Math.max(0, at - 1),
    ArrowRight: Math.min(last, at + 1),
    Home: 0,
    End: last,
  };
  const place = Object.hasOwn(places, key) ? places[key] : undefined;
  if (place !== undefined) moveTo(plot, place);
  else if (key === '+' || key === '=') zoom(plot, ZOOM_STEP);
  else if (key === '-') zoom(plot, 1 / ZOOM_STEP);
  else if (key === 'Escape' || key === '0') showAll(plot);
  else return false;
  return true;
}

function moveTo(plot: uPlot, index: number): void {
  const x = plot.data[0][index];
  if (x !== undefined)
    plot.setCursor({ left: plot.valToPos(x, 'x'), top: plot.over.clientHeight / 2 });
}
