import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { packageJob } from '../../src/commands/backup.ts';
import { openDatabase } from '../../src/database/database.ts';
import { createBooks, replayOf, SYMBOLS } from '../support/books.ts';
import { call, importRows, listed, row } from '../support/documents.ts';
import { temporaryFolder } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { startTestView } from '../support/view.ts';

const LIBRARY = [
  row({ id: 'read', symbol: 'AAPL', text: 'Words that were read.', published_at: '2025-01-05' }),
  row({ id: 'listed', symbol: 'MSFT', title: 'Listed', published_at: '2025-01-04' }),
  row({ id: 'changes', text: 'needle of before', published_at: '2025-01-03' }),
  row({ id: 'changes', text: 'no longer', published_at: '2025-01-06T12:00:00Z' }),
  ...Array.from({ length: 30 }, (_, index) =>
    row({ id: `never-${index}`, text: `shown ${index}` }),
  ),
];

/** Two sessions in two jobs that read, in a file. */
async function library(t: TestContext) {
  const folder = temporaryFolder(t);
  const path = join(folder, 'jobs.db');
  const books = createBooks(path, { hasDocuments: true });
  t.after(() => books.database.close());
  for (const date of ['2025-01-03', '2025-01-06', '2025-01-07'])
    for (const symbol of SYMBOLS) books.setBar(symbol, date, { open: 100, close: 101 });
  await importRows(t, books.database, LIBRARY);
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
  assert.deepEqual(rowsAsText(books.database, SHOWN), [
    'job-1 changes',
    'job-1 read',
    'job-2 changes',
    'job-2 read',
  ]);
  const target = join(folder, 'package.db');
  await packageJob({ path, jobId: 'job-2', target });
  const bytes = new DatabaseSync(target, { readOnly: true });
  assert.deepEqual(
    bytes
      .prepare('SELECT document_id FROM documents ORDER BY 1')
      .all()
      .map((one) => Object.values(one)[0]),
    ['changes', 'read'],
  );
  bytes.close();
  const view = await startTestView(t, target);
  const { body } = await view.get('/audit');
  assert.deepEqual([body.status, body.problems, body.damage], ['sound', [], []]);
  const read = await view.get('/documents/read?as_of=2025-01-07');
  assert.equal(read.body.text, 'Words that were read.');
  assert.equal((await view.get('/documents/never-1?as_of=2025-01-07')).status, 404);
});

const changes: [what: string, sql: string, words: RegExp][] = [
  [
    'a letter of a text',
    `UPDATE documents SET text = replace(text, 'Words', 'Wards')`,
    /read_document|document read/,
  ],
  [
    'a letter of a title that was only listed',
    `UPDATE documents SET title = 'B title' WHERE document_id = 'changes'`,
    /list_documents|document changes/,
  ],
  [
    'a source that no list shows',
    `UPDATE documents SET source = 'x' WHERE document_id = 'changes'`,
    /document changes/,
  ],
  [
    'a document that was shown and is said not to be',
    `DELETE FROM document_sessions WHERE version = 1`,
    /documents/,
  ],
  [
    'a number of documents',
    `UPDATE document_counts SET documents = 1`,
    /documents|replayed .* read: 1 /,
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
    for (const database of [books.database, paper]) {
      database.statement('PRAGMA foreign_keys = OFF').run();
      database.statement(sql).run();
      const { problems } = await replayOf(database);
      assert.match(problems.join('\n'), words);
    }
  });

test('what arrives later with an earlier date changes nothing of sessions that ran', async (t) => {
  const { books } = await library(t);
  await importRows(t, books.database, [
    row({ id: 'late', symbol: 'AAPL', published_at: '2025-01-05T01:00:00Z' }),
    row({ id: 'read', text: 'another version', published_at: '2025-01-05T02:00:00Z' }),
  ]);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('a failed session keeps what it was shown', async (t) => {
  const { books } = await library(t);
  const session = await books.open('2025-01-07', 'model-b');
  await listed(session, { limit: 1 });
  await session.end({ status: 'failed', error: 'broken' });
  const sql = `SELECT count(*) FROM document_sessions JOIN trading_sessions USING (session_id) WHERE status = 'failed'`;
  assert.deepEqual(rowsAsText(books.database, sql), ['1']);
});
