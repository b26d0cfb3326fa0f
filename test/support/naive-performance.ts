import { addDays, isWeekday } from '../../src/core/time/calendar.ts';
import type { ActionRecord } from './recompute.ts';

/**
 * The figures of GET /performance a second time, the slow and simple way: only from the records of
 * GET /results of one model, by definition and by counting, one share at a time. It shares no
 * formula with the service: deviations come from the differences of all pairs, returns from
 * neighbouring values, drawdowns from every high with every later low.
 */
export function naiveFigures(
  records: readonly ActionRecord[],
  { initialCash, yearlyRate = 0 }: { initialCash: number; yearlyRate?: number },
) {
  const days = closingRecords(records);
  const returns = returnsOf(days, initialCash);
  const daily = Math.exp(Math.log(1 + yearlyRate) / 252) - 1;
  const year = Math.sqrt(252);
  const isSparse = returns.length < (2 / 3) * weekdaysOf(days);
  const scaled = (least: number, figure: () => number) =>
    returns.length < least || isSparse ? null : finite(figure());
  const last = (days.at(-1) as ActionRecord).portfolio_value;
  const least =
    0.0001 /
    average([initialCash, ...days.map((day) => day.portfolio_value)].slice(0, returns.length));
  const measurable = (figure: number) => (figure > least ? figure : 0);
  const deviation = measurable(pairDeviation(returns));
  const downside = Math.sqrt(
    sum(returns.map((r) => (r < daily ? (r - daily) * (r - daily) : 0))) / returns.length,
  );
  const depth = deepestFall([initialCash, ...days.map((day) => day.portfolio_value)]);
  const annualised = scaled(
    252,
    () => Math.exp((Math.log(last / initialCash) * 252) / returns.length) - 1,
  );
  return {
    total_return: last / initialCash - 1,
    annualised_return: annualised,
    annualised_volatility: scaled(20, () => deviation * year),
    sharpe_ratio: scaled(20, () => ((average(returns) - daily) / deviation) * year),
    sortino_ratio: scaled(20, () => ((average(returns) - daily) / measurable(downside)) * year),
    calmar_ratio: annualised === null ? null : finite(annualised / depth),
    value_at_risk_95: returns.length < 20 ? null : -worstTwentieth(returns),
    expected_shortfall_95: returns.length < 20 ? null : -worstTwentiethMean(returns),
    ...naiveShape(returns, deviation),
    longest_winning_run: longestRun(returns, /\++/g),
    longest_losing_run: longestRun(returns, /-+/g),
    winning_days_share: returns.filter((r) => r > 0).length / returns.length,
    depth,
    exposure: average(
      days.map((day) => (day.portfolio_value === 0 ? 0 : 1 - day.cash / day.portfolio_value)),
    ),
    ...naiveTrading(records, days, initialCash),
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
  const [first, last] = [days[0], days.at(-1)] as [ActionRecord, ActionRecord];
  let count = 0;
  for (let { date } = first; date <= last.date; date = addDays(date, 1))
    count += isWeekday(date) ? 1 : 0;
  return count;
}

/** The sample deviation without a mean: all pairs' squared differences over n (n - 1). */
function pairDeviation(numbers: readonly number[]): number {
  let squares = 0;
  numbers.forEach((one, index) =>
    numbers.slice(index + 1).forEach((other) => (squares += (one - other) ** 2)),
  );
  const deviation = Math.sqrt(squares / (numbers.length * (numbers.length - 1)));
  return deviation < 1e-12 ? 0 : deviation;
}

function deepestFall(values: readonly number[]): number {
  const falls = values.flatMap((high, index) =>
    values.slice(index + 1).map((low) => (high > 0 ? 1 - low / high : 0)),
  );
  return falls.reduce((deepest, fall) => Math.max(deepest, fall), 0);
}

/** The lowest return that at least one day in twenty did not exceed. */
function worstTwentieth(returns: readonly number[]): number {
  const reached = returns.filter(
    (r) => returns.filter((other) => other <= r).length * 20 >= returns.length,
  );
  return reached.reduce((lowest, r) => Math.min(lowest, r), Infinity);
}

/** Each day twenty times, so that the worst twentieth is a whole number of them. */
function worstTwentiethMean(returns: readonly number[]): number {
  const days = returns.flatMap((r) => Array<number>(20).fill(r)).sort((one, other) => one - other);
  return average(days.slice(0, returns.length));
}

/** Skewness and excess kurtosis as ratios of k-statistics, from sums of powers (Fisher 1930). */
function naiveShape(returns: readonly number[], deviation: number) {
  const n = returns.length;
  if (n < 20 || deviation === 0) return { skewness: null, kurtosis: null };
  const middle = average(returns);
  const [s1, s2, s3, s4] = [1, 2, 3, 4].map((power) =>
    sum(returns.map((r) => (r - middle) ** power)),
  ) as [number, number, number, number];
  const k2 = (n * s2 - s1 ** 2) / (n * (n - 1));
  const k3 = (2 * s1 ** 3 - 3 * n * s1 * s2 + n ** 2 * s3) / (n * (n - 1) * (n - 2));
  const fourth =
    -6 * s1 ** 4 +
    12 * n * s1 ** 2 * s2 -
    3 * n * (n - 1) * s2 ** 2 -
    4 * n * (n + 1) * s1 * s3 +
    n ** 2 * (n + 1) * s4;
  const k4 = fourth / (n * (n - 1) * (n - 2) * (n - 3));
  return { skewness: k3 / k2 ** 1.5, kurtosis: k4 / k2 ** 2 };
}

/** Signs as text, of which a pattern finds the runs. */
function longestRun(returns: readonly number[], pattern: RegExp): number {
  const signs = returns.map((r) => (r > 0 ? '+' : r < 0 ? '-' : '0')).join('');
  return Math.max(0, ...(signs.match(pattern) ?? []).map((run) => run.length));
}

interface Share {
  cost: number;
  date: string;
  order: number;
}

/**
 * One entry per share; a round trip is all shares of one purchase that one sale took. Splits make k
 * shares of one.
 */
function naiveTrading(
  records: readonly ActionRecord[],
  days: readonly ActionRecord[],
  initialCash: number,
) {
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
    if (record.action_type === 'dividend') return void (dividends += change);
    if (record.action_type === 'split') {
      const factor = 1 + amount / shares.length;
      const parts = shares.map((share) => ({ ...share, cost: share.cost / factor }));
      return void held.set(
        symbol,
        parts.flatMap((part) => Array<Share>(factor).fill(part)),
      );
    }
    trades += 1;
    if (record.action_type === 'buy') {
      bought += amount * price;
      for (let left = amount; left > 0; left -= 1)
        shares.push({ cost: -change / amount, date, order });
      return;
    }
    sold += amount * price;
    for (const share of shares.splice(0, amount)) {
      const begun = { profit: 0, days: daysBetween(share.date, date) };
      const trip = trips.get(`${share.order} ${order}`) ?? begun;
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
    mean_holding_days: finite(average([...trips.values()].map((trip) => trip.days))),
    /**
     * Of round trips that won and that lost; null where rounding to 1/10000 dollar could turn one
     * into the other.
     */
    wins: exact.every((profit) => profit === 0 || Math.abs(profit) > 0.1)
      ? naiveWins(profits)
      : null,
    cost: sum(open.flatMap(([, shares]) => shares.map(({ cost }) => cost))),
    open_positions: open.map(([symbol, shares]) => [symbol, shares.length, shares[0]?.date]).sort(),
  };
}

function naiveWins(profits: readonly number[]) {
  const [wins, losses] = [
    profits.filter((profit) => profit > 0),
    profits.filter((profit) => profit < 0).map((profit) => -profit),
  ];
  return {
    win_rate: finite(wins.length / profits.length),
    profit_factor: finite(sum(wins) / sum(losses)),
    average_win: finite(average(wins)),
    average_loss: finite(average(losses)),
    expectancy: finite(average(profits)),
    payoff_ratio: finite(average(wins) / average(losses)),
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
