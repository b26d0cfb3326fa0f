import { isPublished, pageStudy, pageUrl } from '../address.ts';
import { type Child, h, on, replace } from '../element.ts';
import { change, counted, spanText, tone, longDate, money } from '../format.ts';
import { lineLook, outsideMark, swatch } from '../look.ts';
import {
  type Line,
  type PlotOptions,
  datesFromStart,
  curveDates,
  valuesFromStart,
} from '../plot/lines.ts';
import { createPlot } from '../plot/plot.ts';
import { legend } from '../plot/legend.ts';
import type {
  ComparedModel,
  ComparedPair,
  Comparison,
  Performance,
  Decisions,
  ModelReport,
} from '../../responses.ts';
import { type Column, nameColumn, numberColumn, table } from '../table.ts';
import { fold, section, button, link, errorText } from '../ui.ts';
import {
  type ModelFigure,
  findFigure,
  type ComparedEntry,
  entryFigure,
  costFreeTest,
} from './model-figures.ts';
import { modelDayPath } from '../../paths.ts';
import { get } from '../api.ts';
import { replaceAddress } from '../history.ts';
import { comparePath, readChoice } from './compare-options.ts';
import { decisionCard } from './decision-feed.ts';

/** Maximum of decisions requested of one model and day. */
const MOST_DECISIONS = '200';

/**
 * What each of these runs decided on one day, and why; the reader chooses the day, here or
 * elsewhere.
 */
async function sameDayView(
  performance: Performance,
  { runs, nameOf, note }: ReturnType<typeof chooseRuns>,
  signal: AbortSignal,
) {
  const reports = runs.flatMap(
    (run) => performance.models.find(({ model }) => model === run) ?? [],
  );
  const dates = curveDates(reports);
  const last = dates.at(-1);
  if (last === undefined) return null;
  const columns = h('div.sides', { 'aria-live': 'polite' });
  const chooser = h(
    'select',
    { name: 'date', 'aria-label': 'Date' },
    ...dates.map((date) => h('option', { value: date }, longDate(date))),
  );
  let loading = new AbortController();
  const show = async (wanted: string) => {
    const date = dates.includes(wanted) ? wanted : last;
    loading.abort();
    loading = new AbortController();
    chooser.value = date;
    earlier.disabled = date === dates[0];
    later.disabled = date === last;
    const over = AbortSignal.any([signal, loading.signal]);
    const all = await Promise.all(
      reports.map((report) =>
        dayColumn(report, date, { name: nameOf(report.model), signal: over }),
      ),
    );
    if (!over.aborted) replace(columns, ...all);
  };
  const open = (date: string) => {
    const choice = readChoice(pageUrl().search);
    replaceAddress(comparePath({ ...choice, options: { ...choice.options, date } }));
    void show(date);
  };
  const step = (days: number) => open(dates[chooser.selectedIndex + days] ?? last);
  const earlier = button('Previous day', () => step(-1));
  const later = button('Next day', () => step(1));
  on(chooser, 'change', () => open(chooser.value));
  // The day of the address, or the last; now, so that nothing moves once the page is complete.
  await show(readChoice(pageUrl().search).options.date);
  const tools = h('div.tools', earlier, chooser, later);
  const what = 'What each model did on this day, and what it said just before.';
  const words = note === null ? what : `${what} ${note}`;
  const element = section('Decisions of the same day', h('p.quiet', words), tools, columns);
  return {
    element,
    /** Shows the decisions of a date, and puts it into the address. */
    open(date: string) {
      open(date);
      element.scrollIntoView({ block: 'nearest' });
    },
  };
}

async function dayColumn(
  { model, study, curve }: ModelReport,
  date: string,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<HTMLElement> {
  const day = curve.find((point) => point.date === date);
  const figures =
    day &&
    h(
      'p',
      `Value ${money(day.value)}, return of the day `,
      h(`span.${tone(change(day.daily_return))}`, change(day.daily_return)),
    );
  const own = pageStudy() === null ? {} : { study: study ?? '' };
  const query = { model, start_date: date, end_date: date, limit: MOST_DECISIONS, ...own };
  const found = await get('/decisions', query, signal).catch(errorText);
  return h(
    'div.side',
    h('h3', link(modelDayPath(model, date), swatch(lineLook(model)), name), outsideMark(model)),
    figures,
    typeof found === 'string' ? h('p.notice.bad', found) : decisionList(found),
  );
}

function decisionList({ decisions, next_before: more }: Decisions): HTMLElement {
  if (decisions.length === 0) return h('p.quiet', 'This model has no model-day on this date.');
  const list = h('ol.feed', decisionCard(decisions));
  return more === null
    ? list
    : h('div', h('p.quiet', `The last ${decisions.length} decisions of the day.`), list);
}

const HEIGHT = 260;

const FIGURES = 'Figures of each model, and its decisions on one day';

/** Figures that the page has asked for already, if it has, and how to ask for them. */
export interface Figures {
  known: Performance | null;
  ask: () => Promise<Performance>;
}

/**
 * Figures, curves and decisions of two to four models; of other numbers, what to choose to see
 * them. Figures and decisions are asked for when the reader opens them; they are open where the
 * page has asked already, or its address names a day.
 */
export async function sideBySide(
  comparison: Comparison,
  figures: Figures,
  signal: AbortSignal,
): Promise<(HTMLElement | null)[]> {
  const { models, align, days } = comparison;
  if (!fitsSideBySide(models))
    return isPublished() ? [] : [section('Side by side', h('p', HOW_TO_CHOOSE))];
  const [sides, decisions] = [h('div'), h('div')];
  const fill = async () => {
    const performance = figures.known ?? (await figures.ask());
    const day = await sameDayView(performance, chooseRuns(models), signal);
    const isSame = align === 'date' && performance.common?.days === days;
    replace(sides, ...figureTable(performance, models, isSame));
    replace(decisions, day?.element);
    return day;
  };
  let filled: ReturnType<typeof fill> | null = null;
  const show = () =>
    (filled ??= fill().catch((error: unknown) => {
      filled = null; // opened again, it asks again
      replace(sides, h('p.notice.bad', errorText(error)));
      return null;
    }));
  const element = fold(FIGURES, sides);
  element.open = figures.known !== null || readChoice(pageUrl().search).options.date !== '';
  on(element, 'toggle', () => element.open && void show());
  if (element.open) await show(); // so that nothing moves once the page is complete
  const onOpen = async (_pair: string, date: string) => {
    element.open = true;
    (await show())?.open(date);
  };
  return [
    section('Side by side', element),
    differenceSection(comparison, onOpen, signal),
    decisions,
  ];
}

/** What stands side by side, in the order in which it is read. */
const SIDE_FIGURES = [
  'total_return',
  'annualised_return',
  'excess_return',
  'profit',
  'dividends',
  'annualised_volatility',
  'sharpe_ratio',
  'sortino_ratio',
  'calmar_ratio',
  'max_drawdown',
  'expected_shortfall_95',
  'winning_days_share',
  'beta',
  'trades',
  'commission',
  'exposure',
  'turnover',
  'win_rate',
  'profit_factor',
  'expectancy',
  'cost_usd',
  'model_days',
  'failed_model_days',
];

/**
 * The figures of two to four models next to each other, of several runs their means, over the days
 * that they have in common; where these are not the days of the page, it says so.
 */
function figureTable(
  performance: Performance,
  models: readonly ComparedModel[],
  isSame: boolean,
): Child[] {
  const columns = models.flatMap(({ model, runs }) => {
    const own = performance.models.filter((report) => runs.includes(report.model));
    const { mean_total_return = null } =
      performance.families.find(({ family }) => family === own[0]?.family) ?? {};
    return own.length === 0 ? [] : { model, runs: own, mean_total_return };
  });
  const isFree = costFreeTest(columns.flatMap(({ runs }) => runs));
  const name = nameColumn<ModelFigure>('Figure', 'label', {
    cell: ({ label, meaning }) => h('span', { title: meaning }, label),
  });
  const isMean = models.some(({ runs }) => runs.length > 1);
  return [
    isSame ? null : h('p.notice', otherDaysText(performance)),
    isMean && h('p.quiet', 'Figures of models with several runs are means.'),
    table<ModelFigure>({
      caption: 'Figures side by side',
      rows: SIDE_FIGURES.map((name) => findFigure(performance.conventions, name)),
      isFixed: true,
      columns: [name, ...columns.map((own) => entryColumn(own, isFree(own.runs)))],
    }),
  ];
}

/** `isFree`: its orders cost nothing, while those of others do. */
function entryColumn(
  { model: title, ...entry }: ComparedEntry & { model: string },
  isFree: boolean,
): Column<ModelFigure> {
  const by = (row: ModelFigure) => entryFigure(row, entry);
  const column = numberColumn<ModelFigure>(title, by, (value, { format }) => format(value), {
    reason: (row) => entry.runs[0] && row.reason(entry.runs[0]),
  });
  return {
    ...column,
    cell: (row) => (row.name === 'commission' && isFree ? 'no trading costs' : column.cell(row)),
    look: (row) => (row.isToned ? tone(row.format(by(row))) : ''),
  };
}

function otherDaysText({ common }: Performance): string {
  const span = common === null ? '' : spanText(common);
  return `These figures cover other days than the returns above: ${counted(common?.days ?? 0, 'day')} by date${span}.`;
}

/** The curve of each pair's difference; `onOpen` shows the decisions of a day. */
function differenceSection(
  { pairs, align }: Comparison,
  onOpen: (pair: string, date: string) => void,
  signal: AbortSignal,
): HTMLElement | null {
  if (pairs.every(({ difference }) => difference === null)) return null;
  const curves = differenceLines(pairs);
  const byNumber = 'No curve is drawn, because days with the same number fall on different dates.';
  return section(
    'Difference day by day',
    curves !== null && differencePlot({ ...curves, onOpen }, signal),
    align === 'number' && h('p.quiet', byNumber),
  );
}

function differencePlot(
  curves: Pick<PlotOptions, 'dates' | 'lines' | 'onOpen'>,
  signal: AbortSignal,
): HTMLElement {
  const label = 'Growth of the first model of each pair over that of the second, by date';
  const plot = createPlot({ ...curves, label, format: change, height: HEIGHT }, signal);
  const words =
    'The growth of the first model of a pair divided by that of the second, minus 1. Click a curve to see the decisions of that day.';
  return h('div', h('p.quiet', words), legend(plot, curves.lines).element, plot.element);
}

/**
 * A line per pair with the curve of its difference, all from zero at the first of the dates, which
 * is before the first day; null where the days have no dates, or no pair has a curve.
 */
export function differenceLines(pairs: readonly ComparedPair[]) {
  const drawn = pairs
    .map((pair) => {
      const curve = pair.curve?.flatMap(({ date, difference: value }) =>
        date === undefined || value === null ? [] : { date, value },
      );
      return { label: pairName(pair), curve: curve ?? [] };
    })
    .filter(({ curve }) => curve.length > 0);
  if (drawn.length === 0) return null;
  const dates = datesFromStart(curveDates(drawn));
  const lines = drawn.map(({ label, curve }): Line => {
    return { ...lineLook(label), label, values: valuesFromStart(dates, curve, 0) };
  });
  return { dates, lines };
}

/** A pair as it is named in plots and tables. */
export function pairName({ model, against }: Pick<ComparedPair, 'model' | 'against'>): string {
  return `${model} over ${against}`;
}

/** How many models fit side by side, at least and at most. */
const MIN_SIDES = 2;
const MAX_SIDES = 4;

/** Whether there are as many models as fit side by side. */
export function fitsSideBySide(models: readonly unknown[]): boolean {
  return models.length >= MIN_SIDES && models.length <= MAX_SIDES;
}

const HOW_TO_CHOOSE =
  `Choose ${MIN_SIDES} to ${MAX_SIDES} models in the filters to see their figures, the curve of their difference and their ` +
  'decisions on one day side by side.';

/**
 * The runs that are shown side by side: all of these models if there is room for them, else the
 * first run of each, with a note which runs have no column.
 */
export function chooseRuns(models: readonly Pick<ComparedModel, 'model' | 'runs'>[]) {
  const all = [...new Set(models.flatMap(({ runs }) => runs))];
  const repeated = models.filter(({ runs }) => runs.length > 1).map(({ model }) => model);
  // The first of several runs is called `gpt-5#1`: its own name is that of the model, whose return
  // is another.
  const nameOf = (run: string) => (repeated.includes(run) ? `${run}#1` : run);
  if (all.length <= MAX_SIDES) return { runs: all, nameOf, note: null };
  const runs = [...new Set(models.flatMap((model) => model.runs[0] ?? []))];
  const note = 'Only the first run of each model is shown; choose single runs to see others.';
  return { runs, nameOf, note };
}
