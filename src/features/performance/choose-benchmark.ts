import {
  addDays,
  byDate,
  type CalendarDate,
  type DateSpan,
  EARLIEST_DATE,
} from '#time/calendar.ts';
import type { Universe } from '#settings/members.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { US } from '#domain/market-rules.ts';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import type { Database } from '#database/database.ts';
import { type ActiveDay, hasBars } from './queries.ts';
import { storedConfigurations } from './run-queries.ts';
import { ServiceError } from '#domain/service-error.ts';
import {
  benchmarkCurve,
  type ComparedDay,
  equalWeightLevels,
  levelAt,
  memberLevels,
  startTime,
} from './benchmark.ts';
import { followShare, readSymbolLevels } from './symbol-levels.ts';
import { unknownDividendDays } from './record.ts';
import { compact, count } from '#text/sentences.ts';
import { at } from '../statistics/moments.ts';
import { rounded } from '../statistics/figure.ts';
import { reportReturns } from './report-returns.ts';
import type { DividendStatus } from './report.ts';
import { toReturnSeries } from './risk-and-return.ts';

/** The name of the equal-weight universe as a benchmark. No symbol is written in lower case. */
export const UNIVERSE = 'universe';

type Benchmark = ReturnType<typeof chooseBenchmark>;

/** Throws a `ServiceError` (`no_prices`) when no price of the symbol is stored. */
export function checkBenchmark(database: Database, wanted: string | undefined): void {
  if (wanted === undefined || wanted === UNIVERSE || hasBars(database, wanted)) return;
  const remedy = `store some (download-prices --symbols ${wanted}, or import-prices FILE...), or ask for benchmark=${UNIVERSE}`;
  throw new ServiceError(
    'no_prices',
    `There are no prices of ${wanted} to compare with: ${remedy}`,
  );
}

/**
 * The benchmark of some model-days: the requested one, otherwise that of the market if its prices
 * reach the first start, otherwise the universe, so that no later day changes what the models are
 * compared with; one symbol per step. The universe and the market are those of the usual jobs, where
 * there are some. Throws a `ServiceError` (`no_prices`) when no price of the symbol is stored.
 */
export function chooseBenchmark(
  database: Database,
  wanted: string | undefined,
  days: readonly ActiveDay[],
  usualJobs: ReadonlySet<string> = new Set(),
) {
  checkBenchmark(database, wanted);
  const own = days.filter(({ jobId }) => usualJobs.has(jobId));
  const terms = newestTerms(database, firstDays(own.length > 0 ? own : days));
  const usual = terms?.market.benchmark ?? US.benchmark;
  const name = wanted ?? (reachesStart(database, firstDays(days), usual) ? usual : UNIVERSE);
  const span = daySpan(days);
  const { stock_symbols: fixed, members }: Universe =
    name === UNIVERSE ? (terms ?? { stock_symbols: [] }) : { stock_symbols: [name] };
  const during = members?.filter(({ from, to }) => from <= span.to && span.from <= to);
  const symbols = during ? [...new Set(during.map(({ symbol }) => symbol))] : fixed;
  const levelsOf = (paysDividends: boolean) => {
    const readLevels = (symbol: string) =>
      readSymbolLevels(database, symbol, { ...span, paysDividends, isMember: name === UNIVERSE });
    if (name !== UNIVERSE) return readLevels(name);
    const all = symbols.values().map((symbol) => [symbol, readLevels(symbol)] as const);
    return members ? memberLevels(all, members) : equalWeightLevels(all.map(([, own]) => own));
  };
  const pays = days.some(({ paysDividends }) => paysDividends);
  const isOneKind = days.every(({ paysDividends }) => paysDividends === pays);
  const withDividends = levelsOf(pays);
  const findPaying = () => {
    if (name === UNIVERSE) return symbols;
    return followShare(database, name, { ...span, paysDividends: false }).links.map(
      ({ symbol }) => symbol,
    );
  };
  return {
    /** A symbol, or `universe`. */
    name,
    /** How many symbols it has. */
    symbols: symbols.length,
    /** Where the model-days are all of one kind, the same twice. */
    levels: { withDividends, ofPrices: isOneKind ? withDividends : levelsOf(false) },
    /** The days on which its levels with dividends may lack one of some symbol. */
    unknownDividends: unknownDividendDays(database, pays ? findPaying() : [], span),
  };
}

/** From the earliest start of the days to the last of them. */
export function daySpan(days: readonly ActiveDay[]): DateSpan {
  const [first] = days.map(startTime).sort(byDate);
  return { from: first?.date ?? EARLIEST_DATE, to: days.toSorted(byDate).at(-1)?.date ?? '' };
}

/** Those of the earliest date. */
function firstDays(days: readonly ActiveDay[]): ActiveDay[] {
  const [first] = days.toSorted(byDate);
  return days.filter(({ date }) => date === first?.date);
}

/** The terms of the newest job of some model-days; null without days. */
function newestTerms(database: Database, days: readonly ActiveDay[]): AgentConfiguration | null {
  const stored = storedConfigurations(database, new Set(days.map(({ jobId }) => jobId)));
  const newest = [...stored.values()].at(-1);
  return newest === undefined ? null : parseAgentConfiguration(newest);
}

/** Whether a symbol has a level at the earliest start of some model-days. */
function reachesStart(database: Database, days: readonly ActiveDay[], symbol: string): boolean {
  const [start] = days.map(startTime).sort(byDate);
  if (start === undefined) return false;
  const span = { from: start.date, to: start.date, paysDividends: false };
  return levelAt(readSymbolLevels(database, symbol, span), start) !== null;
}

/**
 * A benchmark's own figures on the dates of some model-days, as in the response. `riskFree` is per
 * day.
 */
export function reportBenchmark(
  benchmark: Benchmark,
  days: readonly ActiveDay[],
  riskFree: number,
) {
  const { name, symbols, levels } = benchmark;
  const dates = [...new Set(days.map(({ date }) => date))].sort();
  const curve = benchmarkCurve(levels, days);
  const [first] = curve;
  const statuses = curve.map((day) => dividendStatus(day, benchmark));
  const countStatus = (status: DividendStatus) => statuses.filter((one) => one === status).length;
  return {
    name,
    symbols,
    start_date: first === undefined ? null : startTime(first).date,
    days: curve.length,
    days_without_dividends: countStatus('not_paid'),
    days_with_unknown_dividends: countStatus('unknown'),
    incomplete: incompleteReason(benchmark, { dates, covered: curve.map(({ date }) => date) }),
    ...reportReturns(toReturnSeries(curve), riskFree),
    curve: curve.map(({ date, value, dailyReturn }, index) => ({
      date,
      value: rounded(value),
      daily_return: rounded(dailyReturn),
      dividend_status: at(statuses, index),
    })),
  };
}

/** As of a model that held the benchmark from the start of a day to its close. */
function dividendStatus(
  { date, startDate, paysDividends }: ComparedDay,
  { unknownDividends }: Benchmark,
): DividendStatus {
  if (!paysDividends) return 'not_paid';
  for (let day = date; day > (startDate ?? date); day = addDays(day, -1)) {
    if (unknownDividends.has(day)) return 'unknown';
  }
  return 'known';
}

/** Why a benchmark does not cover all days of the models; null when it does. */
function incompleteReason(
  { name, levels }: Benchmark,
  { dates, covered }: { dates: readonly CalendarDate[]; covered: readonly CalendarDate[] },
): string | null {
  const [subject, whose] = name === UNIVERSE ? ['The universe', 'the universe'] : [name, name];
  const lastBar = levels.ofPrices.at(-1)?.date;
  if (dates.length === 0) return null;
  if (lastBar === undefined || covered.length === 0)
    return `${subject} has no price at the start of any of these days`;
  const all = count(dates.length, 'date');
  const span = `the first ${covered[0]}, the last ${covered.at(-1)}`;
  const after = dates.filter((date) => date > lastBar).length;
  const sentences = compact([
    covered.length < dates.length &&
      `${subject} has a return on ${covered.length} of ${all}: ${span}`,
    after > 0 && `The last price of ${whose} is that of ${lastBar}, before ${after} of ${all}`,
  ]);
  return sentences.join('. ') || null;
}
