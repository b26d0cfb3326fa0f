import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { staleNow } from '../support/stale.ts';
import { rowsAsText } from '../support/tables.ts';
import { tableOf } from '../support/text-table.ts';
import { temporaryFolder } from '../support/folder.ts';

const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103
  AAPL 2025-11-12 104 105`;
const configuration = {
  models: [{ signature: 'model-a', enabled: true }],
  agent_config: { stock_symbols: ['AAPL'] },
};
const buy = (amount: number): [string, unknown][][] => [[['buy', { symbol: 'AAPL', amount }]]];
const WEEK = { start_date: '2025-11-10', end_date: '2025-11-12' };
const TUESDAY = { start_date: '2025-11-11', end_date: '2025-11-11' };

/** Services one after another on one database, each with models that follow another script. */
function sequence(t: Parameters<typeof startTestService>[0]) {
  const folder = temporaryFolder();
  let prices: string | undefined = PRICES;
  return async (script: Script): Promise<TestService> => {
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
  const statusesOf = (table: string) =>
    rowsAsText(service.database, `SELECT status, count(*) FROM ${table} GROUP BY 1 ORDER BY 1`);
  assert.deepEqual(statusesOf('simulation_runs'), ['active 1', 'superseded 1']);
  assert.deepEqual(statusesOf('trading_sessions'), ['active 3', 'superseded 3']);
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
  assert.match(
    String(status.warnings),
    /^1 model-day is stale, [^;]*: model-a 2025-11-11; 1 later model-day rests on it; npx trading-simulation-service trigger --start 2025-11-11 --end 2025-11-12 --models model-a --terms-of \S+ --replace runs them again$/,
  );
});

/** The trigger's warning, and that of the job's end. */
const SAID_AND_STALE =
  /stale: 1 model-day of model-a from 2025-11-12 on\. .*,1 model-day is stale, [^;]*: model-a 2025-11-12; npx trading-simulation-service trigger --start 2025-11-12 --end 2025-11-12 --models model-a --terms-of \S+ --replace runs it again$/;

type Request = Record<string, unknown>;
const rests: [what: string, before: Script, request: Request, later: Request][] = [
  ['replacing a middle date', {}, WEEK, { ...TUESDAY, replace_existing: true }],
  ['filling in an earlier day', {}, { ...WEEK, start_date: WEEK.end_date }, TUESDAY],
  ['repeating a failed day', { 'model-a 2025-11-11': [[['fail', 'no']]] }, WEEK, TUESDAY],
];
for (const [what, before, request, later] of rests)
  test(`${what} makes the next one stale`, async (t) => {
    const next = sequence(t);
    let service = await next({ '*': buy(1), ...before });
    assert.equal((await service.runJob(request)).warnings, null);
    await service.stop();
    service = await next({ '*': buy(5) });
    const { status, warnings } = await service.runJob(later);
    assert.equal(status, 'completed');
    assert.match(String(warnings), SAID_AND_STALE);
  });

const SPLIT = 'INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES';
const lateNews = tableOf<[name: string, sql: string, stale: string]>(`
  another close of a day that held shares    | UPDATE price_data SET close = 50 WHERE date = '2025-11-11' | model-a 2025-11-11
  another open of a day that traded          | UPDATE price_data SET open = 50 WHERE date = '2025-11-10' | model-a 2025-11-10
  another volume                             | UPDATE price_data SET volume = 50 |
  a price of a symbol that was not held      | INSERT INTO price_data (symbol, date, open) VALUES ('MSFT', '2025-11-11', 7) |
  a split that was in force                  | ${SPLIT} ('AAPL', '2025-11-11', 2, 1) | model-a 2025-11-11
  a split of a day before anything was held  | ${SPLIT} ('AAPL', '2025-11-10', 2, 1) |
  a dividend that was due                    | INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES ('AAPL', '2025-11-11', 1) | model-a 2025-11-11
`);
test('what is learned late makes the days stale that rest on it', async (t) => {
  const service = await sequence(t)({ 'model-a 2025-11-10': buy(1) });
  await service.runJob({ ...WEEK, end_date: TUESDAY.end_date });
  const { database } = service;
  for (const [name, sql, stale] of lateNews) {
    database.statement('SAVEPOINT known').run();
    database.statement(sql).run();
    assert.equal(staleNow(database).join(), stale, name);
    database.statement('ROLLBACK TO known').run();
    database.statement('RELEASE known').run();
  }
});
