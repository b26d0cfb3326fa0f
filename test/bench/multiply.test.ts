import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { temporaryFolder } from '../support/folder.ts';
import { multiplyModels } from '../support/multiply.ts';
import { fillWithTrackRecords } from '../support/track-records.ts';

test('copies of a model have its days, each of which begins with the day before of the same copy', (t) => {
  const path = join(temporaryFolder(), 'multiplied.db');
  fillWithTrackRecords(path, { models: ['model-0'], days: 12, datesPerJob: 5 });
  const countOf = (database: Pick<DatabaseSync, 'prepare'>, table: string) =>
    Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']);
  const shared = ['jobs', 'price_data'];
  const ofModels = [
    'simulation_runs',
    'job_details',
    'trading_sessions',
    'positions',
    'holdings',
    'session_prices',
    'tool_usage',
  ];
  const tables = [...shared, ...ofModels];
  const base = new DatabaseSync(path);
  const before = tables.map((table) => countOf(base, table));
  const objects = countOf(base, 'sqlite_schema');
  base.close();
  multiplyModels(path, 3);
  openDatabase(path).close();
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  assert.deepEqual(
    tables.map((table) => countOf(database, table)),
    tables.map((table, index) => (before[index] ?? 0) * (shared.includes(table) ? 1 : 3)),
  );
  assert.equal(countOf(database, 'sqlite_schema'), objects, 'triggers and indexes are there again');
  const rows = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row));
  const days = rows('SELECT model, count(*) FROM trading_sessions GROUP BY model');
  assert.deepEqual(days, [
    ['model-0', 12],
    ['model-0-1', 12],
    ['model-0-2', 12],
  ]);
  const chains = `SELECT own.model, count(*) FROM trading_sessions AS own JOIN trading_sessions AS past
    ON past.session_id = own.started_from_session_id AND past.model = own.model AND past.date < own.date GROUP BY own.model`;
  assert.deepEqual(rows(chains), [
    ['model-0', 11],
    ['model-0-1', 11],
    ['model-0-2', 11],
  ]);
  assert.deepEqual(rows(`SELECT DISTINCT entry ->> 'signature' = model FROM simulation_runs`), [
    [1],
  ]);
  assert.deepEqual(rows('SELECT DISTINCT total_messages FROM trading_sessions'), [[1]]);
  assert.deepEqual(
    [rows('PRAGMA foreign_key_check'), rows('PRAGMA integrity_check')],
    [[], [['ok']]],
  );
});
