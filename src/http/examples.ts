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
