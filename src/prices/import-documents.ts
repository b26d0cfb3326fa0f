import { statSync } from 'node:fs';
import { type CalendarDate, timestamp } from '../basics/calendar.ts';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { eventLoop } from '../basics/event-loop.ts';
import type { CommandDatabase } from '../database/database.ts';
import { createDocumentStore, type DocumentStore } from '../database/store-documents.ts';
import { type FileRow, readDocuments } from './files/documents.ts';
import { type LineBatch, readLines } from './files/lines.ts';
import type { Defect } from './files/row.ts';
import { FREE_MS, type ImportOptions, writeInTurns } from './store-staged.ts';

/** What was imported of a file of documents. */
export interface DocumentsSummary {
  /** Versions that are stored now, and how many of them are new. */
  documents: number;
  added: number;
  kinds: Set<string>;
  firstDate: CalendarDate | null;
  lastDate: CalendarDate | null;
  /** How many rows were refused, by reason. */
  refused: Map<string, number>;
}

type Options = Pick<ImportOptions, 'clock' | 'onProgress' | 'onRefused'>;

/** Digits of a digest in a message. */
const DIGITS = 16;

/**
 * Imports a file of documents in short transactions, in memory that does not grow with it; all that
 * is new is seen at once, when the last row is stored. `name` is the file's in errors. Throws a
 * `ServiceError` for a file in no known format, and for one that is torn.
 */
export async function importDocuments(
  database: CommandDatabase,
  { path, name = path }: { path: string; name?: string },
  options: Options,
): Promise<DocumentsSummary> {
  const summary: DocumentsSummary = {
    ...{ documents: 0, added: 0, kinds: new Set<string>(), firstDate: null, lastDate: null },
    refused: new Map(),
  };
  const batches = readLines(path);
  try {
    const store = createDocumentStore(database, timestamp(options.clock()));
    for await (const rows of readDocuments(tracked(batches, path, options))) {
      const work = storeRows(rows, { store, summary, onRefused: options.onRefused });
      await writeInTurns(database, work);
      await eventLoop.sleep(FREE_MS);
    }
    summary.added = database.transaction(() => store.finish());
  } catch (error) {
    const message = `Cannot import ${name}: ${messageOf(error)}`;
    throw new ServiceError('invalid_file', message, { cause: error });
  } finally {
    await batches.return(undefined); // closes a file that was not read to its end
  }
  if (summary.documents === 0 && summary.refused.size === 0)
    throw new ServiceError('invalid_file', `Cannot import ${name}: it has no rows`);
  return summary;
}

async function* tracked(
  batches: AsyncGenerator<LineBatch>,
  path: string,
  { onProgress }: Options,
): AsyncGenerator<LineBatch> {
  const { size: totalBytes } = statSync(path);
  for await (const batch of batches) {
    onProgress?.({ bytesRead: batch.bytesRead, totalBytes });
    yield batch;
  }
}

interface Target {
  store: DocumentStore;
  summary: DocumentsSummary;
  onRefused: Options['onRefused'];
}

function* storeRows(
  rows: readonly FileRow[],
  { store, summary, onRefused }: Target,
): Generator<null> {
  for (const { line, document, defect } of rows) {
    if (defect !== undefined) refuse(line, defect);
    else {
      const stored = store.add(document);
      if (typeof stored === 'object') refuse(line, contradiction(document.id ?? '', stored));
      else note(summary, document);
    }
    yield null;
  }
  function refuse(line: number, defect: Defect): void {
    summary.refused.set(defect.reason, (summary.refused.get(defect.reason) ?? 0) + 1);
    onRefused?.(line, defect);
  }
}

function contradiction(id: string, digests: { contradicts: string; digest: string }): Defect {
  const [before, now] = [digests.contradicts, digests.digest].map((one) => one.slice(0, DIGITS));
  return {
    reason: 'the version of this id and published_at is stored with another content',
    value: `${id}: ${before} is stored, this is ${now}`,
  };
}

function note(
  summary: DocumentsSummary,
  { date, kind }: { date: CalendarDate; kind: string },
): void {
  summary.documents += 1;
  summary.kinds.add(kind);
  if (summary.firstDate === null || date < summary.firstDate) summary.firstDate = date;
  if (summary.lastDate === null || date > summary.lastDate) summary.lastDate = date;
}
