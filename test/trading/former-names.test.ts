import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import type { TradingSession } from '../../src/core/trading/session.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { type Books, callIn, createBooks, replayOf, setBars, tell } from '../support/books.ts';
import { temporaryFolder } from '../support/folder.ts';
import { rowsAsText } from '../support/tables.ts';
import { tableOf } from '../support/text-table.ts';

/** What took another name: its price limit, when it can be sold, and its packages, in the market `cn`. */

const UNIVERSE = new Set(['NEW.SH', 'OTHER.SH']);
const WITH_OLD = new Set([...UNIVERSE, 'OLD.SH']);

/** Books with `OLD 2025-01-06 NEW 1:1 CASH` as exchanges; symbols without their `.SH`. */
function booksOf(
  bars: string,
  exchanges: string,
  { path = ':memory:', source = 'csv', universe = UNIVERSE } = {},
) {
  const terms = { market: 'cn', stock_symbols: [...universe], initial_cash: 1_000_000 };
  const books = createBooks(path, { terms });
  const lines = bars.split(', ').map((bar) => bar.replace(/^(\S+) (\S+)/, '$1.SH 2025-01-$2'));
  setBars(books, lines.join('\n'), source);
  for (const row of exchanges.split(', ')) {
    const [symbol, day, into, ratio = '', cash = 0] = row.split(' ');
    const [newShares = 0, oldShares = 0] = ratio.split(':').map(Number);
    const shares: [number, number] = [newShares, oldShares];
    books.setExchange(`${symbol}.SH`, `2025-01-${day}`, `${into}.SH`, shares, {
      ...(cash === 'stays' ? { remains: true } : { cash: Number(cash) }),
    });
  }
  return books;
}

const openOn = (books: Books, day: string, universe = UNIVERSE) =>
  books.open(`2025-01-${day}`, 'model-a', { universe });

async function refusalOf(session: TradingSession, order: string): Promise<string> {
  const [name = '', symbol, amount] = order.split(' ');
  const { results } = await callIn(session, name, { symbol: `${symbol}.SH`, amount });
  return JSON.parse(results[0]?.content ?? '').error ?? '';
}

/** The upper limit of NEW on 6 January: 1.1 of the reference; none where it has no close. */
const references = tableOf<[closes: string, exchanges: string, events: string, upper: string]>(`
  OLD 03 10                        | OLD 05 NEW 1:1                 |             | 11
  OLD 03 10                        | OLD 05 NEW 2:1                 |             |
  OLD 03 10                        | OLD 05 NEW 1:1 1               |             |
  OLD 03 10                        | OLD 05 NEW 1:1 stays           |             |
  OLD 03 10, NEW 02 50             | OLD 06 NEW 1:1                 |             | 11
  OLD 03 10, NEW 03 20             | OLD 06 NEW 1:1                 |             | 22
  OLD 02 10, NEW 03 20             | OLD 03 NEW 1:1                 |             | 22
  OLD 02 10, OLD 05 40             | OLD 03 NEW 1:1                 |             | 11
  OLD 02 10, OLD 05 40, NEW 04 20  | OLD 03 NEW 1:1                 |             | 22
  OLD 03 10                        | OLD 04 MID 1:1, MID 06 NEW 1:1 |             | 11
  OLD 03 10                        | OLD 06 MID 1:1, MID 06 NEW 1:1 |             | 11
  OLD 02 10, MID 03 20, NEW 02 30  | OLD 03 MID 1:1, MID 06 NEW 1:1 |             | 22
  OLD 03 10                        | OLD 06 MID 1:1, MID 05 NEW 1:1 |             |
  OLD 03 10                        | OLD 06 MID 1:1, MID 06 OLD 1:1 |             |
  OLD 03 10, OTHER 03 20           | OLD 06 NEW 1:1, OTHER 06 NEW 1:1  |          |
  OLD 03 10, OTHER 03 20           | OLD 06 NEW 1:1, OLD 06 OTHER 1:1  |          |
  OLD 03 10, OTHER 02 20           | OLD 06 NEW 1:1, OTHER 03 NEW 1:1  |          | 11
  NEW 02 20                        | OLD 06 NEW 1:1 | NEW 03 2:1, NEW 04 1         | 9.9
  NEW 02 20                        | OLD 06 NEW 1:1 | NEW 04 2:1, NEW 03 1         | 10.45
  NEW 02 20                        | OLD 06 NEW 1:1 | NEW 03 2:1, NEW 03 1         | 10.45
  OLD 02 10 | OLD 04 MID 1:1, MID 06 NEW 1:1 | OLD 03 1, OLD 04 3:1, MID 05 2:1 | 1.65
  OLD 02 10 | OLD 04 MID 1:1, MID 06 NEW 1:1 | MID 04 1, OLD 05 3:1, NEW 06 2:1 | 11
`);
test('the reference of a price limit is the latest close under any name, with what came since', async () => {
  for (const [closes, exchanges, events, upper] of references) {
    const row = [closes, exchanges, events].join(' | ');
    for (const [open, isRefused] of [
      [Number(upper || 1_000), upper !== ''],
      [Number(upper || 1_000) - 0.01, false],
    ]) {
      const bars = closes.split(', ').map((close) => `${close} ${close.split(' ')[2]}`);
      const books = booksOf([...bars, `NEW 06 ${open} ${open}`].join(', '), exchanges);
      tell(books, events.replaceAll(/(\S+) (\d\d) (\S+)/g, '$1.SH 2025-01-$2 $3'));
      const session = await openOn(books, '06');
      const refusal = 'Cannot buy NEW.SH: it opened at its upper limit, no one sells.';
      assert.equal(await refusalOf(session, 'buy NEW 100'), isRefused ? refusal : '', row);
      await books.complete(session);
      assert.deepEqual((await replayOf(books.database)).problems, [], row);
    }
  }
});

/** What becomes of 200 OLD, a split, when 100 NEW are to be sold, and how many came that day. */
const sales = tableOf<[exchanges: string, split: string, day: string, came: string, as: string]>(`
  OLD 06 NEW 1:1 stays          |               | 06 | 200 |
  OLD 06 NEW 1:1 1              |               | 06 | 200 |
  OLD 06 NEW 3:1                |               | 06 | 600 |
  OLD 06 NEW 1:1                |               | 06 |     |
  OLD 06 MID 2:1, MID 06 NEW 1:1 |              | 06 | 400 |
  OLD 06 MID 1:1, MID 06 NEW 1:1 |              | 06 |     |
  OLD 05 NEW 1:2                |               | 06 |     |
  OLD 06 NEW 1:2                |               | 07 |     |
  OLD 06 NEW 1:1 stays          | NEW 07 1:2    | 07 |     |
  OLD 06 MID 2:1, MID 07 NEW 1:1 |              | 07 |     |
  OLD 06 NEW 1:1                | NEW 08 2:1    | 06 |     | yahoo
  OLD 06 NEW 2:1                | NEW 08 1:2    | 06 | 200 | yahoo
  OLD 06 MID 2:1, MID 06 NEW 1:1 | NEW 08 2:1   | 06 | 800 | yahoo
`);
test('what an exchange brought cannot be sold on its date, unless only the name is another', async () => {
  for (const [exchanges, split, day, came, as] of sales) {
    const bars = ['OLD 03 13 13', `NEW ${day} 13 13`, `OTHER ${day} 1 1`].join(', ');
    const books = booksOf(bars, exchanges, { source: as || 'csv', universe: WITH_OLD });
    tell(books, split.replace(/(\S+) (\d\d)/, '$1.SH 2025-01-$2'));
    await books.complete(await openOn(books, '03', WITH_OLD), [['buy', 'OLD.SH', 200]]);
    const session = await openOn(books, day, WITH_OLD);
    const said = await refusalOf(session, 'sell NEW 100');
    const words = `Cannot sell 100 NEW.SH: ${came} of the ${came} held were bought or received today`;
    const start = came === '' ? '' : words;
    assert.equal(said.slice(0, start.length || undefined), start, `${exchanges} | ${split}`);
    await books.complete(session);
    assert.deepEqual((await replayOf(books.database)).problems, []);
  }
});

test('a package has the former names of its universe, also of exchanges that are taken back', async () => {
  const [path, target] = ['jobs.db', 'paper.db'].map((name) => join(temporaryFolder(), name));
  assert.ok(path && target);
  const bars = 'OLD 03 10 10, NEW 06 11 11, OTHER 06 5 5, ALIEN 03 7 7';
  const exchanges = 'OLD 05 MID 1:1, MID 06 NEW 1:1, ALIEN 06 NEW 2:1';
  const books = booksOf(bars, exchanges, { path });
  const session = await openOn(books, '06');
  await books.complete(session, [
    ['buy', 'NEW.SH', 100],
    ['buy', 'OTHER.SH', 100],
  ]);
  books.remove('exchanges', 'MID.SH', '2025-01-06');
  await packageJob({ path, jobId: session.modelDay.jobId, target });
  const paper = openDatabase(target);
  assert.equal((await replayOf(paper)).same, '1 of 1');
  const symbols = 'SELECT DISTINCT symbol FROM price_data ORDER BY 1';
  assert.deepEqual(rowsAsText(paper, symbols), ['NEW.SH', 'OLD.SH', 'OTHER.SH']);
  books.database.close();
  paper.close();
});
