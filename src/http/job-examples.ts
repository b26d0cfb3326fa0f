import type { Entry } from '../basics/entry.ts';

export interface Example {
  request?: unknown;
  response: unknown;
  /** The response as CSV, where the route has one. */
  csv?: string;
}

export const jobId = '3f0c9a52-7d1e-4b8a-9c46-2f5d8e7b1a90';
export const deployment = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };

/** What ran, as stored with a run. */
function entryOf(signature: string, basemodel: string, more: Partial<Entry> = {}): Entry {
  return {
    signature,
    run: 1,
    repeats: 1,
    kind: 'provider',
    basemodel,
    url: 'https://api.openai.com/v1',
    api: 'responses',
    stream: true,
    stream_is_set: false,
    url_is_cut: false,
    key_source: 'variable',
    key_variable: 'OPENAI_KEY',
    parameters: { model: basemodel },
    prompt: null,
    notes: false,
    knowledge_cutoff: null,
    price_per_million_tokens: { input: 1.25, output: 10, cached_input: 0.125 },
    max_cost_usd: 5,
    tools: ['buy', 'sell', 'get_price', 'get_price_history', 'get_portfolio', 'calculate'],
    ...more,
  };
}

export const claudeEntry = entryOf('claude-sonnet-4.5', 'anthropic/claude-sonnet-4-5', {
  url: 'https://api.anthropic.com',
  api: 'messages',
  key_source: 'maker',
  key_variable: 'ANTHROPIC_API_KEY',
  parameters: { model: 'claude-sonnet-4-5', max_tokens: 16_000 },
  price_per_million_tokens: { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 },
});

/** The examples of the routes about jobs, by method and path. */
export const jobExamples: Record<string, Example> = {
  'POST /simulate/trigger': {
    request: {
      start_date: '2025-09-15',
      end_date: '2025-10-10',
      models: ['gpt-5', 'claude-sonnet-4.5'],
      replace_existing: false,
      universe: null,
    },
    response: {
      job_id: jobId,
      status: 'pending',
      total_model_days: 40,
      message: 'Simulation job created for 20 dates, 2 models',
      ...deployment,
      warnings: null,
    },
  },
  'GET /simulate/status/{job_id}': {
    response: {
      job_id: jobId,
      status: 'running',
      progress: { total_model_days: 2, completed: 1, failed: 0, pending: 1 },
      date_range: ['2025-09-15'],
      models: ['gpt-5', 'claude-sonnet-4.5'],
      universe: null,
      created_at: '2025-10-11T08:00:00.000Z',
      started_at: '2025-10-11T08:00:00.004Z',
      completed_at: null,
      total_duration_seconds: null,
      error: null,
      usage: { cost_usd: 0.0431, model_days_without_cost: 1 },
      terms: {
        initial_cash: 10_000,
        commission_per_trade: 1,
        commission_bps: 0,
        slippage_bps: 5,
        dividends: true,
        max_steps: 30,
        max_cost_usd: null,
        symbols: ['AAPL', 'MSFT', 'NVDA'],
      },
      replace_existing: false,
      entries: [
        { family: 'gpt-5', runs: ['gpt-5'], entry: entryOf('gpt-5', 'gpt-5') },
        { family: 'claude-sonnet-4.5', runs: ['claude-sonnet-4.5'], entry: claudeEntry },
      ],
      details: [
        {
          date: '2025-09-15',
          model: 'claude-sonnet-4.5',
          status: 'completed',
          error: null,
          started_at: '2025-10-11T08:00:00.120Z',
          completed_at: '2025-10-11T08:00:31.514Z',
          duration_seconds: 31.394,
          steps: 3,
          requests: 4,
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
  },
  'POST /simulate/cancel/{job_id}': {
    response: {
      job_id: jobId,
      status: 'cancelled',
      message: 'Job cancelled; 12 model-days will not be run',
      ...deployment,
    },
  },
  'GET /jobs': {
    response: {
      jobs: [
        {
          job_id: jobId,
          status: 'partial',
          progress: { total_model_days: 40, completed: 39, failed: 1, pending: 0 },
          start_date: '2025-09-15',
          end_date: '2025-10-10',
          models: ['gpt-5', 'claude-sonnet-4.5'],
          universe: null,
          created_at: '2025-10-11T08:00:00.000Z',
          started_at: '2025-10-11T08:00:00.004Z',
          completed_at: '2025-10-11T08:21:14.310Z',
          total_duration_seconds: 1274.306,
          error: null,
          usage: { cost_usd: 1.8342, model_days_without_cost: 0 },
          most_frequent_error: { reason: 'The model responded with status 529', model_days: 1 },
          warnings: ['Skipped 2 model-days already completed'],
        },
      ],
      count: 1,
      next_before: null,
      ...deployment,
    },
  },
};
