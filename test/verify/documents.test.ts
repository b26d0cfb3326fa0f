import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { auditOf, createBooks, replayOf, SOUND, SYMBOLS } from '../support/books.ts';
import { call, listed, storeDocuments } from '../support/documents.ts';
import { temporaryFolder } from '../support/folder.ts';
import { rowsAsText } from '../support/tables.ts';
import { startTestView } from '../support/view.ts';

const LIBRARY = [
  { id: 'read', symbols: ['AAPL'], text: 'Words that were read.', published_at: '2025-01-05' },
  { id: 'listed', symbols: ['MSFT'], title: 'Listed', published_at: '2025-01-04' },
  { id: 'changes', text: 'needle of before', published_at: '2025-01-03' },
  { id: 'changes', text: 'no longer', published_at: '2025-01-06T12:00:00Z' },
  ...Array.from({ length: 30 }, (_, index) => ({ id: `never-${index}`, text: `shown ${index}` })),
];

/** Two sessions in two jobs that read, in a file. */
async function library(t: TestContext) {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  const books = createBooks(path, { hasDocuments: true });
  t.after(() => books.database.close());
  for (const date of ['2025-01-03', '2025-01-06', '2025-01-07'])
    for (const symbol of SYMBOLS) books.setBar(symbol, date, { open: 100, close: 101 });
  storeDocuments(books.database, LIBRARY);
  for (const date of ['2025-01-06', '2025-01-07']) {
    const session = await books.open(date);
    assert.equal((await listed(session, { limit: 2, since: '2025-01-04' })).length, 2);
    assert.deepEqual(await listed(session, { query: 'needle' }), []);
    await call(session, 'read_document', { id: 'read' });
    await call(session, 'read_document', { id: 'nowhere' });
    await books.complete(session);
  }
  return { folder, path, books };
}

const SHOWN = `SELECT job_id, document_id FROM document_sessions JOIN documents USING (version)
  JOIN trading_sessions USING (session_id) ORDER BY 1, 2`;

test('a package has the documents that its job was shown and no others, and replays', async (t) => {
  const { folder, path, books } = await library(t);
  assert.deepEqual((await replayOf(books.database)).problems, []);
  const shown = ['job-1 changes', 'job-1 read', 'job-2 changes', 'job-2 read'];
  assert.deepEqual(rowsAsText(books.database, SHOWN), shown);
  const target = join(folder, 'package.db');
  await packageJob({ path, jobId: 'job-2', target });
  const bytes = new DatabaseSync(target, { readOnly: true });
  const rows = bytes
    .prepare(
      'SELECT document_id, text FROM documents JOIN document_texts USING (version) ORDER BY 1',
    )
    .all();
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['changes', 'no longer'],
      ['read', 'Words that were read.'],
    ],
  );
  bytes.exec('CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, document_words, row)');
  const words = (like: string) =>
    bytes.prepare('SELECT doc FROM temp.terms WHERE term LIKE ?').all(like).length;
  assert.deepEqual([words('%words'), words('%shown')], [1, 0], 'its index has no other words');
  bytes.close();
  const view = await startTestView(t, target);
  const { body } = await view.get('/audit');
  assert.deepEqual([body.status, body.problems, body.damage], ['sound', [], []]);
});

const changes: [what: string, sql: string, words: RegExp][] = [
  [
    'a letter of a text',
    `UPDATE document_texts SET text = replace(text, 'Words', 'Wards')`,
    /read_document/,
  ],
  [
    'a letter behind what a list shows',
    `UPDATE document_texts SET text = text || '.' WHERE text LIKE 'no longer%'`,
    /document changes|list_documents/,
  ],
  [
    'a source that no list shows',
    `UPDATE documents SET source = 'x' WHERE document_id = 'changes'`,
    /document changes, digest/,
  ],
  [
    'a document that was shown and is said not to be',
    'DELETE FROM document_sessions WHERE version = (SELECT min(version) FROM document_sessions)',
    /list_documents/,
  ],
  [
    'a document that was not shown and is said to be',
    'INSERT INTO document_sessions SELECT 1, version FROM documents WHERE version NOT IN (SELECT version FROM document_sessions)',
    /list_documents|document (never|listed)/,
  ],
  [
    'a number of documents',
    `UPDATE trading_sessions SET documents = json_set(documents, '$.counts', json('[{"kind":"news","documents":1}]'))`,
    /before this morning: 33/,
  ],
  [
    'documents that no one could read',
    'UPDATE trading_sessions SET documents = NULL',
    /the messages|Documents/,
  ],
];
for (const [what, sql, words] of changes)
  test(`replay finds ${what}`, async (t) => {
    const { folder, path, books } = await library(t);
    const target = join(folder, 'package.db');
    await packageJob({ path, jobId: 'job-1', target });
    const paper = openDatabase(target);
    t.after(() => paper.close());
    assert.deepEqual((await replayOf(paper)).problems, []);
    for (const database of sql.startsWith('INSERT') ? [books.database] : [books.database, paper]) {
      database.statement('PRAGMA foreign_keys = OFF').run();
      database.statement(sql).run();
      const { problems } = await replayOf(database);
      assert.match(problems.join('\n'), words);
    }
  });

test('what arrives later with an earlier date changes nothing of sessions that ran, and makes none stale', async (t) => {
  const { books } = await library(t);
  storeDocuments(books.database, [
    { id: 'late', symbols: ['AAPL'], published_at: '2025-01-05T01:00:00Z' },
    { id: 'read', text: 'another version', published_at: '2025-01-05T02:00:00Z' },
  ]);
  assert.deepEqual(await auditOf(books.database), SOUND);
});
