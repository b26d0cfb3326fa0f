import assert from 'node:assert/strict';
import type { CalendarDate } from '../calendar.ts';
import type { LedgerDay, UsageTotals } from '../database/records/performance.ts';
import { type Money, reported, toDollars } from '../money.ts';
import { count } from '../sentences.ts';
import { at } from '../statistics/at.ts';
import { mean } from '../statistics/moments.ts';
import { type BothLevels, type ComparedDay, benchmarkReturns } from './benchmark.ts';
import { LEAST_RETURN } from './conventions.ts';
import { type Figure, mapFigure, ratio, rounded, reportFigures } from './figure.ts';
import type { ModelRecord } from './record.ts';
import { type Comparison, relativeFigures } from './relative.ts';
import { reportDetails } from './report-details.ts';
import { reportReturns } from './report-returns.ts';
import { reportTrading } from './report-trading.ts';
import { type DayOfCurve, seriesOf } from './returns.ts';
import { type ModelTrading, openPositions, tradingOf } from './trading.ts';

/**
 * All figures of a model, named as in the response: dollars and fractions as numbers, a reason for
 * each null.
 */
export function reportModel(record: ModelRecord) {
  const days = record.ledger.filter(({ sessionId }) => record.chosen.has(sessionId));
  const curve = days.map((day) => dayOfCurve(day, record));
  const leastReturn = leastReturnOf(days);
  const trading = tradingOf(record.ledger, new Set(record.chosen.keys()));
  const positions = openPositions(trading.book, record.markOf);
  const series = seriesOf(curve, leastReturn);
  const { gains, riskFree } = record;
  const period = { ...reportPeriod(days, record, trading), ...reportReturns(series, riskFree) };
  const relative = reportRelative(compare(curve, record.benchmark, leastReturn), riskFree);
  const figures = {
    ...period,
    relative,
    ...reportTrading(days, trading, positions),
    usage: reportUsage(record.usage, profitOf(days)),
    curve: reportCurve(days, record, { curve, trading }),
  };
  const details =
    gains === null ? null : reportDetails({ curve, series, riskFree, trading, positions, gains });
  return { ...figures, details };
}

/** The days of a record, how many of them are marked, and what they began and ended with. */
function reportPeriod(
  days: readonly LedgerDay[],
  { staleDates, unpaidDates, unknownDates }: ModelRecord,
  { dividends }: ModelTrading,
) {
  const [first, last] = [days[0], days.at(-1)];
  assert(first !== undefined && last !== undefined, 'a record has a chosen day');
  const countIn = (dates: ReadonlySet<CalendarDate>) =>
    days.filter(({ date }) => dates.has(date)).length;
  return {
    start_date: first.date,
    end_date: last.date,
    model_days: days.length,
    stale_model_days: countIn(staleDates),
    model_days_without_dividends: countIn(unpaidDates),
    model_days_with_unknown_dividends: countIn(unknownDates),
    start_value: toDollars(startValueOf(first)),
    end_value: toDollars(last.value),
    profit: toDollars(profitOf(days)),
    dividends: toDollars(reported(dividends.values().reduce<number>((sum, cash) => sum + cash, 0))),
  };
}

function profitOf(days: readonly LedgerDay[]): Money {
  return reported(days.reduce((sum, { profit }) => sum + profit, 0));
}

/** A point per day. */
function reportCurve(
  days: readonly LedgerDay[],
  record: ModelRecord,
  { curve, trading }: { curve: readonly DayOfCurve[]; trading: ModelTrading },
) {
  const { growth, drawdown } = linkedReturns(curve);
  return days.map(({ sessionId, date, value }, index) => ({
    date,
    value: toDollars(value),
    daily_return: returnAt(curve, index),
    stale: record.staleDates.has(date),
    dividends: toDollars(trading.dividends.get(sessionId) ?? reported(0)),
    dividend_status: dividendStatus(date, record),
    growth: at(growth, index),
    drawdown: at(drawdown, index),
  }));
}

/**
 * `unknown`: it held something over a morning for which dividends are neither stored nor covered.
 */
export const dividendStatuses = ['known', 'unknown', 'not_paid'] as const;
export type DividendStatus = (typeof dividendStatuses)[number];

function dividendStatus(date: CalendarDate, record: ModelRecord): DividendStatus {
  if (record.unpaidDates.has(date)) return 'not_paid';
  return record.unknownDates.has(date) ? 'unknown' : 'known';
}

function startValueOf({ value, profit }: LedgerDay): Money {
  return reported(value - profit);
}

/**
 * One unit of the ledger, 1/10000 dollar, as a return on the mean value that the days started from.
 */
function leastReturnOf(days: readonly LedgerDay[]): number {
  const values = days.map(startValueOf).filter((value) => value > 0);
  return values.length === 0 ? LEAST_RETURN : 1 / mean(values);
}

function dayOfCurve(
  day: LedgerDay,
  { chosen, unpaidDates }: ModelRecord,
): DayOfCurve & ComparedDay {
  const startValue = startValueOf(day);
  const dailyReturn = startValue === 0 ? null : day.profit / startValue;
  const startDate = chosen.get(day.sessionId) ?? null;
  return { date: day.date, startDate, dailyReturn, paysDividends: !unpaidDates.has(day.date) };
}

/** A model and the benchmark on the days on which both have a return. */
function compare(
  curve: readonly (DayOfCurve & ComparedDay)[],
  benchmark: BothLevels,
  leastReturn: number,
): Comparison {
  const theirs = benchmarkReturns(benchmark, curve);
  const isCommon = curve.map(
    ({ dailyReturn }, index) => dailyReturn !== null && theirs[index] !== null,
  );
  const common = (returns: readonly (number | null)[]) =>
    curve.map((day, index) => ({
      ...day,
      dailyReturn: isCommon[index] ? (returns[index] ?? null) : null,
    }));
  const own = common(curve.map(({ dailyReturn }) => dailyReturn));
  return { own: seriesOf(own, leastReturn), benchmark: seriesOf(common(theirs)) };
}

function reportRelative(comparison: Comparison, riskFree: number) {
  return {
    days: comparison.own.days.length,
    ...reportFigures(relativeFigures(comparison, riskFree)),
  };
}

function reportUsage(usage: UsageTotals, profit: Money) {
  const { costUsd, daysWithoutCost } = usage;
  const cost: Figure = costUsd ?? {
    reason: 'No cost is known: the configuration has no price_per_million_tokens',
  };
  const incomplete = `The cost of ${count(daysWithoutCost, 'model-day')} is not known`;
  const wholeCost = costUsd !== null && daysWithoutCost > 0 ? { reason: incomplete } : cost;
  const perDollar = ratio(1, wholeCost, 'The model cost nothing');
  return {
    steps: usage.steps,
    requests: usage.requests,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    model_days_without_cost: daysWithoutCost,
    ...reportFigures({
      cost_usd: cost,
      profit_per_cost_usd: mapFigure(perDollar, (share) => toDollars(profit) * share),
    }),
  };
}

/**
 * By day: the value at its close of one dollar invested at the start, and its distance below the
 * highest value so far, as a fraction.
 */
function linkedReturns(curve: readonly DayOfCurve[]): { growth: number[]; drawdown: number[] } {
  const linked: ReturnType<typeof linkedReturns> = { growth: [], drawdown: [] };
  let [growth, high] = [1, 1];
  for (const { dailyReturn } of curve) {
    growth *= 1 + (dailyReturn ?? 0);
    high = Math.max(high, growth);
    linked.growth.push(rounded(growth));
    linked.drawdown.push(rounded(1 - growth / high));
  }
  return linked;
}

function returnAt(curve: readonly DayOfCurve[], index: number): number | null {
  const dailyReturn = curve[index]?.dailyReturn ?? null;
  return dailyReturn === null ? null : rounded(dailyReturn);
}
