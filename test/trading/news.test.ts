import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type NewsResult, openNews } from '../../src/trading/news.ts';
import { type ReceivedSearch, sendError, sendResults, startNewsServer } from '../support/news.ts';
import { until } from '../support/until.ts';

const DATE = '2025-01-06';
const KEY = 'jina_secret-key';

interface Searched {
  answer: NewsResult;
  reasons: string[];
  received: ReceivedSearch[];
}

interface SearchOptions {
  query?: string;
  timeoutMs?: number;
  changeUrl?: (url: string) => string;
}

/** One search on the morning of DATE against a server that answers so. */
async function search(
  t: TestContext,
  respond: (response: ServerResponse) => void,
  { query = 'Apple', timeoutMs = 5_000, changeUrl = (url) => url }: SearchOptions = {},
): Promise<Searched> {
  const { url, received } = await startNewsServer(t, respond);
  const reasons: string[] = [];
  const provider = { apiKey: KEY, baseUrl: changeUrl(url), timeoutMs };
  const { signal } = new AbortController();
  const news = openNews(provider, {
    date: DATE,
    signal,
    onFailure: (reason) => reasons.push(reason),
  });
  return { answer: await news(query), reasons, received };
}

const result = (fields: Record<string, unknown>) => ({
  title: 'A title',
  url: 'https://news.example/a',
  description: 'What it says.',
  ...fields,
});

type Fate = 'found' | 'left out' | 'undated';
const LATE = '2025-03-01T10:00:00Z';
const EARLY = '2025-01-04T10:00:00Z';
const fates: [fields: Record<string, unknown>, fate: Fate][] = [
  [{ date: 'Jan 5, 2025' }, 'found'],
  [{ date: '2019-03-04' }, 'found'],
  [{ date: 'Jan 6, 2025' }, 'left out'],
  [{ date: '2025-01-05T20:00:00-05:00' }, 'left out'],
  [{ date: '2025-01-06T05:00:00+09:00' }, 'found'],
  [{ date: '2025-01-07' }, 'left out'],
  [{}, 'undated'],
  [{ date: null }, 'undated'],
  [{ date: '3 days ago' }, 'undated'],
  [{ date: 1_736_035_200_000 }, 'undated'],
  [{ publishedTime: '1970-01-01T00:00:00Z' }, 'undated'],
  [{ publishedTime: 'Sun, 05 Jan 2025 10:00:00 GMT' }, 'found'],
  [{ date: 'Jan 5, 2025', publishedTime: EARLY }, 'found'],
  [{ date: 'Jan 5, 2025', publishedTime: LATE }, 'left out'],
  [{ date: '2 hours ago', publishedTime: EARLY }, 'undated'],
  [{ date: 'Jan 5, 2025', title: null }, 'left out'],
  [{ date: 'Jan 5, 2025', url: 'javascript:alert(1)' }, 'left out'],
];
for (const [fields, fate] of fates) {
  test(`a result with ${JSON.stringify(fields)} is ${fate}`, async (t) => {
    const { answer } = await search(t, (response) => sendResults(response, [result(fields)]));
    assert.ok(answer.refusal === undefined);
    const expected = [fate === 'found' ? 1 : 0, fate === 'undated' ? 1 : 0];
    assert.deepEqual([answer.results.length, answer.undated], expected);
  });
}

test('a result has its date, title, URL and snippet, in the order of the provider', async (t) => {
  const { answer } = await search(t, (response) =>
    sendResults(response, [
      result({
        date: 'Jan 3, 2025',
        content: 'The page as it is today.',
        source: 'Example',
        favicon: 'data:',
      }),
      ...Array(7).fill(result({ date: 'Jan 9, 2025', title: 'The future' })),
      result({ date: '1 hour ago', title: 'The real present' }),
      result({ date: '2025-01-05T10:00:00Z', title: 'Another', description: null }),
    ]),
  );
  assert.deepEqual(answer, {
    results: [
      {
        date: '2025-01-03',
        title: 'A title',
        url: 'https://news.example/a',
        snippet: 'What it says.',
      },
      { date: '2025-01-05', title: 'Another', url: 'https://news.example/a', snippet: '' },
    ],
    undated: 1,
  });
});

test('texts are one clean line of bounded length, and no more results than were asked for', async (t) => {
  const fields = {
    date: '2025-01-05',
    title: `Breaking\u0000\n\n  news\u001b[31m \ud83d\u202e${'t'.repeat(10_000)}`,
    url: `https://news.example/${'u'.repeat(10_000)}`,
    description: '\u{1f600}'.repeat(10_000),
  };
  const { answer } = await search(t, (response) =>
    sendResults(response, [result(fields), ...Array(49).fill(result({ date: '2025-01-05' }))]),
  );
  assert.ok(answer.refusal === undefined);
  assert.equal(answer.results.length, 10);
  const [item] = answer.results;
  assert.match(item?.title ?? '', /^Breaking news \[31m t+…$/);
  assert.deepEqual([item?.title.length, item?.url.length], [200, 500]);
  assert.match(item?.snippet ?? '', /^(\u{1f600})+…$/u);
  assert.ok((item?.snippet.length ?? 0) <= 500);
});

test('the request is what Jina reads, with the key only in its header', async (t) => {
  const query = 'Ünïcode & "quotes" ?q=x#y %20 \u{1f600} \\';
  const { received } = await search(t, (response) => sendResults(response, []), {
    query,
    changeUrl: (url) => `${url}/jina`,
  });
  const [{ method, path, headers, body }] = received as [ReceivedSearch];
  assert.deepEqual([method, path], ['POST', '/jina/']);
  assert.deepEqual(
    [headers.authorization, headers.accept, headers['content-type'], headers['x-respond-with']],
    [`Bearer ${KEY}`, 'application/json', 'application/json', 'no-content'],
  );
  assert.deepEqual(body, { q: `${query} before:2025-01-06`, num: 10, hl: 'en' });
});

test('an empty result is a reply, in both forms that Jina uses', async (t) => {
  const nothing = { results: [], undated: 0 };
  assert.deepEqual((await search(t, (response) => sendResults(response, []))).answer, nothing);
  const error = {
    name: 'AssertionFailureError',
    message: 'No search results available for query Apple',
  };
  const { answer, reasons } = await search(t, (response) => sendError(response, 422, error));
  assert.deepEqual([answer, reasons], [nothing, []]);
});

function html(response: ServerResponse, status: number): void {
  response
    .writeHead(status, { 'content-type': 'text/html' })
    .end('<h1>Apple soars in March 2025</h1>');
}

function text(body: string): (response: ServerResponse) => void {
  return (response) => response.writeHead(200).end(body);
}

function jinaError(
  code: number,
  name: string,
  message: string,
): (response: ServerResponse) => void {
  return (response) => sendError(response, code, { name, message });
}

type Respond = (response: ServerResponse) => void;
const SLOW = { timeoutMs: 200 };
const UNREAD = "the provider's response cannot be read";
const faults: [respond: Respond, forModel: string, reason: RegExp, options?: SearchOptions][] = [
  [() => {}, 'the provider did not respond in time', /no response within 0\.2 seconds/, SLOW],
  [
    (response) => response.writeHead(200).write('{"data": ['),
    'the provider did not respond in time',
    /no response within 0\.2 seconds/,
    SLOW,
  ],
  [
    jinaError(401, 'AuthenticationRequiredError', `Invalid key ${KEY}.`),
    'the provider refused the key',
    /^401: Invalid key \[key\]\.$/,
  ],
  [
    jinaError(402, 'InsufficientBalanceError', 'Please recharge.'),
    "the provider's account is used up",
    /^402: Please recharge\.$/,
  ],
  [
    jinaError(429, 'RateLimitTriggeredError', 'Per UID rate limit exceeded'),
    'the provider allows no more searches for now',
    /^429: Per UID rate limit exceeded$/,
  ],
  [
    jinaError(500, 'Error', `${'x'.repeat(185)}${KEY}`),
    'the provider responded with status 500',
    /^500: x{185}\[key\]$/,
  ],
  [
    jinaError(500, 'Error', 'x'.repeat(100_000)),
    'the provider responded with status 500',
    /^500: x{194}…$/,
  ],
  [(response) => html(response, 200), UNREAD, /^200 with text\/html, which is not a list of resu/],
  [(response) => html(response, 503), 'the provider responded with status 503', /^503$/],
  [
    (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    'the provider responded with status 302',
    /^302$/,
  ],
  [(response) => sendResults(response, null), UNREAD, /not a list of results/],
  [text('null'), UNREAD, /not a list of results/],
  [text('{"code":200,"data":[{"title":"Appl'), UNREAD, /not a list of results/],
  [
    (response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('{"data": [');
      setImmediate(() => response.destroy());
    },
    'the provider cannot be reached',
    /cut in the middle of the response/,
  ],
  [
    text(JSON.stringify({ data: ['x'.repeat(10_000_000)] })),
    "the provider's response is too large",
    /larger than 524288 bytes/,
  ],
  [
    () => {},
    'the provider cannot be reached',
    /ECONNREFUSED/,
    { changeUrl: () => 'http://127.0.0.1:1' },
  ],
  [
    () => {},
    "the provider's certificate is not trusted",
    /./,
    { changeUrl: (url) => url.replace('http:', 'https:') },
  ],
];
for (const [index, [respond, forModel, reason, options]] of faults.entries()) {
  test(`${forModel} (${index + 1}): a refusal for the model, the reason for the log, the key for neither`, async (t) => {
    const { answer, reasons, received } = await search(t, respond, options);
    assert.deepEqual(answer, { refusal: `The news search failed: ${forModel}.` });
    assert.match(reasons.join('\n'), reason);
    assert.doesNotMatch(reasons.join('\n'), /soars|secret/);
    assert.ok(received.length <= 1, 'it is not tried again');
  });
}

test('a day has a limit on searches, failed ones included', async (t) => {
  const { url, received } = await startNewsServer(t, (response) =>
    received.length % 2 === 0 ? sendResults(response, []) : html(response, 500),
  );
  const { signal } = new AbortController();
  const news = openNews(
    { apiKey: KEY, baseUrl: url, timeoutMs: 5_000 },
    { date: DATE, signal, onFailure() {} },
  );
  for (let count = 0; count < 30; count += 1) await news('Apple');
  assert.deepEqual(await news('Apple'), {
    refusal: 'No more than 30 news searches can be made in a day.',
  });
  assert.equal(received.length, 30);
});

test('at the end of the model-day a search is aborted immediately, without a line in the log', async (t) => {
  const { url, asked, hasLeft } = await startNewsServer(t, () => {});
  const ending = new AbortController();
  const reasons: string[] = [];
  const news = openNews(
    { apiKey: KEY, baseUrl: url, timeoutMs: 5_000 },
    { date: DATE, signal: ending.signal, onFailure: (reason) => reasons.push(reason) },
  );
  const searching = news('Apple');
  await asked;
  ending.abort();
  assert.deepEqual(await searching, {
    refusal: 'The news search failed: the model-day has ended.',
  });
  await until('the search to end', hasLeft);
  assert.deepEqual(await news('Apple'), {
    refusal: 'The news search failed: the model-day has ended.',
  });
  assert.deepEqual(reasons, []);
});
