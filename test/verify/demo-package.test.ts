import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { auditDatabase } from '../../src/core/verify/database-audit.ts';
import { linesOf } from '../support/books.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * Made with schema 1. From the first release on it is never made again, so that every later version
 * shows that it reads it.
 */
const PACKAGE = new URL('../../docs/demo-package.db', import.meta.url).pathname;
const SHA256 = '25bbe8b50b0d2603f88e9295516fec1dcd585541c5f3a516337cce6f2c59a69c';
const MAX_BYTES = 960 * 1024;

test('the package in docs/ replays in full, now and in every later version', async () => {
  const bytes = readFileSync(PACKAGE);
  assert.equal(hash('sha256', bytes), SHA256);
  assert.ok(bytes.length < MAX_BYTES);
  const { damage, modelDays, same, problems, unverifiable } = await auditDatabase(PACKAGE);
  assert.deepEqual(damage, []);
  assert.deepEqual(linesOf([...problems.first, ...unverifiable.first]), []);
  assert.deepEqual([modelDays, same], [88, 88]);
  assert.ok(readFileSync(PACKAGE).equals(bytes), 'it is only read');
  const database = new DatabaseSync(PACKAGE, { readOnly: true });
  const openings = `SELECT count(*) AS own FROM trading_sessions WHERE status = 'opening'`;
  assert.equal(database.prepare(openings).get()?.['own'], 4);
  database.close();
});

test('a digit changed in a price that no model read is found by the audit of the package', async () => {
  const path = join(temporaryFolder(), 'package.db');
  copyFileSync(PACKAGE, path);
  const database = new DatabaseSync(path);
  database.exec(
    'DROP TRIGGER price_data_revised; UPDATE price_data SET volume = volume + 1 WHERE date = (SELECT min(date) FROM price_data)',
  );
  database.close();
  const { damage, problems } = await auditDatabase(path);
  assert.deepEqual(
    [damage, problems.total],
    [['price_data is not as the manifest states it: a value in its 333 rows has changed'], 0],
  );
});
