import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './support/folder.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const SOURCES = join(ROOT, 'src');

/** Programs: to run is what they are for, and nothing imports them but what starts them. */
const PROGRAMS = [
  'main.ts',
  'core/process/no-inspector.ts',
  'core/agent/agent.ts',
  'features/pages/browser/app.ts',
];

const modules = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !PROGRAMS.includes(name))
  .sort();

/**
 * Imports each module, and prints what failed, what it changed in its process and what keeps that
 * alive.
 */
const SCRIPT = `
  process.stdout; process.stderr; // each is opened by its first use
  const state = () => JSON.stringify([process.getActiveResourcesInfo(), process.eventNames(), process.env, process.cwd()]);
  const found = [];
  for (const path of process.argv.slice(1)) {
    const before = state();
    try {
      await import(path);
    } catch (error) {
      found.push(path + ': ' + error.message);
    }
    if (state() !== before) found.push(path + ': ' + before + ' became ' + state());
  }
  console.log(JSON.stringify(found));
`;

test('importing a module writes nothing and opens nothing: what has effects is a call', () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'data'));
  writeFileSync(join(cwd, 'data/jobs_dev.db'), 'kept');
  const readable = ['src', 'node_modules', 'package.json'].map(
    (name) => `--allow-fs-read=${join(ROOT, name)}`,
  );
  const script = ['--input-type=module', '-e', SCRIPT];
  const paths = modules.map((name) => join(SOURCES, name));
  const args = ['--permission', ...readable, ...script, ...paths];
  const runtimeConfig = join(cwd, 'runtime_config.json');
  const env = { DEPLOYMENT_MODE: 'DEV', RUNTIME_CONFIG_PATH: runtimeConfig, TMPDIR: cwd };
  const output = execFileSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
  assert.ok(modules.length > 200);
  assert.deepEqual(JSON.parse(output), []);
  const left = readdirSync(cwd, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(left.sort(), ['data', 'data/jobs_dev.db']);
});
