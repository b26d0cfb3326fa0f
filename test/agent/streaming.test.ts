import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import type { ProviderEndpoint } from '../../src/core/wire/protocol.ts';
import { type Asked, askOnce, endpointOf, KEY, NO_TEXT } from '../support/ask-provider.ts';
import {
  type Behaviour,
  type ModelRequest,
  type Reply,
  startModelServer,
  type StreamedReply,
} from '../support/model-server.ts';
import { leftToLongForm } from '../support/long.ts';
import { tableOf } from '../support/text-table.ts';

/**
 * Streams as they come over a real connection: what HTTP adds to what test/agent/streams.test.ts
 * reads from a corpus.
 */

const MIB = 1024 * 1024;

/** A whole stream of each dialect, and the tokens that its first events tell, if they tell any. */
const dialects: [api: ApiDialect, stream: string, toldTokens: number | null][] = [
  ['chat', 'chat-openai.sse', null],
  ['responses', 'responses-openai.sse', null],
  ['messages', 'messages-claude.sse', 1486],
];

const bytesOf = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url));

async function ask(
  t: TestContext,
  api: ApiDialect,
  behaviour: Behaviour,
  changes: Partial<ProviderEndpoint> = {},
): Promise<Asked & { requests: ModelRequest[] }> {
  const { baseUrl, requests } = await startModelServer(t, behaviour);
  const patience = { maxRetries: 1, baseDelayMs: 1 };
  const endpoint = endpointOf(baseUrl, { api, stream: 'added', ...patience, ...changes });
  return { ...(await askOnce(endpoint)), requests };
}

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

const withoutCarried = ({ answer }: Asked) => ({ ...answer, carried: null });

const whole = (name: string): StreamedReply => ({ pieces: [bytesOf(`streams/${name}`)] });
/** A stream up to its last few events. */
const half = (name: string): string => {
  const events = bytesOf(`streams/${name}`).toString().split('\n\n');
  return `${events.slice(0, Math.ceil(events.length / 2)).join('\n\n')}\n\n`;
};

for (const [api, name, told] of dialects) {
  const broken: [what: string, then: 'end' | 'cut' | 'silence', reason: RegExp][] = [
    ['that falls silent', 'silence', /^could not be reached: nothing arrived for 0\.3 seconds$/],
    ['whose connection is cut', 'cut', /^could not be reached: the connection was cut/],
    ['that ends before its end', 'end', /^broke off its stream before its end$/],
  ];
  for (const [what, then, reason] of broken) {
    test(`${api}: a stream ${what} is one failed try, whose tokens count where it told them`, async (t) => {
      const plain = await ask(t, api, [whole(name)]);
      const timing = then === 'silence' ? { requestTimeoutMs: 300 } : {};
      const replies = [{ pieces: [half(name)], then }, whole(name)];
      const asked = await ask(t, api, replies, timing);
      const { failures, requests } = asked;
      assert.deepEqual(withoutCarried(asked), withoutCarried(plain));
      assert.equal(failures.length, 1);
      assert.match(failures[0]?.reason ?? '', reason);
      assert.equal(failures[0]?.usage?.promptTokens ?? null, told);
      assert.deepEqual(requests[1], requests[0]);
    });
  }

  // Every dialect is read by the same reader.
  const skip = api !== 'chat' && leftToLongForm;
  test(`${api}: a slow but steady trickle may last longer than the time limit`, {
    skip,
  }, async (t) => {
    const requestTimeoutMs = 1_000;
    async function* trickle(): AsyncGenerator<string | Buffer> {
      const start = performance.now();
      while (performance.now() - start < 1.5 * requestTimeoutMs) {
        yield ': still thinking\n\n';
        await pause(requestTimeoutMs / 50);
      }
      yield bytesOf(`streams/${name}`);
    }
    const pieces = trickle();
    const { answer, failures, error } = await ask(t, api, [{ pieces }], { requestTimeoutMs });
    assert.deepEqual([error, failures], [null, []]);
    assert.notEqual(answer, null);
  });

  for (const [error, end, reason] of errors) {
    test(`${api}: ${error} within a stream is ${end}`, async (t) => {
      const isRetried = end === 'retried';
      const pieces = [half(name), event(JSON.parse(error)), ...ending[api]];
      const asked = await ask(t, api, [{ pieces }, whole(name)]);
      const reasons = asked.failures.map((failed) => failed.reason);
      assert.deepEqual(reasons, [`returned ${reason}`]);
      assert.equal(asked.failures[0]?.usage?.promptTokens ?? null, told);
      assert.equal(asked.answer !== null, isRetried);
      assert.equal(asked.error, isRetried ? null : `The model provider returned ${reason}`);
    });
  }

  test(`${api}: a stream that has another shape is paid once`, async (t) => {
    const odd = event({ type: NO_TEXT, choices: [{ delta: { content: NO_TEXT } }] });
    const { error, failures } = await ask(t, api, [{ pieces: [half(name), odd] }]);
    assert.match(error ?? '', /^The model provider sent an unreadable stream: .* is not text: \{/);
    assert.equal(failures.length, 1);
  });

  test(`${api}: a gateway's page in answer to a request for a stream is retried, an event that is an error by its name is final`, async (t) => {
    const page: Reply = { status: 502, body: '<html><h1>Bad Gateway</h1></html>' };
    const pieces = [half(name), `event: error\n${event({ detail: 'Not now' })}`, ...ending[api]];
    const { error, failures } = await ask(t, api, [page, { pieces }]);
    assert.equal(error, 'The model provider returned 200: Not now (after 2 tries)');
    const [first] = failures.map(({ reason }) => reason);
    assert.equal(first, 'returned 502: text/html instead of JSON: Bad Gateway');
  });

  test(`${api}: a compressed stream is decoded, and one that breaks off within it is tried again`, async (t) => {
    const plain = await ask(t, api, [whole(name)]);
    for (const [coding, compress] of [
      ['gzip', gzipSync],
      ['zstd', zstdCompressSync],
    ] as const) {
      const bytes = compress(bytesOf(`streams/${name}`));
      const headers = { 'content-encoding': coding };
      const replies = [bytes.subarray(0, bytes.length / 2), bytes].map((part) => ({
        ...{ headers, pieces: [part] },
      }));
      const asked = await ask(t, api, replies);
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
  for (const [what, { error, sentMiB, ...flooded }] of Object.entries(floods)) {
    const isLeft = (skip || what !== 'an event of 100 MB') && leftToLongForm;
    test(`${api}: one clear failure, in bounded memory: ${what}`, { skip: isLeft }, async (t) => {
      const found = await flood(t, api, flooded);
      assert.equal(found.error, `The model provider sent an unreadable response: ${error}`);
      const [least = 0, most = 0] = sentMiB;
      assert.ok(found.sent >= least * MIB && found.sent < most * MIB, `${found.sent} bytes`);
      assert.ok(found.grownMiB < 64, `${found.grownMiB} MiB more`);
    });
  }

  test(`${api}: a key that the provider repeats, in pieces or in an error, is shown nowhere`, async (t) => {
    const error = (message: string) =>
      `event: error\n${event({ type: 'error', error: { type: 'api_error', message } })}`;
    const data = (before: number, after = 0) =>
      `data: ${'x'.repeat(before)} ${KEY} ${'x'.repeat(after)}\n\n`;
    const escaped = JSON.stringify(KEY).replaceAll('-', '\\u002d');
    for (const last of [
      error(`Wrong key ${KEY}`),
      error(`${'x'.repeat(290)} ${KEY}`), // it would be cut within the key
      data(240, 100), // an event other than an object
      ...Array.from({ length: 20 }, (_, at) => data(280 + at)),
      `data: [${escaped}]\n\n`,
    ]) {
      const replies = [{ pieces: [half(name), last] }];
      const { error: told, failures } = await ask(t, api, replies, { maxRetries: 0 });
      assert.ok(told !== null, last);
      assertHidden({ told, failures }, last);
    }
    if (api === 'responses') return; // its items come whole
    const said = [KEY.slice(0, 9), KEY.slice(9)].map((text) => event(piecesOf[api](text)));
    const pieces = [...opening[api], ...said, ...ending[api]];
    const { answer } = await ask(t, api, [{ pieces }]);
    assert.equal(answer?.content, '[key]');
    assertHidden(answer, 'an answer');
  });
}

function assertHidden(told: unknown, what: string): void {
  assert.ok(!JSON.stringify(told).includes(KEY.slice(0, 8)), `${what}: ${JSON.stringify(told)}`);
}

const piecesOf: Record<ApiDialect, (text: string) => object> = {
  chat: (content) => ({ choices: [{ index: 0, delta: { content } }] }),
  responses: () => ({}),
  messages: (text) => ({
    ...{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  }),
};
const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
const opening: Record<ApiDialect, string[]> = {
  chat: [],
  responses: [],
  messages: [
    event({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ],
};
const ending: Record<ApiDialect, string[]> = {
  chat: [event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), 'data: [DONE]\n\n'],
  responses: [],
  messages: [
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
    event({ type: 'message_stop' }),
  ],
};

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
  api: ApiDialect,
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
  const { error, failures } = await ask(t, api, [{ pieces: pieces() }]);
  assert.equal(failures.length, 1, 'it is not tried again');
  return { error, sent, grownMiB: (Math.max(peak, memory()) - before) / MIB };
}

const wholeBodies: [api: ApiDialect, file: string][] = [
  ['chat', 'completions/openai-tool-call.json'],
  ['responses', 'streams/responses-openai.json'],
  ['messages', 'streams/messages-claude.json'],
];
for (const [api, file] of wholeBodies) {
  test(`${api}: a whole body in answer to a request for a stream is read as such`, async (t) => {
    const body: unknown = JSON.parse(bytesOf(file).toString());
    const streamed = await ask(t, api, [{ body }]);
    assert.equal(streamed.requests[0]?.body.stream, true);
    const asWhole = await ask(t, api, [{ body }], { stream: 'off' });
    assert.deepEqual(withoutCarried(streamed), withoutCarried(asWhole));
    assert.ok((streamed.answer?.toolCalls.length ?? 0) > 0);
  });
}
