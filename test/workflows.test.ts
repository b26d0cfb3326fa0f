import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { canInstall, run } from './support/foreign-tools.ts';
import { temporaryFolder } from './support/folder.ts';
import { inLongForm } from './support/long.ts';
import { installProgram } from './support/program.ts';

/** The workflows of GitHub, as far as they can be tried without it: their rules, and two steps of the release. */

const ROOT = new URL('..', import.meta.url).pathname;
const FOLDER = '.github/workflows';
const LINTER = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
const INSTALL_MS = 300_000;
const PUBLISHES = /npm publish|docker login|--push|gh release create/;

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const workflows = readdirSync(join(ROOT, FOLDER)).map((name) => textOf(join(FOLDER, name)));
const release = textOf(join(FOLDER, 'release.yml'));
/** For forks; not a workflow of this repository. */
const BOARD = 'examples/github/board.yml';

/** The text of each job, with its lines' indentation. */
const jobsIn = (workflow: string) => workflow.split(/^jobs:$/m)[1]?.split(/^(?= {2}\w+:$)/m) ?? [];

test('every action is pinned by its commit, beside a comment with its version', () => {
  const uses = [...workflows, textOf(BOARD)].flatMap((text) => [...text.matchAll(/\buses: (.*)/g)]);
  assert.ok(uses.length > 10);
  const loose = uses.filter(([, action = '']) => !/^[\w/-]+@[0-9a-f]{40} # v[\d.]+$/.test(action));
  assert.deepEqual(loose, []);
});

test('what publishes waits for the environment, and only that may write', () => {
  const jobs = workflows.flatMap(jobsIn).filter((job) => job.trim() !== '');
  const publishing = jobs.filter((job) => PUBLISHES.test(job));
  assert.equal(publishing.length, 3);
  for (const pattern of [/^ {4}environment: release$/m, /: write\b/])
    assert.deepEqual(
      jobs.filter((job) => pattern.test(job)),
      publishing,
    );
  for (const workflow of workflows)
    assert.match(workflow, /^permissions:( \{\}|\n {2}contents: read)\n\n/m);
  assert.match(release, /^permissions: \{\}$/m);
  assert.doesNotMatch(workflows.join('\n'), /\bsecrets\./);
});

test('the files of dist/ that a release contains are those that the build writes', () => {
  const names = [...release.matchAll(/\bdist\/([\w.-]+)/g)].map(([, name = '']) => name);
  assert.deepEqual([...new Set(names)].sort(), [
    'server.js',
    'server.js.map',
    'trading-simulation-service',
  ]);
  assert.match(textOf('build-executable.mjs'), /join\(dist, 'trading-simulation-service'\)/);
});

/** The shell script of a step of the release. */
function scriptOf(step: string): string {
  const [, text = ''] = release.split(`- name: ${step}\n`);
  const [, script = ''] = /^ +run: \|\n((?: {10}.*\n)+)/m.exec(text) ?? [];
  assert.notEqual(script, '', step);
  return script.replaceAll(/^ {10}/gm, '');
}

/** Runs a step as a runner does, for the tag v2.0.1 of the repository example/sim. */
function runStep(step: string, cwd: string, path: string[] = []) {
  const PATH = [...path, process.env['PATH']].join(':');
  const env = { ...process.env, PATH, GITHUB_REF_NAME: 'v2.0.1', GITHUB_REPOSITORY: 'example/sim' };
  return spawnSync('bash', ['-eo', 'pipefail', '-c', scriptOf(step)], {
    cwd,
    env,
    encoding: 'utf8',
  });
}

const PACKAGE = {
  name: 'sim',
  version: '2.0.1',
  repository: { type: 'git', url: 'git+https://github.com/example/sim.git' },
};
const CHANGES = `# Changelog

## 2.0.10 (2027-01-03)

- Newer.

## 2.0.1 (2027-01-02)

- See [prices](docs/reference/price-files.md#import-files) and [npm](https://docs.npmjs.com).

## 2.0.0 (2027-01-01)

- Older.
`;

function checkout(files: { manifest?: object; program?: string; changes?: string }): string {
  const cwd = temporaryFolder();
  const { manifest = PACKAGE, program = '2.0.1', changes = CHANGES } = files;
  mkdirSync(join(cwd, 'src/core/process'), { recursive: true });
  writeFileSync(join(cwd, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(cwd, 'src/core/process/version.ts'), `export const VERSION = '${program}';\n`);
  writeFileSync(join(cwd, 'CHANGELOG.md'), changes);
  return cwd;
}

test('the notes of a release are the section of its version, with links that work on its page', () => {
  const cwd = checkout({});
  const { status, stderr } = runStep('Check the version and write the notes', cwd);
  assert.equal(status, 0, stderr);
  const link =
    'https://github.com/example/sim/blob/v2.0.1/docs/reference/price-files.md#import-files';
  assert.equal(
    readFileSync(join(cwd, 'out/notes.md'), 'utf8').trim(),
    `- See [prices](${link}) and [npm](https://docs.npmjs.com).`,
  );
});

for (const [files, message] of [
  [{ manifest: { ...PACKAGE, version: '2.0.0' } }, 'package.json has another version'],
  [{ program: '2.0.0' }, 'version.ts has another version'],
  [{ manifest: { ...PACKAGE, private: true } }, 'package.json is private: npm would refuse it'],
  [
    { manifest: { ...PACKAGE, repository: { url: 'https://github.com/other/sim.git' } } },
    'package.json names another repository: npm would refuse the provenance',
  ],
  [{ changes: '## Unreleased\n\n- 2.0.1\n' }, 'CHANGELOG.md has no section 2.0.1'],
] as const)
  test(`a release stops before it builds: ${message}`, () => {
    const ended = runStep('Check the version and write the notes', checkout(files));
    assert.deepEqual([ended.status, ended.stderr.trim()], [1, message]);
  });

for (const [rules, status] of [
  ['branch_policy\nrequired_reviewers', 0],
  ['branch_policy', 1],
  ['', 1],
] as const)
  test(`with the rules ${JSON.stringify(rules)} of its environment a release ends with ${status}`, () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'gh'), `#!/bin/sh\nprintf '%s\\n' '${rules}'\n`);
    chmodSync(join(cwd, 'gh'), 0o755);
    assert.equal(runStep('Require an approval', cwd, [cwd]).status, status);
  });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Stands in for GitHub's own program, with a folder for the assets of the release. */
const GH = `#!/bin/bash
case "$2" in
  view) [ -d "$STORE" ] && ls "$STORE" ;;
  create) mkdir "$STORE" ;;
  download) mkdir before && cp "$STORE/board.db" before/ ;;
  upload) cp "$4" "$STORE/" ;;
esac
`;

test('the scripts of examples/github/board.yml keep the database from one run to the next', async () => {
  const script = [...textOf(BOARD).matchAll(/^ +run: \|\n((?: {10}.*\n)+)/gm)]
    .map(([, lines = '']) => lines.replaceAll(/^ {10}/gm, ''))
    .join('');
  const tools = temporaryFolder();
  const program = `#!/bin/sh\nshift\nexec '${process.execPath}' server.js "$@"\n`;
  for (const [name, text] of [
    ['gh', GH],
    ['npx', program],
  ] as const) {
    writeFileSync(join(tools, name), text);
    chmodSync(join(tools, name), 0o755);
  }
  const env = {
    PATH: `${tools}:${process.env['PATH']}`,
    STORE: join(tools, 'store'),
    API_HOST: '127.0.0.1',
    API_PORT: String(await freePort()),
    RUNTIME_CONFIG_PATH: 'my-config.json',
    DEPLOYMENT_MODE: 'DEV',
    PRESERVE_DEV_DATA: 'true',
  };
  const models = [{ signature: 'hold', basemodel: 'baseline/buy-and-hold', enabled: true }];
  const runBoard = () => {
    const cwd = installProgram();
    writeFileSync(join(cwd, 'my-config.json'), JSON.stringify({ models }));
    const stop = "trap 'kill %1; wait %1' EXIT\n";
    const { stdout, stderr, status } = spawnSync('bash', ['-eo', 'pipefail', '-c', stop + script], {
      cwd,
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
    assert.ok(readdirSync(join(cwd, 'site')).includes('index.html'));
    return stdout + stderr;
  };
  assert.doesNotMatch(runBoard(), /restored from/);
  const second = runBoard();
  assert.match(second, /restored from before\/board\.db/);
  assert.match(second, /^board\.db: .*, 1 job, 1 model-day,/m);
});

test('actionlint finds nothing in the workflows', inLongForm, (t: TestContext) => {
  const folder = temporaryFolder();
  const env = { ...process.env, GOBIN: folder };
  const install = () => run('go', ['install', LINTER], { cwd: folder, env, timeout: INSTALL_MS });
  if (!canInstall(t, 'actionlint', install)) return;
  const own = readdirSync(join(ROOT, FOLDER)).map((name) => join(ROOT, FOLDER, name));
  const paths = [...own, join(ROOT, BOARD)];
  assert.equal(run(join(folder, 'actionlint'), ['-no-color', ...paths], { cwd: ROOT }), '');
});
