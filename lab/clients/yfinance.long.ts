import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importedBars } from './written-by-python.ts';

/**
 * The bars that `yfinance.download` returns, as pandas writes them. Only Yahoo's answers are made
 * up: the columns come from the code of yfinance.
 */

const PACKAGES = ['yfinance==1.7.0', 'pandas==3.1.1'];
const SCRIPT = new URL('../fixtures/yfinance/download.py', import.meta.url);
const AAPL = ['AAPL 2025-09-02 100 102 99 101 1000', 'AAPL 2025-09-03 100 102 99 101 1000'];
const MSFT = ['MSFT 2025-09-03 200 202 199 201 1000'];

test('what yfinance downloads is imported as pandas writes it, by column and by ticker', async (t) => {
  const imported = await importedBars(t, { packages: PACKAGES, path: SCRIPT });
  if (imported === null) return;
  assert.equal(imported.length, 24);
  for (const [name, bars] of imported) {
    // Adjusted prices beside unadjusted ones are a mark of Yahoo's.
    const source = name.includes('False') ? 'yahoo' : 'file-split-adjusted';
    const expected = name.startsWith('AAPL') ? [...AAPL, ...MSFT] : MSFT;
    assert.deepEqual(
      bars,
      expected.map((bar) => `${bar} ${source}`),
      name,
    );
  }
});
