import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { migrations } from '../../src/database/schema.ts';
import { actionTypes, jobStatuses, messageRoles, modelDayStatuses, sessionStatuses } from '../../src/domain.ts';

const FOLDER = new URL('../../src/database/migrations/', import.meta.url);

/** SHA-256 of every released migration. Databases out there were made by these very texts: rows are only ever added. */
const released: [file: string, sha256: string][] = [
  ['001-jobs-ledger-and-prices.ts', '34d1f7858c836f2d150590eb08e2869a62754dadf44d27e329fc11ad27b66814'],
  ['002-tokens-costs-and-split-coverage.ts', 'e3ec7446446e5d15f4dbac615c189d4d40bf06302a7d0885da9a683e6bb46571'],
  ['003-restarts-and-ended-model-days.ts', '1eeea02f35fdd00c306c2c983463f2aec366841921d66c72ce30657a01aad091'],
  ['004-carried-messages.ts', '8e38f34c4e03b742d5c7b4c1b383d7dd63eaf34fae5a47d728a8d3d7c4307836'],
  ['005-idempotency-keys.ts', 'bec211610f53461b1e00fac5f9bbc6c9c4341a0770a67b85751ed27ca8032e01'],
  ['006-split-revisions.ts', '53342d3409c8ff6743db7b53dcfe34bb18bdd61fcd772237784fa6834cf44800'],
];

test('a released migration is never edited; a change of the schema is a new migration', () => {
  assert.deepEqual(
    migrations.map((sql) => hash('sha256', sql)),
    released.map(([, sha256]) => sha256),
    'restore the released text and add a new migration; the hash of a new one gets a row here',
  );
});

test('each migration is one file of literal SQL, in the order of its number', () => {
  const files = readdirSync(FOLDER).sort();
  assert.deepEqual(
    files,
    released.map(([file]) => file),
  );
  files.forEach((file, index) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    assert.equal(Number(file.slice(0, 3)), index + 1);
    assert.doesNotMatch(text, /^import|\bimport\(|\$\{/m, `${file} takes something from elsewhere`);
    assert.ok(text.includes(`\`${migrations[index]}\``), `${file} is migration ${index + 1} of schema.ts`);
  });
});

const words: [column: string, words: readonly string[]][] = [
  ['jobs.status', jobStatuses],
  ['job_details.status', modelDayStatuses],
  ['trading_sessions.status', sessionStatuses],
  ['positions.action_type', actionTypes],
  ['reasoning_logs.role', messageRoles],
];
for (const [place, list] of words) {
  test(`${place} accepts the words of domain.ts and no others; a new word needs a migration`, () => {
    const [table, column] = place.split('.') as [string, string];
    const database = new DatabaseSync(':memory:');
    for (const migration of migrations) database.exec(migration);
    const sql = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table)?.['sql'];
    const accepted = new RegExp(`\\b${column} TEXT [^,]*CHECK \\(${column} IN \\(([^)]*)\\)`).exec(String(sql))?.[1];
    assert.deepEqual(accepted?.match(/\w+/g)?.sort(), [...list].sort());
  });
}
