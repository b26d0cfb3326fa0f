import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { storeDividends, storeSplits } from '../../src/database/splits-and-dividends.ts';
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
  'model,date,value,daily_return,stale,benchmark_value,family,before_cutoff,dividends,dividend_status,growth,drawdown';
const TRADES = [
  'model,date,side,symbol,amount,price,commission,cash,cash_change',
  'model-a,2025-11-10,buy,AAPL,10,100,1,8999,-1001',
  'model-a,2025-11-11,dividend,AAPL,10,0.5124,0,9004.1235,5.1235',
  'model-a,2025-11-11,sell,AAPL,4,120,1,9483.1235,479',
];
const tables: [query: string, fileName: string, lines: string[]][] = [
  [
    '',
    'curve.csv',
    [
      CURVE,
      'model-a,2025-11-10,10099,0.0099,false,1.01,model-a,true,0,known,1.0099,0',
      'model-a,2025-11-11,10263.1235,0.0162514605,false,1.0302,model-a,false,5.1235,known,1.02631235,0',
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
    'model-b,2025-11-11,buy,AAPL,10,120,1,8799,-1201',
    'model-b,2025-11-12,split,AAPL,20,42,0,8799,0',
    'model-b,2025-11-12,sell,AAPL,4,42,1,8966,167',
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
