import { timestamp } from '../basics/calendar.ts';
import type { CommandDatabase } from '../database/database.ts';
import { mergeWords } from '../database/document-words.ts';
import { createDocumentStore } from '../database/store-documents.ts';
import { documentOf, readRows } from './files/documents.ts';
import { countRefused, readFile } from './import.ts';
import { type ImportOptions, writeInTurns } from './store-staged.ts';

/** After fewer new documents the index is left as it is. */
const MERGED_FROM = 1_000;

/**
 * Imports a file of documents in short transactions, in memory that does not grow with it. All of
 * it is seen at once, when the last row is stored. Resolves to how many versions are new, how many
 * were known, and how many rows were refused, by reason. Throws a `ServiceError` for a file in no
 * known format and for one that is torn, of which nothing is seen.
 */
export function importDocuments(database: CommandDatabase, path: string, options: ImportOptions) {
  return readFile(path, options, async (batches, first) => {
    const { refused, refuse } = countRefused(options);
    const summary = { new: 0, known: 0, refused };
    const store = createDocumentStore(database, timestamp(options.clock()));
    for await (const rows of readRows(batches, first)) {
      const work = rows.values().map(({ line, row }) => {
        const { document, defect } = documentOf(row);
        if (defect !== null) return refuse(line, defect);
        const stored = store.add(document);
        if (typeof stored === 'string') return (summary[stored] += 1);
        const reason = 'this version is stored with another content';
        const value = `${document.id}: stored ${stored.stored}, here ${stored.digest}`;
        return refuse(line, { reason, value });
      });
      if (rows.length > 0) await writeInTurns(database, work, options.time);
    }
    if (summary.new >= MERGED_FROM)
      await writeInTurns(database, mergeWords(database), options.time);
    database.transaction(() => store.finish());
    return summary;
  });
}
