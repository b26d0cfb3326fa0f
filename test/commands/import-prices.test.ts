import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostileStrings } from '../support/hostile.ts';
import { installProgram, runProgram } from '../support/program.ts';

test('what stands in a file gives the terminal no orders', async (t) => {
  const cwd = installProgram(t);
  const texts = hostileStrings.map(({ text }) => text).filter((text) => text.length < 1_000);
  const cells = texts.map((text) => `"${text.replaceAll('"', '""').replaceAll('\n', '')}"`);
  const rows = cells.flatMap((cell) => [`${cell},2025-01-06,1`, `AAPL,${cell},1`, `AAPL,2025-01-06,${cell}`]);
  writeFileSync(join(cwd, 'prices.csv'), `symbol,date,open\n${rows.join('\n')}\n`);
  writeFileSync(join(cwd, 'refusal.json'), JSON.stringify({ 'Error Message': texts.join(' ') }));
  const files = ['prices.csv', 'refusal.json'];
  const { stdout, stderr } = await runProgram(['import-prices', ...files], { cwd, env: { DEPLOYMENT_MODE: 'DEV' } });
  assert.match(stderr, /prices\.csv:2: refused, /);
  assert.match(stderr, /refusal\.json: it holds the provider's message/);
  assert.doesNotMatch((stdout + stderr).replaceAll('\n', ''), /\p{Cc}|\p{Bidi_Control}/u);
});
