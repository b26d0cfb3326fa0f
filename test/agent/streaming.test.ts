import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { createProviderModel, type FailedTry } from '../../src/agent/provider/ask.ts';
import type { ModelAnswer } from '../../src/agent/model.ts';
import type { ApiDialect } from '../../src/basics/domain.ts';
import { httpStream } from '../../src/basics/http-client.ts';
import type { Addition, Endpoint } from '../../src/wire/protocol.ts';
import {
  type Behaviour,
  type ModelServer,
  type Reply,
  startModelServer,
  type StreamedReply,
} from '../support/model-server.ts';
import { listenHere } from '../support/loopback.ts';
import { leftToLongForm } from '../support/long.ts';

/**
 * Streams as they come over a real connection: what HTTP adds to what test/agent/streams.test.ts
 * reads from a corpus.
 */

const KEY = 'sk-test-01"23\\456789abcdef';
/** What `String()` throws at. */
const NO_TEXT = { toString: 1, valueOf: 1 };
const MIB = 1024 * 1024;

/** A whole stream of each dialect, and the tokens that its first events tell, if they tell any. */
const dialects: [api: ApiDialect, stream: string, toldTokens: number | null][] = [
  ['chat', 'chat-openai.sse', null],
  ['responses', 'responses-openai.sse', null],
  ['messages', 'messages-claude.sse', 1486],
];

const bytesOf = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/streams/${name}`, import.meta.url));

interface Asked {
  answer: ModelAnswer | null;
  error: string | null;
  failures: FailedTry[];
  refused: (readonly Addition[])[];
  server: ModelServer;
}

async function ask(
  t: TestContext,
  api: ApiDialect,
  behaviour: Behaviour,
  changes: Partial<Endpoint> = {},
): Promise<Asked> {
  const server = await startModelServer(t, behaviour);
  const patience = { requestTimeoutMs: 60_000, maxRetries: 1, baseDelayMs: 1 };
  const asked = { api, parameters: { model: 'test' }, stream: 'added', cacheKey: null } as const;
  const endpoint: Endpoint = {
    kind: 'provider',
    baseUrl: server.baseUrl,
    apiKey: KEY,
    leftOut: [],
    ...asked,
    ...patience,
    ...changes,
  };
  const failures: FailedTry[] = [];
  const refused: Asked['refused'] = [];
  const onFailure = (failed: FailedTry) => void failures.push(failed);
  const model = createProviderModel(endpoint, {
    tools: [],
    onFailure,
    onRefused: (names) => void refused.push(names),
  });
  const result = { failures, refused, server };
  try {
    return {
      ...result,
      answer: await model([{ role: 'user', content: "Today's date: 2025-11-10" }]),
      error: null,
    };
  } catch (error) {
    return { ...result, answer: null, error: (error as Error).message };
  }
}

const whole = (name: string): StreamedReply => ({ pieces: [bytesOf(name)] });
/** A stream up to its last few events. */
const half = (name: string): string => {
  const events = bytesOf(name).toString().split('\n\n');
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
      const { answer: plain } = await ask(t, api, [whole(name)]);
      const timing = then === 'silence' ? { requestTimeoutMs: 300 } : {};
      const { answer, failures, server } = await ask(
        t,
        api,
        [{ pieces: [half(name)], then }, whole(name)],
        timing,
      );
      assert.deepEqual({ ...answer, carried: null }, { ...plain, carried: null });
      assert.equal(failures.length, 1);
      assert.match(failures[0]?.reason ?? '', reason);
      assert.equal(failures[0]?.usage?.promptTokens ?? null, told);
      assert.deepEqual(server.requests[1], server.requests[0]);
    });
  }

  test(`${api}: a slow but steady trickle may last longer than the time limit`, async (t) => {
    const requestTimeoutMs = 1_000;
    async function* trickle(): AsyncGenerator<string | Buffer> {
      const start = performance.now();
      while (performance.now() - start < 1.5 * requestTimeoutMs) {
        yield ': still thinking\n\n';
        await pause(requestTimeoutMs / 50);
      }
      yield bytesOf(name);
    }
    const { answer, failures, error } = await ask(t, api, [{ pieces: trickle() }], {
      requestTimeoutMs,
    });
    assert.deepEqual([error, failures], [null, []]);
    assert.notEqual(answer, null);
  });

  const afterwards: [error: object, reason: string, isRetried?: true][] = [
    [{ error: { type: 'overloaded_error', message: 'Not now' } }, '529: Not now', true],
    [{ error: { type: 'invalid_request_error', message: 'Not now' } }, '400: Not now'],
    [{ error: { type: 'server_error', code: 'internal' } }, '500: server_error', true],
    [{ type: 'error', error: { type: 'overloaded_error' } }, '529: overloaded_error', true],
    [{ type: 'error', code: 'server_error', message: null }, '500: server_error', true],
    [{ object: 'error', message: 'Too long', code: 400 }, '400: Too long'],
    [{ error: 'Not now' }, '200: Not now'],
    [{ error: {} }, '200: {}'],
    [{ error: false }, '200: false'],
  ];
  for (const [error, reason, isRetried = false] of afterwards) {
    test(`${api}: ${JSON.stringify(error)} within a stream is ${isRetried ? 'retried' : 'final'}`, async (t) => {
      const {
        answer,
        failures,
        error: thrown,
      } = await ask(t, api, [{ pieces: [half(name), event(error), ...ending[api]] }, whole(name)]);
      assert.deepEqual(
        failures.map((failed) => failed.reason),
        [`returned ${reason}`],
      );
      assert.equal(failures[0]?.usage?.promptTokens ?? null, told);
      assert.equal(answer !== null, isRetried);
      assert.equal(thrown, isRetried ? null : `The model provider returned ${reason}`);
    });
  }

  test(`${api}: a stream that has another shape is paid once`, async (t) => {
    const odd = event({ type: NO_TEXT, choices: [{ delta: { content: NO_TEXT } }] });
    const { error, failures } = await ask(t, api, [{ pieces: [half(name), odd] }]);
    assert.match(error ?? '', /^The model provider sent an unreadable stream: .* is not text: \{/);
    assert.equal(failures.length, 1);
  });

  test(`${api}: an event that is an error by its name is one`, async (t) => {
    const pieces = [half(name), `event: error\n${event({ detail: 'Not now' })}`, ...ending[api]];
    const { error } = await ask(t, api, [{ pieces }]);
    assert.equal(error, 'The model provider returned 200: Not now');
  });

  test(`${api}: a gateway's page in answer to a request for a stream is retried, and told without its markup`, async (t) => {
    const page: Reply = { status: 502, body: '<html><h1>Bad Gateway</h1></html>' };
    const { answer, failures } = await ask(t, api, [page, whole(name)]);
    assert.notEqual(answer, null);
    assert.deepEqual(
      failures.map(({ reason }) => reason),
      ['returned 502: text/html instead of JSON: Bad Gateway'],
    );
  });

  test(`${api}: a compressed stream is decoded, and one that breaks off within it is tried again`, async (t) => {
    const { answer: plain } = await ask(t, api, [whole(name)]);
    for (const [coding, compress] of [
      ['gzip', gzipSync],
      ['zstd', zstdCompressSync],
    ] as const) {
      const bytes = compress(bytesOf(name));
      const headers = { 'content-encoding': coding };
      const { answer, failures } = await ask(t, api, [
        { headers, pieces: [bytes.subarray(0, bytes.length / 2)] },
        { headers, pieces: [bytes] },
      ]);
      assert.deepEqual({ ...answer, carried: null }, { ...plain, carried: null });
      assert.match(
        failures.map(({ reason }) => reason).join(),
        /^could not be reached: the connection was cut/,
      );
    }
  });

  // Every dialect is read by the same reader.
  const skip = api !== 'chat' && leftToLongForm;
  test(`${api}: an event of 100 MB is one clear failure, in bounded memory`, {
    skip,
  }, async (t) => {
    const { error, sent, grownMiB } = await flood(t, api, {
      first: 'data: {"padding":"',
      piece: 'x'.repeat(MIB / 16),
      most: 100 * MIB,
    });
    assert.equal(
      error,
      'The model provider sent an unreadable response: an event is larger than 1048576 bytes',
    );
    assert.ok(sent < 50 * MIB, `${sent} bytes went out`);
    assert.ok(grownMiB < 64, `${grownMiB} MiB more`);
  });

  test(`${api}: comments without end are one clear failure after 32 MiB, in bounded memory`, {
    skip: leftToLongForm,
  }, async (t) => {
    const { error, sent, grownMiB } = await flood(t, api, {
      first: '',
      piece: `:${'x'.repeat(1022)}\n`.repeat(64),
      most: 200 * MIB,
    });
    assert.equal(
      error,
      `The model provider sent an unreadable response: the response is larger than ${32 * MIB} bytes`,
    );
    assert.ok(sent >= 32 * MIB && sent < 100 * MIB, `${sent} bytes went out`);
    assert.ok(grownMiB < 64, `${grownMiB} MiB more`);
  });

  test(`${api}: a key that the provider repeats, in pieces or in an error, is shown nowhere`, async (t) => {
    const said = (text: string) => `data: ${JSON.stringify(piecesOf[api](text))}\n\n`;
    const error = (words: string) =>
      `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message: words } })}\n\n`;
    const replies: [what: string, pieces: string[]][] = [
      ['an error', [half(name), error(`Wrong key ${KEY}`)]],
      ['an error that would be cut within it', [half(name), error(`${'x'.repeat(290)} ${KEY}`)]],
      [
        'an event other than an object',
        [half(name), `data: ${'x'.repeat(240)} ${KEY} ${'x'.repeat(100)}\n\n`],
      ],
      ...Array.from({ length: 20 }, (_, at): [string, string[]] => [
        `an event other than an object, cut ${at} later`,
        [half(name), `data: ${'x'.repeat(280 + at)} ${KEY}\n\n`],
      ]),
      [
        'an event other than an object and has escapes',
        [half(name), `data: [${JSON.stringify(KEY).replaceAll('-', '\\u002d')}]\n\n`],
      ],
    ];
    for (const [what, pieces] of replies) {
      const { error: told, failures } = await ask(t, api, [{ pieces }], { maxRetries: 0 });
      assert.ok(told !== null, what);
      assertHidden({ told, failures }, what);
    }
    if (api === 'responses') return; // its items come whole
    const { answer } = await ask(t, api, [
      { pieces: [...opening[api], said(KEY.slice(0, 9)), said(KEY.slice(9)), ...ending[api]] },
    ]);
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
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  }),
};
const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
const opening: Record<ApiDialect, string[]> = {
  chat: [],
  responses: [],
  messages: [
    event({
      type: 'message_start',
      message: { id: 'm', role: 'assistant', content: [], model: 'c' },
    }),
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

test('a stream that is closed ends, and so does its connection', async (t) => {
  let left = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.on('close', () => left.resolve()).write('data: {}\n\n');
  });
  const port = await listenHere(t, server);
  const timeoutMs = 60_000;
  for (const isTimedBySilence of [true, undefined] as const) {
    const request = { timeoutMs, ...(isTimedBySilence && { isTimedBySilence }) };
    const stream = await httpStream(`http://127.0.0.1:${port}`, request);
    assert.ok(stream.failure === undefined);
    let chunks = 0;
    const reading = (async () => {
      for await (const _ of stream.body) {
        chunks += 1;
        stream.close();
      }
    })();
    await assert.rejects(reading, { code: 'ERR_STREAM_PREMATURE_CLOSE' });
    assert.equal(chunks, 1);
    await left.promise;
    left = Promise.withResolvers<void>();
  }
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
    const body: unknown = JSON.parse(
      readFileSync(new URL(`../fixtures/${file}`, import.meta.url), 'utf8'),
    );
    const streamed = await ask(t, api, [{ body }]);
    assert.equal(streamed.server.requests[0]?.body.stream, true);
    const asWhole = await ask(t, api, [{ body }], { stream: 'off' });
    const plain = ({ answer }: Asked) => ({ ...answer, carried: null });
    assert.deepEqual(plain(streamed), plain(asWhole));
    assert.ok((streamed.answer?.toolCalls.length ?? 0) > 0);
  });
}
