import assert from 'node:assert/strict';
import type { LedgerDay } from './queries.ts';
import { type Money, asMoney, toDollars } from '#money/money.ts';
import { US } from '#domain/market-rules.ts';
import { count } from '#text/sentences.ts';
import { at, mean, bisect } from '../statistics/moments.ts';
import {
  type Figure,
  LEAST_RETURN,
  mapFigure,
  ratio,
  reportFigures,
  rounded,
} from '../statistics/figure.ts';
import {
  holdingDays,
  type ModelTrading,
  type OpenPosition,
  openPositions,
  measureTrading,
  unrealisedProfit,
} from './trading.ts';
import { type RoundTrip, sumMoney, tripProfit } from './lots.ts';
import type { CalendarDate } from '#time/calendar.ts';
import { benchmarkReturns, type ComparedDay } from './benchmark.ts';
import type { ModelRecord } from './record.ts';
import { type PairedReturns, relativeFigures } from './relative.ts';
import { reportDetails } from './details.ts';
import { reportReturns } from './report-returns.ts';
import { type CurveDay, toReturnSeries, linkReturns } from './risk-and-return.ts';

/** A day with what was bought and sold on it, and the benchmark's return; amounts in one unit. */
export interface CostDay {
  /** 0 where the day has no return. */
  startValue: number;
  profit: number;
  /** Shares times price, of all orders. */
  traded: number;
  /** Null where unknown. */
  benchmark: number | null;
}

/** Added to the cost of every order, in basis points of its value. */
const ADDED_BPS = [0, 5, 10, 25, 50];
const BASIS_POINTS = 10_000;

/** Each day's profit less the added cost of its orders, over its starting value; linked. */
function totalAt(days: readonly CostDay[], bps: number): number {
  return linkReturns(
    days.map(({ startValue, profit, traded }) =>
      startValue === 0 ? 0 : (profit - (traded * bps) / BASIS_POINTS) / startValue,
    ),
  );
}

/**
 * The added cost at which the excess return over the benchmark is zero, on the days on which both
 * have a return: the break-even transaction cost (Grundy & Martin, Understanding the Nature of the
 * Risks and the Source of the Rewards to Momentum Investing, Review of Financial Studies, 2001).
 */
function breakEven(all: readonly CostDay[]): Figure {
  const days = all.filter(({ startValue, benchmark }) => startValue !== 0 && benchmark !== null);
  if (days.length === 0) return { reason: 'There is no day on which both have a return' };
  const goal = linkReturns(days.map(({ benchmark }) => benchmark ?? NaN));
  const isBehind = (bps: number) => totalAt(days, bps) < goal;
  if (isBehind(0)) return { reason: 'It is already behind the benchmark' };
  const ordered = days.filter(({ traded }) => traded > 0);
  if (ordered.length === 0)
    return { reason: 'It did not trade on the days it shares with the benchmark' };
  // At the upper end one day loses all that it started from.
  const high = Math.min(
    ...ordered.map(
      ({ startValue, profit, traded }) => ((startValue + profit) / traded) * BASIS_POINTS,
    ),
  );
  return isBehind(high)
    ? bisect(0, high, (bps) => !isBehind(bps))
    : { reason: 'No trading cost would take its lead away' };
}

/** What would be left if trading had cost more, named as in the response. */
export function reportCosts(days: readonly CostDay[]) {
  return {
    cost_sensitivity: ADDED_BPS.map((bps) => ({
      basis_points: bps,
      total_return: rounded(totalAt(days, bps)),
    })),
    ...reportFigures({ break_even_bps: breakEven(days) }),
  };
}

/** The response lists at most this many of a model's round trips, the latest. */
const MAX_LISTED_ROUND_TRIPS = 100;

/**
 * What a model traded, named as in the response. Turnover is the lesser of purchases and sales over
 * the mean closing value (SEC Form N-1A, item 13, but with cash counted in the value), for the
 * whole curve and not per year.
 */
function reportTrading(
  days: readonly LedgerDay[],
  trading: ModelTrading,
  { positions, refusals }: { positions: readonly OpenPosition[] } & Pick<ModelRecord, 'refusals'>,
) {
  const { bought, sold, commission, roundTrips } = trading;
  const symbols = [...trading.symbols.values()];
  return {
    trading: {
      trades: symbols.reduce((sum, { trades }) => sum + trades, 0),
      refused_orders: refusals.orders,
      malformed_calls: refusals.malformed,
      refused_answers: refusals.answers,
      bought: toDollars(bought),
      sold: toDollars(sold),
      commission: toDollars(commission),
      ...reportFigures({
        realised_profit: toDollars(sumMoney(symbols.map(({ realised }) => realised))),
        unrealised_profit: unrealisedProfit(positions),
        // The mean fraction of the closing value that is in holdings; 0 where the value is 0.
        exposure: mean(days.map(({ cash, value }) => (value === 0 ? 0 : (value - cash) / value))),
        turnover: ratio(
          Math.min(bought, sold),
          mean(days.map(({ value }) => value)),
          'The portfolio was worth nothing',
        ),
      }),
    },
    round_trips: reportRoundTrips(roundTrips),
    open_positions: positions.map(reportOpenPosition),
  };
}

/**
 * Win rate is the fraction of round trips with a profit above 0; profit factor is gross profit over
 * gross loss (Dormeier, Investing with Volume Analysis, 2011). Expectancy is the mean profit of a
 * round trip: win rate times average win minus the rate of losses times average loss; payoff is
 * average win over average loss (Vince, The Mathematics of Money Management, 1992). All after
 * commission, in dollars.
 */
function reportRoundTrips(trips: readonly RoundTrip[]) {
  const profits = trips.map(tripProfit);
  const wins = profits.filter((profit) => profit > 0);
  const losses = profits.filter((profit) => profit < 0);
  const [gained, lost] = [sumMoney(wins), 0 - sumMoney(losses)];
  const averageWin = ratio(toDollars(gained), wins.length, 'No round trip won');
  const averageLoss = ratio(toDollars(asMoney(lost)), losses.length, 'No round trip lost');
  const none = trips.length === 0 ? { reason: 'Nothing was sold' } : null;
  return {
    count: trips.length,
    profit: toDollars(sumMoney(profits)),
    ...reportFigures({
      win_rate: none ?? wins.length / trips.length,
      profit_factor: none ?? ratio(gained, lost, 'No round trip lost'),
      average_win: none ?? averageWin,
      average_loss: none ?? averageLoss,
      expectancy: none ?? toDollars(sumMoney(profits)) / trips.length,
      payoff_ratio: none ?? ratio(averageWin, averageLoss, 'No round trip lost'),
      mean_holding_days: none ?? mean(trips.map(holdingDays)),
    }),
    latest: trips.slice(-MAX_LISTED_ROUND_TRIPS).map(reportRoundTrip),
  };
}

function reportRoundTrip(trip: RoundTrip) {
  return {
    symbol: trip.symbol,
    quantity: trip.quantity,
    buy_date: trip.buyDate,
    sell_date: trip.sellDate,
    cost: toDollars(trip.cost),
    proceeds: toDollars(trip.proceeds),
    profit: toDollars(tripProfit(trip)),
    holding_days: holdingDays(trip),
  };
}

function reportOpenPosition({ symbol, quantity, since, cost, value, profit }: OpenPosition) {
  return {
    symbol,
    quantity,
    since,
    cost_basis: toDollars(cost),
    value: value === null ? null : toDollars(value),
    unrealised_profit: profit === null ? null : toDollars(profit),
  };
}

/**
 * All figures of a model, named as in the response: dollars and fractions as numbers, a reason for
 * each null.
 */
export function reportModel(record: ModelRecord) {
  const days = record.ledger.filter(({ sessionId }) => record.chosen.has(sessionId));
  const curve = days.map((day) => toCurveDay(day, record));
  const leastReturn = smallestReturn(days);
  const trading = measureTrading(record.ledger, record.chosen);
  const positions = openPositions(trading.book, record.markOf);
  const series = toReturnSeries(curve, leastReturn);
  const { gains, riskFree, factors } = record;
  const theirs = benchmarkReturns(record.benchmark, curve);
  return {
    ...reportPeriod(days, record, trading),
    ...reportReturns(series, riskFree),
    relative: reportRelative(pairReturns(curve, theirs, leastReturn), riskFree),
    ...reportTrading(days, trading, { ...record, positions }),
    usage: reportUsage(record, totalProfit(days)),
    curve: reportCurve(days, record, { curve, trading }),
    details: gains && {
      ...reportDetails({ curve, series, riskFree, factors, trading, positions, gains }),
      ...reportCosts(costDays(days, theirs)),
    },
  };
}

/** The days of a record, how many of them are marked, and what they began and ended with. */
function reportPeriod(
  days: readonly LedgerDay[],
  { staleDates, unpaidDates, unknownDates }: ModelRecord,
  { dividends }: ModelTrading,
) {
  const [first, last] = [days[0], days.at(-1)];
  assert(first !== undefined && last !== undefined, 'a record has a chosen day');
  const countDates = (dates: ReadonlySet<CalendarDate>) =>
    days.filter(({ date }) => dates.has(date)).length;
  return {
    start_date: first.date,
    end_date: last.date,
    model_days: days.length,
    stale_model_days: countDates(staleDates),
    model_days_without_dividends: countDates(unpaidDates),
    model_days_with_unknown_dividends: countDates(unknownDates),
    start_value: toDollars(openingValue(first)),
    end_value: toDollars(last.value),
    profit: toDollars(totalProfit(days)),
    dividends: toDollars(sumMoney([...dividends.values()])),
  };
}

function totalProfit(days: readonly LedgerDay[]): Money {
  return sumMoney(days.map(({ profit }) => profit));
}

/** What one dollar has become at the close of each day, not rounded. */
export function growthCurve(record: ModelRecord): { date: CalendarDate; growth: number }[] {
  let growth = 1;
  return record.ledger.flatMap((day) => {
    if (!record.chosen.has(day.sessionId)) return [];
    growth *= 1 + (toCurveDay(day, record).dailyReturn ?? 0);
    return { date: day.date, growth };
  });
}

/**
 * A point per day, with the value at its close of one dollar invested at the start, and its
 * distance below the highest value so far, as a fraction.
 */
function reportCurve(
  days: readonly LedgerDay[],
  record: ModelRecord,
  { curve, trading }: { curve: readonly CurveDay[]; trading: ModelTrading },
) {
  let [growth, high] = [1, 1];
  return days.map(({ sessionId, date, value }, index) => {
    const { dailyReturn } = at(curve, index);
    growth *= 1 + (dailyReturn ?? 0);
    high = Math.max(high, growth);
    return {
      date,
      value: toDollars(value),
      daily_return: dailyReturn === null ? null : rounded(dailyReturn),
      stale: record.staleDates.has(date),
      dividends: toDollars(trading.dividends.get(sessionId) ?? asMoney(0)),
      dividend_status: dividendStatus(date, record),
      growth: rounded(growth),
      drawdown: rounded(1 - growth / high),
    };
  });
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

function openingValue({ value, profit }: LedgerDay): Money {
  return asMoney(value - profit);
}

/**
 * One unit of the ledger, 1/10000 dollar, as a return on the mean value that the days started from.
 */
function smallestReturn(days: readonly LedgerDay[]): number {
  const values = days.map(openingValue).filter((value) => value > 0);
  return values.length === 0 ? LEAST_RETURN : 1 / mean(values);
}

function toCurveDay(day: LedgerDay, { chosen, unpaidDates }: ModelRecord): CurveDay & ComparedDay {
  const startValue = openingValue(day);
  const dailyReturn = startValue === 0 ? null : day.profit / startValue;
  const startDate = chosen.get(day.sessionId) ?? null;
  return { date: day.date, startDate, dailyReturn, paysDividends: !unpaidDates.has(day.date) };
}

/** A model and the benchmark on the days on which both have a return. */
function pairReturns(
  curve: readonly (CurveDay & ComparedDay)[],
  theirs: readonly (number | null)[],
  leastReturn: number,
): PairedReturns {
  const own = curve.map((day, index) =>
    theirs[index] === null ? { ...day, dailyReturn: null } : day,
  );
  const benchmark = own.map((day, index) => ({
    ...day,
    dailyReturn: day.dailyReturn === null ? null : (theirs[index] ?? null),
  }));
  return { own: toReturnSeries(own, leastReturn), benchmark: toReturnSeries(benchmark) };
}

/** What more expensive orders would have left of each day. */
function costDays(days: readonly LedgerDay[], theirs: readonly (number | null)[]): CostDay[] {
  return days.map((day, index) => ({
    startValue: openingValue(day),
    profit: day.profit,
    traded: day.actions.reduce(
      (sum, { actionType, amount, price }) =>
        actionType === 'buy' || actionType === 'sell' ? sum + (amount ?? 0) * (price ?? 0) : sum,
      0,
    ),
    benchmark: theirs[index] ?? null,
  }));
}

function reportRelative(comparison: PairedReturns, riskFree: number) {
  const figures = relativeFigures(comparison, riskFree);
  return { days: comparison.own.days.length, ...reportFigures<keyof typeof figures>(figures) };
}

function reportUsage({ usage, currency }: Pick<ModelRecord, 'usage' | 'currency'>, profit: Money) {
  const { cost_usd: known, ...used } = usage;
  const cost: Figure = known ?? {
    reason:
      'No cost is known: the provider reported none, and the configuration has no price_per_million_tokens',
  };
  const unknown = used.model_days_without_cost;
  const incomplete = `The cost of ${count(unknown, 'model-day')} is not known`;
  const wholeCost = known !== null && unknown > 0 ? { reason: incomplete } : cost;
  const perDollar: Figure =
    currency === US.currency
      ? ratio(1, wholeCost, 'The model cost nothing')
      : { reason: `Its profit is in ${currency}, and nothing is converted` };
  return {
    ...used,
    ...reportFigures({
      cost_usd: cost,
      profit_per_cost_usd: mapFigure(perDollar, (share) => toDollars(profit) * share),
    }),
  };
}
