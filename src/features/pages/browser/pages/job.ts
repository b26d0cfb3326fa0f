import { outsideMark } from '../look.ts';
import { compact, count as countOf, inCurrency, limitsText } from '#text/sentences.ts';
import { modelDayPath, modelPath } from '../../paths.ts';
import { type Child, h, type LiveView, morph, replace } from '../element.ts';
import {
  wholeNumber,
  counted,
  money,
  shortId,
  shortList,
  nonBreakingDate,
  byName,
  entryNames,
} from '../format.ts';
import { poll, throttleRefresh } from '../poll.ts';
import { metricLabel } from '../../../performance/labels.ts';
import type { Status, ModelReport, Performance } from '../../responses.ts';
import { heading, type Page } from '../router.ts';
import { liveTable, numberColumn, textColumn, nameColumn } from '../table.ts';
import { definitionList, fold, foldAfter, link, notFound, section } from '../ui.ts';
import {
  entryName,
  entryView,
  jobPanel,
  totalCostText,
  type ReasonGroup,
  groupLeftOut,
} from './job-panel.ts';
import { MAX_COMPARED } from '#domain/runs.ts';
import { isPublished } from '../address.ts';
import { get } from '../api.ts';
import { correctStudy } from '../history.ts';
import { figureColumn, findFigure } from './model-figures.ts';
import { getAnswer, rankedModels } from './leaderboard.ts';

/**
 * Who leads in one job, its curves, leaderboard and cost, over its own model-days: empty until its
 * first refresh.
 */
function jobResults(jobId: string, signal: AbortSignal) {
  const element = h('div.stack');
  const query = `?job_id=${encodeURIComponent(jobId)}`;
  const choice = link(`/${query}`, 'On the overview');
  choice.hidden = isPublished();
  const ranking = { job_id: jobId, by: 'entry', common: 'true' };
  const detailed = () => get('/performance', { ...ranking, details: 'true' }, signal);
  const ranked = rankedModels({ choice, query, detailed }, signal);
  const all = link(`/${query}&common=false`, 'Show each model over all its days');
  const unranked = h('p.notice', 'The models have no day in common. ', all, '.');
  let cost: LiveView<Costs> | null = null;
  const refresh = async (status: Status) => {
    // Ranked as on the overview; what the runs cost is over all their days.
    const [performance, all, answer] = await Promise.all([
      get('/performance', ranking, signal),
      get('/performance', { job_id: jobId }, signal),
      entryNames(status.models).length > MAX_COMPARED ? null : getAnswer(query, signal),
    ]);
    if (all.models.length === 0) return replace(element, h('p.notice', noResults(status)));
    const costs = { performance: all, usage: status.usage };
    cost ??= costSection(costs);
    cost.update(costs);
    const isRanked = performance.models.length > 0;
    if (isRanked) ranked.update({ performance, answer });
    morph(element, isRanked ? ranked.element : unranked, cost.element);
  };
  return { element, refreshFor: throttleRefresh(refresh) };
}

function noResults({ status, completed_at, progress }: Status): string {
  if (status === 'discarded')
    return 'This job was discarded: its results are in no figure. The data is kept.';
  if (completed_at === null) return 'Curves and figures appear as model-days complete.';
  if (progress.completed === progress.skipped)
    return 'This job has no results: it completed none of its model-days.';
  return 'No results of this job are in use: later jobs have replaced them.';
}

/** Names of the figures of usage and cost. */
const USAGE = [
  ...['model_days', 'requests', 'prompt_tokens', 'cached_tokens', 'completion_tokens'],
  ...['reasoning_tokens', 'cost_usd', 'profit_per_cost_usd'],
];

/** The figures of all models of a job, and what the job used. */
interface Costs {
  performance: Performance;
  usage: Status['usage'];
}

/** What a job's models used and cost, and the cost of the whole job. */
function costSection({ performance: first }: Costs): LiveView<Costs> {
  const columns = USAGE.map((name) => figureColumn(findFigure(first.conventions, name)));
  const total = h('p');
  const models = liveTable<ModelReport>({
    caption: 'Usage and cost of the models',
    rows: [],
    key: ({ model }) => model,
    sortedBy: metricLabel('cost_usd'),
    columns: [
      nameColumn('Model', 'model', {
        cell: ({ model }) => h('span', link(modelPath(model), model), outsideMark(model)),
      }),
      ...columns,
    ],
  });
  return {
    element: section('Cost', total, models.element),
    update({ performance, usage }) {
      models.update(performance.models.toSorted((one, other) => byName(one.model, other.model)));
      morph(total, totalCostText(usage));
    },
  };
}

/**
 * One job: its progress, curves, figures and cost, what it left out, and what it ran with.
 */
export const showJob: Page = async (host, params, signal) => {
  const jobId = params['job_id'] ?? '';
  const panel = jobPanel(jobId, { titled: false });
  const results = jobResults(jobId, signal);
  const leftOut = leftOutView();
  const ran = h('div');
  const way = h(
    'nav.way',
    { 'aria-label': 'Jobs' },
    link('/job-list', 'All jobs'),
    h('span.quiet', jobId),
  );
  leftOut.element.hidden = true; // until the job is known
  const parts = [way, panel.element, results.element, leftOut.element, ran];
  replace(host, heading(`Job ${shortId(jobId)}`), ...parts);

  let isOver = true;
  const refresh = async () => {
    const status = await panel.refresh(signal);
    if (status === null) {
      const ways = [link('/job-list', 'all jobs'), ', '];
      replace(panel.element, ...notFound(`There is no job ${jobId}.`, ...ways));
      return 'still';
    }
    correctStudy(status.study ?? '');
    isOver = status.completed_at !== null;
    leftOut.element.hidden = false;
    if (ran.childElementCount === 0) replace(ran, termsSection(status));
    leftOut.update(status);
    const hasMoved = await results.refreshFor(status);
    return hasMoved || !isOver ? 'moving' : 'still';
  };
  await refresh();
  if (!isOver) return () => poll(refresh, signal);
};

function groupDates({ days }: ReasonGroup): string[] {
  return [...new Set(days.map(({ date }) => date))].sort();
}

function groupModels({ days }: ReasonGroup): string[] {
  return [...new Set(days.map(({ model }) => model))];
}

function datesCell(row: ReasonGroup): HTMLElement {
  const { date, model, days } = row;
  if (days.length > 1) return h('div.names', datesText(groupDates(row)));
  return link(modelDayPath(model, date), nonBreakingDate(date));
}

function modelsCell(row: ReasonGroup): Child {
  const models = groupModels(row);
  return models.length > 1 ? shortList(models) : link(modelPath(row.model), row.model);
}

/** What a job left out, and why: failed and skipped model-days, and those that never ran. */
function leftOutView(): LiveView<Status> {
  const emptyNote = h('p.quiet');
  const reasons = liveTable<ReasonGroup>({
    caption: 'Model-days without results, by reason',
    rows: [],
    key: ({ status, error }) => `${status} ${error}`,
    limit: 12, // each may be another text of a provider
    isFixed: true,
    columns: [
      textColumn('What', statusText, {
        cell: (row) => h(`span.state.${row.status}`, statusText(row)),
      }),
      textColumn('Reason', 'error', { look: () => 'reason' }),
      numberColumn('Model-days', ({ days }) => days.length, wholeNumber),
      textColumn('Dates', (row) => groupDates(row).join(' '), {
        cell: datesCell,
        look: () => 'names',
      }),
      textColumn('Models', (row) => groupModels(row).join(', '), {
        cell: modelsCell,
        look: () => 'names',
      }),
    ],
  });
  return {
    element: section('Left out', emptyNote, reasons.element),
    update(status) {
      const rows = groupLeftOut(status);
      const isRunning = status.completed_at === null;
      morph(emptyNote, isRunning ? 'Nothing so far.' : 'Nothing: every model-day was completed.');
      emptyNote.hidden = rows.length > 0;
      reasons.element.hidden = !emptyNote.hidden;
      reasons.update(rows);
    },
  };
}

function statusText({ status }: ReasonGroup): string {
  return status === 'pending' ? 'not run' : status;
}

/** "Mon 15 Sep 2025", two of them, or "Mon 15 Sep 2025 to Tue 30 Sep 2025, 12 dates". */
export function datesText(dates: readonly string[]): string {
  const words = dates.map(nonBreakingDate);
  if (dates.length <= 2) return words.join(', ');
  return `${words[0]} to ${words.at(-1)}, ${dates.length} dates`;
}

/** The others of a large job are in a fold of their own. */
const ENTRIES_AT_FIRST = 20;

/** What a job ran with: its terms, and what each model was asked. */
function termsSection(status: Status): HTMLElement {
  const { symbols } = status.terms;
  return section(
    'Terms',
    definitionList('entry', termRows(status)),
    fold(counted(symbols.length, 'symbol'), h('p', symbols.join(', '))),
    h('h3', 'What ran'),
    ...foldAfter(
      ENTRIES_AT_FIRST,
      status.entries.map((ran) => fold(entryName(ran), entryView(ran.entry))),
      (others) => `${wholeNumber(others)} more`,
    ),
  );
}

/** The terms of a job, each with its name. */
export function termRows({
  study,
  date_range,
  universe,
  terms,
  replace_existing,
}: Omit<Status, 'details'>): [string, string][] {
  const limit = terms.max_cost_usd;
  const { currency } = terms.market;
  return compact<[string, string]>([
    study !== null && ['Study', study],
    ['Dates', datesText(date_range)],
    ['Universe', `${universe ?? 'default'}, ${counted(terms.symbols.length, 'symbol')}`],
    ['Market', `${terms.market.name}, in ${currency}`],
    ['Initial cash', inCurrency(currency, money(terms.initial_cash))],
    ['Commission', commission(terms)],
    [
      'Slippage',
      terms.slippage_bps > 0
        ? `orders fill ${countOf(terms.slippage_bps, 'basis point')} worse than the open`
        : 'none',
    ],
    ['Open', terms.open === 'hidden' ? 'hidden until the orders are in' : 'shown'],
    ['Limits', limitsText(terms.limits)],
    ['Dividends', terms.dividends ? 'paid' : 'not paid'],
    ['Steps', `at most ${wholeNumber(terms.max_steps)} per model-day`],
    [
      'Cost limit',
      limit === null
        ? 'none, unless an entry has its own'
        : `$${money(limit)} per model, unless its entry has another`,
    ],
    ['Existing results', replace_existing ? 'replaced' : 'kept: completed model-days are skipped'],
  ]);
}

function commission({
  commission_per_trade: fixed,
  commission_bps: share,
  min_commission: least,
  sell_tax_bps: tax,
  market: { currency },
}: Status['terms']): string {
  const amount = (own: number) => inCurrency(currency, money(own));
  const usual = compact([
    fixed > 0 && amount(fixed),
    share > 0 && `${countOf(share, 'basis point')} of its value`,
  ]).join(' and ');
  const ofOrder = [usual, least > 0 && `at least ${amount(least)}`].filter(Boolean).join(', ');
  const all = [
    ofOrder && `${ofOrder} per executed order`,
    tax > 0 && `a tax of ${countOf(tax, 'basis point')} on sales`,
  ];
  return all.filter(Boolean).join('; ') || 'none';
}
