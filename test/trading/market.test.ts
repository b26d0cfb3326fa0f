import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays } from '../../src/core/time/calendar.ts';
import type { Database } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { fromDollars, type Money, toDollars } from '../../src/core/money/money.ts';
import {
  closingMark,
  currentMark,
  hideOpen,
  type Market,
  openMarket,
} from '../../src/core/trading/market.ts';
import { createBooks, setBars, tell } from '../support/books.ts';
import { runs } from '../support/long.ts';
import { tableOf } from '../support/text-table.ts';

/** Prices, and splits as `SYMBOL DATE NEW:OLD`. */
function withPrices(prices: string, splits = '', source?: string): Database {
  const books = createBooks();
  setBars(books, prices, source);
  tell(books, splits);
  return books.database;
}

test('a quote is the open of today and the last earlier close', () => {
  const database = withPrices(`AAPL 2025-01-03 10 11
    AAPL 2025-01-06 12 -
    AAPL 2025-01-07 13 14
    MSFT 2025-01-06 20 21`);
  const market = openMarket(latestPrices(database), '2025-01-07', ['AAPL', 'MSFT', 'NONE']);
  const dollars = (symbol: string) => {
    const { open, previousClose, previousDate } = market.quote(symbol);
    return [open && toDollars(open), previousClose && toDollars(previousClose), previousDate];
  };
  assert.deepEqual(dollars('AAPL'), [13, 11, '2025-01-03']);
  assert.deepEqual(dollars('MSFT'), [null, 21, '2025-01-06']);
  assert.deepEqual(dollars('NONE'), [null, null, null]);
});

const marks = tableOf<[name: string, prices: string, mark: string]>(`
  the close                             | AAPL 2025-01-07 13 14 | 14
  the open while no close is known      | AAPL 2025-01-07 13 -  | 13
  the last earlier close without a bar  | AAPL 2025-01-03 10 11 | 11
  the last earlier close over an open that is newer | AAPL 2025-01-03 10 11, AAPL 2025-01-06 12 - | 11
  the last earlier open when no close was ever known | AAPL 2025-01-06 12 - | 12
`);
test('a record is marked at the close, or the best price before it', () => {
  for (const [name, prices, mark] of marks) {
    const database = withPrices(prices.replace(', ', '\n'));
    const found = closingMark(latestPrices(database), '2025-01-07', 'AAPL')?.price as Money;
    assert.equal(toDollars(found), Number(mark), name);
  }
});

test('bars before 1900, which other programs may have stored, are ignored', () => {
  const early = withPrices('AAPL 0000-01-03 1 2\nAAPL 1899-12-29 3 4');
  const market = openMarket(latestPrices(early), '2025-01-07', ['AAPL']);
  assert.deepEqual([market.bars('AAPL', 5), market.bar('AAPL', '1899-12-29')], [[], null]);
  assert.deepEqual(market.quote('AAPL'), { open: null, previousDate: null, previousClose: null });
  assert.equal(closingMark(latestPrices(early), '2025-01-07', 'AAPL'), null);
  assert.throws(() => currentMark(market, 'AAPL'), /no price of it is stored/);
});

test('before a hidden open a share without any close is worth its last earlier open', () => {
  const database = withPrices('AAPL 2025-01-06 12 -\nAAPL 2025-01-07 13 14');
  const market = hideOpen(openMarket(latestPrices(database), '2025-01-07', ['AAPL']));
  assert.deepEqual(market.knownMark('AAPL'), { price: fromDollars(12), date: '2025-01-06' });
});

/** ORLY's last close before the date of a market, in dollars. */
function previousClose(market: Market): number | null {
  const { previousClose: close } = market.quote('ORLY');
  return close && toDollars(close);
}

test('prices before a split are converted to the shares of the session date', () => {
  const prices = `ORLY 2025-06-06 1500 1350
    ORLY 2025-06-09 1365 1360.5
    ORLY 2025-06-10 91 92
    ORLY 2025-06-11 93 94`;
  const database = withPrices(prices, 'ORLY 2025-06-10 15:1');
  const before = openMarket(latestPrices(database), '2025-06-09', ['ORLY']);
  assert.equal(previousClose(before), 1350);
  const onDay = openMarket(latestPrices(database), '2025-06-10', ['ORLY']);
  assert.equal(previousClose(onDay), 90.7);
  assert.deepEqual(onDay.bar('ORLY', '2025-06-06'), {
    symbol: 'ORLY',
    date: '2025-06-06',
    open: 100,
    high: 100,
    low: 90,
    close: 90,
    volume: 15_000,
  });
  assert.deepEqual(
    onDay.bars('ORLY', 5).map(({ open }) => open),
    [100, 91, 91],
  );
  assert.equal(previousClose(openMarket(latestPrices(database), '2025-06-11', ['ORLY'])), 92);
});

test('a series that is adjusted by its source is never split again', () => {
  const prices = 'ORLY 2025-06-09 91 90.7\nORLY 2025-06-10 91 92';
  const database = withPrices(prices, 'ORLY 2025-06-10 15:1', 'yahoo');
  assert.equal(previousClose(openMarket(latestPrices(database), '2025-06-10', ['ORLY'])), 90.7);
});

const closings: [prices: string, splits: string, price: number, date: string][] = [
  ['ORLY 2025-06-09 1365 1350', 'ORLY 2025-06-10 15:1', 90, '2025-06-09'],
  // Smaller than the unit of money is the unit, never 0.
  ['ORLY 2025-06-09 0.002 0.0019', 'ORLY 2025-06-10 100:1', 0.0001, '2025-06-09'],
  ['ORLY 2025-06-06 0.0021 -', 'ORLY 2025-06-10 100:1', 0.0001, '2025-06-06'],
];
test('the mark of a day without a bar is adjusted for splits since the last one', () => {
  for (const [prices, splits, price, date] of closings)
    assert.deepEqual(
      closingMark(latestPrices(withPrices(prices, splits)), '2025-06-10', 'ORLY'),
      { price: fromDollars(price), date },
      prices,
    );
});

test('the mark of a market stays as it was first read, whatever becomes of its splits', () => {
  const database = withPrices('AAPL 2025-01-03 10 -', 'AAPL 2025-01-06 2:1');
  const market = openMarket(latestPrices(database), '2025-01-07', ['AAPL']);
  assert.equal(toDollars(currentMark(market, 'AAPL')), 5);
  database.statement('UPDATE stock_splits SET numerator = 5').run();
  assert.equal(toDollars(currentMark(market, 'AAPL')), 5);
  assert.equal(
    toDollars(currentMark(openMarket(latestPrices(database), '2025-01-07', ['AAPL']), 'AAPL')),
    2,
  );
});

test('a price that splits make smaller than the unit of money is the unit, never 0', () => {
  const prices = 'ORLY 2025-06-06 0.0021 -\nORLY 2025-06-09 0.002 0.0019';
  const database = withPrices(prices, 'ORLY 2025-06-10 100:1');
  const market = openMarket(latestPrices(database), '2025-06-10', ['ORLY']);
  assert.deepEqual(
    [previousClose(market), toDollars(currentMark(market, 'ORLY'))],
    [0.0001, 0.0001],
  );
  const lowest = market.bars('ORLY', 2).map(({ open, low, close }) => `${open} ${low} ${close}`);
  assert.deepEqual(lowest, ['0.0001 null null', '0.0001 0.0001 0.0001']);
});

test('no query of a market ever returns a price after its date, or the close of its date', () => {
  const start = '2025-01-01';
  const lastDay = 20;
  // Day N opens at N and closes at 1000 + N, so that every number tells its day.
  const prices = Array.from(
    { length: lastDay + 1 },
    (_, day) => `AAPL ${addDays(start, day)} ${day + 1} ${1001 + day}`,
  ).join('\n');
  const database = withPrices(prices);
  const today = fc.integer({ min: 0, max: lastDay });
  const asked = fc.array(fc.integer({ min: -5, max: lastDay + 5 }), { maxLength: 3 });
  const length = fc.integer({ min: 1, max: 100 });
  fc.assert(
    fc.property(today, asked, length, (today, asked, length) => {
      const market = openMarket(latestPrices(database), addDays(start, today), ['AAPL']);
      const days = asked.map((day) => market.bar('AAPL', addDays(start, day)));
      for (const bar of [...days, ...market.bars('AAPL', length)]) {
        if (bar === null) continue;
        assert.ok(bar.open <= today + 1);
        assert.ok(bar.close === null || bar.close < 1001 + today);
        assert.equal(
          bar.close === null && bar.high === null && bar.low === null && bar.volume === null,
          bar.open === today + 1,
        );
      }
      const { previousClose } = market.quote('AAPL');
      assert.ok(previousClose === null || toDollars(previousClose) < 1001 + today);
    }),
    { numRuns: runs(300, 1_000) },
  );
});
