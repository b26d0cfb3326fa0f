import { MIN_DAYS_FOR_ANNUAL_RETURN, MIN_DAYS_FOR_RISK } from '../statistics/figure.ts';
import { defined, plain, never, yearly, type MetricGroup } from './metric.ts';

/** The metrics of GET /performance, by the part of the response where they are. */

const DAYS = 'without a day that has a return';
const YEAR = `for fewer than ${MIN_DAYS_FOR_ANNUAL_RETURN} days`;
const RISK = `for fewer than ${MIN_DAYS_FOR_RISK} days`;
const STILL = 'when the returns do not vary';
const BENCHMARK = 'without a day on which both have a return';
const SLOPE = 'when the benchmark does not move';
const TRIP = 'without a round trip';
const LOSS = 'without a loss';
const FACTORS = 'for fewer than 60 days, or 10 for each factor and the constant';

export const performanceMetrics: readonly MetricGroup[] = [
  {
    title: 'Returns',
    place: '`models` and `benchmark` of `GET /performance`, and their `curve`',
    missing: DAYS,
    metrics: [
      defined('daily_return', { unit: 'fraction', missing: 'when that value is 0' }),
      defined('total_return', { source: 'Bacon 2008, time-weighted' }),
      defined('growth', { ...never, source: 'Bacon 2008' }),
      defined('annualised_return', { ...yearly, source: 'Bacon 2008; GIPS', missing: YEAR }),
      defined('best_day'),
      defined('worst_day'),
      defined('winning_days_share'),
      defined('longest_winning_run', never),
      defined('longest_losing_run', never),
    ],
  },
  {
    title: 'Risk',
    place: '`models` and `benchmark` of `GET /performance`, and their `curve`',
    missing: RISK,
    metrics: [
      defined('annualised_volatility', { ...yearly, source: 'Bacon 2008' }),
      defined('sharpe_ratio', { ...yearly, source: 'Sharpe 1994', also: STILL }),
      defined('sortino_ratio', {
        ...yearly,
        formula: 'mean (r − f) / √(mean of min(0, r − f)²) · √252',
        source: 'Sortino and van der Meer 1991',
        also: 'when no day fell below the risk-free rate',
      }),
      defined('calmar_ratio', {
        ...yearly,
        source: 'Young 1991, over the whole curve',
        missing: YEAR,
        also: 'without a drawdown',
      }),
      defined('max_drawdown', { ...never, unit: 'fraction', source: 'Bacon 2008' }),
      defined('drawdown', { ...never, unit: 'fraction', source: 'Bacon 2008' }),
      defined('value_at_risk_95', {
        formula: '−(return at rank ⌈n / 20⌉ from the lowest)',
        source: 'Jorion 2007; type 1 in Hyndman and Fan 1996',
      }),
      defined('expected_shortfall_95', {
        formula: 'k = n / 20, m = ⌊k⌋: −(sum of the m lowest + (k − m) · the next) / k',
        source: 'Acerbi and Tasche 2002',
      }),
      defined('skewness', {
        formula: 'G₁ = g₁ √(n (n − 1)) / (n − 2)',
        source: 'Joanes and Gill 1998',
        also: STILL,
      }),
      defined('kurtosis', {
        formula: 'G₂ = ((n + 1) g₂ + 6) (n − 1) / ((n − 2)(n − 3))',
        source: 'Joanes and Gill 1998',
        also: STILL,
      }),
    ],
  },
  {
    title: 'Against the benchmark',
    place: '`relative` of `GET /performance`',
    missing: RISK,
    metrics: [
      defined('benchmark_return', { missing: BENCHMARK }),
      defined('excess_return', { missing: BENCHMARK }),
      defined('alpha', {
        ...yearly,
        also: SLOPE,
        formula: '252 (mean (r − f) − beta · mean (b − f))',
        source: 'Jensen 1968',
      }),
      defined('alpha_standard_error', {
        ...yearly,
        also: SLOPE,
        source: 'Newey and West 1987, with the lags of a comparison',
      }),
      defined('alpha_p_value', { also: `${SLOPE} or explains every day exactly` }),
      defined('beta', { also: SLOPE, source: 'Jensen 1968' }),
      defined('beta_standard_error', { also: SLOPE }),
      defined('correlation', {
        source: 'Pearson 1896',
        also: 'when either does not vary',
      }),
      defined('tracking_error', { ...yearly, source: 'Grinold and Kahn 1999' }),
      defined('information_ratio', {
        ...yearly,
        source: 'Grinold and Kahn 1999',
        also: 'when the differences do not vary',
      }),
    ],
  },
  {
    title: 'Trading',
    place: '`trading` and `open_positions` of `GET /performance`',
    metrics: [
      defined('trades'),
      defined('refused_orders'),
      defined('malformed_calls'),
      defined('refused_answers'),
      defined('commission'),
      defined('realised_profit'),
      defined('unrealised_profit', { missing: 'when no price of a symbol held is stored' }),
      defined('dividends', {
        formula: 'shares at the close before the ex-date · cash per share, to 1/10000',
      }),
      defined('cost_basis', { unit: 'money' }),
      defined('exposure'),
      defined('turnover', {
        source: 'SEC Form N-1A, item 13, with cash in the value',
        missing: 'when the portfolio was worth nothing',
      }),
      defined('no_trading_costs'),
    ],
  },
  {
    title: 'Round trips',
    place: '`round_trips` of `GET /performance`',
    missing: TRIP,
    metrics: [
      defined('round_trips', { ...never, source: '26 CFR 1.1012-1(c); IRS Publication 550' }),
      defined('win_rate', { source: 'Dormeier 2011' }),
      defined('profit_factor', { source: 'Dormeier 2011', also: LOSS }),
      defined('average_win', { also: 'without a gain' }),
      defined('average_loss', { also: LOSS }),
      defined('expectancy', { source: 'Vince 1992' }),
      defined('payoff_ratio', { source: 'Vince 1992', also: 'without a gain or a loss' }),
      defined('mean_holding_days'),
    ],
  },
  {
    title: 'Details',
    place: '`details` of `GET /performance?details=true`',
    metrics: [
      defined('months'),
      defined('years'),
      defined('drawdowns', { unit: 'fraction' }),
      { ...defined('symbols'), field: 'ModelDetails.symbols' },
      defined('cost_sensitivity', { formula: '0, 5, 10, 25 and 50 basis points more' }),
      defined('break_even_bps', {
        source: 'Grundy and Martin 2001',
        missing: 'without orders, and for a model that is behind already',
      }),
    ],
  },
  {
    title: 'Runs and costs of a model',
    place: '`models`, `usage` and `families` of `GET /performance`',
    metrics: [
      defined('failed_model_days'),
      defined('cost_usd', { missing: 'when no cost is known' }),
      defined('profit_per_cost_usd', {
        missing: 'when a cost is unknown, nothing was paid, or the profit is in another currency',
      }),
      defined('mean_total_return', {
        unit: 'fraction',
        missing: 'for fewer than two runs; with `by=entry` without any',
      }),
      defined('total_return_deviation', { unit: 'fraction', missing: 'for fewer than two runs' }),
      defined('lowest_total_return', { unit: 'fraction', missing: 'when the mean is' }),
      defined('highest_total_return', { unit: 'fraction', missing: 'when the mean is' }),
    ],
  },
  {
    title: 'Style',
    place: '`details.style` of `GET /performance?details=true`',
    missing: FACTORS,
    metrics: [
      defined('style', {
        formula: 'r − f = a + Σ β F + e',
        source: 'Newey and West 1987',
        missing: 'without stored factors',
      }),
      plain(
        'Style.alpha',
        'The return that the factors do not explain, per year, without compounding',
        {
          formula: '252 a',
          unit: 'fraction',
        },
      ),
      plain(
        'alpha_contribution',
        'The part of the sum of returns above the risk-free rate that the factors do not explain',
        { formula: 'D a', unit: 'fraction' },
      ),
      plain(
        'contribution',
        'The part of the sum of returns above the risk-free rate that the factor explains: slope times the sum of the factor',
        { formula: 'β Σ F', unit: 'fraction', missing: '' },
      ),
      plain('r_squared', 'The part of the variance of the returns that the factors explain', {
        unit: 'fraction',
      }),
    ],
  },
];
