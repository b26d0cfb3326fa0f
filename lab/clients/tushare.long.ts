import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importedBars } from './written-by-python.ts';

/**
 * The bars of A shares that the client of Tushare gets, as pandas writes them. Only its server is
 * ours, on loopback.
 */

const PACKAGES = ['tushare==1.4.29', 'pandas==3.1.1', 'six==1.17.0', 'setuptools==65.5.0'];
const SCRIPT = new URL('../fixtures/tushare/daily.py', import.meta.url);
const BARS = [
  '600519.SH 2025-01-06 1453 1462.66 1432.8 1440 4425512 tushare',
  '600519.SH 2025-01-07 1444.66 1451.89 1439 1440.2 2422118 tushare',
  '688981.SH 2025-01-06 88.84 89.6 85.72 86.94 43831308 tushare',
];

test('what the client of Tushare gets is imported as pandas writes it', async (t) => {
  const imported = await importedBars(t, { packages: PACKAGES, path: SCRIPT });
  if (imported === null) return;
  assert.equal(imported.length, 3);
  for (const [name, bars] of imported) assert.deepEqual(bars, BARS, name);
});
