import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readCompletion } from '../../src/core/agent/provider/chat.ts';
import { markWritten } from '../../src/core/agent/provider/written-calls.ts';
import { decodeLine, MAX_TOOL_CALLS } from '../../src/core/wire/protocol.ts';
import { like, tableOf } from '../support/text-table.ts';

/**
 * The corpus: one file in test/fixtures/completions for each shape that a provider of the Chat
 * Completions family sends, whole as it comes, with its words made short. The rows say what is read
 * out of each.
 */
const CORPUS = new URL('../fixtures/completions/', import.meta.url);

function fixture(name: string): any {
  return JSON.parse(readFileSync(new URL(`${name}.json`, CORPUS), 'utf8'));
}

const BUY = 'buy {"symbol":"AAPL","amount":5}';
const SPACED_BUY = 'buy {"symbol": "AAPL", "amount": 5}';
const PRICE = 'get_price {"symbol":"AAPL"}';
const THOUGHT = 'AAPL looks cheap.';

/**
 * What is read out of each file: content; calls as `id name arguments`, with ` & ` between them;
 * reasoning, `⏎` for a line end; tokens (prompt, completion, cached, reasoning; `-` where nothing
 * is known); and the note.
 */
const rows = tableOf<[string, string, string, string, string, string]>(`
  openai-tool-call              |             | call_9Xv2 ${BUY}          |            | 1486 651 1408 512 |
  openai-text                   | I hold.     |                           |            | 1600 20 0 0       |
  openai-refusal                | I'm sorry, I can't give financial advice. |   |      | 900 12 0 0        | The model refused to answer.
  openai-length                 |             |                           |            | 900 1024 0 1024   | The provider cut this answer off at its token limit.
  azure-content-filter          |             |                           |            | 900 0 - -         | The provider held back this answer (content filter).
  function-call                 |             | c00000384 ${BUY}          |            | 300 20 - -        |
  arguments-object              |             | call_1 ${BUY}             |            | 300 20 - -        |
  arguments-double-encoded      |             | call_1 ${BUY}             |            | 300 20 - -        |
  arguments-fenced              |             | call_1 ${SPACED_BUY}      |            | 300 20 - -        |
  arguments-fenced-and-encoded  |             | call_1 ${SPACED_BUY}      |            | 300 20 - -        |
  arguments-missing             |             | call_1 get_portfolio {} & call_2 get_portfolio {} & call_3 get_portfolio | | 300 20 - - |
  arguments-broken              |             | call_1 buy {'symbol': 'AAPL', 'amount': 5}     | | 300 20 - -      |
  numbers-as-text               |             | call_1 buy {"symbol":"AAPL","amount":"5"}      | | 300 20 - -      |
  call-cut-off                  |             | call_1 buy {"symbol":"AAPL","amo               | | 300 20 - -      | …cut this answer off…
  ids-missing                   |             | c00000384 ${PRICE} & c00000385 ${BUY} |          | 300 20 - -      |
  ids-empty                     |             | c00000384 ${PRICE} & c00000385 ${BUY} |          | 300 20 - -      |
  ids-duplicate                 |             | call_0 ${PRICE} & c00000385 ${BUY}    |          | 300 20 - -      |
  calls-flat                    |             | call_1 ${BUY}             |            | 300 20 - -        |
  calls-not-objects             |             | c00000384  {} & c00000385  {} & call_3  {} & call_4  {} | | 300 20 - - |
  calls-announced-but-absent    | Let me buy. |                           |            | 300 20 - -        | …announced tool calls and sent none…
  unknown-tool                  |             | call_1 short_sell {"symbol":"AAPL","amount":5} | | 300 20 - -      |
  content-null                  |             |                           |            | 300 0 - -         | The model ended the day without a word.
  content-absent                |             |                           |            | 300 0 - -         | …without a word…
  content-parts                 | I hold.     |                           |            | 300 5 - -         |
  thoughts-without-opening-tag  | I hold.     |                           | Let me think. | 300 20 - -     |
  mistral-thinking              | Buying.     | D681PevKs ${BUY}          | ${THOUGHT} | 300 50 - -        |
  deepseek-reasoner             |             | call_00_kw66 ${BUY}       | ${THOUGHT} | 300 60 256 40     |
  openrouter                    |             | toolu_01Gk ${BUY}         | ${THOUGHT} | 300 60 0 22       |
  gemini                        |             | function-call-1 ${PRICE} & function-call-2 ${BUY} | | 758 967 - - |
  xai                           | I hold.     |                           |            | 300 350 152 300   |
  vllm                          |             | chatcmpl-tool-8a1f ${SPACED_BUY} | ⏎${THOUGHT}⏎ | 300 50 - -   |
  vllm-without-reasoning-parser | I hold.     |                           | Should I call {"name": "buy"}? No. | 300 50 - - |
  ollama                        |             | call_k2v0 buy {"amount":5,"symbol":"AAPL"} | ${THOUGHT} | 300 60 - - |
  kimi                          |             | buy:0 ${SPACED_BUY}       | ${THOUGHT} | 300 60 128 -      |
  groq                          |             | fc_4e9b ${BUY}            | ${THOUGHT} | 300 60 - -        |
  litellm-claude                | Buying.     | toolu_02 ${BUY}           | ${THOUGHT} | 300 60 100 20     |
  usage-absent                  | I hold.     |                           |            |                   |
  usage-null                    | I hold.     |                           |            |                   |
  usage-odd                     | I hold.     |                           |            | - - - -           |
  usage-impossible              | I hold.     |                           |            | - 100 - 60        | The provider reported an impossible number of tokens (prompt 9007199254740991, cached 1e+300, total 9007199254740991); it is recorded as unknown.
  usage-input-output            | I hold.     |                           |            | 300 20 - -        |
`);

/** Of those whose message goes back with more than its text and calls: what goes back. */
const fieldOf = (name: string, field: string) => ({
  [field]: fixture(name).choices[0].message[field],
});
const carried: Record<string, object> = {
  'deepseek-reasoner': { reasoning_content: THOUGHT },
  openrouter: fieldOf('openrouter', 'reasoning_details'),
  gemini: {}, // with its calls
  vllm: { reasoning_content: `\n${THOUGHT}\n` },
  kimi: { reasoning_content: THOUGHT },
  'litellm-claude': {
    reasoning_content: THOUGHT,
    ...fieldOf('litellm-claude', 'thinking_blocks'),
  },
};
const SIGNED = { extra_content: { google: { thought_signature: 'CukCAdHtim8' } } };

for (const [name, content, calls, reasoning, usage, note] of rows) {
  test(`the dialect ${name}`, () => {
    const answer = readCompletion(fixture(name), 3);
    const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = answer.usage ?? {};
    const counts = [promptTokens, completionTokens, cachedTokens, reasoningTokens];
    const shown = [
      answer.content,
      answer.toolCalls
        .map((call) => `${call.id} ${call.name} ${call.arguments}`.trim())
        .join(' & '),
      answer.reasoning?.replaceAll('\n', '⏎') ?? '',
      answer.usage === null ? '' : counts.map((count) => count ?? '-').join(' '),
    ];
    assert.deepEqual(shown, [content, calls, reasoning, usage]);
    assert.match(answer.note ?? '', like(note));
    assert.notEqual(answer.reasoning, '', 'without any it is null');
    const { [name]: message } = carried;
    const carriedCalls = name === 'gemini' ? [SIGNED, {}] : answer.toolCalls.map(() => ({}));
    assert.deepEqual(answer.carried, message ? { message, calls: carriedCalls } : null);
    decodeLine(JSON.stringify({ type: 'answer', ...answer })); // the parent takes it
  });
}

const saying = (content: string) => ({
  choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
});

for (const [family, content] of Object.entries(
  fixture('written-tool-calls') as Record<string, string>,
)) {
  test(`a tool call that ${family} writes as text is not executed, and the log says so`, () => {
    const { toolCalls, note, fault } = markWritten(readCompletion(saying(content), 1), []);
    assert.deepEqual([toolCalls, fault], [[], 'written_call']);
    const words = /seems to contain tool calls written as text\. They were not executed/;
    assert.match(note ?? '', words);
  });
}

test('no tool call is seen in ordinary text', () => {
  for (const content of [
    'I bought 5 AAPL and sold nothing.',
    'I called buy for AAPL (5 shares); the name "buy" says it all.',
    'buy(x) was never called.',
    '{"action": "hold"}',
  ])
    assert.equal(readCompletion(saying(content), 1).note, null, content);
});

test('thoughts that were cut off are thoughts, and a tag in the middle of a text is text', () => {
  const read = (content: string) => {
    const { reasoning, content: rest } = readCompletion({ choices: [{ message: { content } }] }, 1);
    return [reasoning, rest];
  };
  assert.deepEqual(read('<think>\nShould I'), ['Should I', '']);
  assert.deepEqual(read('<think></think>Yes'), [null, 'Yes']);
  assert.deepEqual(read('<thought>Gemini thinks so.</thought>Yes'), ['Gemini thinks so.', 'Yes']);
  assert.deepEqual(read('<think>a</think>b</think>c'), ['a', 'b</think>c']);
  assert.deepEqual(read('I write <think>x</think> here'), [null, 'I write <think>x</think> here']);
});

test('without a message the error says what is missing', () => {
  for (const body of [fixture('error-minimax-base-resp'), {}])
    assert.throws(() => readCompletion(body, 1), /^Error: it has no choices\[0\]\.message$/);
  for (const body of ['error-no-choices', 'error-no-message'].map(fixture))
    assert.throws(() => readCompletion(body, 1), /^Error: sent an answer without a message$/);
});

test('more tool calls than the protocol takes are refused by number', () => {
  const { message, ...choice } = fixture('arguments-object').choices[0];
  const many = Array.from({ length: MAX_TOOL_CALLS + 1 }, () => message.tool_calls[0]);
  const body = { choices: [{ ...choice, message: { ...message, tool_calls: many } }] };
  assert.throws(() => readCompletion(body, 1), /it holds 129 tool calls, more than 128/);
  const most = { choices: [{ ...choice, message: { ...message, tool_calls: many.slice(1) } }] };
  const ids = readCompletion(most, 1_000).toolCalls.map(({ id }) => id);
  assert.equal(new Set(ids).size, MAX_TOOL_CALLS);
  assert.ok(ids.slice(1).every((id) => /^[a-z0-9]{9}$/.test(id)));
});

test('every file of the corpus has its row', () => {
  const elsewhere = readdirSync(CORPUS).filter(
    (name) => !name.startsWith('error-') && name !== 'written-tool-calls.json',
  );
  const missing = elsewhere.filter((name) => !rows.some(([row]) => `${row}.json` === name));
  assert.deepEqual(missing, []);
});

test('thoughts that only the total counts are part of the completion, also of one without words', () => {
  const tokensOf = (usage: object) =>
    readCompletion({ choices: [{ message: { content: 'I hold.' } }], usage }, 1).usage
      ?.completionTokens;
  const counts = { prompt_tokens: 10, total_tokens: 30 };
  for (const completion_tokens of [0, 5])
    assert.equal(tokensOf({ ...counts, completion_tokens }), 20);
  assert.equal(tokensOf({ total_tokens: 30, completion_tokens: 5 }), 5);
  assert.equal(tokensOf(counts), null);
});
