import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forTerminal } from '../basics/text.ts';
import { importDocuments as importFile } from '../prices/import-documents.ts';
import { describeRefused, importEach, withProgress } from './import-prices.ts';
import { counted, number } from './terminal.ts';

/**
 * The command `import-documents FILE...`, `-` for standard input: 0 when every file had something
 * to import, otherwise 1; the other files are imported anyway.
 */
export function importDocuments(paths: readonly string[]): Promise<number> {
  return importEach(paths, async (database, name) => {
    const path = name === '-' ? await copyInput() : name;
    const summary = await withProgress(name, (watched) =>
      importFile(database, path, { ...watched, name }),
    );
    const stored = summary.new + summary.known;
    const what = `imported ${counted(stored, 'document')} (${number(summary.new)} new)`;
    const lines = [`${forTerminal(name)}: ${what}`, ...describeRefused(summary), ''];
    process.stdout.write(lines.join('\n'));
    return stored > 0;
  });
}

/** Copies standard input into a file, because what is compressed is read twice. */
async function copyInput(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'import-documents-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const path = join(folder, 'standard-input');
  await writeFile(path, process.stdin);
  return path;
}
