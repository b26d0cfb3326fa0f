import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { temporaryFolder } from '../../test/support/folder.ts';
import { pythonWith, run } from '../../test/support/foreign-tools.ts';
import { installProgram, runProgram } from '../../test/support/program.ts';
import { rowsAsText } from '../../test/support/tables.ts';

const BARS =
  'SELECT symbol, date, open, high, low, close, volume, source FROM price_data ORDER BY 1, 2';

interface Script {
  /** From PyPI; where they cannot be had, the test is skipped. */
  packages: readonly string[];
  /** It writes CSV files into its working directory. */
  path: URL;
}

/** The CSV files that a script writes, by name, each with the bars that a program imports from it. */
export async function importedBars(
  t: TestContext,
  { packages, path }: Script,
): Promise<[name: string, bars: string[]][] | null> {
  const python = pythonWith(t, packages);
  if (python === null) return null;
  const folder = temporaryFolder();
  run(python, [path.pathname], { cwd: folder });
  const imported: [name: string, bars: string[]][] = [];
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.csv'))) {
    const cwd = installProgram();
    const { code, stderr } = await runProgram(['import-prices', join(folder, name)], { cwd });
    assert.deepEqual([code, stderr], [0, ''], name);
    const database = openDatabase(join(cwd, 'data/jobs.db'));
    imported.push([name, rowsAsText(database, BARS)]);
    database.close();
  }
  return imported;
}
