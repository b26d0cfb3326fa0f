import { hasTradingCosts, parseAgentConfigurations } from '../basics/configuration.ts';
import { suspectedSplits } from '../database/records/holdings.ts';
import { initialCashOf, newestRun, storedConfigurations } from '../database/records/models.ts';
import { toDollars } from '../basics/money.ts';
import { chooseBenchmark, createLevelReader, reportBenchmark } from './choose-benchmark.ts';
import { type Market, reportSelection } from './permutation.ts';
import { compareModels, type ModelPeriod, staleness } from './comparability.ts';
import { type Choice, readChosenDays } from './choice.ts';
import { ownMarks } from './own-marks.ts';
import { createUnknownSearch, readRecord } from './record.ts';
import { reportModel } from './report.ts';
import { readFactors } from './style.ts';

export interface ReportRequest extends Choice {
  /** The name of a benchmark; undefined for the default. */
  wanted: string | undefined;
  /** Per day. */
  riskFree: number;
  /** Whether the reports have details. */
  withDetails: boolean;
  /** The factors to tell returns apart by; all that are stored without a choice. */
  factors?: readonly string[] | undefined;
}

/** What the figures of all models share. */
export type Basis = ReturnType<typeof prepareReports>;

export function prepareReports(request: ReportRequest) {
  const { database, wanted, riskFree } = request;
  const { periods, days, failed } = readChosenDays(request);
  const benchmark = chooseBenchmark(database, wanted, days);
  const stored = storedConfigurations(database, new Set(days.map(({ jobId }) => jobId)));
  const configurations = parseAgentConfigurations(stored);
  const initialCash = initialCashOf(
    database,
    periods.map(({ model }) => model),
  );
  const incomparable = compareModels(periods, { configurations, initialCash });
  const starts = days.map(({ startDate, date }) => startDate ?? date).sort();
  const ends = days.map(({ date }) => date).sort();
  const span = { from: starts[0] ?? '', to: ends.at(-1) ?? '' };
  return {
    periods,
    factors: request.withDetails ? readFactors(database, request.factors, span) : null,
    benchmark,
    benchmarkReport: reportBenchmark(benchmark, days, riskFree),
    incomparable,
    /** By model: model-days that have failed and were not completed. */
    failed,
    /** By model: what its first completed day started with; null when that is not stored. */
    initialCash,
    findUnknown: createUnknownSearch(database),
    /** By session. */
    suspected: Map.groupBy(suspectedSplits(database), ({ sessionId }) => sessionId),
    market: {
      universeOf: (jobId) => {
        const configuration = configurations.get(jobId);
        return configuration === undefined ? [] : configuration.stock_symbols;
      },
      levelsOf: createLevelReader(database, days),
    } satisfies Market,
    /** Whether a job's orders cost nothing beside their price. */
    hasNoCosts: (jobId: string) => {
      const configuration = configurations.get(jobId);
      return configuration !== undefined && !hasTradingCosts(configuration);
    },
  };
}

/**
 * The figures of one model, and why they are not comparable with others. Keeps none of its ledger
 * in memory.
 */
export function modelReport(request: ReportRequest, basis: Basis, period: ModelPeriod) {
  const { model } = period;
  const { benchmark, incomparable, failed, initialCash, findUnknown, market, hasNoCosts } = basis;
  const { riskFree, withDetails } = request;
  const newest = newestRun(request.database, model);
  const { family = model, knowledgeCutoff = null, basemodel = null } = newest ?? {};
  const record = readRecord(request, period, {
    benchmark: benchmark.levels,
    riskFree,
    factors: basis.factors,
    withDetails,
    findUnknown,
  });
  const figures = reportModel(record);
  const details = figures.details && {
    ...figures.details,
    selection: reportSelection(request.database, { model, days: record.days, market }),
  };
  const days = figures.curve.map(({ date, stale }) => ({ date, isStale: stale }));
  const suspected = record.days.flatMap(({ sessionId }) => basis.suspected.get(sessionId) ?? []);
  const known = figures.curve.filter(
    ({ date }) => knowledgeCutoff !== null && date <= knowledgeCutoff,
  );
  const memory = { knowledge_cutoff: knowledgeCutoff, days_before_cutoff: known.length };
  const cash = initialCash.get(model) ?? null;
  const own = {
    failed_model_days: failed.get(model) ?? 0,
    initial_cash: cash === null ? null : toDollars(cash),
    no_trading_costs: [...period.jobIds].every(hasNoCosts),
  };
  return {
    model,
    family,
    ...memory,
    ...own,
    ...figures,
    suspected_split: suspected.map(({ date, jump: { symbol } }) => ({ date, symbol })),
    details,
    incomparable: [
      ...(incomparable.get(model) ?? []),
      ...staleness([{ run: model, days }]),
      ...ownMarks(record, {
        database: request.database,
        basemodel,
        trades: figures.trading.trades,
        held: figures.open_positions.map(({ symbol }) => symbol),
        universe: market.universeOf(record.days.at(-1)?.jobId ?? ''),
        suspected,
      }),
    ],
  };
}
