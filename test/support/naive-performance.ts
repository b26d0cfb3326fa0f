import { addDays, isWeekday } from '../../src/calendar.ts';
import type { ActionRecord } from './recompute.ts';

/**
 * The figures of GET /performance a second time, the slow and simple way: only from the records of GET /results of one
 * model, by definition and by counting, one share at a time. It shares no formula with the service: deviations come from
 * the differences of all pairs, returns from neighbouring values, drawdowns from every high with every later low.
 */
export function naiveFigures(records: readonly ActionRecord[], { initialCash, yearlyRate = 0 }: NaiveOptions) {
  const days = closingRecords(records);
  const returns = returnsOf(days, initialCash);
  const daily = Math.exp(Math.log(1 + yearlyRate) / 252) - 1;
  const year = Math.sqrt(252);
  const isSparse = returns.length < (2 / 3) * weekdaysOf(days);
  const scaled = (least: number, figure: () => number) =>
    returns.length < least || isSparse ? null : finite(figure());
  const last = (days.at(-1) as ActionRecord).portfolio_value;
  const least = 0.0001 / average([initialCash, ...days.map((day) => day.portfolio_value)].slice(0, returns.length));
  const measurable = (figure: number) => (figure > least ? figure : 0);
  const deviation = measurable(pairDeviation(returns));
  const downside = Math.sqrt(sum(returns.map((r) => (r < daily ? (r - daily) * (r - daily) : 0))) / returns.length);
  const depth = deepestFall([initialCash, ...days.map((day) => day.portfolio_value)]);
  const annualised = scaled(252, () => Math.exp((Math.log(last / initialCash) * 252) / returns.length) - 1);
  return {
    total_return: last / initialCash - 1,
    annualised_return: annualised,
    annualised_volatility: scaled(20, () => deviation * year),
    sharpe_ratio: scaled(20, () => ((average(returns) - daily) / deviation) * year),
    sortino_ratio: scaled(20, () => ((average(returns) - daily) / measurable(downside)) * year),
    calmar_ratio: annualised === null ? null : finite(annualised / depth),
    value_at_risk_95: returns.length < 20 ? null : -worstTwentieth(returns),
    winning_days_share: returns.filter((r) => r > 0).length / returns.length,
    depth,
    exposure: average(days.map((day) => (day.portfolio_value === 0 ? 0 : 1 - day.cash / day.portfolio_value))),
    ...naiveTrading(records, days, initialCash),
  };
}

export interface NaiveOptions {
  initialCash: number;
  yearlyRate?: number;
}

/** Slope, intercept and the rest against a benchmark, from the sums of the normal equations. */
export function naiveRelative(own: readonly number[], benchmark: readonly number[], daily: number) {
  const [x, y] = [benchmark.map((r) => r - daily), own.map((r) => r - daily)];
  const count = x.length;
  const product = sum(x.map((value, index) => value * (y[index] as number)));
  const beta = (count * product - sum(x) * sum(y)) / (count * sum(x.map((value) => value * value)) - sum(x) ** 2);
  const differences = own.map((r, index) => r - (benchmark[index] as number));
  return {
    alpha: ((sum(y) - beta * sum(x)) / count) * 252,
    beta,
    correlation: (beta * pairDeviation(benchmark)) / pairDeviation(own),
    tracking_error: pairDeviation(differences) * Math.sqrt(252),
    information_ratio: (average(differences) / pairDeviation(differences)) * Math.sqrt(252),
  };
}

function closingRecords(records: readonly ActionRecord[]): ActionRecord[] {
  return records.filter((record, index) => records[index + 1]?.date !== record.date);
}

/** Until nothing is left; a return on nothing is undefined. */
function returnsOf(days: readonly ActionRecord[], initialCash: number): number[] {
  const values = [initialCash, ...days.map((day) => day.portfolio_value)];
  const broke = values.indexOf(0);
  const alive = broke === -1 ? values : values.slice(0, broke + 1);
  return alive.slice(1).map((value, index) => value / (alive[index] as number) - 1);
}

function weekdaysOf(days: readonly ActionRecord[]): number {
  let count = 0;
  for (let date = (days[0] as ActionRecord).date; date <= (days.at(-1) as ActionRecord).date; date = addDays(date, 1))
    count += isWeekday(date) ? 1 : 0;
  return count;
}

/** The sample deviation without a mean: all pairs' squared differences over n (n - 1). */
export function pairDeviation(numbers: readonly number[]): number {
  let squares = 0;
  numbers.forEach((one, index) => numbers.slice(index + 1).forEach((other) => (squares += (one - other) ** 2)));
  const deviation = Math.sqrt(squares / (numbers.length * (numbers.length - 1)));
  return deviation < 1e-12 ? 0 : deviation;
}

function deepestFall(values: readonly number[]): number {
  const falls = values.flatMap((high, index) => values.slice(index + 1).map((low) => (high > 0 ? 1 - low / high : 0)));
  return falls.reduce((deepest, fall) => Math.max(deepest, fall), 0);
}

/** The lowest return that at least one day in twenty did not exceed. */
function worstTwentieth(returns: readonly number[]): number {
  const reached = returns.filter((r) => returns.filter((other) => other <= r).length * 20 >= returns.length);
  return reached.reduce((lowest, r) => Math.min(lowest, r), Infinity);
}

interface Share {
  cost: number;
  date: string;
  order: number;
}

/** One entry per share; a round trip is all shares of one purchase that one sale took. Splits make k shares of one. */
function naiveTrading(records: readonly ActionRecord[], days: readonly ActionRecord[], initialCash: number) {
  const held = new Map<string, Share[]>();
  const trips = new Map<string, { profit: number; days: number }>();
  let [cash, bought, sold, trades, realised, dividends] = [initialCash, 0, 0, 0, 0, 0];
  records.forEach((record, order) => {
    const { symbol, amount, price, date } = record;
    const change = record.cash - cash;
    cash = record.cash;
    if (symbol === null || amount === null || price === null) return;
    const shares = held.get(symbol) ?? [];
    held.set(symbol, shares);
    if (record.action_type === 'dividend') {
      dividends += change;
      return;
    }
    if (record.action_type === 'split') {
      const factor = 1 + amount / shares.length;
      held.set(
        symbol,
        shares.flatMap((share) => Array<Share>(factor).fill({ ...share, cost: share.cost / factor })),
      );
      return;
    }
    trades += 1;
    if (record.action_type === 'buy') {
      bought += amount * price;
      for (let left = amount; left > 0; left -= 1) shares.push({ cost: -change / amount, date, order });
      return;
    }
    sold += amount * price;
    for (const share of shares.splice(0, amount)) {
      const trip = trips.get(`${share.order} ${order}`) ?? { profit: 0, days: daysBetween(share.date, date) };
      trip.profit += change / amount - share.cost;
      realised += change / amount - share.cost;
      trips.set(`${share.order} ${order}`, trip);
    }
  });
  const exact = [...trips.values()].map(({ profit }) => (Math.abs(profit) < 1e-9 ? 0 : profit));
  const profits = exact.map((profit) => Math.round(profit * 10_000) / 10_000);
  const open = [...held].filter(([, shares]) => shares.length > 0);
  return {
    trades,
    bought,
    sold,
    turnover: finite(Math.min(bought, sold) / average(days.map((day) => day.portfolio_value))),
    count: profits.length,
    realised_profit: realised,
    dividends,
    win_rate: finite(profits.filter((profit) => profit > 0).length / profits.length),
    profit_factor: finite(sum(profits.map((p) => Math.max(p, 0))) / sum(profits.map((p) => Math.max(-p, 0)))),
    mean_holding_days: finite(average([...trips.values()].map((trip) => trip.days))),
    /** Whether rounding to 1/10000 dollar cannot turn what round trips won and lost. */
    isClear: exact.every((profit) => profit === 0 || Math.abs(profit) > 0.1),
    cost: sum(open.flatMap(([, shares]) => shares.map(({ cost }) => cost))),
    open_positions: open.map(([symbol, shares]) => [symbol, shares.length, shares[0]?.date]).sort(),
  };
}

function daysBetween(start: string, end: string): number {
  return (Date.parse(end) - Date.parse(start)) / 86_400_000;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function average(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}
