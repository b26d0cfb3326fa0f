import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { holdingsResponse } from '../../src/features/performance/holdings-route.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { within } from '../support/near.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

/** MSFT has no bar on the second day; AAPL splits two for one on the morning of the third. */
const PRICES = `
  AAPL 2025-11-10 100 110
  AAPL 2025-11-11 110 120
  AAPL 2025-11-12 60  61
  MSFT 2025-11-10 200 210
  MSFT 2025-11-12 215 220`;

let service: TestService;
let job: string;
before(async (t) => {
  service = await startTestService(t as TestContext, {
    isForged: true,
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: { stock_symbols: ['AAPL', 'MSFT'] },
    },
    prices: PRICES,
  });
  service.database
    .statement(
      `INSERT INTO stock_splits (symbol, date, numerator, denominator)
       VALUES ('AAPL', '2025-11-12', 2, 1)`,
    )
    .run();
  const script: Script = {
    'model-a 2025-11-10': [
      [['buy', { symbol: 'MSFT', amount: 10 }]],
      [['buy', { symbol: 'AAPL', amount: 20 }]],
    ],
    'model-a 2025-11-12': [[['sell', { symbol: 'MSFT', amount: 10 }]]],
  };
  const [start_date, end_date] = ['2025-11-10', '2025-11-12'];
  await runJobHere(service, script, { start_date, end_date, models: ['model-a'] });
  const other = { start_date: end_date, end_date, models: ['other'] };
  job = (await runJobHere(service, {}, other)).job_id;
});

/** Date, cash, value; then each holding: symbol, quantity, price, value. By hand. */
const table = [
  '2025-11-10 6000 10300, AAPL 20 110 2200, MSFT 10 210 2100',
  '2025-11-11 6000 10500, AAPL 20 120 2400, MSFT 10 210 2100', // MSFT at its last close
  '2025-11-12 8150 10590, AAPL 40 61 2440',
];

const ask = (query: string) => validBody(service, `/holdings${query}`, holdingsResponse);
const assertNear = within({ absolute: 1e-9 });

test('what a model held at each close, by size, and weights that add up to 1', async () => {
  const { days, count } = await ask('?model=model-a');
  const lines = days.map(({ date, cash, value, holdings }) =>
    [
      `${date} ${cash} ${value}`,
      ...holdings.map((one) => `${one.symbol} ${one.quantity} ${one.price} ${one.value}`),
    ].join(', '),
  );
  assert.deepEqual([lines, count], [table, 3]);
  for (const { cash, value, cash_weight: cashWeight, holdings } of days) {
    assertNear(cashWeight, cash / value);
    for (const one of holdings) assertNear(one.weight, (one.value ?? NaN) / value);
    const sum = holdings.reduce((all, { weight }) => all + (weight ?? NaN), cashWeight ?? NaN);
    assertNear(sum, 1);
  }
});

test('each symbol has its mean weight over all days, its highest one, and when it was held', async () => {
  const { symbols } = await ask('?model=model-a');
  const [apple, microsoft] = symbols;
  const held = symbols.map((one) => `${one.symbol} ${one.days} ${one.first_date} ${one.last_date}`);
  assert.deepEqual(held, ['AAPL 3 2025-11-10 2025-11-12', 'MSFT 2 2025-11-10 2025-11-11']);
  assertNear(apple?.mean_weight, (2_200 / 10_300 + 2_400 / 10_500 + 2_440 / 10_590) / 3);
  assertNear(microsoft?.mean_weight, (2_100 / 10_300 + 2_100 / 10_500) / 3);
  assertNear(apple?.highest_weight, 2_440 / 10_590);
  assertNear(microsoft?.highest_weight, 2_100 / 10_300);
  assert.deepEqual((await ask('?model=other')).symbols, []);
});

const filters: [query: string, dates: string[]][] = [
  ['?model=model-a&start_date=2025-11-11', ['2025-11-11', '2025-11-12']],
  ['?model=model-a&end_date=2025-11-10', ['2025-11-10']],
  ['?model=model-a&job_id=JOB', []],
  ['?model=other&job_id=JOB', ['2025-11-12']],
];
test('filters of holdings', async () => {
  for (const [query, dates] of filters) {
    const { days, count } = await ask(query.replace('JOB', job));
    assert.deepEqual([days.map(({ date }) => date), count], [dates, dates.length], query);
  }
});

const text = async (query: string) =>
  (await (await fetch(`${service.url}/holdings?format=csv&${query}`)).text()).split('\r\n');

test('as a table: a row per holding, and one for a day without any', async () => {
  assert.deepEqual(await text('model=model-a&end_date=2025-11-10'), [
    'date,cash,portfolio_value,cash_weight,symbol,quantity,price,value,weight,currency,study',
    '2025-11-10,6000,10300,0.5825242718,AAPL,20,110,2200,0.213592233,USD,',
    '2025-11-10,6000,10300,0.5825242718,MSFT,10,210,2100,0.2038834951,USD,',
    '',
  ]);
  assert.deepEqual((await text('model=other')).slice(1), [
    '2025-11-12,10000,10000,1,,,,,,USD,',
    '',
  ]);
});

test('a price that was not stored, and a portfolio that is worth nothing: nulls, the largest known value first', async () => {
  const change = (sql: string) => service.database.statement(sql).run();
  change(`UPDATE session_prices SET close_e4 = NULL, close_date = NULL
    WHERE symbol = 'AAPL' AND date = '2025-11-11'`);
  const { days, symbols } = await ask('?model=model-a');
  const weights = symbols.map((one) => `${one.symbol} ${one.mean_weight} ${one.highest_weight}`);
  assert.match(weights.join('\n'), /^MSFT 0\.\d+ 0\.\d+\nAAPL null null$/);
  const lines = days[1]?.holdings.map(
    (one) => `${one.symbol} ${one.price} ${one.value} ${one.weight}`,
  );
  assert.deepEqual(lines, ['MSFT 210 2100 0.2', 'AAPL null null null']);
  change(`UPDATE positions SET cash_e4 = 0, portfolio_value_e4 = 0
    WHERE session_id IN (SELECT session_id FROM trading_sessions WHERE model = 'other')`);
  assert.deepEqual((await ask('?model=other')).days, [
    { date: '2025-11-12', cash: 0, value: 0, cash_weight: null, holdings: [] },
  ]);
  assert.deepEqual((await text('model=other')).slice(1), ['2025-11-12,0,0,,,,,,,USD,', '']);
});
