import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type NewsResult, openNews } from '../../src/core/trading/news.ts';
import { type ReceivedSearch, sendError, sendResults, startNewsServer } from '../support/news.ts';
import { like, tableOf } from '../support/text-table.ts';
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

const [EARLY, LATE] = ['2025-01-04T10:00:00Z', '2025-03-01T10:00:00Z'];
const fates = tableOf<[fields: string, fate: string]>(`
  {"date":"Jan 5, 2025"}                                     | found
  {"date":"2019-03-04"}                                      | found
  {"date":"Jan 6, 2025"}                                     | left out
  {"date":"2025-01-05T20:00:00-05:00"}                       | left out
  {"date":"2025-01-06T05:00:00+09:00"}                       | found
  {"date":"2025-01-07"}                                      | left out
  {}                                                         | undated
  {"date":null}                                              | undated
  {"date":"3 days ago"}                                      | undated
  {"date":1736035200000}                                     | undated
  {"publishedTime":"1970-01-01T00:00:00Z"}                   | undated
  {"publishedTime":"Sun, 05 Jan 2025 10:00:00 GMT"}          | found
  {"date":"Jan 5, 2025","publishedTime":"${EARLY}"}          | found
  {"date":"Jan 5, 2025","publishedTime":"${LATE}"}           | left out
  {"date":"2 hours ago","publishedTime":"${EARLY}"}          | undated
  {"date":"Jan 5, 2025","title":null}                        | left out
  {"date":"Jan 5, 2025","url":"javascript:alert(1)"}         | left out
`);
test('only results with a definite date before the day, a title and a URL are found', async (t) => {
  for (const [fields, fate] of fates) {
    const found = [result(JSON.parse(fields))];
    const { answer } = await search(t, (response) => sendResults(response, found));
    assert.ok(answer.refusal === undefined);
    const expected = [fate === 'found' ? 1 : 0, fate === 'undated' ? 1 : 0];
    assert.deepEqual([answer.results.length, answer.undated], expected, fields);
  }
});

test('a result has its date, title, URL and snippet, in the order of the provider', async (t) => {
  const { answer } = await search(t, (response) =>
    sendResults(response, [
      result({ date: 'Jan 3, 2025', content: 'The page as it is today.', favicon: 'data:' }),
      ...Array(7).fill(result({ date: 'Jan 9, 2025', title: 'The future' })),
      result({ date: '1 hour ago', title: 'The real present' }),
      result({ date: '2025-01-05T10:00:00Z', title: 'Another', description: null }),
    ]),
  );
  const url = 'https://news.example/a';
  assert.deepEqual(answer, {
    results: [
      { date: '2025-01-03', title: 'A title', url, snippet: 'What it says.' },
      { date: '2025-01-05', title: 'Another', url, snippet: '' },
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
  const message = 'No search results available for query Apple';
  const error = { name: 'AssertionFailureError', message };
  const { answer, reasons } = await search(t, (response) => sendError(response, 422, error));
  assert.deepEqual([answer, reasons], [nothing, []]);
});

type Respond = (response: ServerResponse) => void;
const SLOW = { timeoutMs: 200 };
const UNREAD = "the provider's response cannot be read";
const html =
  (status: number): Respond =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'text/html' })
      .end('<h1>Apple soars in March 2025</h1>');
const text =
  (body: string): Respond =>
  (response) =>
    response.writeHead(200).end(body);
const jinaError =
  (code: number, message: string): Respond =>
  (response) =>
    sendError(response, code, { name: 'Error', message });
const never: Respond = () => {};
const half: Respond = (response) => response.writeHead(200).write('{"data": [');
const redirect: Respond = (response) => response.writeHead(302, { location: '/elsewhere' }).end();
const cut: Respond = (response) => {
  response.writeHead(200, { 'content-length': 1000 }).write('{"data": [');
  setImmediate(() => response.destroy());
};
const closed = { changeUrl: () => 'http://127.0.0.1:1' };
const untrusted = { changeUrl: (url: string) => url.replace('http:', 'https:') };
const long = JSON.stringify({ data: ['x'.repeat(10_000_000)] });
const faults: [respond: Respond, forModel: string, reason: string, options?: SearchOptions][] = [
  [never, 'the provider did not respond in time', '…no response within 0.2 seconds…', SLOW],
  [half, 'the provider did not respond in time', '…no response within 0.2 seconds…', SLOW],
  [jinaError(401, `Bad ${KEY}.`), 'the provider refused the key', '401: Bad [key].'],
  [jinaError(402, 'Recharge.'), "the provider's account is used up", '402: Recharge.'],
  [jinaError(429, 'Slow'), 'the provider allows no more searches for now', '429: Slow'],
  [
    jinaError(500, `${'x'.repeat(185)}${KEY}`),
    'the provider responded with status 500',
    `500: ${'x'.repeat(185)}[key]`,
  ],
  [jinaError(500, 'x'.repeat(100_000)), 'the provider responded with status 500', '500: xxx…'],
  [html(200), UNREAD, '200 with text/html, which is not a list of resu…'],
  [html(503), 'the provider responded with status 503', '503'],
  [redirect, 'the provider responded with status 302', '302'],
  [(response) => sendResults(response, null), UNREAD, '…not a list of results…'],
  [text('null'), UNREAD, '…not a list of results…'],
  [text('{"code":200,"data":[{"title":"Appl'), UNREAD, '…not a list of results…'],
  [cut, 'the provider cannot be reached', '…cut in the middle of the response…'],
  [text(long), "the provider's response is too large", '…larger than 524288 bytes…'],
  [never, 'the provider cannot be reached', '…ECONNREFUSED…', closed],
  [never, "the provider's certificate is not trusted", '…', untrusted],
];
for (const [index, [respond, forModel, reason, options]] of faults.entries()) {
  test(`${forModel} (${index + 1}): a refusal for the model, the reason for the log, the key for neither`, async (t) => {
    const { answer, reasons, received } = await search(t, respond, options);
    assert.deepEqual(answer, { refusal: `The news search failed: ${forModel}.` });
    assert.match(reasons.join('\n'), like(reason));
    assert.ok(reasons.length === 1 && reasons.join().length < 210);
    assert.doesNotMatch(reasons.join('\n'), /soars|secret/);
    assert.ok(received.length <= 1, 'it is not tried again');
  });
}

test('a day has a limit on searches, failed ones included', async (t) => {
  const { url, received } = await startNewsServer(t, (response) =>
    received.length % 2 === 0 ? sendResults(response, []) : html(500)(response),
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
  const refusal = 'The news search failed: the model-day has ended.';
  assert.deepEqual(await searching, { refusal });
  await until('the search to end', hasLeft);
  assert.deepEqual(await news('Apple'), { refusal });
  assert.deepEqual(reasons, []);
});
