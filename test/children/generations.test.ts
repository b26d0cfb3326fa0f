import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { type TestService, startTestService, temporaryFolder } from '../support/service.ts';

const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103
  AAPL 2025-11-12 104 105`;
const configuration = {
  models: [{ signature: 'model-a', enabled: true }],
  agent_config: { stock_symbols: ['AAPL'] },
};
/** The end of a warning of one stale day, the model's last. */
const lastIsStale = (date: string, before = '') =>
  new RegExp(
    `^${before}1 stale model-day, [^;]*: model-a ${date}; trigger --start ${date} --end ${date} --models model-a --replace runs it again$`,
  );
const buy = (amount: number): [string, unknown][][] => [[['buy', { symbol: 'AAPL', amount }]]];
const WEEK = { start_date: '2025-11-10', end_date: '2025-11-12' };
const TUESDAY = { start_date: '2025-11-11', end_date: '2025-11-11' };

/** Services one after another on one database, each with models that follow another script. */
function sequence(t: Parameters<typeof startTestService>[0]) {
  const folder = temporaryFolder(t);
  let prices: string | undefined = PRICES;
  return async (script: Parameters<typeof scriptedAgent>[0]): Promise<TestService> => {
    const service = await startTestService(t, {
      folder,
      configuration,
      agent: scriptedAgent(script),
      ...(prices !== undefined && { prices }),
    });
    prices = undefined;
    return service;
  };
}

test('replacing swaps generations: one active, the old one kept but in no response', async (t) => {
  const next = sequence(t);
  let service = await next({ '*': buy(1) });
  const old = await service.runJob(WEEK);
  await service.stop();
  service = await next({ '*': buy(2) });
  const replaced = await service.runJob({ ...WEEK, replace_existing: true });
  assert.deepEqual([replaced.status, replaced.warnings], ['completed', null]);
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 buy AAPL 2 100 => 9800 10002 2 AAPL:2
      2025-11-11 buy AAPL 2 102 => 9596 10008 6 AAPL:4
      2025-11-12 buy AAPL 2 104 => 9388 10018 10 AAPL:6`),
  );
  assert.equal((await service.get('/results')).body.count, 3);
  assert.equal((await service.get(`/results?job_id=${old.job_id}`)).body.count, 0);
  assert.equal((await service.get('/reasoning')).body.count, 3);
  assert.equal((await service.get(`/reasoning?job_id=${old.job_id}`)).status, 404);
  const kept = service.database
    .statement(`SELECT status, count(*) AS count FROM trading_sessions GROUP BY status`)
    .all();
  assert.deepEqual(
    kept.map((row) => ({ ...row })),
    [
      { status: 'active', count: 3 },
      { status: 'superseded', count: 3 },
    ],
  );
  const runs = service.database
    .statement(`SELECT status FROM simulation_runs ORDER BY run_id`)
    .all();
  assert.deepEqual(
    runs.map((row) => row['status']),
    ['superseded', 'active'],
  );
});

test('a failed replacement leaves the old generation in place, and later dates continue from it', async (t) => {
  const next = sequence(t);
  let service = await next({ '*': buy(1) });
  await service.runJob(WEEK);
  await service.stop();
  service = await next({ 'model-a 2025-11-11': [[['fail', 'no']]], '*': buy(2) });
  const status = await service.runJob({ ...WEEK, replace_existing: true });
  assert.equal(status.status, 'partial');
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 buy AAPL 2 100 => 9800 10002 2 AAPL:2
      2025-11-11 buy AAPL 1 102 => 9798 10004 3 AAPL:2
      2025-11-12 buy AAPL 2 104 => 9590 10010 6 AAPL:4`),
  );
  assert.deepEqual(status.warnings, [
    '1 stale model-day, whose start, prices, splits or dividends have changed since: model-a 2025-11-11; ' +
      '1 later model-day rests on it; trigger --start 2025-11-11 --end 2025-11-12 --models model-a --replace runs them again',
  ]);
});

/** The trigger's warning, and that of the job's end. */
const SAID_AND_STALE = lastIsStale(
  '2025-11-12',
  '1 completed model-day of model-a from 2025-11-12 on will be stale .*,',
);

test('replacing a middle date makes the next one stale', async (t) => {
  const next = sequence(t);
  let service = await next({ '*': buy(1) });
  await service.runJob(WEEK);
  await service.stop();
  service = await next({ '*': buy(5) });
  const status = await service.runJob({ ...TUESDAY, replace_existing: true });
  assert.equal(status.status, 'completed');
  assert.match(String(status.warnings), SAID_AND_STALE);
});

test('filling in an earlier day makes the next one stale', async (t) => {
  const service = await sequence(t)({ '*': buy(1) });
  await service.runJob({ start_date: '2025-11-12', end_date: '2025-11-12' });
  const status = await service.runJob(TUESDAY);
  assert.match(String(status.warnings), SAID_AND_STALE);
});

test('repeating a failed day makes the next one stale', async (t) => {
  const next = sequence(t);
  let service = await next({ 'model-a 2025-11-11': [[['fail', 'no']]] });
  assert.equal((await service.runJob(WEEK)).warnings, null);
  await service.stop();
  service = await next({});
  const status = await service.runJob(TUESDAY);
  assert.match(String(status.warnings), SAID_AND_STALE);
});

const lateNews: [name: string, sql: string, stale: string | null][] = [
  [
    'another close of a day that held shares',
    `UPDATE price_data SET close = 50 WHERE date = '2025-11-11'`,
    '2025-11-11',
  ],
  [
    'another open of a day that traded',
    `UPDATE price_data SET open = 50 WHERE date = '2025-11-10'`,
    '2025-11-10',
  ],
  ['another volume', `UPDATE price_data SET volume = 50`, null],
  [
    'a price of a symbol that was not held',
    `INSERT INTO price_data (symbol, date, open) VALUES ('MSFT', '2025-11-11', 7)`,
    null,
  ],
  [
    'a split that was in force',
    `INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('AAPL', '2025-11-11', 2, 1)`,
    '2025-11-11',
  ],
  [
    'a split of a day before anything was held',
    `INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('AAPL', '2025-11-10', 2, 1)`,
    null,
  ],
  [
    'a dividend that was due',
    `INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES ('AAPL', '2025-11-11', 1)`,
    '2025-11-11',
  ],
];
for (const [name, sql, stale] of lateNews) {
  test(`learned late: ${name} makes ${stale === null ? 'nothing' : 'its day'} stale`, async (t) => {
    const service = await sequence(t)({ 'model-a 2025-11-10': buy(1) });
    await service.runJob(TUESDAY_AND_MONDAY);
    service.database.statement(sql).run();
    const { warnings } = await service.runJob(TUESDAY_AND_MONDAY);
    const found = (warnings as string[]).filter((warning) => warning.includes('stale'));
    if (stale === null) assert.deepEqual(found, []);
    else assert.match(found.join(), new RegExp(`: model-a ${stale}; .*trigger --start ${stale} `));
  });
}
const TUESDAY_AND_MONDAY = { start_date: '2025-11-10', end_date: '2025-11-11' };
