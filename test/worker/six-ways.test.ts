import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ApiDialect, apiDialects } from '../../src/domain.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { type Step, replyTo } from '../support/dialect-servers.ts';
import { ledgerOf } from '../support/ledger.ts';
import { type ModelRequest, type Reply, startModelServer } from '../support/model-server.ts';
import { PROD, startProdService } from '../support/prod.ts';
import { type TestService, startTestService } from '../support/service.ts';

/**
 * One scripted day through six ways, three dialects, whole and streamed, against a provider as
 * strict as the makers are.
 */

const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
const STEPS: Step[] = [
  {
    text: 'I look first.',
    thought: 'AAPL looks cheap → buy?',
    calls: [
      ['get_price', { symbol: 'AAPL' }],
      ['get_portfolio', {}],
    ],
  },
  {
    text: '',
    thought: 'Buy.',
    calls: [
      ['buy', { symbol: 'AAPL', amount: 3 }],
      ['buy', { symbol: 'MSFT', amount: 0.5 }],
      ['sell', { symbol: 'MSFT', amount: 1 }],
    ],
  },
  { text: 'Done for today.', thought: 'Enough.', calls: [] },
];
const prices = { input: 2, output: 10, cached_input: 0.2, cache_write: 2.5 };

interface WayOptions {
  api: ApiDialect;
  stream: boolean;
  steps?: readonly Step[];
}

const entryOf = (baseUrl: string, { api, stream }: WayOptions) => ({
  ...{
    signature: 'm',
    basemodel: 'model',
    openai_base_url: baseUrl,
    openai_api_key: 'sk-of-the-test',
    api,
    stream,
  },
  price_per_million_tokens: prices,
});

/** What the day came to, whichever way it was asked. */
async function outcomeOf(service: TestService, jobId: string) {
  const { details, status, warnings } = (await service.get(`/simulate/status/${jobId}`)).body;
  const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
  const conversation = sessions.flatMap((session: any) =>
    session.conversation.map(({ timestamp: _at, served, ...message }: any) => ({
      ...message,
      model: served?.model ?? null,
    })),
  );
  const [
    {
      error,
      steps,
      requests,
      prompt_tokens,
      completion_tokens,
      cached_tokens,
      reasoning_tokens,
      cost_usd,
    },
  ] = details;
  const used = {
    steps,
    requests,
    prompt_tokens,
    completion_tokens,
    cached_tokens,
    reasoning_tokens,
    cost_usd,
  };
  return { status, error, warnings, ledger: ledgerOf(service.database, 'm'), conversation, used };
}

async function run(t: TestContext, options: WayOptions) {
  const requests: ModelRequest[] = [];
  const server = await startModelServer(t, (request) => {
    requests.push(request);
    return replyTo(request, options.steps ?? STEPS);
  });
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [entryOf(server.baseUrl, options)],
  });
  const { job_id: jobId } = await service.runJob(DAY);
  return { ...(await outcomeOf(service, jobId)), requests };
}

test('the same day through six ways: the same positions, conversation and costs', async (t) => {
  const outcomes = [];
  for (const api of apiDialects)
    for (const stream of [false, true])
      outcomes.push({ api, stream, ...(await run(t, { api, stream })) });
  const [first] = outcomes;
  assert.deepEqual(first?.ledger, ['2025-10-15 buy AAPL 3 110 => 9670 10001.5 1.5 AAPL:3']);
  const each =
    (1_000 - 300 - 200) * prices.input +
    300 * prices.cached_input +
    200 * prices.cache_write +
    90 * prices.output;
  assert.ok(
    Math.abs((first?.used.cost_usd ?? 0) - (3 * each) / 1e6) < 1e-12,
    `${first?.used.cost_usd}`,
  );
  assert.deepEqual(
    first?.conversation
      .map(({ role, content, summary, model }: any) => [role, content.slice(0, 20), summary, model])
      .filter(([role]: any) => role === 'assistant'),
    STEPS.map(({ text, thought }) => ['assistant', text.slice(0, 20), thought, 'model-2026-07-07']),
  );
  for (const { api, stream, requests, ...outcome } of outcomes) {
    const {
      api: _api,
      stream: _stream,
      requests: _requests,
      ...expected
    } = first as (typeof outcomes)[0];
    assert.deepEqual(outcome, expected, `${api} ${stream}`);
    assert.equal(requests.length, 3, `${api} ${stream}`);
    assert.equal(
      requests.every(({ body }) => (body.stream === true) === stream),
      true,
    );
  }
});

test('a malformed call is marked as an error in Messages, a refusal is not', async (t) => {
  const { requests } = await run(t, { api: 'messages', stream: true });
  const results = requests[2]?.body.messages.at(-1).content;
  assert.deepEqual(
    results.map(({ is_error: isError }: any) => isError),
    [undefined, true, undefined],
  );
  assert.deepEqual(results.at(-1).cache_control, { type: 'ephemeral' });
});

/** Changes to the last answer before it comes back, each of which a maker refuses. */
const broken: [api: ApiDialect, change: (body: any) => void, refusal: RegExp][] = [
  [
    'chat',
    ({ messages }) => delete messages.at(-1).tool_calls,
    /reasoning_content|thought_signature/,
  ],
  ['responses', ({ input }) => input.splice(1, 1), /was changed/],
  ['responses', ({ input }) => input.pop(), /No tool output found for function call/],
  [
    'messages',
    ({ messages }) => messages[1].content.shift(),
    /cannot be modified|roles|immediately after/,
  ],
  ['messages', ({ messages }) => messages.at(-1).content.pop(), /without tool_result blocks/],
];
for (const [api, change, refusal] of broken) {
  test(`the strict server of ${api} refuses ${refusal.source}`, async (t) => {
    const { requests } = await run(t, { api, stream: false });
    const second = structuredClone(requests[1] as ModelRequest);
    change(api === 'chat' ? { messages: second.body.messages.slice(0, 3) } : second.body);
    const reply = replyTo(second, STEPS) as { status?: number; body: unknown };
    assert.equal(reply.status, 400);
    assert.match(JSON.stringify(reply.body), refusal);
  });
}

for (const api of ['responses', 'messages'] as const)
  for (const stopAt of [1, 2, 3]) {
    test(`a service that ends before answer ${stopAt} in ${api} continues the day, and pays for no answer again`, async (t) => {
      let holds = true;
      const asked = Promise.withResolvers<void>();
      const answered: string[] = [];
      const server = await startModelServer(t, (request): Reply => {
        const { body } = request;
        const key = JSON.stringify(body.input ?? body.messages);
        if (holds && answered.length === stopAt - 1) {
          asked.resolve();
          return 'never';
        }
        answered.push(key);
        return replyTo(request, STEPS);
      });
      const first = await startProdService(t, {
        agent: await realAgentHere(),
        models: [entryOf(server.baseUrl, { api, stream: true })],
      });
      const { body } = await first.post('/simulate/trigger', DAY);
      await asked.promise;
      await first.stop();
      holds = false;
      const second = await startTestService(t, {
        agent: await realAgentHere(),
        configuration: null,
        folder: first.folder,
        settings: PROD,
      });
      assert.equal((await second.waitForJob(body.job_id)).status, 'completed');
      const { ledger, used, error } = await outcomeOf(second, body.job_id);
      assert.deepEqual([ledger.length, used.steps, error], [1, 3, null]);
      assert.equal(answered.length, 3);
      assert.equal(new Set(answered).size, 3, 'each answer was asked for once');
    });
  }

test('an answer that its provider pauses continues when it goes back, and each continuation is a step', async (t) => {
  const steps: Step[] = [
    { text: 'Let me think on.', thought: 'Hm.', calls: [], isPaused: true },
    ...STEPS.slice(1),
  ];
  const { used, ledger, requests, error } = await run(t, { api: 'messages', stream: true, steps });
  assert.deepEqual([used.steps, ledger.length, error], [3, 1, null]);
  const [user, assistant] = requests[1]?.body.messages ?? [];
  assert.equal(requests[1]?.body.messages.length, 2);
  assert.deepEqual(user.content.at(-1).cache_control, { type: 'ephemeral' });
  assert.equal(assistant.role, 'assistant');
});

test('what a maker refuses of what the service adds is left out for the rest of the job, also after a restart, and told once', async (t) => {
  const WEEK = { start_date: '2025-10-13', end_date: '2025-10-15' };
  const words = 'Your organization must be verified to stream this model.';
  let holds = true;
  const asked = Promise.withResolvers<void>();
  const server = await startModelServer(t, (request): Reply => {
    const date = /Today's date: (\S+)/.exec(request.body.input[0].content)?.[1];
    if (request.body.stream === true)
      return {
        status: 400,
        body: { error: { message: words, param: 'stream', code: 'unsupported_value' } },
      };
    if (holds && date === '2025-10-14') {
      asked.resolve();
      return 'never';
    }
    return replyTo(request, STEPS.slice(2));
  });
  const models = [{ signature: 'm', openai_base_url: server.baseUrl, api: 'responses' }];
  const first = await startProdService(t, { agent: await realAgentHere(), models });
  const { body } = await first.post('/simulate/trigger', WEEK);
  await asked.promise;
  await first.stop();
  holds = false;
  const second = await startTestService(t, {
    agent: await realAgentHere(),
    configuration: null,
    folder: first.folder,
    settings: PROD,
  });
  const { status, warnings } = await second.waitForJob(body.job_id);
  assert.equal(status, 'completed');
  assert.equal(
    server.requests.filter((request) => request.body.stream === true).length,
    1,
    'asked once, over both lives',
  );
  assert.deepEqual(
    warnings.filter((warning: string) => warning.includes('refuses')),
    [
      `'m' is asked without stream, which the service adds and the provider refuses: it returned 400: ${words}`,
    ],
  );
});
