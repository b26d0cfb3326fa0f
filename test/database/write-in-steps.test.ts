import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '../../src/basics/calendar.ts';
import { type CommandDatabase, openDatabase, writeInSteps } from '../../src/database/database.ts';
import {
  dividendCoverage,
  storeDividends,
  storeSplits,
  storeSplitSpans,
} from '../../src/database/splits-and-dividends.ts';
import { replaceBars, splitSpans, storeBars, wholeBars } from '../../src/database/prices.ts';
import { atOnce, SLICE_MS, type Steps } from '../../src/basics/turns.ts';

const DATES = weekdays('2025-01-06', '2025-02-28');
const [startDate, endDate] = [DATES[0]!, DATES.at(-1)!];
const STAMP = { source: 'csv', recordedAt: '2025-03-01T00:00:00.000Z' } as const;
const SPAN = { symbol: 'AAPL', startDate, endDate };
const SPLITS = DATES.slice(0, 3).map((date) => ({
  symbol: 'AAPL',
  date,
  numerator: 2,
  denominator: 1,
}));
const DIVIDENDS = DATES.slice(0, 3).map((exDate) => ({ symbol: 'AAPL', exDate, cash: 250_000 }));
const BARS = DATES.map((date) => ({
  symbol: 'AAPL',
  date,
  open: 100,
  high: null,
  low: null,
  close: 101,
  volume: null,
}));

function emptyDatabase(t: { after(end: () => void): void }): CommandDatabase {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  return database;
}

/** Each step takes longer than a slice. */
function* slowly(database: CommandDatabase, symbols: readonly string[]): Steps<number> {
  for (const symbol of symbols) {
    storeBars(database, [{ ...BARS[0]!, symbol }], STAMP);
    for (const end = performance.now() + SLICE_MS; performance.now() < end; );
    if (symbol === 'BAD') throw new Error('no such symbol');
    yield null;
  }
  return symbols.length;
}

const symbolsIn = (database: CommandDatabase) =>
  database
    .statement('SELECT symbol FROM price_data ORDER BY symbol')
    .all()
    .map((row) => row['symbol']);

test('between two slices of steps the transaction is over, and others work', async (t) => {
  const database = emptyDatabase(t);
  const seen: unknown[][] = [];
  const watch = setInterval(() => seen.push(symbolsIn(database)), 0);
  t.after(() => clearInterval(watch));
  assert.equal(await writeInSteps(database, slowly(database, ['A', 'B', 'C'])), 3);
  assert.deepEqual(symbolsIn(database), ['A', 'B', 'C']);
  assert.ok(
    seen.some((symbols) => symbols.length > 0 && symbols.length < 3),
    JSON.stringify(seen),
  );
});

test('what earlier slices wrote stays when a step throws; its own slice is undone', async (t) => {
  const database = emptyDatabase(t);
  await assert.rejects(
    writeInSteps(database, slowly(database, ['A', 'BAD', 'C'])),
    /no such symbol/,
  );
  assert.deepEqual(symbolsIn(database), ['A']);
});

const lists: [
  name: string,
  steps: (database: CommandDatabase) => Steps<unknown>,
  isKnown: (database: CommandDatabase) => boolean,
  rows: string,
][] = [
  [
    'dividends',
    (database) =>
      storeDividends(database, { dividends: DIVIDENDS, spans: [SPAN], basis: 'as_paid' }, STAMP),
    (database) => dividendCoverage(database, ['AAPL'], { from: startDate, to: endDate }).length > 0,
    'dividends',
  ],
  [
    'splits of a span',
    (database) =>
      storeSplitSpans(database, { splits: SPLITS, spans: [SPAN], knownThrough: endDate }, STAMP),
    (database) =>
      splitSpans.between(database, ['AAPL'], { from: startDate, to: endDate }).length > 0,
    'stock_splits',
  ],
  [
    'splits of a symbol',
    (database) => storeSplits(database, { symbol: 'AAPL', splits: SPLITS, endDate }, STAMP),
    (database) => database.statement('SELECT 1 FROM stock_split_coverage').all().length > 0,
    'stock_splits',
  ],
];
for (const [name, steps, isKnown, table] of lists) {
  test(`${name}: one in each step, and known only after all of them`, (t) => {
    const database = emptyDatabase(t);
    const unfinished = steps(database);
    const state = () => [
      database.statement(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'],
      isKnown(database),
    ];
    for (const rows of [1, 2, 3]) {
      unfinished.next();
      assert.deepEqual(state(), [rows, false]);
    }
    assert.equal(unfinished.next().done, true);
    assert.deepEqual(state(), [3, true]);
  });
}

test('real bars replace synthetic ones a few at a time', (t) => {
  const database = emptyDatabase(t);
  const older = weekdays('2024-01-01', '2024-12-31').map((date) => ({ ...BARS[0]!, date }));
  storeBars(database, [...older, ...BARS], { ...STAMP, source: 'synthetic' });
  const steps = replaceBars(database, BARS, STAMP);
  const removed: number[] = [];
  const count = () =>
    Number(
      database
        .statement(`SELECT count(*) AS left FROM price_data WHERE source = 'synthetic'`)
        .get()?.['left'],
    );
  for (let before = count(), isDone = false; !isDone; ) {
    isDone = steps.next().done === true;
    removed.push(before - count());
    before = count();
  }
  assert.ok(
    Math.max(...removed) <= 20 && removed.length >= BARS.length + older.length / 20,
    removed.join(' '),
  );
  assert.deepEqual(
    wholeBars(database, 'AAPL', { from: '2024-01-01', to: endDate }).map(({ date }) => date),
    DATES,
  );
  assert.deepEqual(atOnce(replaceBars(database, BARS, STAMP)), []);
});
