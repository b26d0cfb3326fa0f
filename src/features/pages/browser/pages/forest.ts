import { type Child, h, svg } from '../element.ts';
import { modelLink } from '../filters.ts';
import { incomparableMark, outsideMark } from '../look.ts';
import { chance, change, wholeNumber, counted, joinPercent, tone } from '../format.ts';
import { benchmarkName } from '../plot/lines.ts';
import { valueTicks, highest, lowest, paddedRange, trimEmptyCents } from '../plot/scale.ts';
import { metricLabel, shortLabel } from '../../../performance/labels.ts';
import type { Comparison, ComparedModel } from '../../responses.ts';
import { type Sheet, csvButton } from '../save.ts';
import { noFigure } from '../ui.ts';

/** In pixels from the middle of a row: the line of the interval, and the runs below it. */
const INTERVAL_AT = -6;
const RUNS_AT = 9;
const DOT = 3.5;
const CAP = 'M0-5V5';
const ARROWS = { low: 'M5-5L0 0L5 5', high: 'M-5-5L0 0L-5 5' } as const;
const DIAMOND = 'M-6 0L0-6L6 0L0 6Z';
const AXIS_HEIGHT = 34;
const LABEL_AT = 12;
const TICKS_AT = 29;
/**
 * In percent of the width: labels of the benchmark, and of values, that are closer to an edge are
 * aligned with it.
 */
const EDGE = 20;
const TICK_EDGE = 6;

const CUT_OFF_NOTE = 'An arrow head means that an interval is cut off: its ends are in its row.';

const RETURN = shortLabel('total_return');
const BEST = metricLabel('probability_best');

interface ForestOptions {
  benchmark: Comparison['answer']['benchmark'];
  /** Of the intervals; null where there are none yet, so that they have no columns. */
  confidence: string | null;
  days: number;
  /** What else is said under the plot. */
  notes: readonly (string | false)[];
}

/**
 * A line per model: the interval of its return, the return of each run, and the benchmark as a
 * vertical line. What holds for every model is said once, under the plot.
 */
export function forest(models: readonly ComparedModel[], options: ForestOptions): HTMLElement {
  const { benchmark, confidence, notes } = options;
  const scale = forestScale(models, benchmark?.total_return ?? null);
  const benchmarkAt = benchmark === null ? null : scale.percent(benchmark.total_return);
  const names = confidence === null ? [RETURN] : [RETURN, `${confidence} interval`, BEST];
  const titles = names.map((title) => h('th.number', { scope: 'col' }, title));
  const [first] = models;
  const areAll = (has: (model: ComparedModel) => boolean) => models.length > 1 && models.every(has);
  const runs = first?.runs.length ?? 0;
  const areLeast = areAll((model) => model.interval_is_lower_bound);
  const said = { runs: !areAll((model) => model.runs.length === runs), isLeast: !areLeast };
  const axis = h('th.at', { scope: 'col' }, h('span.unseen', 'Plot'), drawAxis(scale, benchmarkAt));
  const rows = models.map((model) =>
    modelRow(model, intervalPlot(model, scale, benchmarkAt), { ...options, said }),
  );
  const table = h(
    'table.forest',
    h('caption.unseen', 'Returns of the models with their intervals'),
    h('thead', h('tr', h('th', { scope: 'col' }, 'Model'), axis, ...titles)),
    h('tbody', ...rows),
  );
  const isCut = models.some(
    ({ interval: own }) => own && (scale.isBeyond(own.low) || scale.isBeyond(own.high)),
  );
  const each = areLeast
    ? 'Each model ran once, so the intervals leave out how much it varies from run to run.'
    : !said.runs && `${runs === 1 ? 'One run' : counted(runs, 'run')} each.`;
  return h(
    'div',
    legend(options),
    table,
    h('p.quiet.about', [each, isCut && CUT_OFF_NOTE, ...notes].filter(Boolean).join(' ')),
    h(
      'div.exports',
      csvButton('Returns with their intervals', () => forestSheet(models)),
    ),
  );
}

function forestSheet(models: readonly ComparedModel[]): Sheet {
  const rows = models.map(({ model, runs, total_return, interval, probability_best: best }) => {
    return [model, runs.length, total_return, interval?.low ?? null, interval?.high ?? null, best];
  });
  return { columns: ['Model', 'Runs', RETURN, 'Interval from', 'Interval to', BEST], rows };
}

function modelRow(
  model: ComparedModel,
  plot: SVGElement,
  { confidence, days, said }: ForestOptions & { said: { runs: boolean; isLeast: boolean } },
): HTMLElement {
  const {
    total_return: own,
    interval,
    runs,
    probability_best: best,
    days_before_cutoff: known,
  } = model;
  const { interval_is_lower_bound: isLeast, incomparable, unavailable } = model;
  const { words, reason } = incomparableMark(incomparable);
  const cell = (label: string, look: string, ...text: Child[]) =>
    h('td', { class: `number ${look}`, 'data-label': label }, ...text);
  return h(
    'tr',
    h(
      'th',
      { scope: 'row' },
      modelLink(model.model),
      outsideMark(model.model),
      incomparable.length > 0 && h('small.caveat', { title: reason }, ` ${words}`),
      said.runs && h('small.quiet', ` ${counted(runs.length, 'run')}`),
      said.isLeast && isLeast && h('small.caveat', ' (its interval may be wider)'),
      known > 0 &&
        h('small.caveat', ` ${wholeNumber(known)} of ${counted(days, 'day')} up to its cutoff`),
    ),
    h('td.at', plot),
    cell(RETURN, tone(change(own)), change(own)),
    ...(confidence === null
      ? []
      : [
          cell(
            `${confidence} interval`,
            '',
            intervalText(interval) ?? noFigure(unavailable['interval']),
          ),
          cell(
            BEST,
            'best',
            best === null ? noFigure(unavailable['probability_best']) : chance(best),
          ),
        ]),
  );
}

function intervalText(interval: ComparedModel['interval']): string | null {
  return interval && joinPercent(`${change(interval.low)} to ${change(interval.high)}`);
}

/**
 * The marks of a model; the numbers are in the row as text, so here only those of the runs have to
 * be said.
 */
function intervalPlot(
  model: ComparedModel,
  scale: ForestScale,
  benchmarkAt: number | null,
): SVGElement {
  const { percent, ticks } = scale;
  const { interval, total_return: own, runs, run_returns: returns } = model;
  const known = runs.flatMap((run, index) => {
    const value = returns[index] ?? null;
    return value === null ? [] : [{ run, value, words: `${run} ${change(value)}` }];
  });
  const dots = known.map(({ value, words }) => {
    const place = { class: 'run', cx: `${percent(value)}%`, cy: RUNS_AT, r: DOT };
    return svg('circle', place, svg('title', {}, words));
  });
  return svg(
    'svg',
    {
      role: 'img',
      'aria-label': `Runs: ${known.map(({ words }) => words).join(', ')}`,
      width: '100%',
      height: '100%',
    },
    ...ticks.map((tick) => verticalLine(percent(tick), tick === 0 ? 'zero' : 'rule')),
    benchmarkAt !== null && verticalLine(benchmarkAt, 'against'),
    // Heights are counted from the middle of the row, however high it is.
    svg(
      'svg',
      { y: '50%', overflow: 'visible' },
      ...(interval === null ? [] : reach(interval, scale, INTERVAL_AT)),
      ...dots,
      own !== null && outline(DIAMOND, 'mean', percent(own), INTERVAL_AT),
    ),
  );
}

/** A vertical line through the whole height. */
function verticalLine(at: number, look: string): SVGElement {
  return svg('line', { class: look, x1: `${at}%`, x2: `${at}%`, y1: 0, y2: '100%' });
}

/** A line with a cap at both ends, or an arrow head where it continues beyond the plot. */
function reach(
  ends: Record<'low' | 'high', number>,
  { percent, isBeyond }: ForestScale,
  y: number,
): SVGElement[] {
  const [x1, x2] = [`${percent(ends.low)}%`, `${percent(ends.high)}%`];
  const marks = (['low', 'high'] as const).map((end) =>
    outline(isBeyond(ends[end]) ? ARROWS[end] : CAP, 'reach', percent(ends[end]), y),
  );
  return [svg('line', { class: 'reach', x1, x2, y1: y, y2: y }), ...marks];
}

/** An outline about its middle, at a place in percent of the width. */
function outline(d: string, look: string, at: number, y: number): SVGElement {
  return svg('svg', { x: `${at}%`, y, overflow: 'visible' }, svg('path', { class: look, d }));
}

function drawAxis({ percent, ticks }: ForestScale, benchmarkAt: number | null): SVGElement {
  const texts = trimEmptyCents(ticks.map((tick) => change(tick)));
  const label = (at: number, y: number, text: string | undefined, anchor: string) =>
    svg('text', { x: `${at}%`, y, 'text-anchor': anchor, class: 'label' }, text);
  return svg(
    'svg',
    { 'aria-hidden': 'true', width: '100%', height: AXIS_HEIGHT },
    ...ticks.map((tick, index) =>
      label(percent(tick), TICKS_AT, texts[index], textAnchor(percent(tick), TICK_EDGE)),
    ),
    benchmarkAt !== null &&
      label(benchmarkAt, LABEL_AT, 'benchmark', textAnchor(benchmarkAt, EDGE)),
  );
}

function textAnchor(at: number, edge: number): string {
  if (at < edge) return 'start';
  return at > 100 - edge ? 'end' : 'middle';
}

/**
 * What each mark means; every mark has its own form, so that colour is never the only difference.
 */
function legend({ benchmark, confidence }: ForestOptions): HTMLElement {
  const marks = [
    '◆ mean of the runs',
    confidence && `├─┤ its ${confidence} interval`,
    '○ a run',
    benchmark && `┆ benchmark: ${benchmarkName(benchmark.name)}, ${change(benchmark.total_return)}`,
  ];
  return h('p.quiet.key-line', marks.filter(Boolean).join('    '));
}

/** Where values are in a forest plot, in percent of its width. */
type ForestScale = ReturnType<typeof forestScale>;

/** `valueTicks` makes a label per 30 pixels of height; this makes so few that a phone has room. */
const AXIS_ROOM = 160;

/** How many times as far from the returns as usual the end of an interval may be. */
const FURTHEST = 3;

/**
 * From the lowest to the highest of all runs, intervals and the benchmark, with zero and a margin.
 * An interval that is far wider than the others would leave them no room: it is cut off.
 */
export function forestScale(models: readonly ComparedModel[], benchmark: number | null) {
  const returns = models.flatMap((model) => [model.total_return, ...model.run_returns]);
  const points = [0, benchmark, ...returns].filter((value) => value !== null);
  const intervals = models.flatMap(({ interval, total_return: own }) =>
    interval === null || own === null ? [] : { ...interval, own },
  );
  const widths = intervals
    .map(({ low, high, own }) => Math.max(own - low, high - own))
    .sort((one, other) => one - other);
  const furthest = FURTHEST * (widths[Math.floor((widths.length - 1) / 2)] ?? 0);
  const [least, most] = [lowest(points) - furthest, highest(points) + furthest];
  const inside = (value: number) => Math.max(least, Math.min(most, value));
  const [low, high] = paddedRange([
    ...points,
    ...intervals.flatMap((own) => [inside(own.low), inside(own.high)]),
  ]);
  return {
    /** Returns at round values, for the axis. */
    ticks: valueTicks(low, high, AXIS_ROOM),
    /** At an edge for what is beyond it. */
    percent: (value: number) => Number((((inside(value) - low) / (high - low)) * 100).toFixed(3)),
    isBeyond: (value: number) => inside(value) !== value,
  };
}
