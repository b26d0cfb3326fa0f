import assert from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { canInstall, run } from '../../test/support/foreign-tools.ts';
import { installProgram, runProgram } from '../../test/support/program.ts';
import { rowsAsText } from '../../test/support/tables.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/**
 * The bars of A shares that the client of Tushare gets, as pandas writes them. Only its server is
 * ours, on loopback. The programs are installed from PyPI; where they cannot be had, the test is
 * skipped.
 */

const TOOLS = ['tushare==1.4.29', 'pandas==3.1.1', 'six==1.17.0', 'setuptools==65.5.0'];
const SCRIPT = new URL('../fixtures/tushare/daily.py', import.meta.url);

test('what the client of Tushare gets is imported as pandas writes it', async (t) => {
  const folder = temporaryFolder();
  const python = join(folder, 'venv/bin/python');
  const install = () => {
    run('python3', ['-m', 'venv', 'venv'], { cwd: folder });
    run(python, ['-m', 'pip', 'install', '--quiet', '--retries', '1', ...TOOLS], { cwd: folder });
  };
  if (!canInstall(t, TOOLS.join(' and '), install)) return;
  copyFileSync(SCRIPT, join(folder, 'daily.py'));
  run(python, ['daily.py'], { cwd: folder });
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  assert.equal(files.length, 3);
  for (const name of files) {
    const cwd = installProgram();
    const { code, stderr } = await runProgram(['import-prices', join(folder, name)], { cwd });
    assert.deepEqual([code, stderr], [0, ''], name);
    const database = openDatabase(join(cwd, 'data/jobs.db'));
    t.after(() => database.close());
    const bars =
      'SELECT symbol, date, open, high, low, close, volume, source FROM price_data ORDER BY 1, 2';
    assert.deepEqual(
      rowsAsText(database, bars),
      [
        '600519.SH 2025-01-06 1453 1462.66 1432.8 1440 4425512 tushare',
        '600519.SH 2025-01-07 1444.66 1451.89 1439 1440.2 2422118 tushare',
        '688981.SH 2025-01-06 88.84 89.6 85.72 86.94 43831308 tushare',
      ],
      name,
    );
  }
});
