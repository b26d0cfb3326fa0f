import * as v from 'valibot';
import type { Cell } from '../csv-line.ts';
import { lastChange } from '../database/chosen.ts';
import { jobExists } from '../database/jobs.ts';
import { type Trade, tradesOf } from '../database/records/trades.ts';
import { SYMBOL_TEXT, ServiceError, normaliseSymbol } from '../domain.ts';
import { money, toDollars } from '../money.ts';
import { UNIVERSE, checkBenchmark } from '../performance/choose-benchmark.ts';
import type { IncomparableModel } from '../performance/comparability.ts';
import { dailyRate } from '../performance/conventions.ts';
import { reportConventions } from '../performance/definitions.ts';
import { type RunOfFamily, reportFamilies } from '../performance/families.ts';
import type { Choice } from '../performance/record.ts';
import { type Basis, type ReportRequest, prepareReports, reportSteps } from '../performance/reports.ts';
import { commissionOf } from '../performance/trading.ts';
import { csvTable, formatQuery } from './csv.ts';
import { dateRangeEntries, filtersOf } from './date-filters.ts';
import { type Context, type Input, type ResponseBody, deploymentFields, listBody } from './handler.ts';
import { jobFilter, modelFilter } from './schemas.ts';

const curveColumns = [
  ...['model', 'date', 'value', 'daily_return', 'stale', 'benchmark_value', 'family', 'before_cutoff'],
  ...['dividends', 'dividend_status'],
];
const tradeColumns = ['model', 'date', 'side', 'symbol', 'amount', 'price', 'commission', 'cash'];

export const performanceQuery = v.object({
  job_id: jobFilter,
  model: modelFilter,
  ...dateRangeEntries,
  benchmark: v.optional(
    v.pipe(
      v.string(),
      v.regex(SYMBOL_TEXT, `expected a ticker symbol or '${UNIVERSE}'`), // the word has the form of a symbol
      v.description(`A ticker symbol, in either case, or ${UNIVERSE}.`),
      v.transform((text) => (text.toLowerCase() === UNIVERSE ? UNIVERSE : (normaliseSymbol(text) ?? undefined))),
    ),
  ),
  ...formatQuery,
  table: v.optional(
    v.pipe(
      v.picklist(['curve', 'trades'], 'expected curve or trades'),
      v.description('Which of the tables, as CSV.'),
    ),
    'curve',
  ),
});

/** The figures of every model over its active model-days that match the filters, a model at a time. */
export function performance(
  { database, settings }: Context,
  { query, format }: Input<v.InferOutput<typeof performanceQuery>>,
): ResponseBody {
  const filters = filtersOf(query);
  const { jobId } = filters;
  if (jobId !== undefined && !jobExists(database, jobId)) throw new ServiceError('job_not_found', `Job ${jobId} not found`);
  checkBenchmark(database, query.benchmark);
  const choice = { database, filters, at: lastChange(database) };
  if (format === 'csv' && query.table === 'trades') return csvTable('trades.csv', tradeColumns, tradeRows(choice));
  const request = { ...choice, wanted: query.benchmark, riskFree: dailyRate(settings.riskFreeRate) };
  if (format === 'csv') return csvTable('curve.csv', curveColumns, curveRows(request));
  const all: IncomparableModel[] = [];
  const runs: RunOfFamily[] = [];
  let benchmark: Basis['benchmarkReport'];
  const items = function* (): Generator<string | null> {
    const basis = yield* prepareReports(request);
    benchmark = basis.benchmarkReport;
    for (const period of basis.periods) {
      const report = yield* reportSteps(request, basis, period);
      all.push(...report.incomparable.map((one) => ({ model: report.model, ...one })));
      const { model, family, model_days, total_return } = report;
      runs.push({ model, family, model_days, total_return });
      yield JSON.stringify(report);
    }
  };
  return listBody('models', items(), (count) => ({
    count,
    incomparable: all,
    families: reportFamilies(runs),
    benchmark,
    conventions: reportConventions(settings.riskFreeRate),
    ...deploymentFields(settings),
  }));
}

/** A row per model-day, with the value of one dollar in the benchmark. */
function* curveRows(request: ReportRequest): Generator<Cell[] | null> {
  const basis = yield* prepareReports(request);
  const values = new Map(basis.benchmarkReport.curve.map(({ date, value }) => [date, value]));
  for (const period of basis.periods) {
    const { model, family, knowledge_cutoff: cutoff, curve } = yield* reportSteps(request, basis, period);
    for (const { date, value, daily_return: dailyReturn, stale, dividends, dividend_status: status } of curve) {
      const isBeforeCutoff = cutoff !== null && date <= cutoff;
      yield [model, date, value, dailyReturn, stale, values.get(date) ?? null, family, isBeforeCutoff, dividends, status];
    }
  }
}

/** A row per executed order and per dividend, by model, date and action. */
function* tradeRows({ database, filters, at }: Choice): Generator<Cell[] | null> {
  for (const trade of tradesOf(database, filters, at)) yield trade === null ? null : tradeRow(trade);
}

function tradeRow({ model, date, side, symbol, amount, price, cashBefore, cash }: Trade): Cell[] {
  const order = { traded: money(amount * price), change: money(cash - cashBefore) };
  const commission = side === 'dividend' ? money(0) : commissionOf({ side, ...order });
  return [model, date, side, symbol, amount, toDollars(price), toDollars(commission), toDollars(cash)];
}
