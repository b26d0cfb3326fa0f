import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiDialect, apiDialects } from '../../src/core/domain/vocabulary.ts';
import type { Json } from '../../src/core/json/json.ts';
import type { ChatMessage } from '../../src/core/agent/model.ts';
import { askOnce, endpointOf, opening } from '../support/ask-provider.ts';
import { type Reply, startModelServer, type StreamedReply } from '../support/model-server.ts';
import { tableOf } from '../support/text-table.ts';

/**
 * When has a model answered? Shapes of public reports about providers, each in all three dialects,
 * whole and as a stream.
 */

interface Answer {
  text?: string;
  /** Arguments of a call of `buy`. */
  call?: string;
  thought?: string;
  /** Why it ended, in the word of its provider; null for a response without one. */
  reason: string | null;
}

/** The words of a status of Responses; of others there is a reason why the response is incomplete. */
const STATUSES = ['completed', 'queued', 'in_progress', 'cancelled'];

const bodies: Record<ApiDialect, (answer: Answer) => Json> = {
  chat: ({ text = null, call, thought, reason }) => ({
    choices: [
      {
        index: 0,
        finish_reason: reason,
        message: {
          ...{ role: 'assistant', content: text, reasoning_content: thought },
          ...(call !== undefined && {
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'buy', arguments: call } },
            ],
          }),
        },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 0 },
  }),
  messages: ({ text, call, thought, reason }) => ({
    ...{ type: 'message', role: 'assistant', stop_reason: reason },
    content: [
      ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: 's' }]),
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(call === undefined ? [] : [{ type: 'tool_use', id: 'c1', name: 'buy', input: call }]),
    ],
    usage: { input_tokens: 100, output_tokens: 0 },
  }),
  responses: ({ text, call, thought, reason }) => ({
    object: 'response',
    ...(reason === null || STATUSES.includes(reason)
      ? { status: reason }
      : { status: 'incomplete', incomplete_details: { reason } }),
    output: [
      ...(thought === undefined
        ? []
        : [{ type: 'reasoning', id: 'r1', summary: [{ type: 'summary_text', text: thought }] }]),
      ...(text === undefined
        ? []
        : [{ type: 'message', id: 'm1', content: [{ type: 'output_text', text }] }]),
      ...(call === undefined
        ? []
        : [{ type: 'function_call', id: 'f1', call_id: 'c1', name: 'buy', arguments: call }]),
    ],
    usage: { input_tokens: 100, output_tokens: 0 },
  }),
};

/** A body as the events of a stream. */
const events: Record<ApiDialect, (body: any) => object[]> = {
  chat({ choices: [{ message, finish_reason }], usage }) {
    const calls = message.tool_calls?.map((call: object, index: number) => ({ index, ...call }));
    return [
      { choices: [{ index: 0, delta: { ...message, tool_calls: calls }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ];
  },
  messages: ({ content, stop_reason, usage, ...head }) => [
    { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage } },
    ...content.flatMap((content_block: object, index: number) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason } },
    { type: 'message_stop' },
  ],
  responses: (response) => [
    ...response.output.map((item: object, output_index: number) => ({
      ...{ type: 'response.output_item.done', output_index, item },
    })),
    { type: 'response.completed', response },
  ],
};

function streamOf(api: ApiDialect, body: Json): StreamedReply {
  const lines = events[api](body).map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return { pieces: [...lines, 'data: [DONE]\n\n'] };
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

for (const api of apiDialects)
  for (const [words, text, call, nothing] of ends)
    for (const word of words.split(' ').filter((one) => isSaid(api, one, text)))
      test(`${api}: an answer that ends with ${word}`, async (t) => {
        const reason = word === 'null' ? null : word;
        for (const [form, fate] of Object.entries({ text, call, nothing, thoughts: nothing })) {
          const body = bodies[api]({ ...forms[form], reason });
          for (const reply of [{ body }, streamOf(api, body)]) {
            const isStream = 'pieces' in reply;
            if (fate === 'any') continue;
            if (reason === null && isStream && api === 'messages') continue; // it has no end
            const what = `${form}, ${isStream ? 'as a stream' : 'whole'}`;
            assert.deepEqual(await fateOf(t, api, reply), fate, what);
          }
        }
      });

type Test = Parameters<typeof startModelServer>[0];

/** What becomes of a reply to the first request of a day, which is asked for again at most once. */
async function fateOf(t: Test, api: ApiDialect, reply: Reply, conversation = opening) {
  const server = await startModelServer(t, [reply]);
  const stream = typeof reply === 'object' && 'pieces' in reply ? 'set' : 'off';
  const endpoint = endpointOf(server.baseUrl, { api, stream, maxRetries: 1 });
  const { answer, error, failures } = await askOnce(endpoint, conversation);
  if (answer !== null) return answer.fault ?? 'whole';
  assert.match(error ?? '', /^The model provider (ended|sent) .* \(after 2 tries\)$/);
  const used = failures.map(({ usage }) => usage?.promptTokens ?? null);
  assert.deepEqual([server.requests.length, used], [2, [100, 100]]); // paid, and counted
  return 'failed';
}

const afterCall = (name: string): ChatMessage[] => [
  ...opening,
  { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name, arguments: '{}' }] },
  { role: 'tool', id: 'c1', content: '{}' },
];
for (const api of apiDialects)
  test(`${api}: after a tool call, an empty answer ends the day`, async (t) => {
    const body = bodies[api]({ reason: api === 'responses' ? 'completed' : 'stop' });
    for (const reply of [{ body }, streamOf(api, body)])
      assert.equal(await fateOf(t, api, reply, afterCall('get_portfolio')), 'whole');
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
for (const [text, reason] of silent)
  test(`a stream of "${text}" is asked for again`, async (t) => {
    const server = await startModelServer(t, [{ pieces: [`${text.replaceAll('⏎', '\n')}\n\n`] }]);
    const { error } = await askOnce(endpointOf(server.baseUrl, { stream: 'set', maxRetries: 1 }));
    assert.ok(error?.startsWith(`The model provider ${reason.replace('…', '')}`), error ?? '');
    assert.equal(server.requests.length, 2);
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
    const reason = api === 'responses' ? 'completed' : 'stop';
    for (const [text, fault] of written)
      assert.equal(await fateOf(t, api, { body: bodies[api]({ text, reason }) }), fault, text);
    const thought = `I should buy. ${written[0]?.[0]}`;
    assert.equal(await fateOf(t, api, { body: bodies[api]({ thought, reason }) }), 'written_call');
    const quoted = { thought: 'Should I call {"name": "buy"}? No.', text: 'I hold.', reason };
    assert.equal(await fateOf(t, api, { body: bodies[api](quoted) }), 'whole');
    const spoken = { thought: 'I must use the <tool_call> format. No.', text: 'I hold.', reason };
    assert.equal(await fateOf(t, api, { body: bodies[api](spoken) }), 'whole');
    const call = { text: written[0]?.[0] ?? '', call: BUY, reason };
    assert.equal(await fateOf(t, api, { body: bodies[api](call) }), 'whole'); // a real one is made
    const summary = bodies[api]({ text: written[0]?.[0] ?? '', reason });
    assert.equal(await fateOf(t, api, { body: summary }, afterCall('buy')), 'whole');
    assert.equal(await fateOf(t, api, { body: summary }, afterCall('get_price')), 'written_call');
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
  streamed | 401 application/json     | Unauthorized | returned 401: application/json instead of JSON: Unauthorized
  streamed | 401 text/event-stream    | data: {"detail":"no such key"} | returned 401: no such key
  streamed | 404 application/json     | "Not here" | returned 404: Not here
  streamed | 204 application/json     |         | returned 204, which has no answer
  streamed | 200 application/json     | "overloaded" | sent an unreadable response: it has no choices[0].message: "overloaded"
  streamed | 200 application/json     | NaN     | sent NaN, which JSON does not have: NaN
  whole    | 200 application/json     | mark, {"choices":NaN} | sent NaN, which JSON does not have: {"choices":NaN}
  streamed | 401 text/event-stream    | {"error":{"message":"no such key"}} | returned 401: no such key
  streamed | 400 text/event-stream    | {"error":{"message":"too long","code":400}} | returned 400: too long
`);
for (const [way, type, what, fate] of typed)
  test(`${way}, ${type}: ${what}`, async (t) => {
    const body = bodies.chat({ text: 'I hold.', reason: 'stop' });
    const stream = (streamOf('chat', body).pieces as string[]).join('');
    const parts: Record<string, string> = {
      ...{ json: JSON.stringify(body), stream, mark: '\ufeff', done: '\n\ndata: [DONE]\n\n' },
      ...{ page: '<!doctype html><p>Blocked', blanks: ' \n\n \n' },
    };
    const text =
      parts[what] ??
      what
        .split(', ')
        .map((part) => parts[part] ?? part)
        .join('');
    const [, status, name = ''] = /^(?:(\d+) )?(.*)$/.exec(type) ?? [];
    const headers = { 'content-type': name };
    const server = await startModelServer(t, [
      { status: Number(status ?? 200), headers, body: Buffer.from(text) },
    ]);
    const endpoint = endpointOf(server.baseUrl, { stream: way === 'streamed' ? 'set' : 'off' });
    const { answer, error } = await askOnce(endpoint);
    const said = answer?.content ?? error?.replace('The model provider ', '') ?? '';
    assert.ok(said.startsWith(fate), said);
    assert.equal(server.requests.length, 1); // nothing is paid twice
  });

test('stream_options that are refused under the type of a stream are left out', async (t) => {
  const error = { message: "Unknown parameter: 'stream_options'." };
  const server = await startModelServer(t, ({ body }) =>
    body.stream_options === undefined
      ? streamOf('chat', bodies.chat({ text: 'I hold.', reason: 'stop' }))
      : { status: 400, headers: { 'content-type': 'text/event-stream' }, body: { error } },
  );
  const { answer } = await askOnce(endpointOf(server.baseUrl, { stream: 'added' }));
  assert.equal(answer?.content, 'I hold.');
});

const HALF = 'half \ud83d of a sign, a whole 📈, and \ude00 alone; \ud83d\\ude00 \\ud83d\ude00';
const MENDED = 'half \ufffd of a sign, a whole 📈, and \ufffd alone; \ufffd\\ude00 \\ud83d\ufffd';
for (const api of apiDialects)
  test(`${api}: half a character never goes back`, async (t) => {
    const reason = api === 'responses' ? 'completed' : 'stop';
    const call = String.raw`{"symbol":"AAPL","why":"\ud83d","and":"\ud83d\uDE00 \\ud83d"}`;
    const mended = String.raw`{"symbol":"AAPL","why":"\ufffd","and":"\ud83d\uDE00 \\ud83d"}`;
    const bodiesInTurn = [
      { text: HALF, call, reason },
      { text: 'Done.', reason },
    ].map(bodies[api]);
    const server = await startModelServer(
      t,
      bodiesInTurn.map((body) => ({ body })),
    );
    const first: ChatMessage[] = [
      { role: 'system', content: HALF },
      { role: 'user', content: HALF },
    ];
    const { answer } = await askOnce(endpointOf(server.baseUrl, { api }), first);
    assert.ok(answer !== null);
    assert.equal(answer.toolCalls[0]?.arguments, mended);
    await askOnce(endpointOf(server.baseUrl, { api }), [
      ...first,
      { role: 'assistant', ...answer },
      { role: 'tool', id: 'c1', content: HALF },
    ]);
    const [, { body: sent } = {}] = server.requests;
    assert.equal(JSON.stringify(sent).split(JSON.stringify(MENDED).slice(1, -1)).length - 1, 4);
    assert.equal(JSON.stringify(sent), JSON.stringify(sent).toWellFormed());
    assert.doesNotMatch(JSON.stringify(sent), /(?<!\\)\\ud83d(?!\\ud)/);
  });

test('the cost that a provider reports is the cost', async (t) => {
  for (const [cost, costUsd] of [
    [0.00123, 0.00123],
    [0, 0],
    [-1, undefined],
    ['1', undefined],
  ]) {
    const body = { ...bodies.chat({ text: 'I hold.', reason: 'stop' }), usage: { cost } };
    const server = await startModelServer(t, [{ body }]);
    const { answer } = await askOnce(endpointOf(server.baseUrl));
    assert.equal(answer?.usage?.costUsd, costUsd);
  }
});
