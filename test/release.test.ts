import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './support/folder.ts';

/** The scripts of RELEASING.md, without the network: `docker` and `git` are stand-ins. */

const ROOT = new URL('..', import.meta.url).pathname;
const PAGE = readFileSync(join(ROOT, 'RELEASING.md'), 'utf8');

/** Runs a script in a folder with copies of files, and stand-ins for programs. */
function runScript(name: string, files: string[], programs: Record<string, string>) {
  assert.ok(PAGE.includes(`lab/release/${name}`), `${name} in RELEASING.md`);
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, '.github/workflows'), { recursive: true });
  for (const file of files) copyFileSync(join(ROOT, file), join(cwd, file));
  for (const [program, text] of Object.entries(programs)) {
    writeFileSync(join(cwd, program), `#!/bin/sh\n${text}\n`);
    chmodSync(join(cwd, program), 0o755);
  }
  const env = { PATH: `${cwd}:${process.env['PATH']}` };
  const script = join(ROOT, 'lab/release', name);
  return { cwd, ...spawnSync('sh', ['-e', script], { cwd, env, encoding: 'utf8' }) };
}

const IMAGES = /^ARG \w+_IMAGE=.*@/gm;
test('the base images are renewed to the digests of their tags', () => {
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
  const programs = { docker: `echo '"${digest}"'`, git: 'true' };
  const { cwd, status, stderr } = runScript('renew-images.sh', ['Dockerfile'], programs);
  assert.equal(status, 0, stderr);
  const renewed = readFileSync(join(cwd, 'Dockerfile'), 'utf8');
  const before = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  assert.equal(renewed.split(`@${digest}\n`).length - 1, 2);
  assert.deepEqual(renewed.match(IMAGES), before.match(IMAGES));
  const failed = runScript('renew-images.sh', ['Dockerfile'], { docker: 'true', git: 'true' });
  assert.equal(failed.status, 1);
  assert.equal(readFileSync(join(failed.cwd, 'Dockerfile'), 'utf8'), before);
});

test('an action whose commit is not that of its version is named', () => {
  const files = ['ci.yml', 'release.yml'].map((name) => `.github/workflows/${name}`);
  const pins = files.flatMap((file) => [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(/uses: (\S+)@(\w{40})/g),
  ]);
  const commits = [...new Set(pins.map(([, , commit]) => commit))];
  const known = (answers: (string | undefined)[]) => ({
    git: `printf '%s\\trefs\\n' ${answers.join(' ')}`,
  });
  const right = runScript('verify-actions.sh', files, known(commits));
  assert.equal(right.status, 0, right.stdout);
  assert.equal(right.stdout.match(/^right /gm)?.length, commits.length);
  const wrong = runScript('verify-actions.sh', files, known(commits.slice(1)));
  assert.equal(wrong.status, 1);
  assert.match(wrong.stdout, new RegExp(`^WRONG \\S+@${commits[0]} v`, 'm'));
});
