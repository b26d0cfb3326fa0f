import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { addDays } from '../../src/core/time/calendar.ts';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import {
  documentDigest,
  listDocuments,
  readDocument,
} from '../../src/core/database/document-queries.ts';
import { createDocumentStore } from '../../src/features/document-files/queries.ts';
import type { ImportOptions } from '../../src/features/price-files/store-staged.ts';
import { documentsIn, importRows, linesOf, row } from '../support/document-files.ts';
import { inLongForm, isLong, runs } from '../support/long.ts';
import { temporaryFolder } from '../support/folder.ts';
import { importBesideServer } from '../support/imports.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';

const LATE = '2199-12-31';
const onMorning = (reader: Database, date: string) => {
  return { reader, date, write: null, symbols: [] };
};
const visibleIds = (database: Database, date = LATE) =>
  listDocuments(onMorning(database, date), { limit: 1_000 }).map(({ id }) => id);

const DATE = 'published_at is not a date from 1900 to 2199, nor a timestamp with time zone';
const TITLE = 'title must be 1 to 500 characters';
const KIND = 'kind must be 1 to 40 letters, digits, - or _';
const SYMBOLS = 'symbols must be at most 50 ticker symbols';
const TEXT = 'text must be at most 1048576 bytes of UTF-8, without U+0000';
const symbols = (count: number) => Array.from({ length: count }, (_, index) => `S${index}`);
/** What a row has, and why it is refused; an empty reason: it is not. */
const limits: [fields: Record<string, unknown>, reason: string][] = [
  [{ published_at: undefined }, 'published_at is missing'],
  [{ published_at: '' }, 'published_at is missing'],
  [{ published_at: 1736121600 }, DATE],
  [{ title: undefined }, 'title is missing'],
  [{ title: ' \n ' }, 'title is missing'],
  [{ title: ['A'] }, TITLE],
  [{ title: '\u{1f4c8}'.repeat(500) }, ''],
  [{ title: ` ${'x'.repeat(500)}\n` }, ''],
  [{ title: 'x'.repeat(501) }, TITLE],
  [{ text: undefined }, 'text is missing'],
  [{ text: '' }, 'text is missing'],
  [{ text: 7 }, TEXT],
  [{ text: 'a\0b' }, TEXT],
  [{ text: 'é'.repeat(524_288) }, ''],
  [{ text: `${'é'.repeat(524_288)}x` }, TEXT],
  [{ kind: undefined }, 'kind is missing'],
  [{ kind: '10-K/A' }, KIND],
  [{ kind: 'é' }, KIND],
  [{ kind: 'k_-9'.repeat(10) }, ''],
  [{ kind: 'k'.repeat(41) }, KIND],
  [{ symbol: 'BRK B' }, SYMBOLS],
  [{ symbol: 'NYSE:A' }, SYMBOLS],
  [{ symbols: ['A', 7] }, SYMBOLS],
  [{ symbols: { A: 1 } }, SYMBOLS],
  [{ symbols: [...symbols(50), 's0'], symbol: 'S49' }, ''],
  [{ symbols: symbols(51) }, SYMBOLS],
  [{ symbols: symbols(50).join(' '), symbol: 'ONE-MORE' }, SYMBOLS],
  [{ id: 'i'.repeat(500) }, ''],
  [{ id: 'i'.repeat(501) }, 'id must be 1 to 500 characters'],
  [{ source: 's'.repeat(500) }, ''],
  [{ source: 's'.repeat(501) }, 'source must be 1 to 500 characters'],
  [{ url: 'u'.repeat(2_000) }, ''],
  [{ url: 'u'.repeat(2_001) }, 'url must be 1 to 2000 characters'],
];
test('a row at a limit is imported, one beyond it is refused by line and reason', async () => {
  const { refused, stored } = await importRows(limits.map(([fields]) => row(fields)));
  const expected = limits.flatMap(([, reason], index) =>
    reason ? [`${index + 1}: ${reason}`] : [],
  );
  assert.deepEqual(
    refused.map((line) => line.split(': ').slice(0, 2).join(': ')),
    expected,
  );
  assert.equal(stored.length, limits.length - expected.length);
});

test('a refusal shows the value, or the beginning of a row that has none', async () => {
  const rows = [row({ symbols: ['A', 'B C'] }), { Information: 'The limit is 25 requests a day.' }];
  const text = `${linesOf(rows)}{"broken\n\n[1, null]\n`;
  const { refused } = await importRows(text);
  const unread = 'neither a JSON object nor a row of CSV with all columns';
  assert.deepEqual(refused, [
    `1: ${SYMBOLS}: B C`,
    `2: published_at is missing: {"Information":"The limit is 25 requests a day."}`,
    `3: ${unread}: {"broken`,
    `5: ${unread}: 1`,
    `5: ${unread}: nothing`,
  ]);
});

/** As written, as stored, its date in New York and the first morning that sees it; or refused. */
const published = tableOf<[written: string, stored: string, date: string, morning: string]>(`
  2025-01-06                       | 2025-01-06               | 2025-01-06 | 2025-01-07
  20250106                         | 2025-01-06               | 2025-01-06 | 2025-01-07
  2025-01-06T09:29:59-05:00        | 2025-01-06T14:29:59.000Z | 2025-01-06 | 2025-01-06
  2025-01-06T14:29:59.999999Z      | 2025-01-06T14:29:59.999Z | 2025-01-06 | 2025-01-06
  2025-01-06T09:30:00-05:00        | 2025-01-06T14:30:00.000Z | 2025-01-06 | 2025-01-07
  2025-07-07T13:29:59Z             | 2025-07-07T13:29:59.000Z | 2025-07-07 | 2025-07-07
  2025-07-07T13:30Z                | 2025-07-07T13:30:00.000Z | 2025-07-07 | 2025-07-08
  2025-07-07 22:29:59.5+0900       | 2025-07-07T13:29:59.500Z | 2025-07-07 | 2025-07-07
  2025-01-07t00:30:00z             | 2025-01-07T00:30:00.000Z | 2025-01-06 | 2025-01-07
  1900-01-01                       | 1900-01-01               | 1900-01-01 | 1900-01-02
  2199-12-31                       | 2199-12-31               | 2199-12-31 | 2200-01-01
  2200-01-01T04:59:59Z             | 2200-01-01T04:59:59.000Z | 2199-12-31 | 2200-01-01
  2200-01-01T05:00:00Z             |                          |            |
  2200-01-01                       |                          |            |
  1899-12-31                       |                          |            |
  1900-01-01T04:00:00Z             |                          |            |
  2025-01-06T09:30:00              |                          |            |
  2025-01-06T24:00:00Z             |                          |            |
  2025-02-30T09:30:00Z             |                          |            |
  2025-02-30                       |                          |            |
  2025-01-06T09:30:00+15:00        |                          |            |
  2025-01-06T09:30:00 New York     |                          |            |
  yesterday                        |                          |            |
`);
test('a date is out when it is over, an instant on the first morning whose open is after it', async () => {
  const rows = published.map(([written]) => row({ id: written, published_at: written }));
  const { database, refused } = await importRows(rows);
  const found = published.map(([written]) => {
    const document = readDocument(onMorning(database, '2201-01-01'), written);
    if (document === undefined) return [written, '', '', ''];
    const { publishedAt, date } = document;
    const isOut = (days: number) => readDocument(onMorning(database, addDays(date, days)), written);
    const days = [-1, 0, 1, 2].find(isOut) ?? NaN;
    return [written, publishedAt, date, addDays(date, days)];
  });
  assert.deepEqual(found, published);
  assert.deepEqual(
    refused,
    published.flatMap(([written, stored], index) =>
      stored === '' ? [`${index + 1}: ${DATE}: ${written}`] : [],
    ),
  );
});

test('a date that is full says so, and nothing more of it is stored', async () => {
  const { database } = await importRows([row({ id: 'first' })]);
  const sql = 'UPDATE documents SET version = version + 999998';
  for (const one of ['PRAGMA foreign_keys = OFF', sql]) database.statement(one).all();
  assert.equal((await importRows([row({ id: 'last' })], database)).new, 1);
  const full = 'there are 1,000,000 documents of 2025-01-02, as many as can be stored';
  await assert.rejects(importRows([row({ id: 'one more' })], database), { message: full });
  assert.equal((await importRows([row({ published_at: '2025-01-03' })], database)).new, 1);
});

test(
  'a file with more documents of one date than can be stored is refused before its first row',
  inLongForm,
  async () => {
    const database = openDatabase(':memory:');
    const rows = Array.from({ length: 1_000_002 }, (_, id) => row({ id }));
    const message =
      'it has more than 1,000,000 documents of 2025-01-02 without a time, the most that can be stored of one date';
    await assert.rejects(importRows(gzipSync(linesOf(rows)), database), { message });
    assert.deepEqual(rowsAsText(database, 'SELECT * FROM document_imports'), []);
    const repeated = rows.map((_, index) => row({ id: index % 2 }));
    let now = 0;
    const time = { now: () => now, sleep: async (ms: number) => void (now += ms) };
    const imported = await importRows(gzipSync(linesOf(repeated)), database, { time });
    assert.deepEqual([imported.new, imported.known], [2, 1_000_000], 'repeats are one document');
  },
);

test('lists have each document once, the newest first, also beside those from before 1970', async () => {
  const days = ['1900-01-01', '1915-01-01', '1969-07-20', '1970-01-01', '1999-01-01', '2025-01-06'];
  const { database } = await importRows(days.map((id) => row({ id, published_at: id })));
  for (const limit of [1, 3, 20]) {
    const found = listDocuments(onMorning(database, LATE), { limit }).map(({ id }) => id);
    assert.deepEqual(found, days.toReversed().slice(0, limit));
  }
  assert.deepEqual(visibleIds(database, '1969-07-21'), days.slice(0, 3).reverse());
});

const csv = (separator: string, end = '\n') =>
  [
    ['id', 'Symbols', 'kind', 'published_at', 'title', 'text', 'url'],
    [
      '1',
      'aapl  MSFT',
      'news',
      '2025-01-06T09:00:00-05:00',
      '"A ""title"""',
      '"One,;\t\n\n""two"""',
      '',
    ],
    ['2', '', '10-K', '20250107', 'B', 'C', 'https://b'],
  ]
    .map((cells) => cells.join(separator) + end)
    .join('');
const csvRows = `1|news|2025-01-06T14:00:00.000Z|["AAPL","MSFT"]|A "title"|-|-|One,;${'\t'}

"two"
2|10-K|2025-01-07|[]|B|-|https://b|C`;
/** As pandas writes the tables of edgartools, with `text` and `ticker` added. */
const filings = `{"accession_number":"1","filing_date":"2024-11-01T00:00:00.000","reportDate":"2024-09-28","acceptanceDateTime":"2024-11-01T06:01:36.000Z","act":"34","form":"10-K","size":94,"ticker":"AAPL","text":"Item 1."}
{"form":"10-K/A","company":"APPLE INC","cik":320193,"filing_date":1736121600000,"accession_number":"2","symbol":"AAPL","ticker":null,"text":"Item 2."}
{"form":"SC 13G","company":"APPLE INC","title":"Own","filing_date":"20250107","accession_number":"3","text":"Item 3."}
`;
const filingsRows = `1|10-K|2024-11-01|["AAPL"]|10-K|-|-|Item 1.
2|10-K-A|2025-01-06|["AAPL"]|APPLE INC, 10-K/A|-|-|Item 2.
3|SC-13G|2025-01-07|[]|Own|-|-|Item 3.`;
const filingsCsv = `,form,company,cik,filing_date,accession_number,ticker,text
0,8-K,"Apple, Inc.",320193,2025-01-06,7,AAPL,"News
of today"
`;
const filingsCsvRows = '7|8-K|2025-01-06|["AAPL"]|Apple, Inc., 8-K|-|-|News\nof today';
const alphaVantage = `{
    "items": "3",
    "relevance_score_definition": "0 < x <= 1, with a higher score indicating higher relevance.",
    "feed": [
        {"title": "T", "url": "https://a", "time_published": "20250106T092959", "authors": ["B"], "summary": "It rose.", "banner_image": null, "source": "CNBC",
         "ticker_sentiment": [{"ticker": "AAPL", "relevance_score": "0.1"}, {"ticker": "CRYPTO:BTC"}, {"ticker": "FOREX:USD"}]},
        {"title": "Evening", "url": "https://b", "time_published": "20250707T200000", "summary": "", "source": "B", "ticker_sentiment": []},
        {"title": "Twice", "url": "https://c", "time_published": "20251102T013000", "summary": ".", "source": "C", "ticker_sentiment": []}
    ]
}`;
const alphaVantageRows = `DIGEST|news|2025-01-06T14:29:59.000Z|["AAPL"]|T|CNBC|https://a|It rose.
DIGEST|news|2025-07-08T00:00:00.000Z|[]|Evening|B|https://b|Evening
DIGEST|news|2025-11-02T06:30:00.000Z|[]|Twice|C|https://c|.`;
const massive = `{"results":[{"id":"8ec","publisher":{"name":"Investing.com","homepage_url":"https://i"},"title":"Markets","author":"S","published_utc":"2025-01-06T18:33:53Z","article_url":"https://i/1","tickers":["UBS","X:BTCUSD"],"description":"They fell.","keywords":["k"],"insights":[]},
{"id":"2","publisher":{"name":"M"},"title":"No words","published_utc":"2025-01-07T18:33:53Z","article_url":"https://i/2","tickers":[]}],"status":"OK","request_id":"831","count":2,"next_url":"https://n"}`;
const massiveRows = `8ec|news|2025-01-06T18:33:53.000Z|["UBS"]|Markets|Investing.com|https://i/1|They fell.
2|news|2025-01-07T18:33:53.000Z|[]|No words|M|https://i/2|No words`;
const list = [
  row({ id: 2, symbol: ' brk-b ', symbols: 'B A' }),
  row({ title: ' two\n lines ', url: null }),
];
const listed = `2|news|2025-01-02|["A","B","BRK-B"]|A title|-|-|A text.
DIGEST|news|2025-01-02|[]|two lines|-|-|A text.`;
const halves = linesOf([row({ id: 'a', title: 'x\ud83d', text: '\ud83d' })]);
const shapes: [name: string, content: string | Buffer, rows: string][] = [
  ['CSV', csv(','), csvRows],
  ['CSV with CRLF and a mark', `\ufeff\n${csv(',', '\r\n')}\n`, csvRows],
  ['CSV with ;', csv(';'), csvRows],
  ['CSV with tabs', csv('\t'), csvRows],
  ['CSV compressed by gzip', gzipSync(csv(',')), csvRows],
  ['lines', linesOf(list), listed],
  ['a list over all lines', `\ufeff${JSON.stringify(list, null, 2)}`, listed],
  ['half characters', halves, 'a|news|2025-01-02|[]|x|-|-|\ufffd'],
  ["edgartools' filings as JSON lines", filings, filingsRows],
  ["edgartools' filings as CSV", filingsCsv, filingsCsvRows],
  ["Alpha Vantage's NEWS_SENTIMENT", alphaVantage, alphaVantageRows],
  ["Massive's /v2/reference/news", massive, massiveRows],
];
for (const [name, content, rows] of shapes)
  test(`as it is: ${name}`, async () => {
    const { stored, refused } = await importRows(content);
    assert.deepEqual([refused, stored.join('\n')], [[], rows]);
  });

test('an odd time of Alpha Vantage and an odd date of a filing are refused', async () => {
  const times = ['20250106T250000', '20250230T093000', '20250106T0930', '2025-01-06T09:30:00'];
  const dates = ['yesterday', '', '99999999999999', '2025-13-01'];
  const { refused } = await importRows([
    ...times.map((time) => ({ title: 'T', time_published: time })),
    ...dates.map((date) => ({ form: '10-K', text: 'T', filing_date: date })),
  ]);
  assert.equal(refused.length, times.length + dates.length);
  for (const line of refused)
    assert.match(line, /: (published_at|filing_date) is (missing|not a date .*): /);
});

/** What a filing's date is stored as; nothing where it is refused. */
const filed = tableOf<[date: string, stored: string]>(`
  2025-10-07                    | 2025-10-07
  2025-10-07 00:00:00           | 2025-10-07
  2025-10-07T00:00:00.000Z      | 2025-10-07
  2025-10-07 00:00:00+00:00     | 2025-10-07
  2025-10-07T08:00:00-04:00     | 2025-10-07T12:00:00.000Z
  2025-10-07 20:30:00.5+00:00   | 2025-10-07T20:30:00.500Z
  2025-10-07T00:00:01Z          | 2025-10-07T00:00:01.000Z
  2025-10-07 16:30:00           |
  2025-10-07T08:00:00 New York  |
  1759795200000                 | 2025-10-07
  1759854600000                 |
`);
test('the time of a filing is kept, or refused without its zone', async () => {
  for (const [date, expected] of filed) {
    const own = { form: '8-K', text: 'T', accession_number: 'a', filing_date: date };
    const { stored, refused } = await importRows([own]);
    assert.deepEqual(stored[0]?.split('|')[2] ?? '', expected, date);
    const reason = `1: ${DATE.replace('published_at', 'filing_date')}: ${date}`;
    assert.deepEqual(refused, expected === '' ? [reason] : []);
  }
  const own = { form: '8-K', text: 'T', filing_date: '2025-10-07T08:00:00-04:00' };
  const { database } = await importRows([{ ...own, accession_number: 'a' }]);
  assert.deepEqual(visibleIds(database, '2025-10-07'), ['a']);
});

test('a row of CSV is refused by its first line, and the rows after it are read', async () => {
  const text = `${HEADER}\nnews,soon,A,"two\nlines"\nnews,A\n\nnews,2025-01-02,B,C\n`;
  const { refused, stored } = await importRows(text);
  assert.deepEqual(refused, [
    `2: ${DATE}: soon`,
    '4: neither a JSON object nor a row of CSV with all columns: news,A',
  ]);
  assert.equal(stored.length, 1);
});

const HEADER = 'kind,published_at,title,text';
const open = `${HEADER}\nnews,2025-01-02,A,B\nnews,2025-01-02,C,"D\n${'x\n'.repeat(90_000)}`;
const NEITHER = 'it is neither JSON nor CSV with a column text: ';
const one = linesOf([row()]);
const unreadable: [name: string, content: string | Buffer, message: string][] = [
  ['an empty file', '', 'it is empty'],
  ['JSON without its end', '[{"a": 1},\n', 'it begins as JSON and is not: …'],
  ['prices', 'symbol,date,open\nA,2025-01-06,1\n', `${NEITHER}symbol,date,open`],
  ['prose', 'Good morning,\n', `${NEITHER}Good morning,`],
  ['an open quote', open, 'a quoted cell has no end, in the row news,2025-01-02,C,"D…'],
  ['a torn gzip', gzipSync(one).subarray(0, -9), '…truncated…'],
  ['a line without an end', one + 'x'.repeat(33 * 2 ** 20), 'line 2 is longer than…'],
];
for (const [name, content, message] of unreadable)
  test(`${name} changes nothing that can be seen and says why`, async () => {
    const database = openDatabase(':memory:');
    const expected = { code: 'invalid_file', message: like(message) };
    await assert.rejects(importRows(content, database), expected);
    assert.deepEqual(visibleIds(database), []);
  });

test(
  'a quoted cell without an end is not read to the end of a large file',
  inLongForm,
  async () => {
    const large = `${HEADER}\nnews,2025-01-02,C,"D\n${`${'x'.repeat(10_000)}\n`.repeat(3_600)}`;
    let share = 0;
    const onProgress: ImportOptions['onProgress'] = (bytesRead, totalBytes) =>
      void (share = bytesRead / totalBytes);
    await assert.rejects(importRows(large, openDatabase(':memory:'), { onProgress }), /has no end/);
    assert.ok(share > 0.9 && share < 1, `${share}`);
  },
);

test('the digest is that of what is stored, and the id where a row has none', async () => {
  const { database } = await importRows([row({ text: '\ud83d' })]);
  const [id = ''] = rowsAsText(database, 'SELECT document_id FROM documents');
  const document = readDocument(onMorning(database, LATE), id);
  assert.ok(document !== undefined);
  assert.deepEqual([document.digest, documentDigest(document)], [id, id]);
});

const IMPORTS = 'SELECT number, (SELECT count(*) FROM document_imports) FROM price_writes';
const writes = (database: Database) => rowsAsText(database, IMPORTS);

test('the same file twice changes nothing, and neither does the same instant with another offset', async () => {
  const rows = [row({ id: 'a', published_at: '2025-01-06T09:00:00-05:00' }), row({ text: 'B' })];
  const first = await importRows([...rows, ...rows]);
  assert.deepEqual([first.new, first.known, first.refused], [2, 2, []]);
  const { database } = first;
  const before = [documentsIn(database), writes(database)];
  const moved = { ...rows[0], published_at: '2025-01-06 14:00Z' };
  const again = await importRows([moved, row({ text: 'B' })], database);
  assert.deepEqual([again.new, again.known], [0, 2]);
  assert.deepEqual([documentsIn(database), writes(database)], before);
  const later = row({ id: 'a', published_at: '2025-01-07', kind: 'other' });
  assert.equal((await importRows([later], database)).new, 1);
  assert.deepEqual(writes(database), ['2 2']);
});

test('any other content of a stored version is refused, with both digests', async () => {
  const first = row({ id: 'a', symbol: 'A' });
  const { database, stored } = await importRows([first]);
  for (const field of ['text', 'title', 'kind', 'symbol', 'source', 'url']) {
    const other = { ...first, [field]: 'B' };
    const { refused, new: added } = await importRows([other], database);
    const [before] = rowsAsText(database, 'SELECT digest FROM documents');
    const words = `1: this version is stored with another content: a: stored ${before}, here`;
    assert.match(refused.join(), new RegExp(`^${words} (?!${before})[0-9a-f]{64}$`));
    assert.equal(added, 0);
    const both = await importRows([first, other]);
    assert.deepEqual([both.new, both.refused.length], [1, 1], 'within one file');
  }
  assert.deepEqual([documentsIn(database), writes(database)], [stored, ['1 1']]);
});

test('what an import has left is not seen until another one has all of it, in whatever content', async () => {
  const path = join(temporaryFolder(), 'documents.db');
  const killed = openDatabase(path);
  await importRows([row({ id: 'before' })], killed);
  const store = createDocumentStore(killed, '2025-12-01T00:00:00.000Z');
  const rest = { publishedAt: '2025-01-02', date: '2025-01-02', outAt: new Date('2025-01-03') };
  const left = { ...rest, kind: 'news', title: 'A title', symbols: '[]', source: null, url: null };
  killed.transaction(() => {
    for (const id of ['a', 'b', 'c']) store.add({ ...left, id, text: `old words of ${id}` });
  });
  killed.close();
  const database = openDatabase(path);
  assert.deepEqual(visibleIds(database), ['before']);
  const rows = [row({ id: 'a', text: 'old words of a' }), row({ id: 'b', text: 'new words' })];
  assert.equal((await importRows(rows, database)).new, 2);
  assert.deepEqual(visibleIds(database).sort(), ['a', 'b', 'before']);
  assert.equal(readDocument(onMorning(database, LATE), 'b')?.text, 'new words');
  const check = `INSERT INTO document_words (document_words) VALUES ('integrity-check')`;
  database.statement(check).run();
  database.close();
});

const PARTS = 'SELECT count(DISTINCT segid) FROM document_words_idx';

test('progress is reported in bytes, and a server beside it writes after each transaction and sees nothing', async () => {
  const rows = Array.from({ length: runs(450, 2_000) }, (_, id) =>
    row({ id, text: `${id} `.repeat(runs(150, 30)) }),
  );
  const told: number[] = [];
  const onProgress: ImportOptions['onProgress'] = (bytesRead, totalBytes) =>
    void told.push(bytesRead / totalBytes);
  await importBesideServer(
    async (database, time) => {
      await importRows(rows, database, { time, onProgress });
      assert.equal(visibleIds(database).length, runs(450, 1_000));
      if (isLong) assert.deepEqual(rowsAsText(database, PARTS), ['1'], 'the index is merged');
    },
    (server) => assert.deepEqual(visibleIds(server), []),
  );
  assert.ok(told.length > 2 && told.every((share, index) => share > (told[index - 1] ?? 0)));
  assert.equal(told.at(-1), 1);
});
