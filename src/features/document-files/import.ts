import { statSync } from 'node:fs';
import { type CalendarDate, timestamp } from '#time/calendar.ts';
import type { CommandDatabase } from '#database/database.ts';
import { mergeWords } from '#database/document-words.ts';
import { documentDigest, VERSIONS_PER_SECOND } from '#database/document-queries.ts';
import { createDocumentStore } from './queries.ts';
import { invalidFile } from '#domain/service-error.ts';
import { dateOnly, toDocument, readRows } from './rows.ts';
import { refusalCounter } from '../price-files/import.ts';
import { type ImportOptions, writeInTurns } from '../price-files/store-staged.ts';

/** After fewer new documents the index is left as it is. */
const MIN_MERGED = 1_000;

/**
 * Imports a file of documents in short transactions, in memory that does not grow with it. All of
 * it is seen at once, when the last row is stored. Resolves to how many versions are new, how many
 * were known, and how many rows were refused, by reason. Throws a `ServiceError` for a file in no
 * known format and for one that is torn, of which nothing is seen.
 */
export async function importDocuments(
  database: CommandDatabase,
  path: string,
  options: ImportOptions,
) {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile) await checkDates(path, options);
  const { refused, refuse } = refusalCounter(options);
  const summary = { new: 0, known: 0, refused };
  const store = createDocumentStore(database, timestamp(options.clock()));
  for await (const rows of readRows(path, isFile ? options.onStored : options.onProgress)) {
    const work = rows.values().map(({ line, row }) => {
      const { document, defect } = toDocument(row);
      if (defect !== null) return refuse(line, defect);
      const stored = store.add(document);
      if (typeof stored === 'string') return (summary[stored] += 1);
      const reason = 'this version is stored with another content';
      const value = `${document.id}: stored ${stored.stored}, here ${stored.digest}`;
      return refuse(line, { reason, value });
    });
    if (rows.length > 0) await writeInTurns(database, work, options.time);
  }
  if (summary.new >= MIN_MERGED) await writeInTurns(database, mergeWords(database), options.time);
  database.transaction(() => store.finish());
  return summary;
}

/**
 * Throws a `ServiceError` for a file with more documents of one date than can be stored. A date with
 * no more rows has no more documents: only of others are they told apart, in another pass.
 */
async function checkDates(path: string, { onProgress }: ImportOptions): Promise<void> {
  const counts = new Map<CalendarDate | null, number>();
  const ids = new Map<CalendarDate | null, Set<string>>();
  for await (const rows of readRows(path, onProgress))
    for (const { row } of rows) {
      const date = dateOnly(row);
      const count = (counts.get(date) ?? 0) + 1;
      counts.set(date, count);
      if (date !== null && count > VERSIONS_PER_SECOND) ids.set(date, new Set());
    }
  if (ids.size === 0) return;
  for await (const rows of readRows(path, onProgress))
    for (const { row } of rows) {
      const date = dateOnly(row);
      const own = ids.get(date);
      const { document } = toDocument(row);
      if (own === undefined || document === null) continue;
      own.add(document.id ?? documentDigest(document));
      if (own.size > VERSIONS_PER_SECOND)
        throw invalidFile(
          `it has more than ${VERSIONS_PER_SECOND.toLocaleString('en')} documents of ${date} without a time,` +
            ' the most that can be stored of one date',
        );
    }
}
