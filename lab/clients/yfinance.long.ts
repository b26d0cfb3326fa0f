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
 * The bars that `yfinance.download` returns, as pandas writes them. Only Yahoo's answers are made
 * up: the columns come from the code of yfinance. Both are installed from PyPI; where they cannot be
 * had, the test is skipped.
 */

const TOOLS = ['yfinance==1.7.0', 'pandas==3.1.1'];
const SCRIPT = new URL('../fixtures/yfinance/download.py', import.meta.url);
const AAPL = ['AAPL 2025-09-02 100 102 99 101 1000', 'AAPL 2025-09-03 100 102 99 101 1000'];
const MSFT = ['MSFT 2025-09-03 200 202 199 201 1000'];

test('what yfinance downloads is imported as pandas writes it, by column and by ticker', async (t) => {
  const folder = temporaryFolder();
  const python = join(folder, 'venv/bin/python');
  const install = () => {
    run('python3', ['-m', 'venv', 'venv'], { cwd: folder });
    run(python, ['-m', 'pip', 'install', '--quiet', '--retries', '1', ...TOOLS], { cwd: folder });
  };
  if (!canInstall(t, TOOLS.join(' and '), install)) return;
  copyFileSync(SCRIPT, join(folder, 'download.py'));
  run(python, ['download.py'], { cwd: folder });
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  assert.equal(files.length, 24);
  for (const name of files) {
    const cwd = installProgram();
    const { code, stderr } = await runProgram(['import-prices', join(folder, name)], { cwd });
    assert.deepEqual([code, stderr], [0, ''], name);
    const database = openDatabase(join(cwd, 'data/jobs.db'));
    t.after(() => database.close());
    const bars =
      'SELECT symbol, date, open, high, low, close, volume FROM price_data ORDER BY 1, 2';
    const expected = name.startsWith('AAPL') ? [...AAPL, ...MSFT] : MSFT;
    assert.deepEqual(rowsAsText(database, bars), expected, name);
  }
});
