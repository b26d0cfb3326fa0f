import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type Ended, followProgram, installProgram } from './support/program.ts';

/** The commands of the guides for researchers, run as printed, print what the pages say. */

const ROOT = new URL('..', import.meta.url).pathname;
const PROGRAM = 'npx trading-simulation-service';
/** In a clone, npx finds the program and Node; what npm installs and builds is there already. */
const CLONE = `
npm() { :; }
npx() { if [ "$1" = trading-simulation-service ]; then shift; node server.js "$@"; else "$@"; fi; }
`;

interface Block {
  commands: string;
  /** What the page says that they print; empty where it does not. */
  printed: string;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const found = text.matchAll(/^```sh\n([^]*?)^```\n(?:\n(?:.*prints:\n\n)?```\n([^]*?)^```\n)?/gm);
  return [...found].map(([, commands = '', printed = '']) => ({ commands, printed }));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Clone {
  folder: string;
  env: Record<string, string>;
}

async function makeClone(): Promise<Clone> {
  const folder = installProgram();
  mkdirSync(join(folder, 'examples'));
  cpSync(join(ROOT, 'examples/compare.mjs'), join(folder, 'examples/compare.mjs'));
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  return { folder, env: { PATH: path, API_PORT: String(await freePort()), TZ: 'UTC' } };
}

/** Starts the service as `commands` do, and waits until it listens. */
async function startAs(t: TestContext, commands: string, { folder, env }: Clone): Promise<void> {
  const script = commands.replace(PROGRAM, 'exec node server.js');
  const shell = spawn('bash', ['-e', '-c', script], { cwd: folder, env });
  t.after(() => shell.kill('SIGKILL'));
  await followProgram(shell).waitFor(/"message":"listening"/);
}

function run(commands: string, { folder, env }: Clone): Promise<Ended> {
  return followProgram(spawn('bash', ['-e', '-c', CLONE + commands], { cwd: folder, env })).ended;
}

/** Runs the blocks of a page one after the other; returns what each printed. */
async function runPage(
  t: TestContext,
  page: string,
  clone: Clone,
  blocks = blocksOf(page),
): Promise<string[]> {
  const outputs: string[] = [];
  for (const { commands, printed } of blocks) {
    if (commands.trimEnd().endsWith(`\n${PROGRAM}`)) {
      await startAs(t, commands, clone);
      continue;
    }
    const { code, stdout, stderr } = await run(commands, clone);
    assert.equal(code, 0, `${page}: ${commands}${stderr}`);
    assert.ok(stdout.endsWith(printed), `${page}: ${commands} printed ${stdout}, not ${printed}`);
    outputs.push(stdout);
  }
  return outputs;
}

test('docs/start/first-comparison.md and docs/guides/repeat-and-confirm.md print what they say', async (t) => {
  const clone = await makeClone();
  const first = await runPage(t, 'docs/start/first-comparison.md', clone);
  assert.match(first.at(-1) ?? '', /"p_value":0\.1185,"p_value_holm":0\.237,/);
  const page = 'docs/guides/repeat-and-confirm.md';
  const blocks = blocksOf(page);
  assert.equal(blocks.length, 4);
  await runPage(t, page, clone, blocks.slice(2));
  await runPage(t, page, await makeClone(), blocks.slice(0, 2));
});

test('docs/guides/studies.md prints what it says, and each pair has figures', async (t) => {
  const outputs = await runPage(t, 'docs/guides/studies.md', await makeClone());
  const figures = outputs.join('').match(/"p_value":0\.\d+/g);
  assert.equal(figures?.length, 3);
});

test('in docs/guides/control-markets.md the rule does the same in both markets', async (t) => {
  const clone = await makeClone();
  const page = 'docs/guides/control-markets.md';
  const text = readFileSync(join(ROOT, page), 'utf8');
  const [, configuration = ''] = /^```json\n([^]*?)^```/m.exec(text) ?? [];
  writeFileSync(join(clone.folder, 'my-config.json'), configuration);
  Object.assign(clone.env, {
    DEPLOYMENT_MODE: 'DEV',
    RUNTIME_CONFIG_PATH: 'my-config.json',
    MAX_SIMULATION_DAYS: '90',
  });
  await startAs(t, PROGRAM, clone);
  const outputs = await runPage(t, page, clone);
  assert.match(outputs.at(-2) ?? '', /^2016-03-07\n/);
  const lead = / is ([\d.]+) points ahead of buy-and-hold/.exec(outputs.at(-1) ?? '')?.[1];
  assert.ok(Number(lead) < 0.1, outputs.at(-1));
});
