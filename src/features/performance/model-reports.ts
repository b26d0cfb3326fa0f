import assert from 'node:assert/strict';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { costKeys, marketRules, US } from '#domain/market-rules.ts';
import { parseAgentConfigurations } from '#settings/configuration.ts';
import type { Suspicion } from '#database/suspicion-queries.ts';
import { readInitialCash, storedConfigurations, findAgents } from './run-queries.ts';
import { type ActiveDay, markStale, usageTotals } from './queries.ts';
import { createRerunOptions } from '#database/stale.ts';
import { universeOn } from '#settings/members.ts';
import { type Money, toDollars } from '#money/money.ts';
import { describeHeldPart } from '#agent/players/place-orders.ts';
import { closingPrice } from '#trading/market.ts';
import { chooseBenchmark, reportBenchmark, daySpan } from './choose-benchmark.ts';
import {
  findIncomparable,
  type ModelPeriod,
  staleness,
  type Incomparability,
} from './comparability.ts';
import {
  countRefusals,
  type CountedRun,
  createDividendSearch,
  readModelRecord,
  type ModelRecord,
} from './record.ts';
import { growthCurve, reportModel } from './report.ts';
import { readFactors, type DayReturn, type StyleReport } from '../style/style.ts';
import { listOutsideKinds } from '#domain/vocabulary.ts';
import { latestPrices } from '#database/price-writes.ts';
import { count } from '#text/sentences.ts';
import type { Database, Reader } from '#database/database.ts';
import { readableDocuments } from '#database/document-queries.ts';
import { quotesOn } from '#database/market-queries.ts';
import { createSuspicionSearch, describeSuspicions } from '#prices/suspected.ts';
import type { CalendarDate } from '#time/calendar.ts';
import { mean } from '../statistics/moments.ts';
import { type Figure, reportFigures, rounded } from '../statistics/figure.ts';
import { sampleDeviation } from './risk-and-return.ts';

/** What the marks of a model are made of, beside its record and its figures. */
interface FlagInput {
  database: Reader;
  basemodel: string | null;
  configuration: AgentConfiguration | undefined;
  suspected: readonly Suspicion[];
}

/** Baselines that would hold every symbol of their universe. */
const HOLD_ALL: readonly unknown[] = ['baseline/buy-and-hold', 'baseline/equal-weight'];

/** What makes the figures of a model mislead even beside no other model. */
function behaviourFlags(
  { ledger, refusals: { tries } }: ModelRecord,
  { trading, open_positions: held }: ReturnType<typeof reportModel>,
  { database, basemodel, configuration, suspected }: FlagInput,
) {
  const marks: Incomparability[] = [];
  const mark = (kind: Incomparability['kind'], reason: string) => marks.push({ kind, reason });
  for (const { kind, noun, text } of describeSuspicions(suspected))
    mark(`suspected_${kind}`, `It held a symbol over a ${noun.toLowerCase()}: ${text}`);
  if (trading.trades === 0 && tries > 0)
    mark(
      'never_traded',
      `It never traded: ${count(tries, 'order')} ${tries === 1 ? 'was' : 'were'} refused or malformed`,
    );
  // As its summary says it on the day on which it last bought.
  const last = ledger.findLast(({ actions }) => actions.some((own) => own.actionType === 'buy'));
  if (last === undefined || configuration === undefined || !HOLD_ALL.includes(basemodel))
    return marks;
  const part = describeHeldPart({
    date: last.date,
    cash: toDollars(last.cash),
    portfolioValue: toDollars(last.value),
    holdings: held.map(({ symbol }) => ({ symbol, quantity: 1, price: 0 })),
    quotes: quotesOn(latestPrices(database), last.date, [...universeOn(configuration, last.date)]),
    rules: marketRules(configuration),
    limits: configuration.limits ?? undefined,
  });
  if (part !== null) mark('part_of_universe', `It ${part}`);
  return marks;
}

export interface FiguresRequest {
  database: Database;
  /** By name, each with at least one day. */
  runs: readonly CountedRun[];
  /** By model: model-days that have failed and were not completed. */
  failed: ReadonlyMap<string, number>;
  /** The name of a benchmark; undefined for the default. */
  wanted: string | undefined;
  /** Per day. */
  riskFree: number;
  /** Whether the reports have details. */
  withDetails: boolean;
  /** Filled with the growth curve of each model as it is reported. */
  growths?: Map<string, FamilyRun['curve']>;
  /** The factors to tell returns apart by; all that are stored without a choice. */
  factors?: readonly string[] | undefined;
}

/** What the figures of all models share. */
type Basis = ReturnType<typeof prepareReports>;

export function prepareReports({ database, wanted, riskFree, ...request }: FiguresRequest) {
  const { runs } = request;
  const all = runs.flatMap((run) => run.days);
  // One per date, start and job: all that the benchmark needs.
  const days = [
    ...new Map(all.map((day) => [`${day.date} ${day.startDate} ${day.jobId}`, day])).values(),
  ];
  const compared = compareRuns(database, runs);
  const benchmark = chooseBenchmark(database, wanted, days, compared.usualJobs);
  const span = daySpan(days);
  const { withDetails } = request;
  const factors = withDetails ? readFactors(database, request.factors, span) : null;
  return {
    factors,
    benchmarkReport: reportBenchmark(benchmark, days, riskFree),
    ...compared,
    agents: findAgents(database, compared.periods),
    /** What the records of all models share. */
    shared: {
      benchmark: benchmark.levels,
      riskFree,
      factors,
      withDetails,
      findUnknown: createDividendSearch(database),
      usage: usageTotals(database, all),
      refusals: countRefusals(database, all),
      markOn: createMarkReader(database),
    },
    findSuspected: createSuspicionSearch(database, span),
    rerunOption: createRerunOptions(database),
  };
}

/** Whether orders cost nothing beside their price. */
function isFree(configuration: AgentConfiguration | undefined): boolean {
  return configuration !== undefined && costKeys.every((key) => configuration[key] === 0);
}

/** Reads the value of a share at the close of a date once. */
function createMarkReader(database: Database) {
  const known = new Map<string, Money | null>();
  return (date: CalendarDate, symbol: string): Money | null => {
    const key = `${date} ${symbol}`;
    if (!known.has(key))
      known.set(key, closingPrice(latestPrices(database), date, symbol)?.price ?? null);
    return known.get(key) ?? null;
  };
}

/** A run with at least one day. */
interface RunWithDays {
  model: string;
  family: string;
  days: readonly Pick<ActiveDay, 'sessionId' | 'date' | 'jobId'>[];
}

/** What makes runs incomparable with the others, and from what that is known. */
export function compareRuns(
  database: Database,
  runs: readonly RunWithDays[],
  options?: { haveOwnDays: boolean },
) {
  const periods = runs.map(modelPeriod);
  const all = runs.flatMap(({ days }) => days);
  const stored = storedConfigurations(database, new Set(all.map(({ jobId }) => jobId)));
  const terms = {
    configurations: parseAgentConfigurations(stored),
    /** By model: what its first completed day started with; null when that is not stored. */
    initialCash: readInitialCash(
      database,
      runs.map(({ model }) => model),
    ),
    documents: readableDocuments(database, all),
  };
  return { periods, ...terms, ...findIncomparable(periods, terms, options) };
}

function modelPeriod({ model, family, days }: RunWithDays): ModelPeriod {
  const [first, last] = [days[0], days.at(-1)];
  assert(first !== undefined && last !== undefined, 'a run that is reported has a day');
  const jobIds = new Set(days.map(({ jobId }) => jobId));
  return { model, family, start: first.date, end: last.date, days: days.length, jobIds };
}

/**
 * The figures of one model, and why they are not comparable with others. Keeps none of its ledger
 * in memory.
 */
export function reportRun(request: FiguresRequest, basis: Basis, run: CountedRun) {
  const { model, family, study, knowledgeCutoff, basemodel } = run;
  const { database } = request;
  markStale(database, run.days);
  const configuration = basis.configurations.get(run.days.at(-1)?.jobId ?? '');
  const { currency } = configuration?.market ?? US;
  const record = readModelRecord(database, run, { ...basis.shared, currency });
  const figures = reportModel(record);
  const suspected = basis.findSuspected(run.days);
  const known = figures.curve.filter(
    ({ date }) => knowledgeCutoff !== null && date <= knowledgeCutoff,
  );
  const cash = basis.initialCash.get(model) ?? null;
  request.growths?.set(model, growthCurve(record));
  return {
    model,
    family,
    study,
    knowledge_cutoff: knowledgeCutoff,
    days_before_cutoff: known.length,
    outside: listOutsideKinds(basis.agents.has(model)),
    failed_model_days: request.failed.get(model) ?? 0,
    currency,
    initial_cash: cash === null ? null : toDollars(cash),
    no_trading_costs: run.days.every(({ jobId }) => isFree(basis.configurations.get(jobId))),
    ...figures,
    suspected: suspected.map(({ kind, symbol, date, from, to, days: own }) => {
      return { kind, symbol, date, from, to, model_days: own.length };
    }),
    incomparable: [
      ...(basis.incomparable.get(model) ?? []),
      ...staleness([{ run: model, days: run.days }], basis.rerunOption),
      ...behaviourFlags(record, figures, { database, basemodel, configuration, suspected }),
    ],
  };
}

/** What the figures of a family need of each of its runs. */
export interface FamilyRun {
  model: string;
  family: string;
  model_days: number;
  total_return: number | null;
  /** What one dollar has become, by date, not rounded; read only for the curve of the family. */
  curve: readonly { date: CalendarDate; growth: number }[];
}

/**
 * The runs of each entry side by side, with the mean and the spread of their returns. The mean is
 * that of the log returns, as in a comparison, so that an entry has one return. Without curves only
 * entries with several runs are reported; with them every entry, and several runs have a mean
 * curve.
 */
export function reportFamilies(
  runs: readonly FamilyRun[],
  {
    withCurves,
    styleOf,
  }: { withCurves: boolean; styleOf?: ((returns: DayReturn[]) => StyleReport | null) | undefined },
) {
  return [...Map.groupBy(runs, ({ family }) => family)].flatMap(([family, own]) => {
    if (own.length < 2 && !withCurves) return [];
    const returns = own.map((run) => run.total_return).filter((fraction) => fraction !== null);
    const figure = (least: number, compute: () => number): Figure =>
      returns.length < least
        ? { reason: `Needs ${count(least, 'run')} with a return, has ${returns.length}` }
        : compute();
    const least = withCurves ? 1 : 2;
    return [
      {
        family,
        runs: own.map(({ model, model_days, total_return }) => ({
          model,
          model_days,
          total_return,
        })),
        ...reportFigures({
          mean_total_return: figure(least, () => meanReturn(returns)),
          total_return_deviation: figure(2, () => sampleDeviation(returns, 0)),
          lowest_total_return: figure(least, () => Math.min(...returns)),
          highest_total_return: figure(least, () => Math.max(...returns)),
        }),
        ...(withCurves && own.length > 1 && { curve: familyCurve(own).map(roundedPoint) }),
        ...(styleOf && { details: { style: styleOf(meanReturns(own)) } }),
      },
    ];
  });
}

/**
 * What one dollar has become in the mean run, the lowest and the highest, on each date that all
 * runs share.
 */
function familyCurve(runs: readonly FamilyRun[]) {
  const [first, ...others] = runs.map(({ curve }) => curve);
  const byDate = others.map((curve) => new Map(curve.map(({ date, growth }) => [date, growth])));
  return (first ?? []).flatMap(({ date, growth }) => {
    const all = [growth, ...byDate.flatMap((own) => own.get(date) ?? [])];
    if (all.length < runs.length) return [];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return [{ date, growth: meanGrowth(all), low, high }];
  });
}

function roundedPoint({ date, growth, low, high }: ReturnType<typeof familyCurve>[number]) {
  return { date, growth: rounded(growth), low: rounded(low), high: rounded(high) };
}

/** The returns of the mean run, on each date that all runs share. */
function meanReturns(runs: readonly FamilyRun[]): DayReturn[] {
  let [growth, startDate]: [number, CalendarDate | null] = [1, null];
  return familyCurve(runs).map((day) => {
    const own = { date: day.date, startDate, dailyReturn: day.growth / growth - 1 };
    [growth, startDate] = [day.growth, day.date];
    return own;
  });
}

/** The return of the mean run. */
export function meanReturn(returns: readonly number[]): number {
  return meanGrowth(returns.map((fraction) => 1 + fraction)) - 1;
}

/** exp of the mean logarithm; 0 where one of them lost everything. */
function meanGrowth(growths: readonly number[]): number {
  return Math.exp(mean(growths.map(Math.log)));
}
