import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostileStrings } from '../support/hostile.ts';
import { runInProcess } from '../support/in-process.ts';
import { installProgram } from '../support/program.ts';

test('text in a file cannot control the terminal', async (t) => {
  const cwd = installProgram(t);
  const texts = hostileStrings.map(({ text }) => text).filter((text) => text.length < 1_000);
  const cells = texts.map((text) => `"${text.replaceAll('"', '""').replaceAll('\n', '')}"`);
  const rows = cells.flatMap((cell) => [`${cell},2025-01-06,1`, `AAPL,${cell},1`, `AAPL,2025-01-06,${cell}`]);
  writeFileSync(join(cwd, 'prices.csv'), `symbol,date,open\n${rows.join('\n')}\n`);
  writeFileSync(join(cwd, 'refusal.json'), JSON.stringify({ 'Error Message': texts.join(' ') }));
  const files = ['prices.csv', 'refusal.json'];
  const { stdout, stderr } = await runInProcess(['import-prices', ...files], { cwd, env: { DEPLOYMENT_MODE: 'DEV' } });
  assert.match(stderr, /prices\.csv:2: refused, /);
  assert.match(stderr, /refusal\.json: it holds the provider's message/);
  assert.doesNotMatch((stdout + stderr).replaceAll('\n', ''), /\p{Cc}|\p{Bidi_Control}/u);
});

test('a file that cannot be imported is exit code 1, and the others are stored', async (t) => {
  const cwd = installProgram(t);
  const bad = Array.from({ length: 25 }, (_, index) => `AAPL,0000-01-${String(index + 1).padStart(2, '0')},1`);
  writeFileSync(join(cwd, 'good.csv'), `symbol,date,open\n${bad.join('\n')}\nAAPL,soon,1\nAAPL,2025-01-06,1\n`);
  const { code, stdout, stderr } = await runInProcess(['import-prices', 'good.csv', 'missing.csv'], { cwd });
  assert.equal(code, 1);
  assert.match(stderr, /Cannot import missing\.csv: ENOENT/);
  assert.match(stdout, /imported 1 bars .*\n  refused 25 rows: a date before 1900-01-01\n  refused 1 rows: not a date/);
  const told = stderr.split('\n').filter((line) => line.startsWith('good.csv'));
  assert.deepEqual(
    [told.length, told[19], told[20], told[21]],
    [
      22,
      'good.csv:21: refused, a date before 1900-01-01: "0000-01-20"',
      'good.csv: further rows refused for this reason are only counted: a date before 1900-01-01',
      'good.csv:27: refused, not a date YYYY-MM-DD: "soon"',
    ],
  );
});
