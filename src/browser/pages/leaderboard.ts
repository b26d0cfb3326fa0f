import { h, replace } from '../element.ts';
import { modelLink } from '../filters.ts';
import { byName, change, cost, count, counted, longDate, money, ratio, share } from '../format.ts';
import { looksOf } from '../look.ts';
import type { ModelReport, Performance } from '../responses.ts';
import { liveTable, numberColumn, table, textColumn } from '../table.ts';
import { reasonList, section } from '../ui.ts';
import { usualStart, valueAtEnd } from './equity-curves.ts';
import {
  type Figure,
  drawdown,
  figureColumn,
  relativeFigure,
  reportFigure,
  selectionFigure,
  tradingFigure,
  usageFigure,
} from './model-figures.ts';

/** The table of the models, with what its ranking covers. */
export interface Leaderboard {
  element: HTMLElement;
  /** Shows later figures of the same models. */
  update(performance: Performance): void;
  /** Shows what only the details of the models have. */
  complete(detailed: Performance): void;
}

const VALUE =
  'Portfolio value at the last close; where some days do not count, what the initial cash would have grown to';

/** Every model with the figures that distinguish it from the others. */
export function leaderboard(performance: Performance, choice: HTMLElement): Leaderboard {
  const {
    models,
    conventions: { definitions },
  } = performance;
  const looks = looksOf(models.map(({ model }) => model));
  const start = usualStart(models);
  const column = (figure: Figure) => figureColumn(figure, definitions);
  const details = new Map<string, ModelReport['details']>();
  const detailed = (rows: readonly ModelReport[]) =>
    rows.map((row) => ({ ...row, details: details.get(row.model) ?? row.details }));
  let newest = performance;
  const board = liveTable<ModelReport>({
    caption: 'Leaderboard of the models',
    rows: models,
    key: ({ model }) => model,
    sortedBy: 'Return',
    columns: [
      {
        title: 'Model',
        isName: true,
        by: ({ model }) => model,
        cell: (row) => h('div.named', modelLink(row.model, looks(row.model)), caveat(row)),
        raw: ({ model }) => model,
      },
      numberColumn('Value', (row) => valueAtEnd(row, start), money, { meaning: VALUE }),
      column(reportFigure('total_return', change, { label: 'Return' })),
      column(relativeFigure('excess_return', change, { label: 'vs. benchmark' })),
      column(reportFigure('sharpe_ratio', ratio, { label: 'Sharpe' })),
      column({ ...drawdown, label: 'Drawdown' }),
      column(selectionFigure('percentile', share, { label: 'Selection', name: 'selection' })),
      column(tradingFigure('trades', count)),
      numberColumn('Days', (row) => row.model_days, count, { meaning: 'Completed model-days' }),
      column(usageFigure('cost_usd', cost, { label: 'Cost' })),
    ],
  });
  const [ranking, marks, families] = [h('div'), h('div'), h('div')];
  const show = (later: Performance) => {
    newest = later;
    replace(ranking, rankingView(later));
    replace(marks, markList(later.models));
    replace(families, later.families.length > 0 && familyTable(later));
  };
  show(performance);
  return {
    element: section('Leaderboard', choice, ranking, board.element, marks, families),
    update(later) {
      board.update(detailed(later.models));
      show(later);
    },
    complete({ models: known }) {
      for (const { model, details: own } of known) details.set(model, own);
      board.update(detailed(newest.models));
    },
  };
}

type Family = Performance['families'][number];

/**
 * The runs of each entry that has several, side by side, with the mean and the spread of their
 * returns.
 */
function familyTable({
  families,
  conventions: { definitions: meanings },
}: Performance): HTMLElement {
  const runsOf = ({ runs }: Family) =>
    runs.map(({ model, total_return }) => `${model} ${change(total_return)}`).join(', ');
  const figure = (
    title: string,
    name: 'mean_total_return' | 'total_return_deviation',
    format: typeof change,
  ) => numberColumn<Family>(title, (row) => row[name], format, { meaning: meanings[name] });
  const columns = [
    textColumn<Family>('Runs of', ({ family }) => family, { isName: true }),
    numberColumn<Family>('Runs', ({ runs }) => runs.length, count),
    figure('Mean return', 'mean_total_return', change),
    figure('Deviation', 'total_return_deviation', share),
    { title: 'Return of each run', cell: runsOf },
  ];
  return table({ caption: 'Runs of the same entry', rows: familiesInOrder(families), columns });
}

/** The row's marks in words; each in a sentence on hover, and all of them below the table. */
function caveat(report: ModelReport): HTMLElement | false {
  const marks = marksOf(report);
  if (marks.length === 0) return false;
  return h(
    'small.caveat',
    { title: sentenceOf(marks) },
    marks.map(({ words }) => words).join(' · '),
  );
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
  const title = `Why ${counted(marked.length, 'row')} ${marked.length === 1 ? 'is' : 'are'} marked`;
  return marked.length > 0 && h('details.fold', h('summary', title), reasonList(entries));
}

/** Which days the ranking covers, and which days and models it leaves out. */
function rankingView(performance: Performance): HTMLElement {
  const { words, models, days } = rankingOf(performance);
  const unranked = models.map(({ model, reason }) => ({ name: model, reason }));
  const left = days.map(({ date, reason }) => ({ name: date, reason }));
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
  /** Days that do not count, each with the models that do not share it. */
  days: { date: string; reason: string }[];
}

type Choice = 'common' | 'clean_after' | 'without_clean_days' | 'without_completed_days';
type Ranked = Pick<Performance, Choice> & { models: readonly unknown[] };

/** Over which days the models are ranked, and which days and models are left out and why. */
export function rankingOf({ common, clean_after: cutoff, models, ...without }: Ranked): Ranking {
  const unclean = [...without.without_clean_days, ...without.without_completed_days];
  const clean =
    cutoff === null
      ? []
      : [`Only days after ${longDate(cutoff)}, the latest knowledge cutoff, count.`];
  if (common === null) {
    const own =
      'Each model is measured over all its own days. Where these differ, the order says little about which model is better.';
    return { words: [own, ...clean], models: unclean, days: [] };
  }
  const {
    start_date: first,
    end_date: last,
    days,
    left_out: leftOut,
    left_out_days: leftOutDays,
  } = common;
  const all = models.length === 1 ? 'the model has' : `all ${counted(models.length, 'model')} have`;
  const span =
    first === null || last === null ? '' : ` from ${longDate(first)} to ${longDate(last)}`;
  const ranked = `Ranked over the ${counted(days, 'day')}${span} on which ${all} a return from the same close.`;
  const over = days === 0 ? 'The models have no day in common.' : ranked;
  const number = leftOutDays.length;
  const [doNot, them] = number === 1 ? ['does', 'it'] : ['do', 'them'];
  const less =
    `${counted(number, 'day')} ${doNot} not count, because at least one model has no return for ${them}, or a return that also ` +
    'covers an earlier day it missed.';
  return {
    words: [over, ...(number > 0 ? [less] : []), ...clean],
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
 * The families in the order of their names, and the runs of each: those of `gpt-9` before `gpt-10`,
 * `gpt-9#2` before `gpt-9#10`.
 */
export function familiesInOrder<
  Family extends { family: string; runs: readonly { model: string }[] },
>(families: readonly Family[]): Family[] {
  const inOrder = families.toSorted((one, other) => byName(one.family, other.family));
  return inOrder.map((own) => ({
    ...own,
    runs: own.runs.toSorted((one, other) => byName(one.model, other.model)),
  }));
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

const WORDS: Record<Kind, (report: Marked) => string> = {
  period: ({ start_date: first, end_date: last }) => `other period: ${first} to ${last}`,
  missing_days: () => 'missing days',
  stale: ({ stale_model_days: days }) => counted(days, 'stale day'),
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
  const marks = incomparable.map(({ kind, reason }) => ({ words: WORDS[kind](report), reason }));
  if (failed > 0) {
    const days = counted(failed, 'model-day');
    marks.push({
      words: counted(failed, 'failed day'),
      reason: `${days} failed and ${failed === 1 ? 'was' : 'were'} not completed since`,
    });
  }
  if (early > 0) {
    const days = counted(early, 'model-day');
    const reason = `${days} ${early === 1 ? 'is' : 'are'} not after its knowledge cutoff, ${cutoff}: it may remember those prices`;
    marks.push({ words: `${counted(early, 'day')} up to its knowledge cutoff`, reason });
  }
  return marks;
}
