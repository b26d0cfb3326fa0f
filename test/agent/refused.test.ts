import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProviderModel, hasEffort, refusedBy } from '../../src/agent/provider/ask.ts';
import { type ChatMessage, KeyRefused } from '../../src/agent/model.ts';
import type { ApiDialect } from '../../src/basics/domain.ts';
import type { Json } from '../../src/basics/json.ts';
import type { Addition, Endpoint } from '../../src/wire/protocol.ts';
import { type Reply, startModelServer } from '../support/model-server.ts';

/**
 * What the service adds to requests by itself: refused, it is left out at once and from then on;
 * what an entry sets is not.
 */

const opening: ChatMessage[] = [
  { role: 'system', content: 'You trade.' },
  { role: 'user', content: "Today's date: 2025-11-10" },
];
const done: Record<ApiDialect, Json> = {
  chat: { choices: [{ message: { content: 'Done.' }, finish_reason: 'stop' }] },
  responses: {
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Done.' }] }],
  },
  messages: { content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn' },
};

/** Whether a request has an addition. */
const has: Record<Addition, (body: any) => boolean> = {
  stream: ({ stream }) => stream === true,
  stream_options: (body) => 'stream_options' in body,
  'reasoning.summary': ({ reasoning }) => reasoning?.summary !== undefined,
  include: (body) => 'include' in body,
  prompt_cache_key: (body) => 'prompt_cache_key' in body,
  thinking: (body) => 'thinking' in body,
  cache_control: (body) => JSON.stringify(body).includes('cache_control'),
};

interface Row {
  api: ApiDialect;
  addition: Addition;
  parameters?: Json;
  error: object;
  status?: number;
}

const openai = (message: string, param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code: 'unsupported_value' },
});
const anthropic = (message: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
});
const refused: Row[] = [
  {
    api: 'chat',
    addition: 'stream',
    error: openai('Your organization must be verified to stream this model.', 'stream'),
  },
  {
    api: 'responses',
    addition: 'stream',
    error: openai('Your organization must be verified to stream this model.'),
  },
  { api: 'messages', addition: 'stream', error: anthropic('stream: not supported') },
  {
    api: 'chat',
    addition: 'stream_options',
    error: { detail: [{ loc: ['body', 'stream_options'], msg: 'extra fields not permitted' }] },
    status: 422,
  },
  {
    api: 'responses',
    addition: 'reasoning.summary',
    error: openai(
      'Your organization must be verified to generate reasoning summaries.',
      'reasoning.summary',
    ),
  },
  {
    api: 'responses',
    addition: 'reasoning.summary',
    error: openai(
      "Unsupported parameter: 'reasoning' is not supported with this model.",
      'reasoning',
    ),
  },
  {
    api: 'responses',
    addition: 'include',
    error: openai('Encrypted content is not supported with this model.', 'include'),
  },
  {
    api: 'responses',
    addition: 'prompt_cache_key',
    error: { detail: 'Unknown field prompt_cache_key' },
  },
  {
    api: 'messages',
    addition: 'thinking',
    error: anthropic('adaptive thinking is not supported on this model'),
  },
  {
    api: 'messages',
    addition: 'cache_control',
    error: anthropic('system.0.cache_control: Extra inputs are not permitted'),
  },
];

async function ask(
  t: Parameters<typeof startModelServer>[0],
  api: ApiDialect,
  replies: readonly Reply[],
  endpoint: Partial<Endpoint> = {},
) {
  const server = await startModelServer(t, replies);
  const told: string[] = [];
  const model = createProviderModel(
    {
      ...{
        kind: 'provider',
        api,
        baseUrl: server.baseUrl,
        apiKey: null,
        parameters: { model: 'm' },
        stream: 'added',
        cacheKey: 'k',
        leftOut: [],
      },
      ...{ requestTimeoutMs: 60_000, maxRetries: 0, baseDelayMs: 1 },
      ...endpoint,
    },
    {
      tools: [],
      onFailure: ({ waitMs }) => told.push(`wait ${waitMs}`),
      onRefused: (names, reason) => told.push(`${names.join()}: ${reason}`),
    },
  );
  return { server, told, model };
}

for (const { api, addition, error, status = 400 } of refused) {
  test(`${addition} refused by ${api} is left out at once, and in later requests: ${JSON.stringify(error).slice(0, 60)}`, async (t) => {
    const { server, told, model } = await ask(t, api, [
      { status, body: error },
      { body: done[api] },
    ]);
    for (const _ of [1, 2]) assert.equal((await model(opening)).content, 'Done.');
    assert.deepEqual(
      server.requests.map(({ body }) => has[addition](body)),
      [true, false, false],
    );
    const others = (Object.keys(has) as Addition[]).filter(
      (other) => other !== addition && (addition !== 'stream' || other !== 'stream_options'),
    );
    const [first, second] = server.requests.map(({ body }) =>
      others.filter((other) => has[other](body)),
    );
    assert.deepEqual(first, second, 'nothing else is left out');
    assert.equal(told.length, 2);
    assert.equal(told[0], 'wait 0');
    assert.match(told[1] ?? '', new RegExp(`^${addition}: returned ${status}: `));
  });
}

const set: [api: ApiDialect, endpoint: Partial<Endpoint>, error: object][] = [
  [
    'chat',
    { stream: 'set' },
    openai('Your organization must be verified to stream this model.', 'stream'),
  ],
  [
    'responses',
    { parameters: { model: 'm', reasoning: { summary: 'detailed' } } },
    openai('no summaries', 'reasoning.summary'),
  ],
  [
    'responses',
    { parameters: { model: 'm', reasoning: { effort: 'high' } } },
    openai("'reasoning' is not supported", 'reasoning'),
  ],
  ['responses', { parameters: { model: 'm', include: ['x'] } }, openai('no', 'include')],
  [
    'responses',
    { parameters: { model: 'm', prompt_cache_key: 'mine' } },
    openai('no', 'prompt_cache_key'),
  ],
  [
    'messages',
    { parameters: { model: 'm', thinking: { type: 'enabled', budget_tokens: 2_000 } } },
    anthropic('thinking is not supported'),
  ],
  [
    'messages',
    { parameters: { model: 'm', cache_control: { type: 'ephemeral' } } },
    anthropic('cache_control is not supported'),
  ],
];
for (const [api, endpoint, error] of set) {
  test(`what the entry sets is never left out: ${JSON.stringify(endpoint)}`, async (t) => {
    const { server, told, model } = await ask(t, api, [{ status: 400, body: error }], endpoint);
    await assert.rejects(async () => model(opening), /returned 400: /);
    assert.equal(server.requests.length, 1);
    assert.deepEqual(told, ['wait null']);
  });
}

test('what was refused before is not asked again, and an error about something else is one', async (t) => {
  const { server, model } = await ask(t, 'messages', [{ body: done.messages }], {
    leftOut: ['stream', 'thinking', 'cache_control'],
  });
  await model(opening);
  assert.deepEqual(
    (['stream', 'thinking', 'cache_control'] as const).filter((name) =>
      has[name](server.requests[0]?.body),
    ),
    [],
  );
  const other = await ask(t, 'responses', [
    { status: 400, body: openai('Unknown model', 'model') },
  ]);
  await assert.rejects(async () => other.model(opening), /returned 400: Unknown model/);
  const unauthorised = await ask(t, 'responses', [
    { status: 401, body: openai('no stream for you', 'stream') },
  ]);
  await assert.rejects(async () => unauthorised.model(opening), /returned 401/);
  assert.deepEqual([other.server.requests.length, unauthorised.server.requests.length], [1, 1]);
});

const named: [words: string, additions: Addition[]][] = [
  ['stream is not supported', ['stream']],
  ['The upstream has no streaming', []],
  ['reasoning.summary: no', ['reasoning.summary']],
  ['no reasoning_summary', []],
];
for (const [words, additions] of named) {
  test(`an error names additions as whole words: ${words}`, () =>
    assert.deepEqual(
      refusedBy({ status: 400, error: {}, words }, ['stream', 'reasoning.summary'], true),
      additions,
    ));
}

const efforts: [parameters: Json, isSet: boolean][] = [
  [{ reasoning: { effort: 'high' } }, true],
  [{ reasoning_effort: 'high' }, true],
  [{ output_config: { effort: 'high' } }, true],
  [{ reasoning: { summary: 'auto' }, output_config: {} }, false],
];
for (const [parameters, isSet] of efforts)
  test(`whether an effort is set: ${JSON.stringify(parameters)}`, () =>
    assert.equal(hasEffort(parameters), isSet));

test('a request without what was refused is another one, and no try of the first', async (t) => {
  const busy: Reply = { status: 503, body: { error: { message: 'Busy' } } };
  const refusal: Reply = { status: 400, body: openai('no', 'stream') };
  const { server, model } = await ask(
    t,
    'responses',
    [busy, refusal, busy, { body: done.responses }],
    { maxRetries: 2 },
  );
  assert.equal((await model(opening)).content, 'Done.');
  assert.deepEqual(
    server.requests.map(({ body }) => has.stream(body)),
    [true, true, false, false],
  );
});

for (const [status, isOfTheKey] of [
  [401, true],
  [403, true],
  [402, false],
] as const)
  test(`an answer with ${status} ${isOfTheKey ? 'refuses' : 'does not refuse'} the key`, async (t) => {
    const { model } = await ask(t, 'chat', [{ status, body: openai('no') }]);
    await assert.rejects(
      async () => model(opening),
      (error) => error instanceof KeyRefused === isOfTheKey,
    );
  });

test('a day continues at the same URL, with a slash at its end or without', async (t) => {
  const { server, model } = await ask(t, 'responses', [{ body: done.responses }]);
  const { carried, content } = await model(opening);
  const again = await ask(t, 'responses', [], { baseUrl: `${server.baseUrl}/` });
  const conversation: ChatMessage[] = [
    ...opening,
    { role: 'assistant', content, toolCalls: [], carried },
  ];
  assert.equal((await again.model(conversation)).content, 'Done.');
});

test('the requests of the three dialects, in full', async (t) => {
  const bodies = await Promise.all(
    (['chat', 'responses', 'messages'] as const).map(async (api) => {
      const { server, model } = await ask(t, api, [{ body: done[api] }]);
      await model(opening);
      const [request] = server.requests;
      return [request?.path, request?.body];
    }),
  );
  const user = "Today's date: 2025-11-10";
  const cached = { cache_control: { type: 'ephemeral' } };
  assert.deepEqual(bodies, [
    [
      '/v1/chat/completions',
      {
        model: 'm',
        stream: true,
        stream_options: { include_usage: true },
        messages: opening,
        tools: [],
      },
    ],
    [
      '/v1/responses',
      {
        ...{
          store: false,
          include: ['reasoning.encrypted_content'],
          prompt_cache_key: 'k',
          model: 'm',
          reasoning: { summary: 'auto' },
        },
        ...{
          stream: true,
          instructions: 'You trade.',
          input: [{ type: 'message', role: 'user', content: user }],
          tools: [],
        },
      },
    ],
    [
      '/v1/messages',
      {
        ...{
          max_tokens: 32_000,
          thinking: { type: 'adaptive', display: 'summarized' },
          model: 'm',
          stream: true,
        },
        system: [{ type: 'text', text: 'You trade.', ...cached }],
        messages: [{ role: 'user', content: [{ type: 'text', text: user, ...cached }] }],
        tools: [],
      },
    ],
  ]);
});
