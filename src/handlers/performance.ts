import * as v from 'valibot';
import { lastChange } from '../database/chosen.ts';
import { jobExists } from '../database/jobs.ts';
import { agentConfigurations, initialCashOf } from '../database/records/trading-terms.ts';
import { SYMBOL_TEXT, ServiceError, normaliseSymbol } from '../domain.ts';
import { type Benchmark, UNIVERSE, benchmarkSteps, checkBenchmark } from '../performance/choose-benchmark.ts';
import { type Chain, type Incomparability, compareModels, staleness } from '../performance/comparability.ts';
import { dailyRate } from '../performance/conventions.ts';
import { reportConventions } from '../performance/definitions.ts';
import { reportBenchmark } from '../performance/report-benchmark.ts';
import { reportModel } from '../performance/report.ts';
import type { Steps } from '../turns.ts';
import { type Cell, formatQuery } from './csv.ts';
import { dateRangeEntries } from './date-filters.ts';
import { type ResponseBody, type Context, type Input, deploymentFields } from './handler.ts';
import { curveTable, performanceTables, tradeTable } from './performance-csv.ts';
import { type Choice, readOverview, readRecord } from './performance-records.ts';
import { jobFilter, modelFilter } from './schemas.ts';

export const performanceQuery = v.object({
  job_id: jobFilter,
  model: modelFilter,
  ...dateRangeEntries,
  benchmark: v.optional(
    v.pipe(
      v.string(),
      v.regex(SYMBOL_TEXT, `expected a ticker symbol or '${UNIVERSE}'`), // which the word has the form of
      v.description(`A ticker symbol, in either case, or ${UNIVERSE}.`),
      v.transform((text) => (text.toLowerCase() === UNIVERSE ? UNIVERSE : (normaliseSymbol(text) as string))),
    ),
  ),
  ...formatQuery,
  table: v.optional(
    v.pipe(
      v.picklist(performanceTables, `expected ${performanceTables.join(' or ')}`),
      v.description('Which of the tables, as CSV.'),
    ),
    'curve',
  ),
});

/** The figures of every model over its active model-days that the filters let through, model by model. */
export function performance(
  { database, settings }: Context,
  { query, format }: Input<v.InferOutput<typeof performanceQuery>>,
): ResponseBody {
  const { job_id: jobId, model, start_date: startDate, end_date: endDate } = query;
  if (startDate !== undefined && endDate !== undefined && startDate > endDate)
    throw new ServiceError('invalid_dates', `Invalid date range: start_date ${startDate} is after end_date ${endDate}`);
  if (jobId !== undefined && !jobExists(database, jobId)) throw new ServiceError('job_not_found', `Job ${jobId} not found`);
  checkBenchmark(database, query.benchmark);
  const choice = { database, filters: { jobId, model, startDate, endDate }, at: lastChange(database) };
  if (format === 'csv' && query.table === 'trades') return tradeTable(choice);
  const request = { ...choice, wanted: query.benchmark, riskFree: dailyRate(settings.riskFreeRate) };
  if (format === 'csv') return curveTable(curveRows(request));
  return report(request, { conventions: reportConventions(settings.riskFreeRate), ...deploymentFields(settings) });
}

interface Request extends Choice {
  /** Which benchmark; undefined leaves it to what is there. */
  wanted: string | undefined;
  /** Per day. */
  riskFree: number;
}

/** Model by model, so that no more than one ledger is in memory. */
function* report(request: Request, rest: object): Generator<string> {
  const { database } = request;
  const { chains, days } = yield* inText(readOverview(request));
  const benchmark = yield* inText(benchmarkSteps(database, request.wanted, days));
  const configurations = agentConfigurations(database, new Set(days.map((day) => day.jobId)));
  const initialCash = initialCashOf(database, chains.map((chain) => chain.model));
  const incomparable = compareModels(chains, { configurations, initialCash });
  const all: (Incomparability & { model: string })[] = [];
  let start = '{"models":[';
  for (const chain of chains) {
    const { text, own } = yield* inText(modelText(request, chain, { benchmark, known: incomparable.get(chain.model) ?? [] }));
    all.push(...own.map((one) => ({ model: chain.model, ...one })));
    yield start + text;
    start = ',';
  }
  if (chains.length === 0) yield start;
  const benchmarkReport = reportBenchmark(benchmark, days, request.riskFree);
  yield `],${JSON.stringify({ count: chains.length, incomparable: all, benchmark: benchmarkReport, ...rest }).slice(1)}`;
}

/** A model's figures as JSON, with what makes it incomparable. Its ledger is gone when they are there. */
function* modelText(
  request: Request,
  chain: Chain,
  { benchmark, known }: { benchmark: Benchmark; known: readonly Incomparability[] },
): Steps<{ text: string; own: readonly Incomparability[] }> {
  const record = yield* readRecord(request, chain, { benchmark: benchmark.levels, riskFree: request.riskFree });
  yield null;
  const figures = { model: chain.model, ...reportModel(record) };
  yield null;
  const own = [...known, ...staleness(figures.stale_model_days, figures.model_days)];
  return { text: JSON.stringify({ ...figures, incomparable: own }), own };
}

/** The curves of all models, day by day; the benchmark beside them is what one dollar has become. */
function* curveRows(request: Request): Generator<Cell[] | null> {
  const { chains, days } = yield* readOverview(request);
  const benchmark = yield* benchmarkSteps(request.database, request.wanted, days);
  const values = new Map(reportBenchmark(benchmark, days, request.riskFree).curve.map(({ date, value }) => [date, value]));
  for (const chain of chains) {
    const curve = yield* curveOf(request, chain, benchmark);
    for (const { date, value, daily_return: dailyReturn, stale } of curve)
      yield [chain.model, date, value, dailyReturn, stale, values.get(date) ?? null];
  }
}

function* curveOf(request: Request, chain: Chain, { levels }: Benchmark): Steps<ReturnType<typeof reportModel>['curve']> {
  const record = yield* readRecord(request, chain, { benchmark: levels, riskFree: request.riskFree });
  yield null;
  return reportModel(record).curve;
}

/** Steps inside an answer that is text: an empty piece where others may have their turn. */
function* inText<Result>(steps: Steps<Result>): Generator<string, Result, void> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield '';
  }
}
