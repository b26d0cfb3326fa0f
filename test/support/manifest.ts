import type { Database } from '../../src/core/database/database.ts';
import { digestTable, listedTables } from '../../src/core/database/manifest.ts';

/** Gives a database the manifest that a package has. */
export function writeManifest(database: Database): void {
  const insert = database.statement('INSERT INTO package_manifest VALUES (?, ?, ?)');
  for (const name of listedTables(database)) {
    const { table, rows, sha256 } = digestTable(database, name);
    insert.run(table, rows, sha256);
  }
}
