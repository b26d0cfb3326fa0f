import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { csvRows } from '../../src/core/text/csv.ts';
import { storeFactors } from '../../src/features/style/queries.ts';
import { createNormals } from '../../src/features/statistics/random.ts';
import { storePrices } from '../support/prices.ts';
import { insertReturns } from '../support/returns.ts';
import { storeDividends, storeSplits } from '../../src/core/database/splits-and-dividends.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { fillWithTrackRecords } from '../support/track-records.ts';
import { startTestView } from '../support/view.ts';
import { temporaryFolder } from '../support/folder.ts';

const STAMP = { source: 'csv', recordedAt: '2025-11-12T00:00:00.000Z' };

let service: TestService;
before(async (t) => {
  service = await startTestService(t as TestContext, {
    configuration: {
      models: [
        { signature: 'model-a', enabled: true, knowledge_cutoff: '2025-11-10' },
        { signature: 'model-b', enabled: true },
      ],
      agent_config: { stock_symbols: ['AAPL'], commission_per_trade: 1 },
    },
    prices: `
      AAPL 2025-11-10 100 110
      AAPL 2025-11-11 120 130
      AAPL 2025-11-12 42 44
      QQQ  2025-11-10 500 505
      QQQ  2025-11-11 505 515.1`,
  });
  const dividends = [{ symbol: 'AAPL', exDate: '2025-11-11', cash: 512_350 }];
  storeDividends(service.database, { dividends, spans: [], basis: 'as_paid' }, STAMP);
  const script: Script = {
    'model-a 2025-11-10': [[['buy', { symbol: 'AAPL', amount: 10 }]]],
    'model-a 2025-11-11': [[['sell', { symbol: 'AAPL', amount: 4 }]]],
  };
  const days = { start_date: '2025-11-10', end_date: '2025-11-11', models: ['model-a'] };
  await runJobHere(service, script, days);
});

const CURVE =
  'model,date,value,daily_return,stale,benchmark_value,family,before_cutoff,dividends,dividend_status,growth,drawdown,currency,study';
const TRADES = [
  'model,date,side,symbol,amount,price,commission,cash,cash_change,entry,currency,study',
  'model-a,2025-11-10,buy,AAPL,10,100,1,8999,-1001,model-a,USD,',
  'model-a,2025-11-11,dividend,AAPL,10,0.5124,0,9004.1235,5.1235,model-a,USD,',
  'model-a,2025-11-11,sell,AAPL,4,120,1,9483.1235,479,model-a,USD,',
];
const tables: [query: string, fileName: string, lines: string[]][] = [
  [
    '',
    'curve.csv',
    [
      CURVE,
      'model-a,2025-11-10,10099,0.0099,false,1.01,model-a,true,0,known,1.0099,0,USD,',
      'model-a,2025-11-11,10263.1235,0.0162514605,false,1.0302,model-a,false,5.1235,known,1.02631235,0,USD,',
    ],
  ],
  ['&start_date=2025-11-12', 'curve.csv', [CURVE]],
  [
    '&table=returns',
    'returns.csv',
    ['date,model-a,QQQ (benchmark)', '2025-11-10,0.0099,0.01', '2025-11-11,0.0162514605,0.02'],
  ],
  ['&table=returns&start_date=2025-11-12', 'returns.csv', ['date,universe (benchmark)']],
  ['&table=trades', 'trades.csv', TRADES],
  ['&table=trades&start_date=2025-11-11', 'trades.csv', TRADES.toSpliced(1, 1)],
];
test('the tables of /performance', async () => {
  for (const [query, fileName, lines] of tables) {
    const response = await fetch(`${service.url}/performance?format=csv${query}`);
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    const disposition = response.headers.get('content-disposition');
    assert.equal(disposition, `attachment; filename="${fileName}"`);
    assert.deepEqual((await response.text()).split('\r\n'), [...lines, ''], query);
  }
  const without = (await service.get('/performance?table=trades')).body.models;
  assert.deepEqual(without, (await service.get('/performance')).body.models, 'without CSV');
});

test('the table of actions has splits too, with the shares that they added; the table of trades has none', async () => {
  const splits = [{ symbol: 'AAPL', date: '2025-11-12', numerator: 3, denominator: 1 }];
  service.database.transaction(() =>
    storeSplits(service.database, { symbol: 'AAPL', splits, endDate: '2025-11-12' }, STAMP),
  );
  const script: Script = {
    'model-b 2025-11-11': [[['buy', { symbol: 'AAPL', amount: 10 }]]],
    'model-b 2025-11-12': [[['sell', { symbol: 'AAPL', amount: 4 }]]],
  };
  const days = { start_date: '2025-11-11', end_date: '2025-11-12', models: ['model-b'] };
  await runJobHere(service, script, days);
  const [bought, split, sold] = [
    'model-b,2025-11-11,buy,AAPL,10,120,1,8799,-1201,model-b,USD,',
    'model-b,2025-11-12,split,AAPL,20,42,0,8799,0,model-b,USD,',
    'model-b,2025-11-12,sell,AAPL,4,42,1,8966,167,model-b,USD,',
  ];
  const tables = { actions: [bought, split, sold], trades: [bought, sold] };
  for (const [table, lines] of Object.entries(tables)) {
    const url = `${service.url}/performance?model=model-b&format=csv&table=${table}`;
    const response = await fetch(url);
    assert.match(response.headers.get('content-disposition') ?? '', RegExp(`"${table}.csv"`));
    assert.deepEqual((await response.text()).split('\r\n').slice(1, -1), lines);
  }
});

test('returns have a column for each model, empty where it has none, under names that CSV can carry', async (t) => {
  const path = join(temporaryFolder(), 'jobs.db');
  const models = ['a, "b"', 'QQQ (benchmark)', 'late'];
  fillWithTrackRecords(path, { models, days: 24, failures: 0.1 });
  const view = await startTestView(t, path);
  const response = await fetch(`${view.url}/performance?table=returns&format=csv`);
  const [header, ...lines] = (await response.text()).trimEnd().split(/\r?\n/);
  const { body } = await view.get('/performance');
  const names = body.models.map(({ model }: any) => model);
  assert.equal(header, 'date,QQQ (benchmark),"a, ""b""",late,QQQ (benchmark)');
  const expected = body.benchmark.curve.map(({ date, daily_return: passive }: any) => {
    const own = body.models.map(
      ({ curve }: any) => curve.find((day: any) => day.date === date)?.daily_return ?? '',
    );
    return [date, ...own, passive].join(',');
  });
  assert.deepEqual([names.length, lines], [3, expected]);
  assert.ok(
    lines.some((line) => line.includes(',,')),
    'a model lacks a day',
  );
});

/** Two entries, of which one has two runs, with factors that explain a part of them. */
async function startWithEntries(t: TestContext) {
  const own = await startTestService(t);
  const dates = weekdays('2025-01-06', '2025-05-30').slice(0, 80);
  const normal = createNormals('figures');
  const factors = dates.map((date) => ({ factor: 'market', date, value: 0.01 * normal() }));
  const returnsOf = (share: number) => factors.map(({ value }) => share * value + 0.001 * normal());
  insertReturns(own.database, {
    dates,
    runs: {
      alpha: { returns: returnsOf(1), family: 'alpha' },
      beta: { returns: returnsOf(0.5), family: 'beta' },
      'beta#2': { returns: returnsOf(1.5), family: 'beta' },
    },
  });
  const bars = dates.map((date, day) => `QQQ ${date} 100 ${100 + (day % 7)}`);
  storePrices(own.database, bars.join('\n'));
  const stamp = { source: 'f.csv', recordedAt: 't' };
  own.database.transaction(() => storeFactors(own.database, factors, stamp));
  const ask = async (query: string) => (await own.get(query)).body;
  const table = async (query: string) =>
    csvRows(await (await fetch(`${own.url}/performance?format=csv&${query}`)).text());
  return { ask, table };
}

test('the tables of entries have the mean of their runs, as the JSON has it', async (t) => {
  const { ask, table } = await startWithEntries(t);
  const { families, models } = await ask('/performance?by=entry&details=true');
  const [alpha, beta] = families;
  const curve = await table('by=entry&table=curve');
  const growths = (model: string) =>
    curve.filter((row) => row['model'] === model).map((row) => Number(row['growth']));
  const growthOf = (days: any[]) => days.map(({ growth }) => growth);
  assert.deepEqual(growths('beta'), growthOf(beta.curve));
  assert.deepEqual(growths('alpha'), growthOf(models[0].curve));
  assert.deepEqual([curve.length, curve[0]?.['value'], curve[0]?.['family']], [160, '', 'alpha']);

  const returns = await table('by=entry&table=returns');
  assert.deepEqual(Object.keys(returns[0] ?? {}).slice(0, 3), ['date', 'alpha', 'beta']);
  const linked = returns.reduce((all, row) => all * (1 + Number(row['beta'])), 1);
  assert.ok(Math.abs(linked - 1 - beta.mean_total_return) < 1e-8);

  const style = await table('by=entry&table=style');
  const named = style.map((row) => `${row['model']} ${row['factor']}`);
  assert.deepEqual(named, ['alpha market', 'alpha alpha', 'beta market', 'beta alpha']);
  assert.equal(Number(style[2]?.['beta']), beta.details.style.factors[0].beta);
  assert.equal(Number(style[0]?.['beta']), alpha.details.style.factors[0].beta);
});

test('the table of figures has a row per run or entry, with the interval of its return', async (t) => {
  const { ask, table } = await startWithEntries(t);
  const { families, models } = await ask('/performance?by=entry');
  const runs = await table('table=figures');
  const number = (row: any, name: string) => (row[name] === '' ? NaN : Number(row[name]));
  for (const [place, model] of models.entries()) {
    const row: any = runs[place];
    assert.deepEqual([row.model, row.family, row.runs], [model.model, model.family, '1']);
    const found = [
      ...['total_return', 'sharpe_ratio', 'max_drawdown_depth', 'relative_beta'],
      ...['relative_alpha', 'trading_commission', 'trading_turnover', 'usage_steps'],
    ].map((name) => number(row, name));
    const { max_drawdown, relative, trading, usage } = model;
    assert.deepEqual(found, [
      ...[model.total_return, model.sharpe_ratio, max_drawdown.depth, relative.beta],
      ...[relative.alpha, trading.commission, trading.turnover, usage.steps],
    ]);
    assert.deepEqual([row.usage_cost_usd, row.start_date], ['', model.start_date]);
  }
  const entries = await table('by=entry&table=figures');
  const own = entries.map(({ model, runs: count }) => `${model} ${count}`);
  assert.deepEqual(own, ['alpha 1', 'beta 2']);
  assert.equal(number(entries[1], 'total_return'), families[1].mean_total_return);
  const sharpe = (models[1].sharpe_ratio + models[2].sharpe_ratio) / 2;
  assert.ok(Math.abs(number(entries[1], 'sharpe_ratio') - sharpe) < 1e-9);
  for (const [row, query] of [
    [entries[1], 'models=beta'],
    [runs[2], 'models=beta%232'],
    [entries[0], 'models=alpha'],
  ] as const) {
    const { interval } = (await ask(`/comparison?${query}`)).models[0];
    assert.ok(Math.abs(number(row, 'interval_low') - interval.low) < 1e-12, query);
    assert.ok(Math.abs(number(row, 'interval_high') - interval.high) < 1e-12, query);
  }
  const few = await table('table=figures&start_date=2025-04-15');
  assert.deepEqual([few[0]?.['interval_low'], few[0]?.['sharpe_ratio']], ['', '']);
});
