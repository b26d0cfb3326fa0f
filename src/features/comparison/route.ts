import * as v from 'valibot';
import { conventions } from './conventions.ts';
import { toDigits, type Interval } from './difference.ts';
import {
  countSchema as count,
  dateText,
  daysFilter,
  namedResponse,
  figure,
  flagFilter,
  jobFilter,
  studyField,
  studyFilter,
  named,
  namesFilter,
  textFilter,
  unavailable,
  wordFilter,
  nullableDate,
} from '#api/schemas.ts';
import { incomparability, outside } from '../performance/response.ts';
import { lookKinds } from './looks.ts';
import { MAX_CURVE_MODELS, MIN_CURVE_MODELS, type ComparedModelReport } from './models.ts';
import { reportDay, type PairReport } from './pairs.ts';
import { type Experiment, runExperiment } from '../experiments/experiment.ts';
import { differences } from '../experiments/study-terms.ts';
import { resolveStudy } from '#api/studies.ts';
import { MAX_COMPARED } from '#domain/runs.ts';
import { deploymentFields } from '#settings/settings.ts';
import { type Context, formatQuery, objectTable } from '#api/handler.ts';
import { checkJob, dateRangeEntries, parseFilters } from '#api/filters.ts';
import { benchmarkEntry } from '../performance/filters.ts';
import { checkBenchmark } from '../performance/choose-benchmark.ts';
import { MODEL_DAY_ERRORS, route } from '#api/route.ts';

/** Feature: whether models differ by more than chance: differences with intervals. */

/** The parts of a comparison as rows of tables, with a cell per column. */

const modelColumns = [
  'model',
  'runs',
  'run_returns',
  'total_return',
  'interval_low',
  'interval_high',
  'standard_error_daily',
  'degrees_of_freedom',
  'variance_share_of_runs',
  'interval_is_lower_bound',
  'probability_best',
  'knowledge_cutoff',
  'days_before_cutoff',
  'incomparable',
  'unavailable',
  'study',
] as const;

const pairColumns = [
  'model',
  'against',
  'difference',
  'interval_low',
  'interval_high',
  'mean_daily_difference',
  'standard_error_daily',
  'degrees_of_freedom',
  'p_value',
  'p_value_holm',
  'shown',
  'smallest_difference',
  'days_needed',
  'variance_share_of_runs',
  'interval_is_lower_bound',
  'sentence',
  'unavailable',
  'study',
] as const;

interface Reported {
  interval: Interval | null;
  unavailable: Readonly<Record<string, string | undefined>>;
}

/** A report by columns; `unavailable` says why figures are empty. */
function reportCells<Report extends Reported>({ interval, unavailable, ...report }: Report) {
  const reasons = [...new Set(Object.values(unavailable))].join('; ');
  return {
    ...report,
    interval_low: interval?.low ?? null,
    interval_high: interval?.high ?? null,
    unavailable: reasons || null,
  };
}

/** `run_returns` is `gpt-5:0.031 gpt-5#2:0.012`. */
function modelRow(model: ComparedModelReport) {
  const returns = model.runs.map((run, index) => `${run}:${model.run_returns[index] ?? ''}`);
  return {
    ...reportCells(model),
    runs: model.runs.length,
    run_returns: returns.join(' '),
    incomparable: model.incomparable.map(({ kind }) => kind).join('; '),
  };
}

/** Correlation and curve are not in the table, so neither are their reasons. */
export function pairRow(pair: PairReport) {
  const { correlation: _, ...unavailable } = pair.unavailable;
  return reportCells({ ...pair, unavailable });
}

/** The response of GET /comparison. */

const interval = v.nullable(named('Interval', { low: v.number(), high: v.number() }));
const modelName = v.string();

const uncertaintyEntries = {
  standard_error_daily: figure,
  degrees_of_freedom: figure,
  variance_share_of_runs: figure,
  interval_is_lower_bound: v.boolean(),
  unavailable,
};

export const comparisonResponse = namedResponse('ComparisonResponse', {
  study: studyField,
  start_date: nullableDate,
  end_date: nullableDate,
  days: count,
  align: v.picklist(['date', 'number']),
  confidence: v.number(),
  looks: v.picklist(lookKinds),
  boundary: figure,
  answer: named('Answer', {
    sentence: v.string(),
    leader: v.nullable(modelName),
    total_return: figure,
    against: v.nullable(modelName),
    lead: figure,
    interval,
    shown: v.boolean(),
    left_out: v.array(modelName),
    benchmark: v.nullable(
      named('ComparedBenchmark', { name: v.string(), total_return: v.number() }),
    ),
    days: count,
    start_date: nullableDate,
    end_date: nullableDate,
    unavailable,
  }),
  clean_after: nullableDate,
  left_out_models: v.array(modelName),
  left_out: v.array(
    named('LeftOutDay', {
      date: v.optional(dateText),
      number: v.optional(count),
      runs: v.array(v.string()),
      reason: v.string(),
    }),
  ),
  models: v.array(
    named('ComparedModel', {
      model: modelName,
      runs: v.array(v.string()),
      run_returns: v.array(figure),
      total_return: figure,
      interval,
      probability_best: figure,
      knowledge_cutoff: nullableDate,
      days_before_cutoff: count,
      outside,
      incomparable: v.array(incomparability),
      ...uncertaintyEntries,
    }),
  ),
  pairs: v.array(
    named('ComparedPair', {
      model: modelName,
      against: modelName,
      difference: figure,
      interval,
      mean_daily_difference: figure,
      p_value: figure,
      p_value_holm: figure,
      shown: v.boolean(),
      smallest_difference: figure,
      days_needed: figure,
      correlation: figure,
      curve: v.optional(
        v.array(
          named('DifferencePoint', {
            date: v.optional(dateText),
            number: v.optional(count),
            difference: figure,
          }),
        ),
      ),
      sentence: v.string(),
      ...uncertaintyEntries,
    }),
  ),
  leader: named('Leader', {
    model: v.nullable(modelName),
    sharpe_ratio_daily: figure,
    probabilistic_sharpe_ratio: figure,
    deflated_sharpe_ratio: figure,
    expected_best_sharpe_ratio_daily: figure,
    trials: count,
    trials_elsewhere: count,
    unavailable,
  }),
  conventions: named(
    'ComparisonConventions',
    Object.fromEntries(Object.keys(conventions).map((name) => [name, v.string()])),
  ),
});

const DEFAULT_CONFIDENCE = '0.95';
const [MIN_CONFIDENCE, MAX_CONFIDENCE] = [0.0001, 0.9999];
const CONFIDENCE_MESSAGE = `expected a number from ${MIN_CONFIDENCE} to ${MAX_CONFIDENCE}`;

const KIND = `(${differences.join('|')})`;
const DIFFER = new RegExp(`^${KIND}(,${KIND})*$`);

const comparisonQuery = v.object({
  models: namesFilter(
    `Up to ${MAX_COMPARED} models, separated by commas: entries by signature, or single runs, with # percent-encoded. ` +
      'If absent, every entry with enough model-days.',
  ),
  against: textFilter(
    'A model to compare every other model with: the response has only its pairs.',
  ),
  study: studyFilter,
  differ: v.optional(
    v.pipe(
      v.string(),
      v.regex(DIFFER, `expected some of ${differences.join(', ')}, separated by commas`),
      v.transform((kinds) => differences.filter((kind) => kinds.split(',').includes(kind))),
      v.description(
        'Terms, separated by commas, that may differ between studies whose models are compared.',
      ),
    ),
  ),
  job_id: jobFilter,
  ...dateRangeEntries,
  ...benchmarkEntry,
  days: daysFilter('the models compared'),
  align: wordFilter(
    ['date', 'number'],
    'Whether days are matched by date, or by their number in each model’s market, for control markets.',
  ),
  confidence: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d*\.?\d+$/, CONFIDENCE_MESSAGE),
      v.transform(Number),
      v.number(),
      v.minValue(MIN_CONFIDENCE, CONFIDENCE_MESSAGE),
      v.maxValue(MAX_CONFIDENCE, CONFIDENCE_MESSAGE),
      v.description('The confidence of the intervals, and of a difference that is shown.'),
    ),
    DEFAULT_CONFIDENCE,
  ),
  curves: flagFilter(
    `Whether each pair has the curve of its difference, for ${MIN_CURVE_MODELS} to ${MAX_CURVE_MODELS} models. Not in the CSV.`,
  ),
  looks: wordFilter(
    lookKinds,
    'How often you look: once, at the end, or daily, as days arrive. With daily, intervals and p-values hold for all days at once.',
  ),
  ...formatQuery,
  table: wordFilter(['models', 'pairs'], 'Which of the tables, as CSV.'),
});

type Query = v.InferOutput<typeof comparisonQuery>;

type Response = v.InferOutput<typeof comparisonResponse>;

function comparisonJson(
  { settings }: Context,
  { comparison: compared, ...experiment }: Experiment,
  { align, confidence, looks }: Query,
): string {
  const { models, pairs, leader, leftOut, days, boundary, answer } = compared;
  const response: Response = {
    study: experiment.study,
    start_date: experiment.startDate,
    end_date: experiment.endDate,
    days: days.length,
    align,
    confidence,
    looks,
    boundary: boundary === null ? null : toDigits(boundary),
    answer,
    clean_after: experiment.cleanAfter,
    left_out_models: experiment.leftOutModels,
    left_out: leftOut.map(({ day, runs, reason }) => ({ ...reportDay(day), runs, reason })),
    models,
    pairs,
    leader,
    conventions,
    ...deploymentFields(settings),
  };
  return JSON.stringify(response);
}

export const comparisonRoute = route({
  method: 'GET',
  path: '/comparison',
  tool: 'comparison',
  tag: 'results',
  summary:
    'Whether models differ by more than chance: differences with intervals, and what it would take to show them.',
  query: comparisonQuery,
  response: comparisonResponse,
  errors: MODEL_DAY_ERRORS,
  hasTable: true,
  isKept: true,
  list: 'pairs',
  rest: 'ask for fewer by models',
  handle(context, { query: given, format }) {
    const query = resolveStudy(context, given, { areMixed: true });
    const { startDate, endDate, jobId } = parseFilters(query);
    checkJob(context.database, { jobId });
    checkBenchmark(context.database, query.benchmark);
    const { table } = query;
    const experiment = runExperiment(context.database, {
      ...query,
      models: query.models?.split(','),
      differ: query.differ ?? [],
      study: query.study ?? (jobId === undefined ? '' : undefined),
      window: { startDate, endDate, jobId },
      curves: query.curves && format !== 'csv',
    });
    if (format !== 'csv') return comparisonJson(context, experiment, query);
    const { study } = experiment;
    const { models, pairs } = experiment.comparison;
    return table === 'models'
      ? objectTable(
          'models.csv',
          modelColumns,
          models.map((one) => ({ ...modelRow(one), study })),
        )
      : objectTable(
          'pairs.csv',
          pairColumns,
          pairs.map((one) => ({ ...pairRow(one), study })),
        );
  },
});
