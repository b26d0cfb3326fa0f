import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { barOn, lastBars, quotesOn, splitsBetween } from '../../src/database/market.ts';
import { openPast } from '../../src/database/past.ts';
import '../../src/database/jumps.ts';
import { queries } from '../../src/database/rows.ts';
import { richBooks } from '../support/rich-books.ts';
import { rowsAsText } from '../support/tables.ts';
import '../../src/database/splits-and-dividends.ts';

test('over the past, no query of a market reads a whole table of prices', () => {
  const database = openDatabase(':memory:');
  const past = openPast(database);
  const ofMarkets = queries.filter(
    ({ sql }) =>
      /FROM (price_data|stock_splits|dividends)\b[^]*\?/.test(sql) &&
      /adjusted|chosen|named|\?3/.test(sql) &&
      !sql.includes('nights'), // jumps are looked for only in what is stored now
  );
  assert.ok(ofMarkets.length >= 7);
  const scans = ofMarkets.flatMap(({ sql }) => {
    const steps = database
      .statement(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
    // In the views of the past, `own` and `other` are their tables. A query of dividends gives that
    // name to those it has chosen.
    return steps.filter((step) =>
      /^SCAN (own|other)$|^SCAN (price_data|stock_splits)\b|^MATERIALIZE (price|stock|dividends)/.test(
        step,
      ),
    );
  });
  assert.deepEqual(scans, []);
  past.end();
});

test('the past: each row as it was at an instant, and leniently its first known version', async () => {
  const { database } = await richBooks();
  const bars = () =>
    rowsAsText(
      database,
      `SELECT date, open, close, adjusted FROM price_data WHERE symbol = 'AAPL' AND date = '2025-01-02'`,
    );
  const splits = () =>
    rowsAsText(database, 'SELECT symbol, numerator, denominator FROM stock_splits');
  const dividends = () => rowsAsText(database, 'SELECT symbol, cash_e6, basis FROM dividends');
  const past = openPast(database);
  /** Instants in 2020 at 00:00, when the rich books were filled, a second for each change. */
  const seen = [0, 1, 13, 14, 15, 16, 17, 18].map((second) => {
    past.goTo(`2020-01-01T00:00:${String(second).padStart(2, '0')}.000Z`, false);
    return [second, bars(), splits(), dividends()];
  });
  assert.deepEqual(seen, [
    [0, [], [], []],
    [1, ['2025-01-02 99 100 0'], [], []],
    [13, ['2025-01-02 99 99.5 0'], [], []],
    [14, ['2025-01-02 99 100 0'], [], []],
    [15, ['2025-01-02 99 100 0'], ['ORLY 4 2'], []],
    [16, ['2025-01-02 99 100 0'], ['ORLY 3 2'], []],
    [17, ['2025-01-02 99 100 0'], ['ORLY 3 2'], ['AAPL 300000 as_paid']],
    [18, ['2025-01-02 99 100 0'], ['ORLY 3 2'], ['AAPL 250000 as_paid']],
  ]);
  past.goTo('2019-12-31T00:00:00.000Z', true);
  assert.deepEqual(
    [bars(), splits(), dividends()],
    [['2025-01-02 99 100 0'], ['ORLY 4 2'], ['AAPL 300000 as_paid']],
  );
  past.end();
  assert.deepEqual(dividends(), ['AAPL 250000 as_paid']);
});

test('queries return over the views of the present what they return over the tables', async () => {
  const { database } = await richBooks();
  const look = () => [
    quotesOn(database, '2025-01-08', ['AAPL', 'MSFT', 'ORLY', 'NONE']),
    lastBars(database, '2025-01-08', { symbol: 'AAPL', count: 3 }),
    barOn(database, '2025-01-08', { symbol: 'MSFT', date: '2025-01-03' }),
    splitsBetween(database, ['ORLY'], { after: '2025-01-02', upTo: '2025-01-08' }),
  ];
  const present = look();
  const past = openPast(database);
  past.goTo('9999-12-31T00:00:00.000Z', false);
  assert.deepEqual(look(), present);
  past.end();
});
