import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { followProgram, installProgram } from './support/program.ts';
import { until } from './support/until.ts';

/** What a clone or an image brings along beside the program. */

const ROOT = new URL('..', import.meta.url).pathname;
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifest = JSON.parse(textOf('package.json'));
const lock = JSON.parse(textOf('package-lock.json'));

test('npm ci brings Node along for Linux and macOS on both processors, each one that the program runs on', () => {
  const runtimes = Object.entries<string>(manifest.optionalDependencies).map(([name, version]) => {
    const { os, cpu, bin } = lock.packages[`node_modules/${name}`];
    const [major = 0, minor = 0] = version.split('.').map(Number);
    assert.ok(major >= 26 || (major === 24 && minor >= 15), `${name} ${version} against ${manifest.engines.node}`);
    assert.deepEqual(bin, { node: 'bin/node' });
    return `${os} ${cpu}`;
  });
  assert.deepEqual(runtimes.sort(), ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64']);
});

test('every package is locked by its hash, and none by the address of a registry', () => {
  const { '': root, ...packages } = lock.packages;
  assert.deepEqual(root.optionalDependencies, manifest.optionalDependencies);
  for (const [path, { integrity, resolved }] of Object.entries<any>(packages)) {
    assert.match(integrity, /^sha512-/, path);
    assert.equal(resolved, undefined, path);
  }
});

test('the program holds the licences of the project and of all that is bundled, and --licenses prints them', () => {
  assert.deepEqual([manifest.license, lock.packages[''].license], ['MIT', 'MIT']);
  const texts = ['LICENSE', 'node_modules/valibot/LICENSE.md', 'node_modules/uplot/LICENSE'].map((path) => textOf(path).trim());
  const printed = execFileSync(process.execPath, ['dist/server.js', '--licenses'], { cwd: ROOT, encoding: 'utf8' });
  const [comment = ''] = /^\/\*![^]*?\*\//.exec(textOf('dist/server.js')) ?? [];
  for (const text of texts) {
    assert.match(text, /^(The )?MIT License/i);
    assert.ok(printed.includes(text), text);
    assert.ok(comment.includes(text), text);
  }
  assert.equal(printed.match(/, included here under this licence:$/gm)?.length, texts.length - 1);
});

const npm = spawnable('npm', ['--version']) ? false : 'there is no npm here';

function spawnable(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('SIGTERM to npm start ends the server', { skip: npm }, async (t) => {
  const cwd = installProgram(t);
  symlinkSync('.', join(cwd, 'dist'));
  // The scripts are those of the project; what they build is there already.
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts: manifest.scripts }));
  writeFileSync(join(cwd, 'build.mjs'), '');
  const env = { PATH: process.env['PATH'], HOME: cwd, DEPLOYMENT_MODE: 'DEV', API_PORT: '0' };
  const program = followProgram(spawn('npm', ['start'], { cwd, env, detached: true }));
  t.after(() => {
    try {
      process.kill(-(program.process.pid as number), 'SIGKILL');
    } catch {
      // Nothing of it is left, as it should be.
    }
  });
  const [, port] = await program.waitFor(/"message":"listening".*?"port":(\d+)/);
  const isServed = () => fetch(`http://127.0.0.1:${port}/health`).then(
    () => true,
    () => false,
  );
  assert.ok(await isServed());
  program.process.kill('SIGTERM');
  await until('the end of the server', async () => !(await isServed()));
});
