import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { importDocuments } from '../../src/features/document-files/import.ts';
import type { ImportOptions } from '../../src/features/price-files/store-staged.ts';
import { temporaryFolder } from './folder.ts';
import { clockFrom, TODAY } from './service.ts';
import { rowsAsText } from './tables.ts';

/** A row of a file of documents: what a test does not say is that of a short piece of news. */
export function row(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'news', title: 'A title', text: 'A text.', published_at: '2025-01-02', ...fields };
}

export const linesOf = (rows: readonly object[]): string =>
  rows.map((one) => `${JSON.stringify(one)}\n`).join('');

/** Imports rows, or a content as it is, into a database in memory unless one is given. */
export async function importRows(
  content: readonly object[] | string | Buffer,
  database: CommandDatabase = openDatabase(':memory:'),
  options: Partial<ImportOptions> = {},
) {
  const path = join(temporaryFolder(), 'documents');
  const isContent = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(path, isContent ? content : linesOf(content));
  const refused: string[] = [];
  const summary = await importDocuments(database, path, {
    clock: clockFrom(TODAY),
    onRefused: (line, { reason, value }) => refused.push(`${line}: ${reason}: ${value}`),
    ...options,
  });
  return { ...summary, database, refused, stored: documentsIn(database) };
}

/** All versions, also of imports that have not ended, a line each. */
export function documentsIn(database: CommandDatabase): string[] {
  const sql = `SELECT document_id || '|' || kind || '|' || published_at || '|' || symbols || '|' || title || '|' ||
      coalesce(source, '-') || '|' || coalesce(url, '-') || '|' || text
    FROM documents JOIN document_texts USING (version) ORDER BY version`;
  return rowsAsText(database, sql).map((line) => line.replace(/^[0-9a-f]{64}\|/, 'DIGEST|'));
}
