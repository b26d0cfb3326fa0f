import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { activeSessions, type SessionFilters } from '../../src/core/database/session-filters.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { sessionPieces } from '../../src/core/database/records/session-records.ts';
import { resultRecords } from '../../src/core/database/records/position-records.ts';
import { jobModelDays } from '../../src/core/database/records/job-records.ts';
import { fillWithModelDays } from '../support/model-days.ts';
import { temporaryFolder } from '../support/folder.ts';

/** 260 model-days. */
const SIZE = { models: 4, days: 65, positionsPerDay: 2 };
const SESSIONS = SIZE.models * SIZE.days;

function modelDays(t: TestContext, size = SIZE): CommandDatabase {
  const path = join(temporaryFolder(), 'jobs.db');
  fillWithModelDays(path, size);
  const database = openDatabase(path, { durability: 'process-end' });
  t.after(() => database.close());
  return database;
}

/** The first column of a query. */
const idsIn = (database: CommandDatabase, sql: string, ...values: string[]) =>
  database
    .statement(sql, 'arrays')
    .all(...values)
    .map((row) => Object.values(row)[0]);

const activeIds = (database: CommandDatabase) =>
  idsIn(
    database,
    `SELECT position_id FROM trading_sessions JOIN positions USING (session_id) WHERE status = 'active'
     ORDER BY date, model, action_id`,
  );

test('reasoning shows the sessions that ran or had failed in that state, for model-days without a committed one', (t) => {
  const database = modelDays(t);
  const run = (sql: string, ...values: (string | number)[]) =>
    Number(database.statement(sql).run(...values).lastInsertRowid);
  const [last] = idsIn(database, 'SELECT max(date) FROM trading_sessions') as [string];
  const insert = (model: string, status: string) => {
    const ended = [status === 'running' ? null : 't', status === 'failed' ? 'broken' : null];
    return run(
      `INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, started_at, completed_at, error, wording)
       SELECT job_id, ?1, ?2, ?3, 5, 't', ?4, ?5, 1 FROM trading_sessions WHERE date = ?1 LIMIT 1`,
      ...[last, model, status, ...(ended as [string, string])],
    );
  };
  for (const table of ['tool_usage', 'holdings', 'positions']) run(`DELETE FROM ${table}`);
  const ofLast = 'SELECT session_id FROM trading_sessions WHERE date = ? ORDER BY model';
  const old = idsIn(database, ofLast, last) as [number, number, number, number];
  const set = (id: number, values: string) =>
    run(`UPDATE trading_sessions SET ${values} WHERE session_id = ?`, id);
  // Of model-1 nothing counts: one attempt failed, another runs. An attempt at model-2 failed, and
  // its old session counts.
  set(old[1], `status = 'failed', error = 'broken'`);
  const running = insert('model-1', 'running');
  insert('model-2', 'failed');
  const idsShown = () => {
    const pieces = sessionPieces(database, { startDate: '2015-01-06' }, { conversation: true });
    const texts = [...pieces].map((own) => [...own].join(''));
    return texts.map((text): number => JSON.parse(text).session_id);
  };
  assert.deepEqual(idsShown().slice(-5), [old[0], old[1], running, old[2], old[3]]);
  assert.equal(idsShown().length, SESSIONS - SIZE.models + 1);
  // The running one is committed, and the job of model-2's is discarded.
  set(running, `status = 'active', completed_at = 't', wording = 1`);
  assert.deepEqual(idsShown().slice(-4), [old[0], running, old[2], old[3]]);
  set(old[2], `status = 'superseded'`);
  assert.equal(idsShown().length, SESSIONS - SIZE.models, 'the failed attempt is shown instead');
  run(`UPDATE jobs SET status = 'discarded', completed_at = 't'`);
  assert.deepEqual(idsShown().slice(-3), [old[0], running, old[3]]);
});

test('records come in order, whatever order SQLite would prefer', (t) => {
  const database = modelDays(t);
  const ids = () => [...resultRecords(database, {})].map(({ json }) => JSON.parse(json).id);
  assert.deepEqual(ids(), activeIds(database));
  database.statement('PRAGMA reverse_unordered_selects = ON').run();
  assert.deepEqual(ids(), activeIds(database), 'their order is asked for');
});

test('a long response is read row by row: no statement sorts all of it', (t) => {
  const database = modelDays(t);
  const plans: string[] = [];
  const statement: CommandDatabase['statement'] = (sql, rows) => {
    const plan = database.statement(`EXPLAIN QUERY PLAN ${sql}`).all();
    // What a list within a row sorts is that row's.
    plans.push(...plan.filter(({ parent }) => parent === 0).map(({ detail }) => String(detail)));
    return database.statement(sql, rows);
  };
  for (const [given] of filters) {
    const watched = { ...database, statement };
    for (const _ of resultRecords(watched, given));
    for (const pieces of sessionPieces(watched, given, { conversation: true })) [...pieces];
    for (const _ of jobModelDays(watched, 'bench-0000'));
    for (const _ of activeSessions(watched, given));
  }
  assert.ok(plans.some((detail) => detail.includes('sessions_in_answer_order')));
  assert.ok(!plans.includes('USE TEMP B-TREE FOR ORDER BY'));
});

test('a model-day of many positions and long messages has all of them, in order', (t) => {
  const database = modelDays(t, { models: 1, days: 2, positionsPerDay: 2 });
  const actions = 150;
  database
    .statement(
      `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4)
       WITH RECURSIVE actions (value) AS (SELECT 3 UNION ALL SELECT value + 1 FROM actions WHERE value < ?)
       SELECT 1, value, 'buy', 'AAPL', 1, 1, 5, 5, 0 FROM actions`,
    )
    .run(actions);
  const insert = database.statement(
    `INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp) VALUES (1, ?, 'user', ?, 't')`,
  );
  for (let index = 1; index < 20; index += 1) insert.run(index, `${'x'.repeat(20_000)}${index}`);
  const records = [...resultRecords(database, {})].map(({ json }) => JSON.parse(json).id);
  assert.deepEqual(records, activeIds(database));
  const [first] = sessionPieces(database, {}, { conversation: true });
  const pieces = [...(first ?? [])];
  const session = JSON.parse(pieces.join(''));
  const upTo = (count: number, first: number) =>
    Array.from({ length: count }, (_, index) => index + first);
  const actionIds = session.positions.map((own: { action_id: number }) => own.action_id);
  assert.deepEqual(actionIds, upTo(actions, 1));
  const places = session.conversation.map((own: { message_index: number }) => own.message_index);
  assert.deepEqual(places, upTo(20, 0));
  const longest = Math.max(...pieces.map(({ length }) => length));
  assert.ok(longest < 100_000, 'a piece has a part of the conversation');
});

const DAY = '2015-02-03';
const filters: [filters: SessionFilters, where: string][] = [
  [{}, 'true'],
  [{ jobId: 'bench-0001' }, `job_id = 'bench-0001'`],
  [{ model: 'model-2' }, `model = 'model-2'`],
  [{ jobId: 'bench-0001', model: 'model-2' }, `job_id = 'bench-0001' AND model = 'model-2'`],
  [{ startDate: DAY, endDate: DAY }, `date = '${DAY}'`],
  [{ startDate: DAY }, `date >= '${DAY}'`],
  [{ endDate: DAY, model: 'model-1' }, `date <= '${DAY}' AND model = 'model-1'`],
  [
    { jobId: 'bench-0002', startDate: '2015-03-04', endDate: '2015-03-09' },
    `job_id = 'bench-0002' AND date BETWEEN '2015-03-04' AND '2015-03-09'`,
  ],
  [{ model: 'stranger' }, 'false'],
];
test('filters select what they name, in the order of the response', (t) => {
  const database = modelDays(t);
  for (const [given, where] of filters) {
    const found = [...activeSessions(database, given)].map(({ sessionId }) => sessionId);
    const wanted = `SELECT session_id FROM trading_sessions WHERE ${where} ORDER BY date, model`;
    assert.deepEqual(found, idsIn(database, wanted), where);
  }
});
