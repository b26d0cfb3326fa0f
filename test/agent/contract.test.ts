import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { ChatMessage } from '../../src/core/agent/model.ts';
import { type ApiDialect, apiDialects, type EntryApi } from '../../src/core/domain/vocabulary.ts';
import type { ProviderEndpoint } from '../../src/core/wire/protocol.ts';
import { type Asked, askOnce, endpointOf, KEY, NO_TEXT, opening } from '../support/ask-provider.ts';
import {
  afterCall,
  type Answer,
  bodies,
  bytesOf,
  ENDS,
  event,
  half,
  saying,
  STATUSES,
  STREAMS,
  streamOf,
  verdictOn,
} from '../support/dialects.ts';
import {
  type Behaviour,
  type ModelRequest,
  type Reply,
  startModelServer,
  type StreamedReply,
} from '../support/model-server.ts';
import { inLongForm } from '../support/long.ts';
import { like, tableOf } from '../support/text-table.ts';

/**
 * What every dialect has to do: when a model has answered, what is an error, what is tried again,
 * what is counted, and what is shown nowhere. Shapes of public reports about providers, whole and
 * as a stream; the rows that a connection has no part in need no server.
 */

const MIB = 1024 * 1024;

async function ask(
  t: TestContext,
  api: EntryApi,
  behaviour: Behaviour,
  changes: Partial<ProviderEndpoint> = {},
  conversation = opening,
): Promise<Asked & { requests: ModelRequest[] }> {
  const { baseUrl, requests } = await startModelServer(t, behaviour);
  const patience = { maxRetries: 1, baseDelayMs: 1 };
  const endpoint = endpointOf(baseUrl, { api, stream: 'added', ...patience, ...changes });
  return { ...(await askOnce(endpoint, conversation)), requests };
}

const BUY = '{"symbol":"AAPL","amount":2}';
const forms: Record<string, Omit<Answer, 'reason'>> = {
  text: { text: 'I hold.' },
  call: { call: BUY },
  nothing: {},
  thoughts: { thought: 'Hm.' },
};

/**
 * The providers' words for an end; what becomes of an answer with text, with a call, and with
 * neither. `failed` is a failed try, asked again.
 */
const ends = tableOf<[words: string, text: string, call: string, nothing: string]>(`
  stop end_turn tool_calls tool_use stop_sequence function_call eos eos_token end completed STOP | whole | whole | failed
  pause_turn null                                                              | whole    | whole   | any
  length max_tokens MAX_TOKENS max_output_tokens model_length incomplete       | cut_off  | cut_off | failed
  model_context_window_exceeded                                                | cut_off  | cut_off | failed
  content_filter refusal safety SAFETY RECITATION PROHIBITED_CONTENT           | refused  | refused | refused
  MALFORMED_FUNCTION_CALL abort network_error sensitive error timeout unknown  | failed   | failed  | failed
  compaction repetition_truncation UNEXPECTED_TOOL_CALL cancelled              | failed   | failed  | failed
  queued in_progress insufficient_system_resource                              | failed   | failed  | failed
`);

/** What there is in Responses only as a status, or not at all. */
const isSaid = (api: ApiDialect, word: string, fate: string) =>
  api !== 'responses' || STATUSES.includes(word) || !['whole', 'any'].includes(fate);

/** What becomes of a reply: the fault of an answer, or none; what failed was paid, and is counted. */
async function fateOf(
  api: ApiDialect,
  reply: Parameters<typeof verdictOn>[1],
  conversation = opening,
): Promise<string> {
  const verdict = await verdictOn(api, reply, { conversation });
  if ('answer' in verdict) return verdict.answer.fault ?? 'whole';
  assert.match(verdict.reason, /^(ended|sent) /);
  assert.deepEqual([verdict.isTransient, verdict.usage?.promptTokens], [true, 100]);
  return 'failed';
}

for (const api of apiDialects)
  test(`${api}: how answers end`, async () => {
    for (const [words, text, call, nothing] of ends)
      for (const word of words.split(' ').filter((one) => isSaid(api, one, text)))
        for (const [form, fate] of Object.entries({ text, call, nothing, thoughts: nothing })) {
          const reason = word === 'null' ? null : word;
          if (fate === 'any') continue;
          const body = bodies[api]({ ...forms[form], reason });
          assert.equal(await fateOf(api, { body }), fate, `${word}, ${form}, whole`);
          if (reason === null && api === 'messages') continue; // its stream has no end then
          assert.equal(await fateOf(api, streamOf(api, body)), fate, `${word}, ${form}, streamed`);
        }
  });

for (const api of apiDialects)
  test(`${api}: after a tool call, an empty answer ends the day; before one it is asked for again`, async (t) => {
    const body = bodies[api]({ reason: ENDS[api] });
    const asked = await ask(t, api, [{ body }], {}, afterCall('get_portfolio'));
    assert.deepEqual([asked.error, asked.requests.length], [null, 1]);
    const failed = await ask(t, api, [streamOf(api, body)]);
    assert.match(failed.error ?? '', /^The model provider sent .* \(after 2 tries\)$/);
    const used = failed.failures.map(({ usage }) => usage?.promptTokens);
    assert.deepEqual([failed.requests.length, used], [2, [100, 100]]);
  });

/** Streams without an answer, and words for them: chat sends all of them. */
const silent = tableOf<[events: string, reason: string]>(`
  data: [DONE]                                                          | sent an answer without a message
  : OPENROUTER PROCESSING⏎⏎: OPENROUTER PROCESSING⏎⏎data: [DONE]        | sent an answer without a message
  : OPENROUTER PROCESSING⏎⏎: OPENROUTER PROCESSING                      | broke off its stream before its end
                                                                        | broke off its stream before its end
  data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}⏎⏎data: [DONE] | sent an answer without words or calls: …
  data: {"choices":[{"index":0,"finish_reason":"stop"}]}⏎⏎data: [DONE]  | sent an answer without a message
`);
test('a stream without an answer is asked for again', async () => {
  for (const [text, reason] of silent) {
    const verdict = await verdictOn('chat', { pieces: [`${text.replaceAll('⏎', '\n')}\n\n`] });
    assert.ok('isTransient' in verdict && verdict.isTransient, text);
    assert.ok(verdict.reason.startsWith(reason.replace('…', '')), verdict.reason);
  }
});

/** Orders written as text, by the chat template that leaves them there, and text that is none. */
const written = tableOf<[text: string, fault: string]>(`
  <tool_call>{"name":"buy","arguments":{"symbol":"AAPL","amount":2}}</tool_call>       | written_call
  <tool_call>buy <arg_key>symbol</arg_key> <arg_value>AAPL</arg_value></tool_call>     | written_call
  <minimax:tool_call> <invoke name="buy"> <parameter name="symbol">AAPL</parameter>    | written_call
  <¦channel¦>commentary to=functions.buy <¦message¦>{"symbol":"AAPL","amount":2}       | written_call
  {"type": "function", "name": "buy", "parameters": {"symbol": "AAPL"}}                | written_call
  print(buy(symbol="AAPL", amount=2))                                                  | written_call
  <¦tool_calls_section_begin¦><¦tool_call_begin¦>functions.buy:0                       | written_call
  [buy(symbol="AAPL", amount=2)]                                                       | written_call
  rebalance(weights={"AAPL": 0.5})                                                     | written_call
  <buy><symbol>AAPL</symbol><amount>2</amount></buy>                                   | written_call
  <¦tool_call¦>[{"name": "buy", "arguments": {"symbol": "AAPL"}}]                      | written_call
  <tool_calls>[{"name": "buy", "arguments": {"symbol": "AAPL"}}]</tool_calls>          | written_call
  <function_calls> buy(symbol="AAPL", amount=2) </function_calls>                      | written_call
  <function=buy> <parameter=symbol> AAPL </parameter> </function>                      | written_call
  <¦tool▁calls▁begin¦>                                                                 | written_call
  [TOOL_CALLS] [{"name": "buy"}]                                                       | written_call
  {"action":"BUY","symbol":"AAPL"}                                                     | written_call
  {'name': 'buy', 'arguments': {'symbol': 'AAPL'}}                                     | written_call
  buy({"symbol":"AAPL","amount":2})                                                    | written_call
  I call functions.buy({"symbol":"AAPL"})                                              | written_call
  <start_function_call>call:buy{symbol:AAPL}                                           | written_call
  <function name="buy">                                                                | written_call
  <xai:function_call name="buy">                                                       | written_call
  <longcat_tool_call>buy                                                               | written_call
  <tool_code>print(default_api.buy())</tool_code>                                      | written_call
  {"tool_calls": []}                                                                   | whole
  The function buy('AAPL') is available, but I hold.                                   | whole
  I buy nothing: a buy (or a sell) would cost more than it brings.                     | whole
  The tools buy and sell were not needed; rebalance neither.                           | whole
`).map(([text, fault]) => [text.replaceAll('¦', '|'), fault] as const);
for (const api of apiDialects)
  test(`${api}: orders written as text are not words`, async (t) => {
    const reason = ENDS[api];
    const [[order = ''] = []] = written;
    const rows: [answer: Omit<Answer, 'reason'>, fault: string, called?: string][] = [
      ...written.map(([text, fault]): [Answer, string] => [{ text, reason }, fault]),
      [{ thought: `I should buy. ${order}` }, 'written_call'],
      [{ thought: 'Should I call {"name": "buy"}? No.', text: 'I hold.' }, 'whole'],
      [{ thought: 'I must use the <tool_call> format. No.', text: 'I hold.' }, 'whole'],
      [{ text: order, call: BUY }, 'whole'], // a real one is made
      [{ text: order }, 'whole', 'buy'], // a summary
      [{ text: order }, 'written_call', 'get_price'],
    ];
    for (const [answer, fault, called] of rows) {
      const body = bodies[api]({ ...answer, reason });
      const conversation = called === undefined ? opening : afterCall(called);
      assert.equal(await fateOf(api, { body }, conversation), fault, JSON.stringify(answer));
    }
    const { answer } = await ask(t, api, [{ body: saying(api, order) }]);
    assert.equal(answer?.fault, 'written_call');
  });

/** JSON and streams under each other's type of content, or under another one. */
const typed = tableOf<[api: 'whole' | 'streamed', type: string, body: string, fate: string]>(`
  streamed | application/json         | stream  | I hold.
  streamed | text/event-stream        | json    | I hold.
  streamed | text/event-stream        | mark, json   | I hold.
  streamed | text/event-stream        | mark, stream | I hold.
  streamed | text/event-stream        | json, done   | I hold.
  streamed | text/event-stream        | blanks, json | I hold.
  streamed | text/plain               | stream  | sent a stream that comes with text/plain: data: {
  whole    | text/event-stream        | stream  | sent a stream that was not asked for: data: {
  whole    | application/json         | stream  | sent a stream that was not asked for: data: {
  whole    | application/json         | mark, json | I hold.
  streamed | text/event-stream        | page    | returned 200: text/event-stream instead of JSON: Blocked
  streamed | application/json         | page    | returned 200: application/json instead of JSON: Blocked
  streamed | text/event-stream        | {"choices":[NaN]} | sent NaN, which JSON does not have: {"choices":[NaN]}
  streamed | 401 application/json     | Unauthorized | returned 401 (key from KEY, host …): application/json instead of JSON: Unauthorized
  streamed | 401 text/event-stream    | data: {"detail":"no such key"} | returned 401 (key from KEY, host …): no such key
  streamed | 404 application/json     | "Not here" | returned 404: Not here
  streamed | 204 application/json     |         | returned 204, which has no answer
  streamed | 200 application/json     | "overloaded" | sent an unreadable response: it has no choices[0].message: "overloaded"
  streamed | 200 application/json     | NaN     | sent NaN, which JSON does not have: NaN
  whole    | 200 application/json     | mark, {"choices":NaN} | sent NaN, which JSON does not have: {"choices":NaN}
  streamed | 401 text/event-stream    | {"error":{"message":"no such key"}} | returned 401 (key from KEY, host …): no such key
  streamed | 400 text/event-stream    | {"error":{"message":"too long","code":400}} | returned 400: too long
`);
test('what a body is does not depend on its type of content, and nothing is paid twice', async (t) => {
  const body = saying('chat', 'I hold.');
  const parts: Record<string, string> = {
    ...{ json: JSON.stringify(body), stream: streamOf('chat', body).pieces.join('') },
    ...{ mark: '\ufeff', done: '\n\ndata: [DONE]\n\n', blanks: ' \n\n \n' },
    page: '<!doctype html><p>Blocked',
  };
  for (const [way, type, what, fate] of typed) {
    const text =
      parts[what] ??
      what
        .split(', ')
        .map((part) => parts[part] ?? part)
        .join('');
    const [, status = 200, name = ''] = /^(?:(\d+) )?(.*)$/.exec(type) ?? [];
    const headers = { 'content-type': name };
    const reply = { status: Number(status), headers, body: Buffer.from(text) };
    const stream = way === 'streamed' ? 'set' : 'off';
    const { answer, error, requests } = await ask(t, 'chat', [reply], { stream });
    const said = answer?.content ?? error?.replace('The model provider ', '') ?? '';
    assert.match(said, like(`${fate}…`), `${way}, ${type}, ${what}`);
    assert.equal(requests.length, 1);
  }
});

test('stream_options that are refused under the type of a stream are left out', async (t) => {
  const error = { message: "Unknown parameter: 'stream_options'." };
  const server = await startModelServer(t, ({ body }) =>
    body.stream_options === undefined
      ? streamOf('chat', saying('chat', 'I hold.'))
      : { status: 400, headers: { 'content-type': 'text/event-stream' }, body: { error } },
  );
  const { answer } = await askOnce(endpointOf(server.baseUrl, { stream: 'added' }));
  assert.equal(answer?.content, 'I hold.');
});

const HALF = 'half \ud83d of a sign, a whole 📈, and \ude00 alone; \ud83d\\ude00 \\ud83d\ude00';
const MENDED = 'half \ufffd of a sign, a whole 📈, and \ufffd alone; \ufffd\\ude00 \\ud83d\ufffd';
for (const api of apiDialects)
  test(`${api}: half a character never goes back`, async (t) => {
    const call = String.raw`{"symbol":"AAPL","why":"\ud83d","and":"\ud83d\uDE00 \\ud83d"}`;
    const mended = String.raw`{"symbol":"AAPL","why":"\ufffd","and":"\ud83d\uDE00 \\ud83d"}`;
    const first: ChatMessage[] = [
      { role: 'system', content: HALF },
      { role: 'user', content: HALF },
    ];
    const replies = [bodies[api]({ text: HALF, call, reason: ENDS[api] }), saying(api, 'Done.')];
    const server = await startModelServer(
      t,
      replies.map((body) => ({ body })),
    );
    const endpoint = endpointOf(server.baseUrl, { api });
    const { answer } = await askOnce(endpoint, first);
    assert.ok(answer !== null);
    assert.equal(answer.toolCalls[0]?.arguments, mended);
    await askOnce(endpoint, [
      ...first,
      { role: 'assistant', ...answer },
      { role: 'tool', id: 'c1', content: HALF },
    ]);
    const sent = JSON.stringify(server.requests[1]?.body);
    assert.equal(sent.split(JSON.stringify(MENDED).slice(1, -1)).length - 1, 4);
    assert.equal(sent, sent.toWellFormed());
    assert.doesNotMatch(sent, /(?<!\\)\\ud83d(?!\\ud)/);
  });

test('the cost that a provider reports is the cost', async () => {
  for (const [cost, costUsd] of [
    [0.00123, 0.00123],
    [0, 0],
    [-1, undefined],
    ['1', undefined],
  ]) {
    const verdict = await verdictOn('chat', {
      body: { ...saying('chat', 'I hold.'), usage: { cost } },
    });
    assert.ok('answer' in verdict);
    assert.equal(verdict.answer.usage?.costUsd, costUsd);
  }
});

/** Errors within a stream, and what becomes of them. */
const errors = tableOf<[error: string, end: string, reason: string]>(`
  {"error":{"type":"overloaded_error","message":"Not now"}}          | retried | 529: Not now
  {"error":{"type":"invalid_request_error","message":"Not now"}}     | final   | 400: Not now
  {"error":{"type":"server_error","code":"internal"}}                | retried | 500: server_error
  {"type":"error","error":{"type":"overloaded_error"}}               | retried | 529: overloaded_error
  {"type":"error","code":"server_error","message":null}              | retried | 500: server_error
  {"object":"error","message":"Too long","code":400}                 | final   | 400: Too long
  {"error":"Not now"}                                                | final   | 200: Not now
  {"error":{}}                                                       | final   | 200: {}
  {"error":false}                                                    | final   | 200: false
`);
/** The tokens that the first events of a stream tell, if they tell any. */
const told: Record<ApiDialect, number | null> = { chat: null, responses: null, messages: 1486 };
const ending: Record<ApiDialect, string[]> = {
  chat: [event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), 'data: [DONE]\n\n'],
  responses: [],
  messages: [
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
    event({ type: 'message_stop' }),
  ],
};

for (const api of apiDialects)
  test(`${api}: errors within a stream, with the tokens that it told`, async () => {
    const rows = [
      ...errors.map(([error, end, reason]) => [
        event(JSON.parse(error)),
        end,
        `returned ${reason}`,
      ]),
      [`event: error\n${event({ detail: 'Not now' })}`, 'final', 'returned 200: Not now'],
    ];
    for (const [error = '', end, reason] of rows) {
      const verdict = await verdictOn(api, { pieces: [half(api), error, ...ending[api]] });
      assert.ok('isTransient' in verdict, error);
      const found = [verdict.reason, verdict.isTransient, verdict.usage?.promptTokens ?? null];
      assert.deepEqual(found, [reason, end === 'retried', told[api]], error);
    }
    const odd = event({ type: NO_TEXT, choices: [{ delta: { content: NO_TEXT } }] });
    const verdict = await verdictOn(api, { pieces: [half(api), odd] });
    assert.ok('isTransient' in verdict && !verdict.isTransient, 'another shape is paid once');
    assert.match(verdict.reason, /^sent an unreadable stream: .* is not text: \{/);
  });

const withoutCarried = ({ answer }: Asked) => ({ ...answer, carried: null });
const whole = (api: ApiDialect): StreamedReply => ({ pieces: [bytesOf(STREAMS[api])] });

const broken: [api: ApiDialect, then: 'end' | 'cut' | 'silence', reason: RegExp][] = [
  ['chat', 'end', /^broke off its stream before its end$/],
  ['messages', 'silence', /^could not be reached: nothing arrived for 0\.3 seconds$/],
  ...apiDialects.map((api): (typeof broken)[number] => [
    api,
    'cut',
    /^could not be reached: the connection was cut/,
  ]),
];
for (const [api, then, reason] of broken)
  test(`${api}: a stream with the end ${then} is one failed try, whose tokens count where it told them`, async (t) => {
    const plain = await ask(t, api, [whole(api)]);
    const timing = then === 'silence' ? { requestTimeoutMs: 300 } : {};
    const asked = await ask(t, api, [{ pieces: [half(api)], then }, whole(api)], timing);
    const { failures, requests } = asked;
    assert.deepEqual(withoutCarried(asked), withoutCarried(plain));
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.reason ?? '', reason);
    assert.equal(failures[0]?.usage?.promptTokens ?? null, told[api]);
    assert.deepEqual(requests[1], requests[0]);
  });

// Every dialect is read by the same reader.
test('a slow but steady trickle may last longer than the time limit', async (t) => {
  const requestTimeoutMs = 1_000;
  async function* trickle(): AsyncGenerator<string | Buffer> {
    const start = performance.now();
    while (performance.now() - start < 1.5 * requestTimeoutMs) {
      yield ': still thinking\n\n';
      await pause(requestTimeoutMs / 50);
    }
    yield bytesOf(STREAMS.chat);
  }
  const { answer, failures, error } = await ask(t, 'chat', [{ pieces: trickle() }], {
    requestTimeoutMs,
  });
  assert.deepEqual([error, failures], [null, []]);
  assert.notEqual(answer, null);
});

test('a compressed stream is decoded, and one that breaks off within it is tried again', async (t) => {
  const plain = await ask(t, 'chat', [whole('chat')]);
  for (const [coding, compress] of [
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    const bytes = compress(bytesOf(STREAMS.chat));
    const headers = { 'content-encoding': coding };
    const replies = [bytes.subarray(0, bytes.length / 2), bytes].map((part) => ({
      ...{ headers, pieces: [part] },
    }));
    const asked = await ask(t, 'chat', replies);
    assert.deepEqual(withoutCarried(asked), withoutCarried(plain));
    const reasons = asked.failures.map(({ reason }) => reason).join();
    assert.match(reasons, /^could not be reached: the connection was cut/);
  }
});

const floods = {
  'an event of 100 MB': {
    ...{ first: 'data: {"padding":"', piece: 'x'.repeat(MIB / 16), most: 100 * MIB },
    ...{ error: 'an event is larger than 1048576 bytes', sentMiB: [0, 50] },
  },
  'comments without end': {
    ...{ first: '', piece: `:${'x'.repeat(1022)}\n`.repeat(64), most: 200 * MIB },
    ...{ error: `the response is larger than ${32 * MIB} bytes`, sentMiB: [32, 100] },
  },
};
for (const [what, { error, sentMiB, ...flooded }] of Object.entries(floods))
  test(`one clear failure, in bounded memory: ${what}`, inLongForm, async (t) => {
    const found = await flood(t, flooded);
    assert.equal(found.error, `The model provider sent an unreadable response: ${error}`);
    const [least = 0, most = 0] = sentMiB;
    assert.ok(found.sent >= least * MIB && found.sent < most * MIB, `${found.sent} bytes`);
    assert.ok(found.grownMiB < 64, `${found.grownMiB} MiB more`);
  });

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

interface Flood {
  first: string;
  piece: string;
  /** The stream ends after this much if the client has not closed it by then. */
  most: number;
}

/**
 * Asks a server that streams without end; what came of it, and how much more memory was in use at
 * most.
 */
async function flood(
  t: TestContext,
  { first, piece, most }: Flood,
): Promise<{ error: string | null; sent: number; grownMiB: number }> {
  let sent = 0;
  const before = memory();
  let peak = before;
  function* pieces(): Generator<string> {
    yield first;
    for (let number = 0; sent < most; number += 1) {
      sent += piece.length;
      if (number % 64 === 0) peak = Math.max(peak, memory());
      yield piece;
    }
  }
  const { error, failures } = await ask(t, 'chat', [{ pieces: pieces() }]);
  assert.equal(failures.length, 1, 'it is not tried again');
  return { error, sent, grownMiB: (Math.max(peak, memory()) - before) / MIB };
}

/** Where a provider repeats the key in a stream: in an error, cut within it, or in another shape. */
const repeating = [
  ...[`Wrong key ${KEY}`, `${'x'.repeat(290)} ${KEY}`].map(
    (message) => `event: error\n${event({ type: 'error', error: { type: 'api_error', message } })}`,
  ),
  `data: ${'x'.repeat(240)} ${KEY} ${'x'.repeat(100)}\n\n`,
  ...Array.from({ length: 20 }, (_, at) => `data: ${'x'.repeat(280 + at)} ${KEY} \n\n`),
  `data: [${JSON.stringify(KEY).replaceAll('-', '\\u002d')}]\n\n`,
];
const inPieces: Partial<Record<ApiDialect, (text: string) => object>> = {
  chat: (content) => ({ choices: [{ index: 0, delta: { content } }] }),
  messages: (text) => ({
    ...{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  }),
}; // the items of Responses come whole
const begin = [
  event({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
];
for (const api of apiDialects)
  test(`${api}: a key that the provider repeats, in pieces or in an error, is shown nowhere`, async (t) => {
    for (const last of api === 'chat' ? repeating : repeating.slice(0, 2)) {
      const replies = [{ pieces: [half(api), last] }];
      const { error, failures } = await ask(t, api, replies, { maxRetries: 0 });
      assert.ok(error !== null, last);
      assertHidden({ error, failures }, last);
    }
    const piece = inPieces[api];
    if (piece === undefined) return;
    const said = [KEY.slice(0, 9), KEY.slice(9)].map((text) => event(piece(text)));
    const pieces = [...(api === 'messages' ? begin : []), ...said, ...ending[api]];
    const { answer } = await ask(t, api, [{ pieces }]);
    assert.equal(answer?.content, '[key]');
    assertHidden(answer, 'an answer');
  });

function assertHidden(told: unknown, what: string): void {
  assert.ok(!JSON.stringify(told).includes(KEY.slice(0, 8)), `${what}: ${JSON.stringify(told)}`);
}

const wholeBodies: Record<ApiDialect, string> = {
  chat: '../completions/openai-tool-call.json',
  responses: 'responses-openai.json',
  messages: 'messages-claude.json',
};
for (const api of apiDialects)
  test(`${api}: a whole body in answer to a request for a stream is read as such`, async (t) => {
    const body: unknown = JSON.parse(bytesOf(wholeBodies[api]).toString());
    const streamed = await ask(t, api, [{ body }]);
    assert.equal(streamed.requests[0]?.body.stream, true);
    const asWhole = await ask(t, api, [{ body }], { stream: 'off' });
    assert.deepEqual(withoutCarried(streamed), withoutCarried(asWhole));
    assert.ok((streamed.answer?.toolCalls.length ?? 0) > 0);
  });

/** What an agent of the user's may answer that is none: asked once, in the same words. */
const notAnswers: [reply: Reply, error: string, requests?: number][] = [
  [{ status: 500, body: { error: 'broken' } }, 'returned 500: broken (after 2 tries)', 2],
  [{ body: 'hello' }, 'returned 200: text/html instead of JSON: hello'],
  [{ status: 204, body: '' }, 'returned 204, which has no answer'],
  [{ status: 400, body: { error: 'no' } }, 'returned 400: no'],
  [
    { body: { reason: 'x'.repeat(2_000_000) } },
    'sent an unreadable response: the response is larger',
  ],
  [
    { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
    'returned 302: a redirect to http://127.0.0.1:1/, which is not followed',
  ],
  [
    { headers: { 'content-type': 'application/json' }, body: '{"weights":{"AAPL":NaN}}' },
    'sent NaN, which JSON does not have',
  ],
];
test('agent: what is not an answer is asked for once, unless that may pass, and told in the words of all dialects', async (t) => {
  for (const [reply, reason, most = 1] of notAnswers) {
    const { error, requests } = await ask(t, 'agent', [reply], { stream: 'off' });
    assert.ok(error?.startsWith(`The agent ${reason}`), error ?? reason);
    assert.equal(requests.length, most);
  }
});

test('agent: its decision is its content, as it came where a key stands twice, and its cost its own', async (t) => {
  const usage = { prompt_tokens: 5, completion_tokens: 7, reasoning_tokens: 2 };
  const answerTo = async (body: unknown) =>
    (
      await ask(t, 'agent', [{ headers: { ...JSON_TYPE, 'agent-version': 'mine' }, body }], {
        stream: 'off',
      })
    ).answer;
  const twice = '{"orders":[],"orders":[1]}';
  assert.equal((await answerTo(twice))?.content, twice);
  const marked = await answerTo(`\ufeff${JSON.stringify({ orders: [], usage })}`);
  assert.deepEqual([marked?.content, marked?.served], ['{"orders":[]}', { model: 'mine' }]);
  for (const [cost_usd, cost] of [
    [0.25, 0.25],
    [1_000_001, undefined],
    [1e308, undefined],
    [-1, undefined],
    ['1', undefined],
    [null, undefined],
  ]) {
    const told = await answerTo({ orders: [], usage: { ...usage, cost_usd } });
    assert.deepEqual([told?.usage?.costUsd, told?.usage?.promptTokens], [cost, 5], `${cost_usd}`);
  }
});
const JSON_TYPE = { 'content-type': 'application/json' };
