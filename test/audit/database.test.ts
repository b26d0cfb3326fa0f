import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { audit, auditLedger, emptyReport, isSound } from '../../src/audit/audit.ts';
import { openDatabase } from '../../src/database/database.ts';
import { fourDays, linesOf } from '../support/books.ts';
import { temporaryFolder } from '../support/service.ts';

/** What is done to a whole database, and what the audit says of it. */
const faulty: [name: string, sql: string, damage: string[], problems: string[]][] = [
  ['nothing', '', [], []],
  [
    'a position that is gone while its holdings are there',
    'DELETE FROM positions WHERE position_id = 7',
    ['a row of holdings refers to a row of positions that is not there'],
    ['2025-01-08: buy records: 0, executed buy orders: 1', '2025-01-08: it has no trade and 0 no_trade records'],
  ],
  [
    'a session that is gone',
    'DELETE FROM trading_sessions WHERE session_id = 3',
    [
      'row 5 of positions refers to a row of trading_sessions that is not there',
      'row 4 of trading_sessions refers to a row of trading_sessions that is not there',
    ],
    [
      '2025-01-08: it started from session 3, which is not there',
      '2025-01-07 (missing): it is completed in job job-3 and has no session with positions there',
    ],
  ],
  [
    'figures that break a constraint',
    'PRAGMA ignore_check_constraints = ON; UPDATE positions SET cash_e4 = -1 WHERE position_id = 5',
    ['CHECK constraint failed in positions'],
    ['2025-01-07: action 1: cash is -0.0001, should be 8,770.00'],
  ],
  [
    'a failed session that has positions',
    `UPDATE trading_sessions SET status = 'failed', error = 'x' WHERE session_id = 4`,
    [],
    [
      '2025-01-08 (failed): it is failed and has positions',
      '2025-01-08 (missing): it is completed in job job-4 and has no session with positions there',
    ],
  ],
  [
    'a model-day that is not completed in its job',
    `UPDATE job_details SET status = 'failed', error = 'x' WHERE job_id = 'job-4'`,
    [],
    ['2025-01-08: its model-day in job job-4 is failed, not completed'],
  ],
];
for (const [name, sql, damage, problems] of faulty) {
  test(`a database with a fault: ${name}`, async (t) => {
    const path = join(temporaryFolder(t), 'jobs.db');
    const { database } = await fourDays(path);
    database.statement('PRAGMA foreign_keys = OFF').run();
    for (const statement of sql.split(';')) if (statement !== '') database.statement(statement).run();
    const report = await audit(path);
    assert.deepEqual([...new Set(report.damage)].sort(), damage.sort());
    assert.deepEqual(
      linesOf(report.problems.first),
      problems.map((problem) => `model-a ${problem}`),
    );
    assert.equal(isSound(report), sql === '');
    database.close();
  });
}

test('superseded days are recomputed as far as active ones go back to them', async () => {
  const { database, day } = await fourDays();
  await day('2025-01-07', [['buy', 'AAPL', 2]]);
  const reportNow = async () => {
    const report = emptyReport();
    await auditLedger(database, report, () => {});
    return [report.modelDays, report.supersededModelDays, linesOf(report.problems.first)];
  };
  // Of Tuesday's two generations Wednesday started from the first.
  assert.deepEqual(await reportNow(), [4, 1, []]);
  database.statement('UPDATE positions SET cash_e4 = cash_e4 + 10000 WHERE session_id = 3').run();
  assert.deepEqual(await reportNow(), [
    4,
    1,
    ['model-a 2025-01-07 (superseded): action 1: cash is 8,771.00, should be 8,770.00'],
  ]);
  await day('2025-01-08');
  assert.deepEqual(await reportNow(), [4, 0, []]);
});

test('the audit leaves no trace, whether somebody has the database open or not', async (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const { database } = await fourDays(path);
  database.close();
  const state = () => [readdirSync(dirname(path)), readFileSync(path)];
  const before = state();
  assert.equal(isSound(await audit(path)), true);
  assert.deepEqual(state(), before);
  const open = openDatabase(path);
  const beside = state();
  assert.equal(isSound(await audit(path)), true);
  assert.deepEqual(state(), beside);
  open.close();
});

test('it tells how far it is, and lists are bounded', async (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const { database, day } = await fourDays(path);
  for (let index = 0; index < 100; index += 1) await day('2025-01-08', [], `model-${index}`);
  database.statement('UPDATE positions SET daily_profit_e4 = 7').run();
  const seen: number[] = [];
  const report = await audit(path, (done, total) => seen.push(done, total));
  assert.ok(seen.length >= 2 && seen.every((figure) => figure <= 104));
  assert.deepEqual([report.modelDays, report.positions, report.models], [104, 107, 101]);
  assert.ok(report.problems.total >= 103);
  database.close();
});
