import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanStart, tradesIn } from '../../src/browser/pages/model-data.ts';
import { fallsOf } from '../../src/browser/pages/model-curves.ts';
import {
  heatOf,
  histogramScale,
  strongest,
  yearsOf,
} from '../../src/browser/pages/model-returns.ts';
import { outlineOf, stepsOf, weightLayers } from '../../src/browser/pages/model-holdings.ts';
import { stacked } from '../../src/browser/plot/drawing.ts';
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

test('a histogram fills its width and its height, and its grid lines are at whole numbers of days', () => {
  const scale = histogramScale({ edges: [-0.02, -0.01, 0, 0.01, 0.02], counts: [1, 0, 3, 2] });
  assert.deepEqual(
    scale.bars.map(({ left, width, height }) => [left, width, Number(height.toFixed(2))]),
    [
      [0, 25, 0.33],
      [25, 25, 0],
      [50, 25, 1],
      [75, 25, 0.67],
    ],
  );
  assert.deepEqual(scale.ticks, [-0.02, -0.01, 0, 0.01, 0.02]);
  assert.deepEqual(
    scale.levels.map(({ count }) => count),
    [1, 2, 3],
  );
  assert.deepEqual(
    [scale.percent(-0.02), scale.percent(0.02), scale.percent(0.03)],
    [0, 100, null],
  );
  assert.deepEqual(
    histogramScale({ edges: [0, 0.01], counts: [1] }).levels.map(({ count }) => count),
    [1],
  );
});

test('each line is stacked on all lines after it; a missing value has no height', () => {
  const lines = [
    [1, null, null, 1],
    [2, 3, null, null],
    [4, 5, null, null],
  ];
  assert.deepEqual(stacked(lines), [
    [7, 8, null, 1],
    [6, 8, null, 0],
    [4, 5, null, 0],
  ]);
  assert.deepEqual(stacked([]), []);
});

/** `SYMBOL WEIGHT ...` per day, the rest in cash. */
function heldDays(texts: readonly string[]) {
  return texts.map((text, index) => {
    const words = text.split(' ').filter((word) => word !== '');
    const holdings = words.flatMap((symbol, place) => {
      if (place % 2 === 1) return [];
      const weight = Number(words[place + 1]);
      return { symbol, quantity: 1, price: 1, value: weight, weight };
    });
    const cash = 1 - holdings.reduce((sum, { weight }) => sum + weight, 0);
    return {
      date: `2025-09-${15 + index}`,
      cash,
      value: 1,
      cash_weight: Number(cash.toFixed(9)),
      holdings,
    };
  });
}

test('the ten symbols that were heaviest on average have a layer each, the others one together, and cash the last', () => {
  const symbols = Array.from({ length: 12 }, (_, place) => ({
    symbol: `S${place}`,
    days: 1,
    first_date: '2025-09-15',
    last_date: '2025-09-15',
    mean_weight: 0.1,
    highest_weight: 0.1,
  }));
  const layers = weightLayers(heldDays(['S0 0.5 S10 0.125 S11 0.25', '']), symbols);
  assert.equal(layers.length, 12);
  const shown = layers.filter(({ values }) => values.some((weight) => weight !== null));
  assert.deepEqual(
    shown.map(({ label, values }) => [label, values]),
    [
      ['S0', [0.5, null]],
      ['2 others', [0.375, null]],
      ['Cash', [0.125, 1]],
    ],
  );
  assert.equal(new Set(layers.map(({ colour }) => colour)).size, 12, 'each has its own colour');
  assert.deepEqual(
    weightLayers(heldDays(['A 0.5']), symbols.slice(0, 1)).map(({ label }) => label),
    ['S0', 'Cash'],
  );
});

test('a strip has the highest weight of the days in a step, and a block over each run of equal steps', () => {
  assert.deepEqual(stepsOf([0, 0.1, 0.3, 0.2, 0, 0], 3), [0.1, 0.3, 0]);
  assert.deepEqual(stepsOf([0.1, 0.2], 200), [0.1, 0.2]);
  assert.equal(outlineOf([0, 0.5, 0.5, 1, 0], 1), 'M1 18V9.0H3V18ZM3 18V0.0H4V18Z');
  assert.equal(outlineOf([0.0001], 1), 'M0 18V16.5H1V18Z', 'the least can be seen');
  assert.equal(outlineOf([0, 0], 1), '');
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

test('clean days begin on the day after the cutoff, or on the chosen first date', () => {
  assert.equal(cleanStart('2024-02-28', ''), '2024-02-29');
  assert.equal(cleanStart('2024-12-31', '2024-06-01'), '2025-01-01');
  assert.equal(cleanStart('2024-12-31', '2025-06-01'), '2025-06-01');
  assert.equal(cleanStart(null, '2025-06-01'), '2025-06-01');
});
