import assert from 'node:assert/strict';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { importDocuments } from '../../src/prices/import-documents.ts';
import { importRows, row } from '../support/documents.ts';
import { temporaryFolder } from '../support/service.ts';

function stored(database: ReturnType<typeof openDatabase>): string[] {
  const rows = database
    .statement(
      'SELECT document_id, kind, published_at, visible_from, symbols, title, source, url, text FROM documents ORDER BY version',
    )
    .all();
  return rows.map((one) =>
    Object.values(one)
      .map((value) => value ?? '-')
      .join('|'),
  );
}

async function imported(t: TestContext, content: string | object[], name?: string) {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const { lines, documents } = await importRows(t, database, content, name);
  return { rows: stored(database), lines, documents };
}

const LONG = 'x'.repeat(501);
const refusals: [fields: Record<string, unknown>, reason: string][] = [
  [{ published_at: undefined }, 'published_at is missing'],
  [
    { published_at: '2025-01-06T08:00:00' },
    'published_at has no offset from UTC, as in 2025-01-06T08:00:00-05:00; without a time, it is a date',
  ],
  [
    { published_at: '2025-02-30' },
    'published_at is neither a date YYYY-MM-DD nor an instant with its offset',
  ],
  [
    { published_at: 'yesterday' },
    'published_at is neither a date YYYY-MM-DD nor an instant with its offset',
  ],
  [
    { published_at: 1736121600 },
    'published_at is neither a date YYYY-MM-DD nor an instant with its offset',
  ],
  [{ published_at: '9999-12-31' }, 'its date is not between 1900 and 9999'],
  [{ title: '' }, 'title is missing'],
  [{ title: LONG }, 'title is longer than 500 characters'],
  [{ text: undefined }, 'text is missing'],
  [{ text: 7 }, 'text is not text'],
  [{ text: 'é'.repeat(524_289) }, 'text is larger than 1048576 bytes'],
  [{ text: 'a\0b' }, 'text has a control character (U+0000)'],
  [{ kind: undefined }, 'kind is missing'],
  [{ kind: '10-K/A' }, 'kind has other characters than letters, digits, - and _'],
  [{ kind: 'k'.repeat(41) }, 'kind is longer than 40 characters'],
  [{ symbol: 'not one' }, 'not a ticker symbol'],
  [{ symbols: Array.from({ length: 51 }, (_, index) => `S${index}`) }, 'more than 50 symbols'],
  [{ id: 'i'.repeat(201) }, 'id is longer than 200 characters'],
];
test('a row that breaks a limit is refused by its line, and the others are imported', async (t) => {
  const rows = [...refusals.map(([fields]) => row(fields)), row({ id: 'good' })];
  const { rows: kept, lines } = await imported(t, rows);
  assert.deepEqual(kept, ['good|news|2025-01-02|2025-01-03|[]|A title|-|-|A text.']);
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.lastIndexOf(' ('))),
    refusals.map(([, reason], index) => `${index + 1}: ${reason}`),
  );
});

const shapes: [name: string, content: string, rows: string[]][] = [
  [
    'our rows as CSV, with a text over several lines',
    'id,symbols,kind,published_at,title,text,source,url\r\n1,aapl MSFT,news,2025-01-06T09:00:00-05:00,"A ""title""","One,\ntwo\n\nthree",Here,\r\n2,,10-K,20250106,B,C,,https://b\r\n',
    [
      '1|news|2025-01-06T14:00:00.000Z|2025-01-06|["AAPL","MSFT"]|A "title"|Here|-|One,\ntwo\n\nthree',
      '2|10-K|2025-01-06|2025-01-07|[]|B|-|https://b|C',
    ],
  ],
  [
    'a list of documents',
    JSON.stringify(
      [row({ id: 1, symbol: 'aapl' }), row({ id: 2, symbols: 'B A', title: ' two\n lines ' })],
      null,
      2,
    ),
    [
      '1|news|2025-01-02|2025-01-03|["AAPL"]|A title|-|-|A text.',
      '2|news|2025-01-02|2025-01-03|["A","B"]|two lines|-|-|A text.',
    ],
  ],
  [
    'filings as edgartools has them, by pandas as JSON lines',
    [
      {
        accession_number: '0000320193-24-000123',
        filing_date: '2024-11-01T00:00:00.000',
        reportDate: '2024-09-28',
        acceptanceDateTime: '2024-11-01T06:01:36.000Z',
        act: '34',
        form: '10-K',
        primaryDocDescription: '10-K',
        ticker: 'AAPL',
        text: 'Item 1.',
      },
      {
        form: '10-K/A',
        company: 'APPLE INC',
        cik: 320193,
        filing_date: 1736121600000,
        accession_number: '0000320193-25-000001',
        symbol: 'AAPL',
        text: 'Item 2.',
      },
      {
        form: 'SC 13G',
        company: 'APPLE INC',
        filing_date: '2025-01-06',
        accession_number: '3',
        text: 'Item 3.',
        ticker: null,
      },
    ]
      .map((one) => JSON.stringify(one))
      .join('\n'),
    [
      '0000320193-24-000123|10-K|2024-11-01|2024-11-02|["AAPL"]|10-K|SEC EDGAR|-|Item 1.',
      '0000320193-25-000001|10-K-A|2025-01-06|2025-01-07|["AAPL"]|APPLE INC, 10-K/A|SEC EDGAR|-|Item 2.',
      '3|SC-13G|2025-01-06|2025-01-07|[]|APPLE INC, SC 13G|SEC EDGAR|-|Item 3.',
    ],
  ],
  [
    'filings as edgartools has them, by pandas as CSV',
    ',form,company,cik,filing_date,accession_number,ticker,text\n0,8-K,"Apple, Inc.",320193,2025-01-06,0000320193-25-000002,AAPL,"News\nof today"\n',
    [
      '0000320193-25-000002|8-K|2025-01-06|2025-01-07|["AAPL"]|Apple, Inc., 8-K|SEC EDGAR|-|News\nof today',
    ],
  ],
  [
    "Alpha Vantage's NEWS_SENTIMENT",
    JSON.stringify(
      {
        items: '2',
        sentiment_score_definition: 'x',
        relevance_score_definition: '0 < x <= 1',
        feed: [
          {
            title: 'Apple rises',
            url: 'https://a',
            time_published: '20250106T092959',
            authors: ['B'],
            summary: 'It rose.',
            banner_image: null,
            source: 'CNBC',
            source_domain: 'www.cnbc.com',
            topics: [],
            overall_sentiment_score: 0.1,
            overall_sentiment_label: 'Neutral',
            ticker_sentiment: [
              { ticker: 'AAPL', relevance_score: '0.1' },
              { ticker: 'CRYPTO:BTC' },
              { ticker: 'FOREX:USD' },
            ],
          },
          {
            title: 'Of an evening',
            url: 'https://b',
            time_published: '20250707T200000',
            summary: '',
            source: 'Benzinga',
            ticker_sentiment: [],
          },
          {
            title: 'The hour that comes twice',
            url: 'https://c',
            time_published: '20251102T013000',
            summary: '.',
            source: 'C',
            ticker_sentiment: [],
          },
        ],
      },
      null,
      4,
    ),
    [
      'DIGEST|news|2025-01-06T14:29:59.000Z|2025-01-06|["AAPL"]|Apple rises|CNBC|https://a|It rose.',
      'DIGEST|news|2025-07-08T00:00:00.000Z|2025-07-08|[]|Of an evening|Benzinga|https://b|Of an evening',
      'DIGEST|news|2025-11-02T06:30:00.000Z|2025-11-02|[]|The hour that comes twice|C|https://c|.',
    ],
  ],
  [
    "Massive's /v2/reference/news",
    JSON.stringify({
      results: [
        {
          id: '8ec63877',
          publisher: { name: 'Investing.com', homepage_url: 'https://i' },
          title: 'Markets',
          author: 'S',
          published_utc: '2025-01-06T18:33:53Z',
          article_url: 'https://i/1',
          tickers: ['UBS', 'X:BTCUSD'],
          image_url: 'https://p',
          description: 'They fell.',
          keywords: ['k'],
          insights: [],
        },
        {
          id: '2',
          publisher: { name: 'M' },
          title: 'No words',
          published_utc: '2025-01-06T18:33:53Z',
          article_url: 'https://i/2',
          tickers: [],
        },
      ],
      status: 'OK',
      request_id: '831afdb',
      count: 2,
      next_url: 'https://n',
    }),
    [
      '8ec63877|news|2025-01-06T18:33:53.000Z|2025-01-07|["UBS"]|Markets|Investing.com|https://i/1|They fell.',
      '2|news|2025-01-06T18:33:53.000Z|2025-01-07|[]|No words|M|https://i/2|No words',
    ],
  ],
];
for (const [name, content, rows] of shapes)
  test(`as they are: ${name}`, async (t) => {
    const { rows: found, lines } = await imported(t, content);
    assert.deepEqual(lines, []);
    assert.deepEqual(
      found.map((line) => line.replace(/^[0-9a-f]{64}\|/, 'DIGEST|')),
      rows,
    );
  });

test('a file without documents is refused with what it is', async (t) => {
  const bad: [content: string, words: RegExp][] = [
    ['', /it is empty/],
    ['{"a": 1,\n', /begins as JSON and is not/],
    [
      'symbol,date,open,close\nA,2025-01-06,1,1\n',
      /its header lacks text, published_at or filing_date; its columns are symbol, date/,
    ],
  ];
  for (const [content, words] of bad) await assert.rejects(imported(t, content), words);
  const note = await imported(t, '{"Information": "The rate limit is 25 requests"}');
  assert.deepEqual(note.lines, [
    "1: the provider's message instead of documents (The rate limit is 25 requests)",
  ]);
  const open = await imported(
    t,
    'kind,published_at,title,text\nnews,2025-01-02,A,B\nnews,2025-01-02,C,"D\n',
  );
  assert.deepEqual(open.lines, ['3: a quoted cell has no end (news,2025-01-02,C,"D)']);
  const mixed = await imported(
    t,
    `${JSON.stringify(row({}))}\n{"broken\n[1]\n${JSON.stringify(row({ id: 'b' }))}\n`,
  );
  assert.deepEqual(mixed.lines, ['2: not JSON ({"broken)', '3: not an object (1)']);
  assert.equal(mixed.documents, 2);
});

test('the same file twice changes nothing, and a contradiction is refused with both digests', async (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const one = row({ id: 'a', published_at: '2025-01-06T09:00:00-05:00', symbol: 'AAPL' });
  const rows = [one, row({ text: 'without an id' })];
  const number = () => database.statement('SELECT number FROM price_writes').get()?.['number'];
  assert.equal((await importRows(t, database, rows)).added, 2);
  const before = [number(), stored(database)];
  const again = await importRows(t, database, [
    { ...one, published_at: '2025-01-06T14:00Z' },
    rows[1] as object,
  ]);
  assert.deepEqual([again.documents, again.added, [number(), stored(database)]], [2, 0, before]);
  for (const change of [
    { text: 'b' },
    { title: 'b' },
    { kind: 'b' },
    { symbol: 'B' },
    { source: 'b' },
    { url: 'b' },
  ]) {
    const { lines, added } = await importRows(t, database, [{ ...one, ...change }]);
    assert.match(
      lines.join('\n'),
      /^1: the version of this id and published_at is stored with another content \(a: [0-9a-f]{16} is stored, this is [0-9a-f]{16}\)$/,
    );
    assert.equal(added, 0);
  }
  assert.deepEqual([number(), stored(database)], before);
  const later = await importRows(t, database, [{ ...one, published_at: '2025-01-07', text: 'b' }]);
  assert.equal(later.added, 1);
});

test('a compressed file is the same, and a torn one changes nothing', async (t) => {
  const folder = temporaryFolder(t);
  const plain = Buffer.from(
    Array.from({ length: 500 }, (_, index) => JSON.stringify(row({ id: index }))).join('\n'),
  );
  for (const [name, bytes] of [
    ['g', gzipSync(plain)],
    ['z', zstdCompressSync(plain)],
  ] as const) {
    const database = openDatabase(':memory:');
    t.after(() => database.close());
    const read = async (content: Buffer) => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return importDocuments(database, { path }, { clock: () => new Date() });
    };
    await assert.rejects(read(bytes.subarray(0, -9)), /torn|ends in the middle/);
    assert.equal(database.statement('SELECT count(*) AS n FROM documents').get()?.['n'], 0);
    assert.equal((await read(bytes)).added, 500);
  }
});

test('what a command has left that was ended is not seen, and the next one takes it over', async (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const rows = [row({ id: 'a' }), row({ id: 'b', text: 'old words' })];
  await importRows(t, database, rows);
  database.statement('UPDATE document_imports SET documents = NULL, written = NULL').run();
  const { added } = await importRows(t, database, [
    row({ id: 'a' }),
    row({ id: 'b', text: 'new words' }),
  ]);
  assert.equal(added, 2);
  assert.deepEqual(
    stored(database).map((line) => line.split('|').at(-1)),
    ['A text.', 'new words'],
  );
  database
    .statement(`INSERT INTO document_words (document_words) VALUES ('integrity-check')`)
    .run();
});
