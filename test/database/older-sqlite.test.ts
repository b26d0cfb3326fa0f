import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { accepted, forbidden, SEED } from '../support/schema-rows.ts';
import { rowsAsText, TABLE_NAMES } from '../support/tables.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * What the schema's expressions may call: each means the same in every SQLite from 3.37 on, with
 * values that are not null.
 */
const FUNCTIONS_SINCE_3_37 =
  'coalesce count json_extract json_valid julianday length round strftime';
/** Until 3.41 `json_valid(NULL)` is 0 and `unixepoch` has no 'subsec'. */
const FIRST_SAME_AS_OURS = '3.42';

const shellVersion = spawnSync('sqlite3', ['--version']).stdout?.toString().split(' ')[0] ?? null;
const noOlderShell =
  shellVersion === null
    ? 'there is no sqlite3 shell here'
    : shellVersion.localeCompare(FIRST_SAME_AS_OURS, 'en', { numeric: true }) >= 0 &&
      `the sqlite3 shell here is ${shellVersion}, no older than ${FIRST_SAME_AS_OURS}`;

/** A seeded database, closed. */
function seededFile(): string {
  const path = join(temporaryFolder(), 'jobs.db');
  const database = openDatabase(path);
  for (const sql of SEED) database.statement(sql).run();
  database.close();
  return path;
}

const statements = [...accepted, ...forbidden];
const isAccepted = statements.map((_, index) => index < accepted.length);

/**
 * Runs all statements in the shell; which of them changed anything, by SQLite's count of changes.
 */
function runInShell(path: string): boolean[] {
  const lines = statements.map(([, sql]) => `${sql};\nSELECT total_changes();`);
  const input = ['PRAGMA foreign_keys = ON;', 'SELECT total_changes();', ...lines].join('\n');
  const { stdout } = spawnSync('sqlite3', [path], { input });
  const counts = stdout.toString().trim().split('\n').map(Number);
  return counts.slice(1).map((count, index) => count > (counts[index] as number));
}

function runHere(path: string): boolean[] {
  const database = openDatabase(path);
  const results = statements.map(([, sql]) => {
    try {
      return Number(database.statement(sql).run().changes) > 0;
    } catch {
      return false;
    }
  });
  database.close();
  return results;
}

function tablesIn(database: DatabaseSync): string[] {
  return database
    .prepare(TABLE_NAMES)
    .all()
    .map((row) => String(row['name']));
}

const INTEGRITY = 'PRAGMA integrity_check';
const DURATION = `SELECT duration_seconds FROM job_details WHERE job_id = 'k'`;

test('an older SQLite accepts and refuses the same, and each finds the file of the other sound', {
  skip: noOlderShell,
}, () => {
  const [theirs, ours] = [seededFile(), seededFile()];
  const results = runInShell(theirs);
  const wrong = statements.filter((_, index) => results[index] !== isAccepted[index]);
  assert.deepEqual(wrong, [], `SQLite ${shellVersion} judges these otherwise`);
  runHere(ours);
  for (const path of [theirs, ours]) {
    const sql = `${INTEGRITY}; PRAGMA foreign_key_check; ${DURATION}`;
    assert.equal(spawnSync('sqlite3', [path, sql]).stdout.toString(), 'ok\n12.345\n');
    const database = openDatabase(path);
    assert.deepEqual(rowsAsText(database, INTEGRITY), ['ok']);
    assert.deepEqual(rowsAsText(database, DURATION), ['12.345']);
    database.close();
  }
});

test('these statements insert into and update every table, accepted and refused', () => {
  const path = seededFile();
  assert.deepEqual(runHere(path), isAccepted);
  const database = new DatabaseSync(path, { readOnly: true });
  const missing = tablesIn(database).flatMap((table) =>
    [`INSERT INTO ${table} `, `UPDATE ${table} `].filter(
      (verb) =>
        ![accepted, forbidden].every((list) => list.some(([, sql]) => sql.startsWith(verb))),
    ),
  );
  database.close();
  assert.deepEqual(missing, []);
});

test('the schema uses nothing that SQLite 3.37 lacks or computes differently', () => {
  const database = openDatabase(':memory:');
  const sql = rowsAsText(database, 'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL')
    .map((text) => text.replace(/--.*|'[^']*'/g, ''))
    .join('\n');
  const called = new Set([...sql.matchAll(/\b([a-z_]+)\(/g)].map(([, name]) => name as string));
  assert.equal([...called].sort().join(' '), FUNCTIONS_SINCE_3_37);
  assert.doesNotMatch(sql, /->|'subsec'/);
  const nullable = [...sql.matchAll(/(\w+) TEXT CHECK \(json_valid/g)].map(([, column]) => column);
  assert.deepEqual(nullable, [], 'json_valid(NULL) is 0 before SQLite 3.42');
});
