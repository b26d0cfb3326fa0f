import { pageStudy, pageUrl } from '../address.ts';
import { get, getComparison, isTransient } from '../api.ts';
import { h, replace } from '../element.ts';
import { readFilters, filterQuery } from '../filters.ts';
import { filterBar } from '../filter-bar.ts';
import {
  byName,
  wholeNumber,
  counted,
  spanText,
  joinPercent,
  longDate,
  pValue,
  decimal,
} from '../format.ts';
import type {
  ComparedModel,
  ComparedPair,
  Comparison,
  KnownModels,
  Performance,
} from '../../responses.ts';
import { metricLabel, shortLabel } from '../../../performance/labels.ts';
import { type Page, heading } from '../router.ts';
import { nameColumn, numberColumn, table, textColumn } from '../table.ts';
import { definitionList, failure, fold, link, reasonList, section, startJobHint } from '../ui.ts';
import {
  type CompareChoice,
  comparePath,
  readChoice,
  choiceText,
  confidenceText,
  optionFields,
  performanceQuery,
  comparisonQuery,
} from './compare-options.ts';
import { forest } from './forest.ts';
import { type Figures, fitsSideBySide, pairName, sideBySide } from './side-by-side.ts';

/**
 * Whether one model trades better than another, or the difference may be chance; two to four also
 * side by side.
 */
export const showCompare: Page = async (host, _params, signal) => {
  const choice = readChoice(pageUrl().search);
  const { fields, offer } = optionFields(choice);
  const selectNames = (models: KnownModels['models']) => {
    const withDays = models.flatMap(({ family, signature, completed_model_days: days }) =>
      days > 0 ? [family, signature] : [],
    );
    // In another study that without a name has `gpt@#2` for `gpt#2`.
    const isIn = (name: string) => !pageStudy() || name.includes('@');
    const named = withDays.map((name) => (isIn(name) ? name : name.replace(/(#\d+)?$/, '@$1')));
    const names = [...new Set(named)].sort(byName);
    offer(names);
    return names;
  };
  const own = { words: choiceText(choice), fields, selectNames, acrossStudies: true };
  const bar = filterBar(choice.filters, { hides: ['common'], ...own }, signal);
  const content = h('div.stack');
  replace(host, h('div.bar', heading('Compare'), bar), content);
  const { parts, isNothing } = await loadParts(choice, signal).catch(showRefusal);
  replace(content, ...parts);
  if (isNothing && hasChoice(choice)) bar.open = true; // another choice is the way on
};

/** Whether the reader has chosen what is compared. */
function hasChoice({ filters, options }: CompareChoice): boolean {
  return comparePath({ filters, options: { ...options, date: '' } }) !== '/compare';
}

/** Shows why the service refuses the choice; what may pass makes the page try again. */
function showRefusal(error: unknown) {
  if (isTransient(error)) throw error;
  return { parts: failure(error), isNothing: true };
}

/** What the page shows, and whether no model can be compared. */
async function loadParts(choice: CompareChoice, signal: AbortSignal) {
  const { models: chosen } = choice.filters;
  const { against } = choice.options;
  const named = chosen.length === 0 || against === '' ? chosen : [...new Set([...chosen, against])];
  const curves = fitsSideBySide(named);
  const comparison = await getComparison(comparisonQuery(choice, { curves }), signal);
  const { models } = comparison;
  if (models.length === 0) return { parts: emptyView(choice), isNothing: true };
  const isNothing = measured(models).length === 0;
  const ask = () => get('/performance', performanceQuery(choice, named), signal);
  const [known, complete] = await Promise.all([
    isNothing ? ask() : null, // otherwise only what stands side by side needs it
    !curves && fitsSideBySide(models)
      ? // While a job runs there may be more models by now.
        getComparison(comparisonQuery(choice, { curves: true }), signal).catch(() => comparison)
      : comparison,
  ]);
  const pairs = complete.pairs.map(putLeaderFirst);
  return { parts: await views({ ...complete, pairs }, { known, ask }, signal), isNothing };
}

function emptyView(choice: CompareChoice): HTMLElement[] {
  const words = hasChoice(choice)
    ? 'No completed model-day matches this choice.'
    : 'There is nothing to compare yet: no model-day has been completed.';
  return [h('p.answer', words), h('p', ...startJobHint('Start a job'))];
}

/** Minimum of days for an interval. */
const DAYS_NEEDED = 20;
const TOO_EARLY_NOTE =
  `Once the models have ${DAYS_NEEDED} days in common, this page also shows the interval of each return, the probability of being ` +
  'best and, for each pair, whether its difference could be chance.';
const INTERVALS_NOTE =
  'The intervals hold however often you look. Sorted by return. The probability of being best is not a test: two equal models ' +
  'have 50 % each.';

/** The answer, then the returns; of models that cannot be compared yet those that there are. */
async function views(
  comparison: Comparison,
  figures: Figures,
  signal: AbortSignal,
): Promise<(HTMLElement | null)[]> {
  const { models, days, answer } = comparison;
  const known = measured(models);
  const isEarly = known.length === 0;
  const rows = isEarly ? addReturns(models, figures.known) : known;
  const { benchmark, unavailable } = answer;
  const [pair, more] = comparison.pairs;
  const { differ } = readChoice(pageUrl().search).options;
  // Of two models of different studies, what the difference of their terms made.
  const sentence = pair && !more && differ !== '' ? pair.sentence : answer.sentence;
  const shown = forest(rows, {
    confidence: isEarly ? null : confidenceText(comparison.confidence),
    days,
    benchmark,
    notes: [
      isEarly ? days < DAYS_NEEDED && TOO_EARLY_NOTE : INTERVALS_NOTE,
      benchmark === null && `No benchmark is drawn: ${unavailable['benchmark']}.`,
    ],
  });
  const own = filterQuery({ ...readFilters(pageUrl().search), common: 'false' });
  return [
    h(
      'div',
      h('p.answer', joinPercent(sentence)),
      acrossStudies(comparison),
      rows.length > 0 && h('p.quiet', daysText(comparison)),
    ),
    section(
      'Returns',
      rows.length > 0
        ? shown
        : h(
            'p',
            'The models have no day in common; see ',
            link(`/${own}`, 'each model over its own days'),
            '.',
          ),
    ),
    differences(comparison),
    ...(rows.length > 0 ? await sideBySide({ ...comparison, models: rows }, figures, signal) : []),
    leftOutSection(comparison),
    conventionsSection(comparison.conventions),
  ];
}

/** Where pairs have no figures because their studies differ in some terms, a link that allows it. */
function acrossStudies({ pairs }: Comparison): HTMLElement | null {
  const reasons = pairs.map(({ unavailable }) => unavailable['difference']).join(';');
  const named = [...reasons.matchAll(/differ=([\w,]+)/g)].flatMap(([, own = '']) => own.split(','));
  if (named.length === 0) return null;
  const kinds = [...new Set(named)];
  const { filters, options } = readChoice(pageUrl().search);
  const words = kinds.join(', ').replaceAll('_', ' ');
  const way = comparePath({ filters, options: { ...options, differ: `${kinds}` } });
  return h('p', link(way, `Compare them although their studies differ in ${words}`));
}

/** What these models made so far, the highest first. */
export function addReturns(
  models: readonly ComparedModel[],
  performance: Pick<Performance, 'families'> | null,
): ComparedModel[] {
  const families = new Map(performance?.families.map((own) => [own.family, own]));
  const rows = models.flatMap((model) => {
    const { runs = [], mean_total_return: mean = null } = families.get(model.model) ?? {};
    if (mean === null) return [];
    const own = { total_return: mean, interval_is_lower_bound: false };
    const [names, returns] = [runs.map((run) => run.model), runs.map((run) => run.total_return)];
    return { ...model, ...own, runs: names, run_returns: returns };
  });
  return rows.sort((one, other) => other.total_return - one.total_return);
}

/** How the models of each pair differ, in the service's words. */
function differences({ models, pairs }: Comparison): HTMLElement | null {
  if (pairs.length === 0 || measured(models).length === 0) return null;
  return section(
    'Differences',
    table<ComparedPair>({
      caption: 'Pairs',
      rows: pairs,
      limit: 5,
      columns: [
        nameColumn('Pair', pairName),
        textColumn('Difference', 'sentence', { look: () => 'reason' }),
        textColumn('Verdict', verdict, {
          look: ({ shown }) => (shown ? 'gain' : ''),
        }),
        numberColumn(shortLabel('p_value_holm'), 'p_value_holm', pValue, {
          reason: ({ unavailable }) => unavailable['p_value_holm'],
        }),
        numberColumn(metricLabel('correlation'), 'correlation', decimal, {
          meaning: 'Of the daily log returns',
          reason: ({ unavailable }) => unavailable['correlation'],
        }),
      ],
    }),
  );
}

function verdict({ difference, shown }: ComparedPair): string {
  if (difference === null) return 'no figures';
  return shown ? 'more than chance' : 'could be chance';
}

/** A pair with the model that is ahead first, as its sentence names both. */
export function putLeaderFirst(pair: ComparedPair): ComparedPair {
  const { model, against, difference, curve } = pair;
  if (difference === null || difference >= 0) return pair;
  const opposite = (own: number | null) => own && 1 / (1 + own) - 1;
  return {
    ...pair,
    model: against,
    against: model,
    difference: opposite(difference),
    curve: curve?.map((point) => ({ ...point, difference: opposite(point.difference) })),
  };
}

/** The models that have figures, in their order. */
function measured(models: readonly ComparedModel[]): ComparedModel[] {
  return models.filter(({ total_return }) => total_return !== null);
}

/** The days of every return on the page. */
function daysText({ answer, left_out: leftOut, clean_after: cutoff }: Comparison): string {
  const less = counted(leftOut.length, 'other day');
  const words = [
    `Every return on this page is over the same ${counted(answer.days, 'day')}${spanText(answer)}.`,
    leftOut.length > 0 && `${less} ${leftOut.length === 1 ? 'is' : 'are'} left out.`,
    cutoff !== null &&
      `Only days after ${longDate(cutoff)}, the latest knowledge cutoff, are compared.`,
  ];
  return words.filter(Boolean).join(' ');
}

/** How the figures are computed, in the service's own words. */
function conventionsSection(words: Comparison['conventions']): HTMLElement {
  const list = Object.entries(words).map(
    ([name, meaning]) => [metricLabel(name), meaning] as const,
  );
  return section('How it is computed', fold('Conventions', definitionList('meanings', list)));
}

type LeftOutDay = Comparison['left_out'][number];

/** The days and the models that the comparison does not use, and why. */
function leftOutSection(comparison: Comparison): HTMLElement | null {
  const { left_out: days, align } = comparison;
  const models = leftOutModels(comparison);
  if (days.length + models.length === 0) return null;
  const entries = models.map(({ model, reason }) => ({ name: model, reason }));
  return section(
    measured(comparison.models).length > 0 ? 'Left out' : 'What is missing',
    reasonList(entries, { 'aria-label': 'Models left out' }),
    days.length > 0 &&
      table<LeftOutDay>({
        caption: 'Days left out',
        rows: days,
        limit: 10,
        isFixed: true,
        columns: [
          nameColumn(align === 'number' ? 'Day' : 'Date', dayLabel, {
            cell: (row) => h('span.date', longDate(dayLabel(row))),
          }),
          textColumn('Runs', ({ runs }) => runs.join(', ')),
          textColumn('Why', 'reason'),
        ],
      }),
  );
}

function dayLabel({ date, number }: LeftOutDay): string {
  return date ?? wholeNumber(number);
}

const TOO_FEW_DAYS =
  'It has too few model-days in this range; choose it in the filters to compare it anyway';

/**
 * The models without figures, and why: those of the comparison, and those that it did not choose.
 */
export function leftOutModels(comparison: Pick<Comparison, 'models' | 'left_out_models'>) {
  const own = comparison.models.filter(({ total_return }) => total_return === null);
  return [
    ...own.map(({ model, unavailable }) => ({
      model,
      reason: unavailable['total_return'] ?? 'It has no figures',
    })),
    ...comparison.left_out_models.map((model) => ({ model, reason: TOO_FEW_DAYS })),
  ];
}
