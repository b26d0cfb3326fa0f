import { type Example, deployment, jobId } from './job-examples.ts';

const REASON = 'AAPL has risen on five of six days; I buy ten shares.';

/** A message of the trading session in the examples: fields that most messages lack are null. */
function message(index: number, role: string, content: string, more: object = {}) {
  const timestamp = `2025-10-11T08:00:${['00', '00', '12', '12', '29', '30', '31'][index]}.250Z`;
  return {
    message_index: index,
    role,
    content,
    summary: null,
    tool_name: null,
    tool_input: null,
    timestamp,
    served: null,
    ...more,
  };
}

const served = (id: string) => ({
  served: { model: 'claude-sonnet-4-5-20250929', id, service_tier: 'standard' },
});

/** A short conversation; what the provider says of itself is in each answer. */
export const conversation = [
  message(0, 'system', 'You are a trader...'),
  message(1, 'user', 'Today is 2025-09-15...'),
  message(2, 'assistant', 'I look at AAPL first.', {
    summary: 'Which symbols have risen?',
    ...served('msg_01'),
  }),
  message(3, 'tool', '{"symbol":"AAPL","bars":[...]}', {
    tool_name: 'get_price_history',
    tool_input: '{"symbol":"AAPL"}',
  }),
  message(4, 'assistant', REASON, served('msg_02')),
  message(5, 'tool', '{"cash":7630,...}', {
    tool_name: 'buy',
    tool_input: '{"symbol":"AAPL","amount":10}',
  }),
  message(6, 'assistant', 'Bought 10 AAPL on its momentum.', served('msg_03')),
];

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
          timestamp: '2025-10-11T08:00:30.250Z',
          symbol: 'AAPL',
          side: 'buy',
          amount: 10,
          price: 237,
          reason: REASON,
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
          excerpt: REASON,
          matches: [
            [0, 4],
            [9, 5],
          ],
          timestamp: '2025-10-11T08:00:29.250Z',
        },
      ],
      count: 1,
      next_before: null,
      ...deployment,
    },
  },
};
