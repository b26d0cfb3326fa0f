import { modelPath } from '../../page-paths.ts';
import { h, replace } from '../element.ts';
import { queryForModel } from '../filters.ts';
import { change, cost, count, counted, money, ratio, share } from '../format.ts';
import { type Look, looksOf, swatch } from '../look.ts';
import type { ModelReport, Performance } from '../responses.ts';
import { liveTable, numberColumn, table, textColumn } from '../table.ts';
import { link, reasonList, section } from '../ui.ts';
import { usualStart, valueAtEnd } from './curve-lines.ts';
import { type RowMark, marksOf } from './marks.ts';
import { familiesInOrder, rankingOf } from './ranking.ts';

/** The table of the models, with what its ranking covers. */
export interface Leaderboard {
  element: HTMLElement;
  /** Shows later figures of the same models. */
  update(performance: Performance): void;
}

const VALUE =
  'Portfolio value at the last close; where some days do not count, what the initial cash would have grown to';

/** Every model with the figures that distinguish it from the others. */
export function leaderboard(
  performance: Performance,
  options: { choice?: HTMLElement } = {},
): Leaderboard {
  const {
    models,
    conventions: { definitions: meanings },
  } = performance;
  const looks = looksOf(models.map(({ model }) => model));
  const start = usualStart(models);
  const explained = (
    name: string,
    partOf: (row: ModelReport) => { unavailable: Record<string, string> },
  ) => ({
    meaning: meanings[name],
    reason: (row: ModelReport) => partOf(row).unavailable[name],
  });
  const own = (row: ModelReport) => row;
  const excess = explained('excess_return', ({ relative }) => relative);
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
        cell: (row) => h('div.named', nameOf(row, looks.get(row.model)), caveat(row)),
        raw: ({ model }) => model,
      },
      numberColumn('Value', (row) => valueAtEnd(row, start), money, { meaning: VALUE }),
      numberColumn('Return', (row) => row.total_return, change, {
        ...explained('total_return', own),
        isToned: true,
      }),
      numberColumn('vs. benchmark', (row) => row.relative.excess_return, change, {
        ...excess,
        isToned: true,
      }),
      numberColumn('Sharpe', (row) => row.sharpe_ratio, ratio, explained('sharpe_ratio', own)),
      numberColumn('Drawdown', (row) => row.max_drawdown.depth, share, {
        meaning: meanings['max_drawdown'],
      }),
      numberColumn('Trades', (row) => row.trading.trades, count, { meaning: meanings['trades'] }),
      numberColumn('Days', (row) => row.model_days, count, { meaning: 'Completed model-days' }),
      numberColumn(
        'Cost',
        (row) => row.usage.cost_usd,
        cost,
        explained('cost_usd', ({ usage }) => usage),
      ),
    ],
  });
  const [ranking, marks, families] = [h('div'), h('div'), h('div')];
  const show = (later: Performance) => {
    replace(ranking, rankingView(later));
    replace(marks, markList(later.models));
    replace(families, later.families.length > 0 && familyTable(later));
  };
  show(performance);
  return {
    element: section(
      'Leaderboard',
      options.choice ?? null,
      ranking,
      board.element,
      marks,
      families,
    ),
    update(later) {
      board.update(later.models);
      show(later);
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

function nameOf({ model }: ModelReport, look: Look | undefined): HTMLElement {
  return link(
    modelPath(model) + queryForModel(location.search),
    look !== undefined && swatch(look),
    model,
  );
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
