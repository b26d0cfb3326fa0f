import type { Reader } from './database.ts';
import { flag, integer, query, reads, text } from './rows.ts';
import { count } from '#text/sentences.ts';

/**
 * The manifest of a package: of each table that it holds, the number of rows and a hash of them
 * all.
 */

/** Those that are stored, in the order of the schema: generated ones follow from the others. */
const COLUMNS = query('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid', [
  text,
]);
const KEY = query('SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk', [text]);

/**
 * The tables of a database that a manifest lists, by name. The indexes of words follow from messages
 * and documents, and the manifest cannot contain itself.
 */
export const listedTables = reads(
  'column',
  `SELECT coalesce(name, '') FROM sqlite_schema
   WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'log\\_words%' ESCAPE '\\'
     AND name NOT LIKE 'document\\_words%' ESCAPE '\\'
     AND name <> 'package_manifest' ORDER BY name`,
  [text],
);

/**
 * The digest of a table: each row as a JSON array of its stored columns in the order of the schema,
 * the rows in the order of the primary key (of the row number, where there is none), joined by line
 * feeds.
 */
export function digestTable(reader: Reader, table: string) {
  const key = KEY.all(reader, table).flat();
  const order = key.length === 0 ? 'rowid' : key.join(', ');
  const columns = COLUMNS.all(reader, table).flat().join(', ');
  const sql = `SELECT ${columns} FROM ${table} ORDER BY ${order}`;
  const statement = reader.statement(sql, 'arrays'); // not a declared query: it has the columns of whichever version made the file
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  let rows = 0;
  for (const row of statement.iterate()) {
    hash.update((rows === 0 ? '' : '\n') + JSON.stringify(row));
    rows += 1;
  }
  return { table, rows, sha256: hash.digest('hex') };
}

const HAS_OPENINGS = query(`SELECT EXISTS (SELECT 1 FROM trading_sessions WHERE job_id IS NULL)`, [
  flag,
]);

/**
 * How many tables the manifest of a database lists: 0 for a package without one, which the first
 * program that writes to it removes; null for a database that is not known to be a package.
 */
export function tablesInManifest(reader: Reader): number | null {
  const tables = MANIFEST.all(reader).length;
  return tables > 0 || HAS_OPENINGS.one(reader)[0] === 1 ? tables : null;
}

/** Whether a database is a package that no program has opened for writing. */
export function hasManifest(reader: Reader): boolean {
  return MANIFEST.has(reader);
}

const MANIFEST = query('SELECT table_name AS name, rows, sha256 FROM package_manifest', {
  name: text,
  rows: integer,
  sha256: text,
});

/**
 * Compares a package with its manifest: a sentence for each table that differs; none for a database
 * without a manifest.
 */
export function checkManifest(reader: Reader): string[] {
  const listed = new Map(MANIFEST.all(reader).map((row) => [row.name, row]));
  const found: string[] = [];
  if (listed.size === 0) return found;
  for (const name of listedTables(reader)) {
    const { rows, sha256 } = digestTable(reader, name);
    const stated = listed.get(name);
    listed.delete(name);
    const is = `${name} is not as the manifest states it`;
    if (stated === undefined)
      found.push(...(rows === 0 ? [] : [`${is}: it is not listed, and has ${count(rows, 'row')}`]));
    else if (stated.rows !== rows)
      found.push(`${is}: it has ${count(rows, 'row')}, not ${stated.rows}`);
    else if (stated.sha256 !== sha256)
      found.push(`${is}: a value in its ${count(rows, 'row')} has changed`);
  }
  return [
    ...found,
    ...[...listed.keys()].map((name) => `${name} is in the manifest, but not in the file`),
  ];
}
