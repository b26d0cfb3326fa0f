import { MIN_DAYS_FOR_ANNUAL_RETURN, MIN_DAYS_FOR_RISK } from '../statistics/figure.ts';
import type { MetricGroup } from './metric.ts';

/** The metrics of GET /performance, by the part of the response where they are. */

const DAYS = 'without a day that has a return';
const YEAR = `for fewer than ${MIN_DAYS_FOR_ANNUAL_RETURN} days`;
const RISK = `for fewer than ${MIN_DAYS_FOR_RISK} days`;
const STILL = 'when the returns do not vary';
const BENCHMARK = 'without a day on which both have a return';
const SLOPE = 'when the benchmark does not move';
const TRIP = 'without a round trip';
const LOSS = 'without a loss';
const FACTORS =
  'for fewer than 60 days, or 10 for each factor and the constant; also when a factor does not vary or follows from the others';

export const performanceMetrics: readonly MetricGroup[] = [
  {
    title: 'Returns',
    place: '`models` and `benchmark` of `GET /performance`, and their `curve`',
    missing: DAYS,
    metrics: {
      daily_return: { unit: 'fraction', missing: 'when that value is 0' },
      total_return: { source: 'Bacon 2008, time-weighted' },
      growth: { missing: '', source: 'Bacon 2008' },
      annualised_return: { isYearly: true, source: 'Bacon 2008; GIPS', missing: YEAR },
      best_day: {},
      worst_day: {},
      winning_days_share: {},
      longest_winning_run: { missing: '' },
      longest_losing_run: { missing: '' },
    },
  },
  {
    title: 'Risk',
    place: '`models` and `benchmark` of `GET /performance`, and their `curve`',
    missing: RISK,
    metrics: {
      annualised_volatility: { isYearly: true, source: 'Bacon 2008' },
      sharpe_ratio: { isYearly: true, source: 'Sharpe 1994', also: STILL },
      sortino_ratio: {
        isYearly: true,
        formula: 'mean (r − f) / √(mean of min(0, r − f)²) · √252',
        source: 'Sortino and van der Meer 1991',
        also: 'when no day fell below the risk-free rate',
      },
      calmar_ratio: {
        isYearly: true,
        source: 'Young 1991, over the whole curve',
        missing: YEAR,
        also: 'without a drawdown',
      },
      max_drawdown: { missing: '', source: 'Bacon 2008' },
      drawdown: { missing: '', unit: 'fraction', source: 'Bacon 2008' },
      value_at_risk_95: {
        formula: '−(return at rank ⌈n / 20⌉ from the lowest)',
        source: 'Jorion 2007; type 1 in Hyndman and Fan 1996',
      },
      expected_shortfall_95: {
        formula: 'k = n / 20, m = ⌊k⌋: −(sum of the m lowest + (k − m) · the next) / k',
        source: 'Acerbi and Tasche 2002',
      },
      skewness: {
        formula: 'G₁ = g₁ √(n (n − 1)) / (n − 2)',
        source: 'Joanes and Gill 1998',
        also: STILL,
      },
      kurtosis: {
        formula: 'G₂ = ((n + 1) g₂ + 6) (n − 1) / ((n − 2)(n − 3))',
        source: 'Joanes and Gill 1998',
        also: STILL,
      },
    },
  },
  {
    title: 'Against the benchmark',
    place: '`relative` of `GET /performance`',
    missing: RISK,
    metrics: {
      benchmark_return: { missing: BENCHMARK },
      excess_return: { missing: BENCHMARK },
      alpha: {
        isYearly: true,
        also: SLOPE,
        formula: '252 (mean (r − f) − beta · mean (b − f))',
        source: 'Jensen 1968',
      },
      alpha_standard_error: {
        isYearly: true,
        also: SLOPE,
        source: 'Newey and West 1987, with the lags of a comparison',
      },
      alpha_p_value: { also: `${SLOPE} or explains every day exactly` },
      beta: { also: SLOPE, source: 'Jensen 1968' },
      beta_standard_error: { also: SLOPE },
      correlation: {
        source: 'Pearson 1896',
        also: 'when either does not vary',
      },
      tracking_error: { isYearly: true, source: 'Grinold and Kahn 1999' },
      information_ratio: {
        isYearly: true,
        source: 'Grinold and Kahn 1999',
        also: 'when the differences do not vary',
      },
    },
  },
  {
    title: 'Trading',
    place: '`trading` and `open_positions` of `GET /performance`',
    metrics: {
      trades: {},
      refused_orders: {},
      malformed_calls: {},
      refused_answers: {},
      commission: {},
      realised_profit: {},
      unrealised_profit: { missing: 'when no price of a symbol held is stored' },
      dividends: {
        formula: 'shares at the close before the ex-date · cash per share, to 1/10000',
      },
      cost_basis: { unit: 'dollars' },
      exposure: {},
      turnover: {
        source: 'SEC Form N-1A, item 13, with cash in the value',
        missing: 'when the portfolio was worth nothing',
      },
      no_trading_costs: {},
    },
  },
  {
    title: 'Round trips',
    place: '`round_trips` of `GET /performance`',
    missing: TRIP,
    metrics: {
      round_trips: { missing: '', source: '26 CFR 1.1012-1(c); IRS Publication 550' },
      win_rate: { source: 'Dormeier 2011' },
      profit_factor: { source: 'Dormeier 2011', also: LOSS },
      average_win: { also: 'without a gain' },
      average_loss: { also: LOSS },
      expectancy: { source: 'Vince 1992' },
      payoff_ratio: { source: 'Vince 1992', also: 'without a gain or a loss' },
      mean_holding_days: {},
    },
  },
  {
    title: 'Details',
    place: '`details` of `GET /performance?details=true`',
    metrics: {
      months: {},
      years: {},
      drawdowns: { unit: 'fraction' },
      'ModelDetails.symbols': {},
      cost_sensitivity: { formula: '0, 5, 10, 25 and 50 basis points more' },
      break_even_bps: {
        source: 'Grundy and Martin 2001',
        missing:
          'without orders on the days that have both returns, for a model that is behind already, and when no cost would end its lead',
      },
    },
  },
  {
    title: 'Runs and costs of a model',
    place: '`models`, `usage` and `families` of `GET /performance`',
    metrics: {
      failed_model_days: {},
      cost_usd: { missing: 'when no cost is known' },
      profit_per_cost_usd: {
        missing: 'when a cost is unknown, nothing was paid, or the profit is in another currency',
      },
      mean_total_return: {
        unit: 'fraction',
        missing: 'for fewer than two runs; with `by=entry` without any',
      },
      total_return_deviation: { unit: 'fraction', missing: 'for fewer than two runs' },
      lowest_total_return: { unit: 'fraction', missing: 'when the mean is' },
      highest_total_return: { unit: 'fraction', missing: 'when the mean is' },
    },
  },
  {
    title: 'Style',
    place: '`details.style` of `GET /performance?details=true`',
    missing: FACTORS,
    metrics: {
      style: {
        formula: 'r − f = a + Σ β F + e',
        source: 'Newey and West 1987',
        missing: 'without stored factors',
      },
      'Style.alpha': {
        definition: 'The return that the factors do not explain, per year, without compounding',
        formula: '252 a',
      },
      alpha_contribution: {
        definition:
          'The part of the sum of returns above the risk-free rate that the factors do not explain',
        formula: 'D a',
        unit: 'fraction',
      },
      contribution: {
        definition:
          'The part of the sum of returns above the risk-free rate that the factor explains: slope times the sum of the factor',
        formula: 'β Σ F',
        unit: 'fraction',
        missing: '',
      },
      r_squared: {
        definition: 'The part of the variance of the returns that the factors explain',
        unit: 'fraction',
      },
    },
  },
];
