import * as v from 'valibot';
import type { Cell } from '../basics/csv.ts';
import { factorNames } from '../database/factors.ts';
import { type Change, changesOf } from '../database/records/results.ts';
import { reported, toDollars } from '../basics/money.ts';
import { failedDays, withoutCompletedDays } from '../experiments/counted-days.ts';
import { checkBenchmark } from '../performance/choose-benchmark.ts';
import type { IncomparableModel } from '../performance/comparability.ts';
import {
  reportFamilies,
  type RunOfFamily,
  modelReport,
  prepareReports,
  type ReportRequest,
} from '../performance/model-reports.ts';
import { dailyRate } from '../performance/figure.ts';
import { reportConventions } from '../performance/definitions.ts';
import { checkFactors, reportStyle, type Style } from '../performance/style.ts';
import { commissionOf } from '../performance/trading.ts';
import {
  type Context,
  csvTable,
  deploymentFields,
  formatQuery,
  type Input,
  listBody,
  type ResponseBody,
  type Table,
} from './handler.ts';
import { benchmarkEntry, checkNames, choiceEntries, filtersOf, readCounted } from './filters.ts';
import { flagFilter, wordFilter } from './schemas.ts';

const curveColumns = [
  'model',
  'date',
  'value',
  'daily_return',
  'stale',
  'benchmark_value',
  'family',
  'before_cutoff',
  'dividends',
  'dividend_status',
  'growth',
  'drawdown',
];
const tradeColumns = [
  'model',
  'date',
  'side',
  'symbol',
  'amount',
  'price',
  'commission',
  'cash',
  'cash_change',
];

const styleColumns = [
  'model',
  'factor',
  'beta',
  'standard_error',
  'p_value',
  'contribution',
  'days',
];

export const performanceQuery = v.object({
  ...choiceEntries,
  ...benchmarkEntry,
  details: flagFilter(
    'Whether each model has details: returns by month, rolling figures, drawdowns, profit by symbol, a histogram.',
  ),
  factors: v.optional(
    v.pipe(
      v.string(),
      v.transform((names) => names.split(',').map((name) => name.trim())),
      v.description(
        'The factors of `style`, separated by commas; default: those stored for 95 % of the days.',
      ),
    ),
  ),
  ...formatQuery,
  table: wordFilter(
    ['curve', 'returns', 'trades', 'actions', 'style'],
    'Which of the tables, as CSV: the curve; daily returns, a row for each date and a column for each model, with the ' +
      'benchmark last; the orders and dividends; these with the splits; or the factors of each return.',
  ),
});

type Query = v.InferOutput<typeof performanceQuery>;

/**
 * The figures of every model over its active model-days that match the filters, a model at a time.
 */
export function performance(context: Context, { query, format }: Input<Query>): ResponseBody {
  checkNames(context.database, filtersOf(query));
  checkBenchmark(context.database, query.benchmark);
  checkFactors(context.database, query.factors);
  if (format !== 'csv') return inJson(context, query);
  if (query.table === 'returns') return returnsTable(context, query);
  if (query.table === 'style')
    return csvTable('style.csv', styleColumns, styleRows(context, query));
  if (query.table !== 'curve')
    return csvTable(`${query.table}.csv`, tradeColumns, tradeRows(context, query));
  return csvTable('curve.csv', curveColumns, curveRows(context, query));
}

/** The reports of the chosen models, each made as it is read, and what they are made of. */
function prepare({ database, settings }: Context, query: Query, { withDetails = false } = {}) {
  const counted = readCounted(database, query);
  const request: ReportRequest = {
    database,
    runs: counted.runs.filter(({ days }) => days.length > 0),
    failed: failedDays(database, counted.window, counted),
    wanted: query.benchmark,
    riskFree: dailyRate(settings.riskFreeRate),
    withDetails,
    factors: query.factors,
  };
  const basis = prepareReports(request);
  const reports = request.runs.values().map((run) => modelReport(request, basis, run));
  return { counted, request, basis, reports };
}

/** The entries to which reported runs belong, once all have been reported. */
function createFamilies(
  { by, details }: Query,
  { basis, request }: Pick<ReturnType<typeof prepare>, 'basis' | 'request'>,
) {
  const runs: RunOfFamily[] = [];
  const withCurves = by === 'entry';
  const growths = new Map<string, RunOfFamily['curve']>();
  if (withCurves) request.growths = growths;
  return {
    add({ model, family, model_days, total_return }: ReturnType<typeof modelReport>) {
      runs.push({ model, family, model_days, total_return, curve: growths.get(model) ?? [] });
    },
    report: () =>
      reportFamilies(runs, {
        withCurves,
        ...(withCurves &&
          details && {
            styleOf: (returns) =>
              basis.factors && reportStyle(returns, basis.factors, request.riskFree),
          }),
      }),
  };
}

function* inJson(context: Context, query: Query): Generator<string> {
  const { settings } = context;
  const { counted, request, basis, reports } = prepare(context, query, {
    withDetails: query.details,
  });
  const all: IncomparableModel[] = [];
  const families = createFamilies(query, { basis, request });
  const items = reports.map((report) => {
    all.push(...report.incomparable.map((one) => ({ model: report.model, ...one })));
    families.add(report);
    return JSON.stringify(report);
  });
  yield* listBody('models', items, () => ({
    clean_after: counted.cleanAfter,
    without_clean_days: counted.withoutCleanDays,
    common: counted.common,
    without_completed_days: withoutCompletedDays(request.failed, counted),
    incomparable: all,
    families: families.report(),
    benchmark: basis.benchmarkReport,
    conventions: reportConventions(settings.riskFreeRate, factorNames(context.database)),
    ...deploymentFields(settings),
  }));
}

/**
 * A row per date with the daily return of each model, empty where it has none, and that of the
 * benchmark in the last column.
 */
function returnsTable(context: Context, query: Query): Table {
  const { basis, reports } = prepare(context, query);
  type Day = { date: string; daily_return: number | null };
  const column = (name: string, curve: readonly Day[]) => {
    return { name, returns: new Map(curve.map((day) => [day.date, day.daily_return])) };
  };
  const models = [...reports.map(({ model, curve }) => column(model, curve))];
  const dates = [...new Set(models.flatMap(({ returns }) => [...returns.keys()]))].sort();
  const { name, curve } = basis.benchmarkReport;
  const all = [...models, column(`${name} (benchmark)`, curve)];
  return csvTable(
    'returns.csv',
    ['date', ...all.map((one) => one.name)],
    dates.map((date) => [date, ...all.map(({ returns }) => returns.get(date) ?? null)]),
  );
}

/** A row per model-day, with the value of one dollar in the benchmark. */
function* curveRows(context: Context, query: Query): Generator<Cell[]> {
  const { basis, reports } = prepare(context, query);
  const values = new Map(basis.benchmarkReport.curve.map(({ date, value }) => [date, value]));
  for (const { model, family, knowledge_cutoff: cutoff, curve } of reports) {
    for (const { date, value, ...day } of curve) {
      yield [
        model,
        date,
        value,
        day.daily_return,
        day.stale,
        values.get(date) ?? null,
        family,
        cutoff !== null && date <= cutoff,
        day.dividends,
        day.dividend_status,
        day.growth,
        day.drawdown,
      ];
    }
  }
}

/** Each run, or with `by=entry` the mean run of each entry, with its style if there is one. */
function* styles(context: Context, query: Query): Generator<[string, Style | null | undefined]> {
  const { reports, ...own } = prepare(context, query, { withDetails: true });
  const families = createFamilies({ ...query, details: true }, own);
  for (const report of reports) {
    families.add(report);
    if (query.by === 'run') yield [report.model, report.details?.style];
  }
  if (query.by === 'run') return;
  for (const { family, details } of families.report()) yield [family, details?.style];
}

/** A row per factor of each model, and one for the rest, with its yearly alpha. */
function* styleRows(context: Context, query: Query): Generator<Cell[]> {
  for (const [model, style] of styles(context, query)) {
    if (!style) continue;
    for (const { factor, beta, standard_error, p_value, contribution } of style.factors)
      yield [model, factor, beta, standard_error, p_value, contribution, style.days];
    const { alpha, alpha_standard_error, alpha_p_value, alpha_contribution, days } = style;
    yield [model, 'alpha', alpha, alpha_standard_error, alpha_p_value, alpha_contribution, days];
  }
}

/**
 * A row per executed order and per dividend, with `table=actions` also per split, by model, date
 * and action.
 */
function* tradeRows({ database }: Context, query: Query): Generator<Cell[]> {
  for (const { days } of readCounted(database, query).runs) {
    if (days.length === 0) continue;
    for (const change of changesOf(database, days)) {
      if (change.side !== 'split' || query.table === 'actions') yield tradeRow(change);
    }
  }
}

function tradeRow({ model, date, symbol, amount, cashBefore, cash, ...action }: Change): Cell[] {
  const change = reported(cash - cashBefore);
  const { side, price } = action;
  const isOrder = side === 'buy' || side === 'sell';
  const commission = isOrder
    ? commissionOf({ side, traded: reported(amount * action.price), change })
    : reported(0);
  return [
    model,
    date,
    side,
    symbol,
    amount,
    price === null ? null : toDollars(price),
    ...[commission, cash, change].map(toDollars),
  ];
}
