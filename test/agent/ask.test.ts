import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { dialects } from '../../src/core/agent/provider/ask.ts';
import type { ChatMessage, ModelAnswer } from '../../src/core/agent/model.ts';
import { MAX_WAIT_MS, waitAfter } from '../../src/core/agent/provider/verdict.ts';
import { readRetryAfter } from '../../src/core/network/http-client.ts';
import { asArray, asObject } from '../../src/core/json/json.ts';
import type { ToolDescription } from '../../src/core/wire/protocol.ts';
import type { ToolName } from '../../src/core/trading/tool-arguments.ts';
import { toolParameters } from '../../src/core/trading/tool-parameters.ts';
import { askOnce, BASE_DELAY_MS, endpointOf, KEY, opening } from '../support/ask-provider.ts';
import {
  fails,
  type ModelServer,
  type Reply,
  says,
  startModelServer,
} from '../support/model-server.ts';
import { like, tableOf } from '../support/text-table.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/completions/${name}.json`, import.meta.url), 'utf8');
const BODY = JSON.stringify(says('Done.').body);
const inCoding = (coding: string, body: Buffer): Reply => ({
  headers: { 'content-encoding': coding },
  body,
});
const codings: [coding: string, body: Buffer][] = [
  ['gzip', gzipSync(BODY)],
  ['X-GZIP', gzipSync(BODY)],
  ['deflate', deflateSync(BODY)],
  ['br', brotliCompressSync(BODY)],
  ['zstd', zstdCompressSync(BODY)],
  ['Identity', Buffer.from(BODY)],
];

/** Replies that are more than a status and a text. */
const odd: Record<string, Reply> = {
  'cut, with a length': { cut: 'sized' },
  'cut, without a length': { cut: 'chunked' },
  'half of a compressed answer': inCoding('gzip', gzipSync(BODY).subarray(0, -9)),
  '10 MB': { body: { choices: [], padding: 'x'.repeat(10 * 1024 * 1024) } },
  '10 MB, compressed': inCoding('gzip', gzipSync(Buffer.alloc(10 * 1024 * 1024))),
  redirect: {
    status: 308,
    headers: { location: `https://elsewhere.example/?key=${KEY}` },
    body: '',
  },
  'a content type that is the key': { headers: { 'content-type': KEY }, body: 'Hello' },
  'the key in escapes': {
    status: 401,
    headers: { 'content-type': 'application/json' },
    body: `{"error":{"message":"Wrong key ${KEY.replaceAll('-', '\\u002d').replace('"', '\\u0022').replace('\\8', '\\\\8')}"}}`,
  },
  'the key': fails(401, `Incorrect API key provided: ${KEY}.`),
  'the key where it is cut': fails(400, `${'x'.repeat(290)} ${KEY}`),
  'with events': {
    headers: { 'content-type': 'text/event-stream' },
    body: 'data: {"choices":[]}\n\n',
  },
};
for (const coding of ['compress', 'gzip, br', 'constructor', ...codings.map(([name]) => name)])
  odd[`coding ${coding}`] = inCoding(coding, Buffer.from(BODY));

/** A reply as a table has it: `STATUS TEXT`, the text also as a `FIXTURE`; or one of the odd ones. */
function replyOf(cell: string): Reply {
  const [, status, rest = ''] = /^(\d{3})(?: (.*))?$/.exec(cell) ?? [];
  if (status === undefined) return odd[cell] ?? assert.fail(`an unknown reply: ${cell}`);
  const body = rest.startsWith('error-') ? fixture(rest) : rest;
  const type = /^[{[]/.test(body)
    ? 'application/json'
    : body.startsWith('<')
      ? 'text/html'
      : 'text/plain';
  return { status: Number(status), headers: { 'content-type': type }, body };
}

/** What `String()` throws at. */
const NO_TEXT = '{"toString":1,"valueOf":1}';

// Faults that may pass: the same request once more, and then the answer.
const passing = tableOf<[reply: string, reason: string]>(`
  408 {"error":{"message":"Timed out"}}                      | returned 408: Timed out
  409 {"error":{"message":"Conflict"}}                       | returned 409: Conflict
  429 {"error":{"message":"Slow down"}}                      | returned 429: Slow down
  500 {"error":{"message":"Oops"}}                           | returned 500: Oops
  503 <title>Overloaded</title> <h1>Overloaded</h1>         | returned 503: text/html instead of JSON: Overloaded Overloaded
  502 <title>Bad Gateway</title>                             | returned 502: text/html instead of JSON: Bad Gateway
  529                                                        | returned 529: text/plain instead of JSON: ${''}
  200 {"error":{"code":429,"message":"Busy"}}                | returned 429: Busy
  200 {"error":{"code":"503","message":"Busy"}}              | returned 503: Busy
  200 error-openrouter-in-choice                             | returned 502: Upstream idle timeout
  200 {"error":{"type":"server_error","code":"internal"},${BODY.slice(1)} | returned 500: server_error
  200 {"type":"error","error":{"type":"overloaded_error","message":null}} | returned 529: overloaded_error
  cut, with a length                                         | could not be reached: the connection was cut in the middle of the response
  cut, without a length                                      | could not be reached: the connection was cut in the middle of the response
  half of a compressed answer                                | could not be reached: the connection was cut in the middle of the response
  200 {"choices": [{"mess                                    | sent JSON that is cut off: {"choices": [{"mess
  200 {"choices":[{"message":{"content":"Half of"},"finish_reason":"error"}]} | ended its answer with the reason "error": Half of
  200 {"choices":[{"message":{"content":""},"finish_reason":{"a":1}}]} | ended its answer with the reason "{"a":1}"
  200 error-no-choices                                       | sent an answer without a message
  200                                                        | sent JSON that is cut off: nothing
`);
for (const [reply, reason] of passing) {
  test(`${reply}: it is tried again after the base delay`, async (t) => {
    const server = await startModelServer(t, [replyOf(reply), says('Done.')]);
    const { answer, failures } = await askOnce(endpointOf(server.baseUrl));
    assert.equal(answer?.content, 'Done.');
    const reasons = failures.map((failed) => failed.reason.trim());
    assert.deepEqual(reasons, [reason]);
    assertWithin(failures[0]?.waitMs, BASE_DELAY_MS);
    assert.deepEqual(server.requests[1], server.requests[0]);
  });
}

for (const [coding, body] of codings) {
  test(`an answer in the coding ${coding}, which is not requested, is decoded`, async (t) => {
    const server = await startModelServer(t, [inCoding(coding, body)]);
    const { answer, failures } = await askOnce(endpointOf(server.baseUrl));
    assert.deepEqual([answer?.content, failures], ['Done.', []]);
    assert.equal(server.requests[0]?.headers['accept-encoding'], 'identity');
  });
}

// Faults that will not pass: one request, and the provider's own words.
const lasting = tableOf<[reply: string, error: string]>(`
  400 {"error":{"message":"Unknown parameter: seed"}}        | returned 400: Unknown parameter: seed
  the key                                                    | returned 401 (key from KEY, host …): Incorrect API key provided: [key].
  402 {"error":{"message":"Insufficient credits"}}           | returned 402: Insufficient credits
  403 {"error":{"message":"Country not supported"}}          | returned 403 (key from KEY, host …): Country not supported
  404 {"error":{"message":"No such model"}}                  | returned 404: No such model
  422 error-fastapi                                          | returned 422: [{"type":"missing","loc":["body","model"]…
  400 error-gemini-array                                     | returned 400: API key not valid. Please…
  400 error-openrouter-metadata                              | returned 400: Provider returned error: {"error":{"message":"max_tokens is too large: 999999"}}
  400 error-vllm                                             | returned 400: This model's maximum context…
  404 error-ollama                                           | returned 404: model "llama9" not found…
  422 error-mistral                                          | …Extra inputs are not permitted…
  200 {"error":"model is loading"}                           | returned 200: model is loading
  200 {"object":"error","message":"Too long","type":"BadRequestError","code":400} | returned 400: Too long
  200 {"choices":[{"message":{"content":${NO_TEXT}}}]}       | sent an unreadable response: its content is neither text nor a list: {…
  200 {"error":{"code":${NO_TEXT},"type":${NO_TEXT}}}        | returned 200: {"code":{"toString":1,"valueOf":1}…
  204                                                        | returned 204, which has no answer
  200 {"choices":["NaN",NaN]}                                | sent NaN, which JSON does not have: {"choices":["NaN",NaN]}
  200 {"choices":[-Infinity                                  | sent -Infinity, which JSON does not have: {"choices":[-Infinity
  200 Not today                                              | returned 200: text/plain instead of JSON: Not today
  200 <title>Sign in</title> <h1>Sign in</h1>               | returned 200: text/html instead of JSON: Sign in Sign in
  with events                                                | sent a stream that was not asked for: …
  200 error-minimax-base-resp                                | …no choices…insufficient balance…
  10 MB                                                      | sent an unreadable response: the response is larger than 1048576 bytes
  10 MB, compressed                                          | sent an unreadable response: the response is larger than 1048576 bytes
  coding compress                                            | sent an unreadable response: its content coding, compress, is unknown and was not requested
  coding gzip, br                                            | sent an unreadable response: its content coding, gzip, br, is unknown and was not requested
  coding constructor                                         | sent an unreadable response: its content coding, constructor, is unknown and was not requested
  coding gzip                                                | sent an unreadable response: it cannot be decompressed: …
  coding X-GZIP                                              | sent an unreadable response: it cannot be decompressed: …
  coding deflate                                             | sent an unreadable response: it cannot be decompressed: …
  coding br                                                  | sent an unreadable response: it cannot be decompressed: …
  coding zstd                                                | sent an unreadable response: it cannot be decompressed: …
  redirect                                                   | returned 308: a redirect to https://elsewhere.example/?key=[key], which is not followed; check the base URL
  the key in escapes                                         | returned 401 (key from KEY, host …): Wrong key [key]
  a content type that is the key                             | returned 200: [key] instead of JSON: Hello
  the key where it is cut                                    | returned 400: ${'x'.repeat(290)} [key]
`);
for (const [reply, error] of lasting) {
  test(`${reply}: it fails at once`, async (t) => {
    const server = await startModelServer(t, [replyOf(reply)]);
    const asked = await askOnce(endpointOf(server.baseUrl));
    assert.match(asked.error ?? '', like(`The model provider ${error}`));
    assert.equal(server.requests.length, 1);
    const reason = asked.error?.replace('The model provider ', '');
    assert.deepEqual(asked.failures, [{ reason, waitMs: null, usage: null }]);
    assert.ok(!JSON.stringify(asked).includes(KEY.slice(0, 12)), JSON.stringify(asked));
  });
}

test('any error beside an answer is one, except null', async (t) => {
  const odd = ['""', '{}', 'false', '{"message":"","code":null}'].map((error) => [error, error]);
  const named = [
    ['{"message":"","type":"quota"}', 'quota'],
    ['{"code":"internal"}', 'internal'],
  ];
  for (const [error = '', words] of [['null'], ...odd, ...named]) {
    const body = { ...says('Done.').body, error: JSON.parse(error) };
    const server = await startModelServer(t, [{ body }]);
    const asked = await askOnce(endpointOf(server.baseUrl, { maxRetries: 0 }));
    assert.equal(asked.error, words ? `The model provider returned 200: ${words}` : null);
  }
});

test('when all tries are used up the error says how many there were, and the waits have doubled', async (t) => {
  const { baseUrl, requests } = await startModelServer(t, [fails(500, 'Oops')]);
  const { error, failures } = await askOnce(endpointOf(baseUrl));
  assert.equal(error, 'The model provider returned 500: Oops (after 4 tries)');
  assert.equal(requests.length, 4);
  const waits = failures.map(({ waitMs }) => waitMs);
  assert.equal(waits.pop(), null);
  for (const [index, waitMs] of waits.entries()) assertWithin(waitMs, 2 ** index * BASE_DELAY_MS);
  const untried = await askOnce(endpointOf(baseUrl, { maxRetries: 0 }));
  assert.equal(untried.error, 'The model provider returned 500: Oops');
});

test('a provider that never responds is retried, each time within the time limit', async (t) => {
  const { baseUrl, requests } = await startModelServer(t, () => 'never');
  const endpoint = endpointOf(baseUrl, { requestTimeoutMs: 50, maxRetries: 2 });
  const { error, failures } = await askOnce(endpoint);
  const reason = 'could not be reached: no response within 0.05 seconds';
  assert.equal(error, `The model provider ${reason} (after 3 tries)`);
  const reasons = failures.map((failure) => failure.reason);
  assert.deepEqual(reasons, Array(3).fill(reason));
  assert.equal(requests.length, 3);
});

test('a time limit counts to the last byte, not to the first', async (t) => {
  async function* drip(): AsyncGenerator<string> {
    for (yield '{'; ; yield ' ') await pause(10);
  }
  const headers = { 'content-type': 'application/json' };
  const { baseUrl } = await startModelServer(t, [{ headers, pieces: drip() }]);
  const { error } = await askOnce(endpointOf(baseUrl, { requestTimeoutMs: 80, maxRetries: 0 }));
  assert.equal(error, 'The model provider could not be reached: no response within 0.08 seconds');
});

test('a refused connection is retried, and reported after the last try', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const { error } = await askOnce(endpointOf(`http://127.0.0.1:${port}/v1`, { maxRetries: 1 }));
  const reason = `connect ECONNREFUSED 127.0.0.1:${port} (after 2 tries)`;
  assert.equal(error, `The model provider could not be reached: ${reason}`);
});

test('untrusted or missing TLS fails immediately and says what to do', async (t) => {
  const tls = await startModelServer(t, [says('Done.')], { tls: true });
  const bare = await startModelServer(t, [says('Done.')]);
  const errorAt = async (url: string) => (await askOnce(endpointOf(url))).error;
  assert.deepEqual(
    [await errorAt(tls.baseUrl), await errorAt(bare.baseUrl.replace('http:', 'https:'))],
    [
      'its certificate is not trusted: self-signed certificate (NODE_EXTRA_CA_CERTS can name a file of certificates to trust)',
      'no TLS connection can be made there: wrong version number',
    ].map((reason) => `The model provider could not be reached: ${reason}`),
  );
  assert.deepEqual([tls.requests.length, bare.requests.length], [0, 0]);
});

const retryAfters = tableOf<[seconds: string, milliseconds: string, waitMs: string]>(`
                                |      |
  7                             |      | 7000
  0.5                           |      | 500
  0                             |      | 0
  Mon, 10 Nov 2025 12:00:30 GMT |      | 30000
  Mon, 10 Nov 2025 11:00:00 GMT |      | 0
  soon                          |      |
  2                             | 1250 | 1250
  2                             | none | 2000
`);
test('how long the headers of a response ask to wait', () => {
  const now = Date.parse('2025-11-10T12:00:00Z');
  for (const [seconds, milliseconds, waitMs] of retryAfters) {
    const headers = {
      'retry-after': seconds && ` ${seconds} `,
      ...(milliseconds !== '' && { 'retry-after-ms': milliseconds.replace('none', '') }),
    };
    assert.equal(readRetryAfter(headers, now) ?? '', waitMs && Number(waitMs), seconds);
  }
  assert.equal(readRetryAfter({}, now), undefined);
});

/** A wait is drawn from the longer half. */
function assertWithin(waitMs: number | null | undefined, longest: number): void {
  assert.ok(Number(waitMs) >= longest / 2 && Number(waitMs) <= longest, String(waitMs));
}

test('a wait doubles with each try, respects that of the provider, and has a maximum', () => {
  assertWithin(waitAfter(1, 1_000), 1_000);
  assertWithin(waitAfter(3, 1_000), 4_000);
  assert.equal(waitAfter(1, 1_000, 7_000), 7_000);
  assertWithin(waitAfter(5, 1_000, 2), 16_000);
  assert.equal(waitAfter(1, 1_000, 86_400_000), MAX_WAIT_MS);
  assert.equal(waitAfter(100, 1_000), MAX_WAIT_MS);
  assert.equal(waitAfter(1, 0), 0);
  const waits = new Set(Array.from({ length: 20 }, () => waitAfter(1, 1_000)));
  assert.ok(waits.size > 1, 'models do not come back all at once');
});

test('Retry-After is respected on the wire', async (t) => {
  const events: string[] = [];
  const server = await startModelServer(t, (_request, count) => {
    events.push(`request ${count}`);
    if (count > 1) return says('Done.');
    // Timers of the same duration end in the order in which they began, and the model's begins
    // after this one.
    setTimeout(() => events.push('40 ms are over'), 40);
    return fails(429, 'Slow down', { 'retry-after-ms': '40' });
  });
  const { failures } = await askOnce(endpointOf(server.baseUrl));
  assert.equal(failures[0]?.waitMs, 40);
  assert.deepEqual(events, ['request 1', '40 ms are over', 'request 2']);
});

const baseUrls = tableOf<[suffix: string, path: string]>(`
                                                | /chat/completions
  /                                             | /chat/completions
  /v1                                           | /v1/chat/completions
  /v1/                                          | /v1/chat/completions
  /v1//                                         | /v1/chat/completions
  /api/v1/chat/completions                      | /api/v1/chat/completions
  /openai/deployments/x?api-version=2024-10-21  | /openai/deployments/x/chat/completions?api-version=2024-10-21
`);
test('where the conversation of a base URL is requested', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  for (const [suffix, path] of baseUrls) {
    await askOnce(endpointOf(`http://127.0.0.1:${server.port}${suffix}`));
    assert.equal(server.requests.at(-1)?.path, path, suffix);
  }
});

test('the request: key, parameters, messages and tools, and nothing else', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  const parameters = { model: 'm', temperature: 0, seed: 7, reasoning_effort: 'low', top_k: 3 };
  const tools: ToolDescription[] = [
    { name: 'buy', description: 'Buy.', parameters: { type: 'object' } },
  ];
  await askOnce(endpointOf(server.baseUrl, { parameters }), opening, tools);
  const [{ method, headers, body }] = server.requests as [ModelServer['requests'][0]];
  const sent = { messages: opening, tools: [{ type: 'function', function: tools[0] }] };
  assert.deepEqual(body, { ...parameters, ...sent });
  assert.deepEqual(
    [method, headers.authorization, headers['content-type'], headers.accept],
    ['POST', `Bearer ${KEY}`, 'application/json', 'application/json'],
  );
  assert.match(headers['user-agent'] as string, /^trading-simulation-service\/\d/);
  const taking = { model: 'm', messages: [], tools: [] }; // the place of the conversation
  await askOnce(endpointOf(server.baseUrl, { apiKey: null, parameters: taking }));
  assert.equal(server.requests[1]?.headers.authorization, undefined, 'a server that needs no key');
  assert.deepEqual(server.requests[1]?.body.messages, opening);
});

test('a key and other secrets of a request are removed from answers and errors, the longest first; a key that is a word is not', async (t) => {
  const server = await startModelServer(t, ({ headers, body }) =>
    (body.user === 'fails' ? (text: string) => fails(401, text) : says)(
      `${KEY}-of-body, ${KEY}, word; ${headers.authorization}`,
    ),
  );
  const secrets = [`${KEY}-of-body`, 'word'];
  const ask = (user: string, changes: object) =>
    askOnce(endpointOf(server.baseUrl, { parameters: { model: 'test', user }, ...changes }));
  const hidden = '[key], [key], word; Bearer [key]';
  assert.equal((await ask('', { secrets })).answer?.content, hidden);
  assert.ok((await ask('fails', { secrets })).error?.endsWith(`): ${hidden}`));
  const { answer } = await ask('', { apiKey: 'ollama' });
  assert.match(String(answer?.content), /Bearer ollama$/);
});

test('calls that could not be sent back as they came are repaired in the history', async (t) => {
  const broken = [
    { name: 'buy', arguments: '{broken' },
    { name: 'functions.buy', arguments: '{}' },
    { name: 'sell', arguments: '[1]' },
  ];
  const tool_calls = broken.map((call) => ({ id: `id-${call.name}`, function: call }));
  const body = { choices: [{ message: { tool_calls } }] };
  const server = await startModelServer(t, [{ body }, says('Done.')]);
  const { answer } = await askOnce(endpointOf(server.baseUrl));
  const { content, toolCalls, carried } = answer as ModelAnswer;
  const replies = toolCalls.map(({ id }) => ({ role: 'tool', id, content: '{}' }) as const);
  const said = { role: 'assistant', content, toolCalls, carried } as const;
  await askOnce(endpointOf(server.baseUrl), [...opening, said, ...replies]);
  const [, assistant, ...results] = server.requests[1]?.body.messages ?? [];
  assert.deepEqual(
    assistant.tool_calls.map(({ type, function: call }: any) => [type, call.name, call.arguments]),
    ['buy', 'unknown', 'sell'].map((name) => ['function', name, '{}']),
  );
  assert.deepEqual(
    results.map((result: any) => result.tool_call_id),
    assistant.tool_calls.map(({ id }: any) => id),
  );
});

test('once an answer had reasoning_content, every assistant message goes back with it, empty where it had none', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  const sent = async (...messages: (object | null)[]) => {
    const said = messages.flatMap((message, index) => {
      const id = String(index);
      const toolCalls = [{ id, name: 'buy', arguments: '{}' }];
      const carried = message && { message, calls: [] };
      const result: ChatMessage = { role: 'tool', id, content: '{}' };
      return [{ role: 'assistant', content: id, toolCalls, carried } as ChatMessage, result];
    });
    await askOnce(endpointOf(server.baseUrl), [...opening, ...said]);
    const answers = server.requests.at(-1)?.body.messages.filter((one: any) => one.tool_calls);
    return answers.map((message: any) => message.reasoning_content);
  };
  assert.deepEqual(await sent(null, { reasoning_content: 'Hm.' }, null), ['', 'Hm.', '']);
  assert.deepEqual(await sent(null, { reasoning_content: '' }), ['', '']);
  assert.deepEqual(await sent(null, null), [undefined, undefined]);
});

/** The date of a price may be omitted, a query has a length. */
const strictly = { buy: true, get_portfolio: true, get_price: false, search_news: false };
test('Responses holds the model to the schema of a tool whose arguments are all required and plain', () => {
  const asked = { conversation: [], parameters: {}, isStreamed: false, cacheKey: null };
  for (const [name, isStrict] of Object.entries(strictly)) {
    const tools = [{ name, description: '', parameters: toolParameters[name as ToolName] }];
    const body = dialects.responses.body({ ...asked, tools, adds: () => false });
    const strictness = asArray(body['tools'])?.map((tool) => asObject(tool)?.['strict']);
    assert.deepEqual(strictness, [isStrict], name);
  }
});
