import { type Example, deployment, jobId } from './job-examples.ts';

export const feedExamples: Record<string, Example> = {
  'GET /decisions': {
    response: {
      decisions: [
        {
          id: '2:9',
          kind: 'refusal',
          model: 'claude-sonnet-4.5',
          date: '2025-09-16',
          job_id: jobId,
          session_id: 2,
          timestamp: '2025-10-11T08:00:40.250Z',
          symbol: 'NVDA',
          side: 'buy',
          amount: 100,
          price: null,
          reason: 'NVDA leads the market again, so I put the remaining cash into it.',
          detail: 'Cannot buy 100 NVDA: that costs 17,700.00, and the cash is 7,630.00.',
          message_index: 9,
        },
        {
          id: '1:5:1',
          kind: 'trade',
          model: 'claude-sonnet-4.5',
          date: '2025-09-15',
          job_id: jobId,
          session_id: 1,
          timestamp: '2025-10-11T08:00:30.120Z',
          symbol: 'AAPL',
          side: 'buy',
          amount: 10,
          price: 237,
          reason: 'AAPL has risen on five of six days; I buy ten shares.',
          detail: null,
          message_index: 5,
        },
      ],
      count: 2,
      next_before: null,
      ...deployment,
    },
  },
  'GET /search': {
    response: {
      messages: [
        {
          session_id: 1,
          job_id: jobId,
          model: 'claude-sonnet-4.5',
          date: '2025-09-15',
          message_index: 4,
          role: 'assistant',
          tool_name: null,
          excerpt: 'AAPL has risen on five of six days; I buy ten shares.',
          matches: [
            [0, 4],
            [9, 5],
          ],
          timestamp: '2025-10-11T08:00:29.870Z',
        },
      ],
      count: 1,
      next_before: null,
      ...deployment,
    },
  },
};
