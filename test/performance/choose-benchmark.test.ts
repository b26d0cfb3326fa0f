import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import type { ChosenDay } from '../../src/database/performance.ts';
import { levelAt } from '../../src/performance/benchmark.ts';
import { openBenchmark } from '../../src/performance/choose-benchmark.ts';
import { storePrices } from '../support/prices.ts';

const PRICES = `
  QQQ  2025-11-06 400 500
  QQQ  2025-11-10 500 550
  QQQ  2025-11-11 550 110
  AAPL 2025-11-10 100 110
  MSFT 2025-11-10 200 200`;

function databaseWith(prices: string): Database {
  const database = openDatabase(':memory:');
  storePrices(database, prices);
  return database;
}

const day = (model: string, date: string, startDate: string | null): ChosenDay => ({
  sessionId: 1,
  model,
  date,
  startDate,
});

const bases: [name: string, days: ChosenDay[], base: string | null][] = [
  ['no model-day', [], null],
  [
    'a first day starts at its open',
    [day('a', '2025-11-10', null), day('a', '2025-11-11', '2025-11-10')],
    '2025-11-10 open',
  ],
  ['any other at the close before it', [day('a', '2025-11-11', '2025-11-10')], '2025-11-10 close'],
  [
    'an open is before the close of its day',
    [day('a', '2025-11-11', '2025-11-10'), day('b', '2025-11-10', null)],
    '2025-11-10 open',
  ],
  ['whichever comes first', [day('b', '2025-11-10', null), day('c', '2025-11-11', '2025-11-10')], '2025-11-10 open'],
  [
    'the earliest of all models counts',
    [day('a', '2025-11-10', null), day('b', '2025-11-10', '2025-11-07')],
    '2025-11-07 close',
  ],
];
for (const [name, days, expected] of bases) {
  test(`where the curve of the benchmark starts: ${name}`, () => {
    const { base } = openBenchmark(databaseWith(PRICES), undefined, days);
    assert.equal(base && `${base.date} ${base.at}`, expected);
  });
}

test('a bar of the year 0000, which another program stored, is no history', () => {
  const bars = 'QQQ 0000-11-10 1 1\nQQQ 2025-11-11 550 560\nAAPL 2025-11-10 100 110';
  const { name } = openBenchmark(databaseWith(bars), undefined, [day('a', '2025-11-10', null)]);
  assert.equal(name, 'universe');
});

test('a start on a day without a bar takes the last bar before it, and recorded splits are no losses', () => {
  const database = databaseWith(PRICES);
  database
    .statement(`INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('QQQ', '2025-11-11', 5, 1)`)
    .run();
  const { levels, name } = openBenchmark(database, undefined, [day('a', '2025-11-11', '2025-11-07')]);
  assert.equal(name, 'QQQ');
  assert.deepEqual(
    ['2025-11-07', '2025-11-10', '2025-11-11'].map((date) => levelAt(levels, { date, at: 'close' })),
    [500, 550, 550],
  );
});

test('prices of an adjusted source are not split again', () => {
  const database = openDatabase(':memory:');
  storePrices(database, PRICES, 'yahoo');
  database
    .statement(`INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('QQQ', '2025-11-11', 5, 1)`)
    .run();
  const { levels } = openBenchmark(database, 'QQQ', [day('a', '2025-11-11', '2025-11-10')]);
  assert.equal(levelAt(levels, { date: '2025-11-11', at: 'close' }), 110);
});

test('the universe is that of the newest job', () => {
  const database = databaseWith(PRICES);
  const universes: [job: string, createdAt: string, symbols: string[]][] = [
    ['new', '2025-11-12', ['AAPL', 'MSFT']],
    ['old', '2025-11-11', ['AAPL']],
  ];
  universes.forEach(([job, createdAt, symbols], index) => {
    const date = `2025-11-1${index}`;
    const run = (sql: string, ...values: (string | number)[]) => database.statement(sql).run(...values);
    run(
      `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, completed_at)
       VALUES (?, 'completed', ?, ?, '[]', 0, ?, ?, 't')`,
      job,
      date,
      date,
      JSON.stringify({ stock_symbols: symbols }),
      createdAt,
    );
    run(
      `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at) VALUES (?, 'a', 0, ?, 't')`,
      job,
      date,
    );
    run(
      `INSERT INTO job_details (job_id, date, model, status, started_at, completed_at) VALUES (?, ?, 'a', 'completed', 't', 't')`,
      job,
      date,
    );
    run(
      `INSERT INTO trading_sessions (session_id, job_id, date, model, status, initial_cash_e4, started_at, completed_at)
       VALUES (?, ?, ?, 'a', 'active', 1, 't', 't')`,
      index + 1,
      job,
      date,
    );
  });
  const days = [1, 2].map((sessionId) => ({ ...day('a', `2025-11-1${sessionId - 1}`, null), sessionId }));
  assert.equal(openBenchmark(database, 'universe', days).symbols, 2);
  assert.equal(openBenchmark(database, 'universe', days.slice(1)).symbols, 1);
});
