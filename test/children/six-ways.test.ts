import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type ApiDialect, apiDialects } from '../../src/basics/domain.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { refusalsOf, replyTo, type Step } from '../support/dialect-servers.ts';
import { ledgerOf } from '../support/ledger.ts';
import { type ModelRequest, type Reply, startModelServer } from '../support/model-server.ts';
import { PROD, startProdService } from '../support/prod.ts';
import { assertReplays } from '../support/replays.ts';
import { startTestService, type TestService } from '../support/service.ts';

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
    ...{ text: '', thought: '' }, // a step without thoughts after one with them
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
  maxSteps?: number;
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
    agentConfig: { max_steps: options.maxSteps ?? 30 },
  });
  const { job_id: jobId } = await service.runJob(DAY);
  await assertReplays(service.database);
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
      .filter(({ role }: any) => role === 'assistant')
      .map(({ role, content, summary, model }: any) => [
        role,
        content.slice(0, 20),
        summary,
        model,
      ]),
    STEPS.map(({ text, thought }) => [
      'assistant',
      text.slice(0, 20),
      thought || null,
      'model-2026-07-07',
    ]),
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
    results.map(({ tool_use_id: id, is_error: isError }: any) => [id, isError]),
    [
      ['call_2_0', undefined],
      ['call_2_1', true],
      ['call_2_2', undefined],
    ],
  );
  assert.deepEqual(results.at(-1).cache_control, { type: 'ephemeral' });
});

const PRECEDING =
  "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."; // as OpenAI spells it
const THOUGHTS = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
const DETAILS = 'reasoning_details must be passed back unmodified, in their order';
const BLOCKS = '`thinking` or `redacted_thinking` blocks cannot be modified.';
const toolResult = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: '' });

/**
 * Changes to the last request of the day, each of which breaks one rule, and how the maker refuses
 * it.
 */
const broken: Record<
  ApiDialect,
  [rule: string, change: (request: ModelRequest) => void, refusal: string][]
> = {
  chat: [
    ['an unknown field', ({ body }) => (body.top_k = 3), "Unknown parameter: 'top_k'."],
    [
      'a stream without its tokens',
      ({ body }) => delete body.stream_options,
      'stream_options.include_usage: the stream would not tell its tokens',
    ],
    ['thoughts dropped', ({ body }) => delete body.messages[2].reasoning_content, THOUGHTS],
    ['no empty thoughts', ({ body }) => delete body.messages[5].reasoning_content, THOUGHTS],
    [
      'signature of a call dropped',
      ({ body }) => delete body.messages[5].tool_calls[1].extra_content,
      'Function call is missing a thought_signature in functionCall parts.',
    ],
    [
      'details changed',
      ({ body }) => (body.messages[2].reasoning_details[0].signature += '='),
      DETAILS,
    ],
    ['order of the details', ({ body }) => body.messages[2].reasoning_details.reverse(), DETAILS],
    [
      'words changed',
      ({ body }) => (body.messages[2].content = 'Hm.'),
      'The assistant message is not the one that was given',
    ],
    [
      'arguments changed',
      ({ body }) => (body.messages[5].tool_calls[0].function.arguments = '{}'),
      'The assistant message is not the one that was given',
    ],
    [
      'a call without a result',
      ({ body }) => body.messages.pop(),
      "An assistant message with 'tool_calls' must be followed by tool messages; none for call_2_2",
    ],
    [
      'a result without a call',
      ({ body }) => body.messages.push({ role: 'tool', tool_call_id: 'call_9', content: '' }),
      PRECEDING,
    ],
    [
      'a result before its call',
      ({ body }) => body.messages.splice(2, 0, body.messages[3]),
      PRECEDING,
    ],
  ],
  responses: [
    ['an unknown field', ({ body }) => (body.max_tokens = 3), "Unknown parameter: 'max_tokens'."],
    ['to be kept', ({ body }) => (body.store = true), 'store: nothing is kept here'],
    [
      'an answer that is not kept',
      ({ body }) => (body.previous_response_id = 'resp_1'),
      "Previous response with id 'resp_1' not found.",
    ],
    [
      'no encrypted reasoning asked for',
      ({ body }) => delete body.include,
      'include: without it no reasoning can come back',
    ],
    [
      'order of the items',
      ({ body }) => body.input.splice(1, 2, body.input[2], body.input[1]),
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
    [
      'an item dropped',
      ({ body }) => body.input.splice(2, 1),
      "Item 'msg_1' of type 'message' was provided without its required following item.",
    ],
    [
      'sealed thoughts dropped',
      ({ body }) => delete body.input[1].encrypted_content,
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
    ],
    [
      'sealed thoughts changed',
      ({ body }) => (body.input[1].encrypted_content += '='),
      "The encrypted content of item 'rs_1' could not be verified.",
    ],
    [
      'summary changed',
      ({ body }) => (body.input[1].summary = []),
      "Item 'rs_1' of type 'reasoning' is not the one that was given.",
    ],
    [
      'a call without a result',
      ({ body }) => body.input.pop(),
      'No tool output found for function call call_2_2.',
    ],
    [
      'a result without a call',
      ({ body }) =>
        body.input.push({ type: 'function_call_output', call_id: 'call_9', output: '' }),
      'No tool call found for function call output with call_id call_9.',
    ],
    [
      'a result before its call',
      ({ body }) => body.input.splice(1, 0, body.input[5]),
      'No tool call found for function call output with call_id call_1_0.',
    ],
  ],
  messages: [
    ['an unknown field', ({ body }) => (body.seed = 3), 'seed: Extra inputs are not permitted'],
    ['no bound', ({ body }) => delete body.max_tokens, 'max_tokens: Field required'],
    [
      'no version',
      ({ headers }) => delete headers['anthropic-version'],
      'anthropic-version: header is required',
    ],
    ['no key', ({ headers }) => delete headers['x-api-key'], 'x-api-key header is required'],
    [
      'a bearer token too',
      ({ headers }) => (headers.authorization = 'Bearer sk-of-the-test'),
      'authorization: a key is sent once, as x-api-key',
    ],
    [
      'five marks',
      ({ body }) =>
        body.tools.slice(0, 3).forEach((tool: any) => (tool.cache_control = { type: 'ephemeral' })),
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [
      'twice the same role',
      ({ body }) => body.messages.push({ role: 'user', content: [{ type: 'text', text: 'And?' }] }),
      'messages: roles must alternate between "user" and "assistant"',
    ],
    ['thoughts changed', ({ body }) => (body.messages[1].content[0].thinking = 'Hm.'), BLOCKS],
    ['hidden thoughts dropped', ({ body }) => body.messages[1].content.splice(1, 1), BLOCKS],
    [
      'words changed',
      ({ body }) => (body.messages[1].content[2].text = 'Hm.'),
      'The blocks of the assistant are not those that were given',
    ],
    [
      'a call without a result',
      ({ body }) => body.messages[4].content.pop(),
      'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: call_2_2',
    ],
    [
      'a result without a call',
      ({ body }) => body.messages[4].content.unshift(toolResult('call_9')),
      'messages.4: unexpected `tool_use_id` found in `tool_result` blocks: call_9',
    ],
    [
      'a result before its call',
      ({ body }) => body.messages[0].content.unshift(toolResult('call_1_0')),
      'messages.0: unexpected `tool_use_id` found in `tool_result` blocks: call_1_0',
    ],
    [
      'words before results',
      ({ body }) => body.messages[4].content.unshift({ type: 'text', text: 'Here:' }),
      'messages.4: `tool_result` blocks come first in the content',
    ],
  ],
};
for (const api of apiDialects)
  test(`the strict server of ${api} takes what the service sends, and refuses it with one rule broken`, async (t) => {
    const request = (await run(t, { api, stream: true })).requests[2] as ModelRequest;
    assert.deepEqual(refusalsOf(request, STEPS), []);
    for (const [rule, change, refusal] of broken[api]) {
      const changed = structuredClone(request);
      change(changed);
      assert.deepEqual(refusalsOf(changed, STEPS), [refusal], rule);
      const { status, body } = replyTo(changed, STEPS) as { status?: number; body: any };
      assert.deepEqual([status, body.error.message], [400, refusal], rule);
    }
  });

/** Starts a service again on what an earlier one left, with the entries that it stored. */
async function restart(t: TestContext, { folder }: TestService): Promise<TestService> {
  const agent = await realAgentHere();
  return startTestService(t, { agent, configuration: null, folder, settings: PROD });
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
      const second = await restart(t, first);
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
  const paused = { api: 'messages', stream: true, steps } as const;
  const { used, ledger, requests, error } = await run(t, paused);
  assert.deepEqual([used.steps, ledger.length, error], [3, 1, null]);
  const [user, assistant] = requests[1]?.body.messages ?? [];
  assert.equal(requests[1]?.body.messages.length, 2);
  assert.deepEqual(user.content.at(-1).cache_control, { type: 'ephemeral' });
  assert.equal(assistant.role, 'assistant');
  const cut = await run(t, { ...paused, maxSteps: 1 });
  assert.deepEqual([cut.used.steps, cut.error], [1, null]);
});

const askedWithout = (field: string, words: string) =>
  `'m' is asked without ${field}, which the service adds and the provider refuses: it returned 400: ${words}`;

test('what a maker refuses of what the service adds is left out for the whole job, also after a restart, and told once', async (t) => {
  const WEEK = { start_date: '2025-10-13', end_date: '2025-10-15' };
  const refusing: [field: string, words: string, isIn: (body: any) => boolean][] = [
    [
      'stream',
      'Your organization must be verified to stream this model.',
      ({ stream }) => stream === true,
    ],
    [
      'reasoning.summary',
      'Your organization must be verified to see summaries.',
      ({ reasoning }) => reasoning !== undefined,
    ],
  ];
  let holds = true;
  const asked = Promise.withResolvers<void>();
  const server = await startModelServer(t, (request): Reply => {
    const date = /Today's date: (\S+)/.exec(request.body.input[0].content)?.[1];
    const [param, message] = refusing.find(([, , isIn]) => isIn(request.body)) ?? [];
    if (param !== undefined)
      return { status: 400, body: { error: { message, param, code: 'unsupported_value' } } };
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
  const second = await restart(t, first);
  const { status, warnings } = await second.waitForJob(body.job_id);
  assert.equal(status, 'completed');
  const asking = server.requests.map((request) =>
    refusing.filter(([, , isIn]) => isIn(request.body)).map(([field]) => field),
  );
  const once = [['stream', 'reasoning.summary'], ['reasoning.summary']];
  assert.deepEqual(
    asking.filter((fields) => fields.length > 0),
    once,
    'each is asked for until it is refused, over both lives',
  );
  assert.deepEqual(
    warnings.filter((warning: string) => warning.includes('refuses')),
    refusing.map(([field, words]) => askedWithout(field, words)),
  );
});

test('two runs of an entry are asked in the same way: one warning, under the name of the entry', async (t) => {
  const server = await startModelServer(t, (request): Reply => {
    if (request.body.stream === true)
      return { status: 400, body: { error: { message: 'No stream here.', param: 'stream' } } };
    return replyTo(request, STEPS.slice(2));
  });
  const models = [
    { signature: 'm', openai_base_url: server.baseUrl, api: 'responses', repeats: 2 },
  ];
  const service = await startProdService(t, { agent: await realAgentHere(), models });
  const { status, warnings, details } = await service.runJob(DAY);
  assert.deepEqual([status, details.map(({ model }: any) => model)], ['completed', ['m', 'm#2']]);
  const told = warnings.filter((warning: string) => warning.includes('refuses'));
  assert.deepEqual(told, [askedWithout('stream', 'No stream here.')]);
});
