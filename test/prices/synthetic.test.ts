import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '../../src/basics/calendar.ts';
import { makeSyntheticPrices, syntheticBars } from '../../src/prices/synthetic.ts';
import { openDatabase } from '../../src/database/database.ts';
import { nasdaq100 } from '../../src/basics/configuration-schema.ts';

const TODAY = '2025-12-01';
const dates = weekdays('2023-01-01', '2025-11-30');

test('one bar per weekday, the same whichever dates are made together', () => {
  const all = syntheticBars('AAPL', dates, TODAY);
  assert.equal(all.length, dates.length);
  assert.deepEqual(
    syntheticBars('AAPL', ['2025-01-03', '2025-01-04', '2025-01-06'], TODAY),
    all.filter(({ date }) => date === '2025-01-03' || date === '2025-01-06'),
  );
});

test('a history begins no earlier than any date may', async () => {
  const database = openDatabase(':memory:');
  const day = {
    date: '1900-01-03',
    availability: 'missing' as const,
    missing: ['AAPL'],
    partial: [],
  };
  await makeSyntheticPrices({ database, clock: () => new Date(TODAY) }, [day]);
  const bars = database.statement('SELECT date FROM price_data').all();
  assert.deepEqual(
    bars.map(({ date }) => date),
    ['1900-01-01', '1900-01-02', '1900-01-03'],
  );
  assert.equal(
    database.statement('SELECT start_date FROM price_data_coverage').get()?.['start_date'],
    '1900-01-01',
  );
});

test('of today only the open exists', () => {
  const [bar] = syntheticBars('AAPL', [TODAY], TODAY);
  assert.ok(bar !== undefined && bar.open > 0);
  assert.deepEqual([bar.high, bar.low, bar.close, bar.volume], [null, null, null, null]);
});

test('the close of today exists once New York has closed', async (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const closeAt = async (time: string, lacks: object) => {
    const day = {
      date: TODAY,
      availability: 'missing' as const,
      missing: [],
      partial: [],
      ...lacks,
    };
    await makeSyntheticPrices({ database, clock: () => new Date(`${TODAY}T${time}Z`) }, [day]);
    return database.statement('SELECT close FROM price_data WHERE date = ?').get(TODAY)?.['close'];
  };
  assert.equal(await closeAt('20:59:59', { missing: ['AAPL'] }), null);
  assert.equal(await closeAt('20:59:59', { partial: ['AAPL'] }), null);
  assert.equal(
    await closeAt('21:00:00', { partial: ['AAPL'] }),
    syntheticBars('AAPL', [TODAY], '2025-12-02')[0]?.close,
  );
});

test('bars are plausible: in cents, high above, low below, nights and days of a few percent, and symbols differ', () => {
  for (const symbol of nasdaq100.slice(0, 20)) {
    let previous: number | null = null;
    for (const { open, high, low, close } of syntheticBars(symbol, dates, TODAY) as {
      open: number;
      high: number;
      low: number;
      close: number;
    }[]) {
      for (const price of [open, high, low, close])
        assert.equal(price, Math.round(price * 100) / 100);
      assert.ok(low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close), symbol);
      assert.ok(
        Math.abs(close / open - 1) < 0.15 && Math.abs(open / (previous ?? open) - 1) < 0.15,
        symbol,
      );
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
  const write: typeof database.write = async (work, options) => {
    const before = Number(
      database.statement('SELECT count(*) AS bars FROM price_data').get()?.['bars'],
    );
    const result = await database.write(work, options);
    sizes.push(
      Number(database.statement('SELECT count(*) AS bars FROM price_data').get()?.['bars']) -
        before,
    );
    return result;
  };
  const days = dates.map((date) => ({
    date,
    availability: 'missing' as const,
    missing: ['AAPL'],
    partial: [],
  }));
  await makeSyntheticPrices(
    { database: { ...database, write }, clock: () => new Date(TODAY) },
    days,
  );
  const history = weekdays('2022-09-04', '2023-01-01').length; // 120 days before the first weekday
  assert.deepEqual(sizes, [400, 400, dates.length + history - 800, 0]);
  const span = database.statement('SELECT start_date, end_date FROM price_data_coverage').get();
  assert.deepEqual({ ...span }, { start_date: '2022-09-04', end_date: dates.at(-1) });
});
