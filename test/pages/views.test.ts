import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tradesIn } from '../../src/browser/pages/model-data.ts';
import { fallsOf, heatOf, strongest, yearsOf } from '../../src/browser/pages/model-curves.ts';
import { csvLine, csvRows } from '../../src/basics/csv.ts';

/** The pure parts of a model's views: which colour, which height, which place. */

const colours: [value: number | null, greatest: number, look: string][] = [
  [0.1, 0.1, 'heat gain-5'],
  [-0.1, 0.1, 'heat loss-5'],
  [0.2, 0.1, 'heat gain-5'],
  [0.021, 0.1, 'heat gain-2'],
  [0.0001, 0.1, 'heat gain-1'],
  [0, 0.1, ''],
  [null, 0.1, ''],
];
test('the greater a return, the stronger its colour; a return that is zero or missing has none', () => {
  assert.deepEqual(
    colours.map(([value, greatest]) => heatOf(value, greatest)),
    colours.map(([, , look]) => look),
  );
  assert.equal(strongest([0.02, -0.05, null]), 0.05);
  assert.equal(strongest([0.0001]), 0.01, 'a calm month is not the strongest');
});

test('a year has a place for each month, also for those without model-days', () => {
  const months = [
    { month: '2024-12', return: 0.01, days: 2 },
    { month: '2025-01', return: -0.01, days: 1 },
  ];
  const years = [
    { year: '2024', return: 0.01, days: 2 },
    { year: '2025', return: -0.01, days: 1 },
  ];
  const [first, second] = yearsOf({ months, years });
  assert.deepEqual(
    first?.months.map((month) => month?.return ?? '–').join(' '),
    '– – – – – – – – – – – 0.01',
  );
  assert.deepEqual(
    second?.months.map((month) => month?.days ?? '–').join(' '),
    '1 – – – – – – – – – – –',
  );
});

test('drawdowns in a plot begin at their high or at the start, and end with the recovery or the last day', () => {
  const days = ['2025-09-15', '2025-09-16', '2025-09-17', '2025-09-18'];
  const deepest = [
    {
      depth: 0.2,
      peak_date: '2025-09-16',
      trough_date: '2025-09-17',
      recovery_date: null,
      length: 2,
    },
    {
      depth: 0.1,
      peak_date: null,
      trough_date: '2025-09-15',
      recovery_date: '2025-09-16',
      length: 2,
    },
  ];
  assert.deepEqual(fallsOf(deepest, days), [
    { number: 1, from: '2025-09-16', to: '2025-09-18', low: '2025-09-17', depth: -0.2 },
    { number: 2, from: '2025-09-15', to: '2025-09-16', low: '2025-09-15', depth: -0.1 },
  ]);
});

test('a table of trades is read as the server writes it', () => {
  const names = [
    'model',
    'date',
    'side',
    'symbol',
    'amount',
    'price',
    'commission',
    'cash',
    'cash_change',
  ];
  const hostile = '"a",\r\nb';
  const text =
    csvLine(names) + csvLine([hostile, '2025-09-15', 'buy', 'AAPL', 3, 101.5, 0.5, 700, -305]);
  assert.equal(csvRows(text)[0]?.['model'], hostile);
  const trade = {
    date: '2025-09-15',
    side: 'buy',
    symbol: 'AAPL',
    amount: 3,
    price: 101.5,
    cash: 700,
    cashChange: -305,
  };
  assert.deepEqual(tradesIn(text), [trade]);
  const split = csvLine(names) + csvLine(['a', '2025-09-15', 'split', 'AAPL', -3, null, 0, 700, 0]);
  assert.deepEqual(tradesIn(split), [
    { ...trade, side: 'split', amount: -3, price: null, cashChange: 0 },
  ]);
  assert.deepEqual(csvRows(csvLine(['one', 'two']) + csvLine([null, 'x'])), [
    { one: '', two: 'x' },
  ]);
  assert.deepEqual(csvRows(''), []);
  assert.throws(() => csvRows('a,"b'), /not CSV/);
});
