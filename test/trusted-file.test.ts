import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { loadEnvironmentFile } from '../src/core/commands/command-line.ts';
import { readConfiguration } from '../src/core/settings/configuration.ts';
import { ServiceError } from '../src/core/domain/service-error.ts';
import { readAccessTokens } from '../src/core/http/access.ts';
import { ForeignFile, readTrustedFile } from '../src/core/settings/trusted-file.ts';
import { temporaryFolder } from './support/folder.ts';

/** A user of the machine who is neither this process's nor root. */
const STRANGER = 54_321;
const notRoot = process.geteuid?.() === 0 ? false : 'only root can give files to another user';
function write(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o644);
}

/** A folder that everyone may write, as `/tmp` is. */
function sharedFolder(mode = 0o1777): string {
  const folder = join(temporaryFolder(), 'shared');
  mkdirSync(folder);
  chmodSync(folder, mode);
  return folder;
}

const readTokens = (path: string) => readAccessTokens({ apiToken: null, apiTokensFile: path });
/** How each kind of file is read, and the code of its refusal. */
const readers: [kind: string, read: (path: string) => unknown, content: string, code: string][] = [
  ['a configuration', readConfiguration, '{"models": []}', 'broken_configuration'],
  ['a prompt', readAsPrompt, 'Be bold.', 'broken_configuration'],
  ['a file of tokens', readTokens, 'token-1', 'cannot_start'],
  ['.env', readAsEnvironment, 'A=1', 'cannot_start'],
];

function readAsPrompt(path: string): unknown {
  const configuration = join(path, '../../configuration-of-prompt.json');
  write(configuration, JSON.stringify({ models: [{ signature: 'a', prompt_file: path }] }));
  return readConfiguration(configuration);
}

function readAsEnvironment(path: string): unknown {
  const before = process.cwd();
  if (path !== join(path, '../.env')) symlinkSync(path, join(path, '../.env'));
  process.chdir(join(path, '..'));
  try {
    return loadEnvironmentFile({});
  } finally {
    process.chdir(before);
    if (path !== join(path, '../.env')) rmSync(join(path, '../.env'));
  }
}

for (const [kind, read, content, code] of readers) {
  test(`${kind} of another user, where others may write, is refused`, { skip: notRoot }, () => {
    const path = join(sharedFolder(), 'file');
    write(path, content);
    read(path);
    chownSync(path, STRANGER, STRANGER);
    const reason = /file belongs to user 54321, .* root or user .*chown/;
    assert.throws(() => read(path), { code, message: reason });
  });

  test(`${kind} that is not a regular file is refused at once`, async (t) => {
    const folder = sharedFolder();
    const [fifo, socket] = [join(folder, 'fifo'), join(folder, 'socket')];
    execFileSync('mkfifo', [fifo]);
    const server = createServer().listen(socket);
    t.after(() => server.close());
    for (const path of [fifo, '/dev/zero'].filter((path) => kind !== '.env' || path === fifo))
      assert.throws(() => read(path), { code, message: /it is not a regular file/ }, path);
    assert.throws(() => read(folder), { code, message: /it is a folder/ });
  });

  test(`${kind} that is too large, or not UTF-8, is refused`, () => {
    const path = join(sharedFolder(), 'file');
    writeFileSync(path, Buffer.alloc(5 * 1024 * 1024, 0x20));
    assert.throws(() => read(path), { code, message: /larger than|more than/ });
    writeFileSync(path, Buffer.from(`${content}\xe9`, 'latin1'));
    assert.throws(() => read(path), { code, message: /it is not UTF-8 text$/ });
  });
}

type Place = (folder: string, path: string) => string;

/**
 * Where a file lies, and whether it may be read: `path` is a stranger's file in a folder that only
 * that user can write.
 */
const places: [name: string, place: Place, isRead: boolean][] = [
  ["another user's folder, as containers mount them", (_, path) => path, true],
  ["root's link in a shared folder", (folder, path) => link(path, join(folder, 'link')), true],
  [
    "another user's link there",
    (folder, path) => link(path, join(folder, 'link'), STRANGER),
    false,
  ],
  [
    'two links, the second of another user',
    (folder, path) => link(link(path, join(folder, 'second'), STRANGER), join(folder, 'first')),
    false,
  ],
  [
    'a linked folder of another user',
    (folder, path) => join(link(join(path, '..'), join(folder, 'linked'), STRANGER), 'file'),
    false,
  ],
  [
    'a relative link',
    (folder, path) => link(`../theirs/${basename(path)}`, join(folder, 'link')),
    true,
  ],
  [
    "another user's folder in a shared one",
    (folder) => own(inside(join(folder, 'theirs')), STRANGER),
    false,
  ],
  ["root's folder in a shared one", (folder) => inside(join(folder, 'ours')), true],
  ["its group may write, the folder's owner", (folder) => ownedIn(folder, 0o775, STRANGER), true],
  ['its group may write, another user', (folder) => ownedIn(folder, 0o775, STRANGER + 1), false],
  ["everyone may write, the folder's owner", (folder) => ownedIn(folder, 0o777, STRANGER), false],
];

function link(target: string, path: string, owner = 0): string {
  symlinkSync(target, path);
  lchownSync(path, owner, owner);
  return path;
}

function inside(folder: string): string {
  mkdirSync(folder);
  write(join(folder, 'file'), 'text');
  return join(folder, 'file');
}

function own(path: string, owner: number): string {
  for (const one of [path, join(path, '..')]) chownSync(one, owner, owner);
  return path;
}

/** A file of that owner in a folder of the stranger. */
function ownedIn(shared: string, mode: number, owner: number): string {
  const path = own(inside(join(shared, '..', 'group')), STRANGER);
  chmodSync(join(path, '..'), mode);
  chownSync(path, owner, owner);
  return path;
}

for (const [name, place, isRead] of places) {
  test(`a file is ${isRead ? 'read' : 'refused'}: ${name}`, { skip: notRoot }, () => {
    const folder = sharedFolder();
    const path = place(folder, own(inside(join(folder, '../theirs')), STRANGER));
    if (isRead) assert.equal(readTrustedFile(path, 100).toString(), 'text');
    else assert.throws(() => readTrustedFile(path, 100), ForeignFile);
  });
}

test('paths through links, dots and loops lead where the system takes them', () => {
  const folder = temporaryFolder();
  const path = inside(join(folder, 'deep'));
  mkdirSync(join(folder, 'other'));
  symlinkSync(join(folder, 'deep'), join(folder, 'other/linked'));
  for (const way of [path, `${folder}//other/./linked/file`, `${folder}/other/linked/../deep/file`])
    assert.equal(readTrustedFile(way, 4).toString(), 'text', way);
  assert.throws(() => readTrustedFile(path, 3), /larger than 3 bytes/);
  writeFileSync(`${path}-wal`, '');
  const link = join(folder, 'link-to-database');
  symlinkSync(path, link);
  const lock = join(folder, 'owner.lock');
  writeFileSync(lock, '');
  for (const name of [path, `${path}-wal`, link, lock])
    assert.throws(() => readTrustedFile(name, 4), /^Error: it is a database$/, name);
  for (const name of [`${path}-wal`, link, lock]) rmSync(name);
  symlinkSync('loop', join(folder, 'loop'));
  assert.throws(() => readTrustedFile(join(folder, 'loop'), 4), { code: 'ELOOP' });
  renameSync(path, join(folder, 'gone'));
  assert.throws(() => readTrustedFile(path, 4), { code: 'ENOENT' });
});

test('a file with two names is read, unless this process has it open', () => {
  const folder = temporaryFolder();
  const [path, name] = [inside(join(folder, 'deep')), join(folder, 'name')];
  linkSync(path, name);
  assert.equal(readTrustedFile(name, 4).toString(), 'text');
  const open = openSync(path, 'r');
  assert.throws(() => readTrustedFile(name, 4), /^Error: it is a database$/);
  closeSync(open);
});

test('an error that names no file of a stranger is an ordinary one', () => {
  assert.throws(
    () => readConfiguration('/nonexistent/c.json'),
    (error) => error instanceof ServiceError && !(error.cause instanceof ForeignFile),
  );
});
