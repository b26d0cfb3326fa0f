import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { sumModelDays } from '../../src/database/records/job-sums.ts';
import { listedJob, nextJob } from '../../src/database/records/status.ts';
import { RECORDS_PER_STEP, portionsOf } from '../../src/database/records/results.ts';

const FULL = 100;
assert.equal(FULL, RECORDS_PER_STEP);

/** A database with sessions of so many positions each; their ids are counted from 1. */
function withPositions(counts: readonly number[]): { database: Database; sessions: { sessionId: number }[] } {
  const database = openDatabase(':memory:');
  database.statement('PRAGMA foreign_keys = OFF').get();
  const insert = database.statement(
    `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, created_at)
     WITH RECURSIVE actions (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM actions)
     SELECT ?1, value, 'buy', 'AAPL', 1, 1, 5, 5, 0, 't' FROM actions LIMIT ?2`,
  );
  const sessions = counts.map((_, index) => ({ sessionId: index + 1 }));
  for (const { sessionId } of sessions) insert.run(sessionId, counts[sessionId - 1] ?? 0);
  return { database, sessions };
}

/** Portions as text: `1,2:1-100` reads all of two sessions, `3:1-100…` a part of one; more of it follows. */
const portions: [name: string, counts: readonly number[], portions: readonly string[]][] = [
  ['none of none', [], []],
  ['sessions that fit together', [1, FULL - 2, 1], ['1,2,3:1-100']],
  ['a session that fits only by itself', [1, FULL, 1], ['1:1-100', '2:1-100', '3:1-100']],
  ['a session that would be the first to exceed a portion', [60, 41, 59], ['1:1-100', '2,3:1-100']],
  ['a session larger than a portion, between others', [2, 2 * FULL + 1, 2], ['1:1-100', '2:1-100…', '2:101-200…', '2:201-201', '3:1-100']],
  ['a session twice as large as a portion', [2 * FULL], ['1:1-100…', '1:101-200']],
  ['sessions without positions, which have none even if they are committed before they are read', [0, 1, 0, 0, 1], ['1:1-0', '2:1-100', '3:1-0', '4:1-0', '5:1-100']],
];
for (const [name, counts, expected] of portions) {
  test(`portions of ${name}`, () => {
    const { database, sessions } = withPositions(counts);
    const found = [...portionsOf(database, sessions)];
    assert.deepEqual(
      found.map(({ sessionIds, values: [ids, first, last], isFirst, isLast }) => {
        assert.deepEqual([JSON.parse(ids), first === 1], [sessionIds, isFirst]);
        return `${sessionIds.join(',')}:${first}-${last}${isLast ? '' : '…'}`;
      }),
      expected,
    );
    database.close();
  });
}

/** A job of some model-days in all statuses, with this cost in every third. */
function withModelDays(count: number, cost: string): Database {
  const database = openDatabase(':memory:');
  database.statement('PRAGMA foreign_keys = OFF').get();
  database
    .statement(
      `INSERT INTO jobs (job_id, status, dates, start_date, end_date, created_at, agent_config, replace_existing)
       SELECT 'job', 'running', json_group_array(value), '2025-01-01', '2025-01-02', 't', '{}', 0
       FROM (WITH RECURSIVE days (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM days) SELECT value FROM days LIMIT ?)`,
    )
    .run(count);
  database
    .statement(
      `INSERT INTO job_details (job_id, date, model, status, error, started_at, completed_at, steps, cost_usd)
       WITH RECURSIVE days (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM days LIMIT ?1),
         own AS (SELECT value, ('["completed","failed","skipped","skipped","pending"]' ->> (value % 5)) AS status FROM days)
       SELECT 'job', '2025-01-' || format('%02d', value % 28 + 1), 'model-' || value, status,
         iif(status = 'failed' OR status = 'skipped', iif(value % 5 = 2, 'Cancelled', 'why'), NULL), 't', iif(status = 'pending', NULL, 't'),
         value % 2, iif(value % 3 = 0, ${cost}, NULL)
       FROM own WHERE true`,
    )
    .run(count);
  database.statement(`INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at) VALUES ('job', 'one', 0, '2025-01-01', 't')`).run();
  return database;
}

const costs: [name: string, cost: string][] = [
  ['unknown costs', 'NULL'],
  ['costs of every size', '0.1 * value + 1e15 * (value % 7 = 0)'],
  ['an infinite cost', 'iif(value % 9 = 0, 9e999, 0.1)'],
];
for (const [name, cost] of costs) {
  test(`the model-days of a large job add up in steps to the same last digit: ${name}`, () => {
    const database = withModelDays(2_500, cost);
    const atOnce = [...withResult(sumModelDays(database, 'job', 2_500))];
    const inSteps = [...withResult(sumModelDays(database, 'job', 2_499))];
    assert.deepEqual(inSteps, [null, null, ...atOnce]);
    const next = nextJob(database, { before: null });
    assert(next !== undefined);
    const listed = [...withResult(listedJob(database, next, 2_500))];
    assert.deepEqual([...withResult(listedJob(database, next, 2_499))], [null, null, ...listed]);
  });
}

test('sums of a job whose status changes between two steps are taken again', () => {
  const database = withModelDays(1_500, '0.1');
  const sums = sumModelDays(database, 'job', 0);
  assert.equal(sums.next().value, null);
  database.statement(`UPDATE job_details SET status = 'completed', completed_at = 't' WHERE status = 'pending'`).run();
  database.statement(`UPDATE jobs SET status = 'completed', completed_at = 't'`).run();
  assert.deepEqual([...withResult(sums)], [null, ...withResult(sumModelDays(database, 'job'))]);
});

/** The steps of a generator, and then what it returns. */
function* withResult<Step, Result>(steps: Generator<Step, Result>): Generator<Step | Result> {
  yield yield* steps;
}
