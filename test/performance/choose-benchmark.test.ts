import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { dividendsBetween } from '../../src/core/database/splits-and-dividends.ts';
import type { ActiveDay } from '../../src/features/performance/queries.ts';
import type { PriceSource } from '../../src/core/database/prices.ts';
import {
  benchmarkCurve,
  benchmarkReturns,
  levelAt,
  startTime,
} from '../../src/features/performance/benchmark.ts';
import {
  chooseBenchmark,
  reportBenchmark,
} from '../../src/features/performance/choose-benchmark.ts';
import { storeExchanges } from '../../src/core/database/exchanges.ts';
import { readExchanges } from '../support/exchanges.ts';
import { storePrices } from '../support/prices.ts';
import { tableOf } from '../support/text-table.ts';

const PRICES = `
  QQQ  2025-11-06 400 500
  QQQ  2025-11-10 500 550
  QQQ  2025-11-11 550 110
  AAPL 2025-11-10 100 110
  MSFT 2025-11-10 200 200`;

function databaseWith(prices: string, source: PriceSource = 'csv'): Database {
  const database = openDatabase(':memory:');
  storePrices(database, prices, source);
  return database;
}

function split(database: Database): Database {
  const row = `('QQQ', '2025-11-11', 5, 1)`;
  const sql = `INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ${row}`;
  database.statement(sql).run();
  return database;
}

/** 11 dollars per share of QQQ. */
function pay(database: Database, exDate: string, basis = 'as_paid'): Database {
  const row = `('QQQ', ?, 11000000, ?)`;
  const sql = `INSERT INTO dividends (symbol, ex_date, cash_e6, basis) VALUES ${row}`;
  database.statement(sql).run(exDate, basis);
  return database;
}

const day = (
  model: string,
  date: string,
  startDate: string | null,
  paysDividends = true,
): ActiveDay => ({
  ...{ sessionId: 1, jobId: 'job-1', model, date, startDate, startedFrom: null, paysDividends },
  isStale: null,
});

/** Model-days as `MODEL DATE START`, by days of November 2025; `-` starts at its own open. */
const daysFrom = (text: string) =>
  tableOf(text.replaceAll(',', '\n')).map(([cells = '']) => {
    const [model = '', ...dates] = cells.split(' ');
    const [date = '', start] = dates.map((own) => (own === '-' ? null : `2025-11-${own}`));
    return day(model, date ?? '', start ?? null);
  });

const starts = tableOf<[days: string, start: string]>(`
                        | null
  a 10 -, a 11 10       | 2025-11-10 open
  a 11 10               | 2025-11-10 close
  a 11 10, b 10 -       | 2025-11-10 open
  b 10 -, c 11 10       | 2025-11-10 open
  a 10 -, b 10 07       | 2025-11-07 close
`);
test('the curve of the benchmark starts where the first model-day does', () => {
  for (const [text, expected] of starts) {
    const days = daysFrom(text);
    const [first] = benchmarkCurve(
      chooseBenchmark(databaseWith(PRICES), undefined, days).levels,
      days,
    );
    const start = first === undefined ? null : startTime(first);
    assert.equal(String(start && `${start.date} ${start.at}`), expected, text);
  }
});

/** Later days first, and the default benchmark; QQQ has bars on the 6th, 10th and 11th. */
const defaults = tableOf<[name: string, days: string, benchmark: string]>(`
  its prices reach the first start                         | a 11 10, a 10 07 | QQQ
  its prices end before the last day                       | a 28 11, a 11 10 | QQQ
  its last price is two weeks before the first start       | a 26 25          | QQQ
  it has no price in the two weeks before the first start  | a 27 26          | universe
  its prices begin at the close of the first date          | a 06 05          | universe
  a later date with an earlier start                       | a 11 04, a 10 07 | QQQ
`);
test('the default benchmark is QQQ where its prices reach the first start', () => {
  for (const [name, days, expected] of defaults)
    assert.equal(
      chooseBenchmark(databaseWith(PRICES), undefined, daysFrom(days)).name,
      expected,
      name,
    );
});

test('a bar of the year 0000, which another program stored, is ignored', () => {
  const bars = 'QQQ 0000-11-10 1 1\nQQQ 2025-11-11 550 560\nAAPL 2025-11-10 100 110';
  const { name } = chooseBenchmark(databaseWith(bars), undefined, [day('a', '2025-11-10', null)]);
  assert.equal(name, 'universe');
});

test('a start on a day without a bar uses the last bar before it, and recorded splits are not losses', () => {
  const database = split(databaseWith(PRICES));
  const { levels, name } = chooseBenchmark(database, undefined, [
    day('a', '2025-11-11', '2025-11-07'),
  ]);
  assert.equal(name, 'QQQ');
  const dates = ['2025-11-07', '2025-11-10', '2025-11-11'];
  const closes = dates.map((date) => levelAt(levels.withDividends, { date, at: 'close' }));
  assert.deepEqual(closes, [500, 550, 550]);
  // Prices of an adjusted source are not split again.
  const adjusted = split(databaseWith(PRICES, 'yahoo'));
  const other = chooseBenchmark(adjusted, 'QQQ', [day('a', '2025-11-11', '2025-11-10')]).levels;
  assert.equal(levelAt(other.ofPrices, { date: '2025-11-11', at: 'close' }), 110);
});

/**
 * Dividends of QQQ: 11 dollars on 2025-11-11, where 1 share becomes 5 on the same day. The close of
 * the 11th, by source.
 */
const paid = tableOf<['csv' | 'yahoo' | 'stooq', basis: string, '+' | '-', close: string, string]>(`
  csv   | as_paid        | + | 561   | 5 shares at 110 and 11 dollars
  csv   | split_adjusted | + | 605   | 11 dollars on each of 5
  yahoo | as_paid        | + | 112.2 | 110 and a fifth of 11 dollars
  yahoo | split_adjusted | + | 121   | 110 and 11 dollars
  stooq | as_paid        | + | 110   | its prices contain the dividend
  csv   | as_paid        | - | 550   | the model is paid none`);
test('a benchmark reinvests dividends, as they are paid to the model', () => {
  for (const [source, basis, pays, close, why] of paid) {
    const database = pay(split(databaseWith(PRICES, source)), '2025-11-11', basis);
    const days = [day('a', '2025-11-11', '2025-11-10', pays === '+')];
    const { levels } = chooseBenchmark(database, 'QQQ', days);
    for (const own of [levels.withDividends, levels.ofPrices]) {
      const found = levelAt(own, { date: '2025-11-11', at: 'close' });
      assert.equal(found?.toFixed(9), Number(close).toFixed(9), `${source}, ${basis}: ${why}`);
    }
  }
});

test('of several new shares, only dividends of those that a benchmark continues as may be missing', () => {
  const bars = ['NEW', 'TWO'].map(
    (symbol) => `${symbol} 2025-11-11 50 50\n${symbol} 2025-11-12 50 50`,
  );
  for (const [covered, unknown] of [
    ['NEW', []],
    ['TWO', ['2025-11-12']],
  ] as const) {
    const database = databaseWith([PRICES, ...bars].join('\n'));
    const exchanges = readExchanges('QQQ 2025-11-11 0 NEW 1 1\nQQQ 2025-11-11 0 TWO 1 1');
    storeExchanges(database, exchanges, 'csv');
    for (const symbol of ['QQQ', covered])
      database
        .statement(
          `INSERT INTO dividend_coverage (symbol, source, start_date, end_date)
           VALUES (?, 'csv', '2025-01-01', '2025-12-31')`,
        )
        .run(symbol);
    const days = [day('a', '2025-11-11', '2025-11-10'), day('a', '2025-11-12', '2025-11-11')];
    const { unknownDividends } = chooseBenchmark(database, 'QQQ', days);
    assert.deepEqual([...unknownDividends], unknown, covered);
  }
});

test('where some model-days are paid dividends and others are not, each is compared with its own benchmark', () => {
  const database = pay(databaseWith(PRICES), '2025-11-10');
  const days = [true, false].map((pays) => day('a', '2025-11-10', '2025-11-07', pays));
  for (const order of [days, days.toReversed()]) {
    const { levels } = chooseBenchmark(database, 'QQQ', order);
    const returns = benchmarkReturns(levels, days).map((one) => one?.toFixed(9));
    assert.deepEqual(returns, ['0.122000000', '0.100000000']);
  }
});

test('the curve of a benchmark has its dividends on the dates on which a model-day is paid some', () => {
  const database = pay(databaseWith(PRICES), '2025-11-10');
  const valueWith = (...paysDividends: boolean[]) => {
    const days = [
      ...paysDividends.map((pays) => day('a', '2025-11-10', '2025-11-07', pays)),
      day('b', '2025-11-11', '2025-11-10'),
    ];
    return reportBenchmark(chooseBenchmark(database, 'QQQ', days), days, 0).curve[0]?.value;
  };
  assert.deepEqual(
    [valueWith(false), valueWith(true), valueWith(false, true), valueWith(true, false)],
    [1.1, 1.122, 1.122, 1.122],
  );
});

test('the bars of a symbol are looked through once for all of its dividends, not for each of them', () => {
  const database = openDatabase(':memory:');
  const texts: string[] = [];
  const watched: Database = {
    ...database,
    statement: (sql, rows) => (texts.push(sql), database.statement(sql, rows)),
  };
  dividendsBetween(latestPrices(watched), ['QQQ'], { after: '2005-01-01', upTo: '2025-01-01' });
  const plan = database.statement(`EXPLAIN QUERY PLAN ${texts[0]}`).all('[]', '', '');
  const steps = new Map(
    plan.map(({ id, parent, detail }) => [id, { parent, detail: String(detail) }]),
  );
  const isInSeries = (id: unknown): boolean => {
    const { parent, detail = '' } = steps.get(id as number) ?? {};
    return parent !== undefined && (detail === 'MATERIALIZE series' || isInSeries(parent));
  };
  const looks = [...steps].filter(([, { detail }]) => detail.includes('price_data'));
  assert.deepEqual([looks.length, looks.filter(([id]) => !isInSeries(id))], [2, []]);
});

/**
 * A completed job with this universe that ran one day of model a, as the session of that number.
 */
function runJob(
  database: Database,
  job: { sessionId: number; date: string; createdAt: string; symbols: string[] },
): void {
  const { sessionId, date, createdAt, symbols } = job;
  const id = `job-${sessionId}`;
  const run = (sql: string, ...values: (string | number)[]) =>
    database.statement(sql).run(...values);
  run(
    `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config,
       deployment_mode, created_at, completed_at)
     VALUES (?, 'completed', ?, ?, '[]', 0, ?, 'PROD', ?, 't')`,
    ...[id, date, date, JSON.stringify({ stock_symbols: symbols }), createdAt],
  );
  run(
    `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
     VALUES (?, 'a', 0, ?, 't', '{}', 'a')`,
    ...[id, date],
  );
  run(
    `INSERT INTO job_details (job_id, date, model, status, started_at, completed_at)
     VALUES (?, ?, 'a', 'completed', 't', 't')`,
    ...[id, date],
  );
  run(
    `INSERT INTO trading_sessions (session_id, job_id, date, model, status, initial_cash_e4,
       wording, started_at, completed_at) VALUES (?, ?, ?, 'a', 'superseded', 1, 1, 't', 't')`,
    ...[sessionId, id, date],
  );
}

test('the universe is that of the first date, from its newest job; a later date changes nothing', () => {
  const database = databaseWith(PRICES);
  const jobs: [date: string, createdAt: string, symbols: string[]][] = [
    ['2025-11-10', '2025-11-12', ['AAPL']],
    ['2025-11-10', '2025-11-11', ['AAPL', 'MSFT']], // the newer one, although the clock was set back before it
    ['2025-11-11', '2025-11-13', ['AAPL', 'MSFT', 'QQQ']],
  ];
  jobs.forEach(([date, createdAt, symbols], index) =>
    runJob(database, { sessionId: index + 1, date, createdAt, symbols }),
  );
  const days = jobs.map(([date], index) => ({
    ...day('a', date, null),
    ...{ sessionId: index + 1, jobId: `job-${index + 1}` },
  }));
  assert.equal(chooseBenchmark(database, 'universe', days).symbols, 2);
  assert.equal(chooseBenchmark(database, 'universe', days.slice(0, 1)).symbols, 1);
  assert.equal(chooseBenchmark(database, 'universe', days.slice(2)).symbols, 3);
  // The one that most traded, as `findIncomparable` says it; where no day is of it, as without it.
  const symbolsOf = (...jobs: string[]) =>
    chooseBenchmark(database, 'universe', days, new Set(jobs)).symbols;
  assert.deepEqual([symbolsOf('job-1'), symbolsOf('job-3'), symbolsOf('other')], [1, 3, 2]);
});
