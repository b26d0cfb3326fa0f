import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { performanceResponse } from '../../src/features/performance/response.ts';
import { addWarnings } from '../../src/core/database/job-queries.ts';
import { storeSplits } from '../../src/core/database/splits-and-dividends.ts';
import { suspicionWarnings } from '../../src/core/prices/suspected.ts';
import type { Script } from '../support/agents.ts';
import { type RequestHere, runJobHere } from '../support/job-here.ts';
import { startTestService, type TestService, twoModels } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

/**
 * Three days at a price each: 10,000 buys 40 AAPL at 100, sells 10 at 120; MSFT is what the other
 * model holds.
 */
const PRICES = `
  AAPL 2025-11-10 100 110
  AAPL 2025-11-11 120 110
  AAPL 2025-11-12 110 132
  MSFT 2025-11-10 200 200
  MSFT 2025-11-11 200 220
  MSFT 2025-11-12 220 198`;
const QQQ = `
  QQQ 2025-11-10 500 510
  QQQ 2025-11-11 510 484.5
  QQQ 2025-11-12 490 581.4`;
const configuration = { ...twoModels, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } };
const MODELS = ['model-a', 'model-b'];
const script: Script = {
  'model-a 2025-11-10': [[['buy', { symbol: 'AAPL', amount: 40 }]]],
  'model-a 2025-11-11': [
    [['sell', { symbol: 'AAPL', amount: 10 }]],
    [['buy', { symbol: 'AAPL', amount: 1_000 }]],
  ],
  'model-b 2025-11-11': [[['buy', { symbol: 'MSFT', amount: 10 }]]],
};

let service: TestService;
let firstJob: string;
let secondJob: string;
before(async (t) => {
  service = await startTestService(t as TestContext, {
    configuration,
    prices: PRICES + QQQ,
    settings: { riskFreeRate: 0.04 },
  });
  const first = { start_date: '2025-11-10', end_date: '2025-11-11', models: MODELS };
  firstJob = (await runJobHere(service, script, first)).job_id;
  const second = { start_date: '2025-11-12', end_date: '2025-11-12', models: MODELS };
  secondJob = (await runJobHere(service, script, second)).job_id;
});

function ask(query: string, of: TestService = service): Promise<any> {
  return validBody(of, `/performance${query}`, performanceResponse);
}

const ALL_DAYS = { start_date: '2025-11-10', end_date: '2025-11-12' };

/** A service of its own with these prices, in which models have followed a script. */
async function serviceOf(
  t: TestContext,
  prices: string,
  own: Script,
  request: Partial<RequestHere> = {},
): Promise<TestService> {
  const other = await startTestService(t, { configuration, prices });
  await runJobHere(other, own, { ...ALL_DAYS, models: MODELS, ...request });
  return other;
}

test('a model, figure by figure', async () => {
  const { models, count } = await ask('');
  assert.deepEqual([count, models.map(({ model }: any) => model)], [2, ['model-a', 'model-b']]);
  const { unavailable, relative, trading, round_trips, usage, ...own } = models[0];
  const expected = {
    ...{ start_date: '2025-11-10', end_date: '2025-11-12', model_days: 3 },
    model_days_with_unknown_dividends: 2, // AAPL was held over two mornings
    ...{ initial_cash: 10_000, no_trading_costs: true, start_value: 10_000 },
    end_value: 11_160, // 7,200 in cash and 30 AAPL at 132
    ...{ profit: 1_160, dividends: 0, total_return: 0.116, annualised_return: null },
    ...{ sharpe_ratio: null, winning_days_share: 1, longest_winning_run: 3 },
    max_drawdown: { depth: 0, peak_date: null, trough_date: null, recovery_date: null, length: 0 },
    best_day: { date: '2025-11-12', daily_return: 0.0628571429 }, // 660 on 10,500
    worst_day: { date: '2025-11-11', daily_return: 0.0096153846 }, // 100 on 10,400
    details: null,
  };
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(own[name], value, name);
  const [{ symbol, quantity, since, cost_basis, value, unrealised_profit }] = own.open_positions;
  const position = [symbol, quantity, since, cost_basis, value, unrealised_profit];
  assert.deepEqual(position, ['AAPL', 30, '2025-11-10', 3_000, 3_960, 960]);
  assert.deepEqual(
    own.curve.map((day: any) =>
      [day.date, day.value, day.daily_return, day.dividend_status, day.growth].join(' '),
    ),
    [
      '2025-11-10 10400 0.04 known 1.04',
      '2025-11-11 10500 0.0096153846 unknown 1.05',
      '2025-11-12 11160 0.0628571429 unknown 1.116',
    ],
  );
  assert.equal(unavailable.annualised_return, 'Needs 252 days with a return, has 3');
  assert.equal(unavailable.sharpe_ratio, 'Needs 20 days with a return, has 3');
  assert.deepEqual(trading, {
    ...{
      trades: 2,
      refused_orders: 1,
      malformed_calls: 0,
      refused_answers: 0,
      bought: 4_000,
      sold: 1_200,
    },
    ...{ commission: 0, realised_profit: 200, unrealised_profit: 960 },
    exposure: 0.3640671157, // the mean of 4,400 of 10,400, 3,300 of 10,500 and 3,960 of 11,160
    turnover: 0.1122894573, // 1,200 over the mean of 10,400, 10,500 and 11,160
    unavailable: {},
  });
  const { latest, unavailable: _, ...figures } = round_trips;
  assert.deepEqual(figures, {
    ...{ count: 1, profit: 200, win_rate: 1, average_win: 200, expectancy: 200 },
    ...{ profit_factor: null, average_loss: null, payoff_ratio: null, mean_holding_days: 1 },
  });
  assert.equal(round_trips.unavailable.payoff_ratio, 'No round trip lost');
  const { symbol: sold, cost, proceeds, holding_days } = latest[0];
  assert.deepEqual([sold, cost, proceeds, holding_days], ['AAPL', 1_000, 1_200, 1]);
  const { days, benchmark_return, excess_return } = relative;
  assert.deepEqual([days, benchmark_return, excess_return], [3, 0.1628, -0.0468]);
  assert.deepEqual([usage.cost_usd, usage.model_days_without_cost, usage.steps], [null, 3, 6]);
});

test('the benchmark has its own curve and figures; the response includes the conventions', async () => {
  const { benchmark, conventions } = await ask('');
  const { name, symbols, start_date, days, total_return, max_drawdown, curve } = benchmark;
  const found = [name, symbols, start_date, days, total_return];
  assert.deepEqual(found, ['QQQ', 1, '2025-11-10', 3, 0.1628]);
  assert.deepEqual(curve, [
    { date: '2025-11-10', value: 1.02, daily_return: 0.02, dividend_status: 'known' }, // 510 over the open of 500
    { date: '2025-11-11', value: 0.969, daily_return: -0.05, dividend_status: 'unknown' },
    { date: '2025-11-12', value: 1.1628, daily_return: 0.2, dividend_status: 'unknown' },
  ]);
  const { depth, peak_date, trough_date, recovery_date } = max_drawdown;
  const given = [depth, peak_date, trough_date, recovery_date];
  assert.deepEqual(given, [0.05, '2025-11-10', '2025-11-11', '2025-11-12']);
  const { trading_days_per_year: year, risk_free_rate: rate, risk_free_rate_daily } = conventions;
  assert.deepEqual([year, rate, risk_free_rate_daily.toFixed(10)], [252, 0.04, '0.0001556499']); // 1.04^(1/252) - 1
});

const filters: [query: string, days: Record<string, number>][] = [
  ['', { 'model-a': 3, 'model-b': 3 }],
  ['?model=model-b', { 'model-b': 3 }],
  ['?job_id=FIRST', { 'model-a': 2, 'model-b': 2 }],
  ['?job_id=SECOND&model=model-a', { 'model-a': 1 }],
  ['?start_date=2025-11-11', { 'model-a': 2, 'model-b': 2 }],
  ['?end_date=2025-11-10', { 'model-a': 1, 'model-b': 1 }],
  ['?start_date=2025-11-11&end_date=2025-11-11', { 'model-a': 1, 'model-b': 1 }],
  ['?model=&job_id=&start_date=&end_date=&benchmark=', { 'model-a': 3, 'model-b': 3 }],
  ['?models=model-b,model-a&start_date=2025-11-11', { 'model-a': 2, 'model-b': 2 }],
  ['?models=model-b', { 'model-b': 3 }],
  ['?start_date=2025-11-13', {}],
];
test('filters of /performance', async () => {
  for (const [query, days] of filters) {
    const path = query.replace('FIRST', firstJob).replace('SECOND', secondJob);
    const { models, count } = await ask(path);
    const found = models.map(({ model, model_days }: any) => [model, model_days]);
    assert.deepEqual([Object.fromEntries(found), count], [days, found.length], query);
  }
});

test('part of a chain starts from the close before it, and can sell lots bought before it', async () => {
  const { models, benchmark } = await ask('?start_date=2025-11-11&end_date=2025-11-11');
  const [{ initial_cash, start_value, end_value, profit, trading, round_trips, relative }] = models;
  assert.deepEqual([initial_cash, start_value, end_value, profit], [10_000, 10_400, 10_500, 100]);
  const found = [trading.trades, trading.bought, round_trips.count, round_trips.profit];
  assert.deepEqual(found, [1, 0, 1, 200]);
  assert.equal(relative.benchmark_return, -0.05, 'from close to close');
  assert.deepEqual([benchmark.start_date, benchmark.curve.length], ['2025-11-10', 1]);
});

test('the benchmark may be any symbol with prices, or the universe, whatever their case', async () => {
  const named = async (query: string) => {
    const { name, symbols, total_return } = (await ask(query)).benchmark;
    return [name, symbols, total_return];
  };
  assert.deepEqual(await named('?benchmark=aapl'), ['AAPL', 1, 0.32]);
  // 10 % and 0 %, then 0 % and 10 %, then 20 % and -10 %: 1.05 · 1.05 · 1.05
  assert.deepEqual(await named('?benchmark=Universe'), ['universe', 2, 0.157625]);
});

test('before any run the response is empty but complete', async (t) => {
  const empty = await startTestService(t, { configuration });
  const { models, count, benchmark } = await ask('', empty);
  assert.deepEqual([models, count, benchmark.name, benchmark.curve], [[], 0, 'universe', []]);
  assert.equal(benchmark.unavailable.total_return, 'There is no daily return');
});

test('the default benchmark is chosen by the first start only; where its prices end early, that is said', async (t) => {
  const [firstDay = '', secondDay = ''] = QQQ.trim().split('\n');
  const short = await serviceOf(t, `${PRICES}\n${firstDay}\n${secondDay}`, script);
  for (const query of ['', '?end_date=2025-11-11', '?start_date=2025-11-12'])
    assert.equal((await ask(query, short)).benchmark.name, 'QQQ', query);
  const { models, benchmark } = await ask('', short);
  assert.deepEqual([models[0].model_days, models[0].relative.days, benchmark.days], [3, 3, 3]);
  const ended = 'The last price of QQQ is that of 2025-11-11, before 1 of 3 dates';
  // A day without a bar has the last close.
  assert.deepEqual([benchmark.incomplete, benchmark.curve.at(-1).daily_return], [ended, 0]);
});

test('a named benchmark that begins after the first model-day covers the days on which it has returns', async (t) => {
  const ofTwoDays = QQQ.trim().split('\n').slice(1).join('\n');
  const late = await serviceOf(t, `${PRICES}\n${ofTwoDays}`, script);
  const { models, benchmark } = await ask('?benchmark=QQQ', late);
  assert.deepEqual([models[0].relative.days, models[0].relative.benchmark_return], [1, 0.2]);
  const { start_date, curve, incomplete } = benchmark;
  assert.deepEqual(
    [start_date, curve, incomplete],
    [
      '2025-11-11',
      [{ date: '2025-11-12', value: 1.2, daily_return: 0.2, dividend_status: 'unknown' }],
      'QQQ has a return on 1 of 3 dates: the first 2025-11-12, the last 2025-11-12',
    ],
  );
  const never = (await ask('?benchmark=QQQ&end_date=2025-11-10', late)).benchmark;
  const reason = 'QQQ has no price at the start of any of these days';
  assert.deepEqual([never.start_date, never.curve, never.incomplete], [null, [], reason]);
});

test('after a replacement in the middle the next day is stale: flagged, with its own return and its own lots', async (t) => {
  const sale = (amount: number): Script[string] => [[['sell', { symbol: 'AAPL', amount }]]];
  const one = ['model-a'];
  const own = { ...script, 'model-a 2025-11-12': sale(10) };
  const running = await serviceOf(t, PRICES + QQQ, own, { models: one });
  const job = running.database.statement('SELECT job_id FROM jobs').get()?.['job_id'];
  const middle = { start_date: '2025-11-11', end_date: '2025-11-11', replace_existing: true };
  const replaced = { 'model-a 2025-11-11': sale(40) };
  await runJobHere(running, own, { ...middle, models: one });
  assert.deepEqual((await ask('', running)).incomparable, [], 'it closed as before');
  await runJobHere(running, replaced, { ...middle, models: one });
  const { models, incomparable } = await ask('', running);
  const [{ curve, stale_model_days, total_return, round_trips, open_positions }] = models;
  const reason =
    '1 of its 3 model-days is stale: earlier results or prices changed afterwards; ' +
    `npx trading-simulation-service trigger --start 2025-11-12 --end 2025-11-12 --models model-a --terms-of ${job} --replace runs it again`;
  assert.deepEqual(incomparable, [{ model: 'model-a', kind: 'stale', reason }]);
  assert.deepEqual(models[0].incomparable, [{ kind: 'stale', reason }]);
  assert.equal(stale_model_days, 1);
  assert.deepEqual(
    curve.map(({ value, daily_return, stale }: any) => [value, daily_return, stale]),
    [
      [10_400, 0.04, false],
      [10_800, 0.0384615385, false], // all sold at 120
      [10_940, 0.0419047619, true], // 440 on the 10,500 that it started from: 8,300 in cash and 20 AAPL at 132
    ],
  );
  assert.equal(total_return, 0.1252571429, '1.04 · 1.0384615385 · 1.0419047619 - 1');
  assert.deepEqual(
    round_trips.latest.map(({ quantity, profit }: any) => [quantity, profit]),
    [
      [40, 800],
      [10, 100],
    ],
  );
  assert.equal(open_positions[0].quantity, 20);

  const ofJob = await ask(`?job_id=${job}`, running);
  assert.deepEqual(
    ofJob.benchmark.curve.map(({ date, daily_return }: any) => [date, daily_return]),
    [
      ['2025-11-10', 0.02],
      ['2025-11-12', 0.2],
    ],
    'not the day that another job has now',
  );
  const found = [ofJob.benchmark.total_return, ofJob.models[0].relative.benchmark_return];
  assert.deepEqual(found, [0.224, 0.224]);
});

test('a model whose every order was refused is marked, one that only looked and held is not', async (t) => {
  const tried: Script = {
    'model-a 2025-11-10': [
      [
        ['buy', { symbol: 'AAPL', amount: 1_000 }],
        ['sell', { symbol: 'AAPL', amount: 1 }],
        ['buy', { symbol: 'AAPL', amount: -5 }],
        ['place_order', { symbol: 'AAPL', amount: 1 }],
        ['search_news', { query: 'offered on other days' }],
        ['get_price', { symbol: 'TSLA' }],
      ],
    ],
    'model-b 2025-11-10': [[['get_price', {}]]],
  };
  const own = await serviceOf(t, PRICES, tried, { end_date: '2025-11-11' });
  const { models, incomparable } = await ask('', own);
  const counts = models.map(
    ({ trading: one }: any) => `${one.trades} ${one.refused_orders} ${one.malformed_calls}`,
  );
  assert.deepEqual(counts, ['0 2 3', '0 0 1']);
  const reason = 'It never traded: 4 orders were refused or malformed';
  assert.deepEqual(incomparable, [{ model: 'model-a', kind: 'never_traded', reason }]);
  assert.deepEqual((await ask('?start_date=2025-11-11', own)).incomparable, [], 'no try that day');
});

test('the counts are those of the decisions: an order that fills in part is a trade and a refusal', async (t) => {
  const tried: Script = {
    'model-a 2025-11-12': [
      [
        ['buy', { symbol: 'AAPL', amount: 90 }], // 81 at the open of 110 + 11 %
        ['buy', { symbol: 'AAPL', amount: 'ten' }],
        ['buy', { symbol: 'MSFT', amount: 900 }],
        ['get_price', {}],
        ['place_order', { symbol: 'AAPL', amount: 1 }],
      ],
    ],
    'model-b 2025-11-12': [[['rebalance', { weights: { AAPL: 0.5, MSFT: 0.5 } }]]],
  };
  const hidden = { agent_config: { ...configuration.agent_config, open: 'hidden' } };
  const prices = PRICES.replace('AAPL 2025-11-12 110', 'AAPL 2025-11-12 122');
  const own = await startTestService(t, { configuration: { ...configuration, ...hidden }, prices });
  const day = { start_date: '2025-11-12', end_date: '2025-11-12', models: MODELS };
  await runJobHere(own, tried, day);
  const { models } = await ask('', own);
  for (const { model, trading } of models) {
    const countOf = async (kind: string) =>
      (await own.get(`/decisions?kind=${kind}&models=${model}`)).body.count;
    const kinds = ['trade', 'refusal', 'malformed'];
    const { trades, refused_orders: refused, malformed_calls: malformed } = trading;
    assert.deepEqual([trades, refused, malformed], await Promise.all(kinds.map(countOf)));
    assert.deepEqual([trades, refused, malformed], model === 'model-a' ? [1, 2, 3] : [2, 1, 0]);
  }
  const { decisions } = (await own.get('/decisions?kind=malformed')).body;
  assert.deepEqual(
    decisions.map(({ side, symbol, detail }: any) => [side, symbol, detail.slice(0, 30)]),
    [
      [null, null, 'There is no tool named "place_'],
      [null, null, 'get_price: symbol is missing.'],
      [null, null, 'buy: amount must be a whole nu'],
    ],
  );
});

test('what a rebalance refuses counts as what buy and sell refuse', async (t) => {
  const prices = PRICES.replace('MSFT 2025-11-10 200 200', '');
  const tried: Script = {
    'model-a 2025-11-10': [
      [
        ['rebalance', { weights: { MSFT: 0.5 } }],
        ['rebalance', { weights: { TSLA: 0.5 } }],
        ['rebalance', { weights: { AAPL: 2 } }],
      ],
    ],
    'model-b 2025-11-10': [[['rebalance', { weights: { AAPL: 0.5, MSFT: 0.5 } }]]],
  };
  const own = await serviceOf(t, prices, tried, { end_date: '2025-11-10' });
  const { models, incomparable } = await ask('', own);
  const counts = models.map(
    ({ trading: one }: any) => `${one.trades} ${one.refused_orders} ${one.malformed_calls}`,
  );
  assert.deepEqual(counts, ['0 2 1', '1 1 0']);
  const reason = 'It never traded: 3 orders were refused or malformed';
  assert.deepEqual(incomparable, [{ model: 'model-a', kind: 'never_traded', reason }]);
});

test('a fall that no split explains marks the model that held the symbol, with what settles it', async (t) => {
  const fallen = PRICES.replace('AAPL 2025-11-12 110 132', 'AAPL 2025-11-12 55 66');
  const own = await serviceOf(t, fallen + QQQ, script);
  const { models, incomparable } = await ask('', own);
  assert.deepEqual(
    models.map((one: any) => [one.model, one.suspected]),
    [
      [
        'model-a',
        [{ kind: 'split', symbol: 'AAPL', date: '2025-11-12', from: 110, to: 55, model_days: 1 }],
      ],
      ['model-b', []],
    ],
  );
  const [{ kind, reason }, ...others] = incomparable;
  assert.deepEqual([kind, others], ['suspected_split', []]);
  assert.match(
    reason,
    /AAPL on 2025-11-12 \(110 to 55\)\. To settle this, .*AAPL,2025-11-12,NEW,OLD/,
  );
  assert.deepEqual((await ask('?end_date=2025-11-11', own)).incomparable, [], 'before the fall');
  const leftOut = async (query: string) => {
    const { left_out: names, sentence } = (await own.get(`/comparison${query}`)).body.answer;
    return [names, /Left out.*/.exec(sentence)?.[0]];
  };
  const words = 'Left out until settled: model-a (possible split of AAPL on 2025-11-12).';
  assert.deepEqual(await leftOut(''), [['model-a'], words], 'no leader');
  assert.deepEqual(await leftOut('?end_date=2025-11-11'), [[], undefined]);
  const [{ job_id: job }] = (await own.get('/jobs')).body.jobs;
  const jump = { kind: 'split', symbol: 'AAPL', date: '2025-11-12', last: '2025-11-11' } as const;
  own.database.transaction(() =>
    addWarnings(
      own.database,
      job,
      suspicionWarnings([{ ...jump, from: 110, to: 55, isCovered: 1 }]),
    ),
  );
  const inStatus = async () => (await own.get(`/simulate/status/${job}`)).body;
  const said = async () => {
    const [listed] = (await own.get('/jobs')).body.jobs;
    const all = [listed, await inStatus()];
    return all.map(({ warnings, warning_codes: codes }) =>
      [...codes, ...warnings].join().replace(/--terms-of \S+/, '--terms-of JOB'),
    );
  };
  for (const words of await said()) assert.match(words, /^possible_split,.*To settle this/);
  const splits = [{ symbol: 'AAPL', date: '2025-11-12', numerator: 2, denominator: 1 }];
  const stamp = { source: 'csv', recordedAt: '2025-11-13T00:00:00.000Z' } as const;
  storeSplits(own.database, { symbol: 'AAPL', splits, endDate: '2025-11-12' }, stamp);
  const settled = ',Settled since: possible split of AAPL on 2025-11-12';
  const stale =
    '; stale now: 1 model-day of this job; npx trading-simulation-service trigger --start 2025-11-12 --end 2025-11-12 --models model-a --terms-of JOB --replace runs it again';
  assert.deepEqual(await said(), [settled, settled + stale]);
  const csv = await (await fetch(`${own.url}/jobs?format=csv`)).text();
  assert.ok(csv.includes('Settled since') && !csv.includes('To settle this'), csv);
});
