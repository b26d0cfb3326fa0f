import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { activeSessions, type SessionFilters } from '../../src/database/session-filters.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { sessionPieces } from '../../src/database/records/reasoning.ts';
import { resultRecords } from '../../src/database/records/results.ts';
import { modelDaysOf } from '../../src/database/records/status.ts';
import { fillWithModelDays } from '../support/model-days.ts';
import { temporaryFolder } from '../support/service.ts';

/** 260 model-days. */
const SIZE = { models: 4, days: 65, positionsPerDay: 2 };
const SESSIONS = SIZE.models * SIZE.days;

function modelDays(t: TestContext, size = SIZE): CommandDatabase {
  const path = join(temporaryFolder(t), 'jobs.db');
  fillWithModelDays(path, size);
  const database = openDatabase(path, { durability: 'process-end' });
  t.after(() => database.close());
  return database;
}

const activeIds = (database: CommandDatabase) =>
  database
    .statement(
      `SELECT position_id AS id FROM trading_sessions JOIN positions USING (session_id) WHERE status = 'active'
       ORDER BY date, model, action_id`,
    )
    .all()
    .map(({ id }) => Number(id));

test('reasoning shows the sessions that ran or had failed in that state, for model-days without a committed one', (t) => {
  const database = modelDays(t);
  const [last] = database
    .statement('SELECT max(date) AS date FROM trading_sessions')
    .all()
    .map(({ date }) => String(date));
  const insert = (model: string, status: string) => {
    const ended = [status === 'running' ? null : 't', status === 'failed' ? 'broken' : null];
    database
      .statement(
        `INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, started_at, completed_at, error, wording)
         SELECT job_id, ?1, ?2, ?3, 5, 't', ?4, ?5, 1 FROM trading_sessions WHERE date = ?1 LIMIT 1`,
      )
      .run(last as string, model, status, ...(ended as [string, string]));
    return Number(database.statement('SELECT last_insert_rowid() AS id').get()?.['id']);
  };
  database.statement(`DELETE FROM tool_usage`).run();
  database.statement(`DELETE FROM holdings`).run();
  database.statement(`DELETE FROM positions`).run();
  const old = database
    .statement(`SELECT session_id AS id, model FROM trading_sessions WHERE date = ? ORDER BY model`)
    .all(last as string);
  const idOf = (model: string) => Number(old.find((row) => row['model'] === model)?.['id']);
  // Of model-1 nothing counts: one attempt failed, another runs. An attempt at model-2 failed, and
  // its old session counts.
  database
    .statement(
      `UPDATE trading_sessions SET status = 'failed', error = 'broken' WHERE session_id = ?`,
    )
    .run(idOf('model-1'));
  const running = insert('model-1', 'running');
  insert('model-2', 'failed');
  const shown = () =>
    JSON.parse(
      `[${[...sessionPieces(database, { startDate: '2015-01-06' }, { conversation: true })].map((pieces) => [...pieces].join(''))}]`,
    ) as { session_id: number; conversation: unknown[] }[];
  const idsShown = () => shown().map(({ session_id }) => session_id);
  const expected = [idOf('model-0'), idOf('model-1'), running, idOf('model-2'), idOf('model-3')];
  assert.deepEqual(idsShown().slice(-5), expected);
  assert.equal(idsShown().length, SESSIONS - SIZE.models + 1);
  // The running one is committed, and the job of model-2's is discarded.
  database
    .statement(
      `UPDATE trading_sessions SET status = 'active', completed_at = 't', wording = 1 WHERE session_id = ?`,
    )
    .run(running);
  assert.deepEqual(idsShown().slice(-4), [
    idOf('model-0'),
    running,
    idOf('model-2'),
    idOf('model-3'),
  ]);
  database
    .statement(`UPDATE trading_sessions SET status = 'superseded' WHERE session_id = ?`)
    .run(idOf('model-2'));
  assert.ok(idsShown().length === SESSIONS - SIZE.models, 'the failed attempt is shown instead');
  database.statement(`UPDATE jobs SET status = 'discarded', completed_at = 't'`).run();
  assert.deepEqual(idsShown().slice(-3), [idOf('model-0'), running, idOf('model-3')]);
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
    plans.push(...plan.map(({ detail }) => String(detail)));
    return database.statement(sql, rows);
  };
  for (const [, given] of filters) {
    const watched = { ...database, statement };
    for (const _ of resultRecords(watched, given));
    for (const pieces of sessionPieces(watched, given, { conversation: true })) [...pieces];
    for (const _ of modelDaysOf(watched, 'bench-0000'));
    for (const _ of activeSessions(watched, given));
  }
  assert.ok(plans.some((detail) => detail.includes('sessions_in_answer_order')));
  assert.deepEqual(
    plans.filter((detail) => detail === 'USE TEMP B-TREE FOR ORDER BY'),
    [],
  );
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
  assert.deepEqual(
    session.positions.map((position: { action_id: number }) => position.action_id),
    Array.from({ length: actions }, (_, index) => index + 1),
  );
  assert.deepEqual(
    session.conversation.map((message: { message_index: number }) => message.message_index),
    Array.from({ length: 20 }, (_, index) => index),
  );
  assert.ok(
    Math.max(...pieces.map(({ length }) => length)) < 100_000,
    'a piece has a part of the conversation',
  );
});

const filters: [name: string, filters: SessionFilters, where: string][] = [
  ['all', {}, 'true'],
  ['a job', { jobId: 'bench-0001' }, `job_id = 'bench-0001'`],
  ['a model', { model: 'model-2' }, `model = 'model-2'`],
  [
    'a job and a model',
    { jobId: 'bench-0001', model: 'model-2' },
    `job_id = 'bench-0001' AND model = 'model-2'`,
  ],
  ['a date', { startDate: '2015-02-03', endDate: '2015-02-03' }, `date = '2015-02-03'`],
  ['from a date', { startDate: '2015-02-03' }, `date >= '2015-02-03'`],
  [
    'to a date',
    { endDate: '2015-02-03', model: 'model-1' },
    `date <= '2015-02-03' AND model = 'model-1'`,
  ],
  [
    'a range of a job',
    { jobId: 'bench-0002', startDate: '2015-03-04', endDate: '2015-03-09' },
    `job_id = 'bench-0002' AND date BETWEEN '2015-03-04' AND '2015-03-09'`,
  ],
  ['nothing', { model: 'stranger' }, 'false'],
];
test('filters select what they name, in the order of the response', (t) => {
  const database = modelDays(t);
  for (const [name, given, where] of filters) {
    const found = [...activeSessions(database, given)].map(({ sessionId }) => sessionId);
    const wanted = database
      .statement(
        `SELECT session_id AS id FROM trading_sessions WHERE ${where} ORDER BY date, model`,
      )
      .all();
    assert.deepEqual(
      found,
      wanted.map(({ id }) => id),
      name,
    );
  }
});
