import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialects } from '../../src/core/agent/provider/ask.ts';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import type { Json } from '../../src/core/json/json.ts';
import { MAX_SERVED_LENGTH, MAX_TOOL_CALLS } from '../../src/core/wire/protocol.ts';
import { NO_TEXT } from '../support/ask-provider.ts';
import { tableOf } from '../support/text-table.ts';

/**
 * What a dialect makes of a question, of an answer that goes back, and of the events of a stream:
 * without a server.
 */

const user = { role: 'user', content: "Today's date: 2025-11-10" } as const;
const question = {
  ...{ conversation: [user], tools: [], parameters: {}, isStreamed: true, cacheKey: 'k' },
  adds: () => true,
};

// The usual bound; efforts that think for longer, without a stream too; the entry's own bound; no
// cache where the provider has none; no summary where the entry takes reasoning away.
const bodies = tableOf<[api: ApiDialect, asked: string, field: string, expected: string]>(`
  messages  | {"parameters":{"output_config":{"effort":"high"}}}   | max_tokens       | 32000
  messages  | {"parameters":{"output_config":{"effort":"xhigh"}}}  | max_tokens       | 64000
  messages  | {"parameters":{"output_config":{"effort":"max"}}}    | max_tokens       | 64000
  messages  | {"parameters":{"output_config":{"effort":"max"}},"isStreamed":false} | max_tokens | 8000
  messages  | {"parameters":{"max_tokens":9}}                      | max_tokens       | 9
  responses | {"cacheKey":null}                                    | prompt_cache_key |
  responses | {"parameters":{"reasoning":null}}                    | reasoning        | null`);
for (const [api, asked, field, expected] of bodies) {
  test(`${api}: with ${asked} ${field} is ${expected}`, () => {
    const body = dialects[api].body({ ...question, ...JSON.parse(asked) });
    assert.equal(JSON.stringify(body[field]) ?? '', expected);
  });
}

const SEALED = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"}';
const OPEN =
  '{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}';
const SUMMED = '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}]}';
const CALL = '"type":"function_call","name":"buy","arguments":"{}"';
const USE = '"type":"tool_use","name":"buy"';

/** Parts of an answer, and as what they go back in the next request. */
const returning = tableOf<[string, api: 'responses' | 'messages', parts: string, back: string]>(`
  sealed thoughts                     | responses | ${SEALED}                        | ${SEALED}
  open thoughts, of local servers     | responses | ${OPEN}                          | ${OPEN}
  a summary, which stays behind       | responses | ${SUMMED},{${CALL},"call_id":"c1"} | {${CALL},"call_id":"c1"}
  a call without an id                | responses | {${CALL}}                        | {${CALL},"call_id":"c00000128"}
  a call that has only its own id     | responses | {${CALL},"id":"fc_1"}            | {${CALL},"id":"fc_1","call_id":"fc_1"}
  a call without an id                | messages  | {${USE},"input":{}}              | {${USE},"input":{},"id":"c00000128"}
  two calls of one id                 | messages  | {${USE},"input":{},"id":"a"},{${USE},"input":{},"id":"a"} | {${USE},"input":{},"id":"a"},{${USE},"input":{},"id":"c00000129"}
  an input that was cut off           | messages  | {${USE},"id":"a","input":"{\\"symbol\\": \\"AA"} | {${USE},"id":"a","input":{}}`);
for (const [what, api, ...columns] of returning) {
  test(`${api}: ${what}, and its result names the same call`, () => {
    const [parts = [], back = []] = columns.map((json): Json[] => JSON.parse(`[${json}]`));
    const answer = dialects[api].read({ output: parts, content: structuredClone(parts) }, 1);
    const { content, toolCalls, carried } = answer;
    const results = toolCalls.map(({ id }) => ({ role: 'tool', id, content: '{}' }) as const);
    const said = { role: 'assistant', content, toolCalls, carried } as const;
    const conversation = [user, said, ...results];
    const asked = { ...question, conversation, adds: () => false };
    const { input = [], messages = [] }: any = dialects[api].body(asked);
    const all: Json[] = [...input, ...messages.flatMap((message: any) => message.content)].slice(1);
    assert.deepEqual(all.slice(0, back.length), back);
    const named = all.slice(back.length).map((one) => one['call_id'] ?? one['tool_use_id']);
    const called = back.filter(({ type }) => type !== 'reasoning');
    assert.deepEqual(
      named,
      called.map((one) => one['call_id'] ?? one['id']),
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
function assembled(api: ApiDialect, events: readonly (object | '[DONE]')[]) {
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
  const items = [10, 2, 0, 1, 11].map((number) => itemDone(number, String(number)));
  const { body } = assembled('responses', [...items, completed]);
  assert.equal(dialects.responses.read(body, 1).content, '0121011');
});

test('responses: [DONE] ends a stream too; one without any item broke off', () => {
  const created = { type: 'response.created', response: { id: 'r', output: [] } };
  const { body, hasEnded } = assembled('responses', [created, itemDone(0, 'I hold.'), '[DONE]']);
  assert.deepEqual([hasEnded, dialects.responses.read(body, 1).content], [true, 'I hold.']);
  assert.equal(assembled('responses', [created, '[DONE]']).hasEnded, false);
});

test('responses: what has failed is not an answer', () => {
  const body = { status: 'failed', output: [] };
  assert.throws(() => dialects.responses.read(body, 1), /^Error: its status is failed$/);
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

/** Pieces of lists of thoughts, and the items that they are put together to. */
const lists = tableOf<['reasoning_details' | 'thinking_blocks', pieces: string, items: string]>(`
  reasoning_details | {"index":0,"summary":"a"},{"index":0,"summary":"b"} | {"index":0,"summary":"ab"}
  reasoning_details | {"index":0,"data":"a"},{"index":0,"data":"b"}       | {"index":0,"data":"ab"}
  reasoning_details | {"index":0,"type":"s"},{"index":0,"type":"e"}       | {"index":0,"type":"s"},{"index":0,"type":"e"}
  thinking_blocks   | {"type":"t","thinking":"a"},{"type":"t","thinking":"b","signature":"s"} | {"type":"t","thinking":"ab","signature":"s"}
  thinking_blocks   | {"type":"t","signature":"s"},{"type":"t","thinking":"b"} | {"type":"t","signature":"s"},{"type":"t","thinking":"b"}`);
for (const [list, pieces, items] of lists) {
  test(`chat: pieces of ${list}: ${pieces}`, () => {
    const deltas = JSON.parse(`[${pieces}]`).map((piece: object) => ({ [list]: [piece] }));
    assert.deepEqual(messageOf(deltas)[list], JSON.parse(`[${items}]`));
  });
}

test("chat: pieces of a call in OpenAI's old form", () => {
  const pieces = [{ name: 'buy', arguments: '{"symbol":' }, { arguments: '"AAPL"}' }];
  const { tool_calls: calls } = messageOf(pieces.map((piece) => ({ function_call: piece })));
  const whole = { name: 'buy', arguments: '{"symbol":"AAPL"}' };
  assert.deepEqual(calls, [{ type: 'function', function: whole }]);
});

test('chat: a last piece may come as a whole message, and an error within its choice is one', () => {
  const chunk = (choice: object) => ({ choices: [choice] });
  const whole = chunk({ message: { content: 'I hold.' }, finish_reason: 'stop' });
  const { content } = dialects.chat.read(assembled('chat', [whole]).body, 1);
  assert.equal(content, 'I hold.');
  const failed = chunk({ delta: {}, error: { code: 502 } });
  const last = chunk({ delta: {}, finish_reason: 'error' });
  assert.deepEqual(assembled('chat', [failed, last]).body['error'], { code: 502 });
});

const many = (count: number, make: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => make(index));
/** Two of it are too much. */
const large = 'x'.repeat(512 * 1024);
const inChat = (delta: object) => ({ choices: [{ index: 0, delta }] });
const inCall = (call: object) => inChat({ tool_calls: [call] });
const named = (index: number) => ({ index, function: { name: 'x' } });
const thought = (piece: object) => inChat({ reasoning_details: [piece] });
const block = (index: number, content_block: object) => ({
  ...{ type: 'content_block_start', index, content_block },
});
const first = block(0, {});
const piece = (delta: object, index: unknown = 0) => ({
  ...{ type: 'content_block_delta', index, delta: { type: 'text_delta', text: '', ...delta } },
});

const pieceOfInput = (partial_json: unknown, index = 0) =>
  piece({ type: 'input_json_delta', partial_json }, index);

/** Streams that are refused while they arrive, long before their end: with the last event. */
const bounds: [api: ApiDialect, error: string, events: object[]][] = [
  ['responses', 'larger than 1048576 bytes', many(2, (index) => itemDone(index, large))],
  ['chat', 'larger than 1048576 bytes', many(2, () => inChat({ content: large }))],
  ['messages', 'larger than 1048576 bytes', [first, ...many(2, () => piece({ text: large }))]],
  ['messages', 'larger than 1048576 bytes', many(2, (index) => block(index, { text: large }))],
  ['chat', 'more than 1000 pieces of thoughts', many(1_001, (index) => thought({ index }))],
  ['chat', 'more than 128 tool calls', many(MAX_TOOL_CALLS + 1, (index) => inCall(named(index)))],
  ['messages', 'more than 1000 blocks', many(1_001, (index) => block(index, {}))],
  ['chat', 'not text', [inChat({ content: NO_TEXT })]],
  ['chat', 'not text', [inChat({ content: 'a' }), inChat({ content: 1 })]],
  ['chat', 'not text', ['{', 1].map((text) => inCall({ function: { arguments: text } }))],
  ['chat', 'not text', [thought({ text: 'a' }), thought({ text: 1 })]],
  ['responses', 'type is not text', [{ type: NO_TEXT }]],
  ['messages', 'type is not text', [{ type: NO_TEXT }]],
  ['messages', 'type is not text', [first, piece({ type: NO_TEXT })]],
  ['messages', 'text is not text', [first, piece({ text: NO_TEXT })]],
  ['messages', 'partial_json is not text', [first, pieceOfInput(NO_TEXT)]],
  ['messages', 'a piece of a block that has not begun', [first, piece({ text: 'a' }, NO_TEXT)]],
  ['messages', 'a piece of a block that has not begun', [piece({ text: 'a' })]],
];
for (const [api, error, events] of bounds) {
  const last = JSON.stringify(events.at(-1)).slice(0, 100);
  test(`${api} is not read to its end: ${error}, ${last}`, () => {
    assert.throws(() => assembled(api, events), { message: new RegExp(error) });
    assert.doesNotThrow(() => assembled(api, events.slice(0, -1)));
  });
}

test('messages: blocks are in the order of their numbers, with their citations, and what an input has is kept where it was cut off', () => {
  const citation = { type: 'char_location' };
  const { body } = assembled('messages', [
    { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } },
    ...[10, 2, 0].map((index) => block(index, { number: index })),
    piece({ type: 'citations_delta', citation }, 2),
    pieceOfInput('{"a', 2),
    {
      ...{ type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      usage: { input_tokens: null, output_tokens: 5 },
    },
  ]);
  assert.deepEqual(body, {
    usage: { input_tokens: 9, output_tokens: 5 },
    stop_reason: 'end_turn',
    content: [{ number: 0 }, { number: 2, citations: [citation], input: '{"a' }, { number: 10 }],
  });
});
