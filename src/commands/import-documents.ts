import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { messageOf } from '../basics/domain.ts';
import { list } from '../basics/sentences.ts';
import { readSettings } from '../basics/settings.ts';
import { forTerminal } from '../basics/text.ts';
import { type CommandDatabase, openDatabase } from '../database/database.ts';
import {
  type DocumentsSummary,
  importDocuments as importFile,
} from '../prices/import-documents.ts';
import { resetNote } from './arguments.ts';
import { createRefusalPrinter, describeRefused } from './import-prices.ts';
import { counted, createProgressLine, number } from './terminal.ts';

const NOT_ALL_IMPORTED = 1;
const IMPORT_CACHE_MB = 32;
const MAX_NAMED_KINDS = 12;
const STANDARD_INPUT = '-';

/**
 * The command `import-documents FILE...`: 0 when every file had something to import, otherwise 1;
 * the other files are imported anyway.
 */
export async function importDocuments(paths: readonly string[]): Promise<number> {
  setFlagsFromString('--semi-space-growth-factor=1'); // as import-prices does
  const settings = readSettings(process.env);
  const database = openDatabase(settings.databasePath, {
    durability: 'process-end',
    cacheMb: IMPORT_CACHE_MB,
  });
  let imported = 0;
  for (const path of paths)
    try {
      const read = path === STANDARD_INPUT ? fromStandardInput : importOne;
      const { documents } = await read(database, path);
      imported += documents > 0 ? 1 : 0;
    } catch (error) {
      process.stderr.write(`${forTerminal(messageOf(error))}\n`);
    }
  database.close();
  process.stdout.write(imported > 0 ? resetNote(settings) : '');
  return imported === paths.length ? 0 : NOT_ALL_IMPORTED;
}

/** Keeps it in a file, because what is compressed is read to its end first. */
async function fromStandardInput(database: CommandDatabase): Promise<DocumentsSummary> {
  const folder = mkdtempSync(join(tmpdir(), 'import-documents-'));
  try {
    const path = join(folder, 'standard-input');
    await pipeline(process.stdin, createWriteStream(path));
    return await importOne(database, path, 'standard input');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function importOne(
  database: CommandDatabase,
  path: string,
  name = path,
): Promise<DocumentsSummary> {
  const line = createProgressLine(process.stderr);
  try {
    const summary = await importFile(
      database,
      { path, name },
      {
        clock: () => new Date(),
        onProgress: ({ bytesRead, totalBytes }) => line.draw(bytesRead, totalBytes, basename(name)),
        onRefused: createRefusalPrinter(name, line),
      },
    );
    line.clear();
    process.stdout.write(describe(name, summary));
    return summary;
  } finally {
    line.end();
  }
}

function describe(name: string, summary: DocumentsSummary): string {
  const { documents, added, kinds, firstDate, lastDate } = summary;
  const what =
    documents === 0
      ? 'nothing imported'
      : `imported ${counted(documents, 'document')} (${number(added)} new), ${firstDate} to ${lastDate}: ` +
        list([...kinds].sort(), { most: MAX_NAMED_KINDS });
  return `${[`${forTerminal(name)}: ${what}`, ...describeRefused(summary)].join('\n')}\n`;
}
