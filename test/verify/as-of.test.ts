import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditOf, createBooks, SOUND } from '../support/books.ts';
import { isLong } from '../support/long.ts';
import { rowsAsText, undone } from '../support/tables.ts';

/**
 * What happens to the bar of a date while a session runs and after its commit, and whether it is
 * stale then.
 */
const meanwhile: [name: string, first: Bar, during: Bar, after: Bar, isStale: boolean][] = [
  ['the same again, of which no close is known', [10, null], [10, null], [10, null], false],
  ['a close that comes while it runs', [10, null], [10, 11], [10, 11], false],
  ['a close that comes later', [10, null], [10, null], [10, 11], true],
  ['another open while it runs', [10, 11], [12, 11], [12, 11], true],
  ['another open while it runs, and the old one later', [10, 11], [12, 11], [10, 11], false],
  ['a first bar while it runs, with the price it had before', null, [5, 11], [5, 11], true],
  ['no bar while it runs, one later with the price it had', [10, 11], null, [10, 5], true],
];
type Bar = [open: number, close: number | null] | null;
for (const [name, first, during, after, isStale] of meanwhile) {
  test(`${isStale ? 'stale' : 'not stale'}: ${name}`, async () => {
    const books = createBooks();
    const set = (bar: Bar) => {
      if (bar === null) books.remove('price_data', 'AAPL', '2025-01-07');
      else books.setBar('AAPL', '2025-01-07', { open: bar[0], close: bar[1] });
    };
    books.setBar('AAPL', '2025-01-06', { open: 5, close: 5 });
    await books.day('2025-01-06', [['buy', 'AAPL', 1]]);
    set(first);
    const session = await books.open('2025-01-07');
    set(during);
    await books.complete(session);
    set(after);
    const stale = isStale ? ['model-a 2025-01-07'] : [];
    assert.deepEqual(await auditOf(books.database), { ...SOUND, stale });
  });
}

/**
 * The clocks of imports, in seconds beside that of the service, which the books of a job do not
 * depend on.
 */
const CLOCKS = isLong ? [-172_800, -86_400, -30, 0, 30, 86_400, 172_800] : [-86_400, 0, 30];

test('whatever the clocks of imports before, during and after a job: right days verify, and every changed bar is found', async () => {
  const dates = ['2025-01-06', '2025-01-07', '2025-01-08'];
  for (const before of CLOCKS)
    for (const during of CLOCKS) {
      const books = createBooks();
      const { database } = books;
      let price = 100;
      const importBy = (clock: number) => {
        books.wait(clock);
        price += 1;
        for (const date of ['2025-01-03', ...dates])
          books.setBar('AAPL', date, { open: price, close: price });
        books.wait(-clock);
      };
      importBy(before);
      for (const date of dates) {
        const session = await books.open(date);
        importBy(during);
        await books.complete(session, [['buy', 'AAPL', 1]]);
        importBy(before);
      }
      const { problems, unverifiable } = await auditOf(database);
      assert.deepEqual([problems, unverifiable], [[], []], `clocks ${before} and ${during}`);
      if (before !== during) continue;
      for (const { rowid } of database
        .statement('SELECT revision_id AS rowid FROM price_revisions WHERE date = ?')
        .all('2025-01-07')) {
        const change = `UPDATE price_revisions SET open = 7, close = 7 WHERE revision_id = ${rowid}`;
        const isRead = database
          .statement(
            `SELECT 1 FROM price_revisions JOIN trading_sessions AS own ON own.date >= '2025-01-07'
             WHERE revision_id = ? AND (written <= morning_write AND replaced > morning_write
               OR own.date = '2025-01-07' AND written <= commit_write AND replaced > commit_write)`,
          )
          .get(Number(rowid));
        await undone(database, [change], async () => {
          const found = await auditOf(database);
          assert.equal(found.problems.length > 0, isRead !== undefined, change);
        });
      }
    }
});

test('prices of other programs have a number from the next morning or commit on, and are read from then on', async () => {
  const books = createBooks();
  const { database } = books;
  books.writer = 'another program';
  for (const date of ['2025-01-06', '2025-01-07'])
    books.setBar('AAPL', date, { open: 50, close: 51 });
  const numbers = () =>
    rowsAsText(database, 'SELECT written FROM price_data ORDER BY date').join(' ');
  assert.equal(numbers(), '- -');
  const session = await books.open('2025-01-06');
  assert.equal(numbers(), '1 1');
  books.setBar('AAPL', '2025-01-08', { open: 52, close: 53 });
  books.setBar('AAPL', '2025-01-06', { open: 50, close: 60 });
  await books.complete(session, [['buy', 'AAPL', 1]]);
  assert.equal(numbers(), '2 1 3', 'a change takes a number at once, a new row at the commit');
  assert.deepEqual(await auditOf(database), SOUND, 'it was marked at the close of 60');
});
