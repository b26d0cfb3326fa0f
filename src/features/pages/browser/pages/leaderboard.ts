import { asObject } from '#json/json.ts';
import { getComparison } from '../api.ts';
import { BENCHMARK_LOOK, incomparableMark, lineLook, swatch, OUTSIDE_MARK } from '../look.ts';
import { h, keepFocus, type LiveView, newId, replace, svg } from '../element.ts';
import { modelLink, runLink } from '../filters.ts';
import {
  byName,
  change,
  wholeNumber,
  counted,
  spanText,
  joinPercent,
  longDate,
  shortList,
} from '../format.ts';
import { benchmarkName } from '../plot/lines.ts';
import { highest, lowest } from '../plot/scale.ts';
import { metricLabel, shortLabel } from '../../../performance/labels.ts';
import type { ModelReport, Performance } from '../../responses.ts';
import { type Column, liveTable, nameColumn, numberColumn } from '../table.ts';
import { fold, reasonList, link } from '../ui.ts';
import { usualStart, type Curves, equityCurves } from './equity-curves.ts';
import {
  type ModelFigure,
  type Style,
  alphaBand,
  styleDaysText,
  entryStyles,
  costFreeTest,
  briefFigures,
  findFigure,
  figureNumber,
  type EntryReport,
  entryReports,
  entryFigure,
  grownValue,
  valueColumns,
} from './model-figures.ts';

/** A row: an entry, or the benchmark, which has no runs. */
interface BoardRow {
  name: string;
  entry: EntryReport | null;
  /** Style of its mean run; null until the details arrive. */
  style: Style | null;
  /** Whether its orders cost nothing, while those of others do. */
  isFree: boolean;
  benchmark: Performance['benchmark'];
}

/**
 * A table of every entry with the figures that distinguish it from the others, means of its runs;
 * with what its ranking covers.
 */
function leaderboard(performance: Performance, choice: HTMLElement) {
  let styles = entryStyles([]);
  let newest = performance;
  const currentRows = () => boardRows(newest, styles);
  const columns = boardColumns(performance, () => newest);
  const board = liveTable<BoardRow>({
    caption: 'Leaderboard of the models',
    rows: currentRows(),
    key: ({ name }) => name,
    sortedBy: shortLabel('total_return'),
    columns,
  });
  const [ranking, marks, styled, id] = [h('div'), h('div'), h('p.quiet'), newId()];
  const show = (later: Performance) => {
    newest = later;
    replace(ranking, rankingView(later));
    replace(marks, markList(later.models));
  };
  show(performance);
  return {
    element: h(
      'section',
      { 'aria-labelledby': id },
      h('div.bar', h('h2', { id }, 'Leaderboard'), choice),
      ranking,
      board.element,
      styled,
      marks,
    ),
    /** Whether the table has the columns that later figures need. */
    fits: (later: Performance) =>
      joinTitles(boardColumns(later, () => later)) === joinTitles(columns),
    update(later: Performance) {
      show(later);
      board.update(currentRows());
    },
    /** Shows what only the details of the models have. */
    complete({ families }: Performance) {
      styles = entryStyles(families);
      const parts = new Set([...styles.values()].map((style) => style && styleDaysText(style)));
      const over = [...parts].filter(Boolean).join(' or');
      replace(styled, over !== '' && `${ALPHA} is measured${over}: the days with every factor.`);
      board.update(currentRows());
    },
  };
}

const joinTitles = (all: readonly Column<BoardRow>[]) => `${all.map(({ title }) => title)}`;

const ALPHA = metricLabel('alpha_contribution');
/** Columns that appear only where some entry has any. */
const FAULTS = ['refused_orders', 'malformed_calls'];

/** The columns of the table; `newest` has the returns of all runs as they are now. */
function boardColumns(performance: Performance, newest: () => Performance): Column<BoardRow>[] {
  const { conventions, common, families, models } = performance;
  const start = usualStart(models);
  const column = (figure: ModelFigure) =>
    numberColumn<BoardRow>(figure.label, (row) => rowFigure(row, figure), figure.format, {
      ...figure,
      reason: ({ entry }) => entry?.runs.map(figure.reason).find((words) => words !== undefined),
    });
  const total = findFigure(conventions, 'total_return');
  const figures = briefFigures(conventions).filter(
    ({ name, read }) => !FAULTS.includes(name) || models.some((run) => read(run) !== 0),
  );
  // In common days all have as many, which the words above the table say.
  if (common === null)
    figures.push(findFigure(conventions, 'model_days', { label: shortLabel('model_days') }));
  const columns = figures.map(column);
  if (conventions.factors.length > 0) columns.push(alphaColumn(conventions));
  // Beside the return.
  if (families.some(({ runs }) => runs.length > 1)) columns.splice(1, 0, runsColumn(newest));
  return [
    nameColumn('Model', 'name', { cell: nameCell }),
    ...columns,
    ...valueColumns<BoardRow>(models, (row) => grownValue(rowFigure(row, total), start)),
  ];
}

/** What style leaves of the return, and its error. */
function alphaColumn({ definitions }: Performance['conventions']): Column<BoardRow> {
  const left = ({ style }: BoardRow) => style?.alpha_contribution ?? null;
  const column = numberColumn<BoardRow>(ALPHA, left, change, {
    isToned: true,
    meaning: `${definitions['style']}; with its 95 % interval`,
    reason: ({ style }) => style?.unavailable ?? undefined,
  });
  const cell = (row: BoardRow) =>
    row.style === null || left(row) === null
      ? column.cell(row)
      : h('span', change(left(row)), h('small.quiet', ` ${alphaBand(row.style)}`));
  return { ...column, cell };
}

/** Figure of a row; the benchmark's is its field of that name. */
function rowFigure({ entry, benchmark }: BoardRow, figure: ModelFigure): number | null {
  return entry === null
    ? figureNumber(asObject(benchmark)?.[figure.name])
    : entryFigure(figure, entry);
}

function boardRows(performance: Performance, styles: ReturnType<typeof entryStyles>) {
  const { benchmark, models } = performance;
  const isFree = costFreeTest(models);
  const rows = entryReports(performance).map((entry): BoardRow => {
    const { family: name, runs } = entry;
    const style = styles.get(name) ?? null;
    return { name, entry, style, isFree: isFree(runs), benchmark };
  });
  const name = `${benchmarkName(benchmark.name)} (benchmark)`;
  return benchmark.days === 0
    ? rows
    : [...rows, { name, entry: null, style: null, isFree: false, benchmark }];
}

/** The entry's name; those of several runs unfold to a link for each. */
function nameCell({ name, entry, isFree, benchmark }: BoardRow): HTMLElement {
  if (entry === null)
    return h('div.named', h('span.name', { title: benchmark.name }, swatch(BENCHMARK_LOOK), name));
  const runs = entry.runs
    .toSorted((one, other) => byName(one.model, other.model))
    .map((run) => h('li', runLink(run.model, name), ` ${change(run.total_return)}`));
  return h(
    'div.named',
    modelLink(name, lineLook(name)),
    runs.length > 1 &&
      h('details.runs', h('summary', counted(runs.length, 'run')), h('ul', ...runs)),
    caveat(isFree ? [...rowMarks(entry.runs), FREE_MARK] : rowMarks(entry.runs)),
  );
}

/** Size of the drawing of an entry's runs, in pixels. */
const [DOTS_WIDTH, DOTS_HEIGHT, DOT] = [56, 14, 3.5];

/** A dot per run at its return, on one scale for all runs of all entries, with a line at zero. */
function runsColumn(newest: () => Performance) {
  return {
    title: 'Runs',
    isDrawing: true,
    isSpare: true,
    cell: ({ name, entry }: BoardRow) => {
      const all = newest().models.flatMap((run) => run.total_return ?? []);
      const [low, high] = [lowest(all, 0), highest(all, 0)];
      const x = (value: number) =>
        DOT + ((value - low) / (high - low || 1)) * (DOTS_WIDTH - 2 * DOT);
      const middle = DOTS_HEIGHT / 2;
      const returns = (entry?.runs ?? []).flatMap((run) => run.total_return ?? []);
      return svg(
        'svg',
        {
          class: `dots ${lineLook(name).colour}`,
          width: DOTS_WIDTH,
          height: DOTS_HEIGHT,
          'aria-hidden': 'true',
        },
        svg('line', { x1: x(0), x2: x(0), y1: 0, y2: DOTS_HEIGHT }),
        ...returns.map((value) => svg('circle', { cx: x(value), cy: middle, r: DOT })),
      );
    },
  };
}

/**
 * The row's marks in words; each in a sentence on hover, and those of every run below the table.
 */
function caveat(marks: readonly RowMark[]): HTMLElement | false {
  const words = marks.map((mark) => mark.words).join(' · ');
  return marks.length > 0 && h('small.caveat', { title: joinReasons(marks) }, words);
}

const FREE_MARK: RowMark = {
  words: 'no trading costs',
  reason: 'Its orders have no trading costs, and those of other models do',
};

/** The marks of some runs as notices above their figures. */
export function notices(runs: readonly MarkedReport[]): HTMLElement[] {
  return rowMarks(runs).map(({ reason }) => h('p.notice', `${reason}.`));
}

function joinReasons(marks: readonly RowMark[]): string {
  return marks.map(({ reason }) => reason).join('. ');
}

/** What the marks of the rows mean, folded. */
function markList(models: readonly ModelReport[]): HTMLElement | false {
  const marked = models.filter((report) => rowMarks([report]).length > 0);
  const entries = marked.map((report) => ({
    name: report.model,
    reason: `${joinReasons(rowMarks([report]))}.`,
  }));
  const rows = new Set(marked.map(({ family }) => family)).size;
  const title = `Why ${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} marked`;
  return rows > 0 && fold(title, reasonList(entries));
}

const NOT_SHARED =
  'On such a day at least one model has no return, or a return that also covers an earlier day.';

/** Which days the ranking covers, and which days and models it leaves out. */
function rankingView(performance: Performance): HTMLElement {
  const { words, models, days } = describeRanking(performance);
  return h(
    'div.ranking',
    h('p', words),
    models.length > 0 &&
      fold(`Not ranked: ${shortList(models.map(({ name }) => name))}`, reasonList(models)),
    days.length > 0 &&
      fold(
        `Days that do not count: ${wholeNumber(days.length)}`,
        h('p', NOT_SHARED),
        reasonList(days),
      ),
  );
}

type RankingField = 'common' | 'clean_after' | 'without_clean_days' | 'without_completed_days';
type Ranked = Pick<Performance, RankingField> & { families: readonly unknown[] };

/** Over which days the models are ranked, and which models and days are left out and why. */
export function describeRanking({ common, clean_after: cutoff, families, ...without }: Ranked) {
  const { without_clean_days: unclean, without_completed_days: failed } = without;
  const models = [...(common?.left_out ?? []), ...unclean, ...failed];
  const days = (common?.left_out_days ?? []).map(({ date, missing, models: names }) => {
    const more = missing - names.length;
    const others = more > 0 ? ` and ${counted(more, 'more model')}` : '';
    return { name: longDate(date), reason: `not shared by ${names.join(', ')}${others}` };
  });
  const clean =
    cutoff !== null && `Only days after ${longDate(cutoff)}, the latest knowledge cutoff, count.`;
  return {
    words: [rankedDaysText(common, families.length), clean].filter(Boolean).join(' '),
    models: models.map(({ model: name, reason }) => ({ name, reason })),
    days,
  };
}

function rankedDaysText(common: Performance['common'], models: number): string {
  if (common === null)
    return 'Each model is measured over all its own days. Where the days differ, the order says little about which model is better.';
  if (common.days === 0) return 'The models have no day in common.';
  const all = models === 1 ? 'the model' : `all ${counted(models, 'model')}`;
  return `Ranked over the ${counted(common.days, 'day')} that ${all} completed without a gap,${spanText(common)}.`;
}

/**
 * Why a model should not simply be compared with the others: in a few words for its row, and in a
 * sentence.
 */
interface RowMark {
  words: string;
  reason: string;
}

type MarkedReport = Pick<
  ModelReport,
  'incomparable' | 'failed_model_days' | 'days_before_cutoff' | 'knowledge_cutoff' | 'outside'
>;

/** The marks of the runs in a row, what makes them incomparable first; each respect once. */
export function rowMarks(runs: readonly MarkedReport[]): RowMark[] {
  const respects = new Map(
    runs.flatMap(({ incomparable: all }) => all.map((own) => [own.kind, own] as const)),
  );
  const marks: RowMark[] = runs.some(({ outside }) => outside.length > 0) ? [OUTSIDE_MARK] : [];
  if (respects.size > 0) marks.push(incomparableMark([...respects.values()]));
  const failed = runs.reduce((days, own) => days + own.failed_model_days, 0);
  if (failed > 0) {
    const reason = `${counted(failed, 'model-day')} failed and ${failed === 1 ? 'has' : 'have'} not been completed since`;
    marks.push({ words: counted(failed, 'failed day'), reason });
  }
  const [{ days_before_cutoff: early, knowledge_cutoff: cutoff } = { days_before_cutoff: 0 }] =
    runs;
  if (early > 0) {
    const after = `after its knowledge cutoff, ${longDate(cutoff ?? '')}`;
    const reason = `${counted(early, 'model-day')} ${early === 1 ? 'is' : 'are'} not ${after}: it may remember those prices`;
    marks.push({ words: `${counted(early, 'day')} on or before its knowledge cutoff`, reason });
  }
  return marks;
}

/**
 * Who leads, and whether that could be chance; null where that is unknown, as of too many models.
 */
export async function getAnswer(query: string, signal: AbortSignal): Promise<string | null> {
  const comparison = await getComparison(query, signal).catch(() => null);
  return comparison && joinPercent(comparison.answer.sentence);
}

/** What the overview and a job show alike: who leads, curves, leaderboard, and where to compare. */
interface RankedModels {
  /** Element beside the leaderboard's heading. */
  choice: HTMLElement;
  /** Query of the comparison. */
  query: string;
  /** Asks for the same figures with details, which only a style needs: after the rest. */
  detailed: () => Promise<Performance>;
}

/**
 * Empty until there are figures, and an answer who leads (null where it is not known). Later ones
 * are shown in place, those of other models in a new plot and a new table.
 */
export function rankedModels(
  { choice, query, detailed }: RankedModels,
  signal: AbortSignal,
): LiveView<{ performance: Performance; answer: string | null }> {
  const element = h('div.stack');
  const sentence = h('p.answer', { 'aria-live': 'polite' });
  const compare = link(`/compare${query}`, 'Compare the models with intervals');
  const hidden = !compare.hasAttribute('href');
  const further = h('p', { hidden }, 'Could the difference be chance? ', compare, '.');
  let drawing = new AbortController();
  let shown: { curves: Curves; board: ReturnType<typeof leaderboard> } | null = null;
  let completing: Promise<unknown> | null = null;
  return {
    element,
    update({ performance, answer }) {
      if (performance.conventions.factors.length > 0)
        completing ??= detailed()
          .then((own) => shown?.board.complete(own))
          .catch(() => undefined) // the column stays empty
          .finally(() => (completing = null));
      replace(sentence, answer);
      if (shown?.board.fits(performance) && shown.curves.update(performance))
        return shown.board.update(performance);
      drawing.abort();
      drawing = new AbortController();
      const curves = equityCurves(performance, AbortSignal.any([signal, drawing.signal]));
      const board = leaderboard(performance, choice);
      shown = { curves, board };
      keepFocus(element, () => replace(element, sentence, curves.element, board.element, further));
    },
  };
}
