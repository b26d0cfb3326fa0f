import assert from 'node:assert/strict';
import type { CalendarDate } from '../calendar.ts';
import type { LedgerDay, UsageTotals } from '../database/records/performance.ts';
import { type Money, money, toDollars } from '../money.ts';
import { count } from '../sentences.ts';
import { mean } from '../statistics/moments.ts';
import { type BothLevels, type ComparedDay, benchmarkReturns } from './benchmark.ts';
import { LEAST_RETURN } from './conventions.ts';
import { type Drawdown, calmarRatio, maxDrawdown } from './drawdown.ts';
import { type Figure, mapFigure, ratio, rounded, reportFigures } from './figure.ts';
import type { ModelRecord } from './record.ts';
import { type Comparison, relativeFigures } from './relative.ts';
import { reportTrading } from './report-trading.ts';
import {
  type DailyReturn,
  type DayOfCurve,
  type ReturnSeries,
  annualisedReturn,
  extremeDay,
  seriesOf,
  totalReturn,
  winningDaysShare,
} from './returns.ts';
import { annualisedVolatility, sharpeRatio, sortinoRatio, valueAtRisk95 } from './risk.ts';
import { tradingOf } from './trading.ts';

/** All figures of a model, named as in the response: dollars and fractions as numbers, a reason for each null. */
export function reportModel(record: ModelRecord) {
  const days = record.ledger.filter(({ sessionId }) => record.chosen.has(sessionId));
  const [first, last] = [days[0], days.at(-1)];
  assert(first !== undefined && last !== undefined, 'a record has a chosen day');
  const curve = days.map((day) => dayOfCurve(day, record));
  const leastReturn = leastReturnOf(days);
  const profit = money(days.reduce((sum, day) => sum + day.profit, 0));
  const trading = tradingOf(record.ledger, new Set(record.chosen.keys()));
  return {
    start_date: first.date,
    end_date: last.date,
    model_days: days.length,
    stale_model_days: days.filter(({ date }) => record.staleDates.has(date)).length,
    model_days_without_dividends: days.filter(({ date }) => record.unpaidDates.has(date)).length,
    model_days_with_unknown_dividends: days.filter(({ date }) => record.unknownDates.has(date)).length,
    start_value: toDollars(startValueOf(first)),
    end_value: toDollars(last.value),
    profit: toDollars(profit),
    dividends: toDollars(money([...trading.dividends.values()].reduce<number>((sum, cash) => sum + cash, 0))),
    ...reportReturns(seriesOf(curve, leastReturn), record.riskFree),
    relative: reportRelative(compare(curve, record.benchmark, leastReturn), record.riskFree),
    ...reportTrading(record, days, trading),
    usage: reportUsage(record.usage, profit),
    curve: days.map(({ sessionId, date, value }, index) => ({
      date,
      value: toDollars(value),
      daily_return: returnAt(curve, index),
      stale: record.staleDates.has(date),
      dividends: toDollars(trading.dividends.get(sessionId) ?? money(0)),
      dividend_status: dividendStatus(date, record),
    })),
  };
}

/** `unknown`: it held something over a morning for which dividends are neither stored nor covered. */
export const dividendStatuses = ['known', 'unknown', 'not_paid'] as const;

function dividendStatus(date: CalendarDate, record: ModelRecord): (typeof dividendStatuses)[number] {
  if (record.unpaidDates.has(date)) return 'not_paid';
  return record.unknownDates.has(date) ? 'unknown' : 'known';
}

function startValueOf({ value, profit }: LedgerDay): Money {
  return money(value - profit);
}

/** One unit of the ledger, 1/10000 dollar, as a return on the mean value that the days started from. */
function leastReturnOf(days: readonly LedgerDay[]): number {
  const values = days.map(startValueOf).filter((value) => value > 0);
  return values.length === 0 ? LEAST_RETURN : 1 / mean(values);
}

function dayOfCurve(day: LedgerDay, { chosen, unpaidDates }: ModelRecord): DayOfCurve & ComparedDay {
  const startValue = startValueOf(day);
  const dailyReturn = startValue === 0 ? null : day.profit / startValue;
  const startDate = chosen.get(day.sessionId) ?? null;
  return { date: day.date, startDate, dailyReturn, paysDividends: !unpaidDates.has(day.date) };
}

/** The figures of a series of daily returns, a model's or a benchmark's. */
export function reportReturns(series: ReturnSeries, riskFree: number) {
  const drawdown = maxDrawdown(series);
  const annualised = annualisedReturn(series);
  const figures = reportFigures({
    total_return: totalReturn(series),
    annualised_return: annualised,
    annualised_volatility: annualisedVolatility(series),
    sharpe_ratio: sharpeRatio(series, riskFree),
    sortino_ratio: sortinoRatio(series, riskFree),
    calmar_ratio: calmarRatio(annualised, drawdown),
    value_at_risk_95: valueAtRisk95(series),
    winning_days_share: winningDaysShare(series),
  });
  return {
    ...figures,
    max_drawdown: reportDrawdown(drawdown),
    best_day: reportDay(extremeDay(series, 1)),
    worst_day: reportDay(extremeDay(series, -1)),
  };
}

function reportDrawdown({ depth, peakDate, troughDate, recoveryDate, length }: Drawdown) {
  return { depth: rounded(depth), peak_date: peakDate, trough_date: troughDate, recovery_date: recoveryDate, length };
}

function reportDay(day: DailyReturn | null) {
  return day === null ? null : { date: day.date, daily_return: rounded(day.dailyReturn) };
}

/** A model and the benchmark on the days on which both have a return. */
function compare(curve: readonly (DayOfCurve & ComparedDay)[], benchmark: BothLevels, leastReturn: number): Comparison {
  const theirs = benchmarkReturns(benchmark, curve);
  const isCommon = curve.map(({ dailyReturn }, index) => dailyReturn !== null && theirs[index] !== null);
  const common = (returns: readonly (number | null)[]) =>
    curve.map((day, index) => ({ ...day, dailyReturn: isCommon[index] ? (returns[index] ?? null) : null }));
  const own = common(curve.map(({ dailyReturn }) => dailyReturn));
  return { own: seriesOf(own, leastReturn), benchmark: seriesOf(common(theirs)) };
}

function reportRelative(comparison: Comparison, riskFree: number) {
  return { days: comparison.own.days.length, ...reportFigures(relativeFigures(comparison, riskFree)) };
}

function reportUsage(usage: UsageTotals, profit: Money) {
  const { costUsd, daysWithoutCost } = usage;
  const cost: Figure = costUsd ?? { reason: 'No cost is known: the configuration has no price_per_million_tokens' };
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

function returnAt(curve: readonly DayOfCurve[], index: number): number | null {
  const dailyReturn = curve[index]?.dailyReturn ?? null;
  return dailyReturn === null ? null : rounded(dailyReturn);
}
