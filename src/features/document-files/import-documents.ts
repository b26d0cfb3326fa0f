import { appendFileSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timestamp } from '#time/calendar.ts';
import { readSettings } from '#settings/settings.ts';
import { formatNumber, plural } from '#text/sentences.ts';
import { forTerminal } from '#text/text.ts';
import type { CommandDatabase } from '#database/database.ts';
import { claimDocuments } from '#database/storage/owner.ts';
import { importDocuments as importFile } from './import.ts';
import { describeRefused, importEach, withProgress } from '../price-files/import-prices.ts';

/**
 * The command `import-documents FILE...`, `-` for standard input: 0 when every file had something
 * to import, otherwise 1; the other files are imported anyway.
 */
export async function importDocumentFiles(paths: readonly string[]): Promise<number> {
  const claim = claimDocuments(readSettings(process.env).databasePath, timestamp(new Date()));
  try {
    return await importEach(paths, importDocumentFile);
  } finally {
    claim.release();
  }
}

async function importDocumentFile(database: CommandDatabase, name: string): Promise<boolean> {
  const path = name === '-' ? await copyInput() : name;
  const summary = await withProgress(name, (watched) => importFile(database, path, watched));
  const stored = summary.new + summary.known;
  const what = `imported ${plural(stored, 'document')} (${formatNumber(summary.new)} new)`;
  const lines = [`${forTerminal(name)}: ${what}`, ...describeRefused(summary), ''];
  process.stdout.write(lines.join('\n'));
  return stored > 0;
}

/**
 * Copies standard input into a file, because what is compressed is read twice. The file has lost
 * its name before anything is in it, so that no copy stays, however the process ends.
 */
async function copyInput(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'import-documents-'));
  const copy = openSync(join(folder, 'standard-input'), 'wx+');
  rmSync(folder, { recursive: true });
  for await (const piece of process.stdin) appendFileSync(copy, piece);
  return `/dev/fd/${copy}`;
}
