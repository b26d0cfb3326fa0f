import * as v from 'valibot';
import { factorNames } from '../style/queries.ts';
import { readChanges, type Change } from './change-queries.ts';
import { asMoney, toDollars } from '#money/money.ts';
import { countFailedDays, withoutCompletedDays } from '../experiments/counted-days.ts';
import { readFamilies } from '../experiments/family.ts';
import { familyInterval } from '../experiments/own-interval.ts';
import { checkBenchmark } from './choose-benchmark.ts';
import type { IncomparableModel } from './comparability.ts';
import {
  reportFamilies,
  type FamilyRun,
  meanReturn,
  reportRun,
  prepareReports,
  type FiguresRequest,
} from './model-reports.ts';
import { dailyRate, rounded } from '../statistics/figure.ts';
import { reportConventions } from './definitions.ts';
import { checkFactors, type DayReturn, reportStyle } from '../style/style.ts';
import { orderCommission } from './trading.ts';
import { mean } from '../statistics/moments.ts';
import {
  schemaColumns,
  type Context,
  csvTable,
  flatten,
  formatQuery,
  listBody,
  type CsvTable,
  objectTable,
} from '#api/handler.ts';
import { checkNames, parseFilters } from '#api/filters.ts';
import { ledgersByName } from '#database/records/model-records.ts';
import { resolveStudy } from '#api/studies.ts';
import { benchmarkEntry, choiceEntries, readCountedDays } from './filters.ts';
import { performanceResponse } from './response.ts';
import { flagFilter, wordFilter } from '#api/schemas.ts';
import { MODEL_DAY_ERRORS, route } from '#api/route.ts';

/** Feature: how each model did: its curve, return, risk, trades and cost, beside a benchmark; what it held. */

const figures = schemaColumns(performanceResponse.entries.models.item)
  .filter((name) => !name.startsWith('details_') && name !== 'study')
  .concat('runs', 'interval_low', 'interval_high', 'incomparable');
const trades =
  'model date side symbol amount price commission cash cash_change entry currency'.split(' ');
const columns = {
  curve: (
    'model date value daily_return stale benchmark_value family before_cutoff dividends ' +
    'dividend_status growth drawdown currency'
  ).split(' '),
  trades,
  actions: trades,
  style: 'model factor beta standard_error p_value contribution days'.split(' '),
  figures,
};

const performanceQuery = v.object({
  ...choiceEntries,
  ...benchmarkEntry,
  details: flagFilter(
    'Whether each model has details: returns by month, drawdowns, profit by symbol.',
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
    ['curve', 'returns', 'trades', 'actions', 'style', 'figures'],
    'Which of the tables, as CSV: the curve; daily returns, a row for each date and a column for each model, with the ' +
      'benchmark last; the orders and dividends; these with the splits and exchanges; the factors of each return; or the figures. ' +
      'With by=entry, all but the orders are of entries, of the mean of their runs.',
  ),
});

type Query = v.InferOutput<typeof performanceQuery>;

/** The reports of the chosen models, each made as it is read, and what they are made of. */
function prepare({ database, settings }: Context, query: Query, { withDetails = false } = {}) {
  const counted = readCountedDays(database, query);
  const request: FiguresRequest = {
    database,
    runs: counted.runs.filter(({ days }) => days.length > 0),
    failed: countFailedDays(database, counted.window, counted),
    wanted: query.benchmark,
    riskFree: dailyRate(settings.riskFreeRate),
    withDetails,
    factors: query.factors,
    ...(query.by === 'entry' && { growths: new Map() }),
  };
  const basis = prepareReports(request);
  const reports = request.runs.values().map((run) => reportRun(request, basis, run));
  return { counted, request, basis, reports };
}

type PreparedReports = ReturnType<typeof prepare>;

/** What entries are made of; a curve only where they have one. */
function toFamilyRun(
  { model, family, model_days, total_return }: ReturnType<typeof reportRun>,
  { growths }: FiguresRequest,
): FamilyRun {
  return { model, family, model_days, total_return, curve: growths?.get(model) ?? [] };
}

function reportRunFamilies(
  { basis, request }: PreparedReports,
  runs: readonly FamilyRun[],
  { by }: Query,
) {
  const withCurves = by === 'entry';
  const meanStyle = (returns: DayReturn[]) =>
    basis.factors && reportStyle(returns, basis.factors, request.riskFree);
  const withStyle = withCurves && request.withDetails;
  return reportFamilies(runs, { withCurves, ...(withStyle && { styleOf: meanStyle }) });
}

function* performanceJson(context: Context, query: Query): Generator<string> {
  const { settings } = context;
  const made = prepare(context, query, { withDetails: query.details });
  const { counted, request, basis, reports } = made;
  const all: IncomparableModel[] = [];
  const runs: FamilyRun[] = [];
  const items = reports.map((report) => {
    all.push(...report.incomparable.map((one) => ({ model: report.model, ...one })));
    runs.push(toFamilyRun(report, request));
    return JSON.stringify(report);
  });
  yield* listBody(settings, 'models', items, () => ({
    clean_after: counted.cleanAfter,
    without_clean_days: counted.withoutCleanDays,
    common: counted.common,
    without_completed_days: withoutCompletedDays(request.failed, counted),
    incomparable: all,
    families: reportRunFamilies(made, runs, query),
    benchmark: basis.benchmarkReport,
    conventions: reportConventions(settings.riskFreeRate, factorNames(context.database)),
  }));
}

/** Each run, or with `by=entry` the mean run of each entry, as the tables need it. */
function* modelCurves(made: PreparedReports, query: Query) {
  if (query.by === 'run') return yield* made.reports;
  const runs = [...made.reports.map((report) => toFamilyRun(report, made.request))];
  for (const { family, curve, details = null } of reportRunFamilies(made, runs, query)) {
    const days = curve ?? runs.find((run) => run.family === family)?.curve ?? [];
    const curvePoint = ({ date, growth }: { date: string; growth: number }, place: number) => {
      const daily_return = rounded(growth / (days[place - 1]?.growth ?? 1) - 1);
      return { date, daily_return, growth: rounded(growth) };
    };
    yield { model: family, family, knowledge_cutoff: null, curve: days.map(curvePoint), details };
  }
}

/**
 * A row per date with the daily return of each model, empty where it has none, and that of the
 * benchmark in the last column.
 */
function returnsTable(context: Context, query: Query): CsvTable {
  const made = prepare(context, query);
  type Day = { date: string; daily_return: number | null };
  const column = (name: string, curve: readonly Day[]) => {
    return { name, returns: new Map(curve.map((day) => [day.date, day.daily_return])) };
  };
  const models = [...modelCurves(made, query).map(({ model, curve }) => column(model, curve))];
  const dates = [...new Set(models.flatMap(({ returns }) => [...returns.keys()]))].sort();
  const { name, curve } = made.basis.benchmarkReport;
  const all = [...models, column(`${name} (benchmark)`, curve)];
  return csvTable(
    'returns.csv',
    ['date', ...all.map((one) => one.name)],
    dates.map((date) => [date, ...all.map(({ returns }) => returns.get(date) ?? null)]),
  );
}

/** A row per day, with the value of one dollar in the benchmark. */
function* curveRows(context: Context, query: Query) {
  const made = prepare(context, query);
  const { curve: passive } = made.basis.benchmarkReport;
  const values = new Map(passive.map(({ date, value }) => [date, value]));
  for (const { model, family, knowledge_cutoff: cutoff, curve } of modelCurves(made, query))
    for (const day of curve) {
      const before_cutoff = cutoff !== null && day.date <= cutoff;
      yield { ...day, model, family, before_cutoff, benchmark_value: values.get(day.date) };
    }
}

/** A row per factor of each model, and one for the rest, with its yearly alpha. */
function* styleRows(context: Context, query: Query) {
  const made = prepare(context, query, { withDetails: true });
  for (const { model, details } of modelCurves(made, query)) {
    if (!details?.style) continue;
    const { factors, days, ...rest } = details.style;
    for (const factor of factors) yield { ...factor, model, days };
    const [beta, contribution] = [rest.alpha, rest.alpha_contribution];
    const [standard_error, p_value] = [rest.alpha_standard_error, rest.alpha_p_value];
    yield { factor: 'alpha', beta, standard_error, p_value, contribution, model, days };
  }
}

/** A row per model with its figures and the interval of its return; by entry the means of runs. */
function* figureRows(context: Context, query: Query) {
  const { counted, reports } = prepare(context, query);
  const rows = [
    ...reports.map(({ curve: _curve, incomparable, ...report }) => ({
      ...flatten(report),
      run: report.model,
      entry: report[query.by === 'run' ? 'model' : 'family'],
      incomparable: incomparable.map(({ kind }) => kind),
    })),
  ];
  const ids = new Set(counted.runs.flatMap(({ days }) => days.map((day) => day.sessionId)));
  const entries = Map.groupBy(rows, ({ entry }) => entry);
  const chosen = Array.from(entries, ([model, own]) => ({
    model,
    runs: own.map(({ run }) => run),
  }));
  for (const family of readFamilies(context.database, chosen, counted.window)) {
    const own = entries.get(family.model) ?? [];
    const interval = familyInterval(family, ids);
    yield {
      ...Object.fromEntries(figures.map((name) => [name, meanCell(name, own)])),
      model: family.model,
      runs: own.length,
      interval_low: interval?.low,
      interval_high: interval?.high,
      incomparable: [...new Set(own.flatMap((row) => row.incomparable))].join('; '),
    };
  }
}

/** What all rows have; of figures the mean, of the total return that of the logarithms. */
function meanCell(name: string, rows: readonly Readonly<Record<string, unknown>>[]): unknown {
  const cells = rows.map((row) => row[name]);
  const numbers = cells.filter((cell) => typeof cell === 'number');
  if (numbers.length < cells.length)
    return cells.every((cell) => cell === cells[0]) ? cells[0] : null;
  if (name !== 'total_return') return rounded(mean(numbers));
  return rounded(meanReturn(numbers));
}

/**
 * A row per executed order and per dividend, with `table=actions` also per split and exchange, by
 * model, date and action.
 */
function* tradeRows({ database }: Context, query: Query) {
  for (const { days, family: entry } of readCountedDays(database, query).runs) {
    if (days.length === 0) continue;
    for (const change of readChanges(database, days)) {
      if (query.table === 'actions' || /^(buy|sell|dividend)$/.test(change.side))
        yield { ...tradeRow(change), entry };
    }
  }
}

function tradeRow({ cashBefore, cash, ...action }: Change) {
  const change = asMoney(cash - cashBefore);
  const { side, amount, price } = action;
  const isOrder = side === 'buy' || side === 'sell';
  const commission = isOrder
    ? orderCommission(side, asMoney(amount * action.price), change)
    : asMoney(0);
  return {
    ...action,
    price: price === null ? null : toDollars(price),
    commission: toDollars(commission),
    cash: toDollars(cash),
    cash_change: toDollars(change),
  };
}

export const performanceRoute = route({
  method: 'GET',
  path: '/performance',
  tool: 'performance',
  tag: 'results',
  summary: 'How each model did: its curve, return, risk, trades and cost, next to a benchmark.',
  query: performanceQuery,
  response: performanceResponse,
  errors: { ...MODEL_DAY_ERRORS, 404: 'There is no such job, or no price of the benchmark.' },
  hasTable: true,
  isKept: true,
  list: 'models',
  rest: 'ask for fewer by models',
  handle(context, { query: given, format }) {
    const query = resolveStudy(context, given);
    checkNames(context.database, parseFilters(query));
    checkBenchmark(context.database, query.benchmark);
    checkFactors(context.database, query.factors);
    if (format !== 'csv') return performanceJson(context, query);
    const { table } = query;
    if (table === 'returns') return returnsTable(context, query);
    const rows = {
      curve: curveRows,
      trades: tradeRows,
      actions: tradeRows,
      style: styleRows,
      figures: figureRows,
    };
    const ledgers = ledgersByName(context.database);
    const all = Iterator.from<{ model: string }>(rows[table](context, query));
    return objectTable(
      `${table}.csv`,
      [...columns[table], 'study'],
      all.map((row) => ({ ...row, ...ledgers.get(row.model) })),
    );
  },
});
