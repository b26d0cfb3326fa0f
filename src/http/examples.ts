import { definitions, reportConventions } from '../performance/definitions.ts';

/** One example per endpoint, for the interface description; the tests check each against its schema. */

const jobId = '3f0c9a52-7d1e-4b8a-9c46-2f5d8e7b1a90';
const deployment = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };

export const trigger = {
  request: {
    start_date: '2025-09-15',
    end_date: '2025-10-10',
    models: ['gpt-5', 'claude-sonnet-4.5'],
    replace_existing: false,
  },
  response: {
    job_id: jobId,
    status: 'pending',
    total_model_days: 40,
    message: 'Simulation job created for 20 dates, 2 models',
    ...deployment,
    warnings: null,
  },
};

export const cancel = {
  response: {
    job_id: jobId,
    status: 'cancelled',
    message: 'Job cancelled; 12 model-days will not be run',
    ...deployment,
  },
};

export const status = {
  response: {
    job_id: jobId,
    status: 'running',
    progress: { total_model_days: 2, completed: 1, failed: 0, pending: 1 },
    date_range: ['2025-09-15'],
    models: ['gpt-5', 'claude-sonnet-4.5'],
    created_at: '2025-10-11T08:00:00.000Z',
    started_at: '2025-10-11T08:00:00.004Z',
    completed_at: null,
    total_duration_seconds: null,
    error: null,
    details: [
      {
        date: '2025-09-15',
        model: 'claude-sonnet-4.5',
        status: 'completed',
        error: null,
        started_at: '2025-10-11T08:00:00.120Z',
        completed_at: '2025-10-11T08:00:31.514Z',
        duration_seconds: 31.394,
        steps: 4,
        requests: 5,
        prompt_tokens: 21_480,
        completion_tokens: 1_312,
        cached_tokens: 12_800,
        reasoning_tokens: 640,
        cost_usd: 0.0431,
      },
      {
        date: '2025-09-15',
        model: 'gpt-5',
        status: 'running',
        error: null,
        started_at: '2025-10-11T08:00:00.121Z',
        completed_at: null,
        duration_seconds: null,
        steps: 1,
        requests: 1,
        prompt_tokens: null,
        completion_tokens: null,
        cached_tokens: null,
        reasoning_tokens: null,
        cost_usd: null,
      },
    ],
    warnings: null,
    ...deployment,
  },
};

export const results = {
  response: {
    results: [
      {
        id: 1,
        job_id: jobId,
        date: '2025-09-15',
        model: 'claude-sonnet-4.5',
        action_id: 1,
        action_type: 'buy',
        symbol: 'AAPL',
        amount: 10,
        price: 237,
        cash: 7630,
        portfolio_value: 9997,
        daily_profit: -3,
        daily_return_pct: -0.03,
        created_at: '2025-10-11T08:00:31.514Z',
        holdings: [{ symbol: 'AAPL', quantity: 10 }],
      },
    ],
    count: 1,
  },
  csv: [
    'id,job_id,date,model,action_id,action_type,symbol,amount,price,cash,portfolio_value,daily_profit,daily_return_pct,created_at,holdings',
    `1,${jobId},2025-09-15,claude-sonnet-4.5,1,buy,AAPL,10,237,7630,9997,-3,-0.03,2025-10-11T08:00:31.514Z,AAPL:10`,
    '',
  ].join('\r\n'),
};

export const models = {
  response: {
    models: [
      {
        signature: 'claude-sonnet-4.5',
        name: 'Claude Sonnet 4.5',
        basemodel: 'anthropic/claude-sonnet-4.5',
        enabled: true,
        configured: true,
        first_completed_date: '2025-09-15',
        last_completed_date: '2025-10-10',
        completed_model_days: 20,
        portfolio_value: 10213.4,
        last_job: { job_id: jobId, status: 'completed', created_at: '2025-10-11T08:00:00.000Z' },
      },
      {
        signature: 'momentum',
        name: null,
        basemodel: 'baseline/momentum',
        enabled: false,
        configured: true,
        first_completed_date: null,
        last_completed_date: null,
        completed_model_days: 0,
        portfolio_value: null,
        last_job: null,
      },
    ],
    count: 2,
    configuration_error: null,
    ...deployment,
  },
};

export const priceCoverage = {
  response: {
    symbols: [
      {
        symbol: 'AAPL',
        source: 'alpha-vantage',
        first_bar: '2025-05-20',
        last_bar: '2025-10-10',
        bars: null,
        last_download: '2025-10-11T08:00:01.250Z',
        spans: [
          {
            source: 'csv',
            start_date: '2025-05-20',
            end_date: '2025-06-30',
            recorded_at: '2025-07-01T09:30:00.000Z',
          },
          {
            source: 'alpha-vantage',
            start_date: '2025-07-14',
            end_date: '2025-10-10',
            recorded_at: '2025-10-11T08:00:01.250Z',
          },
        ],
        gaps: [{ start_date: '2025-07-01', end_date: '2025-07-13', weekdays: 9 }],
      },
    ],
    count: 1,
    ...deployment,
  },
};

export const reasoning = {
  response: {
    sessions: [
      {
        session_id: 1,
        job_id: jobId,
        date: '2025-09-15',
        model: 'claude-sonnet-4.5',
        session_summary: 'Bought 10 AAPL on its momentum.',
        started_at: '2025-10-11T08:00:00.120Z',
        completed_at: '2025-10-11T08:00:31.514Z',
        total_messages: 5,
        positions: [
          {
            action_id: 1,
            action_type: 'buy',
            symbol: 'AAPL',
            amount: 10,
            price: 237,
            cash_after: 7630,
            portfolio_value: 9997,
          },
        ],
        conversation: null,
      },
    ],
    count: 1,
    ...deployment,
  },
};

/** What two days tell too little about. */
function tooFew(least: number, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `Needs ${least} days with a return, has 2`]));
}

const noFigures = {
  annualised_return: null,
  annualised_volatility: null,
  sharpe_ratio: null,
  sortino_ratio: null,
  calmar_ratio: null,
  value_at_risk_95: null,
  unavailable: {
    ...tooFew(252, ['annualised_return', 'calmar_ratio']),
    ...tooFew(20, ['annualised_volatility', 'sharpe_ratio', 'sortino_ratio', 'value_at_risk_95']),
  },
};

export const performance = {
  response: {
    models: [
      {
        model: 'claude-sonnet-4.5',
        start_date: '2025-09-15',
        end_date: '2025-09-16',
        model_days: 2,
        stale_model_days: 0,
        start_value: 10_000,
        end_value: 10_050,
        profit: 50,
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
        best_day: { date: '2025-09-16', daily_return: 0.0080240722 },
        worst_day: { date: '2025-09-15', daily_return: -0.003 },
        relative: {
          days: 2,
          benchmark_return: 0.003,
          excess_return: 0.002,
          alpha: null,
          beta: null,
          correlation: null,
          tracking_error: null,
          information_ratio: null,
          unavailable: tooFew(20, ['alpha', 'beta', 'correlation', 'tracking_error', 'information_ratio']),
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
          mean_holding_days: 1,
          unavailable: { profit_factor: 'No round trip lost' },
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
          { date: '2025-09-15', value: 9970, daily_return: -0.003, stale: false },
          { date: '2025-09-16', value: 10_050, daily_return: 0.0080240722, stale: false },
        ],
      },
    ],
    count: 1,
    benchmark: {
      name: 'QQQ',
      symbols: 1,
      start_date: '2025-09-15',
      days: 2,
      total_return: 0.003,
      ...noFigures,
      winning_days_share: 1,
      max_drawdown: { depth: 0, peak_date: null, trough_date: null, recovery_date: null, length: 0 },
      best_day: { date: '2025-09-16', daily_return: 0.001998002 },
      worst_day: { date: '2025-09-15', daily_return: 0.001 },
      curve: [
        { date: '2025-09-15', value: 1.001, daily_return: 0.001 },
        { date: '2025-09-16', value: 1.003, daily_return: 0.001998002 },
      ],
    },
    conventions: { ...reportConventions(0), definitions: { total_return: definitions.total_return } },
    ...deployment,
  },
};

export const health = {
  response: { status: 'healthy', database: 'connected', timestamp: '2025-10-11T08:00:00.000Z', ...deployment },
};

export const openapi = {
  response: {
    openapi: '3.1.0',
    info: { title: 'Trading Simulation Service', version: '1.0.0' },
    paths: {},
    components: {},
  },
};
