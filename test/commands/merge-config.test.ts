import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { mergeConfig } from '../../src/core/commands/merge-config.ts';
import { temporaryFolder } from '../support/folder.ts';

const merge = (target: string, userFile: string | null = null) =>
  mergeConfig({
    ...{ userFile, target, databasePath: 'data/jobs.db', runtimePathNote: '' },
    defaultConfigurationPath: 'configs/default_config.json',
  });

const base = {
  models: [{ signature: 'a', enabled: true }],
  agent_config: { max_steps: 10, initial_cash: 5000 },
  log_config: { level: 1 },
};

/** A working directory with a default configuration and perhaps a user's. */
function enterFolder(t: TestContext, user?: unknown, defaults: unknown = base): string {
  const folder = temporaryFolder();
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(folder);
  for (const name of ['configs', 'user-configs']) mkdirSync(name);
  writeFileSync('configs/default_config.json', JSON.stringify(defaults));
  const text = typeof user === 'string' ? user : JSON.stringify(user);
  if (text !== undefined) writeFileSync('user-configs/config.json', text);
  return join(folder, 'runtime_config.json');
}

const { models, agent_config, log_config } = base;
const few = { agent_config: { initial_cash: 777 } };
const universes = { control: ['QXKZVA'] };
const merges: [name: string, user: unknown, merged: unknown][] = [
  ['nothing', undefined, base],
  ['an empty object', {}, base],
  ['universes', { universes }, { ...base, universes }],
  ['one key of a section', few, { ...base, agent_config: { ...agent_config, initial_cash: 777 } }],
  [
    'a list, which replaces',
    { models: [{ signature: 'b' }] },
    { ...base, models: [{ signature: 'b' }] },
  ],
  ['null, which removes', { agent_config: null }, { models, log_config }],
];
for (const [name, user, merged] of merges) {
  test(`merges ${name}`, async (t) => {
    const target = enterFolder(t, user);
    assert.equal(await merge(target), 0);
    assert.deepEqual(JSON.parse(readFileSync(target, 'utf8')), merged);
  });
}

test('files of members too, also where a configuration has no models', async (t) => {
  const universes = { ndx: { members: 'members.csv' }, control: ['QXKZVA'] };
  const target = enterFolder(t, { universes });
  assert.equal(await merge(target), 0);
  const merged = JSON.parse(readFileSync(target, 'utf8'));
  const members = join(process.cwd(), 'user-configs/members.csv');
  assert.deepEqual(merged, { ...base, universes: { ...universes, ndx: { members } } });
});

test('prompt files, which are relative to the file that names them, get absolute paths', async (t) => {
  const target = enterFolder(t, {
    models: [{ signature: 'b', prompt_file: 'prompts/b.txt' }, { signature: 'c' }],
  });
  assert.equal(await merge(target), 0);
  const { models } = JSON.parse(readFileSync(target, 'utf8'));
  assert.deepEqual(models, [
    { signature: 'b', prompt_file: join(process.cwd(), 'user-configs/prompts/b.txt') },
    { signature: 'c' },
  ]);
});

const broken: [name: string, user: unknown, message: RegExp, defaults?: unknown][] = [
  ['no JSON', '{"models": [', /user-configs\/config\.json: it is not JSON/],
  [
    'a wrong type',
    { agent_config: { max_steps: 'many' } },
    /user-configs\/config\.json, merged over configs\/default_config\.json: agent_config\.max_steps: expected number, got string/,
  ],
  ['a list as a whole', [], /models: is missing/],
  ['models removed', { models: null }, /models: is missing/],
  ['a broken default', {}, /configuration configs\/default_config\.json: models: is missing/, {}],
];
for (const [name, user, message, defaults] of broken) {
  test(`${name} writes nothing and says what is wrong`, async (t) => {
    const target = enterFolder(t, user, defaults);
    await assert.rejects(merge(target), { code: 'broken_configuration', message });
    assert.ok(!existsSync(target));
  });
}

test('a file named on the command line must exist; an unwritable target is reported', async (t) => {
  const target = enterFolder(t);
  const missing = /Server configuration file not found: mine\.json/;
  await assert.rejects(merge(target, 'mine.json'), missing);
  const deep = join(target, 'deep/config.json');
  await assert.rejects(merge(deep), /Cannot write the merged configuration/);
});

test('called without arguments it writes nothing: where to is named by the one that calls it', async (t) => {
  enterFolder(t);
  await assert.rejects(Reflect.apply(mergeConfig, null, []), TypeError);
  assert.deepEqual(readdirSync('.').sort(), ['configs', 'user-configs']);
});

test('a merged configuration replaces an earlier one, and neither writes nor follows what lies beside it', async (t) => {
  const target = enterFolder(t, { agent_config: { max_steps: 3 } });
  writeFileSync('elsewhere', 'mine');
  writeFileSync(target, '{}');
  symlinkSync('elsewhere', `${target}.new`);
  assert.equal(await merge(target), 0);
  assert.equal(JSON.parse(readFileSync(target, 'utf8')).agent_config.max_steps, 3);
  const own = ['runtime_config.json', 'runtime_config.json.new'];
  assert.deepEqual(readdirSync('.').sort(), ['configs', 'elsewhere', ...own, 'user-configs']);
  assert.equal(readFileSync('elsewhere', 'utf8'), 'mine', 'keys would be in it');
});

test('a user configuration may be a stream', async (t) => {
  const target = enterFolder(t);
  execFileSync('mkfifo', ['stream']);
  const writer = spawn('sh', ['-c', 'echo \'{"log_config": null}\' > stream']);
  const ended = new Promise((resolve) => writer.once('exit', resolve));
  assert.equal(await merge(target, 'stream'), 0);
  await ended;
  assert.equal(JSON.parse(readFileSync(target, 'utf8')).log_config, undefined);
});

/**
 * What merge-config finds where it would write the merged configuration, and why it must leave it
 * there.
 */
const inTheWay: [target: string, message: RegExp][] = [
  ['link.json', /it is a symbolic link$/],
  ['nowhere.json', /it is a symbolic link$/],
  ['configs', /it is not a file$/],
  ['old.db', /it is a database$/],
  ['jobs.db-wal', /SQLite uses such a name for the log of a database$/],
  ['owner.lock', /the service uses that name$/],
  ['configs/default_config.json', /one of the files that are merged$/],
  ['user-configs/config.json', /one of the files that are merged$/],
];
test('a merged configuration replaces only a configuration', async (t) => {
  const folder = dirname(enterFolder(t, {}));
  writeFileSync('old.db', `SQLite format 3\0${'x'.repeat(100)}`);
  writeFileSync('other.json', 'other');
  symlinkSync('other.json', 'link.json');
  symlinkSync('missing.json', 'nowhere.json');
  const content = () => readdirSync(folder, { recursive: true }).sort();
  const before = content();
  for (const [file, message] of inTheWay) {
    await assert.rejects(merge(join(folder, file)), { code: 'cannot_start', message });
    assert.deepEqual(content(), before, file);
    assert.equal(readFileSync('other.json', 'utf8'), 'other');
  }
});
