import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countOutsideUniverse } from '../../src/core/database/document-queries.ts';
import type { TradingSession } from '../../src/core/trading/session.ts';
import { type Books, createBooks, replayOf, SYMBOLS } from '../support/books.ts';
import { call, listed, storeDocuments } from '../support/documents.ts';
import { rowsAsText } from '../support/tables.ts';
import { runs } from '../support/long.ts';

const DAY = '2025-01-06';
const WINTER_OPEN = '2025-01-06T14:30:00Z';

/** Books with prices, and these documents. */
function booksWith(rows: Parameters<typeof storeDocuments>[1]) {
  const books = createBooks(':memory:', { hasDocuments: true, terms: { max_steps: 100 } });
  for (const date of ['2025-01-03', '2025-01-06', '2025-01-07', '2025-07-07', '2025-07-08'])
    for (const symbol of SYMBOLS) books.setBar(symbol, date, { open: 100, close: 101 });
  storeDocuments(books.database, rows);
  return books;
}

/** All that was logged. */
function conversation({ database }: Books): string {
  return rowsAsText(database, 'SELECT content FROM reasoning_logs ORDER BY log_id').join('\n');
}

const times: [published: string, morning: string, isOut: boolean][] = [
  ['2025-01-05', DAY, true],
  ['2025-01-06', DAY, false],
  ['2025-01-06T14:29:59.999Z', DAY, true],
  [WINTER_OPEN, DAY, false],
  [WINTER_OPEN, '2025-01-07', true],
  ['2025-01-06T09:29:59-05:00', DAY, true],
  ['2025-01-06T09:30:00-05:00', DAY, false],
  ['2025-01-06T23:29:59+09:00', DAY, true],
  ['2025-01-06T23:30+09:00', DAY, false],
  ['2025-07-07T13:29:59Z', '2025-07-07', true],
  ['2025-07-07T13:30:00Z', '2025-07-07', false],
  ['2025-07-07T14:29:59Z', '2025-07-07', false],
  ['2025-07-08T03:00:00Z', '2025-07-08', true],
];
for (const [published, morning, isOut] of times)
  test(`a document of ${published} is ${isOut ? '' : 'not '}out on the morning of ${morning}`, async () => {
    const books = booksWith([{ id: 'old' }, { id: 'one', published_at: published }]);
    const session = await books.open(morning);
    assert.equal((await listed(session)).includes('one'), isOut);
    assert.equal('error' in (await call(session, 'read_document', { id: 'one' })), !isOut);
    await books.complete(session);
    assert.deepEqual((await replayOf(books.database)).problems, []);
  });

test('earlier mornings keep the earlier version', async () => {
  const books = booksWith([
    { id: 'a', published_at: '2025-01-02', text: 'First.' },
    { id: 'a', published_at: WINTER_OPEN, text: 'Second.', kind: 'filing', symbols: ['MSFT'] },
  ]);
  const seen = [];
  for (const date of [DAY, '2025-01-07']) {
    const session = await books.open(date);
    const { text, kind, symbols } = await call(session, 'read_document', { id: 'a' });
    seen.push([
      text,
      kind,
      symbols,
      await listed(session),
      await listed(session, { kind: 'news' }),
    ]);
    await books.complete(session);
  }
  assert.deepEqual(seen, [
    ['First.', 'news', [], ['a'], ['a']],
    ['Second.', 'filing', ['MSFT'], ['a'], []],
  ]);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

const library = [
  {
    id: 'f1',
    kind: '10-K',
    symbols: ['AAPL'],
    published_at: '2024-11-01',
    title: 'Annual report',
  },
  {
    id: 'f2',
    kind: '10-K',
    symbols: ['MSFT'],
    published_at: '2024-11-02',
    text: 'Cloud revenue grew.',
  },
  {
    id: 'n1',
    symbols: ['AAPL', 'XYZ'],
    published_at: '2024-12-01',
    text: 'Café revenue, and 10-K.',
  },
  {
    id: 'n2',
    published_at: '2024-12-01T15:00:00Z',
    text: `${'x '.repeat(150)}needle ${'y '.repeat(300)}`,
  },
  { id: 'other', symbols: ['XYZ'], published_at: '2024-12-02' },
  { id: 'late', symbols: ['AAPL'], published_at: '2025-03-01', text: 'revenue of the future' },
];
const lists: [args: object, ids: string][] = [
  [{}, 'n1 n2 f2 f1'],
  [{ limit: 2 }, 'n1 n2'],
  [{ limit: '3' }, 'n1 n2 f2'],
  [{ symbol: 'aapl' }, 'n1 f1'],
  [{ symbol: 'XYZ' }, 'n1'],
  [{ symbol: 'ZZZ' }, ''],
  [{ kind: '10-K' }, 'f2 f1'],
  [{ kind: '10-K', symbol: 'AAPL' }, 'f1'],
  [{ kind: 'none' }, ''],
  [{ since: '2024-12-01' }, 'n1 n2'],
  [{ since: '2025-02-01' }, ''],
  [{ query: 'revenue' }, 'n1 f2'],
  [{ query: 'REVENUE grew' }, 'f2'],
  [{ query: 'cafe' }, 'n1'],
  [{ query: '10-K' }, 'n1'],
  [{ query: 'annual' }, 'f1'],
  [{ query: 'report text' }, 'f1'],
  [{ query: 'report-a' }, ''],
  [{ query: 'future' }, ''],
  [{ query: '" OR *' }, ''],
  [{ query: '?!' }, ''],
  [{ query: ' ' }, 'n1 n2 f2 f1'],
  [{ query: 'revenue', symbol: 'AAPL', kind: 'news', since: '2024-12-01', limit: 1 }, 'n1'],
];
test('a list has what fits, the newest first', async () => {
  const books = booksWith(library);
  const session = await books.open(DAY);
  for (const [args, ids] of lists)
    assert.equal((await listed(session, args)).join(' '), ids, JSON.stringify(args));
  const { documents } = await call(session, 'list_documents', { query: 'needle' });
  assert.deepEqual(Object.keys(documents[0]), [
    'id',
    'kind',
    'date',
    'symbols',
    'title',
    'excerpt',
  ]);
  assert.match(documents[0].excerpt, /^x .*needle y/);
  assert.equal(documents[0].excerpt.length, 200);
  const { documents: plain } = await call(session, 'list_documents', { limit: 2 });
  assert.equal(plain[1].excerpt, 'x '.repeat(100));
  const refused = [{ limit: 21 }, { limit: 0 }, { since: 'x' }, { kind: 5 }, { more: 1 }];
  for (const args of refused)
    assert.match((await call(session, 'list_documents', args)).error, /^list_documents/);
  await books.complete(session);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('a document is read in parts, whose characters are code points', async () => {
  const text = '😀'.repeat(20_001);
  const books = booksWith([{ id: 'long', text, source: 'Here' }]);
  const session = await books.open(DAY);
  const first = await call(session, 'read_document', { id: 'long' });
  assert.deepEqual([first.text, first.left], ['😀'.repeat(20_000), 1]);
  assert.deepEqual(
    [first.title, first.kind, first.source, first.published_at],
    ['A title', 'news', 'Here', '2025-01-02'],
  );
  const rest = await call(session, 'read_document', { id: 'long', offset: 20_000 });
  assert.deepEqual([rest.text, rest.left], ['😀', 0]);
  const after = await call(session, 'read_document', { id: 'long', offset: 99_999 });
  assert.deepEqual([after.text, after.left], ['', 0]);
  const negative = await call(session, 'read_document', { id: 'long', offset: -1 });
  assert.match(negative.error, /offset must be a whole number/);
});

test('an unknown id, one that is not out yet and one of other symbols get the same words', async () => {
  const books = booksWith(library);
  const session = await books.open(DAY);
  const words = new Set<string>();
  for (const id of ['late', 'nowhere', 'other', "' OR 1=1 --"]) {
    const { error } = await call(session, 'read_document', { id });
    words.add(error.replace(JSON.stringify(id), 'ID'));
  }
  assert.deepEqual([...words], ['There is no document ID to read today.']);
});

test('the prompt counts the documents of the morning by kind, and is silent without any', async () => {
  const kinds = Array.from({ length: 14 }, (_, index) => ({
    id: `k${index}`,
    kind: `kind-${String(index).padStart(2, '0')}`,
    symbols: ['ORLY'],
  }));
  const books = booksWith([...library, ...kinds]);
  const promptOf = async (date: string) => {
    const session = await books.open(date);
    const words = conversation(books);
    await books.complete(session);
    return words;
  };
  assert.match(
    await promptOf(DAY),
    /\nDocuments published before this morning: 18 \(2 10-K, 2 news, 1 kind-00, .*1 kind-09, 4 of other kinds\)\n/,
  );
  const silent = booksWith([{ published_at: '2026-01-01' }]);
  await silent.complete(await silent.open(DAY));
  assert.doesNotMatch(conversation(silent), /document/i);
});

test('a session that is resumed has been shown what it was shown before', async () => {
  const books = booksWith(library);
  const day = { jobId: 'job-1', date: DAY, model: 'model-a' };
  const first = await books.open(DAY);
  await listed(first, { limit: 2 });
  await call(first, 'read_document', { id: 'f1' });
  first.leave();
  storeDocuments(books.database, [{ id: 'newer', published_at: '2025-01-03' }]);
  const again = await books.reopen(day);
  assert.equal((await again.resume()).length, 4);
  assert.deepEqual(await listed(again, { limit: 1 }), ['n1']);
  await books.complete(again);
  const sql = 'SELECT document_id FROM document_sessions JOIN documents USING (version) ORDER BY 1';
  assert.deepEqual(rowsAsText(books.database, sql), ['f1', 'n1', 'n2']);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('more documents are counted than one step counts', async () => {
  const many = Array.from({ length: 4_100 }, (_, index) => ({ id: `${index}`, text: 'x' }));
  const books = booksWith([...many, { id: 'filing', kind: '10-K' }]);
  const { brief } = await books.open(DAY);
  const counts = [
    { kind: 'news', documents: 4_100 },
    { kind: '10-K', documents: 1 },
  ];
  assert.deepEqual(brief.documents, counts);
});

test('the id of a document has up to 500 characters, as many halves as they may have', async () => {
  const id = '🙂'.repeat(500);
  const session = await booksWith([{ id }]).open(DAY);
  assert.deepEqual(await listed(session), [id]);
  assert.equal((await call(session, 'read_document', { id })).text, 'A text.');
  const { error } = await call(session, 'read_document', { id: `${id}x` });
  assert.equal(error, 'read_document: id must be text of at most 500 characters.');
});

test('an excerpt looks into the first 65,536 characters', async () => {
  const textOf = (before: number) => `${'x '.repeat(before / 2)}needle ${'y '.repeat(200)}`;
  const books = booksWith([
    { id: 'late', text: textOf(65_536), published_at: '2025-01-01' },
    { id: 'early', text: textOf(65_520), published_at: '2025-01-02' },
  ]);
  const session = await books.open(DAY);
  const { documents } = await call(session, 'list_documents', { query: 'needle' });
  const found = documents.map(({ id, excerpt }: { id: string; excerpt: string }) => {
    return [id, excerpt.includes('needle')];
  });
  assert.deepEqual(found, [
    ['early', true],
    ['late', false],
  ]);
});

test('a document of two symbols outside of the universe is counted once, one of the universe or of none not again', () => {
  const { database: reader } = booksWith([
    { id: 'both', symbols: ['MSFT', 'XYZ'] },
    { id: 'one', symbols: ['XYZ'], kind: '10-K' },
    { id: 'late', symbols: ['XYZ'], published_at: DAY },
    { id: 'known', symbols: ['AAPL', 'XYZ'] },
    { id: 'all', symbols: [] },
  ]);
  const own = { universe: new Set(['AAPL']), outside: ['MSFT', 'XYZ'] };
  const before = [{ kind: 'news', documents: 2 }];
  const counts = countOutsideUniverse(
    { reader, date: DAY, write: null, symbols: null },
    own,
    before,
  );
  assert.deepEqual(counts, [
    { kind: 'news', documents: 3 },
    { kind: '10-K', documents: 1 },
  ]);
});

/** A word that stands only in what is not out yet. */
const CANARY = 'zxcanary';
const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    CANARY,
    `"${CANARY}"`,
    `${CANARY}*`,
    'late-1',
    'late-2',
    `' OR '1'='1`,
    'NEAR(a b)',
    '*',
    '%',
  ),
  fc.constantFrom('2025-01-07', '2999-01-01', '0000-00-00', -1, 1e9, null, 0.5, [], {}),
);
const calls = fc.oneof(
  fc
    .record({ symbol: odd, kind: odd, since: odd, query: odd, limit: odd }, { requiredKeys: [] })
    .map((args) => ['list_documents', args] as const),
  fc
    .record({ id: odd, offset: odd }, { requiredKeys: ['id'] })
    .map((args) => ['read_document', args] as const),
);

/** The answers of a session's calls with the canary, though they did not ask for it. */
async function leaksIn(session: TradingSession): Promise<string[]> {
  const leaks: string[] = [];
  await fc.assert(
    fc.asyncProperty(calls, async ([tool, args]) => {
      const answer = JSON.stringify(await call(session, tool, args));
      const isAsked = JSON.stringify(args).includes(CANARY) && !answer.includes('It says');
      if (answer.includes(CANARY) && !isAsked) leaks.push(answer);
    }),
    { numRuns: runs(50, 5_000), examples: [[['list_documents', {}]]] },
  );
  return leaks;
}

test('no call of a morning finds a word of what comes later', async () => {
  const times = [DAY, WINTER_OPEN, '2025-01-06T09:30:00-05:00', '2025-06-01'];
  const text = `It says ${CANARY}.`;
  const later = times.map((published_at, index) => {
    const id = `late-${index}`;
    return { id, published_at, title: CANARY, text, kind: CANARY, symbols: ['AAPL'] };
  });
  const versions = [
    { id: 'v', text: 'before' },
    { id: 'v', published_at: DAY, text },
  ];
  const books = booksWith([...library, ...later, ...versions]);
  assert.deepEqual(await leaksIn(await books.open(DAY)), []);
  const rows = rowsAsText(books.database, "SELECT content FROM reasoning_logs WHERE role = 'user'");
  assert.doesNotMatch(rows.join('\n'), new RegExp(CANARY));
  const leaking = await books.open(DAY, 'model-b', {
    change: (market) => ({ ...market, date: '2025-01-07' }), // whose tools see the next morning
  });
  assert.notDeepEqual(await leaksIn(leaking), [], 'a planted leak is found');
});

const dates = fc
  .integer({ min: 0, max: 12 })
  .map((day) => `2025-01-${String(day + 1).padStart(2, '0')}`);
const published = fc.oneof(
  dates,
  dates.map((date) => `${date}T14:30:00Z`),
);
const documents = fc.array(
  fc.record({
    id: fc.constantFrom(...'abcdefgh'),
    published_at: published,
    kind: fc.constantFrom('news', '10-K'),
    symbols: fc.subarray(['AAPL', 'MSFT', 'XYZ']),
    text: fc.constantFrom('one', 'two words', 'three words here'),
  }),
  { maxLength: 25 },
);

test('what arrives later, whatever its date, changes no list of a morning that has begun', async () => {
  await fc.assert(
    fc.asyncProperty(documents, documents, async (before, after) => {
      const books = booksWith([{ id: 'first' }, ...before]);
      const session = await books.open(DAY);
      const ask = async () => [
        await listed(session),
        await listed(session, { query: 'words' }),
        await listed(session, { kind: '10-K', symbol: 'AAPL' }),
        await call(session, 'read_document', { id: 'a' }),
      ];
      const first = await ask();
      storeDocuments(books.database, [{ id: 'x' }, ...after]);
      assert.deepEqual(await ask(), first);
      await books.complete(session);
      assert.deepEqual((await replayOf(books.database)).problems, []);
      books.database.close();
    }),
    { numRuns: runs(6, 500) },
  );
});
