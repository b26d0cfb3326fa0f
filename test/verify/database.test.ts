import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { auditDatabase, isSound } from '../../src/core/verify/database-audit.ts';
import { emptyAuditReport } from '../../src/core/verify/replay.ts';
import { queryInChildProcess } from '../../src/core/database/integrity.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { withSnapshot } from '../../src/core/database/snapshot.ts';
import { staleModelDays } from '../../src/core/database/stale.ts';
import { auditRoute } from '../../src/core/api/audit.ts';
import type { Context, Input, AsyncBody } from '../../src/core/api/handler.ts';
import { silentLog } from '../../src/core/process/log.ts';
import { readSettings } from '../../src/core/settings/settings.ts';
import { auditOf, fourDays, linesOf, replayOf } from '../support/books.ts';
import { childrenOf, noProc } from '../support/processes.ts';
import { inLongForm } from '../support/long.ts';
import { readDeeds } from '../support/tables.ts';
import { temporaryFolder } from '../support/folder.ts';

/** What is done to a whole database, its damage, and what else the audit says of it. */
const faulty = `
  a removed position
    DELETE FROM positions WHERE position_id = 7
    => 2025-01-08: positions 2: replayed, but not stored
  a removed session
    DELETE FROM trading_sessions WHERE session_id = 3
    => damage: a row of decisions refers to a row of trading_sessions that is missing
    => damage: a row of holdings refers to a row of trading_sessions that is missing
    => damage: a row of session_prices refers to a row of trading_sessions that is missing
    => damage: row 15 of reasoning_logs refers to a row of trading_sessions that is missing
    => damage: row 16 of reasoning_logs refers to a row of trading_sessions that is missing
    => damage: row 17 of reasoning_logs refers to a row of trading_sessions that is missing
    => damage: row 4 of trading_sessions refers to a row of trading_sessions that is missing
    => damage: row 5 of positions refers to a row of trading_sessions that is missing
    => 2025-01-08: it cannot be read: it started from session 3, which is not an earlier close of its model
    => 2025-01-07 (missing): it is completed in job job-3 and has no session with positions there
  figures that break a constraint
    PRAGMA ignore_check_constraints = ON
    UPDATE positions SET cash_e4 = -1 WHERE position_id = 7
    => damage: CHECK constraint failed in positions
    => 2025-01-08: positions 2, cash_e4: stored -1, replayed 86740000
  a failed session that has positions
    UPDATE trading_sessions SET status = 'failed', error = 'x' WHERE session_id = 4
    => 2025-01-08 (failed): it is failed and has positions
    => 2025-01-08 (missing): it is completed in job job-4 and has no session with positions there
  a model-day that is not completed in its job
    UPDATE job_details SET status = 'failed', error = 'x' WHERE job_id = 'job-4'
    => 2025-01-08: its model-day in job job-4 is failed, not completed`;
for (const { name, statements, said } of readDeeds(faulty)) {
  test(`a database with a fault: ${name}`, async () => {
    const path = join(temporaryFolder(), 'jobs.db');
    const { database } = await fourDays(path);
    database.statement('PRAGMA foreign_keys = OFF').run();
    for (const sql of statements) database.statement(sql).run();
    const report = await auditDatabase(path);
    const damage = [...new Set(report.damage)].sort().map((line) => `damage: ${line}`);
    const problems = linesOf(report.problems.first).map((line) => line.replace('model-a ', ''));
    assert.deepEqual([...damage, ...problems], said);
    assert.equal(isSound(report), false);
    assert.equal(
      isSound({ ...report, problems: emptyAuditReport().problems }),
      damage.length === 0,
    );
    database.close();
  });
}

test('replaced days are played again too, whether or not active ones depend on them', async () => {
  const { database, day } = await fourDays();
  await day('2025-01-07', [['buy', 'AAPL', 2]]);
  await day('2025-01-08');
  const reportNow = async () => {
    const { same, superseded, problems } = await replayOf(database);
    return [same, superseded, problems];
  };
  assert.deepEqual(await reportNow(), ['4 of 4', '2 of 2', []]);
  database.statement('UPDATE positions SET cash_e4 = cash_e4 + 10000 WHERE session_id = 3').run();
  const [same, superseded, [first]] = (await reportNow()) as [string, string, string[]];
  const said = 'positions 1, cash_e4: stored 87710000, replayed 87700000';
  assert.deepEqual([same, superseded], ['4 of 4', '0 of 2']);
  assert.equal(first, `model-a 2025-01-07 (superseded): ${said}`);
});

test('the audit leaves no trace, whether or not another program has the database open', async () => {
  const path = join(temporaryFolder(), 'jobs.db');
  const { database } = await fourDays(path);
  database.close();
  const state = () => [readdirSync(dirname(path)), readFileSync(path)];
  const before = state();
  const report = await auditDatabase(path);
  assert.deepEqual([report.damage, report.problems.first, isSound(report)], [[], [], true]);
  assert.deepEqual(state(), before);
  const open = openDatabase(path);
  const beside = state();
  assert.equal(isSound(await auditDatabase(path)), true);
  assert.deepEqual(state(), beside);
  open.close();
});

test('it reports its progress, and lists are bounded', inLongForm, async () => {
  const path = join(temporaryFolder(), 'jobs.db');
  const { database, day } = await fourDays(path);
  for (let index = 0; index < 100; index += 1) await day('2025-01-08', [], `model-${index}`);
  database.statement('UPDATE positions SET daily_profit_e4 = 7').run();
  const seen: number[] = [];
  const report = await auditDatabase(path, { onProgress: (done, total) => seen.push(done, total) });
  assert.ok(seen.length >= 2 && seen.every((figure) => figure <= 104));
  assert.deepEqual([report.modelDays, report.positions, report.models], [104, 107, 101]);
  assert.ok(report.problems.total >= 103);
  database.close();
});

test('only active days are stale, and of a list only the first are named', async () => {
  const { database, day, fail } = await fourDays();
  fail('2025-01-09');
  await day('2025-01-10');
  assert.deepEqual((await auditOf(database)).stale, []);
  await day('2025-01-06');
  assert.deepEqual((await auditOf(database)).stale, ['model-a 2025-01-07']);
  await day('2025-01-09');
  assert.deepEqual((await auditOf(database)).stale, ['model-a 2025-01-07', 'model-a 2025-01-10']);
  const { total, first } = staleModelDays(database, ['model-a'], { most: 1 });
  const dates = first.map(({ date }) => date);
  assert.deepEqual([total, dates], [2, ['2025-01-07']], 'the others are counted');
});

test('an audit is of one moment: what becomes stale while it runs is not stale in it', async (t) => {
  const path = join(temporaryFolder(), 'jobs.db');
  const books = await fourDays(path);
  t.after(() => books.database.close());
  let changes = 0;
  const onProgress = () => {
    if ((changes += 1) > 1) return;
    books.setBar('AAPL', '2025-01-07', { open: 1, close: 2 });
  };
  const during = await auditDatabase(path, { onProgress });
  assert.deepEqual([changes > 0, during.modelDays, during.stale.total], [true, 4, 0]);
  assert.ok((await auditDatabase(path)).stale.total > 0);
});

test('of a long list the first rows come from the separate process', async () => {
  const path = join(temporaryFolder(), 'jobs.db');
  openDatabase(path).close();
  const numbers = (upTo: number) =>
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${upTo}) SELECT n FROM numbers`;
  const queries = [numbers(3), numbers(1_001), 'SELECT n FROM missing'].map((sql) => ({ sql }));
  const results = await withSnapshot(path, (snapshot) =>
    queryInChildProcess(snapshot, queries, new AbortController().signal),
  );
  const found = results.map(({ first, error }) =>
    [first.length, ...Object.values(first.at(-1) ?? {}), error?.message].join(' '),
  );
  assert.deepEqual(found, ['3 3 ', '1000 1000 ', '0 no such table: missing']);
});

test('an audit ends with its signal: nothing is left running once it rejects', {
  skip: noProc,
}, async () => {
  const path = join(temporaryFolder(), 'jobs.db');
  (await fourDays(path)).database.close();
  const before = new Set(childrenOf(process.pid));
  const end = new AbortController();
  let looks = 0;
  const onProgress = () => {
    looks += 1;
    end.abort();
  };
  await assert.rejects(auditDatabase(path, { onProgress, signal: end.signal }), {
    name: 'AbortError',
  });
  assert.deepEqual([looks, childrenOf(process.pid).filter((pid) => !before.has(pid))], [1, []]);
});

/** What is made elsewhere, as a whole. */
async function textOf({ made }: AsyncBody): Promise<string> {
  return String((await made).bytes);
}

test('audits run one after another; one whose client leaves ends, and the others come to their end', async (t) => {
  const path = join(temporaryFolder(), 'jobs.db');
  const { database } = await fourDays(path);
  t.after(() => database.close());
  const settings = { ...readSettings({ DEPLOYMENT_MODE: 'DEV' }), databasePath: path };
  const context = { database, settings, log: silentLog } as unknown as Context; // unknown: an audit takes no more
  const ask = () => auditRoute.handle(context, { query: {} } as Input) as AsyncBody;
  const order: number[] = [];
  const [first, second, third] = [ask(), ask(), ask()].map((body, index) => {
    const text = textOf(body).finally(() => order.push(index));
    if (index !== 1) return text;
    body.end.abort(new DOMException('left', 'AbortError'));
    return assert.rejects(text, { name: 'AbortError' });
  });
  const [one, other] = await Promise.all([first, third, second]);
  assert.deepEqual(order, [0, 1, 2]);
  for (const text of [one, other]) assert.equal(JSON.parse(String(text)).status, 'sound');
});
