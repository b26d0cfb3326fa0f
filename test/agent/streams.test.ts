import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { dialects } from '../../src/core/agent/provider/ask.ts';
import { FINISH_WAIT_MS, readBody } from '../../src/core/agent/provider/transport.ts';
import { classify } from '../../src/core/agent/provider/verdict.ts';
import type { ModelAnswer } from '../../src/core/agent/model.ts';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import { decodeLine } from '../../src/core/wire/protocol.ts';
import { afterCall, bytesOf, inChunks, STREAM, verdictOn } from '../support/dialects.ts';
import { isLong } from '../support/long.ts';
import { like, tableOf } from '../support/text-table.ts';

/**
 * The corpus: what makers send, in the shapes that their references and libraries give (OpenAI's
 * and Anthropic's TypeScript libraries, the documentation of DeepSeek, Gemini, OpenRouter, Mistral
 * and vLLM), with their words made short.
 */
const names = readdirSync(new URL('../fixtures/streams/', import.meta.url));
const apiOf = (name: string) => name.split('-')[0] as ApiDialect;
/** A day on which a tool was called may end without words. */
const asked = { conversation: afterCall('get_portfolio') };
const streamed = (name: string, pieces: readonly Buffer[], status?: number) =>
  verdictOn(apiOf(name), { pieces }, { ...asked, ...(status !== undefined && { status }) });

async function answerTo(name: string): Promise<ModelAnswer> {
  const bytes = bytesOf(name);
  const verdict = await (name.endsWith('.json')
    ? verdictOn(apiOf(name), { body: JSON.parse(bytes.toString()) }, asked)
    : streamed(name, [bytes]));
  assert.ok('answer' in verdict, JSON.stringify(verdict));
  decodeLine(JSON.stringify({ type: 'answer', ...verdict.answer })); // the parent takes it
  return verdict.answer;
}

const BUY = 'buy {"symbol":"AAPL","amount":5}';
const PRICE = 'get_price {"symbol":"AAPL"}';
const CLAUDE_CALLS = `toolu_01 ${PRICE} & toolu_02 get_portfolio {}`;
const THOUGHT = 'AAPL looks cheap.';
const [GPT, CLAUDE] = ['gpt-5.6-2026-07-07', 'claude-opus-5-5-20260801'];

/**
 * What is read of each file: content; calls as `id name arguments`, with ` & ` between them;
 * reasoning; tokens (prompt, completion, read from the cache, written to it, reasoning; `-` where
 * nothing is known); the model that answered; and the note.
 */
const table = tableOf<[string, string, string, string, string, string, string]>(`
  chat-openai.sse              |         | call_a ${PRICE} & call_b ${BUY} |       | 1486 651 1408 - 512   | ${GPT}      |
  chat-deepseek.sse            | Buying. | call_00 ${BUY}  | AAPL looks cheap → buy. | 300 60 256 - 40     | deepseek-v4 |
  chat-gemini.sse              |         | function-call-1 ${PRICE} & function-call-2 ${BUY} | | 758 967 - - -     | gemini-3.1-pro |
  chat-openrouter.sse          |         | toolu_01 ${BUY} | ${THOUGHT}            | 300 60 0 280 22       | anthropic/claude-opus-5-5 |
  chat-mistral.sse             | I hold. |                 | ${THOUGHT}            | 300 50 - - -          | magistral-medium-2606 |
  chat-without-done.sse        | I hold. |                 | Hm.                   | 300 20 - - -          | qwen3-32b   |
  responses-openai.sse         | Buying. | call_1 ${BUY}   | **AAPL** looks cheap. | 1486 651 1024 400 512 | ${GPT}      |
  responses-openai.json        | Buying. | call_1 ${BUY}   | **AAPL** looks cheap. | 1486 651 1024 400 512 | ${GPT}      |
  responses-without-output.sse | Buying. | call_1 ${BUY}   | **AAPL** looks cheap. | 1486 651 1024 400 512 | ${GPT}      |
  responses-incomplete.sse     |         |                 | **AAPL** looks cheap. | 1486 651 1024 400 512 | ${GPT}      | The provider cut this answer off at its token limit.
  responses-refusal.json       | I'm sorry, I can't help with that. | |            | 1486 651 1024 400 512 | ${GPT}      | The model refused to answer.
  responses-local.json         |         | fc_l ${BUY}     | ${THOUGHT}            | 300 50 - - -          | qwen3-32b   |
  messages-claude.sse          | Buying. | ${CLAUDE_CALLS} | ${THOUGHT}            | 1486 512 1100 300 300 | ${CLAUDE}   |
  messages-claude.json         | Buying. | ${CLAUDE_CALLS} | ${THOUGHT}            | 1486 512 1100 300 300 | ${CLAUDE}   |
  messages-hidden-thinking.json | I hold. |                |                       | 1486 512 1100 300 300 | ${CLAUDE}   |
  messages-paused.json         | Let me look |             |                       | 1486 512 1100 300 300 | ${CLAUDE}   |
  messages-refusal.json        |         |                 |                       | 1486 512 1100 300 300 | ${CLAUDE}   | The model refused to answer. The provider says: bio: This touches on biology.
  messages-cut-off.sse         |         | toolu_03 buy {"symbol": "AA |           | 1486 32000 1100 300 - | ${CLAUDE}   | …cut this answer off at its token limit…
`);
const readable = table.map(([name]) => name);
for (const [name, content, calls, reasoning, tokens, model, note] of table) {
  test(`${name} is read`, async () => {
    const answer = await answerTo(name);
    const usage = answer.usage ?? assert.fail('no usage');
    const { promptTokens, completionTokens, cachedTokens } = usage;
    const { cacheWriteTokens, reasoningTokens } = usage;
    const counts = [
      promptTokens,
      completionTokens,
      cachedTokens,
      cacheWriteTokens,
      reasoningTokens,
    ];
    const shown = [
      answer.content,
      answer.toolCalls.map((call) => `${call.id} ${call.name} ${call.arguments}`).join(' & '),
      answer.reasoning ?? '',
      counts.map((count) => count ?? '-').join(' '),
      answer.served?.model,
    ];
    assert.deepEqual(shown, [content, calls, reasoning, tokens, model]);
    assert.match(answer.note ?? '', like(note));
    assert.equal(answer.carried?.isPaused ?? false, name === 'messages-paused.json');
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
    const verdict = classify(read, {
      step: 1,
      read: dialects.chat.read,
      mayBeEmpty: true,
    });
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
  const verdict = classify(read, { step: 1, read: dialects.chat.read, mayBeEmpty: true });
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
  [
    'responses-failed.sse',
    /^returned 500: The model failed to generate a response\.$/,
    false,
    null,
  ],
  ['responses-error.sse', /^returned 429: Slow down\.$/, true, null],
  ['messages-overloaded.sse', /^returned 529: Overloaded$/, true, 1486],
];
for (const [name, reason, passes, promptTokens] of failing) {
  test(`${name} is a failure in the provider's words, with the tokens that it told`, async () => {
    const verdict = await streamed(name, [bytesOf(name)]);
    assert.ok(!('answer' in verdict));
    assert.match(verdict.reason, reason);
    assert.equal(verdict.isTransient, passes);
    assert.equal(verdict.usage?.promptTokens ?? null, promptTokens);
  });
}

test('every file of the corpus has its row', () => {
  assert.deepEqual(
    names.filter((name) => !readable.includes(name) && !failing.some(([row]) => row === name)),
    [],
  );
});

test('a stream is read with any status of success', async () => {
  const name = 'chat-openai.sse';
  const verdict = await streamed(name, [bytesOf(name)], 201);
  assert.deepEqual(verdict, { answer: await answerTo(name) });
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

for (const name of names.filter((one) => one.endsWith('.sse') && readable.includes(one))) {
  test(`${name}: line ends, comments and unknown events change nothing`, async () => {
    const plain = await answerTo(name);
    for (const lineEnd of ['\n', '\r', '\r\n'])
      assert.deepEqual(await streamed(name, [disturbed(name, lineEnd)]), { answer: plain });
  });

  test(`${name}: cut at every byte it is the same answer or one failure that may pass`, async () => {
    const bytes = bytesOf(name);
    const plain = await answerTo(name);
    for (let at = 0; at < bytes.length; at += isLong ? 1 : 31) {
      assert.deepEqual(await streamed(name, [bytes.subarray(0, at), bytes.subarray(at)]), {
        answer: plain,
      });
      const verdict = await streamed(name, [bytes.subarray(0, at)]);
      if ('answer' in verdict)
        assert.deepEqual({ ...verdict.answer, usage: plain.usage }, plain, `cut at ${at}`);
      else
        assert.deepEqual(
          [verdict.reason, verdict.isTransient],
          ['broke off its stream before its end', true],
          `cut at ${at}`,
        );
    }
  });
}
