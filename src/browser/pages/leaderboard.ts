import { BENCHMARK_LOOK, lookOf, swatch } from '../look.ts';
import { h, type Live, newId, replace, svg } from '../element.ts';
import { modelLink, runLink } from '../filters.ts';
import { byName, change, count, counted, longDate, money } from '../format.ts';
import { benchmarkName } from '../plot/lines.ts';
import { highest, lowest } from '../plot/scale.ts';
import type { ModelReport, Performance } from '../responses.ts';
import { type Column, liveTable, nameColumn, numberColumn } from '../table.ts';
import { reasonList } from '../ui.ts';
import { type EntryReport, entriesOf, excessOf, meanOf, valueOf } from './entries.ts';
import { usualStart } from './equity-curves.ts';
import { type Figure, brief, reportFigure } from './model-figures.ts';

/** The table of the entries, with what its ranking covers. */
export interface Leaderboard extends Live<Performance> {
  /** Shows what only the details of the models have. */
  complete(detailed: Performance): void;
}

const VALUE = 'What the initial cash grew to over these days, at the last close';

/** A row: an entry, or the benchmark, which has no runs. */
interface Row {
  name: string;
  entry: EntryReport | null;
  benchmark: Performance['benchmark'];
}

/** Every entry with the figures that distinguish it from the others: means of its runs. */
export function leaderboard(performance: Performance, choice: HTMLElement): Leaderboard {
  const details = new Map<string, ModelReport['details']>();
  let newest = performance;
  const rowsNow = () => rowsOf(newest, details);
  const board = liveTable<Row>({
    caption: 'Leaderboard of the models',
    rows: rowsNow(),
    key: ({ name }) => name,
    sortedBy: 'Return',
    columns: columnsOf(performance, () => newest),
  });
  const [ranking, marks, id] = [h('div'), h('div'), newId()];
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
      marks,
    ),
    update(later) {
      show(later);
      board.update(rowsNow());
    },
    complete({ models: known }) {
      for (const { model, details: own } of known) details.set(model, own);
      board.update(rowsNow());
    },
  };
}

/** The columns of the table; `newest` has the returns of all runs as they are now. */
function columnsOf(performance: Performance, newest: () => Performance): Column<Row>[] {
  const { definitions } = performance.conventions;
  const start = usualStart(performance.models);
  const hasRuns = performance.families.some(({ runs }) => runs.length > 1);
  const column = (figure: Figure, ofBenchmark: Read = () => null) =>
    numberColumn<Row>(
      figure.label,
      ({ entry, benchmark }) =>
        entry === null ? ofBenchmark(benchmark) : meanOf(entry, figure.read),
      figure.format,
      {
        isToned: figure.isToned,
        meaning: definitions[figure.name],
        reason: ({ entry }) => entry?.runs.map(figure.reason).find((words) => words !== undefined),
      },
    );
  return [
    nameColumn('Model', 'name', { cell: nameCell }),
    numberColumn('Return', totalOf, change, {
      isToned: true,
      meaning: definitions['total_return'],
    }),
    ...(hasRuns ? [runsColumn(() => extentOf(newest()))] : []),
    numberColumn('vs. benchmark', ({ entry }) => entry && excessOf(entry), change, {
      isToned: true,
      meaning: definitions['excess_return'],
    }),
    column(brief.sharpe, (own) => own.sharpe_ratio),
    column(brief.drawdown, (own) => own.max_drawdown.depth),
    column(brief.selection),
    column(brief.trades),
    column(brief.refused),
    ...(performance.common === null
      ? [column(reportFigure('model_days', count, { label: 'Days' }), (own) => own.days)]
      : []), // all have the same days, which the words above the table say
    column(brief.cost),
    numberColumn('Value', (row) => valueOf(totalOf(row), start), money, { meaning: VALUE }),
  ];
}

/** What the row of the benchmark has of a figure. */
type Read = (benchmark: Performance['benchmark']) => number | null;

function rowsOf(performance: Performance, details: ReadonlyMap<string, ModelReport['details']>) {
  const { benchmark } = performance;
  const rows = entriesOf(performance).map((entry): Row => {
    const runs = entry.runs.map((run) => ({ ...run, details: details.get(run.model) ?? null }));
    return { name: entry.family, entry: { ...entry, runs }, benchmark };
  });
  const name = `${benchmarkName(benchmark.name)} (benchmark)`;
  return benchmark.days === 0 ? rows : [...rows, { name, entry: null, benchmark }];
}

function totalOf({ entry, benchmark }: Row): number | null {
  return entry === null ? benchmark.total_return : entry.mean_total_return;
}

/** The entry's name; those of several runs unfold to a link for each. */
function nameCell({ name, entry, benchmark }: Row): HTMLElement {
  if (entry === null)
    return h('div.named', h('span.name', { title: benchmark.name }, swatch(BENCHMARK_LOOK), name));
  const runs = entry.runs
    .toSorted((one, other) => byName(one.model, other.model))
    .map((run) => h('li', runLink(run), ` ${change(run.total_return)}`));
  return h(
    'div.named',
    modelLink(name, lookOf(name)),
    runs.length > 1 &&
      h('details.runs', h('summary', counted(runs.length, 'run')), h('ul', ...runs)),
    caveat(entry.runs),
  );
}

/** In pixels. */
const [DOTS_WIDTH, DOTS_HEIGHT, DOT] = [56, 14, 3.5];

/** A dot per run at its return, on one scale for all entries, with a line at zero. */
function runsColumn(extent: () => readonly [low: number, high: number]) {
  return {
    title: 'Runs',
    isDrawing: true,
    isSpare: true,
    cell: ({ name, entry }: Row) => {
      const [low, high] = extent();
      const x = (value: number) =>
        DOT + ((value - low) / (high - low || 1)) * (DOTS_WIDTH - 2 * DOT);
      const middle = DOTS_HEIGHT / 2;
      const returns = (entry?.runs ?? []).flatMap((run) => run.total_return ?? []);
      return svg(
        'svg',
        {
          class: `dots ${lookOf(name).colour}`,
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

/** The returns of all runs, and zero, lie in between. */
function extentOf({ models }: Performance): [low: number, high: number] {
  const returns = models.flatMap((run) => run.total_return ?? []);
  return [lowest(returns, 0), highest(returns, 0)];
}

/** The row's marks in words; each in a sentence on hover, and those of every run below the table. */
function caveat(runs: readonly ModelReport[]): HTMLElement | false {
  const marks = marksOfRuns(runs);
  if (marks.length === 0) return false;
  return h(
    'small.caveat',
    { title: sentenceOf(marks) },
    marks.map(({ words }) => words).join(' · '),
  );
}

/** The marks of several runs in one row: each respect once, and the days of all. */
export function marksOfRuns(runs: readonly Marked[]): RowMark[] {
  const [first] = runs;
  if (first === undefined) return [];
  const sum = (name: 'failed_model_days' | 'stale_model_days') =>
    runs.reduce((days, own) => days + own[name], 0);
  const byKind = new Map(runs.flatMap((own) => own.incomparable.map((one) => [one.kind, one])));
  return marksOf({
    ...first,
    incomparable: [...byKind.values()],
    failed_model_days: sum('failed_model_days'),
    stale_model_days: sum('stale_model_days'),
  });
}

/** The marks of some runs as notices above their figures. */
export function notices(runs: readonly Marked[]): HTMLElement[] {
  return marksOfRuns(runs).map(({ reason }) => h('p.notice', `${reason}.`));
}

function sentenceOf(marks: readonly RowMark[]): string {
  return marks.map(({ reason }) => reason).join('. ');
}

/** What the marks of the rows mean, folded. */
function markList(models: readonly ModelReport[]): HTMLElement | false {
  const marked = models
    .map((report) => ({ report, marks: marksOf(report) }))
    .filter(({ marks }) => marks.length > 0);
  const entries = marked.map(({ report, marks }) => ({
    name: report.model,
    reason: `${sentenceOf(marks)}.`,
  }));
  const rows = new Set(marked.map(({ report }) => report.family)).size;
  const title = `Why ${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} marked`;
  return marked.length > 0 && h('details.fold', h('summary', title), reasonList(entries));
}

/** Which days the ranking covers, and which days and models it leaves out. */
function rankingView(performance: Performance): HTMLElement {
  const { words, why, models, days } = rankingOf(performance);
  const unranked = models.map(({ model, reason }) => ({ name: model, reason }));
  const left = days.map(({ date, reason }) => ({ name: longDate(date), reason }));
  return h(
    'div.ranking',
    h('p', words.join(' ')),
    models.length > 0 &&
      h(
        'p',
        `${counted(models.length, 'model')} ${models.length === 1 ? 'is' : 'are'} not ranked:`,
      ),
    reasonList(unranked),
    left.length > 0 &&
      h(
        'details.fold',
        h('summary', `Days that do not count: ${count(left.length)}`),
        h('p', why),
        reasonList(left),
      ),
  );
}

/** What a ranking covers and what it leaves out. */
interface Ranking {
  /** Sentences. */
  words: string[];
  /** Models that are not ranked, each with the reason. */
  models: { model: string; reason: string }[];
  /** What holds for all days that do not count. */
  why: string;
  /** These days, each with the models that do not share it. */
  days: { date: string; reason: string }[];
}

type Choice = 'common' | 'clean_after' | 'without_clean_days' | 'without_completed_days';
type Ranked = Pick<Performance, Choice> & { families: readonly unknown[] };

/** Over which days the models are ranked, and which days and models are left out and why. */
export function rankingOf({ common, clean_after: cutoff, families, ...without }: Ranked): Ranking {
  const unclean = [...without.without_clean_days, ...without.without_completed_days];
  const clean =
    cutoff === null
      ? []
      : [`Only days after ${longDate(cutoff)}, the latest knowledge cutoff, count.`];
  if (common === null) {
    const own =
      'Each model is measured over all its own days. Where these differ, the order says little about which model is better.';
    return { words: [own, ...clean], why: '', models: unclean, days: [] };
  }
  const {
    start_date: first,
    end_date: last,
    days,
    left_out: leftOut,
    left_out_days: leftOutDays,
  } = common;
  const all = families.length === 1 ? 'the model' : `all ${counted(families.length, 'model')}`;
  const span =
    first === null || last === null ? '' : ` from ${longDate(first)} to ${longDate(last)}`;
  const ranked = `Ranked over the ${counted(days, 'day')}${span} on which the returns of ${all} start from the same close.`;
  const over = days === 0 ? 'The models have no day in common.' : ranked;
  const less =
    'At least one model has no return for such a day, or a return that also covers an earlier day it missed.';
  return {
    words: [over, ...clean],
    why: less,
    models: [...leftOut, ...unclean],
    days: leftOutDays.map(({ date, missing, models: names }) => ({
      date,
      reason: `not shared by ${namesOf(names, missing)}`,
    })),
  };
}

function namesOf(names: readonly string[], all: number): string {
  const more = all - names.length;
  return names.join(', ') + (more > 0 ? ` and ${counted(more, 'more model')}` : '');
}

/**
 * Why a model should not simply be compared with the others: in a few words for its row, and in a
 * sentence.
 */
interface RowMark {
  words: string;
  reason: string;
}

type Marked = Pick<
  ModelReport,
  | 'incomparable'
  | 'start_date'
  | 'end_date'
  | 'stale_model_days'
  | 'failed_model_days'
  | 'days_before_cutoff'
  | 'knowledge_cutoff'
>;

type Kind = ModelReport['incomparable'][number]['kind'];

const WORDS: Record<Kind, (report: Marked, reason: string) => string> = {
  period: ({ start_date: first, end_date: last }) =>
    `other period: ${longDate(first)} to ${longDate(last)}`,
  missing_days: () => 'missing days',
  stale: ({ stale_model_days: days }) => counted(days, 'stale day'),
  suspected_split: () => 'possible unknown split',
  never_traded: () => 'never traded',
  part_of_universe: (_report, reason) => reason.replace(/^It /, ''),
  costs: () => 'other trading costs',
  universe: () => 'other universe',
  initial_cash: () => 'other initial cash',
  dividends: () => 'dividends treated differently',
};

/** The marks of a model's row, what makes it incomparable first. */
export function marksOf(report: Marked): RowMark[] {
  const {
    incomparable,
    failed_model_days: failed,
    days_before_cutoff: early,
    knowledge_cutoff: cutoff,
  } = report;
  const marks = incomparable.map(({ kind, reason }) => ({
    words: WORDS[kind](report, reason),
    reason,
  }));
  if (failed > 0) {
    const days = counted(failed, 'model-day');
    marks.push({
      words: counted(failed, 'failed day'),
      reason: `${days} failed and ${failed === 1 ? 'has' : 'have'} not been completed since`,
    });
  }
  if (early > 0) {
    const days = counted(early, 'model-day');
    const are = early === 1 ? 'is' : 'are';
    const after = `after its knowledge cutoff, ${longDate(cutoff ?? '')}`;
    const reason = `${days} ${are} not ${after}: it may remember those prices`;
    marks.push({ words: `${counted(early, 'day')} on or before its knowledge cutoff`, reason });
  }
  return marks;
}
