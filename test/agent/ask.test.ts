import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { createProviderModel, dialects, type FailedTry } from '../../src/agent/provider/ask.ts';
import type { ChatMessage, ModelAnswer } from '../../src/agent/model.ts';
import { MAX_WAIT_MS, waitAfter } from '../../src/agent/provider/verdict.ts';
import { readRetryAfter } from '../../src/basics/http-client.ts';
import { asArray, asObject } from '../../src/basics/json.ts';
import type { Endpoint, ToolDescription } from '../../src/wire/protocol.ts';
import type { ToolName } from '../../src/trading/tool-arguments.ts';
import { toolParameters } from '../../src/trading/tool-parameters.ts';
import {
  answers,
  type Behaviour,
  fails,
  type ModelServer,
  type Reply,
  says,
  startModelServer,
} from '../support/model-server.ts';

/** What `String()` throws at. */
const NO_TEXT = { toString: 1, valueOf: 1 };
const KEY = 'sk-test-012345"67\\89abcdef';
const BASE_DELAY_MS = 4;
const opening: ChatMessage[] = [{ role: 'user', content: "Today's date: 2025-11-10" }];
const tools: ToolDescription[] = [
  { name: 'buy', description: 'Buy.', parameters: { type: 'object' } },
];

function endpointOf(baseUrl: string, changes: Partial<Endpoint> = {}): Endpoint {
  const patience = { requestTimeoutMs: 60_000, maxRetries: 3, baseDelayMs: BASE_DELAY_MS };
  const asked = {
    api: 'chat',
    parameters: { model: 'test' },
    stream: 'off',
    cacheKey: null,
  } as const;
  return { kind: 'provider', baseUrl, apiKey: KEY, leftOut: [], ...asked, ...patience, ...changes };
}

interface Asked {
  answer: ModelAnswer | null;
  error: string | null;
  /** What `onFailure` received. */
  failures: { reason: string; waitMs: number | null }[];
}

async function askOnce(endpoint: Endpoint, conversation = opening): Promise<Asked> {
  const failures: Asked['failures'] = [];
  const onFailure = ({ reason, waitMs }: FailedTry) => failures.push({ reason, waitMs });
  const model = createProviderModel(endpoint, { tools, onFailure });
  try {
    return { answer: await model(conversation), error: null, failures };
  } catch (error) {
    return { answer: null, error: (error as Error).message, failures };
  }
}

const fixture = (name: string): unknown =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/completions/${name}.json`, import.meta.url), 'utf8'),
  );
const page = (status: number, words: string): Reply => ({
  status,
  body: `<html><head><title>${words}</title></head>\n<body><h1>${words}</h1></body></html>`,
});
const text = (body: string, type: string, status = 200): Reply => ({
  status,
  headers: { 'content-type': type },
  body,
});

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

// Faults that may pass: the same request once more, and then the answer.
const passing: [name: string, fault: Reply, reason: RegExp][] = [
  ['408', fails(408, 'Timed out'), /^returned 408: Timed out$/],
  ['409', fails(409, 'Conflict'), /^returned 409: Conflict$/],
  ['429', fails(429, 'Slow down'), /^returned 429: Slow down$/],
  ['500', fails(500, 'Oops'), /^returned 500: Oops$/],
  [
    '503 with a page',
    page(503, 'Overloaded'),
    /^returned 503: text\/html instead of JSON: Overloaded Overloaded$/,
  ],
  [
    '502 with a page',
    page(502, 'Bad Gateway'),
    /^returned 502: text\/html instead of JSON: Bad Gateway/,
  ],
  ['529 without a body', { status: 529, body: '' }, /^returned 529: text\/html instead of JSON: $/],
  [
    '200 with a status inside',
    { body: { error: { code: 429, message: 'Busy' } } },
    /^returned 429: Busy$/,
  ],
  [
    '200 with a status as text',
    { body: { error: { code: '503', message: 'Busy' } } },
    /^returned 503: Busy$/,
  ],
  [
    'an error in the choice',
    { body: fixture('error-openrouter-in-choice') },
    /^returned 502: Upstream idle timeout$/,
  ],
  [
    '200 with an error beside an answer, without words',
    { body: { ...says('Done.').body, error: { type: 'server_error', code: 'internal' } } },
    /^returned 500: server_error$/,
  ],
  [
    '200 with an error that is the whole body, without words',
    { body: { type: 'error', error: { type: 'overloaded_error', message: null } } },
    /^returned 529: overloaded_error$/,
  ],
  [
    'a cut answer',
    { cut: 'sized' },
    /^could not be reached: the connection was cut in the middle of the response$/,
  ],
  [
    'a cut answer without a length',
    { cut: 'chunked' },
    /^could not be reached: the connection was cut/,
  ],
  [
    'half of a compressed answer',
    inCoding('gzip', gzipSync(BODY).subarray(0, -9)),
    /^could not be reached: the connection was cut in the middle of the response$/,
  ],
  [
    'half an answer',
    text('{"choices": [{"mess', 'application/json'),
    /^sent JSON that is cut off: \{"choices": \[\{"mess$/,
  ],
  ['an empty answer', text('', 'text/plain'), /^sent JSON that is cut off: nothing$/],
];
for (const [name, fault, reason] of passing) {
  test(`${name} is tried again after the base delay`, async (t) => {
    const server = await startModelServer(t, [fault, says('Done.')]);
    const { answer, failures } = await askOnce(endpointOf(server.baseUrl));
    assert.equal(answer?.content, 'Done.');
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.reason as string, reason);
    const waitMs = failures[0]?.waitMs as number;
    assert.ok(waitMs >= BASE_DELAY_MS / 2 && waitMs <= BASE_DELAY_MS, String(waitMs));
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
const lasting: [name: string, fault: Reply, error: string | RegExp][] = [
  [
    '400',
    fails(400, 'Unknown parameter: seed'),
    'The model provider returned 400: Unknown parameter: seed',
  ],
  [
    '401',
    fails(401, `Incorrect API key provided: ${KEY}.`),
    /returned 401: Incorrect API key provided: \[key\]\.$/,
  ],
  ['402', fails(402, 'Insufficient credits'), /returned 402: Insufficient credits$/],
  ['403', fails(403, 'Country not supported'), /returned 403: Country not supported$/],
  ['404', fails(404, 'No such model'), /returned 404: No such model$/],
  [
    '422',
    { status: 422, body: fixture('error-fastapi') },
    /returned 422: \[\{"type":"missing","loc":\["body","model"\]/,
  ],
  [
    'an error in a list',
    { status: 400, body: fixture('error-gemini-array') },
    /returned 400: API key not valid\. Please/,
  ],
  [
    "an error with another provider's words behind it",
    { status: 400, body: fixture('error-openrouter-metadata') },
    /returned 400: Provider returned error: \{"error":\{"message":"max_tokens is too large: 999999"\}\}$/,
  ],
  [
    'an error without "error"',
    { status: 400, body: fixture('error-vllm') },
    /returned 400: This model's maximum context/,
  ],
  [
    'an error that is text',
    { status: 404, body: fixture('error-ollama') },
    /returned 404: model "llama9" not found/,
  ],
  [
    'an error with details',
    { status: 422, body: fixture('error-mistral') },
    /Extra inputs are not permitted/,
  ],
  [
    '200 with an error text',
    { body: { error: 'model is loading' } },
    /returned 200: model is loading$/,
  ],
  [
    '200 with an error in the flat form of vLLM',
    { body: { object: 'error', message: 'Too long', type: 'BadRequestError', code: 400 } },
    /returned 400: Too long$/,
  ],
  [
    'an answer that ended in an error',
    { body: answers({ content: 'Half of' }, 'error').body },
    /returned 200: its finish_reason is error$/,
  ],
  [
    'content that no text can be made of',
    { body: answers({ content: NO_TEXT }).body },
    /unreadable response: its content is neither text nor a list: \{/,
  ],
  [
    'a reason for its end that no text can be made of',
    { body: { choices: [{ message: { content: 'Done.' }, finish_reason: NO_TEXT }] } },
    /unreadable response: its finish reason is not text: \{/,
  ],
  [
    'an error whose code and type no text can be made of',
    { body: { error: { code: NO_TEXT, type: NO_TEXT } } },
    /returned 200: \{"code":\{"toString":1,"valueOf":1\}/,
  ],
  [
    '200 with plain text',
    text('Not today', 'text/plain'),
    /returned 200: text\/plain instead of JSON: Not today$/,
  ],
  [
    '200 with a page',
    page(200, 'Sign in'),
    /returned 200: text\/html instead of JSON: Sign in Sign in$/,
  ],
  [
    '200 with events',
    text('data: {"choices":[]}\n\n', 'text/event-stream'),
    /returned 200: text\/event-stream instead of/,
  ],
  [
    '200 without choices',
    { body: fixture('error-no-choices') },
    /unreadable response: it has no choices\[0\]\.message: \{"id"/,
  ],
  [
    '200 with base_resp',
    { body: fixture('error-minimax-base-resp') },
    /no choices.*insufficient balance/,
  ],
  [
    'an answer of 10 MB',
    { body: { choices: [], padding: 'x'.repeat(10 * 1024 * 1024) } },
    'The model provider sent an unreadable response: the response is larger than 1048576 bytes',
  ],
  ...['compress', 'gzip, br', 'constructor'].map((coding): [string, Reply, string] => [
    `an answer in the unknown coding ${coding}`,
    inCoding(coding, Buffer.from(BODY)),
    `The model provider sent an unreadable response: its content coding, ${coding}, is unknown and was not requested`,
  ]),
  ...codings
    .filter(([coding]) => coding !== 'Identity')
    .map(([coding]): [string, Reply, RegExp] => [
      `an answer that is not in its coding, ${coding}`,
      inCoding(coding, Buffer.from(BODY)),
      /unreadable response: it cannot be decompressed: [\w ]+$/,
    ]),
  [
    'an answer of 10 MB, compressed',
    inCoding('gzip', gzipSync(Buffer.alloc(10 * 1024 * 1024))),
    'The model provider sent an unreadable response: the response is larger than 1048576 bytes',
  ],
  [
    'a redirect',
    { status: 308, headers: { location: `https://elsewhere.example/?key=${KEY}` }, body: '' },
    'The model provider returned 308: a redirect to https://elsewhere.example/?key=[key], which is not followed; check the base URL',
  ],
  [
    'an error that spells the key in escapes',
    text(
      `{"error":{"message":"Wrong key ${KEY.replaceAll('-', '\\u002d').replace('"', '\\u0022').replace('\\8', '\\\\8')}"}}`,
      'application/json',
      401,
    ),
    'The model provider returned 401: Wrong key [key]',
  ],
  [
    'a content type that is the key',
    text('Hello', KEY),
    /returned 200: \[key\] instead of JSON: Hello$/,
  ],
  [
    'an error that repeats the key where it is cut',
    fails(400, `${'x'.repeat(290)} ${KEY}`),
    /400: x{290} \[key\]$/,
  ],
];
for (const [name, fault, error] of lasting) {
  test(`${name} fails at once`, async (t) => {
    const server = await startModelServer(t, [fault]);
    const asked = await askOnce(endpointOf(server.baseUrl));
    if (typeof error === 'string') assert.equal(asked.error, error);
    else assert.match(asked.error as string, error);
    assert.equal(server.requests.length, 1);
    assert.deepEqual(asked.failures, [
      { reason: asked.error?.replace('The model provider ', ''), waitMs: null },
    ]);
    assert.ok(!JSON.stringify(asked).includes(KEY.slice(0, 12)), JSON.stringify(asked));
  });
}

test('any error beside an answer is one, except null', async (t) => {
  const errors: [error: unknown, words: string | null][] = [
    [null, null],
    ['', '""'],
    [{}, '{}'],
    [false, 'false'],
    [{ message: '', code: null }, '{"message":"","code":null}'],
    [{ message: '', type: 'quota' }, 'quota'],
    [{ code: 'internal' }, 'internal'],
  ];
  for (const [error, words] of errors) {
    const server = await startModelServer(t, [{ body: { ...says('Done.').body, error } }]);
    const asked = await askOnce(endpointOf(server.baseUrl, { maxRetries: 0 }));
    assert.equal(asked.error, words && `The model provider returned 200: ${words}`);
  }
});

test('when all tries are used up the error says how many there were, and the waits have doubled', async (t) => {
  const server = await startModelServer(t, [fails(500, 'Oops')]);
  const { error, failures } = await askOnce(endpointOf(server.baseUrl));
  assert.equal(error, 'The model provider returned 500: Oops (after 4 tries)');
  assert.equal(server.requests.length, 4);
  const waits = failures.map(({ waitMs }) => waitMs);
  assert.equal(waits[3], null);
  waits.slice(0, 3).forEach((waitMs, index) => {
    const longest = BASE_DELAY_MS * 2 ** index;
    assert.ok((waitMs as number) >= longest / 2 && (waitMs as number) <= longest, String(waits));
  });
  assert.equal(
    (await askOnce(endpointOf(server.baseUrl, { maxRetries: 0 }))).error,
    'The model provider returned 500: Oops',
  );
});

test('a provider that never responds is retried, each time within the time limit', async (t) => {
  const server = await startModelServer(t, () => 'never');
  const { error, failures } = await askOnce(
    endpointOf(server.baseUrl, { requestTimeoutMs: 50, maxRetries: 2 }),
  );
  const reason = 'could not be reached: no response within 0.05 seconds';
  assert.equal(error, `The model provider ${reason} (after 3 tries)`);
  assert.deepEqual(
    failures.map((failure) => failure.reason),
    Array(3).fill(reason),
  );
  assert.equal(server.requests.length, 3);
});

test('a time limit counts to the last byte, not to the first', async (t) => {
  const dripping = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{');
    const timer = setInterval(() => socket.write(' '), 10);
    socket.on('close', () => clearInterval(timer));
  }).listen(0, '127.0.0.1');
  t.after(() => dripping.close());
  await new Promise((resolve) => dripping.once('listening', resolve));
  const { port } = dripping.address() as { port: number };
  const { error } = await askOnce(
    endpointOf(`http://127.0.0.1:${port}`, { requestTimeoutMs: 80, maxRetries: 0 }),
  );
  assert.equal(error, 'The model provider could not be reached: no response within 0.08 seconds');
});

test('a refused connection is retried, and reported after the last try', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  const { error } = await askOnce(endpointOf(`http://127.0.0.1:${port}/v1`, { maxRetries: 1 }));
  assert.equal(
    error,
    `The model provider could not be reached: connect ECONNREFUSED 127.0.0.1:${port} (after 2 tries)`,
  );
});

test('untrusted or missing TLS fails immediately and says what to do', async (t) => {
  const tls = await startModelServer(t, [says('Done.')], { tls: true });
  const untrusted = await askOnce(endpointOf(tls.baseUrl));
  assert.equal(
    untrusted.error,
    'The model provider could not be reached: its certificate is not trusted: self-signed certificate (NODE_EXTRA_CA_CERTS can name a file of certificates to trust)',
  );
  const bare = await startModelServer(t, [says('Done.')]);
  const noTls = await askOnce(endpointOf(bare.baseUrl.replace('http:', 'https:')));
  assert.equal(
    noTls.error,
    'The model provider could not be reached: no TLS connection can be made there: wrong version number',
  );
  assert.deepEqual([tls.requests.length, bare.requests.length], [0, 0]);
});

test('a redirect is not followed, so that the key goes nowhere else', async (t) => {
  const other = await startModelServer(t, [says('Done.')]);
  for (const status of [301, 302, 303, 307, 308]) {
    const reply = { status, headers: { location: `${other.baseUrl}/chat/completions` }, body: '' };
    const server = await startModelServer(t, [reply]);
    const { error } = await askOnce(endpointOf(server.baseUrl));
    assert.match(error as string, new RegExp(`returned ${status}: a redirect to ${other.baseUrl}`));
  }
  assert.equal(other.requests.length, 0);
});

const retryAfters: [headers: Record<string, string>, waitMs: number | undefined][] = [
  [{}, undefined],
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': ' 3 ' }, 3_000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Mon, 10 Nov 2025 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Mon, 10 Nov 2025 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after-ms': '1250', 'retry-after': '2' }, 1_250],
  [{ 'retry-after-ms': '', 'retry-after': '2' }, 2_000],
];
for (const [headers, waitMs] of retryAfters) {
  test(`how long ${JSON.stringify(headers)} asks to wait`, () => {
    assert.equal(readRetryAfter(headers, Date.parse('2025-11-10T12:00:00Z')), waitMs);
  });
}

test('a wait doubles with each try, respects that of the provider, and has a maximum', () => {
  const within = (waitMs: number, longest: number) =>
    assert.ok(waitMs >= longest / 2 && waitMs <= longest, String(waitMs));
  within(waitAfter(1, 1_000), 1_000);
  within(waitAfter(3, 1_000), 4_000);
  assert.equal(waitAfter(1, 1_000, 7_000), 7_000);
  within(waitAfter(5, 1_000, 2), 16_000);
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

const baseUrls: [suffix: string, path: string][] = [
  ['', '/chat/completions'],
  ['/', '/chat/completions'],
  ['/v1', '/v1/chat/completions'],
  ['/v1/', '/v1/chat/completions'],
  ['/v1//', '/v1/chat/completions'],
  ['/api/v1/chat/completions', '/api/v1/chat/completions'],
  [
    '/openai/deployments/x?api-version=2024-10-21',
    '/openai/deployments/x/chat/completions?api-version=2024-10-21',
  ],
];
for (const [suffix, path] of baseUrls) {
  test(`the base URL http://host${suffix} is requested at ${path}`, async (t) => {
    const server = await startModelServer(t, [says('Done.')]);
    await askOnce(endpointOf(`http://127.0.0.1:${server.port}${suffix}`));
    assert.equal(server.requests[0]?.path, path);
  });
}

test('the request: key, parameters, messages and tools, and nothing else', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  const parameters = {
    model: 'm',
    temperature: 0,
    top_p: 0.9,
    seed: 7,
    max_tokens: 100,
    reasoning_effort: 'low',
    top_k: 3,
  };
  await askOnce(endpointOf(server.baseUrl, { parameters }));
  const [{ method, headers, body }] = server.requests as [ModelServer['requests'][0]];
  assert.deepEqual(body, {
    ...parameters,
    messages: opening,
    tools: [{ type: 'function', function: tools[0] }],
  });
  assert.deepEqual(
    [method, headers.authorization, headers['content-type'], headers.accept],
    ['POST', `Bearer ${KEY}`, 'application/json', 'application/json'],
  );
  assert.match(headers['user-agent'] as string, /^trading-simulation-service\/\d/);
});

test('a server that needs no key gets none', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  await askOnce(endpointOf(server.baseUrl, { apiKey: null }));
  assert.equal(server.requests[0]?.headers.authorization, undefined);
});

test('parameters cannot take the place of the conversation', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  await askOnce(
    endpointOf(server.baseUrl, { parameters: { model: 'm', messages: [], tools: [] } }),
  );
  assert.deepEqual(server.requests[0]?.body.messages, opening);
});

test('a key that is a word is not removed from answers, a real one is', async (t) => {
  const behaviour: Behaviour = ({ headers }) =>
    says(`You sent ${headers.authorization}; I run on ollama.`);
  const server = await startModelServer(t, behaviour);
  const heard = async (apiKey: string) =>
    (await askOnce(endpointOf(server.baseUrl, { apiKey }))).answer?.content;
  assert.equal(await heard('ollama'), 'You sent Bearer ollama; I run on ollama.');
  assert.equal(await heard(KEY), 'You sent Bearer [key]; I run on ollama.');
});

test('other secrets of a request are removed from answers and errors too, the longest first', async (t) => {
  const secrets = [`${KEY}-of-body`, 'word'];
  const server = await startModelServer(t, ({ body }) =>
    (body.user === 'a' ? says : (text: string) => fails(401, text))(`${KEY}-of-body, ${KEY}, word`),
  );
  const ask = (user: string) =>
    askOnce(endpointOf(server.baseUrl, { secrets, parameters: { model: 'test', user } }));
  assert.equal((await ask('a')).answer?.content, '[key], [key], word');
  assert.match(String((await ask('b')).error), /401: \[key\], \[key\], word$/);
});

/** A conversation after one answer, as the second request shows it. */
async function historyAfter(t: TestContext, body: unknown): Promise<any[]> {
  const server = await startModelServer(t, [{ body }, says('Done.')]);
  const { answer } = await askOnce(endpointOf(server.baseUrl));
  const { content, toolCalls, carried } = answer as ModelAnswer;
  const replies = toolCalls.map(({ id }) => ({ role: 'tool', id, content: '{}' }) as const);
  await askOnce(endpointOf(server.baseUrl), [
    ...opening,
    { role: 'assistant', content, toolCalls, carried },
    ...replies,
  ]);
  return server.requests[1]?.body.messages.slice(1);
}

interface FixtureMessage {
  reasoning_details?: unknown;
  tool_calls: [{ id: string }];
}

function messageIn(name: string): FixtureMessage {
  const { choices } = fixture(name) as { choices: [{ message: FixtureMessage }] };
  return choices[0].message;
}

const histories: [name: string, message: object][] = [
  ['openai-tool-call', {}],
  ['deepseek-reasoner', { reasoning_content: 'AAPL looks cheap.' }],
  ['openrouter', { reasoning_details: messageIn('openrouter').reasoning_details }],
  ['groq', {}], // refuses its own `reasoning`
];
for (const [name, message] of histories) {
  test(`the history is sent back to ${name} in its own form`, async (t) => {
    const [{ id }] = messageIn(name).tool_calls;
    assert.deepEqual(await historyAfter(t, fixture(name)), [
      {
        role: 'assistant',
        content: null,
        ...message,
        tool_calls: [
          {
            id,
            type: 'function',
            function: { name: 'buy', arguments: '{"symbol":"AAPL","amount":5}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: id, content: '{}' },
    ]);
  });
}

test("Gemini's signature goes back with the call that it belongs to", async (t) => {
  const [assistant] = await historyAfter(t, fixture('gemini'));
  assert.deepEqual(
    assistant.tool_calls.map((call: any) => call.extra_content),
    [{ google: { thought_signature: 'CukCAdHtim8' } }, undefined],
  );
});

test('calls that could not be sent back as they came are repaired in the history', async (t) => {
  const broken = (name: string, args: unknown) => ({
    id: `id-${name}`,
    function: { name, arguments: args },
  });
  const body = {
    choices: [
      {
        message: {
          tool_calls: [
            broken('buy', '{broken'),
            broken('functions.buy', '{}'),
            broken('sell', '[1]'),
          ],
        },
      },
    ],
  };
  const [assistant] = await historyAfter(t, body);
  assert.deepEqual(
    assistant.tool_calls.map((call: any) => [
      call.type,
      call.function.name,
      call.function.arguments,
    ]),
    [
      ['function', 'buy', '{}'],
      ['function', 'unknown', '{}'],
      ['function', 'sell', '{}'],
    ],
  );
});

test('once an answer had reasoning_content, every assistant message goes back with it, empty where it had none', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  const said = (content: string, message: object | null) => [
    {
      role: 'assistant',
      content,
      toolCalls: [{ id: content, name: 'buy', arguments: '{}' }],
      carried: message && { message, calls: [] },
    } as ChatMessage,
    { role: 'tool', id: content, content: '{}' } as const,
  ];
  const sent = async (...messages: (object | null)[]) => {
    const conversation = [
      ...opening,
      ...messages.flatMap((message, index) => said(String(index), message as never)),
    ];
    await askOnce(endpointOf(server.baseUrl), conversation);
    const last = server.requests.at(-1)?.body.messages ?? [];
    return last
      .filter(({ role }: any) => role === 'assistant')
      .map((message: any) => message.reasoning_content);
  };
  assert.deepEqual(await sent(null, { reasoning_content: 'Hm.' }, null), ['', 'Hm.', '']);
  assert.deepEqual(await sent(null, { reasoning_content: '' }), ['', '']);
  assert.deepEqual(await sent(null, null), [undefined, undefined]);
});

const strictly: [tool: ToolName, isStrict: boolean][] = [
  ['buy', true],
  ['get_portfolio', true],
  ['get_price', false], // its date may be omitted
  ['search_news', false], // its query has a length
];
for (const [name, strict] of strictly) {
  test(`Responses ${strict ? 'holds the model to' : 'does not hold the model to'} the schema of ${name}`, () => {
    const tools = [{ name, description: '', parameters: toolParameters[name] }];
    const body = dialects.responses.body({
      conversation: [],
      tools,
      parameters: {},
      isStreamed: false,
      cacheKey: null,
      adds: () => false,
    });
    assert.deepEqual(
      asArray(body['tools'])?.map((tool) => asObject(tool)?.['strict']),
      [strict],
    );
  });
}
