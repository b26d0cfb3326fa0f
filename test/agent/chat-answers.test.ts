import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readCompletion } from '../../src/agent/provider/chat.ts';
import type { Json } from '../../src/basics/json.ts';
import { decodeLine, MAX_TOOL_CALLS } from '../../src/wire/protocol.ts';

/**
 * The corpus: one file in test/fixtures/completions for each shape that a provider of the Chat
 * Completions family sends, whole as it comes, with its words made short. The rows say what is read
 * out of each.
 */
const CORPUS = new URL('../fixtures/completions/', import.meta.url);

function fixture(name: string): any {
  return JSON.parse(readFileSync(new URL(`${name}.json`, CORPUS), 'utf8'));
}

interface Expected {
  content?: string;
  /** Each call as `id name arguments`. */
  calls?: string[];
  reasoning?: string;
  /** Tokens: prompt, completion, cached, reasoning; `-` where nothing is known. */
  usage?: string;
  note?: RegExp;
  /** What goes back with the message, and with its calls. */
  carried?: object;
  carriedCalls?: object[];
}

const BUY = 'buy {"symbol":"AAPL","amount":5}';
const SPACED_BUY = 'buy {"symbol": "AAPL", "amount": 5}';
const THOUGHT = 'AAPL looks cheap.';
const plain = '300 20 - -';

const rows: [name: string, expected: Expected][] = [
  // What OpenAI says itself.
  ['openai-tool-call', { calls: [`call_9Xv2 ${BUY}`], usage: '1486 651 1408 512' }],
  ['openai-text', { content: 'I hold.', usage: '1600 20 0 0' }],
  ['openai-refusal', { content: "I'm sorry, I can't give financial advice.", usage: '900 12 0 0' }],
  [
    'openai-length',
    { usage: '900 1024 0 1024', note: /^The provider cut this answer off at its token limit\.$/ },
  ],
  [
    'azure-content-filter',
    { usage: '900 0 - -', note: /^The provider held back this answer \(content filter\)\.$/ },
  ],
  ['function-call', { calls: [`c00000384 ${BUY}`], usage: plain }],
  // Arguments.
  ['arguments-object', { calls: [`call_1 ${BUY}`], usage: plain }],
  ['arguments-double-encoded', { calls: [`call_1 ${BUY}`], usage: plain }],
  ['arguments-fenced', { calls: [`call_1 ${SPACED_BUY}`], usage: plain }],
  ['arguments-fenced-and-encoded', { calls: [`call_1 ${SPACED_BUY}`], usage: plain }],
  [
    'arguments-missing',
    {
      calls: ['call_1 get_portfolio {}', 'call_2 get_portfolio {}', 'call_3 get_portfolio '],
      usage: plain,
    },
  ],
  ['arguments-broken', { calls: [`call_1 buy {'symbol': 'AAPL', 'amount': 5}`], usage: plain }],
  ['numbers-as-text', { calls: ['call_1 buy {"symbol":"AAPL","amount":"5"}'], usage: plain }],
  [
    'call-cut-off',
    { calls: ['call_1 buy {"symbol":"AAPL","amo'], usage: plain, note: /cut this answer off/ },
  ],
  // Calls.
  [
    'ids-missing',
    { calls: ['c00000384 get_price {"symbol":"AAPL"}', `c00000385 ${BUY}`], usage: plain },
  ],
  [
    'ids-empty',
    { calls: ['c00000384 get_price {"symbol":"AAPL"}', `c00000385 ${BUY}`], usage: plain },
  ],
  [
    'ids-duplicate',
    { calls: ['call_0 get_price {"symbol":"AAPL"}', `c00000385 ${BUY}`], usage: plain },
  ],
  ['calls-flat', { calls: [`call_1 ${BUY}`], usage: plain }],
  [
    'calls-not-objects',
    { calls: ['c00000384  {}', 'c00000385  {}', 'call_3  {}', 'call_4  {}'], usage: plain },
  ],
  [
    'calls-announced-but-absent',
    { content: 'Let me buy.', usage: plain, note: /announced tool calls and sent none/ },
  ],
  ['unknown-tool', { calls: ['call_1 short_sell {"symbol":"AAPL","amount":5}'], usage: plain }],
  // Content.
  ['content-null', { usage: '300 0 - -', note: /^The model ended the day without a word\.$/ }],
  ['content-absent', { usage: '300 0 - -', note: /without a word/ }],
  ['content-parts', { content: 'I hold.', usage: '300 5 - -' }],
  [
    'thoughts-without-opening-tag',
    { content: 'I hold.', reasoning: 'Let me think.', usage: plain },
  ],
  // Providers and servers with ways of their own.
  [
    'mistral-thinking',
    { content: 'Buying.', calls: [`D681PevKs ${BUY}`], reasoning: THOUGHT, usage: '300 50 - -' },
  ],
  [
    'deepseek-reasoner',
    {
      calls: [`call_00_kw66 ${BUY}`],
      reasoning: THOUGHT,
      usage: '300 60 256 40',
      carried: { reasoning_content: THOUGHT },
    },
  ],
  [
    'deepseek-interrupted',
    { content: 'I wou', usage: '300 3 192 -', note: /for lack of resources/ },
  ],
  [
    'openrouter',
    {
      calls: [`toolu_01Gk ${BUY}`],
      reasoning: THOUGHT,
      usage: '300 60 0 22',
      carried: { reasoning_details: fixture('openrouter').choices[0].message.reasoning_details },
    },
  ],
  [
    'gemini',
    {
      calls: ['function-call-1 get_price {"symbol":"AAPL"}', `function-call-2 ${BUY}`],
      usage: '758 967 - -', // thoughts are only in the total
      carriedCalls: [{ extra_content: { google: { thought_signature: 'CukCAdHtim8' } } }, {}],
    },
  ],
  ['xai', { content: 'I hold.', usage: '300 350 152 300' }],
  [
    'vllm',
    {
      calls: [`chatcmpl-tool-8a1f ${SPACED_BUY}`],
      reasoning: `\n${THOUGHT}\n`,
      usage: '300 50 - -',
      carried: { reasoning_content: `\n${THOUGHT}\n` },
    },
  ],
  [
    'vllm-without-reasoning-parser',
    { content: 'I hold.', reasoning: 'Should I call {"name": "buy"}? No.', usage: '300 50 - -' },
  ],
  [
    'ollama',
    {
      calls: ['call_k2v0 buy {"amount":5,"symbol":"AAPL"}'],
      reasoning: THOUGHT,
      usage: '300 60 - -',
    },
  ],
  [
    'kimi',
    {
      calls: [`buy:0 ${SPACED_BUY}`],
      reasoning: THOUGHT,
      usage: '300 60 128 -',
      carried: { reasoning_content: THOUGHT },
    },
  ],
  ['groq', { calls: [`fc_4e9b ${BUY}`], reasoning: THOUGHT, usage: '300 60 - -' }],
  [
    'litellm-claude',
    {
      content: 'Buying.',
      calls: [`toolu_02 ${BUY}`],
      reasoning: THOUGHT,
      usage: '300 60 100 20',
      carried: {
        reasoning_content: THOUGHT,
        thinking_blocks: fixture('litellm-claude').choices[0].message.thinking_blocks,
      },
    },
  ],
  // Usage.
  ['usage-absent', { content: 'I hold.' }],
  ['usage-null', { content: 'I hold.' }],
  ['usage-odd', { content: 'I hold.', usage: '- - - -' }],
  [
    'usage-impossible',
    {
      content: 'I hold.',
      usage: '- 100 - 60',
      note: /^The provider reported an impossible number of tokens \(prompt 9007199254740991, cached 1e\+300, total 9007199254740991\); it is recorded as unknown\.$/,
    },
  ],
  ['usage-input-output', { content: 'I hold.', usage: plain }],
];
for (const [name, expected] of rows) {
  test(`the dialect ${name}`, () => {
    const answer = readCompletion(fixture(name), 3);
    const counts =
      answer.usage &&
      [
        answer.usage.promptTokens,
        answer.usage.completionTokens,
        answer.usage.cachedTokens,
        answer.usage.reasoningTokens,
      ].map((count) => count ?? '-');
    assert.equal(answer.content, expected.content ?? '');
    assert.deepEqual(
      answer.toolCalls.map((call) => `${call.id} ${call.name} ${call.arguments}`),
      expected.calls ?? [],
    );
    assert.equal(answer.reasoning, expected.reasoning ?? null);
    assert.equal(counts?.join(' '), expected.usage);
    assert.match(answer.note ?? 'nothing', expected.note ?? /^nothing$/);
    const { carried, carriedCalls } = expected;
    const isCarried = carried !== undefined || carriedCalls !== undefined;
    const calls = carriedCalls ?? answer.toolCalls.map(() => ({}));
    assert.deepEqual(answer.carried, isCarried ? { message: carried ?? {}, calls } : null);
    decodeLine(JSON.stringify({ type: 'answer', ...answer })); // the parent takes it
  });
}

for (const [family, content] of Object.entries(
  fixture('written-tool-calls') as Record<string, string>,
)) {
  test(`a tool call that ${family} writes as text is not executed, and the log says so`, () => {
    const body = { choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] };
    const { toolCalls, note } = readCompletion(body, 1);
    assert.deepEqual(toolCalls, []);
    assert.match(
      note ?? '',
      /seems to contain tool calls written as text\. They were not executed/,
    );
  });
}

const ordinary = [
  'I bought 5 AAPL and sold nothing.',
  'I called buy for AAPL (5 shares); the name "buy" says it all.',
  'buy(x) was never called.',
  '{"action": "hold"}',
];
for (const content of ordinary) {
  test(`no tool call is seen in: ${content}`, () => {
    const body = { choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] };
    assert.equal(readCompletion(body, 1).note, null);
  });
}

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

const unreadable: [name: string, body: object][] = [
  ['no choices', fixture('error-no-choices')],
  ['no message', fixture('error-no-message')],
  ['choices that are null', fixture('error-minimax-base-resp')],
  ['an empty object', {}],
];
for (const [name, body] of unreadable) {
  test(`${name}: the error says what is missing`, () => {
    assert.throws(
      () => readCompletion(body as Json, 1),
      /^Error: it has no choices\[0\]\.message$/,
    );
  });
}

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
  assert.deepEqual(
    elsewhere.filter((name) => !rows.some(([row]) => `${row}.json` === name)),
    [],
  );
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
