import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { preparePage, readBlocks } from './support/page-folder.ts';

/** The commands of docs/start/quickstart.md, as they are printed there. */

const PAGE = 'docs/start/quickstart.md';

test('the commands of the quick start write its files, import its prices and run its rules', async (t) => {
  const [, prepare = '', trigger = ''] = readBlocks(PAGE, 'sh');
  assert.match(prepare, /\nnpm start\n$/);
  const folder = preparePage(t, '', ' ');
  const prepared = await folder.run(prepare.replace('npm start\n', ''));
  assert.equal(prepared.code, 0, prepared.stdout);
  assert.deepEqual(readFileSync(join(folder.path, '.env'), 'utf8').trim().split('\n'), [
    'RUNTIME_CONFIG_PATH=my-config.json',
    'API_HOST=127.0.0.1',
  ]);
  await folder.serve();
  const { code, stdout, stderr } = await folder.run(trigger);
  assert.equal(code, 0, stdout);
  assert.match(stdout + stderr, /may lack dividends/);
  const [, count = ''] =
    /`(\d+ of \d+)`/.exec(readFileSync(new URL(`../${PAGE}`, import.meta.url), 'utf8')) ?? [];
  assert.ok(stdout.includes(count), stdout);
});
