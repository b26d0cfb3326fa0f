import type { CalendarDate } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import { unindexDocument, indexDocument } from '#database/document-words.ts';
import {
  documentDigest,
  type DocumentContent,
  VERSIONS_PER_SECOND,
  versionAt,
} from '#database/document-queries.ts';
import { nextWrite } from '#database/price-writes.ts';
import { integer, orNull, query, text } from '#database/rows.ts';

/**
 * One import of documents: row by row, in any number of transactions. Nothing of it is seen before
 * `finish`; the next import that has a row replaces what is left of one that was ended before.
 */

interface NewDocument extends DocumentContent {
  /** Null for the digest. */
  id: string | null;
  /** Publication date, New York time. */
  date: CalendarDate;
  /** From when on it is out. */
  outAt: Date;
}

export type StoreOutcome = 'new' | 'known' | { stored: string; digest: string };

const KNOWN = query(
  `SELECT {} FROM documents JOIN document_imports USING (import_id)
   WHERE document_id = ? AND published_at = ?`,
  { version: integer, digest: text, written: orNull(integer), importId: integer },
);
const BEGIN = query('INSERT INTO document_imports (recorded_at) VALUES (?) RETURNING import_id', [
  integer,
]);
const NEXT = query(
  'SELECT coalesce(max(version) + 1, ?1) FROM documents WHERE version >= ?1 AND version < ?2',
  [integer],
);
const INSERT = `INSERT INTO documents (version, document_id, published_at, date, kind, title, symbols, source, url, digest, import_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function createDocumentStore(database: Database, recordedAt: string) {
  let importId: number | null = null;
  return {
    /**
     * Within a transaction. A version that is stored with another content stays as it is; then
     * returns both digests.
     */
    add(document: NewDocument): StoreOutcome {
      const digest = documentDigest(document);
      const id = document.id ?? digest;
      const { publishedAt, date, kind, title, symbols, source, url, outAt, text: body } = document;
      const before = KNOWN.get(database, id, publishedAt);
      if (before !== undefined && (before.written !== null || before.importId === importId))
        return before.digest === digest ? 'known' : { stored: before.digest, digest };
      if (before !== undefined) remove(database, before.version);
      importId ??= BEGIN.one(database, recordedAt)[0];
      const end = versionAt(outAt) + VERSIONS_PER_SECOND;
      const [version] = NEXT.one(database, versionAt(outAt), end);
      if (version === end)
        throw new Error(
          `there are ${VERSIONS_PER_SECOND.toLocaleString('en')} documents of ${publishedAt}, as many as can be stored`,
        );
      const about = [publishedAt, date, kind, title, symbols, source, url, digest];
      database.statement(INSERT).run(version, id, ...about, importId);
      database.statement('INSERT INTO document_texts VALUES (?, ?)').run(version, body);
      indexDocument(database, version);
      return 'new';
    },
    /** Within a transaction: makes all of it visible. */
    finish() {
      if (importId === null) return;
      const sql = 'UPDATE document_imports SET written = ? WHERE import_id = ?';
      database.statement(sql).run(nextWrite(database), importId);
    },
  };
}

function remove(database: Database, version: number): void {
  unindexDocument(database, version);
  for (const table of ['document_texts', 'documents'])
    database.statement(`DELETE FROM ${table} WHERE version = ?`).run(version);
}
