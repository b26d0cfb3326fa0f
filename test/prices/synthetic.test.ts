import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { makeSyntheticPrices, syntheticBars } from '../../src/core/prices/synthetic.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { nasdaq100 } from '../../src/core/settings/default-symbols.ts';
import { rowsAsText } from '../support/tables.ts';

const TODAY = '2025-12-01';
const dates = weekdays('2023-01-01', '2025-11-30');

/** Makes prices for dates on which these symbols lack theirs. */
function make(
  database: CommandDatabase,
  days: readonly string[],
  { missing = ['AAPL'], partial = [] as string[], time = '00:00:00' } = {},
) {
  const lacking = days.map((date) => ({
    date,
    availability: 'missing' as const,
    unpriced: missing,
    missing,
    partial,
  }));
  return makeSyntheticPrices({ database, clock: () => new Date(`${TODAY}T${time}Z`) }, lacking);
}

test('one bar per weekday, the same whichever dates are made together', () => {
  const all = syntheticBars('AAPL', dates, TODAY);
  assert.equal(all.length, dates.length);
  const few = syntheticBars('AAPL', ['2025-01-03', '2025-01-04', '2025-01-06'], TODAY);
  const days = few.map(({ date }) => date);
  assert.deepEqual(days, ['2025-01-03', '2025-01-06']);
  for (const bar of few)
    assert.deepEqual(
      bar,
      all.find(({ date }) => date === bar.date),
    );
});

test('a history begins no earlier than any date may', async () => {
  const database = openDatabase(':memory:');
  await make(database, ['1900-01-03']);
  const bars = rowsAsText(database, 'SELECT date FROM price_data');
  assert.deepEqual(bars, ['1900-01-01', '1900-01-02', '1900-01-03']);
  const covered = rowsAsText(database, 'SELECT start_date FROM price_data_coverage');
  assert.deepEqual(covered, ['1900-01-01']);
});

test('of today only the open exists', () => {
  const [bar] = syntheticBars('AAPL', [TODAY], TODAY);
  assert.ok(bar !== undefined && bar.open > 0);
  assert.deepEqual([bar.high, bar.low, bar.close, bar.volume], [null, null, null, null]);
});

test('the close of today exists once New York has closed', async (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const closeAt = async (time: string, missing: string[], partial: string[]) => {
    await make(database, [TODAY], { missing, partial, time });
    return rowsAsText(database, `SELECT close FROM price_data WHERE date = '${TODAY}'`).join();
  };
  assert.equal(await closeAt('20:59:59', ['AAPL'], []), '-');
  assert.equal(await closeAt('20:59:59', [], ['AAPL']), '-');
  const [bar] = syntheticBars('AAPL', [TODAY], '2025-12-02');
  assert.equal(await closeAt('21:00:00', [], ['AAPL']), String(bar?.close));
});

test('bars are plausible: in cents, high above, low below, nights and days of a few percent, and symbols differ', () => {
  for (const symbol of nasdaq100.slice(0, 20)) {
    let previous: number | null = null;
    for (const bar of syntheticBars(symbol, dates, TODAY)) {
      const { open, high, low, close } = bar as {
        [part in 'open' | 'high' | 'low' | 'close']: number;
      };
      for (const price of [open, high, low, close])
        assert.equal(price, Math.round(price * 100) / 100);
      assert.ok(low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close), symbol);
      const [session, night] = [close / open - 1, open / (previous ?? open) - 1];
      assert.ok(Math.abs(session) < 0.15 && Math.abs(night) < 0.15, symbol);
      previous = close;
    }
  }
  const opens = nasdaq100.map((symbol) => syntheticBars(symbol, ['2025-01-06'], TODAY)[0]?.open);
  assert.ok(new Set(opens).size > 90);
});

test('years of a symbol are stored 400 days at a time', async (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const sizes: number[] = [];
  const count = () => Number(rowsAsText(database, 'SELECT count(*) FROM price_data')[0]);
  const write: typeof database.write = async (work, options) => {
    const before = count();
    const result = await database.write(work, options);
    sizes.push(count() - before);
    return result;
  };
  await make({ ...database, write }, dates);
  const history = weekdays('2022-09-04', '2023-01-01').length; // 120 days before the first weekday
  assert.deepEqual(sizes, [400, 400, dates.length + history - 800, 0]);
  const span = rowsAsText(database, 'SELECT start_date, end_date FROM price_data_coverage');
  assert.deepEqual(span, [`2022-09-04 ${dates.at(-1)}`]);
});
