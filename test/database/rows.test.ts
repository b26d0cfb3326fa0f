import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { type ColumnType, queries, type Query } from '../../src/core/database/rows.ts';
import { accepted, SEED } from '../support/schema-rows.ts';
import { inLongForm } from '../support/long.ts';

const FOLDER = new URL('../../src/', import.meta.url);
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /^core\/database\/.*\.ts$|^features\/.*queries\.ts$/.test(name),
);

/**
 * All queries, once every file that declares some is loaded, over a database with rows in every
 * table.
 */
async function prepare(): Promise<{ database: Database; all: readonly Query<unknown>[] }> {
  for (const name of files) await import(new URL(name, FOLDER).href);
  const database = openDatabase(':memory:');
  for (const sql of [...SEED, ...accepted.map(([, statement]) => statement), ...MORE_ROWS])
    database.statement(sql).run();
  return { database, all: queries };
}

/** What the queries look for and the rows of the schema's tests do not have. */
const MORE_ROWS = [
  `INSERT INTO job_details (job_id, date, model, steps, started_at, status) VALUES ('k', '2025-01-06', 'm', 1, 't', 'running')`,
  `INSERT INTO trading_sessions (job_id, date, model, initial_cash_e4, started_at) VALUES ('k', '2025-01-06', 'm', 5, 't')`,
  `INSERT INTO job_details (job_id, date, model, status, error, completed_at) VALUES ('k', '2025-01-09', 'm', 'failed', 'e', 't')`,
  `INSERT INTO reasoning_logs (session_id, message_index, role, content, tool_name, tool_input, timestamp)
    VALUES (1, 90, 'tool', '{}', 'write_note', '{}', 't'), (1, 91, 'tool', '{"error":""}', 'buy', '{}', 't')`,
  `INSERT INTO tool_usage VALUES (1, 'refused', 1, 1, 0)`,
  `INSERT INTO price_data (symbol, date, open, close) VALUES ('X', '2025-01-06', 100, 100), ('X', '2025-01-07', 10, 10)`,
  `INSERT INTO price_data (symbol, date, open, close, source) VALUES ('m', '2025-01-06', 1, 1, 'massive'), ('m', '2025-01-07', 1, 1, 'disguise'), ('j', '2025-01-07', 1, 1, 'synthetic')`,
  `INSERT INTO price_data (symbol, date, open, close) VALUES ('X', '2025-01-08', 10, 10)`,
  `INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('X', '2025-01-08', 2, 1)`,
  `INSERT INTO market_days VALUES ('csv', '2025-01-06', '2025-01-06')`,
  `INSERT INTO factors VALUES ('size', '2025-01-07', 0.01, 'f.csv', 't')`,
  `INSERT INTO session_prices (session_id, symbol, date, held_since) VALUES (1, 'm', '2025-01-07', '2025-01-06')`,
  `INSERT INTO session_prices (session_id, symbol, date) VALUES (1, 'j', '2025-01-08')`,
  `INSERT INTO stock_splits (symbol, date, numerator, denominator, source) VALUES ('m', '2025-01-06', 2, 1, 'csv')`,
  `INSERT INTO stock_split_spans VALUES ('m', 'csv', '2025-01-06', '2025-01-07', 't')`,
  `INSERT INTO dividends (symbol, ex_date, cash_e6, written) VALUES ('m', '2025-01-07', 1, 9)`,
  `INSERT INTO trading_sessions (session_id, job_id, date, model, status, error, initial_cash_e4, started_at, completed_at)
    VALUES (90, 'k', '2025-01-07', 'm', 'failed', 'e', 5, 't', 't')`,
  `INSERT INTO trading_sessions (job_id, date, model, status, error, started_from_session_id, started_at, completed_at)
    VALUES ('k', '2025-01-07', 'm', 'failed', 'e', 1, 't', 't')`,
  `UPDATE reasoning_logs SET role = 'assistant' WHERE session_id = 1 AND message_index = 0`,
  `UPDATE reasoning_logs SET served = '{"model": "m"}', fault = 'refused' WHERE session_id = 1 AND message_index = 0`,
  `INSERT INTO log_words (rowid, words) VALUES (1, 'm')`,
  `INSERT INTO document_words (rowid, words) VALUES (1, 'm')`,
  `INSERT INTO opening_lots VALUES (1, 'X', 1, '2025-01-06', 1, 1)`,
  `UPDATE trading_sessions SET unread = 1 WHERE status = 'active'`,
  `UPDATE jobs SET study = 'x' WHERE job_id = 'j'`,
  `INSERT INTO exchanges (symbol, date, into_symbol, numerator, denominator) VALUES ('key', '2025-01-07', 'AAPL', 1, 1)`,
  `INSERT INTO dividends (symbol, ex_date, cash_e6, confirmed) VALUES ('key', '2025-01-07', 1, 1)`,
  `UPDATE jobs SET warning_codes = '[{"code":"m","about":["m"]}]' WHERE job_id = 'j'`,
  'CREATE TABLE m (a INTEGER PRIMARY KEY)', // for queries of the schema
  'PRAGMA foreign_keys = OFF',
  `INSERT INTO holdings (session_id, symbol, quantity) VALUES (99, 'X', 1)`,
  `INSERT INTO job_details (job_id, date, model, status, error, completed_at) VALUES ('k', '2025-01-07', 'X', 'skipped', 'Cancelled', 't')`,
  `UPDATE simulation_runs SET entry = json_set(entry, '$.kind', 'agent') WHERE job_id = 'j'`,
  `UPDATE job_details SET cost_usd = 1 WHERE date = '2025-01-07'`,
  `INSERT INTO job_details (job_id, date, model, status, error, completed_at, cost_usd) VALUES ('k', '2025-01-08', 'X', 'skipped', 'Cancelled', 't', 1)`,
];

type Value = string | number | null;

/**
 * Values with which each query finds a row: texts, numbers, and JSON for a parameter that is read
 * as JSON.
 */
const TEXTS =
  '~ m j k 2025-01-06 2025-01-07 AAPL csv refusal key 2025-01-07T10:00:00.000Z 1970-01-01T00:00:00.000Z';
const SAMPLES: readonly Value[] = ['', ...TEXTS.split(' '), null, 1, 2];
const JSON_SAMPLES: readonly Value[] = [
  '["AAPL", "MSFT", "X", "m", "j"]',
  '[1, 2]',
  '[{"model": "m", "startDate": "2025-01-06"}]',
];

/** The opening, the write, the session, an expression or an id; a date, scope or span. */
const MORNING: readonly (readonly Value[])[] = [[9], [2], [null], ['m', 0], ['', null], [5]];

/** The columns of a query, with their names unless its rows are arrays. */
const shapeOf = ({ shape }: Query<unknown>) =>
  Object.entries(shape) as [string, ColumnType<unknown>][];

test('the shape of each query names its columns, with their types, and with null where the schema allows it', async () => {
  const { database, all } = await prepare();
  assert.ok(all.length > 40);
  for (const query of all) {
    const columns = database.statement(query.sql).columns();
    const shape = shapeOf(query);
    const names = columns.map(({ name }, index) =>
      Array.isArray(query.shape) ? String(index) : name,
    );
    const own = shape.map(([name]) => name);
    assert.deepEqual(own, names, query.sql);
    for (const [index, { table, column }] of columns.entries()) {
      const declared = declaredColumn(database, table, column);
      const [name, { type, isNullable }] = shape[index] as [string, ColumnType<unknown>];
      if (declared === null) continue;
      assert.equal(type, declared.type, `${name} of ${query.sql}`);
      const mayDiffer = /LEFT JOIN|\(SELECT|daily_returns|served_model AS/.test(query.sql);
      const leavesOpeningsOut =
        column === 'job_id' && /status (<> 'opening'|= 'active')|daily_returns/.test(query.sql);
      const isOfCommitted =
        column === 'wording' && query.sql.includes(`status IN ('active', 'superseded')`);
      const isFitting =
        isNullable === declared.isNullable ||
        (isNullable ? mayDiffer : leavesOpeningsOut || isOfCommitted);
      assert.ok(isFitting, `NULL as ${name} of ${query.sql}`);
    }
  }
});

/** Null for an expression, and for a column of a table that SQLite makes. */
function declaredColumn(
  database: Database,
  table: string | null,
  column: string | null,
): { type: string; isNullable: boolean } | null {
  const sql = `SELECT type, "notnull" OR pk > 0 OR hidden > 0 AS required FROM pragma_table_xinfo(?) WHERE name = ? AND type <> ''`;
  const row = database.statement(sql).get(table, column);
  return row === undefined
    ? null
    : { type: String(row['type']).toLowerCase(), isNullable: row['required'] === 0 };
}

test('each query finds rows that match its shape', inLongForm, async () => {
  const { database, all } = await prepare();
  for (const query of all) {
    database.statement('BEGIN').run();
    const found = search(database, query);
    database.statement('ROLLBACK').run();
    assert.equal(found, 'rows that fit', query.sql);
  }
});

/**
 * Tries all samples until the query returns rows that fit its shape; otherwise says why the last
 * ones did not.
 */
function search(database: Database, query: Query<unknown>): string {
  const numbers = [...query.sql.matchAll(/\?(\d*)/g)].map(
    ([, number], index) => Number(number) || index + 1,
  );
  const samples = Array.from({ length: Math.max(0, ...numbers) }, () => SAMPLES);
  for (const [, number] of query.sql.matchAll(/json_each\(\?(\d*)\)/g))
    samples[(Number(number) || 1) - 1] = JSON_SAMPLES;
  // Sums that a caller has made: any number will do, and a million choices would be tried for five
  // of them.
  for (const [, number] of query.sql.matchAll(/CAST\(\?(\d+) AS INTEGER\)/g))
    samples[Number(number) - 1] = [1];
  // The parameters of a morning come first: all of them would be too many to try.
  if (query.sql.includes('FROM document_imports WHERE written <='))
    MORNING.slice(0, samples.length).forEach((sample, index) => (samples[index] = sample));
  let misfit = 'no rows';
  for (const values of combinations(samples)) {
    let rows: unknown[] = [];
    try {
      rows = query.all(database, ...values);
    } catch {
      // A sample of another kind than the query wants.
    }
    const wrong = rows.flatMap((row) =>
      shapeOf(query).filter(
        ([name, column]) => !fits((row as Record<string, unknown>)[name], column),
      ),
    );
    if (rows.length > 0 && wrong.length === 0) return 'rows that fit';
    if (wrong.length > 0) misfit = `${wrong[0]?.[0]} does not fit in ${JSON.stringify(rows)}`;
  }
  return misfit;
}

/** Every choice of one sample for each parameter; the last one changes fastest. */
function* combinations(samples: readonly (readonly Value[])[]): Generator<Value[]> {
  if (samples.length === 0) return yield [];
  for (const first of combinations(samples.slice(0, -1)))
    for (const last of samples.at(-1) ?? []) yield [...first, last];
}

function fits(value: unknown, { type, isNullable, values }: ColumnType<unknown>): boolean {
  if (value === null) return isNullable;
  if (values !== undefined && !values.includes(value)) return false;
  return type === 'text'
    ? typeof value === 'string'
    : type === 'real'
      ? typeof value === 'number'
      : Number.isSafeInteger(value);
}

test('one text can be a statement with rows as arrays and another with rows as objects', () => {
  const database = openDatabase(':memory:');
  const sql = 'SELECT 1 AS one';
  assert.deepEqual(database.statement(sql, 'arrays').get(), [1]);
  assert.deepEqual({ ...database.statement(sql).get() }, { one: 1 });
});

test('rows are read through declared queries only', () => {
  const reading = files.filter((name) => {
    if (name.endsWith('/staging-queries.ts')) return false; // its tables are its own
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    return /\.statement\([^;]*?\)\s*\.(get|all|iterate)\(/s.test(text);
  });
  assert.deepEqual(reading, []);
});
