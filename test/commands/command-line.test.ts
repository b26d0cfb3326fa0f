import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { asksForHelp, parseArguments, WrongUsage } from '../../src/core/commands/arguments.ts';
import {
  loadEnvironmentFile,
  commandHelp,
  generalHelp,
} from '../../src/core/commands/command-line.ts';
import { ignoreBrokenPipe } from '../../src/core/commands/terminal.ts';
import { commands } from '../../src/commands.ts';
import { noLimits } from '../support/disk.ts';
import { ask, installProgram, RUNTIME_CONFIG } from '../support/program.ts';
import { tableOf } from '../support/text-table.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from '../support/folder.ts';

test('every page of help fits on a screen', () => {
  const pages = Object.entries(commands).map(([name, command]) => commandHelp(name, command));
  for (const page of [generalHelp(commands), ...pages]) {
    const lines = page.trimEnd().split('\n');
    assert.ok(lines.length <= 24, page);
    for (const line of lines) assert.ok(line.length <= 100, line);
  }
});

for (const [name, command] of Object.entries(commands)) {
  test(`${name}: its help names every option and argument and has an example that it takes`, () => {
    const [exampleName, ...args] = command.example.split(' ');
    assert.equal(exampleName, name);
    parseArguments(args, command);
    const help = commandHelp(name, command);
    assert.match(help, new RegExp(`^Usage: npx trading-simulation-service ${name}\\b`));
    assert.ok(help.includes(`\n${command.summary}\n`));
    assert.ok(help.includes(`Example:\n  npx trading-simulation-service ${command.example}\n`));
    for (const [option, { value = '', text }] of Object.entries(command.options)) {
      assert.match(help, new RegExp(`^  --${option}${value && ` ${value}`} .*`, 'm'));
      assert.ok(help.includes(text.replaceAll('`', '')));
    }
    if (command.positionals !== undefined)
      assert.match(help, new RegExp(`^Usage: .*${command.positionals.name}`));
    assert.match(generalHelp(commands), new RegExp(`^  ${name} +[A-Z].*[.;]`, 'm'));
  });
}

test('a reader that has gone is outlived, and any other failure to write is thrown', () => {
  for (const [code, isTTY, isOutlived] of [
    ['EPIPE', false, true],
    ['EIO', true, true],
    ['EIO', false, false],
    ['ENOSPC', false, false],
  ] as const) {
    const stream = Object.assign(new PassThrough(), { isTTY });
    ignoreBrokenPipe([stream]);
    const fail = () => stream.emit('error', Object.assign(new Error(`write ${code}`), { code }));
    if (isOutlived) fail();
    else assert.throws(fail, { code });
  }
});

// And logs again when there is room.
test('a service whose log finds no room in its file serves on', { skip: noLimits }, async (t) => {
  const cwd = installProgram();
  const log = join(cwd, 'log');
  const stdio = ['ignore', 'ignore', openSync(log, 'w')] as const;
  const env = { API_PORT: '0', RUNTIME_CONFIG_PATH: RUNTIME_CONFIG };
  const server = spawn(process.execPath, ['server.js'], { cwd, env, stdio: [...stdio] });
  t.after(() => server.kill('SIGKILL'));
  closeSync(stdio[2]);
  const logged = () => readFileSync(log, 'utf8');
  const port = await until('it to listen', () => /"listening".*?"port":(\d+)/.exec(logged())?.[1]);
  const health = () => ask(`http://127.0.0.1:${port}/health`);
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:`]);
  await health();
  const before = logged();
  limit(before.length + 10);
  for (let check = 1; check <= 3; check += 1) assert.equal((await health()).status, 'healthy');
  assert.equal(logged().length, before.length + 10);
  limit('unlimited');
  await health();
  assert.match(logged().slice(before.length + 10), /^\{.*"health check"\}\n$/);
});

test('a temporary folder is removed when its process ends', () => {
  const module = new URL('../../src/core/database/storage/files.ts', import.meta.url).href;
  const program = `
    const { withTemporaryFolder } = await import(${JSON.stringify(module)});
    await withTemporaryFolder(async (folder) => { console.log(folder); process.exit(130); });`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.deepEqual([status, existsSync(stdout.trim())], [130, false]);
});

const declared = {
  options: {
    end: { value: 'DATE', text: '', isRequired: true },
    models: { value: 'A,B', text: '' },
    replace: { text: '' },
  },
  positionals: { name: 'FILE', least: 1, most: 2 },
} as const;

const taken = tableOf<[args: string, end: string, models: string, replace: string, rest: string]>(`
  --end x f                         | x |       |         | f
  f --end=x --models=-a,b --replace g | x | -a,b | replace | f g
  --end x -- --replace              | x |       |         | --replace`);
test('options and arguments are understood in any order', () => {
  for (const [args, end, models, replace, rest] of taken) {
    const values = { end, models: models || undefined, replace: replace !== '' };
    const expected = { values, rest: rest.split(' ') };
    assert.deepEqual(parseArguments(args.split(' '), declared), expected, args);
  }
});

const refused = tableOf<[args: string, problem: string]>(`
                              | --end DATE is missing; FILE is missing
  --end x f g h i             | there is no argument "h", "i"
  --end x f --fast --slow=3 -x | there is no option --fast; there is no option --slow; there is no option -x
  --end x --toString f        | there is no option --toString
  --end --replace f           | --end needs a value: --end DATE
  f --end                     | --end needs a value: --end DATE
  --end= f                    | --end needs a value: --end DATE
  --end '' f                  | --end needs a value: --end DATE
  --end x ''                  | FILE is empty
  --end x f --replace=yes     | --replace takes no value
  --end x --end y f           | --end is given twice
  --end x \u001b[2J\u061c g h | there is no argument "h"
  --end x f g \u009b\u061c    | there is no argument "\ufffd\ufffd"`);
test('wrong arguments are refused with the reason', () => {
  for (const [line, message] of refused) {
    const words = line.split(' ').filter(Boolean);
    const args = words.map((word) => (word === "''" ? '' : word));
    const isRefusal = (error: unknown) => error instanceof WrongUsage && error.message === message;
    assert.throws(() => parseArguments(args, declared), isRefusal, line);
  }
});

test('--help works anywhere except after --', () => {
  for (const args of ['--help', 'x -h', '--end x --help'])
    assert.ok(asksForHelp(args.split(' ')), args);
  for (const args of ['-- --help', '--helpful', 'help'])
    assert.ok(!asksForHelp(args.split(' ')), args);
});

const HOME = process.cwd();

/** The environment after a `.env` with this content (none when undefined) was read. */
function load(
  t: TestContext,
  content: string | Buffer | undefined,
  environment: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  process.chdir(temporaryFolder());
  t.after(() => process.chdir(HOME));
  if (content !== undefined) writeFileSync('.env', content);
  loadEnvironmentFile(environment);
  return environment;
}

test('a .env file sets what the environment lacks, and only that', (t) => {
  assert.deepEqual(load(t, undefined), {});
  const text = `\ufeff# settings
API_PORT=9000 # the port\r
export LOG_LEVEL="DEBUG"

KEY='a
b'
EMPTY=
URL=http://x/?a=b
API_TOKEN=file
NONE=file
`;
  assert.deepEqual(load(t, text, { API_TOKEN: 'given', NONE: '' }), {
    ...{ API_PORT: '9000', LOG_LEVEL: 'DEBUG', KEY: 'a\nb', EMPTY: '', URL: 'http://x/?a=b' },
    ...{ API_TOKEN: 'given', NONE: '' },
  });
});

const NOT_A_LINE = 'is not NAME=VALUE with closed quotes';
const broken: [name: string, content: string | Buffer, problem: string][] = [
  ['a line without an equals sign', '# x\n\nA=1\nsecret\n', `line 4 ${NOT_A_LINE}`],
  ['a line behind a value of two lines', 'A="x\ny" # z\nsecret\n', `line 3 ${NOT_A_LINE}`],
  ['a name with a space', 'MY SECRET=1', `line 1 ${NOT_A_LINE}`],
  ['a quote that is not closed', 'A=1\nB = "secret\nC=2\n', `line 2 ${NOT_A_LINE}`],
  ['binary data', 'A=1\0', 'it is not text'],
  ['text in another encoding', Buffer.from([0x41, 0x3d, 0xff, 0xfe]), 'it is not UTF-8 text'],
  ['too much text', `A=${'x'.repeat(1024 * 1024)}`, 'it is larger than 1048576 bytes'],
];
test('a .env file that cannot be read is an error that does not repeat it', (t) => {
  const environment = {};
  for (const [name, content, problem] of broken) {
    const message = `Cannot read .env: ${problem}`;
    assert.throws(() => load(t, content, environment), { message }, name);
  }
  assert.deepEqual(environment, {});
});

test('a .env that is a folder is an error', (t) => {
  const environment = load(t, undefined);
  mkdirSync('.env');
  assert.throws(() => loadEnvironmentFile(environment), /Cannot read \.env: it is a folder$/);
});
