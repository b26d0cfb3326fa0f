import { resultColumns } from '../database/records/results.ts';
import { comparison } from './comparison-example.ts';
import { conversation, feedExamples } from './feed-examples.ts';
import { claudeEntry, deployment, type Example, jobExamples, jobId } from './job-examples.ts';
import { performance } from './performance-example.ts';

/**
 * The example of each route, by method and path. The build puts them into the interface
 * description, not into the program.
 */
export const examples: Record<string, Example> = {
  ...jobExamples,
  ...feedExamples,
  'GET /results': {
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
      resultColumns.join(),
      `1,${jobId},2025-09-15,claude-sonnet-4.5,1,buy,AAPL,10,237,7630,9997,-3,-0.03,2025-10-11T08:00:31.514Z,AAPL:10`,
      '',
    ].join('\r\n'),
  },
  'GET /reasoning': {
    response: {
      sessions: [
        {
          session_id: 1,
          job_id: jobId,
          date: '2025-09-15',
          model: 'claude-sonnet-4.5',
          session_summary: 'Bought 10 AAPL on its momentum.',
          note: null,
          started_at: '2025-10-11T08:00:00.120Z',
          completed_at: '2025-10-11T08:00:31.514Z',
          total_messages: conversation.length,
          previous_date: null,
          next_date: '2025-09-16',
          opening: { date: null, cash: 10_000, portfolio_value: 10_000, holdings: [] },
          usage: {
            error: null,
            duration_seconds: 31.394,
            steps: 3,
            requests: 4,
            prompt_tokens: 21_480,
            completion_tokens: 1_312,
            cached_tokens: 12_800,
            reasoning_tokens: 640,
            cost_usd: 0.0431,
          },
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
          conversation,
        },
      ],
      count: 1,
      ...deployment,
    },
  },
  'GET /performance': performance,
  'GET /holdings': {
    response: {
      days: [
        {
          date: '2025-09-15',
          cash: 7630,
          value: 10_012.5,
          cash_weight: 0.7620474407,
          holdings: [
            { symbol: 'AAPL', quantity: 10, price: 238.25, value: 2382.5, weight: 0.2379525593 },
          ],
        },
      ],
      count: 1,
      symbols: [
        {
          symbol: 'AAPL',
          days: 1,
          first_date: '2025-09-15',
          last_date: '2025-09-15',
          mean_weight: 0.2379525593,
          highest_weight: 0.2379525593,
        },
      ],
      ...deployment,
    },
    csv: [
      'date,cash,portfolio_value,cash_weight,symbol,quantity,price,value,weight',
      '2025-09-15,7630,10012.5,0.7620474407,AAPL,10,238.25,2382.5,0.2379525593',
      '',
    ].join('\r\n'),
  },
  'GET /comparison': comparison,
  'GET /models': {
    response: {
      models: [
        {
          signature: 'claude-sonnet-4.5',
          name: 'Claude Sonnet 4.5',
          basemodel: 'anthropic/claude-sonnet-4-5',
          enabled: true,
          configured: true,
          first_completed_date: '2025-09-15',
          last_completed_date: '2025-10-10',
          completed_model_days: 20,
          portfolio_value: 10213.4,
          knowledge_cutoff: null,
          model_days_before_cutoff: 0,
          family: 'claude-sonnet-4.5',
          order: 0,
          entry: claudeEntry,
          served: [
            {
              model: 'claude-sonnet-4-5-20250929',
              first_date: '2025-09-15',
              last_date: '2025-10-10',
            },
          ],
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
          knowledge_cutoff: null,
          model_days_before_cutoff: 0,
          family: 'momentum',
          order: null,
          entry: null,
          served: [],
          last_job: null,
        },
      ],
      count: 2,
      universes: ['control'],
      configuration_error: null,
      ...deployment,
    },
  },
  'GET /prices/coverage': {
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
          dividends: {
            count: 1,
            last_ex_date: '2025-08-11',
            spans: [
              {
                source: 'massive',
                start_date: '2025-05-20',
                end_date: '2025-10-10',
                recorded_at: '2025-10-11T08:00:02.500Z',
              },
            ],
            gaps: [],
          },
        },
      ],
      count: 1,
      ...deployment,
    },
  },
  'GET /audit': {
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
  },
  'GET /health': {
    response: {
      status: 'healthy',
      database: 'connected',
      timestamp: '2025-10-11T08:00:00.000Z',
      ...deployment,
    },
  },
  'GET /openapi.json': {
    response: {
      openapi: '3.1.0',
      info: { title: 'Trading Simulation Service', version: '1.0.0' },
      paths: {},
      components: {},
    },
  },
};

/** Throws when a route has no example. */
export function exampleOf({ method, path }: { method: string; path: string }): Example {
  const example = examples[`${method} ${path}`];
  if (example === undefined)
    throw new Error(`Cannot describe ${method} ${path}: it has no example`);
  return example;
}
