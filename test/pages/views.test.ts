import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvLine, csvRows } from '../../src/core/text/csv.ts';
import {
  drawnFalls,
  heatClass,
  greatestReturn,
  groupYears,
} from '../../src/features/pages/browser/pages/model-curves.ts';
import { parseTrades } from '../../src/features/pages/browser/pages/model-data.ts';

/** The pure parts of a model's views: which colour, which height, which place. */

test('the greater a return, the stronger its colour; a return that is zero or missing has none', () => {
  const colours: [value: number | null, look: string][] = [
    [0.1, 'heat gain-5'],
    [-0.1, 'heat loss-5'],
    [0.2, 'heat gain-5'],
    [0.021, 'heat gain-2'],
    [0.0001, 'heat gain-1'],
    [0, ''],
    [-0.00001, ''],
    [null, ''],
  ];
  for (const [value, look] of colours) assert.equal(heatClass(value, 0.1), look, `${value}`);
  assert.equal(greatestReturn([0.02, -0.05, null]), 0.05);
  assert.equal(greatestReturn([0.0001]), 0.01, 'a calm month is not the strongest');
});

test('a year has a place for each month, also for those without model-days', () => {
  const over = (year: string, month: string) => ({ year, month, return: 0.01, days: 2 });
  const months = [over('2024', '2024-12'), over('2025', '2025-01')];
  const years = groupYears({ months, years: months });
  assert.deepEqual(
    years.map((year) => year.months.map((month) => month?.days ?? '–').join('')),
    ['–––––––––––2', '2–––––––––––'],
  );
});

test('drawdowns in a plot begin at their high or at the start, and end with the recovery or the last day', () => {
  const days = ['2025-09-15', '2025-09-16', '2025-09-17', '2025-09-18'];
  const [first, second, third, last] = days as [string, string, string, string];
  const deepest = [
    { depth: 0.2, peak_date: second, trough_date: third, recovery_date: null, length: 2 },
    { depth: 0.1, peak_date: null, trough_date: first, recovery_date: second, length: 2 },
  ];
  assert.deepEqual(drawnFalls(deepest, days), [
    { number: 1, from: second, to: last, low: third, depth: -0.2 },
    { number: 2, from: first, to: second, low: first, depth: -0.1 },
  ]);
});

test('a table of trades is read as the server writes it', () => {
  const names = 'model date side symbol amount price commission cash cash_change'.split(' ');
  const hostile = '"a",\r\nb';
  const row = (...cells: (string | number | null)[]) => csvLine(names) + csvLine(cells);
  const text = row(hostile, '2025-09-15', 'buy', 'AAPL', 3, 101.5, 0.5, 700, -305);
  assert.equal(csvRows(text)[0]?.['model'], hostile);
  const trade = { date: '2025-09-15', side: 'buy', symbol: 'AAPL', amount: 3, price: 101.5 };
  assert.deepEqual(parseTrades(text), [{ ...trade, cash: 700, cashChange: -305 }]);
  const [split] = parseTrades(row('a', '2025-09-15', 'split', 'AAPL', -3, null, 0, 700, 0));
  assert.deepEqual([split?.amount, split?.price], [-3, null]);
  const missing = csvRows(csvLine(['one', 'two']) + csvLine([null, 'x']));
  assert.deepEqual(missing, [{ one: '', two: 'x' }]);
  assert.deepEqual(csvRows(''), []);
  assert.throws(() => csvRows('a,"b'), /not CSV/);
});
