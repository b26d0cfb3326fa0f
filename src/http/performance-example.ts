import { definitions, reportConventions } from '../performance/definitions.ts';
import { deployment } from './job-examples.ts';

/** The reasons for figures that need more than two days. */
function tooFew(least: number, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, `Needs ${least} days with a return, has 2`]),
  );
}

const OTHER_PERIOD =
  'Its period, 2025-09-15 to 2025-09-16 (2 model-days), is not that of gpt-5 and 3 more, 2025-09-01 to 2025-09-30 (22 model-days)';

const shapes = ['value_at_risk_95', 'expected_shortfall_95', 'skewness', 'kurtosis'];
const noFigures = {
  annualised_return: null,
  annualised_volatility: null,
  sharpe_ratio: null,
  sortino_ratio: null,
  calmar_ratio: null,
  value_at_risk_95: null,
  expected_shortfall_95: null,
  skewness: null,
  kurtosis: null,
  unavailable: {
    ...tooFew(252, ['annualised_return', 'calmar_ratio']),
    ...tooFew(20, ['annualised_volatility', 'sharpe_ratio', 'sortino_ratio', ...shapes]),
  },
};

const details = {
  months: [{ month: '2025-09', return: 0.005, days: 2 }],
  years: [{ year: '2025', return: 0.005, days: 2 }],
  drawdowns: [
    {
      depth: 0.003,
      peak_date: null,
      trough_date: '2025-09-15',
      recovery_date: '2025-09-16',
      length: 2,
    },
  ],
  rolling: {
    window: 20,
    points: [],
    unavailable: { points: 'Needs 20 days with a return, has 2' },
  },
  symbols: [
    {
      symbol: 'AAPL',
      trades: 2,
      realised_profit: 12,
      dividends: 0,
      unrealised_profit: 38,
      profit: 50,
      unavailable: {},
    },
  ],
  histogram: { edges: [-0.005, 0, 0.005, 0.01], counts: [1, 0, 1] },
  selection: {
    symbols: 0,
    days: 0,
    return: null,
    percentile: null,
    p_value: null,
    median: null,
    interval_90: null,
    unavailable: tooFew(20, ['return', 'percentile', 'p_value', 'median', 'interval_90']),
  },
  cost_sensitivity: [
    { basis_points: 0, total_return: 0.005 },
    { basis_points: 5, total_return: 0.0048325549 },
    { basis_points: 10, total_return: 0.0046651211 },
    { basis_points: 25, total_return: 0.0041628884 },
    { basis_points: 50, total_return: 0.003326062 },
  ],
  break_even_bps: 59.7433364,
  unavailable: {},
};

/** The example of the largest response. */
export const performance = {
  response: {
    models: [
      {
        model: 'claude-sonnet-4.5',
        family: 'claude-sonnet-4.5',
        knowledge_cutoff: '2025-07-31',
        days_before_cutoff: 0,
        start_date: '2025-09-15',
        end_date: '2025-09-16',
        model_days: 2,
        failed_model_days: 0,
        stale_model_days: 0,
        model_days_without_dividends: 0,
        model_days_with_unknown_dividends: 0,
        incomparable: [{ kind: 'period', reason: OTHER_PERIOD }],
        initial_cash: 10_000,
        no_trading_costs: true,
        start_value: 10_000,
        end_value: 10_050,
        profit: 50,
        dividends: 0,
        total_return: 0.005,
        ...noFigures,
        winning_days_share: 0.5,
        max_drawdown: {
          depth: 0.003,
          peak_date: null,
          trough_date: '2025-09-15',
          recovery_date: '2025-09-16',
          length: 2,
        },
        longest_winning_run: 1,
        longest_losing_run: 1,
        best_day: { date: '2025-09-16', daily_return: 0.0080240722 },
        worst_day: { date: '2025-09-15', daily_return: -0.003 },
        relative: {
          days: 2,
          benchmark_return: 0.003,
          excess_return: 0.002,
          alpha: null,
          alpha_standard_error: null,
          alpha_p_value: null,
          beta: null,
          beta_standard_error: null,
          correlation: null,
          tracking_error: null,
          information_ratio: null,
          unavailable: tooFew(20, [
            'alpha',
            'alpha_standard_error',
            'alpha_p_value',
            'beta',
            'beta_standard_error',
            'correlation',
            'tracking_error',
            'information_ratio',
          ]),
        },
        trading: {
          trades: 2,
          bought: 2370,
          sold: 960,
          commission: 0,
          realised_profit: 12,
          unrealised_profit: 38,
          exposure: 0.1899888721,
          turnover: 0.0959040959,
          unavailable: {},
        },
        round_trips: {
          count: 1,
          profit: 12,
          win_rate: 1,
          profit_factor: null,
          average_win: 12,
          average_loss: null,
          expectancy: 12,
          payoff_ratio: null,
          mean_holding_days: 1,
          unavailable: {
            profit_factor: 'No round trip lost',
            average_loss: 'No round trip lost',
            payoff_ratio: 'No round trip lost',
          },
          latest: [
            {
              symbol: 'AAPL',
              quantity: 4,
              buy_date: '2025-09-15',
              sell_date: '2025-09-16',
              cost: 948,
              proceeds: 960,
              profit: 12,
              holding_days: 1,
            },
          ],
        },
        open_positions: [
          {
            symbol: 'AAPL',
            quantity: 6,
            since: '2025-09-15',
            cost_basis: 1422,
            value: 1460,
            unrealised_profit: 38,
          },
        ],
        usage: {
          steps: 8,
          requests: 9,
          prompt_tokens: 42_960,
          completion_tokens: 2_624,
          cached_tokens: 25_600,
          reasoning_tokens: 1_280,
          model_days_without_cost: 0,
          cost_usd: 0.0862,
          profit_per_cost_usd: 580.0464037123,
          unavailable: {},
        },
        curve: [
          {
            date: '2025-09-15',
            value: 9970,
            daily_return: -0.003,
            stale: false,
            dividends: 0,
            dividend_status: 'known',
            growth: 0.997,
            drawdown: 0.003,
          },
          {
            date: '2025-09-16',
            value: 10_050,
            daily_return: 0.0080240722,
            stale: false,
            dividends: 0,
            dividend_status: 'known',
            growth: 1.005,
            drawdown: 0,
          },
        ],
        details,
      },
    ],
    count: 1,
    clean_after: '2025-07-31',
    without_clean_days: [
      {
        model: 'o5',
        reason: 'Its last model-day, 2025-09-30, is not after its knowledge cutoff, 2025-12-31',
      },
    ],
    without_completed_days: [
      { model: 'qwen-max', reason: '22 model-days failed, and none was completed' },
    ],
    common: {
      start_date: '2025-09-15',
      end_date: '2025-09-16',
      days: 2,
      left_out: [
        {
          model: 'grok-5',
          reason: 'It has 0 days with a return, fewer than half of the median of 22 days',
        },
      ],
      left_out_days: [{ date: '2025-09-17', missing: 1, models: ['gpt-5#2'] }],
    },
    incomparable: [{ model: 'claude-sonnet-4.5', kind: 'period', reason: OTHER_PERIOD }],
    families: [
      {
        family: 'gpt-5',
        runs: [
          { model: 'gpt-5', model_days: 22, total_return: 0.031 },
          { model: 'gpt-5#2', model_days: 22, total_return: 0.012 },
        ],
        mean_total_return: 0.0214558238,
        total_return_deviation: 0.0134350288,
        lowest_total_return: 0.012,
        highest_total_return: 0.031,
        unavailable: {},
      },
    ],
    benchmark: {
      name: 'QQQ',
      symbols: 1,
      start_date: '2025-09-15',
      days: 2,
      days_without_dividends: 0,
      days_with_unknown_dividends: 0,
      incomplete: null,
      total_return: 0.003,
      ...noFigures,
      winning_days_share: 1,
      max_drawdown: {
        depth: 0,
        peak_date: null,
        trough_date: null,
        recovery_date: null,
        length: 0,
      },
      longest_winning_run: 2,
      longest_losing_run: 0,
      best_day: { date: '2025-09-16', daily_return: 0.001998002 },
      worst_day: { date: '2025-09-15', daily_return: 0.001 },
      curve: [
        { date: '2025-09-15', value: 1.001, daily_return: 0.001, dividend_status: 'known' },
        { date: '2025-09-16', value: 1.003, daily_return: 0.001998002, dividend_status: 'known' },
      ],
    },
    conventions: {
      ...reportConventions(0),
      definitions: { total_return: definitions.total_return },
    },
    ...deployment,
  },
  csv: [
    'model,date,value,daily_return,stale,benchmark_value,family,before_cutoff,dividends,dividend_status,growth,drawdown',
    'gpt-5,2025-09-15,10012.5,0.00125,false,1.001,gpt-5,false,0,known,1.00125,0',
    'gpt-5,2025-09-16,10040.25,0.002771536,false,1.003,gpt-5,false,0,known,1.004025,0',
    '',
  ].join('\r\n'),
};
