import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { runInProcess } from '../support/in-process.ts';
import { ask, installProgram, runProgram, startServer, waitForJob } from '../support/program.ts';
import { builtPages } from '../support/service.ts';
import { temporaryFolder } from '../support/folder.ts';

/** The command `publish`; what it writes is in test/pages/published.test.ts. */

const SECRETS = {
  API_TOKEN: 'canary-of-the-access-token',
  OPENAI_API_KEY: 'canary-of-the-makers-key',
  MASSIVE_API_KEY: 'canary-of-the-prices',
};

test('a running service is published while it serves, without its keys and paths', async (t) => {
  const own = { signature: 'model-a', enabled: true, openai_api_key: 'canary-of-the-entry' };
  const agent_config = { stock_symbols: ['AAPL', 'MSFT', 'NVDA'] };
  const cwd = installProgram({ models: [own], agent_config });
  const env = { DEPLOYMENT_MODE: 'DEV', ...SECRETS };
  const serving = { ...env, API_TOKEN: '', MASSIVE_API_KEY: '' };
  const { url } = await startServer(t, { cwd, env: serving });
  const dates = { start_date: '2025-10-06', end_date: '2025-10-07' };
  const { job_id: id } = await ask(`${url}/simulate/trigger`, dates);
  assert.equal((await waitForJob(url, id)).status, 'completed');
  const first = await runProgram(['publish', 'site', '--title', 'A board'], { cwd, env });
  assert.deepEqual([first.code, first.stderr], [0, '']);
  assert.match(first.stdout, /^site: (\d+) files, [\d.]+ kB; \1 files changed, 0 files removed\n$/);
  const files = readdirSync(join(cwd, 'site'), { recursive: true, withFileTypes: true });
  const texts = files.map((file) => {
    if (!file.isFile()) return '';
    const bytes = readFileSync(join(file.parentPath, file.name));
    return String(file.name.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  });
  const content = texts.join('\n');
  assert.ok(content.includes('Today') && content.includes(id), 'the conversations and the job');
  for (const secret of [...Object.values(SECRETS), 'canary', cwd, process.cwd()])
    assert.ok(!content.includes(secret), secret);
});

const wrong: [args: string[], code: number, words: RegExp][] = [
  [[], 2, /DIR is missing/],
  [['a', 'b'], 2, /there is no argument "b"/],
  [['site', '--start', 'soon'], 2, /--start: expected a date YYYY-MM-DD, got soon/],
  [['site', '--url', 'example.org'], 2, /--url: expected a URL such as https:/],
  [['site', '--model', 'a'], 2, /there is no option --model/],
  [['site', '--title', 'a\u0007b'], 2, /--title: must not contain a control character \(U\+0007\)/],
  [['site', '--title', 'a\u202eb'], 2, /--title: must not contain a mark of writing direction/],
  [['site', '--url', 'https://a/\nb'], 2, /--url: expected a URL such as https:/],
  [['site'], 1, /There is no database data.jobs\.db \(DEPLOYMENT_MODE=PROD\)/],
];

test('what cannot be published is said, and no folder is made', async () => {
  const cwd = temporaryFolder();
  for (const [args, code, words] of wrong) {
    const ended = await runInProcess(['publish', ...args], { cwd });
    assert.deepEqual([ended.code, ended.stdout], [code, ''], args.join(' '));
    assert.match(ended.stderr, words);
  }
  assert.ok(!existsSync(join(cwd, 'site')));
});

/** A folder whose database is that of the demo's package; the pages are as the build has them. */
async function withPackage(t: TestContext): Promise<string> {
  Object.assign(globalThis, { PAGES: await builtPages() });
  t.after(() => Reflect.deleteProperty(globalThis, 'PAGES'));
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'data'));
  copyFileSync('docs/demo-package.db', join(cwd, 'data/jobs.db'));
  return cwd;
}

const noFolders: [folder: string, why: string][] = [
  ['file', "ENOTDIR: not a directory, lstat 'file/published.lock'"],
  ['file/site', "ENOTDIR: not a directory, mkdir 'file/site'"],
  ['nowhere', "EEXIST: file already exists, mkdir 'nowhere'"],
  ['/dev/null', "ENOTDIR: not a directory, lstat '/dev/null/published.lock'"],
];

test('what is not a folder is refused in a sentence, and stays as it is', async (t) => {
  const cwd = await withPackage(t);
  writeFileSync(join(cwd, 'file'), 'mine');
  symlinkSync('missing', join(cwd, 'nowhere'));
  for (const [folder, why] of noFolders) {
    const { code, stdout, stderr } = await runInProcess(['publish', folder], { cwd });
    assert.deepEqual([code, stdout, stderr], [1, '', `Cannot continue: ${why}\n`]);
  }
  assert.deepEqual(readdirSync(cwd).sort(), ['data', 'file', 'nowhere']);
  assert.equal(readFileSync(join(cwd, 'file'), 'utf8'), 'mine');
});

test('the program that draws the preview gets no key', async (t) => {
  const cwd = await withPackage(t);
  const drawer = join(cwd, 'chromium');
  const draw = 'for word; do case "$word" in --screenshot=*) env > "${word#*=}";; esac; done';
  writeFileSync(drawer, `#!/bin/sh\n${draw}\n`, { mode: 0o700 });
  const env = { ...SECRETS, PATH: process.env['PATH'] ?? '', HOME: cwd };
  const args = ['publish', 'site', '--chromium', drawer];
  const { code, stderr } = await runInProcess(args, { cwd, env });
  assert.deepEqual([code, stderr], [0, '']);
  const got = readFileSync(join(cwd, 'site/preview.png'), 'utf8');
  assert.ok(got.includes(`HOME=${cwd}\n`) && !got.includes('canary'), got);
});
