import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialects } from '../../src/agent/provider/ask.ts';
import type { ApiDialect } from '../../src/basics/domain.ts';
import type { Json } from '../../src/basics/json.ts';
import { MAX_SERVED_LENGTH, MAX_TOOL_CALLS } from '../../src/wire/protocol.ts';

/**
 * What a dialect makes of a question, of an answer that goes back, and of the events of a stream:
 * without a server.
 */

const user = { role: 'user', content: "Today's date: 2025-11-10" } as const;
const question = {
  conversation: [user],
  tools: [],
  parameters: {},
  isStreamed: true,
  cacheKey: 'k',
  adds: () => true,
};

const bodies: [what: string, api: ApiDialect, asked: object, field: string, expected: unknown][] = [
  [
    'effort high has the usual bound',
    'messages',
    { parameters: { output_config: { effort: 'high' } } },
    'max_tokens',
    32_000,
  ],
  [
    'effort xhigh thinks for longer',
    'messages',
    { parameters: { output_config: { effort: 'xhigh' } } },
    'max_tokens',
    64_000,
  ],
  [
    'effort max too',
    'messages',
    { parameters: { output_config: { effort: 'max' } } },
    'max_tokens',
    64_000,
  ],
  [
    'effort max, but no stream',
    'messages',
    { isStreamed: false, parameters: { output_config: { effort: 'max' } } },
    'max_tokens',
    8_000,
  ],
  ["the entry's own bound", 'messages', { parameters: { max_tokens: 9 } }, 'max_tokens', 9],
  [
    'no key of a cache where the provider has none',
    'responses',
    { cacheKey: null },
    'prompt_cache_key',
    undefined,
  ],
  [
    'no summary where the entry takes reasoning away',
    'responses',
    { parameters: { reasoning: null } },
    'reasoning',
    null,
  ],
];
for (const [what, api, asked, field, expected] of bodies) {
  test(`${api}: ${what}`, () =>
    assert.deepEqual(dialects[api].body({ ...question, ...asked })[field], expected));
}

const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' };
const open = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'Hm.' }],
};
const summed = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] };
const call = { type: 'function_call', name: 'buy', arguments: '{}' };
const use = { type: 'tool_use', name: 'buy', input: {} };

/** Parts of an answer, and as what they go back in the next request. */
const returning: [what: string, api: 'responses' | 'messages', parts: Json[], back: Json[]][] = [
  ['sealed thoughts', 'responses', [sealed], [sealed]],
  ['open thoughts, as local servers send them', 'responses', [open], [open]],
  [
    'only a summary, which stays behind',
    'responses',
    [summed, { ...call, call_id: 'c1' }],
    [{ ...call, call_id: 'c1' }],
  ],
  ['a call without an id', 'responses', [call], [{ ...call, call_id: 'c00000128' }]],
  [
    'a call that has only an id of its own',
    'responses',
    [{ ...call, id: 'fc_1' }],
    [{ ...call, id: 'fc_1', call_id: 'fc_1' }],
  ],
  ['a call without an id', 'messages', [use], [{ ...use, id: 'c00000128' }]],
  [
    'two calls of one id',
    'messages',
    [
      { ...use, id: 'a' },
      { ...use, id: 'a' },
    ],
    [
      { ...use, id: 'a' },
      { ...use, id: 'c00000129' },
    ],
  ],
  [
    'an input that was cut off',
    'messages',
    [{ ...use, id: 'a', input: '{"symbol": "AA' }],
    [{ ...use, id: 'a', input: {} }],
  ],
];
for (const [what, api, parts, back] of returning) {
  test(`${api}: ${what}, and its result names the same call`, () => {
    const { content, toolCalls, carried } = dialects[api].read(
      structuredClone({ output: parts, content: parts }),
      1,
    );
    const results = toolCalls.map(({ id }) => ({ role: 'tool', id, content: '{}' }) as const);
    const conversation = [
      user,
      { role: 'assistant', content, toolCalls, carried } as const,
      ...results,
    ];
    const { input = [], messages = [] }: any = dialects[api].body({
      ...question,
      conversation,
      adds: () => false,
    });
    const all: Json[] = [...input, ...messages.flatMap((message: any) => message.content)].slice(1);
    assert.deepEqual(all.slice(0, back.length), back);
    const named = all
      .slice(back.length)
      .map((result) => result['call_id'] ?? result['tool_use_id']);
    const called = back.map(({ type, call_id, id }: Json) =>
      type === call.type ? call_id : type === use.type ? id : null,
    );
    assert.deepEqual(
      named,
      called.filter((id) => id !== null),
    );
  });
}

test('messages: only a refusal shows the details of its stop', () => {
  const stop_details = { category: 'bio', explanation: 'No.' };
  const content = [{ type: 'text', text: 'I hold.' }];
  const noteOf = (stop_reason: string) =>
    dialects.messages.read({ content, stop_reason, stop_details }, 1).note;
  assert.equal(noteOf('end_turn'), null);
  assert.match(noteOf('refusal') ?? '', /The provider says: bio: No\.$/);
});

test('what a provider says of itself is cut at its bound', () => {
  const { served } = dialects.messages.read({ content: [], model: 'm'.repeat(10_000) }, 1);
  assert.equal(served?.model?.length, MAX_SERVED_LENGTH);
});

/** What a stream of these events adds up to; `hasEnded` after the last one. */
function assembled(
  api: ApiDialect,
  events: readonly (object | string)[],
): { body: Json; hasEnded: boolean } {
  const assembler = dialects[api].assemble();
  let hasEnded = false;
  for (const event of events)
    hasEnded =
      event === '[DONE]'
        ? assembler.isComplete(true)
        : assembler.take(event as Json, 'message') === true;
  return { body: assembler.body(), hasEnded };
}

const completed = { type: 'response.completed', response: {} };
const itemDone = (output_index: number, content: string) => ({
  ...{ type: 'response.output_item.done', output_index },
  item: { type: 'message', content },
});

test('responses: items are in the order of their numbers, not in that of their arrival or their digits', () => {
  const numbers = [10, 2, 0, 1, 11];
  const { body } = assembled('responses', [
    ...numbers.map((number) => itemDone(number, String(number))),
    completed,
  ]);
  assert.equal(dialects.responses.read(body, 1).content, '0121011');
});

test('responses: [DONE] ends a stream too; one without any item broke off', () => {
  const created = { type: 'response.created', response: { id: 'r', output: [] } };
  const { body, hasEnded } = assembled('responses', [created, itemDone(0, 'I hold.'), '[DONE]']);
  assert.deepEqual([hasEnded, dialects.responses.read(body, 1).content], [true, 'I hold.']);
  assert.equal(assembled('responses', [created, '[DONE]']).hasEnded, false);
});

test('responses: what was cancelled is not an answer', () => {
  const body = { status: 'cancelled', output: [] };
  assert.throws(() => dialects.responses.read(body, 1), /^Error: its status is cancelled$/);
});

test('responses: without items an answer is empty if it is complete, and otherwise none', () => {
  assert.deepEqual(assembled('responses', [completed]).body, { output: [] });
  assert.deepEqual(assembled('responses', [{ ...completed, type: 'response.created' }]).body, {});
});

/**
 * A message of Chat Completions as the last event leaves it, put together from these pieces of it.
 */
function messageOf(deltas: readonly object[]): any {
  const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta }] }));
  const choices = assembled('chat', chunks).body['choices'] as any; // any: a body is unchecked JSON
  return choices[0].message;
}

const details = (...pieces: object[]) => pieces.map((piece) => ({ reasoning_details: [piece] }));
const blocks = (...pieces: object[]) =>
  pieces.map((piece) => ({ thinking_blocks: [{ type: 'thinking', ...piece }] }));

/** Pieces of lists of thoughts, and the items that they are put together to. */
const lists: [what: string, deltas: object[], items: object[]][] = [
  [
    'summaries',
    details({ index: 0, summary: 'a' }, { index: 0, summary: 'b' }),
    [{ index: 0, summary: 'ab' }],
  ],
  [
    'sealed data',
    details({ index: 0, data: 'a' }, { index: 0, data: 'b' }),
    [{ index: 0, data: 'ab' }],
  ],
  [
    'two types of a number',
    details({ index: 0, type: 's' }, { index: 0, type: 'e' }),
    [
      { index: 0, type: 's' },
      { index: 0, type: 'e' },
    ],
  ],
  [
    'blocks of LiteLLM',
    blocks({ thinking: 'a' }, { thinking: 'b', signature: 's' }),
    [{ type: 'thinking', thinking: 'ab', signature: 's' }],
  ],
  [
    'a block after a signed one',
    blocks({ signature: 's' }, { thinking: 'b' }),
    [
      { type: 'thinking', signature: 's' },
      { type: 'thinking', thinking: 'b' },
    ],
  ],
];
for (const [what, deltas, items] of lists) {
  test(`chat: pieces of thoughts: ${what}`, () => {
    const { reasoning_details: ofOpenRouter, thinking_blocks: ofLiteLlm } = messageOf(deltas);
    assert.deepEqual(ofOpenRouter ?? ofLiteLlm, items);
  });
}

test("chat: pieces of a call in OpenAI's old form", () => {
  const pieces = [{ name: 'buy', arguments: '{"symbol":' }, { arguments: '"AAPL"}' }];
  const { tool_calls: calls } = messageOf(pieces.map((piece) => ({ function_call: piece })));
  assert.deepEqual(calls, [
    { type: 'function', function: { name: 'buy', arguments: '{"symbol":"AAPL"}' } },
  ]);
});

test('chat: a last piece may come as a whole message, and an error within its choice is one', () => {
  const { body } = assembled('chat', [
    { choices: [{ message: { content: 'I hold.' }, finish_reason: 'stop' }] },
  ]);
  assert.equal(dialects.chat.read(body, 1).content, 'I hold.');
  assert.deepEqual(
    assembled('chat', [
      { choices: [{ delta: {}, error: { code: 502 } }] },
      { choices: [{ delta: {}, finish_reason: 'error' }] },
    ]).body['error'],
    { code: 502 },
  );
});

const many = (count: number, make: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => make(index));
/** Two of it are too much. */
const large = 'x'.repeat(512 * 1024);
/** What `String()` throws at. */
const NO_TEXT = { toString: 1, valueOf: 1 };
const inCall = (call: object) => inChat({ tool_calls: [call] });
const inChat = (delta: object) => ({ choices: [{ index: 0, delta }] });
const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const text = (piece: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: piece },
});

/** Streams that are refused while they arrive, long before their end. */
const bounds: [what: string, api: ApiDialect, events: object[], error: RegExp][] = [
  [
    'items that are large together',
    'responses',
    many(2, (index) => itemDone(index, large)),
    /larger than 1048576 bytes/,
  ],
  [
    'pieces that are large together',
    'chat',
    many(2, () => inChat({ content: large })),
    /larger than 1048576 bytes/,
  ],
  [
    'pieces that are large together',
    'messages',
    [block(0, {}), ...many(2, () => text(large))],
    /larger than 1048576 bytes/,
  ],
  [
    'blocks that begin large',
    'messages',
    many(2, (index) => block(index, { text: large })),
    /larger than 1048576 bytes/,
  ],
  [
    'too many thoughts',
    'chat',
    many(1_001, (index) => inChat({ reasoning_details: [{ index }] })),
    /more than 1000 pieces of thoughts/,
  ],
  [
    'too many calls',
    'chat',
    many(MAX_TOOL_CALLS + 1, (index) => inChat({ tool_calls: [{ index }] })),
    /more than 128 tool calls/,
  ],
  [
    'too many blocks',
    'messages',
    many(1_001, (index) => block(index, {})),
    /more than 1000 blocks/,
  ],
  ['content that is not text', 'chat', [inChat({ content: NO_TEXT })], /piece .* not text/],
  ['a number', 'chat', [inChat({ content: 'a' }), inChat({ content: 1 })], /piece .* not text/],
  [
    'arguments that are an object and text',
    'chat',
    [
      inCall({ index: 0, function: { arguments: NO_TEXT } }),
      inCall({ function: { arguments: '{' } }),
    ],
    /piece .* not text/,
  ],
  [
    'thoughts that are not text',
    'chat',
    [inChat({ reasoning_details: [{ text: 'a' }] }), inChat({ reasoning_details: [{ text: 1 }] })],
    /piece .* not text/,
  ],
  ['a type that is not text', 'responses', [{ type: NO_TEXT }], /type is not text/],
  ['a type that is not text', 'messages', [{ type: NO_TEXT }], /type is not text/],
  ...['type', 'text'].map((field): (typeof bounds)[number] => [
    `a piece whose ${field} is not text`,
    'messages',
    [block(0, {}), { ...text(''), delta: { ...text('').delta, [field]: NO_TEXT } }],
    new RegExp(`${field} is not text`),
  ]),
  [
    'a piece of an input that is not text',
    'messages',
    [block(0, {}), { ...text(''), delta: { type: 'input_json_delta', partial_json: NO_TEXT } }],
    /partial_json is not text/,
  ],
  [
    'a piece of no block, whose number is none',
    'messages',
    [block(0, {}), { ...text('a'), index: NO_TEXT }],
    /a piece of a block that has not begun/,
  ],
  ['a piece of no block', 'messages', [text('a')], /a piece of a block that has not begun/],
];
for (const [what, api, events, error] of bounds) {
  test(`${api} is not read to its end: ${what}`, () => {
    assert.throws(() => assembled(api, events), error);
    assert.doesNotThrow(() => assembled(api, events.slice(0, -1)));
  });
}

test('messages: blocks are in the order of their numbers, with their citations, and what an input has is kept where it was cut off', () => {
  const citation = { type: 'char_location' };
  const deltas = [
    { type: 'citations_delta', citation },
    { type: 'input_json_delta', partial_json: '{"a' },
  ];
  const { body } = assembled('messages', [
    { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } },
    ...[10, 2, 0].map((index) => block(index, { number: index })),
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 2, delta })),
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: null, output_tokens: 5 },
    },
  ]);
  assert.deepEqual(body, {
    usage: { input_tokens: 9, output_tokens: 5 },
    stop_reason: 'end_turn',
    content: [{ number: 0 }, { number: 2, citations: [citation], input: '{"a' }, { number: 10 }],
  });
});
