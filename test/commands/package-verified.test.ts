import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { auditOf, type Books, fourDays, replayOf } from '../support/books.ts';
import { inLongForm } from '../support/long.ts';
import { anyBars, anyEvents, booksIn } from '../support/random-books.ts';
import { richBooks } from '../support/rich-books.ts';
import { rowsAsText } from '../support/tables.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * What replay and the audit say of a package: the same as of the database that it was made from.
 */

test('a model-day that starts from another job finds its portfolio and its note in the package, and replays', async () => {
  const folder = temporaryFolder();
  const { database } = await richBooks(join(folder, 'jobs.db'));
  const noted = database
    .statement(
      `SELECT own.job_id AS job, past.note, past.session_id AS session FROM trading_sessions AS own
       JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
       WHERE own.status = 'active' AND past.note IS NOT NULL AND past.job_id <> own.job_id`,
    )
    .all();
  assert.ok(noted.length > 0);
  for (const { job, note, session } of noted) {
    const target = join(folder, `${session}.db`);
    await packageJob({ path: database.path, jobId: String(job), target });
    const paper = openDatabase(target);
    const opening = `SELECT status || ' ' || note FROM trading_sessions WHERE session_id = ${session}`;
    assert.deepEqual(rowsAsText(paper, opening), [`opening ${note}`]);
    const { same, problems } = await replayOf(paper);
    assert.deepEqual([same, problems], ['1 of 1', []]);
    paper.close();
  }
  database.close();
});

/**
 * What made the series of a split stock free of jumps when the model ran: a bar after the end of
 * the job, which has gone since.
 */
const goneSince: [name: string, happens: (books: Books) => void][] = [
  ['it was removed', ({ remove }) => remove('price_data', 'ORLY', '2025-02-03')],
  [
    'its source has a bar within the job now',
    ({ setBar }) => setBar('ORLY', '2025-01-02', { open: 19, close: 19, source: 'yahoo' }),
  ],
];
for (const [name, happens] of goneSince)
  test(`a package replays although a later bar decided which splits count, and ${name}`, async () => {
    const folder = temporaryFolder();
    const target = join(folder, 'paper.db');
    const books = await fourDays(join(folder, 'jobs.db'));
    books.setBar('ORLY', '2025-02-03', { open: 20, close: 20, source: 'yahoo' });
    books.setBar('ORLY', '2025-01-09', { open: 40, close: 40 });
    books.setSplit('ORLY', '2025-01-09', 2, 1);
    books.wait(3600);
    await books.day('2025-01-09');
    books.wait(3600);
    books.setBar('ORLY', '2025-01-31', { open: 20, close: 20, source: 'yahoo' });
    happens(books);
    assert.equal((await replayOf(books.database)).same, '5 of 5');
    await packageJob({ path: books.database.path, jobId: 'job-5', target });
    const paper = openDatabase(target);
    const { same, problems } = await replayOf(paper);
    assert.deepEqual([same, problems], ['1 of 1', []]);
    paper.close();
    books.database.close();
  });

/** What the audit says of the model-days of one job. */
async function findingsOf(database: Database, sessions: readonly unknown[]): Promise<unknown> {
  const { problems, unverifiable, stale } = await auditOf(database);
  const days = sessions.map((row) => Object.values(row as object).join(' '));
  const own = (lines: string[]) =>
    lines.filter(
      (line) => days.some((day) => line.startsWith(day)) && !line.includes('(superseded)'),
    );
  return [own(problems), own(unverifiable), own(stale)];
}

// Whatever was traded, replaced, split and revised.
test('the audit of a package says what that of the database says', inLongForm, async () => {
  const folder = temporaryFolder();
  const database = openDatabase(join(folder, 'jobs.db'), { durability: 'process-end' });
  let made = 0;
  const property = fc.asyncProperty(anyBars, anyEvents, async (bars, events) => {
    await booksIn(database, bars, events);
    for (const { job_id: jobId } of database.statement('SELECT job_id FROM jobs').all()) {
      const target = join(folder, `${(made += 1)}.db`);
      await packageJob({ path: database.path, jobId: String(jobId), target });
      const packaged = openDatabase(target);
      const active = `SELECT model, date FROM trading_sessions WHERE status = 'active'`;
      const days = packaged.statement(active).all();
      assert.deepEqual(await findingsOf(packaged, days), await findingsOf(database, days));
      packaged.close();
    }
  });
  await fc.assert(property, { numRuns: 40 });
  database.close();
});
