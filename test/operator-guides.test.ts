import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commands } from '../src/commands.ts';
import { installProgram, runProgram } from './support/program.ts';

/** The guides for operators: their commands run, and the messages that they explain exist. */

const ROOT = new URL('..', import.meta.url).pathname;
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const COMMAND = /\bnpx trading-simulation-service ([a-z][^`&\n]*)/g;
const PAGES = ['backup-move-upgrade', 'publish-and-export', 'run-every-night', 'verify'];

/** The words of a command line; redirections and comments are not words. */
function wordsOf(line: string): string[] {
  const [own = ''] = line.split(/ >> | # /);
  return [...own.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

for (const name of [...PAGES, 'troubleshooting'])
  test(`the commands in docs/guides/${name}.md exist, with their options`, () => {
    const lines = [...textOf(`docs/guides/${name}.md`).matchAll(COMMAND)];
    assert.ok(lines.length > 0);
    for (const [line, text = ''] of lines) {
      const [command = '', ...args] = wordsOf(text);
      const options = Object.keys(commands[command]?.options ?? {}).map((option) => `--${option}`);
      assert.ok(command in commands, line);
      const wrong = args.filter((arg) => arg.startsWith('--') && !options.includes(arg));
      assert.deepEqual(wrong, [], line);
    }
  });

for (const [name, files] of [
  ['backup-move-upgrade', ['before-upgrade.db']],
  ['publish-and-export', ['days.jsonl', 'site']],
] as const)
  test(`the commands of docs/guides/${name}.md run as printed`, async () => {
    const cwd = installProgram();
    mkdirSync(join(cwd, 'data'));
    copyFileSync(join(ROOT, 'docs/demo-package.db'), join(cwd, 'data/jobs.db'));
    const blocks = [...textOf(`docs/guides/${name}.md`).matchAll(/^```sh\n([^]*?)^```/gm)];
    const lines = blocks.flatMap(([, block = '']) => [...block.matchAll(COMMAND)]);
    assert.ok(lines.length > 1);
    for (const [line, text = ''] of lines) {
      const own = text.replaceAll('/mnt/other-disk/', '').replaceAll('gpt-5', 'simulated-1');
      const { code, stderr } = await runProgram(wordsOf(own), { cwd });
      assert.equal(code, 0, `${line}: ${stderr}`);
    }
    assert.deepEqual(
      files.filter((file) => !readdirSync(cwd).includes(file)),
      [],
    );
  });

test('the messages that docs/guides/troubleshooting.md explains are those of the program', () => {
  const program = textOf('dist/server.js');
  const rows = textOf('docs/guides/troubleshooting.md').matchAll(/^\| ([^|]+) \|/gm);
  const messages = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+ [^`]+)`/g)].map(([, message = '']) => message),
  );
  assert.ok(messages.length > 15);
  const ofNode = 'bad option: --disable-sigusr1';
  const parts = messages
    .filter((message) => message !== ofNode)
    .flatMap((message) => message.split('…').map((part) => part.trim()));
  assert.deepEqual(
    parts.filter((part) => !program.includes(part)),
    [],
  );
});
