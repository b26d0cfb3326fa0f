import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Meaning } from '../../src/core/database/schema/price-conditions.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { splitsBetween } from '../../src/core/database/market-queries.ts';
import { storeSplits } from '../../src/core/database/splits-and-dividends.ts';
import { type Imported, importText } from '../support/imports.ts';
import type { PriceSource } from '../../src/core/database/prices.ts';
import { storePrices } from '../support/prices.ts';
import { tableOf } from '../support/text-table.ts';

/**
 * What prices are taken for: what a person says, or the format tells, or a known split shows. A
 * holding of 100 dollars is worth 100.25 after a split of 4:1 where the prices are raw.
 */

type Split = [symbol: string, date: string, numerator: number, denominator: number];

/** A database that knows some splits. */
function databaseWith(...known: Split[]): CommandDatabase {
  const database = openDatabase(':memory:');
  const stamp = { source: 'massive', recordedAt: '2025-11-09T00:00:00.000Z' };
  database.transaction(() => {
    for (const [symbol, date, numerator, denominator] of known) {
      const splits = [{ symbol, date, numerator, denominator }];
      storeSplits(database, { symbol, splits, endDate: '2025-11-09' }, stamp);
    }
  });
  return database;
}

const takenOf = ({ summary: { taken } }: Imported) => `${taken?.meaning} ${taken?.by}`;

const RAW = '2025-09-02,400,401,399,400,1000\n2025-09-03,100,101,99,100.25,4000\n';
const SMOOTH = RAW.replace('400,401,399,400', '100,101,99,100');
const SPLIT: Split = ['AAPL', '2025-09-03', 4, 1];
const CONTRADICTION =
  'AAPL split 4:1 on 2025-09-03, and closed at 400 on 2025-09-02 and at 100.25 on 2025-09-03';

test("no header's capitals decide what prices are", async () => {
  for (const header of [
    'Date,Open,High,Low,Close,Volume',
    'date,open,high,low,close,volume',
    'DATE,OPEN,HIGH,LOW,CLOSE,VOLUME',
  ]) {
    const text = `${header}\n${RAW}`;
    assert.equal(takenOf(await importText(text)), 'split-adjusted default');
    for (const as of ['raw', 'split-adjusted', 'total-return'] as const)
      assert.equal(takenOf(await importText(text, { as })), `${as} said`);
    for (const [rows, taken, splits] of [
      [RAW, 'raw seen', 1],
      [SMOOTH, 'split-adjusted seen', 0],
    ] as const) {
      const database = databaseWith(SPLIT);
      const seen = await importText(`${header}\n${rows}`, { database });
      const dates = { after: '2025-09-02', upTo: '2025-09-03' };
      const multiplied = splitsBetween(latestPrices(database), ['AAPL'], dates);
      assert.deepEqual([takenOf(seen), multiplied.length], [taken, splits]);
    }
  }
});

test('what a person says counts more than what a format tells', async () => {
  const yahoo = 'Date,Open,High,Low,Close,Adj Close,Volume\n2025-09-02,10,11,9,10,9.5,5\n';
  const found = await importText(yahoo, { as: 'raw' });
  assert.equal(takenOf(found), 'raw said');
  assert.match(found.stored[0] ?? '', / csv$/);
});

test('a symbol whose known split contradicts what was said, told or taken is refused with the date and both prices', async () => {
  const header = 'Symbol,Date,Open,High,Low,Close,Volume\n';
  const of = (rows: string) => rows.replaceAll(/^(?=.)/gm, 'AAPL,');
  const other = 'MSFT,2025-09-02,1,1,1,1,5\n';
  const yahoo = `Adj Close,${header}${(of(RAW) + other).replaceAll(/^(?=.)/gm, '1,')}`;
  const cases: [text: string, as: Meaning | undefined, meaning: Meaning, closes: string][] = [
    [header + of(RAW) + other, 'split-adjusted', 'split-adjusted', CONTRADICTION],
    [header + of(RAW) + other, 'total-return', 'total-return', CONTRADICTION],
    [header + of(SMOOTH) + other, 'raw', 'raw', CONTRADICTION.replace('at 400', 'at 100')],
    [yahoo, undefined, 'split-adjusted', CONTRADICTION],
  ];
  for (const [text, as, meaning, closes] of cases) {
    const database = databaseWith(SPLIT);
    const { refused, summary } = await importText(text, { database, as });
    const reason = `a known split contradicts that the prices are ${meaning}`;
    assert.deepEqual(refused, [`2: ${reason}: ${closes}`]);
    assert.deepEqual([[...summary.refused.values()], summary.symbols], [[2], ['MSFT']]);
  }
});

test('where a file shows both, the more of its symbols count, and the others are refused', async () => {
  const bars = (symbol: string, before: number) =>
    `${symbol},2025-09-02,${before},${before}\n${symbol},2025-09-03,100,100.25\n`;
  const database = databaseWith(
    ...['A', 'B', 'C'].map((name): Split => [name, '2025-09-03', 4, 1]),
  );
  const text = `symbol,date,open,close\n${bars('A', 400)}${bars('B', 100)}${bars('C', 400)}`;
  const found = await importText(text, { database });
  assert.equal(takenOf(found), 'raw seen');
  assert.deepEqual(found.refused, [
    '4: a known split contradicts that the prices are raw: B split 4:1 on 2025-09-03, and closed at 100 on 2025-09-02 and at 100.25 on 2025-09-03',
  ]);
});

test('a small split, a long gap and a wild day show nothing', async () => {
  const nights: [split: Split, bars: string][] = [
    [['AAPL', '2025-09-03', 21, 20], '2025-09-02,105,105\n2025-09-03,100,100\n'],
    [SPLIT, '2025-08-01,400,400\n2025-09-03,100,100\n'],
    [SPLIT, '2025-09-02,400,400\n2025-09-03,200,200\n'],
  ];
  for (const [split, bars] of nights) {
    const database = databaseWith(split);
    const found = await importText(`date,open,close\n${bars}`, { database });
    assert.equal(takenOf(found), 'split-adjusted default');
  }
});

test('an import that brings a split says which stored prices it contradicts', async () => {
  const { database } = await importText('date,open,close\n2025-09-02,400,400\n');
  const text = 'date,open,close,stock splits\n2025-09-03,100,100.25,4\n';
  const { summary } = await importText(text, { database });
  const [{ symbol, meaning, previousClose, nextClose } = assert.fail()] = summary.contradicted;
  assert.deepEqual(
    [symbol, meaning, previousClose, nextClose],
    ['AAPL', 'split-adjusted', 400, 100.25],
  );
});

const refusalOf = (meaning: Meaning, stored: Meaning, symbol: string, source: string) =>
  `2: ${meaning} prices for a symbol whose stored prices are ${stored}: ${symbol} has prices from ${source}`;

test('a file that has all dates of a series replaces it where a person says what its prices are', async () => {
  const text = `date,open,high,low,close,volume\n${RAW}`;
  const { database } = await importText(text);
  const part = text.split('\n').slice(0, 2).join('\n');
  const half = await importText(part, { database, as: 'raw' });
  const adjusted = refusalOf('raw', 'split-adjusted', 'AAPL', 'file-split-adjusted');
  assert.deepEqual(half.refused, [adjusted]);
  const whole = await importText(text, { database, as: 'raw' });
  assert.deepEqual([whole.refused, whole.summary.changed], [[], 2]);
  assert.match(whole.stored[1] ?? '', / csv$/);
  const silent = await importText(text, { database });
  assert.deepEqual(silent.refused, [refusalOf('split-adjusted', 'raw', 'AAPL', 'csv')]);
});

/** A file of one bar, what is said of it and what it is taken for; what is stored, and from where. */
const meetings = tableOf<[string, Meaning | '', Meaning, Meaning, string, PriceSource]>(`
  AAPL.csv      |     | split-adjusted | raw            | AAPL   | csv
  aapl_us_d.csv |     | total-return   | raw            | AAPL   | csv
  MSFT.csv      | raw | raw            | split-adjusted | MSFT   | yahoo
  nvda_us_d.csv |     | total-return   | total-return   | NVDA   | stooq
  NVDA.csv      |     | split-adjusted | total-return   | NVDA   | stooq
  NVDA.csv      | raw | raw            | total-return   | NVDA   | stooq
  QXKZVA.csv    | raw | raw            | split-adjusted | QXKZVA | disguise`);
test('prices of different meanings never share a series', async () => {
  for (const [name, as, meaning, stored, symbol, source] of meetings) {
    const database = openDatabase(':memory:');
    storePrices(database, `${symbol} 2025-01-03 1 1`, source);
    const text = 'Date,Open,High,Low,Close,Volume\n2025-01-06,10,12,9,10,5\n';
    const { refused } = await importText(text, { database, name, as: as || undefined });
    const refusal = refusalOf(meaning, stored, symbol, source);
    assert.deepEqual(refused, meaning === stored ? [] : [refusal], `${name} as ${as}`);
  }
});
