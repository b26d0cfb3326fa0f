import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { weekdays } from '../../src/basics/calendar.ts';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { pricesNow } from '../../src/database/price-writes.ts';
import { dividendsBetween } from '../../src/database/splits-and-dividends.ts';
import { type ChosenDay, priceSpan } from '../../src/database/records/performance.ts';
import { type PriceSource, storeBars } from '../../src/database/prices.ts';
import {
  benchmarkCurve,
  benchmarkReturns,
  levelAt,
  startOf,
} from '../../src/performance/benchmark.ts';
import { chooseBenchmark, reportBenchmark } from '../../src/performance/choose-benchmark.ts';
import { readPrices, storePrices } from '../support/prices.ts';
import { tableOf } from '../support/text-table.ts';
import { inLongForm } from '../support/long.ts';

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
  database
    .statement(
      `INSERT INTO stock_splits (symbol, date, numerator, denominator)
       VALUES ('QQQ', '2025-11-11', 5, 1)`,
    )
    .run();
  return database;
}

/** 11 dollars per share of QQQ. */
function pay(database: Database, exDate: string, basis = 'as_paid'): Database {
  database
    .statement(
      `INSERT INTO dividends (symbol, ex_date, cash_e6, basis) VALUES ('QQQ', ?, 11000000, ?)`,
    )
    .run(exDate, basis);
  return database;
}

const day = (
  model: string,
  date: string,
  startDate: string | null,
  paysDividends = true,
): ChosenDay => ({
  ...{ sessionId: 1, jobId: 'job-1', model, date, startDate, startedFrom: null, paysDividends },
});

/** Model-days as `MODEL DATE START`, by days of November 2025; `-` starts at its own open. */
const daysFrom = (text: string) =>
  tableOf(text.replaceAll(',', '\n')).map(([cells = '']) => {
    const [model = '', ...dates] = cells.split(' ');
    const [date = '', start] = dates.map((own) => (own === '-' ? null : `2025-11-${own}`));
    return day(model, date ?? '', start ?? null);
  });

const benchmarkOf = (...given: Parameters<typeof chooseBenchmark>) => chooseBenchmark(...given);

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
    const [first] = benchmarkCurve(benchmarkOf(databaseWith(PRICES), undefined, days).levels, days);
    const start = first === undefined ? null : startOf(first);
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
    assert.equal(benchmarkOf(databaseWith(PRICES), undefined, daysFrom(days)).name, expected, name);
});

test('a bar of the year 0000, which another program stored, is ignored', () => {
  const bars = 'QQQ 0000-11-10 1 1\nQQQ 2025-11-11 550 560\nAAPL 2025-11-10 100 110';
  const { name } = benchmarkOf(databaseWith(bars), undefined, [day('a', '2025-11-10', null)]);
  assert.equal(name, 'universe');
});

test('a start on a day without a bar uses the last bar before it, and recorded splits are not losses', () => {
  const database = split(databaseWith(PRICES));
  const { levels, name } = benchmarkOf(database, undefined, [day('a', '2025-11-11', '2025-11-07')]);
  assert.equal(name, 'QQQ');
  const dates = ['2025-11-07', '2025-11-10', '2025-11-11'];
  const closes = dates.map((date) => levelAt(levels.withDividends, { date, at: 'close' }));
  assert.deepEqual(closes, [500, 550, 550]);
  // Prices of an adjusted source are not split again.
  const adjusted = split(databaseWith(PRICES, 'yahoo'));
  const other = benchmarkOf(adjusted, 'QQQ', [day('a', '2025-11-11', '2025-11-10')]).levels;
  assert.equal(levelAt(other.ofPrices, { date: '2025-11-11', at: 'close' }), 110);
});

/**
 * Dividends of QQQ: 11 dollars on 2025-11-11, where 1 share becomes 5 on the same day. The close of
 * the 11th, by source.
 */
const paid: [
  source: 'csv' | 'yahoo' | 'stooq',
  basis: string,
  paysDividends: boolean,
  close: number,
][] = [
  ['csv', 'as_paid', true, 561], // 5 shares at 110 and 11 dollars
  ['csv', 'split_adjusted', true, 605], // 11 dollars on each of 5
  ['yahoo', 'as_paid', true, 112.2], // 110 and a fifth of 11 dollars
  ['yahoo', 'split_adjusted', true, 121],
  ['stooq', 'as_paid', true, 110], // its prices contain the dividend
  ['csv', 'as_paid', false, 550],
];
test('a benchmark reinvests dividends, as they are paid to the model', () => {
  for (const [source, basis, paysDividends, close] of paid) {
    const database = pay(split(databaseWith(PRICES, source)), '2025-11-11', basis);
    const days = [day('a', '2025-11-11', '2025-11-10', paysDividends)];
    const { levels } = benchmarkOf(database, 'QQQ', days);
    for (const own of [levels.withDividends, levels.ofPrices]) {
      const found = levelAt(own, { date: '2025-11-11', at: 'close' });
      assert.equal(found?.toFixed(9), close.toFixed(9), `${source}, ${basis}, ${paysDividends}`);
    }
  }
});

test('where some model-days are paid dividends and others are not, each is compared with its own benchmark', () => {
  const database = pay(databaseWith(PRICES), '2025-11-10');
  const days = [true, false].map((pays) => day('a', '2025-11-10', '2025-11-07', pays));
  for (const order of [days, days.toReversed()]) {
    const { levels } = benchmarkOf(database, 'QQQ', order);
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
    return reportBenchmark(benchmarkOf(database, 'QQQ', days), days, 0).curve[0]?.value;
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
  dividendsBetween(pricesNow(watched), ['QQQ'], { after: '2005-01-01', upTo: '2025-01-01' });
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
  const days = jobs.map(([date], index) => ({ ...day('a', date, null), sessionId: index + 1 }));
  assert.equal(benchmarkOf(database, 'universe', days).symbols, 2);
  assert.equal(benchmarkOf(database, 'universe', days.slice(0, 1)).symbols, 1);
  assert.equal(benchmarkOf(database, 'universe', days.slice(2)).symbols, 3);
});

const SYMBOLS = ['A', 'B', 'C', 'D'];
const DATES = weekdays('2025-06-02', '2025-08-01');

/** Opens and closes by date, between two of the dates, with short gaps and a longer one. */
interface Series {
  prices: ([number, number] | null)[];
  ends: [number, number];
  gap: { at: number; length: number };
  /** On any of the dates, whether there is a bar or not. */
  dividends: (number | null)[];
}

const everyDate = { minLength: DATES.length, maxLength: DATES.length };
const anyPrice = fc.integer({ min: 50, max: 200 });
const anySeries: fc.Arbitrary<Series> = fc.record({
  prices: fc.array(fc.option(fc.tuple(anyPrice, anyPrice), { freq: 4 }), everyDate),
  ends: fc.tuple(fc.nat(DATES.length), fc.nat(DATES.length)),
  gap: fc.record({ at: fc.nat(DATES.length), length: fc.nat(20) }),
  dividends: fc.array(
    fc.option(fc.integer({ min: 1, max: 20_000_000 }), { freq: 1, nil: null }),
    everyDate,
  ),
});

function storeSeries(database: Database, series: readonly Series[]): void {
  database.statement('DELETE FROM price_data').run();
  database.statement('DELETE FROM dividends').run();
  const insert = database.statement(
    'INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES (?, ?, ?)',
  );
  for (const [index, { dividends }] of series.entries())
    for (const [place, cash] of dividends.entries())
      if (cash !== null && place % 7 === index)
        insert.run(SYMBOLS[index] ?? '', DATES[place] ?? '', cash);
  const bars = series.flatMap(({ prices, ends, gap }, index) =>
    prices.flatMap((price, place) => {
      const isIn = place >= Math.min(...ends) && place <= Math.max(...ends);
      const isInGap = place >= gap.at && place < gap.at + gap.length;
      return price === null || !isIn || isInGap
        ? []
        : [`${SYMBOLS[index]} ${DATES[place]} ${price.join(' ')}`];
    }),
  );
  storeBars(database, readPrices(bars.join('\n')), { source: 'csv' });
}

/** For each date, whether each of three models ran on it, and with dividends. */
const anyRun = fc.constantFrom<Run>('not', 'paying', 'paying', 'without');
type Run = 'not' | 'paying' | 'without';
const anyRuns = fc.array(fc.tuple(anyRun, anyRun, anyRun), everyDate);

/**
 * By model and date, each day with the one that it started from; those of model c all start at
 * their own open.
 */
function daysOf(runs: readonly [Run, Run, Run][]): ChosenDay[] {
  return ['a', 'b', 'c'].flatMap((model, index) => {
    const ran = DATES.flatMap((date, place) => {
      const run = runs[place]?.[index];
      return run === undefined || run === 'not' ? [] : [{ date, paysDividends: run === 'paying' }];
    });
    const startOf = (place: number) => (model === 'c' ? null : (ran[place - 1]?.date ?? null));
    return ran.map(({ date, paysDividends }, place) =>
      day(model, date, startOf(place), paysDividends),
    );
  });
}

/** A benchmark's return on each of the days, and its own curve. */
function figuresOf(database: Database, name: string, days: readonly ChosenDay[]) {
  const { levels } = benchmarkOf(database, name, days);
  const curve = benchmarkCurve(levels, days);
  const returns = benchmarkReturns(levels, days);
  return {
    returns: new Map(days.map(({ model, date }, index) => [`${model} ${date}`, returns[index]])),
    values: new Map(curve.map(({ date, value }) => [date, value])),
    dailyReturns: new Map(curve.map(({ date, dailyReturn }) => [date, dailyReturn])),
  };
}

/** The same entries, except for rounding. */
function assertSame(
  one: ReadonlyMap<string, number | null | undefined>,
  other: ReadonlyMap<string, number | null | undefined>,
) {
  assert.deepEqual([...one.keys()], [...other.keys()]);
  for (const [key, figure] of one) {
    const difference = Math.abs((figure ?? 0) - (other.get(key) ?? 0));
    assert.ok(
      (figure === null) === (other.get(key) === null) && difference < 1e-12,
      `${key}: ${figure}, ${other.get(key)}`,
    );
  }
}

function upTo<Figure>(figures: ReadonlyMap<string, Figure>, last: string): Map<string, Figure> {
  return new Map([...figures].filter(([key]) => (key.split(' ').at(-1) as string) <= last));
}

test(
  'a later end_date changes no earlier figure of a benchmark, and no return depends on start_date',
  inLongForm,
  () => {
    const database = openDatabase(':memory:');
    runJob(database, { sessionId: 1, date: '2025-06-02', createdAt: 't', symbols: SYMBOLS });
    const anyWindow = fc.tuple(fc.nat(DATES.length - 1), fc.nat(DATES.length - 1));
    const four = fc.tuple(anySeries, anySeries, anySeries, anySeries);
    const choices = [four, anyRuns, anyWindow, fc.constantFrom('A', 'universe')] as const;
    const property = fc.property(...choices, (series, runs, window, name) => {
      storeSeries(database, series);
      fc.pre(priceSpan(database, 'A') !== null);
      const ends = [Math.min(...window), Math.max(...window)].map((place) => DATES[place]);
      const [first = '', last = ''] = ends;
      const all = daysOf(runs);
      const figures = (isChosen: (day: ChosenDay) => boolean) =>
        figuresOf(database, name, all.filter(isChosen));
      const whole = figures(() => true);
      const ended = figures(({ date }) => date <= last);
      assertSame(upTo(whole.returns, last), ended.returns);
      assertSame(upTo(whole.values, last), ended.values);
      assertSame(upTo(whole.dailyReturns, last), ended.dailyReturns);
      const begun = figures(({ date }) => date >= first);
      const isLater = ([key]: [string, unknown]) => (key.split(' ').at(-1) as string) >= first;
      assertSame(new Map([...whole.returns].filter(isLater)), begun.returns);
      // Whatever days count, the curve beside one model has the returns that its days are compared
      // with.
      const isOut = (date: string) => date < first || date > last;
      const single = figures(({ model, date }) => model === 'a' && isOut(date));
      const known = [...single.returns].flatMap(([key, figure]) =>
        figure == null ? [] : [[key.replace('a ', ''), figure] as const],
      );
      assertSame(new Map(known), single.dailyReturns);
    });
    fc.assert(property, { numRuns: 100 });
  },
);
