import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { before, test, type TestContext } from 'node:test';
import { modelsResponse } from '../../src/api/models.ts';
import { coverageResponse } from '../../src/api/price-coverage.ts';
import { familyOrder, namedModels, seenModel } from '../../src/database/records/models.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { storeDividends } from '../../src/database/splits-and-dividends.ts';
import { addCoverage, storeBars } from '../../src/database/prices.ts';
import {
  coverageSpans,
  knownSymbols,
  storedDividends,
  symbolPrices,
} from '../../src/database/records/price-coverage.ts';
import { gapsBetween } from '../../src/prices/needs.ts';
import { SEED } from '../support/schema-rows.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { readPrices } from '../support/prices.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

const configuration = {
  models: [
    {
      signature: 'model-b',
      name: 'Model B',
      basemodel: 'vendor/b',
      enabled: true,
      openai_api_key: 'sk-secret',
    },
    { signature: 'model-a', enabled: true, knowledge_cutoff: '2025-11-11' },
    { signature: 'yardstick', basemodel: 'baseline/momentum' },
  ],
  agent_config: { stock_symbols: ['AAPL'] },
  universes: { control: ['QXKZVA'], small: ['AAPL'] },
};
const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103
  AAPL 2025-11-12 104 105`;
const script: Script = {
  'model-a 2025-11-10': [[['buy', { symbol: 'AAPL', amount: 10 }]]],
  'model-b 2025-11-12': [[['fail', 'tired']]],
};

let service: TestService;
const jobs: any[] = [];
before(async (t) => {
  service = await startTestService(t as TestContext, { configuration, prices: PRICES });
  const ran = ['model-b', 'model-a'];
  jobs.push(
    await runJobHere(service, script, {
      start_date: '2025-11-10',
      end_date: '2025-11-12',
      models: ran,
    }),
  );
  const strange = {
    start_date: '2025-11-11',
    end_date: '2025-11-11',
    models: ['stranger', 'model-a'],
  };
  jobs.push(await runJobHere(service, {}, strange));
  jobs.push(
    await runJobHere(
      service,
      {},
      { start_date: '2025-11-08', end_date: '2025-11-10', models: ['zero'] },
    ),
  );
});

const lastJob = (index: number) => ({
  job_id: jobs[index].job_id,
  status: jobs[index].status,
  created_at: jobs[index].created_at,
});

test('models: those of the configuration in its order, then those named in jobs', async () => {
  const body = await validBody(service, '/models', modelsResponse);
  assert.deepEqual([body.count, body.configuration_error, body.deployment_mode], [5, null, 'DEV']);
  assert.deepEqual(body.universes, ['control', 'small']);
  const short = body.models.map((model: any) => [
    model.signature,
    model.name,
    model.basemodel,
    model.enabled,
    model.configured,
    model.first_completed_date,
    model.last_completed_date,
    model.completed_model_days,
    model.portfolio_value,
  ]);
  assert.deepEqual(short, [
    ['model-b', 'Model B', 'vendor/b', true, true, '2025-11-10', '2025-11-11', 2, 10_000],
    ['model-a', null, 'model-a', true, true, '2025-11-10', '2025-11-12', 3, 10_050],
    ['yardstick', null, 'baseline/momentum', false, true, null, null, 0, null],
    ['stranger', null, null, false, false, '2025-11-11', '2025-11-11', 1, 10_000],
    ['zero', null, null, false, false, '2025-11-10', '2025-11-10', 1, 10_000],
  ]);
  assert.deepEqual(
    body.models.map(({ last_job }: any) => last_job),
    [lastJob(0), lastJob(1), null, lastJob(1), lastJob(2)],
  );
  assert.deepEqual(
    body.models.map(({ order }: any) => order),
    [0, 1, null, 2, 3],
    'of families by their first job, whatever the configuration lists first',
  );
  assert.deepEqual(
    body.models
      .slice(0, 3)
      .map((model: any) => [
        model.knowledge_cutoff,
        model.model_days_before_cutoff,
        model.entry?.basemodel,
      ]),
    [
      [null, 0, 'vendor/b'],
      ['2025-11-11', 2, 'model-a'],
      [null, 0, undefined],
    ],
  );
  assert.ok(!JSON.stringify(body).includes('secret'));
});

test('models: all runs of an entry have its order, also where another run was first', (t) => {
  const database = openDatabase(':memory:', { durability: 'process-end' });
  t.after(() => database.close());
  for (const sql of SEED) database.statement(sql).run();
  const RUN = `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
    VALUES ('j', ?, ?, '2025-01-06', 't', '{}', ?)`;
  for (const [index, [model, family]] of [
    ['b#2', 'b'],
    ['a', 'a'],
    ['b', 'b'],
  ].entries())
    database.statement(RUN).run(model as string, index + 1, family as string);
  assert.deepEqual(
    [...familyOrder(database)],
    [
      ['m', 0],
      ['b', 1],
      ['a', 2],
    ],
  );
});

test('models: a value is that of the active generation', async () => {
  const again = {
    start_date: '2025-11-10',
    end_date: '2025-11-10',
    models: ['zero'],
    replace_existing: true,
  };
  await runJobHere(service, {}, again);
  const { models } = (await service.get('/models')).body;
  assert.equal(models.find(({ signature }: any) => signature === 'zero').completed_model_days, 1);
});

test('models: an unreadable configuration is reported, and the models named in jobs are still listed', async () => {
  const path = service.settings.configurationPath;
  for (const [spoil, message] of [
    [() => rmSync(path), /^Server configuration file not found: /],
    [
      () => writeFileSync(path, '{"models":[{"signature":5}]}'),
      /models\[0\]\.signature: expected a string/,
    ],
  ] as const) {
    spoil();
    const { status, body } = await service.get('/models');
    assert.equal(status, 200);
    assert.match(body.configuration_error, message);
    assert.deepEqual(
      body.models.map(({ signature, configured }: any) => [signature, configured]),
      [
        ['model-a', false],
        ['model-b', false],
        ['stranger', false],
        ['zero', false],
      ],
    );
  }
  writeFileSync(path, JSON.stringify({ ...configuration, universes: { added: ['AAPL'] } }));
  assert.deepEqual((await service.get('/models')).body.universes, ['added']);
  writeFileSync(path, JSON.stringify(configuration));
  assert.deepEqual((await service.get('/models')).body.universes, ['control', 'small']);
});

const gaps: [name: string, spans: string[], gaps: string[]][] = [
  ['no span', [], []],
  ['one span', ['2025-11-03 2025-11-07'], []],
  [
    'two with a week between',
    ['2025-11-03 2025-11-07', '2025-11-17 2025-11-21'],
    ['2025-11-08 2025-11-16 5'],
  ],
  ['a weekend between', ['2025-11-03 2025-11-07', '2025-11-10 2025-11-14'], []],
  [
    'one inside another',
    ['2025-11-03 2025-11-28', '2025-11-10 2025-11-14', '2025-12-01 2025-12-02'],
    [],
  ],
  [
    'three',
    ['2025-11-03 2025-11-03', '2025-11-05 2025-11-05', '2025-11-07 2025-11-07'],
    ['2025-11-04 2025-11-04 1', '2025-11-06 2025-11-06 1'],
  ],
];
for (const [name, spans, expected] of gaps) {
  test(`gaps between spans: ${name}`, () => {
    const read = spans.map((span) => ({ startDate: span.slice(0, 10), endDate: span.slice(11) }));
    const found = gapsBetween(read).map(
      ({ startDate, endDate, weekdays }) => `${startDate} ${endDate} ${weekdays}`,
    );
    assert.deepEqual(found, expected);
  });
}

test('coverage: per symbol its bars, spans, gaps and last download', async (t) => {
  const priced = await startTestService(t, { configuration });
  const [early, late] = ['2025-10-01T00:00:00.000Z', '2025-11-30T00:00:00.000Z'];
  storeBars(priced.database, readPrices(PRICES), { source: 'alpha-vantage' });
  const cover = (
    symbol: string,
    startDate: string,
    endDate: string,
    source: 'csv' | 'alpha-vantage',
    at: string,
  ) => addCoverage(priced.database, { symbol, startDate, endDate }, { source, recordedAt: at });
  cover('AAPL', '2025-11-10', '2025-11-12', 'alpha-vantage', late);
  cover('AAPL', '2025-10-01', '2025-10-31', 'csv', early);
  const stamp = { source: 'massive', recordedAt: late };
  const known = {
    dividends: [
      { symbol: 'AAPL', exDate: '2025-10-10', cash: 260_000 },
      { symbol: 'AAPL', exDate: '2025-07-11', cash: 1 },
    ],
  };
  const spans = ['2025-07-01 2025-10-31', '2025-11-10 2025-11-12'].map(
    (text) => text.split(' ') as [string, string],
  );
  storeDividends(
    priced.database,
    {
      ...known,
      spans: spans.map(([startDate, endDate]) => ({ symbol: 'AAPL', startDate, endDate })),
      basis: 'as_paid',
    },
    stamp,
  );
  cover('GONE', '2025-10-01', '2025-10-31', 'alpha-vantage', early);
  priced.database
    .statement(`INSERT INTO price_data (symbol, date, open) VALUES ('BARE', '2025-11-10', 5)`)
    .run();

  const body = await validBody(priced, '/prices/coverage', coverageResponse);
  const span = (source: string, start_date: string, end_date: string, recorded_at: string) => ({
    source,
    start_date,
    end_date,
    recorded_at,
  });
  const apple = {
    symbol: 'AAPL',
    source: 'alpha-vantage',
    first_bar: '2025-11-10',
    last_bar: '2025-11-12',
    bars: null,
    last_download: late,
    spans: [
      span('csv', '2025-10-01', '2025-10-31', early),
      span('alpha-vantage', '2025-11-10', '2025-11-12', late),
    ],
    gaps: [{ start_date: '2025-11-01', end_date: '2025-11-09', weekdays: 5 }],
    dividends: {
      count: 2,
      last_ex_date: '2025-10-10',
      spans: spans.map(([start, end]) => span('massive', start, end, late)),
      gaps: [{ start_date: '2025-11-01', end_date: '2025-11-09', weekdays: 5 }],
    },
  };
  const dividends = { count: 0, last_ex_date: null, spans: [], gaps: [] };
  const nothing = { last_download: null, spans: [], gaps: [], bars: null, dividends };
  const bare = {
    symbol: 'BARE',
    source: 'manual',
    first_bar: '2025-11-10',
    last_bar: '2025-11-10',
    ...nothing,
  };
  const gone = {
    ...nothing,
    symbol: 'GONE',
    source: null,
    first_bar: null,
    last_bar: null,
    last_download: early,
    spans: [span('alpha-vantage', '2025-10-01', '2025-10-31', early)],
  };
  assert.deepEqual([body.symbols, body.count], [[apple, bare, gone], 3]);

  const one = await priced.get('/prices/coverage?symbol=%20aapl');
  assert.deepEqual([one.body.symbols, one.body.count], [[{ ...apple, bars: 3 }], 1]);
  assert.deepEqual((await priced.get('/prices/coverage?symbol=GONE')).body.symbols, [
    { ...gone, bars: 0 },
  ]);
  const symbolsOn = async (query: string) =>
    (await priced.get(`/prices/coverage?${query}`)).body.symbols.map(
      ({ symbol }: { symbol: string }) => symbol,
    );
  assert.deepEqual(
    await symbolsOn('date=2025-11-10'),
    ['AAPL', 'BARE'],
    'the symbols with a bar on the date',
  );
  assert.deepEqual(await symbolsOn('date=2025-11-11'), ['AAPL']);
  assert.deepEqual(await symbolsOn('date=2025-11-11&symbol=BARE'), []);
  assert.deepEqual(await symbolsOn('date=2025-10-15'), [], 'covered, but without a bar');
  assert.equal((await priced.get('/prices/coverage?date=2025-02-30')).status, 422);
  const unknown = await priced.get('/prices/coverage?symbol=NONE');
  assert.deepEqual(
    [unknown.status, unknown.body.symbols, unknown.body.is_dev_mode],
    [200, [], true],
  );
  const wrong = await priced.get('/prices/coverage?symbol=../etc');
  assert.deepEqual([wrong.status, wrong.body.detail], [422, 'symbol: is not a ticker symbol']);
});

test('coverage: unreadable dates that other programs stored are left out', async (t) => {
  const priced = await startTestService(t, { configuration });
  storeBars(
    priced.database,
    readPrices('AAPL 0000-01-03 1 1\nAAPL 2025-11-10 5 5\nAAPL 2025-99-99 6 6\nOLD 1899-12-29 1 1'),
    { source: 'csv' },
  );
  const cover = priced.database.statement(
    'INSERT INTO price_data_coverage (symbol, source, start_date, end_date) VALUES (?, ?, ?, ?)',
  );
  cover.run('AAPL', 'csv', '0000-01-03', '2025-10-31');
  cover.run('AAPL', 'other', '2025-11-07', '2025-11-10');
  cover.run('AAPL', 'worse', '2025-11-31', '9999-99-99');
  cover.run('OLD', 'csv', '1800-01-01', '1899-12-29');
  const pay = priced.database.statement(
    `INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES ('AAPL', ?, 1)`,
  );
  for (const exDate of ['0000-01-03', '2025-10-10', '2025-99-99']) pay.run(exDate);
  const { status, body } = await priced.get('/prices/coverage?symbol=AAPL');
  assert.equal(status, 200, body.detail);
  const [{ first_bar: first, last_bar: last, source, bars, spans, gaps }] = body.symbols;
  assert.deepEqual([first, last, source, bars], ['2025-11-10', '2025-11-10', 'csv', 1]);
  assert.deepEqual(
    spans.map((span: any) => `${span.source} ${span.start_date} ${span.end_date}`),
    ['csv 1900-01-01 2025-10-31', 'other 2025-11-07 2025-11-10'],
  );
  assert.deepEqual(gaps, [{ start_date: '2025-11-01', end_date: '2025-11-06', weekdays: 4 }]);
  const { count, last_ex_date } = body.symbols[0].dividends;
  assert.deepEqual([count, last_ex_date], [1, '2025-10-10']);
  const [old] = (await priced.get('/prices/coverage?symbol=OLD')).body.symbols;
  assert.deepEqual([old.first_bar, old.spans], [null, []]);
});

test('coverage of a whole market: each symbol once, by name', async (t) => {
  const priced = await startTestService(t, { configuration });
  const count = 250;
  const numbers = Array.from({ length: count }, (_none, index) => 1_001 + index);
  storeBars(
    priced.database,
    readPrices(numbers.map((number) => `S${number} 2025-11-10 1 1`).join('\n')),
    { source: 'csv' },
  );
  const covered = numbers
    .filter((number) => number % 2 === 0)
    .flatMap((number) => [`S${number}`, `S${number}X`]);
  for (const symbol of covered)
    addCoverage(
      priced.database,
      { symbol, startDate: '2025-11-10', endDate: '2025-11-10' },
      { source: 'csv', recordedAt: 't' },
    );
  const all = [...new Set([...numbers.map((number) => `S${number}`), ...covered])].sort();
  const { symbols, count: counted } = (await priced.get('/prices/coverage')).body;
  assert.deepEqual(
    [symbols.map(({ symbol }: { symbol: string }) => symbol), counted],
    [all, all.length],
  );
  const onDate = (await priced.get('/prices/coverage?date=2025-11-10')).body.symbols;
  assert.deepEqual(
    onDate.map(({ symbol }: { symbol: string }) => symbol),
    numbers.map((number) => `S${number}`),
  );
});

test('coverage: an empty database has none', async (t) => {
  const empty = await startTestService(t, { configuration });
  assert.deepEqual((await empty.get('/prices/coverage')).body.symbols, []);
});

test('models and coverage: no query reads all bars, and none all sessions', () => {
  const database = openDatabase(':memory:');
  for (const sql of SEED) database.statement(sql).run();
  const texts: string[] = [];
  const watched: CommandDatabase = {
    ...database,
    statement: (sql, rows) => (texts.push(sql), database.statement(sql, rows)),
  };
  const symbols = knownSymbols(watched);
  symbolPrices(watched, symbols, '2025-11-10');
  for (const kind of ['prices', 'dividends'] as const) coverageSpans(watched, symbols, kind);
  storedDividends(watched, symbols);
  for (const model of namedModels(watched)) seenModel(watched, model);
  const plans = texts.map((sql) => database.statement(`EXPLAIN QUERY PLAN ${sql}`));
  const steps = plans.flatMap((plan, index) =>
    plan.all(...(texts[index]?.includes('?1') ? [null] : [])),
  );
  const details = steps.map(({ detail }) => String(detail));
  assert.ok(details.some((detail) => detail.startsWith('SEARCH price_data')));
  assert.ok(
    details.some((detail) => detail.includes('USING COVERING INDEX one_active_generation')),
  );
  assert.deepEqual(
    details.filter((detail) =>
      /^SCAN (price_data|dividends|positions|holdings|trading_sessions)( |$)(?!USING COVERING)/.test(
        detail,
      ),
    ),
    [],
  );
});
