import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commands } from '../src/commands.ts';
import { httpLimits } from '../src/core/http/limits.ts';
import { MAX_COMPARED, MAX_RUNS } from '../src/core/domain/runs.ts';
import { MAX_SYMBOLS } from '../src/core/settings/configuration-schema.ts';
import { readSettings } from '../src/core/settings/settings.ts';
import { MAX_PROMPT_LENGTH } from '../src/core/settings/trusted-file.ts';
import { preparePage, readBlocks } from './support/page-folder.ts';
import { installProgram, runProgram } from './support/program.ts';

/** The guides for operators: their commands run, and the messages and limits in them are those of the program. */

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
  ['backup-move-upgrade', ['before-upgrade.db', 'moved.db']],
  ['publish-and-export', ['days.jsonl', 'site', 'demo-site']],
] as const)
  test(`the commands of docs/guides/${name}.md run as printed`, async () => {
    const cwd = installProgram();
    for (const folder of ['data', 'docs']) mkdirSync(join(cwd, folder));
    copyFileSync(join(ROOT, 'docs/demo-package.db'), join(cwd, 'docs/demo-package.db'));
    copyFileSync(join(ROOT, 'docs/demo-package.db'), join(cwd, 'data/jobs.db'));
    const blocks = readBlocks(`docs/guides/${name}.md`, 'sh');
    const pattern = new RegExp(`(?:DEPLOYMENT_MODE=(\\w+) )?${COMMAND.source}`, 'g');
    const lines = blocks.flatMap((block) => [...block.matchAll(pattern)]);
    assert.ok(lines.length > 1);
    for (const [line, DEPLOYMENT_MODE, text = ''] of lines) {
      const own = text.replaceAll('/mnt/other-disk/', '').replaceAll('gpt-5', 'simulated-1');
      const env = DEPLOYMENT_MODE === undefined ? {} : { DEPLOYMENT_MODE };
      const { code, stderr } = await runProgram(wordsOf(own), { cwd, env });
      assert.equal(code, 0, `${line}: ${stderr}`);
    }
    assert.deepEqual(
      files.filter((file) => !readdirSync(cwd).includes(file)),
      [],
    );
  });

test('the commands of docs/explain/security.md make a token for everything and one that only reads', async (t) => {
  const [make = '', use = ''] = readBlocks('docs/explain/security.md', 'sh');
  const configuration =
    '{"models":[{"signature":"cash","basemodel":"baseline/cash","enabled":true}]}';
  const folder = preparePage(t, configuration, 'DEPLOYMENT_MODE=DEV\n');
  assert.equal((await folder.run(make)).code, 0);
  for (const name of ['.env', 'tokens.txt'])
    assert.equal(statSync(join(folder.path, name)).mode & 0o777, 0o600);
  const url = await folder.serve({ DEPLOYMENT_MODE: 'DEV' });
  assert.equal((await fetch(`${url}/jobs`)).status, 401);
  const trigger = 'npx trading-simulation-service trigger --end 2025-09-15';
  const created = await folder.run(trigger);
  assert.equal(created.code, 0, created.stderr);
  const id = created.stdout.trim();
  const used = await folder.run(use.replace('JOB-ID', id));
  assert.equal(used.code, 0, used.stderr);
  assert.match(used.stdout, new RegExp(`"job_id":"${id}"[^]*Job completed`));
  const [read = ''] = use.split('\n');
  const refused = await folder.run(`${read}\nAPI_TOKEN=$READ_TOKEN ${trigger}`);
  assert.match(refused.stderr, /read-only/);
});

test('the messages that docs/guides/troubleshooting.md explains are those of the program', () => {
  const program = textOf('dist/server.js');
  const rows = textOf('docs/guides/troubleshooting.md').matchAll(/^\| ([^|]+) \|/gm);
  const messages = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+ [^`]+)`/g)].map(([, message = '']) => message),
  );
  assert.ok(messages.length > 15);
  /** Of Node and SQLite. */
  const foreign = ['bad option: --disable-sigusr1', 'is not a database'];
  const parts = messages
    .filter((message) => !foreign.includes(message))
    .flatMap((message) => message.split('…').map((part) => part.trim()));
  assert.deepEqual(
    parts.filter((part) => !program.includes(part)),
    [],
  );
});

test('docs/reference/limits.md has the limits of the program', () => {
  const lines = textOf('docs/reference/limits.md').matchAll(/^\| (.*?) \| (.*?)(?:: \[.*)? \|/gm);
  const page = Object.fromEntries([...lines].map(([, subject, value]) => [subject, value]));
  const number = (value: number) => value.toLocaleString('en');
  const seconds = (...all: number[]) => all.map((ms) => `${ms / 1_000} s`).join(', ');
  const limits = httpLimits;
  const expected = {
    'Request line and headers': `${limits.maxHeadBytes / 1_024} KiB, ${limits.maxHeaders} headers`,
    'Path and query': `${number(limits.maxTargetLength)} characters`,
    Body: `${limits.maxBodyBytes / 1_024} KiB`,
    'Time to send headers, all': seconds(limits.headersTimeoutMs, limits.requestTimeoutMs),
    'Report that waits, runs': seconds(limits.maxReportWaitMs, limits.maxReportMs),
    'Memory of a report, files of all': `${number(limits.maxReportHeapMb)} MB, ${limits.maxReportFilesMb / 1_024} GiB`,
    'Client that stops reading': seconds(limits.stalledTimeoutMs),
    'Idle connection': `${seconds(limits.keepAliveTimeoutMs)}, agents ${seconds(limits.agentKeepAliveMs)}`,
    'Connections, requests on each': [limits.maxConnections, limits.maxRequestsPerSocket]
      .map(number)
      .join(', '),
    'Calendar days': String(readSettings({}).maxSimulationDays),
    'Parallel model-days': `Memory, at most ${number(MAX_RUNS)}`,
    'Runs, with repeats': number(MAX_RUNS),
    'Models in a comparison': String(MAX_COMPARED),
    'Symbols of a universe': number(MAX_SYMBOLS),
    'Characters of a prompt': number(MAX_PROMPT_LENGTH),
  };
  assert.partialDeepStrictEqual(page, expected);
});
