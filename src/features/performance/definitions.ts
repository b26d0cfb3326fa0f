import {
  dailyRate,
  MAX_STILL_DAYS,
  MIN_DAYS_FOR_ANNUAL_RETURN,
  MIN_DAYS_FOR_RISK,
  MIN_SHARE_OF_WEEKDAYS,
  TRADING_DAYS_PER_YEAR,
} from '../statistics/figure.ts';

/**
 * The meaning of each figure in one sentence. The sources of the formulas are beside the formulas.
 */
export const definitions = {
  daily_return: 'Profit of the day over the closing value of the day that it started from',
  total_return: 'Daily returns linked: the product of (1 + daily return), minus 1',
  annualised_return:
    'The yearly return that compounds to the total: (1 + total return)^(252 / days) - 1',
  annualised_volatility:
    'Sample standard deviation of the daily returns, times the square root of 252',
  sharpe_ratio:
    'Mean over sample standard deviation of the daily returns above the risk-free rate, times the square root of 252',
  sortino_ratio:
    'Mean daily return above the risk-free rate over the downside deviation of all days, times the square root of 252',
  calmar_ratio: 'Annualised return over the depth of the maximum drawdown',
  max_drawdown:
    'The deepest fall from a high to a low, as a fraction of the high; length in days until the high is reached again',
  best_day: 'The day with the highest return',
  worst_day: 'The day with the lowest return',
  winning_days_share: 'Fraction of the days that have a return above 0',
  value_at_risk_95:
    'The loss that 95 of 100 days did not exceed, taken from actual days, without interpolation',
  expected_shortfall_95:
    'Mean loss of the worst twentieth of the days; a day at its edge counts partly',
  skewness: 'Sample skewness of the daily returns; below 0 where the large moves are losses',
  kurtosis: 'Sample kurtosis of the daily returns, minus the 3 of a normal distribution',
  longest_winning_run: 'The most days in a row with a return above 0',
  longest_losing_run: 'The most days in a row with a return below 0',
  drawdown:
    'How far growth is below its highest point so far, including the start, as a fraction of that point',
  growth:
    'What one dollar has grown to since the start of the first day: the product of (1 + daily return)',
  failed_model_days:
    'Model-days of the chosen period that failed and have not been completed since',
  exposure: 'Mean fraction of the closing value that is in holdings',
  turnover: 'The lesser of purchases and sales over the mean closing value, for the whole curve',
  trades: 'Orders executed; splits, exchanges and refused orders do not count',
  refused_orders: 'Orders that were refused, and those of a hidden open that did not fill in full',
  malformed_calls:
    'Calls of an unknown tool, with wrong arguments, written as text, or in an answer that was cut off or refused',
  refused_answers: 'Answers that the model refused to give, or that its provider held back',
  commission: 'What orders cost on top of shares times price',
  realised_profit:
    'Profit on shares sold, on fractions of shares paid in cash, and on the cash of exchanges',
  dividends: 'Cash received; profit is realised profit, unrealised profit and dividends',
  unrealised_profit: 'Value of the open positions at the last close minus what they cost',
  round_trips: 'Shares bought together and sold together, first in, first out',
  win_rate: 'Fraction of the round trips that have a profit above 0',
  profit_factor: 'Gross profit of the winning round trips over gross loss of the losing ones',
  average_win: 'Mean profit of the winning round trips',
  average_loss: 'Mean loss of the losing round trips, above 0',
  expectancy: 'Mean profit of all round trips',
  payoff_ratio: 'Average win over average loss',
  mean_holding_days: 'Mean calendar days from purchase to sale of the round trips',
  cost_basis: 'What the shares of an open position cost',
  benchmark_return: 'Total return of the benchmark over the days on which both have a return',
  excess_return: 'Total return minus that of the benchmark over the same days',
  alpha:
    'The return above the risk-free rate that beta does not explain, per year, without compounding',
  alpha_standard_error:
    'The standard error of alpha, per year, allowing for days that depend on each other (Newey and West)',
  alpha_p_value:
    'How often alpha would be this far from 0 by chance if it were 0: two-sided, Student’s t with days - 2 degrees of freedom',
  beta: 'Covariance with the benchmark over the variance of the benchmark',
  beta_standard_error: 'The standard error of beta, by the same method',
  correlation: 'Correlation of the daily returns with those of the benchmark',
  tracking_error:
    'Sample standard deviation of the daily differences from the benchmark, times the square root of 252',
  information_ratio:
    'Mean over sample standard deviation of the daily differences from the benchmark, times the square root of 252',
  mean_total_return:
    'exp(mean log return of the runs of one entry over the days that they share) - 1, as in GET /comparison',
  total_return_deviation:
    'Sample standard deviation of the total returns of the runs of one entry, over n - 1',
  lowest_total_return: 'The lowest total return among the runs of one entry',
  highest_total_return: 'The highest total return among the runs of one entry',
  months: 'Daily returns of each month linked, and how many days have one',
  years: 'Daily returns of each year linked, and how many days have one',
  drawdowns: 'The five deepest falls from a high, each until the high is reached again',
  symbols:
    'Profit by symbol: closing minus starting value of its shares in these days, plus the cash of its trades and dividends; ' +
    'what an exchange moves from one symbol to another counts at its cost or, in a part of a chain, at its value that morning',
  cost_sensitivity: 'Total return if every order had cost this many more basis points of its value',
  break_even_bps:
    'By how many basis points more every order would have to cost for the excess return to be 0',
  no_trading_costs: 'Whether orders cost nothing on top of their price in all its jobs',
  cost_usd:
    'What the tokens of these model-days cost, including failed attempts within the same job',
  profit_per_cost_usd: 'Profit in dollars per dollar that the model cost',
  style:
    'What the stored factors leave of the sum of the daily returns above the risk-free rate, by a regression over the days ' +
    'that have every factor; a sum, not linked as a return is',
} as const;

/**
 * The figures of each unit; all others are plain numbers. In a return and in a profit, a gain is
 * above 0.
 */
const units = {
  return: [
    'total_return',
    'annualised_return',
    'best_day',
    'worst_day',
    'benchmark_return',
    'excess_return',
    'alpha',
    'cost_sensitivity',
  ],
  profit: ['profit', 'realised_profit', 'unrealised_profit', 'expectancy'],
  fraction: [
    'annualised_volatility',
    'max_drawdown',
    'winning_days_share',
    'value_at_risk_95',
    'expected_shortfall_95',
    'alpha_standard_error',
    'tracking_error',
    'exposure',
    'win_rate',
  ],
  dollars: [
    'end_value',
    'dividends',
    'bought',
    'sold',
    'commission',
    'average_win',
    'average_loss',
  ],
  cost: ['cost_usd'],
  count: [
    'model_days',
    'failed_model_days',
    'model_days_without_dividends',
    'model_days_with_unknown_dividends',
    'longest_winning_run',
    'longest_losing_run',
    'trades',
    'refused_orders',
    'malformed_calls',
    'refused_answers',
    'count',
    'requests',
    'prompt_tokens',
    'completion_tokens',
    'cached_tokens',
    'reasoning_tokens',
  ],
};

const STILL = `Without a bar a benchmark is worth its last close for ${MAX_STILL_DAYS} calendar days`;

/** The conventions of the figures, as in the response. */
export function reportConventions(yearlyRiskFreeRate: number, factors: readonly string[]) {
  return {
    factors: [...factors],
    period:
      'One model-day: from the close of the day it started from to its own close; the first day from its open',
    fractions: 'Returns, rates and shares are fractions: 0.01 is one percent',
    trading_days_per_year: TRADING_DAYS_PER_YEAR,
    deviation: 'Sample standard deviation, over n - 1',
    risk_free_rate: yearlyRiskFreeRate,
    risk_free_rate_daily: dailyRate(yearlyRiskFreeRate),
    min_days_for_annual_return: MIN_DAYS_FOR_ANNUAL_RETURN,
    min_days_for_risk: MIN_DAYS_FOR_RISK,
    min_share_of_weekdays: MIN_SHARE_OF_WEEKDAYS,
    dividends:
      'Part of the profit and of every return where the job pays them; a benchmark reinvests its own at the close of the ' +
      'ex-date, and is measured without them where the model-day is',
    universe_benchmark:
      'Equal amounts in every symbol of the universe that has a price, rebalanced at every close, without costs',
    benchmark_gaps: `${STILL}; then it has no return until its next bar, and a symbol is not in the universe`,
    survivorship:
      'A universe chosen after the simulated dates omits what has failed since and favours what has risen. The ' +
      'universe of the program is the NASDAQ-100 as of October 2025; set stock_symbols for earlier dates',
    adjusted_prices:
      'Adjusted series (Yahoo, Stooq) are divided by splits, some also by dividends, that came later: no one could ' +
      'have traded at these prices. Raw prices are the prices at the time',
    definitions,
    units,
  };
}
