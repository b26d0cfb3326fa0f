import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { addCoverage } from '../../src/core/database/prices.ts';
import { examineDates } from '../../src/core/prices/needs.ts';
import { rowsAsText } from '../support/tables.ts';
import { tableOf } from '../support/text-table.ts';

const universe = ['A', 'B'];
const needs = (symbols: readonly string[]) => (symbol: string) => symbols.includes(symbol);

/** Bars and covered symbols on one day; what follows where all are required, and where none is; and what is missing. */
const cases = tableOf<[string, string, string, string, string, string]>(`
  nothing known                                  |     |     | missing    | missing    | A B
  all have bars                                  | A B |     | available  | available  |
  one has a bar, the other is unknown            | A   |     | missing    | available  | B
  one has a bar, the other did not trade         | A   | B   | available  | available  |
  a holiday                                      |     | A B | no_trading | no_trading |
  half a holiday                                 |     | A   | missing    | no_trading | B
  a symbol outside the universe changes nothing  | X   | X   | missing    | missing    | A B`);
for (const [name, bars, covered, strict, lenient, missing] of cases) {
  test(name, () => {
    const date = '2025-01-06';
    const span = { startDate: '2025-01-01', endDate: '2025-01-31' };
    const symbolsIn = (cell: string) => cell.split(' ').filter(Boolean);
    const stored = {
      bars: symbolsIn(bars).map((symbol) => ({ symbol, date, isPartial: 0 as const })),
      coverage: symbolsIn(covered).map((symbol) => ({ symbol, ...span })),
    };
    for (const [required, availability] of [
      [universe, strict],
      [[], lenient],
    ] as const) {
      const found = examineDates([date], { universe, stored, isRequired: needs(required) });
      const unpriced = universe.filter((symbol) => !symbolsIn(bars).includes(symbol));
      const lacking = { unpriced, missing: symbolsIn(missing), partial: [] };
      assert.deepEqual(found, [{ date, availability, ...lacking }]);
    }
  });
}

const bar = (date = '', isPartial: 0 | 1) => ({ symbol: 'A', date, isPartial });

test('a partial bar is enough for trading, and reported until its day is covered', () => {
  const dates = ['2025-01-06', '2025-01-07'];
  const stored = {
    bars: dates.map((date) => bar(date, 1)),
    coverage: [{ symbol: 'A', startDate: '2025-01-06', endDate: '2025-01-06' }],
  };
  assert.deepEqual(examineDates(dates, { universe: ['A'], stored, isRequired: needs(['A']) }), [
    { date: '2025-01-06', availability: 'available', unpriced: [], missing: [], partial: [] },
    { date: '2025-01-07', availability: 'available', unpriced: [], missing: [], partial: ['A'] },
  ]);
});

test('a symbol that is not required blocks no date', () => {
  const date = '2025-01-06';
  const stored = { bars: [bar(date, 0)], coverage: [] };
  const [examined] = examineDates([date], { universe, stored, isRequired: needs(['A']) });
  const lacking = { unpriced: ['B'], missing: ['B'], partial: [] };
  assert.deepEqual(examined, { date, availability: 'available', ...lacking });
});

test('of a universe as of a date only the members of that morning count', () => {
  const dates = ['2025-01-06', '2025-01-07', '2025-01-08'];
  const members = [
    { symbol: 'A', from: '2025-01-01', to: '2025-01-07' },
    { symbol: 'B', from: '2025-01-08', to: '9999-12-31' },
  ];
  // B is not listed yet; on the last day A has a bar, which no model may buy any more.
  const stored = { bars: [bar(dates[0], 1), bar(dates[2], 0)], coverage: [] };
  const found = examineDates(dates, { universe, stored, isRequired: needs(universe), members });
  const nothing = { unpriced: [], missing: [], partial: [] };
  assert.deepEqual(found, [
    { ...nothing, date: dates[0], availability: 'available', partial: ['A'] },
    { ...nothing, date: dates[1], availability: 'missing', unpriced: ['A'], missing: ['A'] },
    { ...nothing, date: dates[2], availability: 'missing', unpriced: ['B'], missing: ['B'] },
  ]);
});

test('a span covers its first and last day, and none outside', () => {
  const span = { symbol: 'A', startDate: '2025-01-07', endDate: '2025-01-08' };
  const stored = { bars: [], coverage: [span] };
  const dates = ['2025-01-06', '2025-01-07', '2025-01-08', '2025-01-09'];
  const found = examineDates(dates, { universe: ['A'], stored, isRequired: needs(['A']) });
  const marks = found.map(({ availability }) => availability);
  assert.deepEqual(marks, ['missing', 'no_trading', 'no_trading', 'missing']);
});

test('stored spans that touch or overlap become one, others stay apart', () => {
  const database = openDatabase(':memory:');
  const stamp = { source: 'csv', recordedAt: '2025-01-01T00:00:00.000Z' } as const;
  const add = (startDate: string, endDate: string) =>
    addCoverage(database, { symbol: 'A', startDate, endDate }, stamp);
  const columns = `start_date || '..' || end_date`;
  const spans = () => rowsAsText(database, `SELECT ${columns} FROM price_data_coverage ORDER BY 1`);
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
