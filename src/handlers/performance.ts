import * as v from 'valibot';
import type { CalendarDate } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { jobExists } from '../database/jobs.ts';
import { type ChosenDay, chosenDays, ledgerDays, usageTotals } from '../database/performance.ts';
import { staleModelDays } from '../database/stale.ts';
import { agentConfigurations, initialCashOf } from '../database/trading-terms.ts';
import { SYMBOL_TEXT, ServiceError, normaliseSymbol } from '../domain.ts';
import type { Money } from '../money.ts';
import { type Benchmark, UNIVERSE, openBenchmark } from '../performance/choose-benchmark.ts';
import { type Incomparability, compareModels, staleness } from '../performance/comparability.ts';
import { dailyRate } from '../performance/conventions.ts';
import { reportConventions } from '../performance/definitions.ts';
import type { ModelRecord } from '../performance/record.ts';
import { reportBenchmark } from '../performance/report-benchmark.ts';
import { reportModel } from '../performance/report.ts';
import { knownClosingMark } from '../trading/market.ts';
import { formatQuery } from './csv.ts';
import { dateRangeEntries } from './date-filters.ts';
import { type Answer, type Context, type Input, deploymentFields } from './handler.ts';
import { curveTable, performanceTables, tradeTable } from './performance-csv.ts';
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
): Answer {
  const { job_id: jobId, model, start_date: startDate, end_date: endDate } = query;
  if (startDate !== undefined && endDate !== undefined && startDate > endDate)
    throw new ServiceError('bad_request', `Invalid date range: start_date ${startDate} is after end_date ${endDate}`);
  if (jobId !== undefined && !jobExists(database, jobId)) throw new ServiceError('not_found', `Job ${jobId} not found`);
  const days = chosenDays(database, { jobId, model, startDate, endDate });
  const benchmark = openBenchmark(database, query.benchmark, days);
  const riskFree = dailyRate(settings.riskFreeRate);
  const records = modelRecords(database, days, { benchmark, riskFree });
  if (format === 'csv' && query.table === 'trades') return tradeTable(records);
  const benchmarkReport = reportBenchmark(benchmark, days, riskFree);
  if (format === 'csv') return curveTable(modelReports(records), benchmarkReport);
  const rest = {
    benchmark: benchmarkReport,
    conventions: reportConventions(settings.riskFreeRate),
    ...deploymentFields(settings),
  };
  const incomparable = compareModels(days, {
    configurations: agentConfigurations(database, new Set(days.map((day) => day.jobId))),
    initialCash: initialCashOf(database, new Set(days.map((day) => day.model))),
  });
  return stream(modelReports(records), { incomparable, rest: JSON.stringify(rest) });
}

/** What makes models incomparable stands with each, and all of it after them. */
function* stream(
  reports: ReturnType<typeof modelReports>,
  { incomparable, rest }: { incomparable: ReturnType<typeof compareModels>; rest: string },
): Generator<string> {
  let count = 0;
  const all: (Incomparability & { model: string })[] = [];
  yield '{"models":[';
  for (const report of reports) {
    const { model, stale_model_days: stale, model_days: days } = report;
    const own = [...(incomparable.get(model) ?? []), ...staleness(stale, days)];
    all.push(...own.map((one) => ({ model, ...one })));
    yield (count++ === 0 ? '' : ',') + JSON.stringify({ ...report, incomparable: own });
  }
  yield `],"count":${count},"incomparable":${JSON.stringify(all)},${rest.slice(1)}`;
}

function* modelReports(records: ReturnType<typeof modelRecords>) {
  for (const { model, record } of records) yield { model, ...reportModel(record) };
}

/** One model at a time, so that other requests get their turn and no more than one ledger is in memory. */
function* modelRecords(
  database: Database,
  days: readonly ChosenDay[],
  { benchmark, riskFree }: { benchmark: Benchmark; riskFree: number },
): Generator<{ model: string; record: ModelRecord }> {
  const marks = new Map<string, Money | null>();
  for (const [model, own] of Map.groupBy(days, (day) => day.model)) {
    const sessionIds = own.map(({ sessionId }) => sessionId);
    const lastDate = own.at(-1)?.date as CalendarDate;
    const record: ModelRecord = {
      ledger: ledgerDays(database, sessionIds),
      chosen: new Map(own.map(({ sessionId, startDate }) => [sessionId, startDate])),
      staleDates: new Set(staleModelDays(database, [model]).map(({ date }) => date)),
      usage: usageTotals(database, sessionIds),
      benchmark: benchmark.levels,
      markOf: (symbol) =>
        remembered(marks, `${lastDate} ${symbol}`, () => knownClosingMark(database, lastDate, symbol)),
      riskFree,
    };
    yield { model, record };
  }
}

function remembered<Value>(values: Map<string, Value>, key: string, compute: () => Value): Value {
  const known = values.get(key);
  if (known !== undefined) return known;
  const value = compute();
  values.set(key, value);
  return value;
}
