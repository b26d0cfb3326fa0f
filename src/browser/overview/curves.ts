import { ZOOM_STEP } from '../plot/chart-reading.ts';
import { type Chart, createChart } from '../plot/chart.ts';
import { type Line, benchmarkName } from '../plot/lines.ts';
import { h, on } from '../parts/element.ts';
import { money } from '../parts/format.ts';
import type { ModelReport, Performance } from '../service/responses.ts';

/** Colours go round after so many models; the next round is dashed, so that no two lines look the same. */
const COLOURS = 10;
const DASHES: readonly (number[] | undefined)[] = [undefined, [7, 3], [2, 3]];
const HEIGHT = 340;

/** How the model at a place of the list is drawn, in the plot and beside its name. */
export function lookOf(index: number): string {
  return `series-${index % COLOURS}`;
}

function dashOf(index: number): number[] | undefined {
  return DASHES[Math.floor(index / COLOURS) % DASHES.length];
}

export interface Curves {
  element: HTMLElement;
  /** Shows later values. Returns false when these are not the same models, so that the plot must be made anew. */
  update(performance: Performance): boolean;
}

/** The equity curves of all models and the benchmark in one plot, with what to show and how. */
export function equityCurves(performance: Performance, signal: AbortSignal): Curves {
  const { dates, lines } = linesOf(performance);
  const names = namesOf(lines);
  const label = `Portfolio value of ${performance.models.length} models by date`;
  const chart = createChart({ label, dates, lines, format: money, height: HEIGHT }, signal);
  const element = h(
    'section',
    { class: 'curves', 'aria-labelledby': 'curves-title' },
    h('div', { class: 'bar' }, h('h2', { id: 'curves-title' }, 'Portfolio value'), tools(chart)),
    legend(chart, lines),
    chart.element,
  );
  return {
    element,
    update(later) {
      const next = linesOf(later);
      if (namesOf(next.lines) !== names) return false;
      chart.update(next.dates, next.lines);
      return true;
    },
  };
}

function namesOf(lines: readonly Line[]): string {
  return JSON.stringify(lines.map(({ label }) => label));
}

function linesOf({ models, benchmark }: Performance): { dates: string[]; lines: Line[] } {
  const dates = [...new Set(models.flatMap(({ curve }) => curve.map(({ date }) => date)))].sort();
  const own = models.map((model, index) => modelLine(model, dates, index));
  return { dates, lines: [...own, ...benchmarkLine(benchmark, models, dates)] };
}

function modelLine({ model, curve }: ModelReport, dates: readonly string[], index: number): Line {
  const dash = dashOf(index);
  return { label: model, values: valuesOn(dates, curve), look: lookOf(index), ...(dash && { dash }) };
}

/** The benchmark's level starts from 1: drawn as if it had started with what the models had. */
function benchmarkLine(
  benchmark: Performance['benchmark'],
  models: readonly ModelReport[],
  dates: readonly string[],
): Line[] {
  const start = models[0]?.start_value;
  if (start === undefined || benchmark.curve.length === 0) return [];
  const curve = benchmark.curve.map(({ date, value }) => ({ date, value: value * start }));
  return [
    {
      label: `${benchmarkName(benchmark.name)} (benchmark)`,
      values: valuesOn(dates, curve),
      look: 'benchmark',
      dash: [4, 4],
      width: 2,
    },
  ];
}

function valuesOn(dates: readonly string[], curve: readonly { date: string; value: number }[]): (number | null)[] {
  const byDate = new Map(curve.map(({ date, value }) => [date, value]));
  return dates.map((date) => byDate.get(date) ?? null);
}

function tools(chart: Chart): HTMLElement {
  const log = h('button', { type: 'button', 'aria-pressed': 'false', 'data-action': 'log' }, 'Log scale');
  on(log, 'click', () => {
    const isLog = log.getAttribute('aria-pressed') !== 'true';
    log.setAttribute('aria-pressed', String(isLog));
    chart.setLog(isLog);
  });
  const act = (label: string, action: string, work: () => void) =>
    on(h('button', { type: 'button', 'data-action': action, 'aria-label': label }, signs[action]), 'click', work);
  return h(
    'div',
    { class: 'tools' },
    h('span', { class: 'quiet wide-only' }, 'Drag to zoom'),
    act('Zoom in', 'nearer', () => chart.zoom(ZOOM_STEP)),
    act('Zoom out', 'farther', () => chart.zoom(1 / ZOOM_STEP)),
    act('All dates', 'all', () => chart.resetZoom()),
    log,
  );
}

const signs: Record<string, string> = { nearer: '+', farther: '−', all: 'All dates' };

/** The names of the lines; each hides and shows its own. */
function legend(chart: Chart, lines: readonly Line[]): HTMLElement {
  const items = lines.map((line, index) => {
    const button = h(
      'button',
      { type: 'button', class: 'legend', 'aria-pressed': 'true', title: 'Hide or show this line' },
      swatch(line),
      line.label,
    );
    on(button, 'click', () => {
      const isShown = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(isShown));
      chart.setVisible(index, isShown);
    });
    return h('li', {}, button);
  });
  return h('ul', { class: 'legends', 'aria-label': 'Lines of the plot' }, ...items);
}

function swatch({ look, dash }: Line): HTMLElement {
  return h('span', { class: `swatch ${look}${dash ? ' dashed' : ''}` });
}
