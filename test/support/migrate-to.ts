import type { DatabaseSync } from 'node:sqlite';
import { APPLICATION_ID, versionOf } from '../../src/database/migrate.ts';
import { migrations } from '../../src/database/schema.ts';

/**
 * Brings a database to a given version of the schema, step by step, as programs of that version
 * left it.
 */
export function migrateTo(database: DatabaseSync, version: number): void {
  database.enableDefensive(false); // some migrations edit the schema's text
  for (const sql of migrations.slice(versionOf(database), version)) database.exec(sql);
  database.exec(`PRAGMA user_version = ${version}; PRAGMA application_id = ${APPLICATION_ID}`);
  database.enableDefensive(true);
}
