import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Steps } from '../turns.ts';
import { type Reader, prepareOnce } from './database.ts';
import { indexInSteps } from './log-words.ts';
import { digestTable, listedTables } from './manifest.ts';
import { migrate } from './migrate.ts';
import type { Snapshot } from './snapshot.ts';

/** A new database that is filled from a snapshot of another one, attached to it as `source`. */
export interface PackageFile {
  connection: DatabaseSync;
  /** Reads the new database. */
  reader: Reader;
}

/**
 * Makes a database at `path` in one transaction: `fill` writes the rows, whose triggers do not run,
 * so that they stay as they are; the indexes are made afterwards. Then the manifest is written.
 * Throws when a row refers to one that is missing.
 */
export function* makePackage(
  path: string,
  { url }: Pick<Snapshot, 'url'>,
  fill: (file: PackageFile) => Steps<void>,
): Steps<void> {
  const connection = new DatabaseSync(pathToFileURL(path), { enableForeignKeyConstraints: false });
  const file = {
    connection,
    reader: { path, statement: prepareOnce(connection), close: () => connection.close() },
  };
  try {
    // Nothing is lost when this fails: the file has a temporary name until it is complete and
    // flushed.
    connection.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    migrate(connection);
    connection.prepare('ATTACH ? AS source').run(`${url}${url.includes('?') ? '&' : '?'}mode=ro`);
    connection.exec('BEGIN');
    const dropped = dropIndexesAndTriggers(connection);
    yield* fill(file);
    for (const sql of dropped) connection.exec(sql);
    yield* indexInSteps(file.reader); // a view writes nothing
    yield* writeManifest(file);
    checkReferences(connection);
    connection.exec('COMMIT');
  } finally {
    connection.close();
  }
}

/**
 * Removes the indexes and triggers of an empty schema, and returns the statements that make them
 * again.
 */
function dropIndexesAndTriggers(connection: DatabaseSync): string[] {
  const sql = `SELECT type, name, sql FROM main.sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`;
  const found = connection.prepare(sql).all();
  for (const { type, name } of found) connection.exec(`DROP ${type} main.${name}`);
  return found.map((row) => String(row['sql']));
}

function* writeManifest({ connection, reader }: PackageFile): Steps<void> {
  const insert = connection.prepare('INSERT INTO package_manifest VALUES (?, ?, ?)');
  for (const name of listedTables(reader)) {
    const { table, rows, sha256 } = yield* digestTable(reader, name);
    insert.run(table, rows, sha256);
  }
}

function checkReferences(connection: DatabaseSync): void {
  const [row] = connection
    .prepare('SELECT "table" AS child, parent FROM main.pragma_foreign_key_check')
    .all();
  if (row === undefined) return;
  const what = `a row of ${row['child']} refers to a row of ${row['parent']} that is missing`;
  throw new Error(`${what}; the command check names all damage`);
}
