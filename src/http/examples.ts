/** One example per endpoint, for the interface description; the tests check each against its schema. */

const jobId = '3f0c9a52-7d1e-4b8a-9c46-2f5d8e7b1a90';
export const deployment = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };

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

export const jobs = {
  response: {
    jobs: [
      {
        job_id: jobId,
        status: 'partial',
        progress: { total_model_days: 40, completed: 39, failed: 1, pending: 0 },
        start_date: '2025-09-15',
        end_date: '2025-10-10',
        models: ['gpt-5', 'claude-sonnet-4.5'],
        created_at: '2025-10-11T08:00:00.000Z',
        started_at: '2025-10-11T08:00:00.004Z',
        completed_at: '2025-10-11T08:21:14.310Z',
        total_duration_seconds: 1274.306,
        error: null,
        warnings: ['Skipped 2 model-days already completed'],
      },
    ],
    count: 1,
    next_before: null,
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

export const audit = {
  response: {
    status: 'faulty',
    duration_seconds: 0.412,
    counts: {
      models: 2,
      model_days: 40,
      superseded_model_days: 1,
      positions: 96,
      damage: 0,
      problems: 1,
      unverifiable: 0,
      stale: 1,
    },
    damage: [],
    problems: [
      {
        model: 'gpt-5',
        date: '2025-09-16',
        session_id: 4,
        status: 'active',
        problems: ['action 2: cash is 8,001.00, should be 8,000.00'],
      },
    ],
    unverifiable: [],
    stale: [{ model: 'claude-sonnet-4.5', date: '2025-09-17' }],
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
