import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProviderModel, hasEffort, findRefused } from '../../src/core/agent/provider/ask.ts';
import { type ChatMessage, KeyRefused } from '../../src/core/agent/model.ts';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import type { Addition, ProviderEndpoint, ToolDescription } from '../../src/core/wire/protocol.ts';
import { endpointOf } from '../support/ask-provider.ts';
import { saying } from '../support/dialects.ts';
import { type Reply, startModelServer } from '../support/model-server.ts';
import { tableOf } from '../support/text-table.ts';

/**
 * What the service adds to requests by itself: refused, it is left out at once and from then on;
 * what an entry sets is not.
 */

const opening: ChatMessage[] = [
  { role: 'system', content: 'You trade.' },
  { role: 'user', content: "Today's date: 2025-11-10" },
];
/** Whether a request has an addition. */
const has: Record<Addition, (body: any) => boolean> = {
  stream: ({ stream }) => stream === true,
  stream_options: (body) => 'stream_options' in body,
  'reasoning.summary': ({ reasoning }) => reasoning?.summary !== undefined,
  include: (body) => 'include' in body,
  prompt_cache_key: (body) => 'prompt_cache_key' in body,
  thinking: (body) => 'thinking' in body,
  response_format: (body: any) => body.response_format !== undefined,
  'text.format': (body: any) => body.text?.format !== undefined,
  tool_choice: (body: any) => body.tool_choice !== undefined,
  cache_control: (body) => JSON.stringify(body).includes('cache_control'),
};

const openai = (message: string, param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code: 'unsupported_value' },
});
const anthropic = (message: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
});
const error = (api: ApiDialect, message: string, param = '') =>
  api === 'messages' ? anthropic(message) : openai(message, param || null);
const verified = 'Your organization must be verified to';
const refused = tableOf<[api: ApiDialect, addition: Addition, words: string, param: string]>(`
  chat      | stream            | ${verified} stream this model.            | stream
  responses | stream            | ${verified} stream this model.            |
  messages  | stream            | stream: not supported                     |
  chat      | stream_options    | {"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]} |
  responses | reasoning.summary | ${verified} generate reasoning summaries. | reasoning.summary
  responses | reasoning.summary | 'reasoning' is not supported with this model. | reasoning
  responses | include           | Encrypted content is not supported.       | include
  responses | prompt_cache_key  | {"detail":"Unknown field prompt_cache_key"} |
  chat      | response_format   | response_format is not supported          |
  responses | text.format       | Unsupported parameter: 'text.format'      |
  messages  | thinking          | adaptive thinking is not supported on this model |
  messages  | cache_control     | system.0.cache_control: Extra inputs are not permitted |
`);

async function ask(
  t: Parameters<typeof startModelServer>[0],
  api: ApiDialect,
  replies: readonly Reply[],
  changes: Partial<ProviderEndpoint> = {},
  tools: ToolDescription[] = [],
) {
  const server = await startModelServer(t, replies);
  const told: string[] = [];
  const asked = { api, apiKey: null, parameters: { model: 'm' }, stream: 'added' } as const;
  const patience = { cacheKey: 'k', maxRetries: 0, baseDelayMs: 1 };
  const model = createProviderModel(
    endpointOf(server.baseUrl, { ...asked, ...patience, ...changes }),
    {
      tools,
      isOneAnswer: tools.length > 0,
      onFailure: ({ waitMs }) => told.push(`wait ${waitMs}`),
      onRefused: (names, reason) => told.push(`${names.join()}: ${reason}`),
    },
  );
  return { server, told, model };
}

for (const [api, addition, words, param] of refused) {
  test(`${addition} refused by ${api} is left out at once, and in later requests: ${words}`, async (t) => {
    const [status, body] = words.startsWith('{')
      ? [422, JSON.parse(words)]
      : [400, error(api, words, param)];
    const replies = [{ status, body }, { body: saying(api, 'Done.') }];
    const tools = addition.includes('format') ? [FORMAT] : [];
    const { server, told, model } = await ask(t, api, replies, {}, tools);
    for (const _ of [1, 2]) assert.equal((await model(opening)).content, 'Done.');
    const bodies = server.requests.map(({ body }) => body);
    assert.deepEqual(bodies.map(has[addition]), [true, false, false]);
    const others = (Object.keys(has) as Addition[]).filter(
      (other) => other !== addition && (addition !== 'stream' || other !== 'stream_options'),
    );
    const [first, second] = bodies.map((body) => others.filter((other) => has[other](body)));
    assert.deepEqual(first, second, 'nothing else is left out');
    assert.equal(told.length, 2);
    assert.equal(told[0], 'wait 0');
    assert.match(told[1] ?? '', new RegExp(`^${addition}: returned ${status}: `));
  });
}

/** What is asked for where a day is one answer. */
const FORMAT: ToolDescription = {
  name: 'trading_decision',
  description: 'Decide.',
  parameters: { type: 'object' },
};

const set = tableOf<[api: ApiDialect, own: string, words: string, param: string]>(`
  responses | {"reasoning":{"summary":"detailed"}}                  | no               | reasoning.summary
  responses | {"reasoning":{"effort":"high"}}                       | 'reasoning' is not supported | reasoning
  responses | {"include":["x"]}                                     | no               | include
  responses | {"prompt_cache_key":"mine"}                           | no               | prompt_cache_key
  messages  | {"thinking":{"type":"enabled","budget_tokens":2000}}  | thinking: no     |
  messages  | {"cache_control":{"type":"ephemeral"}}                | cache_control: no |
  chat      | {"stream":true}                                       | no               | stream
`);
test('what the entry sets is never left out', async (t) => {
  for (const [api, own, words, param] of set) {
    const { stream, ...fields } = JSON.parse(own);
    const endpoint = stream
      ? { stream: 'set' as const }
      : { parameters: { model: 'm', ...fields } };
    const refusal = { status: 400, body: error(api, words, param) };
    const { server, told, model } = await ask(t, api, [refusal], endpoint);
    await assert.rejects(async () => model(opening), /returned 400: /);
    assert.deepEqual([server.requests.length, ...told], [1, 'wait null'], own);
  }
});

test('what was refused before is not asked again, and an error about something else is one', async (t) => {
  const leftOut: Addition[] = ['stream', 'thinking', 'cache_control'];
  const { server, model } = await ask(t, 'messages', [{ body: saying('messages', 'Done.') }], {
    leftOut,
  });
  await model(opening);
  assert.ok(!leftOut.some((name) => has[name](server.requests[0]?.body)));
  for (const [status, body, message] of [
    [400, openai('Unknown model', 'model'), /returned 400: Unknown model/],
    [401, openai('no stream for you', 'stream'), /returned 401/],
  ] as const) {
    const other = await ask(t, 'responses', [{ status, body }]);
    await assert.rejects(async () => other.model(opening), message);
    assert.equal(other.server.requests.length, 1);
  }
});

const named: [words: string, ...additions: Addition[]][] = [
  ['stream is not supported', 'stream'],
  ['The upstream has no streaming'],
  ['reasoning.summary: no', 'reasoning.summary'],
  ['no reasoning_summary'],
];
test('an error names additions as whole words', () => {
  for (const [words, ...additions] of named) {
    const refusal = { status: 400, error: {}, words };
    assert.deepEqual(findRefused(refusal, ['stream', 'reasoning.summary'], true), additions, words);
  }
});

test('an effort is set in the form of any dialect', () => {
  const effort = 'high';
  for (const own of [
    { reasoning: { effort } },
    { reasoning_effort: effort },
    { output_config: { effort } },
  ])
    assert.ok(hasEffort(own), JSON.stringify(own));
  assert.ok(!hasEffort({ reasoning: { summary: 'auto' }, output_config: {} }));
});

test('a request without what was refused is another one, and no try of the first', async (t) => {
  const busy: Reply = { status: 503, body: { error: { message: 'Busy' } } };
  const refusal: Reply = { status: 400, body: openai('no', 'stream') };
  const replies = [busy, refusal, busy, { body: saying('responses', 'Done.') }];
  const { server, model } = await ask(t, 'responses', replies, { maxRetries: 2 });
  assert.equal((await model(opening)).content, 'Done.');
  const streams = server.requests.map(({ body }) => has.stream(body));
  assert.deepEqual(streams, [true, true, false, false]);
});

test('an answer with 401 or 403 refuses the key, others do not', async (t) => {
  for (const status of [401, 403, 402]) {
    const { model } = await ask(t, 'chat', [{ status, body: openai('no') }]);
    const isOfTheKey = (error: unknown) => error instanceof KeyRefused === (status !== 402);
    await assert.rejects(async () => model(opening), isOfTheKey);
  }
});

test('a day continues at the same URL, with a slash at its end or without', async (t) => {
  const { server, model } = await ask(t, 'responses', [{ body: saying('responses', 'Done.') }]);
  const { carried, content } = await model(opening);
  const again = await ask(t, 'responses', [], { baseUrl: `${server.baseUrl}/` });
  const said: ChatMessage = { role: 'assistant', content, toolCalls: [], carried };
  assert.equal((await again.model([...opening, said])).content, 'Done.');
});

test('the requests of the three dialects, in full', async (t) => {
  const user = "Today's date: 2025-11-10";
  const cached = { cache_control: { type: 'ephemeral' } };
  const always = { model: 'm', stream: true, tools: [] };
  const expected: [api: ApiDialect, path: string, body: object][] = [
    ['chat', 'chat/completions', { stream_options: { include_usage: true }, messages: opening }],
    [
      'responses',
      'responses',
      {
        ...{ store: false, include: ['reasoning.encrypted_content'], prompt_cache_key: 'k' },
        ...{ reasoning: { summary: 'auto' }, instructions: 'You trade.' },
        input: [{ type: 'message', role: 'user', content: user }],
      },
    ],
    [
      'messages',
      'messages',
      {
        ...{ max_tokens: 32_000, thinking: { type: 'adaptive', display: 'summarized' } },
        system: [{ type: 'text', text: 'You trade.', ...cached }],
        messages: [{ role: 'user', content: [{ type: 'text', text: user, ...cached }] }],
      },
    ],
  ];
  for (const [api, path, body] of expected) {
    const { server, model } = await ask(t, api, [{ body: saying(api, 'Done.') }]);
    await model(opening);
    assert.equal(server.requests[0]?.path, `/v1/${path}`);
    assert.deepEqual(server.requests[0]?.body, { ...always, ...body });
  }
});
