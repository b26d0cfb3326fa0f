import type { CalendarDate } from '../basics/calendar.ts';
import type { Database } from './database.ts';
import { forgetDocument, indexDocument } from './document-words.ts';
import { digestOf, type DocumentContent } from './documents.ts';
import { nextWrite } from './price-writes.ts';
import { integer, orNull, query, text } from './rows.ts';

/**
 * One import of documents: row by row, in any number of transactions. Nothing of it is seen before
 * `finish`; what is left of one that was ended before is taken over by the next that has the row.
 */

export interface DocumentRow extends DocumentContent {
  /** Null for the digest. */
  id: string | null;
  date: CalendarDate;
  visibleFrom: CalendarDate;
}

export type StoredAs = 'new' | 'known' | { contradicts: string; digest: string };

export interface DocumentStore {
  /** Within a transaction. A version that is stored with another content stays as it is. */
  add(row: DocumentRow): StoredAs;
  /** Within a transaction; returns how many versions are new. */
  finish(): number;
}

const KNOWN = query(
  `SELECT version, digest, written, import_id AS importId FROM documents JOIN document_imports USING (import_id)
   WHERE document_id = ? AND published_at = ?`,
  { version: integer, digest: text, written: orNull(integer), importId: integer },
);
const BEGIN = query('INSERT INTO document_imports (recorded_at) VALUES (?) RETURNING import_id', [
  integer,
]);
const COUNT = query('SELECT count(*) FROM documents WHERE import_id = ?', [integer]);
const INSERT = `
  INSERT INTO documents (document_id, published_at, date, visible_from, kind, title, symbols, source, url, digest, import_id, text)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const OLD = query('SELECT version, date, title, text FROM documents WHERE version = ?', {
  version: integer,
  date: text,
  title: text,
  text,
});

export function createDocumentStore(database: Database, recordedAt: string): DocumentStore {
  let importId: number | null = null;
  return {
    add(row) {
      const digest = digestOf(row);
      const id = row.id ?? digest;
      const before = KNOWN.get(database, id, row.publishedAt);
      const isSame = before?.digest === digest;
      if (before !== undefined && (before.written !== null || before.importId === importId))
        return isSame ? 'known' : { contradicts: before.digest, digest };
      importId ??= BEGIN.one(database, recordedAt)[0];
      if (isSame) takeOver(database, before.version, importId);
      else {
        if (before !== undefined) remove(database, before.version);
        insert(database, { ...row, id, digest, importId });
      }
      return 'new';
    },
    finish() {
      if (importId === null) return 0;
      const [documents] = COUNT.one(database, importId);
      if (documents > 0)
        database
          .statement('UPDATE document_imports SET documents = ?, written = ? WHERE import_id = ?')
          .run(documents, nextWrite(database), importId);
      return documents;
    },
  };
}

function insert(
  database: Database,
  row: DocumentRow & { id: string; digest: string; importId: number },
): void {
  const { id, publishedAt, date, visibleFrom, kind, title, symbols, source, url } = row;
  const about = [id, publishedAt, date, visibleFrom, kind, title, JSON.stringify(symbols)];
  const inserted = database
    .statement(INSERT)
    .run(...about, source, url, row.digest, row.importId, row.text);
  const version = Number(inserted.lastInsertRowid);
  const place = database.statement(
    `INSERT INTO document_symbols (symbol, date, published_at, document_id, version, kind, visible_from, import_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const symbol of symbols.length === 0 ? [''] : symbols)
    place.run(symbol, date, publishedAt, id, version, kind, visibleFrom, row.importId);
  indexDocument(database, { version, date, title, text: row.text });
}

const TABLES = ['document_symbols', 'documents'];

function takeOver(database: Database, version: number, importId: number): void {
  for (const table of TABLES)
    database
      .statement(`UPDATE ${table} SET import_id = ? WHERE version = ?`)
      .run(importId, version);
}

function remove(database: Database, version: number): void {
  forgetDocument(database, OLD.one(database, version));
  for (const table of TABLES)
    database.statement(`DELETE FROM ${table} WHERE version = ?`).run(version);
}
