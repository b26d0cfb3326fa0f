import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import {
  committedSessions,
  lastChange,
  SESSIONS_PER_STEP,
  sessionsNow,
  visibleSessions,
} from '../../src/database/session-filters.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { sessionPieces } from '../../src/database/records/reasoning.ts';
import { CLOSINGS_PER_STEP } from '../../src/database/records/holdings.ts';
import { RECORDS_PER_STEP, resultRecords, resultRows } from '../../src/database/records/results.ts';
import { MODEL_DAYS_PER_STEP, modelDaysOf } from '../../src/database/records/status.ts';
import type { Context, Table } from '../../src/api/handler.ts';
import { holdings } from '../../src/api/holdings.ts';
import { performance } from '../../src/api/performance.ts';
import { readSettings } from '../../src/basics/settings.ts';
import { storedEntry } from '../support/jobs.ts';
import { fillWithModelDays } from '../support/model-days.ts';
import { temporaryFolder } from '../support/service.ts';

/** 260 model-days: more than are read in one step. */
const SIZE = { models: 4, days: 65, positionsPerDay: 2 };
const SESSIONS = SIZE.models * SIZE.days;

function modelDays(t: TestContext, size = SIZE): CommandDatabase {
  const path = join(temporaryFolder(t), 'jobs.db');
  fillWithModelDays(path, size);
  const database = openDatabase(path, { durability: 'process-end' });
  t.after(() => database.close());
  return database;
}

/**
 * Replaces what counts on a model-day, or adds a model-day; everything about it follows from the
 * session.
 */
function commit(database: CommandDatabase, model: string, date: string): void {
  database.transaction(() => {
    const [old] = database
      .statement(
        `UPDATE trading_sessions SET status = 'superseded' WHERE model = ? AND date = ? AND status = 'active' RETURNING job_id`,
      )
      .all(model, date);
    const jobId = (old?.['job_id'] as string | undefined) ?? 'bench-0000';
    database
      .statement(
        `INSERT OR IGNORE INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
         VALUES (?, ?, 9, '2015-01-05', 't', ?, ?)`,
      )
      .run(jobId, model, storedEntry(model), model);
    database
      .statement(
        `INSERT OR IGNORE INTO job_details (job_id, date, model, status, started_at, completed_at) VALUES (?, ?, ?, 'completed', 't', 't')`,
      )
      .run(jobId, date, model);
    const { lastInsertRowid } = database
      .statement(
        `INSERT INTO trading_sessions (job_id, date, model, initial_cash_e4, started_at) VALUES (?, ?, ?, 5, 't')`,
      )
      .run(jobId, date, model);
    database
      .statement(
        `UPDATE trading_sessions SET status = 'active', completed_at = 't', wording = 1 WHERE session_id = ?`,
      )
      .run(lastInsertRowid);
    database
      .statement(
        `INSERT INTO positions (session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4)
         VALUES (?, 1, 'no_trade', 5, 5, 0)`,
      )
      .run(lastInsertRowid);
  });
}

const ACTIVE = `SELECT position_id AS id FROM trading_sessions JOIN positions USING (session_id) WHERE status = 'active'
  ORDER BY date, model, action_id`;
const activeIds = (database: CommandDatabase) =>
  database
    .statement(ACTIVE)
    .all()
    .map(({ id }) => Number(id));
const idsOf = (texts: readonly (string | null)[]) =>
  texts.flatMap((text) => (text === null ? [] : [JSON.parse(text).id as number]));

test('a response shows one state, whatever is committed and replaced while it is read', (t) => {
  const database = modelDays(t);
  const dates = database
    .statement('SELECT DISTINCT date FROM trading_sessions')
    .all()
    .map(({ date }) => String(date));
  const anyDay = fc.record({
    after: fc.nat({ max: 30 }),
    model: fc.constantFrom('model-0', 'model-3', 'new'),
    date: fc.constantFrom(...dates, '2015-01-10', '2031-01-01'),
  });
  fc.assert(
    fc.property(fc.array(anyDay, { maxLength: 8 }), (commits) => {
      const wanted = activeIds(database);
      const seen: (string | null)[] = [];
      const answer = resultRecords(database, {});
      for (const { after, model, date } of [
        { after: 1, model: 'model-1', date: '2015-01-05' },
        ...commits,
      ]) {
        for (let step = 0; step < after * 10; step += 1) seen.push(answer.next().value ?? null);
        commit(database, model, date);
      }
      seen.push(...answer);
      assert.deepEqual(idsOf(seen), wanted);
      assert.deepEqual(idsOf([...resultRecords(database, {})]), activeIds(database));
    }),
    { numRuns: 25 },
  );
});

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
  database
    .statement(
      `UPDATE trading_sessions SET active_from = NULL, active_to = NULL WHERE status = 'failed'`,
    )
    .run();
  const running = insert('model-1', 'running');
  insert('model-2', 'failed');
  const answer = visibleSessions(database, { startDate: '2015-01-06' }, sessionsNow(database));
  const seen = answer.next().value.map(({ sessionId }: { sessionId: number }) => sessionId);
  // Meanwhile the running one is committed, a new attempt at it begins, and model-3's session is
  // replaced.
  database
    .statement(
      `UPDATE trading_sessions SET status = 'active', completed_at = 't', wording = 1 WHERE session_id = ?`,
    )
    .run(running);
  insert('model-1', 'running');
  database
    .statement(`UPDATE trading_sessions SET status = 'superseded' WHERE session_id = ?`)
    .run(idOf('model-3'));
  insert('model-3', 'active');
  for (const step of answer) seen.push(...step.map(({ sessionId }) => sessionId));
  const expected = [idOf('model-0'), idOf('model-1'), running, idOf('model-2'), idOf('model-3')];
  assert.deepEqual(seen.slice(-5), expected);
  assert.equal(seen.length, SESSIONS - SIZE.models + 1);
});

test('no statement of a long response returns more rows than a step, and the steps together return all', (t) => {
  const database = modelDays(t);
  const watched = watch(database);
  const records = [...resultRecords(watched.database, {})].filter((record) => record !== null);
  database.statement('PRAGMA reverse_unordered_selects = ON').run();
  assert.deepEqual(
    [...resultRecords(database, {})].filter((record) => record !== null),
    records,
    'their order is asked for',
  );
  const rows = [...resultRows(watched.database, {})].filter((row) => row !== null);
  let sessions = 0;
  const pieces = [
    ...sessionPieces(
      watched.database,
      {},
      { conversation: true, onSession: () => (sessions += 1) },
    ),
  ];
  assert.deepEqual([records.length, rows.length, sessions], [2 * SESSIONS, 2 * SESSIONS, SESSIONS]);
  assert.equal(JSON.parse(`[${pieces.join('')}]`).length, SESSIONS);
  assert.equal(watched.mostRows(), Math.max(SESSIONS_PER_STEP, RECORDS_PER_STEP));
});

test('a model-day with more positions and messages than fit in one step is read in several', (t) => {
  const database = modelDays(t, { models: 1, days: 2, positionsPerDay: 2 });
  const actions = 2 * RECORDS_PER_STEP + 50;
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
  const watched = watch(database);
  const records = [...resultRecords(watched.database, {})].filter((record) => record !== null);
  assert.deepEqual(idsOf(records), activeIds(database));
  const pieces = [
    ...sessionPieces(watched.database, {}, { conversation: true, onSession: () => {} }),
  ];
  const [session] = JSON.parse(`[${pieces.join('')}]`);
  assert.deepEqual(
    session.positions.map((position: { action_id: number }) => position.action_id),
    Array.from({ length: actions }, (_, index) => index + 1),
  );
  assert.deepEqual(
    session.conversation.map((message: { message_index: number }) => message.message_index),
    Array.from({ length: 20 }, (_, index) => index),
  );
  assert.equal(watched.mostRows(), RECORDS_PER_STEP);
  assert.ok(
    Math.max(...pieces.map((piece) => piece?.length ?? 0)) < 100_000,
    'a piece has a part of the conversation',
  );
});

test('the status of a job with many model-days reads them in steps, each once', (t) => {
  const database = modelDays(t, { models: 2, days: 1, positionsPerDay: 2 });
  const dates = MODEL_DAYS_PER_STEP + 20;
  database
    .statement(
      `INSERT INTO job_details (job_id, date, model)
       WITH RECURSIVE days (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM days WHERE value < ?)
       SELECT job_id, date('2000-01-01', value || ' days'), model FROM days JOIN simulation_runs`,
    )
    .run(dates);
  const stored = database
    .statement(`SELECT date || model AS id FROM job_details ORDER BY date, model`)
    .all();
  assert.equal(stored.length, 2 * dates + 2);
  const watched = watch(database);
  const steps = [...modelDaysOf(watched.database, 'bench-0000')];
  const seen = steps.flatMap((json) => (json === null ? [] : [JSON.parse(json)]));
  assert.deepEqual(
    seen.map(({ date, model }) => date + model),
    stored.map(({ id }) => id),
  );
  assert.equal(watched.mostRows(), MODEL_DAYS_PER_STEP);
  assert.equal(steps.indexOf(null), MODEL_DAYS_PER_STEP, 'others have their turn after a step');
});

const NO_INPUT = { params: {}, body: undefined, headers: undefined };

/** A context for handlers that read nothing of it but these two. */
function contextOf(database: CommandDatabase): Context {
  const used: Pick<Context, 'database' | 'settings'> = {
    database,
    settings: readSettings({ DEPLOYMENT_MODE: 'DEV' }),
  };
  return used as Context;
}

test('figures are computed a model at a time, back to its first day', (t) => {
  const database = modelDays(t, {
    models: 1,
    days: 2 * SESSIONS_PER_STEP + 60,
    positionsPerDay: 2,
  });
  const watched = watch(database);
  const dates = database
    .statement('SELECT date FROM trading_sessions ORDER BY date')
    .all()
    .map(({ date }) => String(date));
  const context = contextOf(watched.database);
  // The last day but one sells what the day before it bought.
  const every = {
    benchmark: 'AAPL',
    table: 'trades',
    days: 'all',
    common: false,
    by: 'run',
    details: false,
  } as const;
  const query = { ...every, start_date: dates.at(-1) as string };
  const ask = (format: 'json' | 'csv') => performance(context, { ...NO_INPUT, query, format });
  const { models } = JSON.parse([...(ask('json') as Iterable<string>)].join(''));
  assert.deepEqual([models[0].round_trips.count, models[0].trading.realised_profit], [2, 0]);
  assert.equal([...(ask('csv') as Table).lines].join('').split('\r\n').length, 1 + 2 + 1);
  const all = performance(context, { ...NO_INPUT, query: every, format: 'csv' }) as Table;
  assert.equal([...all.lines].join('').split('\r\n').length, 1 + 2 * dates.length + 1);
  assert.equal(watched.mostRows(), dates.length);
});

test('holdings are read a few sessions at a time, however many symbols each session holds', (t) => {
  const database = modelDays(t, { models: 1, days: 4 * CLOSINGS_PER_STEP, positionsPerDay: 2 });
  const symbols = Array.from({ length: 60 }, (_, index) => `S${index}`);
  const insert = database.statement(
    'INSERT OR IGNORE INTO holdings SELECT session_id, ?, 1 FROM trading_sessions',
  );
  for (const symbol of symbols) insert.run(symbol);
  const watched = watch(database);
  const { date, model } =
    database.statement('SELECT date, model FROM trading_sessions LIMIT 1').get() ?? {};
  const input = { ...NO_INPUT, query: { model: String(model) }, format: 'json' } as const;
  const pieces = [...(holdings(contextOf(watched.database), input) as Iterable<string>)];
  const { days } = JSON.parse(pieces.join(''));
  assert.deepEqual(
    [days.length, days[0].date, days[0].holdings.length >= symbols.length],
    [4 * CLOSINGS_PER_STEP, date, true],
  );
  const most = Math.max(...days.map((day: { holdings: unknown[] }) => day.holdings.length));
  assert.ok(watched.mostRows() <= CLOSINGS_PER_STEP * most);
});

const filters: [name: string, filters: Parameters<typeof committedSessions>[1], where: string][] = [
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
    const found = [...committedSessions(database, given, lastChange(database))]
      .flat()
      .map(({ sessionId }) => sessionId);
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

/** A database that counts how many rows a statement returns at most. */
function watch(database: CommandDatabase): { database: CommandDatabase; mostRows(): number } {
  let most = 0;
  const statement: CommandDatabase['statement'] = (sql, rows) => {
    const own = database.statement(sql, rows);
    return new Proxy(own, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...values: never[]) => {
          const result = Reflect.apply(member, target, values) as unknown[];
          if (name === 'all') most = Math.max(most, result.length);
          return result;
        };
      },
    });
  };
  return { database: { ...database, statement }, mostRows: () => most };
}
