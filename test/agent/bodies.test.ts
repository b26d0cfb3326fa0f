import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialects } from '../../src/agent/provider/dialects.ts';
import { TooLarge } from '../../src/agent/provider/growth.ts';
import type { ApiDialect } from '../../src/domain.ts';
import type { Json } from '../../src/json.ts';

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
    'a summary alone stays behind',
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

test('messages: details of a stop are told of a refusal alone', () => {
  const stop_details = { category: 'bio', explanation: 'No.' };
  const content = [{ type: 'text', text: 'I hold.' }];
  const noteOf = (stop_reason: string) =>
    dialects.messages.read({ content, stop_reason, stop_details }, 1).note;
  assert.equal(noteOf('end_turn'), null);
  assert.match(noteOf('refusal') ?? '', /The provider says: bio: No\.$/);
});

/** What a stream of these events adds up to; `hasEnded` after the last one. */
function assembled(
  api: ApiDialect,
  events: readonly (object | string)[],
): { body: Json; hasEnded: boolean } {
  const assembler = dialects[api].assemble();
  let hasEnded = false;
  const takeData = (data: string) => assembler.take({ name: 'message', data });
  for (const event of events)
    hasEnded = takeData(typeof event === 'string' ? event : JSON.stringify(event));
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

test('responses: [DONE] ends a stream too; one without any item broke off, and is no day without a word', () => {
  const created = { type: 'response.created', response: { id: 'r', output: [] } };
  const { body, hasEnded } = assembled('responses', [created, itemDone(0, 'I hold.'), '[DONE]']);
  assert.deepEqual([hasEnded, dialects.responses.read(body, 1).content], [true, 'I hold.']);
  assert.equal(assembled('responses', [created, '[DONE]']).hasEnded, false);
});

test('responses: without items an answer is empty if it is complete, and otherwise none', () => {
  assert.deepEqual(assembled('responses', [completed]).body, { output: [] });
  assert.deepEqual(assembled('responses', [{ ...completed, type: 'response.created' }]).body, {});
});

test('responses: items that are together larger than an answer may be are refused while they arrive', () => {
  const items = Array.from({ length: 3 }, (_, index) => itemDone(index, 'x'.repeat(512 * 1024)));
  assert.throws(() => assembled('responses', items), TooLarge);
});
