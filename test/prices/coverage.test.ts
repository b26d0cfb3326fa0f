import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { addCoverage } from '../../src/database/prices.ts';
import { type Availability, examineDates } from '../../src/prices/needs.ts';

const universe = ['A', 'B'];

/** Bars and covered spans on one day, and what follows for it. */
const cases: [
  name: string,
  bars: string[],
  covered: string[],
  strict: Availability,
  lenient: Availability,
  missing: string[],
][] = [
  ['nothing known', [], [], 'missing', 'missing', ['A', 'B']],
  ['all have bars', ['A', 'B'], [], 'available', 'available', []],
  ['one has a bar, the other is unknown', ['A'], [], 'missing', 'available', ['B']],
  ['one has a bar, the other did not trade', ['A'], ['B'], 'available', 'available', []],
  ['a holiday', [], ['A', 'B'], 'no_trading', 'no_trading', []],
  ['half a holiday', [], ['A'], 'missing', 'no_trading', ['B']],
  ['a symbol outside the universe changes nothing', ['X'], ['X'], 'missing', 'missing', ['A', 'B']],
];
for (const [name, bars, covered, strict, lenient, missing] of cases) {
  test(name, () => {
    const date = '2025-01-06';
    const stored = {
      bars: bars.map((symbol) => ({ symbol, date, isPartial: 0 as const })),
      coverage: covered.map((symbol) => ({
        symbol,
        startDate: '2025-01-01',
        endDate: '2025-01-31',
      })),
    };
    assert.deepEqual(examineDates([date], { universe, stored, required: new Set(universe) }), [
      { date, availability: strict, missing, partial: [] },
    ]);
    assert.deepEqual(examineDates([date], { universe, stored, required: new Set<string>() }), [
      { date, availability: lenient, missing, partial: [] },
    ]);
  });
}

test('a partial bar is enough for trading, and reported until its day is covered', () => {
  const stored = {
    bars: ['2025-01-06', '2025-01-07'].map((date) => ({
      symbol: 'A',
      date,
      isPartial: 1 as const,
    })),
    coverage: [{ symbol: 'A', startDate: '2025-01-06', endDate: '2025-01-06' }],
  };
  const dates = ['2025-01-06', '2025-01-07'];
  assert.deepEqual(examineDates(dates, { universe: ['A'], stored, required: new Set(['A']) }), [
    { date: '2025-01-06', availability: 'available', missing: [], partial: [] },
    { date: '2025-01-07', availability: 'available', missing: [], partial: ['A'] },
  ]);
});

test('a symbol that is not required blocks no date', () => {
  const stored = {
    bars: [{ symbol: 'A', date: '2025-01-06', isPartial: 0 as const }],
    coverage: [],
  };
  const [examined] = examineDates(['2025-01-06'], { universe, stored, required: new Set(['A']) });
  assert.deepEqual(examined, {
    date: '2025-01-06',
    availability: 'available',
    missing: ['B'],
    partial: [],
  });
});

test('a span covers its first and last day, and none outside', () => {
  const stored = {
    bars: [],
    coverage: [{ symbol: 'A', startDate: '2025-01-07', endDate: '2025-01-08' }],
  };
  const dates = ['2025-01-06', '2025-01-07', '2025-01-08', '2025-01-09'];
  const found = examineDates(dates, { universe: ['A'], stored, required: new Set(['A']) });
  assert.deepEqual(
    found.map(({ availability }) => availability),
    ['missing', 'no_trading', 'no_trading', 'missing'],
  );
});

test('stored spans that touch or overlap become one, others stay apart', () => {
  const database = openDatabase(':memory:');
  const stamp = { source: 'csv', recordedAt: '2025-01-01T00:00:00.000Z' } as const;
  const add = (startDate: string, endDate: string) =>
    addCoverage(database, { symbol: 'A', startDate, endDate }, stamp);
  const spans = () =>
    database
      .statement(
        'SELECT start_date || ? || end_date AS span FROM price_data_coverage ORDER BY start_date',
      )
      .all('..')
      .map((row) => row['span']);
  add('2025-01-01', '2025-01-05');
  add('2025-01-10', '2025-01-12');
  assert.deepEqual(spans(), ['2025-01-01..2025-01-05', '2025-01-10..2025-01-12']);
  add('2025-01-06', '2025-01-07');
  assert.deepEqual(spans(), ['2025-01-01..2025-01-07', '2025-01-10..2025-01-12']);
  add('2025-01-03', '2025-01-11');
  assert.deepEqual(spans(), ['2025-01-01..2025-01-12']);
  add('2025-01-02', '2025-01-03');
  assert.deepEqual(spans(), ['2025-01-01..2025-01-12']);
});
