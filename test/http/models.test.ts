import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { before, test, type TestContext } from 'node:test';
import { modelsResponse } from '../../src/core/api/models.ts';
import { coverageResponse } from '../../src/features/coverage/route.ts';
import {
  familyOrder,
  findModel,
  knownRuns,
} from '../../src/core/database/records/model-records.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { storeDividends } from '../../src/core/database/splits-and-dividends.ts';
import { addCoverage, storeBars } from '../../src/core/database/prices.ts';
import {
  coverageSpans,
  knownSymbols,
  storedDividends,
  symbolPrices,
} from '../../src/features/coverage/queries.ts';
import { gapsBetween } from '../../src/core/prices/needs.ts';
import { SEED } from '../support/schema-rows.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { readPrices } from '../support/prices.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

const ASKED = { enabled: true, openai_api_key: 'sk-secret' };
const configuration = {
  models: [
    { signature: 'model-b', name: 'Model B', basemodel: 'vendor/b', ...ASKED },
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
  const run = async (start: string, end: string, models: string[]) => {
    const request = { start_date: `2025-11-${start}`, end_date: `2025-11-${end}`, models };
    jobs.push(await runJobHere(service, script, request));
  };
  await run('10', '12', ['model-b', 'model-a']);
  await run('11', '11', ['stranger', 'model-a']);
  await run('08', '10', ['zero']);
  // The clock was set back before the second job, which is the last one all the same.
  jobs[1].created_at = '2025-01-01T00:00:00.000Z';
  const set = 'created_at = ?1 WHERE job_id = ?2';
  for (const table of ['jobs', 'simulation_runs'])
    service.database
      .statement(`UPDATE ${table} SET ${set}`)
      .run(jobs[1].created_at, jobs[1].job_id);
});

test('models: those of the configuration in its order, then those named in jobs', async () => {
  const body = await validBody(service, '/models', modelsResponse);
  assert.deepEqual([body.count, body.configuration_error], [5, null]);
  assert.deepEqual(body.universes, ['control', 'small']);
  const rows = body.models.map((one) => [
    ...[one.signature, one.name, one.basemodel, one.enabled, one.configured],
    `${one.first_completed_date} ${one.last_completed_date} ${one.completed_model_days}`,
    ...[one.portfolio_value, jobs.findIndex(({ job_id }) => job_id === one.last_job?.job_id)],
  ]);
  assert.deepEqual(rows, [
    ['model-b', 'Model B', 'vendor/b', true, true, '2025-11-10 2025-11-11 2', 10_000, 0],
    ['model-a', null, 'model-a', true, true, '2025-11-10 2025-11-12 3', 10_050, 1],
    ['yardstick', null, 'baseline/momentum', false, true, 'null null 0', null, -1],
    ['stranger', null, null, false, false, '2025-11-11 2025-11-11 1', 10_000, 1],
    ['zero', null, null, false, false, '2025-11-10 2025-11-10 1', 10_000, 2],
  ]);
  const { job_id, status, created_at } = jobs[0];
  assert.deepEqual(body.models[0]?.last_job, { job_id, status, created_at });
  // Of families by their first job, whatever the configuration lists first.
  const orders = body.models.map(({ order }) => order);
  assert.deepEqual(orders, [0, 1, null, 2, 3]);
  const marked = body.models
    .slice(0, 3)
    .map(
      (one) => `${one.knowledge_cutoff} ${one.model_days_before_cutoff} ${one.entry?.basemodel}`,
    );
  assert.deepEqual(marked, ['null 0 vendor/b', '2025-11-11 2 model-a', 'null 0 undefined']);
  assert.ok(!JSON.stringify(body).includes('secret'));
});

test('models: all runs of an entry have its order, also where another run was first', (t) => {
  const database = openDatabase(':memory:', { durability: 'process-end' });
  t.after(() => database.close());
  for (const sql of SEED) database.statement(sql).run();
  const RUN = `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
    VALUES ('j', ?, ?, '2025-01-06', 't', '{}', ?)`;
  ['b#2 b', 'a a', 'b b'].forEach((run, index) => {
    const [model = '', family = ''] = run.split(' ');
    database.statement(RUN).run(model, index + 1, family);
  });
  assert.deepEqual(
    Object.fromEntries(
      familyOrder(
        database,
        knownRuns(database).map(({ model }) => model),
      ),
    ),
    { m: 0, b: 1, a: 2 },
  );
});

test('models: an unreadable configuration is reported, and the models named in jobs are still listed', async () => {
  const path = service.settings.configurationPath;
  const wrong = '{"models":[{"signature":5}]}';
  for (const [spoil, message] of [
    [() => rmSync(path), /^Server configuration file not found: /],
    [() => writeFileSync(path, wrong), /models\[0\]\.signature: expected a string/],
  ] as const) {
    spoil();
    const { status, body } = await service.get('/models');
    assert.equal(status, 200);
    assert.match(body.configuration_error, message);
    const named = body.models.map((one: any) => `${one.signature} ${one.configured}`);
    assert.equal(named.join(), 'model-a false,model-b false,stranger false,zero false');
  }
  writeFileSync(path, JSON.stringify({ ...configuration, universes: { added: ['AAPL'] } }));
  assert.deepEqual((await service.get('/models')).body.universes, ['added']);
  writeFileSync(path, JSON.stringify(configuration));
  assert.deepEqual((await service.get('/models')).body.universes, ['control', 'small']);
});

/** Spans of November 2025, as days, and the gaps between them with their weekdays. */
const gaps: [spans: string, gaps: string][] = [
  ['', ''],
  ['03 07', ''],
  ['03 07, 17 21', '08 16 5'],
  ['03 07, 10 14', ''],
  ['03 28, 10 14, 29 30', ''],
  ['03 03, 05 05, 07 07', '04 04 1, 06 06 1'],
];
test('gaps between spans', () => {
  const dateOf = (day = '') => `2025-11-${day}`;
  for (const [text, expected] of gaps) {
    const spans = text === '' ? [] : text.split(', ').map((span) => span.split(' ').map(dateOf));
    const read = spans.map(([startDate = '', endDate = '']) => ({ startDate, endDate }));
    const found = gapsBetween(read).map(
      ({ startDate, endDate, weekdays }) =>
        `${startDate.slice(-2)} ${endDate.slice(-2)} ${weekdays}`,
    );
    assert.equal(found.join(', '), expected, text);
  }
});

test('coverage: per symbol its bars, spans, gaps and last download', async (t) => {
  const priced = await startTestService(t, { configuration });
  const [early, late] = ['2025-10-01T00:00:00.000Z', '2025-11-30T00:00:00.000Z'];
  storeBars(priced.database, readPrices(PRICES), { source: 'alpha-vantage' });
  type Source = 'csv' | 'alpha-vantage';
  const cover = (symbol: string, dates: string, [source, recordedAt]: [Source, string]) => {
    const [startDate = '', endDate = ''] = dates.split(' ');
    addCoverage(priced.database, { symbol, startDate, endDate }, { source, recordedAt });
  };
  cover('AAPL', '2025-11-10 2025-11-12', ['alpha-vantage', late]);
  cover('AAPL', '2025-10-01 2025-10-31', ['csv', early]);
  const dividends = [
    { symbol: 'AAPL', exDate: '2025-10-10', cash: 260_000 },
    { symbol: 'AAPL', exDate: '2025-07-11', cash: 1 },
  ];
  const spans = [
    { symbol: 'AAPL', startDate: '2025-07-01', endDate: '2025-10-31' },
    { symbol: 'AAPL', startDate: '2025-11-10', endDate: '2025-11-12' },
  ];
  const stamp = { source: 'massive', recordedAt: late };
  storeDividends(priced.database, { dividends, spans, basis: 'as_paid' }, stamp);
  cover('GONE', '2025-10-01 2025-10-31', ['alpha-vantage', early]);
  priced.database
    .statement(`INSERT INTO price_data (symbol, date, open) VALUES ('BARE', '2025-11-10', 5)`)
    .run();

  const body = await validBody(priced, '/prices/coverage', coverageResponse);
  const spansIn = (list: any[]) =>
    list.map((one) => `${one.source} ${one.start_date} ${one.end_date} ${one.recorded_at}`).join();
  const gapsIn = (list: any[]) =>
    list.map((one) => `${one.start_date} ${one.end_date} ${one.weekdays}`).join();
  const wordsOf = ({ dividends: paid, ...one }: any) => [
    `${one.symbol} ${one.source} ${one.first_bar} ${one.last_bar} ${one.last_download}`,
    `${spansIn(one.spans)}; ${gapsIn(one.gaps)}`,
    `${paid.count} ${paid.last_ex_date} ${spansIn(paid.spans)}; ${gapsIn(paid.gaps)}`,
  ];
  const gap = '2025-11-01 2025-11-09 5';
  const apple = [
    `AAPL alpha-vantage 2025-11-10 2025-11-12 ${late}`,
    `csv 2025-10-01 2025-10-31 ${early},alpha-vantage 2025-11-10 2025-11-12 ${late}; ${gap}`,
    `2 2025-10-10 massive 2025-07-01 2025-10-31 ${late},massive 2025-11-10 2025-11-12 ${late}; ${gap}`,
  ];
  const bare = ['BARE manual 2025-11-10 2025-11-10 null', '; ', '0 null ; '];
  const span = `alpha-vantage 2025-10-01 2025-10-31 ${early}; `;
  const gone = [`GONE null null null ${early}`, span, '0 null ; '];
  assert.deepEqual([body.symbols.map(wordsOf), body.count], [[apple, bare, gone], 3]);
  assert.deepEqual(new Set(body.symbols.map(({ bars }) => bars)), new Set([null]));
  for (const [symbol, words, bars] of [
    ['%20aapl', apple, 3],
    ['GONE', gone, 0],
  ] as const) {
    const { symbols } = (await priced.get(`/prices/coverage?symbol=${symbol}`)).body;
    assert.deepEqual([symbols.map(wordsOf), symbols[0].bars], [[words], bars]);
  }
  for (const [query, symbols] of [
    ['date=2025-11-10', 'AAPL,BARE'],
    ['date=2025-11-11', 'AAPL'],
    ['date=2025-11-11&symbol=BARE', ''],
    ['date=2025-10-15', ''], // covered, but without a bar
    ['symbol=NONE', ''],
  ] as const) {
    const found = (await priced.get(`/prices/coverage?${query}`)).body.symbols;
    assert.equal(found.map(({ symbol }: any) => symbol).join(), symbols, query);
  }
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
  const lines = spans.map((span: any) => `${span.source} ${span.start_date} ${span.end_date}`);
  assert.deepEqual(lines, ['csv 1900-01-01 2025-10-31', 'other 2025-11-07 2025-11-10']);
  assert.deepEqual(gaps, [{ start_date: '2025-11-01', end_date: '2025-11-06', weekdays: 4 }]);
  const { count, last_ex_date } = body.symbols[0].dividends;
  assert.deepEqual([count, last_ex_date], [1, '2025-10-10']);
  const [old] = (await priced.get('/prices/coverage?symbol=OLD')).body.symbols;
  assert.deepEqual([old.first_bar, old.spans], [null, []]);
});

test('coverage of a whole market: each symbol once, by name; of an empty one none', async (t) => {
  const priced = await startTestService(t, { configuration });
  const symbolsOf = async (query: string) =>
    (await priced.get(`/prices/coverage${query}`)).body.symbols.map(({ symbol }: any) => symbol);
  assert.deepEqual(await symbolsOf(''), []);
  const names = Array.from({ length: 250 }, (_none, index) => `S${1_001 + index}`);
  const bars = readPrices(names.map((name) => `${name} 2025-11-10 1 1`).join('\n'));
  storeBars(priced.database, bars, { source: 'csv' });
  const covered = names.filter((_, index) => index % 2).flatMap((name) => [name, `${name}X`]);
  for (const symbol of covered) {
    const span = { symbol, startDate: '2025-11-10', endDate: '2025-11-10' };
    addCoverage(priced.database, span, { source: 'csv', recordedAt: 't' });
  }
  assert.deepEqual(await symbolsOf(''), [...new Set([...names, ...covered])].sort());
  assert.deepEqual(await symbolsOf('?date=2025-11-10'), names);
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
  for (const { model } of knownRuns(watched)) findModel(watched, model);
  const plans = texts.map((sql) => database.statement(`EXPLAIN QUERY PLAN ${sql}`));
  const steps = plans.flatMap((plan, index) =>
    plan.all(...(texts[index]?.includes('?1') ? [null] : [])),
  );
  const details = steps.map(({ detail }) => String(detail));
  assert.match(details.join('\n'), /^SEARCH price_data/m);
  assert.match(details.join('\n'), /USING COVERING INDEX one_active_generation/);
  const whole =
    /^SCAN (price_data|dividends|positions|holdings|trading_sessions)( |$)(?!USING COVERING)/;
  const found = details.find((detail) => whole.test(detail));
  assert.equal(found, undefined);
});
