import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dialects } from '../../src/agent/provider/ask.ts';
import { FINISH_WAIT_MS, readBody } from '../../src/agent/provider/transport.ts';
import { classify } from '../../src/agent/provider/verdict.ts';
import type { ModelAnswer } from '../../src/agent/model.ts';
import type { ApiDialect } from '../../src/basics/domain.ts';
import { decodeLine } from '../../src/wire/protocol.ts';
import { isLong } from '../support/long.ts';

/**
 * The corpus: what makers send, in the shapes that their references and libraries give (OpenAI's
 * and Anthropic's TypeScript libraries, the documentation of DeepSeek, Gemini, OpenRouter, Mistral
 * and vLLM), with their words made short.
 */
const CORPUS = new URL('../fixtures/streams/', import.meta.url);
const STREAM = { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } };
const names = readdirSync(CORPUS);

function bytesOf(name: string): Buffer {
  return readFileSync(new URL(name, CORPUS));
}

function dialectOf(name: string) {
  return dialects[name.split('-')[0] as ApiDialect];
}

async function* inChunks(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

/**
 * What becomes of a stream that arrives in these chunks and then ends; `breaks` instead of ending
 * it.
 */
async function verdictOn(name: string, chunks: readonly Buffer[]) {
  const dialect = dialectOf(name);
  const body = inChunks(chunks);
  const read = await readBody({ ...STREAM, body, close() {} }, dialect.assemble());
  return classify(read, { step: 3, dialect });
}

async function answerTo(name: string): Promise<ModelAnswer> {
  const dialect = dialectOf(name);
  const verdict = name.endsWith('.json')
    ? classify(
        { status: 200, headers: {}, text: '', body: JSON.parse(bytesOf(name).toString()) },
        { step: 3, dialect },
      )
    : await verdictOn(name, [bytesOf(name)]);
  assert.ok('answer' in verdict, JSON.stringify(verdict));
  decodeLine(JSON.stringify({ type: 'answer', ...verdict.answer })); // the parent takes it
  return verdict.answer;
}

interface Expected {
  content?: string;
  /** Each call as `id name arguments`. */
  calls?: string[];
  reasoning?: string;
  /**
   * Tokens: prompt, completion, read from the cache, written to it, reasoning; `-` where nothing is
   * known.
   */
  usage: string;
  note?: RegExp;
  model: string;
  isPaused?: true;
}

const BUY = 'buy {"symbol":"AAPL","amount":5}';
const THOUGHT = 'AAPL looks cheap.';
const GPT = {
  content: 'Buying.',
  calls: [`call_1 ${BUY}`],
  reasoning: '**AAPL** looks cheap.',
  usage: '1486 651 1024 400 512',
  model: 'gpt-5.6-2026-07-07',
};
const CLAUDE = {
  model: 'claude-opus-5-5-20260801',
  reasoning: THOUGHT,
  usage: '1486 512 1100 300 300',
};
const CLAUDE_CALLS = ['toolu_01 get_price {"symbol":"AAPL"}', 'toolu_02 get_portfolio {}'];

const rows: Record<string, Expected> = {
  'chat-openai.sse': {
    calls: ['call_a get_price {"symbol":"AAPL"}', `call_b ${BUY}`],
    usage: '1486 651 1408 - 512',
    model: 'gpt-5.6-2026-07-07',
  },
  'chat-deepseek.sse': {
    content: 'Buying.',
    calls: [`call_00 ${BUY}`],
    reasoning: 'AAPL looks cheap → buy.',
    usage: '300 60 256 - 40',
    model: 'deepseek-v4',
  },
  'chat-gemini.sse': {
    calls: ['function-call-1 get_price {"symbol":"AAPL"}', `function-call-2 ${BUY}`],
    usage: '758 967 - - -',
    model: 'gemini-3.1-pro',
  },
  'chat-openrouter.sse': {
    calls: [`toolu_01 ${BUY}`],
    reasoning: THOUGHT,
    usage: '300 60 0 280 22',
    model: 'anthropic/claude-opus-5-5',
  },
  'chat-mistral.sse': {
    content: 'I hold.',
    reasoning: THOUGHT,
    usage: '300 50 - - -',
    model: 'magistral-medium-2606',
  },
  'chat-without-done.sse': {
    content: 'I hold.',
    reasoning: 'Hm.',
    usage: '300 20 - - -',
    model: 'qwen3-32b',
  },
  'responses-openai.sse': GPT,
  'responses-openai.json': GPT,
  'responses-without-output.sse': GPT,
  'responses-incomplete.sse': {
    ...GPT,
    content: '',
    calls: [],
    note: /^The provider cut this answer off at its token limit\.$/,
  },
  'responses-refusal.json': {
    ...GPT,
    content: "I'm sorry, I can't help with that.",
    calls: [],
    reasoning: '',
    note: /^The model refused to answer\.$/,
  },
  'responses-local.json': {
    calls: [`c00000384 ${BUY}`.replace('c00000384', 'fc_l')],
    reasoning: THOUGHT,
    usage: '300 50 - - -',
    model: 'qwen3-32b',
  },
  'messages-claude.sse': {
    ...CLAUDE,
    content: 'Buying.',
    calls: ['toolu_01 get_price {"symbol":"AAPL"}', 'toolu_02 get_portfolio {}'],
  },
  'messages-claude.json': { ...CLAUDE, content: 'Buying.', calls: CLAUDE_CALLS },
  'messages-hidden-thinking.json': { ...CLAUDE, content: 'I hold.', reasoning: '' },
  'messages-paused.json': { ...CLAUDE, content: 'Let me look', reasoning: '', isPaused: true },
  'messages-refusal.json': {
    ...CLAUDE,
    reasoning: '',
    note: /^The model refused to answer\. The provider says: bio: This touches on biology\.$/,
  },
  'messages-cut-off.sse': {
    ...CLAUDE,
    reasoning: '',
    calls: ['toolu_03 buy {"symbol": "AA'],
    usage: '1486 32000 1100 300 -',
    note: /cut this answer off at its token limit/,
  },
};
for (const [name, expected] of Object.entries(rows)) {
  test(`${name} is read`, async () => {
    const { content, toolCalls, reasoning, usage, note, served, carried } = await answerTo(name);
    assert.equal(content, expected.content ?? '');
    assert.deepEqual(
      toolCalls.map((call) => `${call.id} ${call.name} ${call.arguments}`),
      expected.calls ?? [],
    );
    assert.equal(reasoning ?? '', expected.reasoning ?? '');
    const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } =
      usage ?? assert.fail('no usage');
    const counts = [
      promptTokens,
      completionTokens,
      cachedTokens,
      cacheWriteTokens,
      reasoningTokens,
    ];
    assert.equal(counts.map((count) => count ?? '-').join(' '), expected.usage);
    assert.match(note ?? '', expected.note ?? /^$/);
    assert.equal(served?.model, expected.model);
    assert.equal(carried?.isPaused ?? false, expected.isPaused ?? false);
  });
}

const pairs = names.filter(
  (name) => name.endsWith('.sse') && names.includes(name.replace('.sse', '.json')),
);
for (const name of pairs) {
  test(`${name} is the same answer as the whole response`, async () => {
    assert.deepEqual(await answerTo(name), await answerTo(name.replace('.sse', '.json')));
  });
}

const inChunk = (content: string, finish_reason: string | null) => ({
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason }],
});
const USAGE = { prompt_tokens: 5, completion_tokens: 3 };
const usageAlone = { choices: [], usage: USAGE };
/** A stream that stays open: its events, and which of them ends the wait for its end. */
const open: [what: string, events: object[]][] = [
  ['and usage behind it', [inChunk('Done.', null), inChunk('', 'stop'), usageAlone]],
  ['and usage beside it', [inChunk('Done.', null), { ...inChunk('', 'stop'), usage: USAGE }]],
  [
    'on each piece, and usage',
    [...['Do', 'ne.'].map((one) => ({ ...inChunk(one, 'stop'), usage: USAGE })), usageAlone],
  ],
];
for (const [what, events] of open) {
  test(`chat: without [DONE], a finish reason ${what} is the end of an answer`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] }); // at once: no time passes
    const read = await readBody(staysOpen(events), dialects.chat.assemble());
    const verdict = classify(read, { step: 1, dialect: dialects.chat });
    assert.ok('answer' in verdict);
    assert.deepEqual(
      [verdict.answer.content, verdict.answer.usage?.completionTokens],
      ['Done.', USAGE.completion_tokens],
    );
  });
}

test('chat: without usage, the answer counts some time after the finish reason, whatever the server sends meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closedBefore: boolean[] = [];
  const stream = staysOpen([
    { ...inChunk('Do', 'stop'), usage: USAGE },
    () => t.mock.timers.tick(FINISH_WAIT_MS - 1),
    inChunk('ne.', 'stop'), // a later one counts anew: some gateways send one with every piece
    () => t.mock.timers.tick(FINISH_WAIT_MS - 1),
    { choices: [] },
    () => closedBefore.push(stream.isClosed()),
    () => t.mock.timers.tick(1),
  ]);
  const read = await readBody(stream, dialects.chat.assemble());
  assert.deepEqual([closedBefore, stream.isClosed()], [[false], true]);
  const verdict = classify(read, { step: 1, dialect: dialects.chat });
  assert.ok('answer' in verdict);
  assert.equal(verdict.answer.content, 'Done.');
});

/** A response of these events, with what is done between them; it does not end until it is closed. */
function staysOpen(events: readonly (object | (() => void))[]) {
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  let isClosed = false;
  async function* body(): AsyncGenerator<Buffer> {
    for (const one of events)
      if (typeof one === 'function') one();
      else yield Buffer.from(`data: ${JSON.stringify(one)}\n\n: ping\n\n`);
    await closed.promise;
  }
  const close = () => {
    isClosed = true;
    closed.reject(new Error('closed'));
  };
  return { ...STREAM, body: body(), close, isClosed: () => isClosed };
}

test('what fails at an event is about the response, not about its connection', async () => {
  const assembler = dialects.chat.assemble();
  assembler.take = () => assert.fail('a mistake of ours');
  const body = inChunks([Buffer.from('data: {}\n\n')]);
  const read = await readBody({ ...STREAM, body, close() {} }, assembler);
  assert.deepEqual(
    [read.failure, 'message' in read && read.message],
    ['unreadable', 'a mistake of ours'],
  );
});

const failing: [name: string, reason: RegExp, passes: boolean, usage: number | null][] = [
  ['responses-failed.sse', /^returned 500: The model failed to generate a response\.$/, true, null],
  ['responses-error.sse', /^returned 429: Slow down\.$/, true, null],
  ['messages-overloaded.sse', /^returned 529: Overloaded$/, true, 1486],
];
for (const [name, reason, passes, promptTokens] of failing) {
  test(`${name} is a failure in the provider's words, with the tokens that it told`, async () => {
    const verdict = await verdictOn(name, [bytesOf(name)]);
    assert.ok(!('answer' in verdict));
    assert.match(verdict.reason, reason);
    assert.equal(verdict.passes, passes);
    assert.equal(verdict.usage?.promptTokens ?? null, promptTokens);
  });
}

test('every file of the corpus has its row', () => {
  assert.deepEqual(
    names.filter((name) => !(name in rows) && !failing.some(([row]) => row === name)),
    [],
  );
});

/**
 * The stream with other line ends, a byte order mark, comments, unknown events and empty lines
 * between its events.
 */
function disturbed(name: string, lineEnd: string): Buffer {
  const noise = `: ping\n\nevent: unheard.of\ndata: {"type":"unheard.of","choices":[]}\n\n\n`;
  const events = bytesOf(name).toString().split('\n\n');
  return Buffer.from(`\ufeff${events.join(`\n\n${noise}`)}`.replaceAll('\n', lineEnd));
}

for (const name of names.filter((one) => one.endsWith('.sse') && one in rows)) {
  test(`${name}: line ends, comments and unknown events change nothing`, async () => {
    const plain = await answerTo(name);
    for (const lineEnd of ['\n', '\r', '\r\n']) {
      const bytes = disturbed(name, lineEnd);
      const verdict = await verdictOn(
        name,
        [...bytes].map((byte) => Buffer.from([byte])),
      );
      assert.deepEqual(verdict, { answer: plain });
    }
  });

  test(`${name}: cut at every byte it is the same answer or one failure that may pass`, async () => {
    const bytes = bytesOf(name);
    const plain = await answerTo(name);
    for (let at = 0; at < bytes.length; at += isLong ? 1 : 7) {
      assert.deepEqual(await verdictOn(name, [bytes.subarray(0, at), bytes.subarray(at)]), {
        answer: plain,
      });
      const verdict = await verdictOn(name, [bytes.subarray(0, at)]);
      if ('answer' in verdict)
        assert.deepEqual({ ...verdict.answer, usage: plain.usage }, plain, `cut at ${at}`);
      else
        assert.deepEqual(
          [verdict.reason, verdict.passes],
          ['broke off its stream before its end', true],
          `cut at ${at}`,
        );
    }
  });
}
