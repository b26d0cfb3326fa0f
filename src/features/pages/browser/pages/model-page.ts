import { runName } from '#domain/runs.ts';
import { pageStudy, pageUrl, isPublished } from '../address.ts';
import { get } from '../api.ts';
import { correctStudy } from '../history.ts';
import { h, replace, svg, type Child } from '../element.ts';
import { type Filters, readFilters, hasFilters, modelLink, runLink } from '../filters.ts';
import { filterBar } from '../filter-bar.ts';
import {
  counted,
  nonBreakingDate,
  byName,
  wholeNumber,
  money,
  tone,
  change,
  labelInCurrency,
  pValue,
  decimal,
  share,
  price,
  profit,
} from '../format.ts';
import type { JobEntry, ModelReport, KnownModels, Performance } from '../../responses.ts';
import { shortLabel } from '../../../performance/labels.ts';
import { type Page, heading } from '../router.ts';
import { lazyFold, link, notFound, section, viewedFile, definitionList } from '../ui.ts';
import { entryView } from './job-panel.ts';
import { drawdowns, valueCurve, monthlyReturns } from './model-curves.ts';
import {
  exchangeNote,
  type ModelData,
  loadModelData,
  meaningLine,
  type Trade,
} from './model-data.ts';
import { notices } from './leaderboard.ts';
import {
  modelFigures,
  briefFigures,
  figureColumn,
  type ComparedEntry,
  type EntryReport,
  entryReports,
  entryFigure,
  grownValue,
  type Style,
  alphaBand,
  styleDaysText,
} from './model-figures.ts';
import { lineLook, outsideMark, swatch } from '../look.ts';
import { nameColumn, table, numberColumn, dateColumn, textColumn } from '../table.ts';
import { equityCurves, usualStart } from './equity-curves.ts';
import { highest } from '../plot/scale.ts';
import { modelDayPath } from '../../paths.ts';

/** Every executed order, split, dividend and exchange of a model, newest first. */
function tradesTable({ report, trades }: ModelData): HTMLElement {
  const { model, currency } = report;
  return section(
    labelInCurrency('Trades', currency),
    exchangeNote(trades.map(({ side }) => side)),
    table<Trade>({
      caption: `Trades of ${model}`,
      rows: trades.toReversed(),
      empty: 'The model has not traded.',
      limit: 10,
      columns: [
        textColumn('Date', 'date', {
          cell: ({ date }) => link(modelDayPath(model, date), nonBreakingDate(date)),
        }),
        textColumn('Action', 'side', { look: ({ side }) => `action ${side}` }),
        textColumn('Symbol', 'symbol'),
        numberColumn('Shares', 'amount', wholeNumber),
        numberColumn('Price', 'price', price),
        numberColumn('Amount', (row) => Math.abs(row.cashChange), money, {
          meaning: 'What it cost or brought in',
        }),
        numberColumn('Cash after', 'cash', money),
      ],
    }),
  );
}

/** What the model holds, the largest first, with its cost. */
function currentHoldings({ open_positions, end_value, currency }: ModelReport): HTMLElement {
  return section(
    labelInCurrency('Holdings now', currency),
    table<ModelReport['open_positions'][number]>({
      caption: 'Holdings at the last close',
      rows: open_positions,
      empty: 'No shares at the last close.',
      sortedBy: 'Value',
      limit: 8,
      columns: [
        nameColumn('Symbol', 'symbol'),
        numberColumn('Shares', 'quantity', wholeNumber),
        dateColumn('Since', 'since'),
        numberColumn('Cost', 'cost_basis', money),
        numberColumn('Value', 'value', money),
        numberColumn(
          'Weight',
          ({ value }) => (value === null || end_value === 0 ? null : value / end_value),
          share,
        ),
        numberColumn('Profit', 'unrealised_profit', profit, { isToned: true }),
      ],
    }),
  );
}

/** The profit with each symbol. */
function profitBySymbol({ details, performance }: ModelData): Child[] {
  const { symbols } = details;
  const rows = table({
    caption: labelInCurrency('Profit by symbol', performance.models[0]?.currency),
    rows: symbols,
    empty: 'The model has not traded.',
    limit: 25,
    columns: [
      nameColumn('Symbol', 'symbol'),
      numberColumn('Profit', 'profit', profit, { isToned: true }),
      numberColumn('Realised', 'realised_profit', profit),
      numberColumn('Unrealised', 'unrealised_profit', profit),
      numberColumn('Dividends', 'dividends', money),
      numberColumn('Trades', 'trades', wholeNumber),
    ],
  });
  return [rows, symbols.length > 0 && meaningLine(performance, 'symbols')];
}

/** Where a return came from: a bar for each factor, and one for what is left. */

const SUM_NOTE =
  'The first of these is the sum of the daily returns above the risk-free rate. It is not the return, which links its days, and so ' +
  'gains from gains';
/** Size of a contribution's bar, in pixels. */
const [WIDTH, HEIGHT] = [160, 12];

/** The section of a run, or of the mean of several; null where no factors are stored. */
function styleView(style: Style | null | undefined): HTMLElement | null {
  if (style == null) return null;
  if (style.unavailable !== null) return section('Style', h('p.quiet', `${style.unavailable}.`));
  const part = styleDaysText(style);
  const left = { factor: 'left', beta: null, p_value: style.alpha_p_value };
  const rows = [...style.factors, { ...left, contribution: style.alpha_contribution ?? 0 }];
  const most = highest(
    rows.map(({ contribution }) => Math.abs(contribution)),
    0,
  );
  return section(
    'Style',
    h('p', styleText(style)),
    h('p.quiet', SUM_NOTE, part && ', and has the days that lack a factor', '.'),
    style.left_out_factors.length > 0 &&
      h(
        'p.quiet',
        `Left out, for lack of days or because they do not vary: ${style.left_out_factors.join(', ')}.`,
      ),
    table({
      caption: 'Where the return came from',
      rows,
      isFixed: true,
      columns: [
        nameColumn('Factor', 'factor'),
        {
          title: '',
          isDrawing: true,
          isSpare: true,
          cell: ({ contribution }) => contributionBar(contribution, most),
        },
        numberColumn('Points', 'contribution', change, { isToned: true }),
        numberColumn('Beta', 'beta', decimal),
        numberColumn('p', 'p_value', pValue),
      ],
    }),
  );
}

/** `Of +12.4 %, +9.1 % is the market, +2.6 % momentum; +0.7 % (±4.2 %) is left.` */
export function styleText(style: Style): string {
  const { factors, alpha_contribution: left } = style;
  const parts = factors.map(({ factor, contribution }, index) => {
    const name = factor === 'market' ? 'the market' : factor;
    return `${change(contribution)} ${index === 0 ? 'is ' : ''}${name}`;
  });
  const all = factors.reduce((sum, { contribution }) => sum + contribution, left ?? 0);
  return `Of ${change(all)}${styleDaysText(style)}, ${parts.join(', ')}; ${change(left)} (${alphaBand(style)}) is left.`;
}

/** From the middle to the right for a gain, to the left for a loss. */
function contributionBar(contribution: number, most: number): SVGElement {
  const reach = most === 0 ? 0 : (contribution / most) * (WIDTH / 2);
  const [x, width] = [WIDTH / 2 + Math.min(0, reach), Math.abs(reach)];
  return svg(
    'svg',
    { class: 'dots', width: WIDTH, height: HEIGHT, 'aria-hidden': 'true' },
    svg('line', { x1: WIDTH / 2, x2: WIDTH / 2, y1: 0, y2: HEIGHT }),
    svg('rect', { class: reach < 0 ? 'loss' : 'gain', x, y: 1, width, height: HEIGHT - 2 }),
  );
}

/** What a model's page says first, and the page of an entry with several runs. */

/** The key figures in one row: of one run, or the means of all as the leaderboard has them. */
function keyFigures(
  entry: ComparedEntry,
  value: number | null,
  { conventions }: Performance,
): HTMLElement {
  const shown = briefFigures(conventions).map((figure) => {
    const own = figure.format(entryFigure(figure, entry));
    return [figure.label, h('span', { class: figure.isToned && tone(own) }, own)] as const;
  });
  return definitionList('figures', [
    [labelInCurrency('Value', entry.runs[0]?.currency), money(value)],
    ...shown,
  ]);
}

/** The runs of an entry with results, as links; none for a single one. */
function runTabs(
  known: KnownModels['models'],
  { model, isAll }: { model: string; isAll: boolean },
): HTMLElement | null {
  const family = known.find(({ signature }) => signature === model)?.family ?? model;
  const runs = known
    .filter((own) => own.family === family && own.completed_model_days > 0)
    .map(({ signature }) => signature)
    .sort(byName);
  if (runs.length < 2) return null;
  const all = modelLink(family, undefined, 'All runs');
  const tabs = runs.map((run) => runLink(run, family));
  const shown = isAll ? all : tabs[runs.indexOf(model)];
  shown?.setAttribute('aria-current', 'page');
  return h('nav.tabs', { 'aria-label': `Runs of ${family}` }, all, ...tabs);
}

/** An entry with several runs: the mean of them, and each beside the others. */
function entryViews(performance: Performance, signal: AbortSignal): Child[] {
  const [entry] = entryReports(performance);
  if (entry === undefined) return [];
  const days = entry.runs[0]?.model_days ?? 0;
  const words = `The means of ${wholeNumber(entry.runs.length)} runs over the ${counted(days, 'day')} that all of them share.`;
  const style = styleView(entry.details?.style);
  return [
    keyFigures(entry, grownValue(entry.mean_total_return, usualStart(entry.runs)), performance),
    h('p.quiet', words),
    ...notices(entry.runs),
    equityCurves(performance, signal).element,
    section('Runs', runTable(entry, performance)),
    style,
  ];
}

function runTable({ runs }: EntryReport, { conventions }: Performance): HTMLElement {
  return table<ModelReport>({
    caption: 'Runs of this model',
    rows: runs.toSorted((one, other) => byName(one.model, other.model)),
    sortedBy: shortLabel('total_return'),
    columns: [
      nameColumn('Run', 'model', {
        cell: (run) => h('span', swatch(lineLook(run.model)), runLink(run.model, run.family)),
      }),
      ...briefFigures(conventions).map(figureColumn),
    ],
  });
}

/**
 * One model: its key figures, the mean of its runs and each of them; one run, or the only one, with
 * its curve with the trades on it, its months, what it holds and what it traded. All its figures
 * are in a fold.
 */
export const showModel: Page = async (host, params, signal) => {
  const entryName = params['model'] ?? '';
  const { search } = pageUrl();
  const run = /^[1-9]\d{0,8}$/.exec(new URLSearchParams(search).get('run') ?? '')?.[0];
  const model = run === undefined ? entryName : runName(entryName, Number(run));
  const filters = readFilters(search);
  const bar = filterBar(filters, { hides: ['study', 'models', 'common'] }, signal);
  const [tabs, content] = [h('div'), h('div.stack')];
  const title = run === undefined ? entryName : `${entryName} #${run}`;
  const name = heading(title);
  replace(host, h('div.bar', name, bar), tabs, content);
  if (pageStudy() !== null) {
    const { studies } = await get('/models', '', signal);
    // The name of a run has its number after the study: `gpt@shown#2`.
    correctStudy(studies.find((study) => `${entryName}#`.includes(`@${study}#`)) ?? '');
  }
  const [data, { models }] = await Promise.all([
    loadModelData(model, run === undefined ? 'entry' : 'run', signal),
    get('/models', '', signal),
  ]);
  name.append(outsideMark(entryName) ?? '');
  const isAll = !('reason' in data || 'report' in data);
  replace(tabs, runTabs(models, { model, isAll }));
  if (isAll) return replace(content, ...entryViews(data.performance, signal));
  if ('reason' in data)
    return replace(
      content,
      ...notFound(noDaysText(model, filters, data.reason)),
      failuresLink(model),
    );
  const { report } = data;
  replace(
    content,
    keyFigures(
      { runs: [report], mean_total_return: report.total_return },
      report.end_value,
      data.performance,
    ),
    h('p.quiet', coveredDaysText(report)),
    ...notices([report]),
    report.failed_model_days > 0 && failuresLink(model),
  );
  const entry = models.find(({ signature }) => signature === model)?.entry ?? null;
  content.append(...runViews(data, entry, signal));
};

function* runViews(
  data: ModelData,
  entry: JobEntry['entry'] | null,
  signal: AbortSignal,
): Generator<HTMLElement> {
  yield valueCurve(data, signal);
  yield drawdowns(data, signal);
  yield h('div.two.even', monthlyReturns(data), currentHoldings(data.report));
  yield tradesTable(data);
  const style = styleView(data.report.details?.style);
  if (style !== null) yield style;
  yield section(
    'More',
    lazyFold('All figures, with their meanings', () => [modelFigures(data)]),
    lazyFold('Profit by symbol', () => profitBySymbol(data)),
    entry !== null && lazyFold('What the model was asked', () => [entryView(entry)]),
  );
}

/** The feed has every failed model-day with its cause; in a published folder it has no filters. */
function failuresLink(model: string): HTMLElement | null {
  if (isPublished()) return null;
  const query = new URLSearchParams({ models: model, kind: 'failure' });
  return h('p', link(`/decision-feed?${query}`, 'Its failed model-days, each with its cause'));
}

/** The days of its figures, which need not be those that it has in common with other models. */
function coveredDaysText({
  model_days: days,
  start_date: from,
  end_date: to,
}: ModelReport): string {
  const [first, last] = [nonBreakingDate(from), nonBreakingDate(to)];
  return `These figures cover its own ${counted(days, 'model-day')}, from ${first} to ${last}.`;
}

function noDaysText(model: string, filters: Filters, reason: string | null): string {
  if (reason !== null) return `Model ${model} has no day after its knowledge cutoff. ${reason}.`;
  if (!hasFilters(filters))
    return `Model ${model} has no completed model-days.${viewedFile() === null ? ' Start a job for it on the overview.' : ''}`;
  return `Model ${model} has no completed model-days that match these filters.`;
}
