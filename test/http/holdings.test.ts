import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { holdingsResponse } from '../../src/api/holdings.ts';
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
      `INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('AAPL', '2025-11-12', 2, 1)`,
    )
    .run();
  const script: Script = {
    'model-a 2025-11-10': [
      [['buy', { symbol: 'MSFT', amount: 10 }]],
      [['buy', { symbol: 'AAPL', amount: 20 }]],
    ],
    'model-a 2025-11-12': [[['sell', { symbol: 'MSFT', amount: 10 }]]],
  };
  await runJobHere(service, script, {
    start_date: '2025-11-10',
    end_date: '2025-11-12',
    models: ['model-a'],
  });
  job = (
    await runJobHere(
      service,
      {},
      { start_date: '2025-11-12', end_date: '2025-11-12', models: ['other'] },
    )
  ).job_id;
});

/** Date, cash, value; then each holding: symbol, quantity, price, value. By hand. */
const table: [
  date: string,
  cash: number,
  value: number,
  holdings: [symbol: string, quantity: number, price: number, value: number][],
][] = [
  [
    '2025-11-10',
    6_000,
    10_300,
    [
      ['AAPL', 20, 110, 2_200],
      ['MSFT', 10, 210, 2_100],
    ],
  ],
  [
    '2025-11-11',
    6_000,
    10_500,
    [
      ['AAPL', 20, 120, 2_400],
      ['MSFT', 10, 210, 2_100],
    ],
  ], // MSFT at its last close
  ['2025-11-12', 8_150, 10_590, [['AAPL', 40, 61, 2_440]]],
];

const ask = (query: string) => validBody(service, `/holdings${query}`, holdingsResponse);
const assertNear = within({ absolute: 1e-9 });

test('what a model held at each close, by size, and weights that add up to 1', async () => {
  const { days, count, deployment_mode: mode } = await ask('?model=model-a');
  assert.deepEqual(
    days.map(({ date, cash, value, holdings }) => [
      date,
      cash,
      value,
      holdings.map((one) => [one.symbol, one.quantity, one.price, one.value]),
    ]),
    table,
  );
  assert.deepEqual([count, mode], [3, 'DEV']);
  for (const { cash, value, cash_weight: cashWeight, holdings } of days) {
    assertNear(cashWeight, cash / value);
    for (const one of holdings) assertNear(one.weight, (one.value ?? NaN) / value);
    assertNear(
      holdings.reduce((sum, { weight }) => sum + (weight ?? NaN), cashWeight ?? NaN),
      1,
    );
  }
});

test('each symbol has its mean weight over all days, its highest one, and when it was held', async () => {
  const { days, symbols } = await ask('?model=model-a');
  const rounded = (weight: number | null) => Number(weight?.toFixed(6));
  const [apple = [], microsoft = []] = ['AAPL', 'MSFT'].map((symbol) =>
    days.map(
      ({ value, holdings }) => (holdings.find((one) => one.symbol === symbol)?.value ?? 0) / value,
    ),
  );
  const mean = (weights: readonly number[]) => weights.reduce((sum, weight) => sum + weight, 0) / 3;
  assert.deepEqual(
    symbols.map((one) => [
      one.symbol,
      one.days,
      one.first_date,
      one.last_date,
      rounded(one.mean_weight),
      rounded(one.highest_weight),
    ]),
    [
      ['AAPL', 3, '2025-11-10', '2025-11-12', rounded(mean(apple)), rounded(2_440 / 10_590)],
      ['MSFT', 2, '2025-11-10', '2025-11-11', rounded(mean(microsoft)), rounded(2_100 / 10_300)],
    ],
  );
  assert.deepEqual((await ask('?model=other')).symbols, []);
});

const filters: [query: string, dates: string[]][] = [
  ['?model=model-a&start_date=2025-11-11', ['2025-11-11', '2025-11-12']],
  ['?model=model-a&end_date=2025-11-10', ['2025-11-10']],
  ['?model=model-a&job_id=JOB', []],
  ['?model=other&job_id=JOB', ['2025-11-12']],
  ['?model=stranger', []],
];
for (const [query, dates] of filters) {
  test(`GET /holdings${query} has ${dates.length} days`, async () => {
    const { days, count } = await ask(query.replace('JOB', job));
    assert.deepEqual([days.map(({ date }) => date), count], [dates, dates.length]);
  });
}

const text = async (query: string) =>
  (await (await fetch(`${service.url}/holdings?format=csv&${query}`)).text()).split('\r\n');

test('as a table: a row per holding, and one for a day without any', async () => {
  assert.deepEqual(await text('model=model-a&end_date=2025-11-10'), [
    'date,cash,portfolio_value,cash_weight,symbol,quantity,price,value,weight',
    '2025-11-10,6000,10300,0.5825242718,AAPL,20,110,2200,0.213592233',
    '2025-11-10,6000,10300,0.5825242718,MSFT,10,210,2100,0.2038834951',
    '',
  ]);
  assert.deepEqual((await text('model=other')).slice(1), ['2025-11-12,10000,10000,1,,,,,', '']);
});

const refusals: [query: string, status: number, detail: RegExp][] = [
  ['', 422, /^model: model is required and cannot be null or empty$/],
  ['?model=', 422, /^model: model is required and cannot be null or empty$/],
  ['?model=model-a&job_id=nothing', 404, /^Job nothing not found$/],
  ['?model=model-a&start_date=2025-11-12&end_date=2025-11-11', 400, /^Invalid date range: /],
  [
    '?model=model-a&date=2025-11-12',
    422,
    /^date: is not a query parameter of this path; there are model, job_id, start_date, end_date, format$/,
  ],
];
for (const [query, status, detail] of refusals) {
  test(`GET /holdings${query} is ${status}`, async () => {
    const response = await service.get(`/holdings${query}`);
    assert.equal(response.status, status);
    assert.match(response.body.detail, detail);
  });
}

test('a price that was not stored, and a portfolio that is worth nothing: nulls, the largest known value first', async () => {
  const { database } = service;
  database
    .statement(
      `UPDATE session_prices SET close_e4 = NULL, close_date = NULL WHERE symbol = 'AAPL' AND date = '2025-11-11'`,
    )
    .run();
  const [day] = (await ask('?model=model-a&start_date=2025-11-11&end_date=2025-11-11')).days;
  const { symbols } = await ask('?model=model-a');
  assert.deepEqual(
    symbols.map((one) => [one.symbol, one.mean_weight === null, one.highest_weight === null]),
    [
      ['MSFT', false, false],
      ['AAPL', true, true],
    ],
  );
  assert.deepEqual(
    day?.holdings.map(({ symbol, price, value, weight }) => [symbol, price, value, weight]),
    [
      ['MSFT', 210, 2_100, 0.2],
      ['AAPL', null, null, null],
    ],
  );
  const ofOther = `session_id IN (SELECT session_id FROM trading_sessions WHERE model = 'other')`;
  database
    .statement(`UPDATE positions SET cash_e4 = 0, portfolio_value_e4 = 0 WHERE ${ofOther}`)
    .run();
  assert.deepEqual((await ask('?model=other')).days, [
    { date: '2025-11-12', cash: 0, value: 0, cash_weight: null, holdings: [] },
  ]);
  assert.deepEqual((await text('model=other')).slice(1), ['2025-11-12,0,0,,,,,,', '']);
});
