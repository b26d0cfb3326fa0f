import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileFunction } from 'node:vm';
import { confine } from '../../src/core/children/confinement.ts';
import { loaderText, packProgram } from '../../src/core/children/launcher.ts';
import { CAN_RESTRICT_NETWORK } from '../../src/core/children/process.ts';
import { agentFixture } from '../support/agents.ts';
import { NODE, endpoint, runThrough, shell } from '../support/launchers.ts';
import { leftToLongForm } from '../support/long.ts';
import { realAgent } from '../support/service.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * What a launcher runs: the loader, and behind it the program, over the pipe that the launcher
 * carries.
 */

test('confinement holds through a launcher', async () => {
  const options = { model: endpoint, program: agentFixture('tries-to-break-out') };
  const { outcome } = await runThrough(['env', NODE], options);
  assert.deepEqual(outcome, { status: 'finished', summary: 'held' });
});

/** A Node that says it is of another version, and runs the last argument as `--eval` would. */
function nodeOfVersion(node: string): string[] {
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${node}' } }); eval(process.argv.at(-1))`;
  return [NODE, '--input-type=commonjs', '-e', pretend, '--'];
}

const bad: [name: string, command: string[], error: RegExp][] = [
  [
    'an old Node',
    nodeOfVersion('22.1.0'),
    /^The model process did not start \(.*: exit code 69; This machine has Node\.js 22\.1\.0; model-days need 24\.15/,
  ],
  [
    'no stdin',
    shell('NODE </dev/null'),
    /69; The pipe was closed before the program had arrived\)/,
  ],
  ['noise in stdin', shell('echo some noise | NODE'), /69; Something other than the program came/],
];
for (const [name, command, error] of bad) {
  test(`a loader with ${name} says so`, async () => {
    assert.match((await runThrough(command)).outcome.error, error);
  });
}

test('a loader runs in Node 24.15 or a later 24, and from 26 on', () => {
  const runsIn = (node: string) => {
    const said: string[] = [];
    const exit = (): never => {
      throw new Error('ended');
    };
    const modules: Record<string, object> = {
      'node:fs': {
        writeSync: (_stderr: number, text: string) => said.push(text),
        readSync: () => 0,
      },
    };
    const run = compileFunction(loaderText('none'), ['require', 'process']);
    assert.throws(
      () => run((name: string) => modules[name], { versions: { node }, exit }),
      /ended/,
    );
    return said[0]?.startsWith('The pipe was closed');
  };
  const versions = ['22.1.0', '24.14.1', '25.9.0', '24.15.0', '24.100.0', '26.0.0', '28.1.0'];
  assert.deepEqual(versions.map(runsIn), [false, false, false, true, true, true, true]);
});

const restricts = CAN_RESTRICT_NETWORK ? 'this Node restricts the network itself' : false;
test('a Node that would refuse the network, because this one cannot allow it, is named', {
  skip: restricts,
}, async () => {
  const { outcome } = await runThrough(nodeOfVersion('26.10.0'), { model: endpoint });
  assert.match(
    outcome.error,
    /This machine has Node\.js 26\.10\.0; its model-days need Node\.js 24, as the service has/,
  );
});

test('a child exits with code 0 when its outcome is sent and its stdin ends', async () => {
  const file = join(temporaryFolder(), 'code');
  const options = { model: endpoint, program: await realAgent() };
  await runThrough(shell(`NODE; echo $? > ${file}`), options);
  assert.equal(readFileSync(file, 'utf8'), '0\n');
});

test('the loader reads exactly the program, however slowly it comes, and leaves what follows', () => {
  const [program, start] = [`tell('é')`, '{"type":"start"}\n'];
  const sent = Buffer.concat([packProgram(program, 'none'), Buffer.from(start)]);
  let at = 0;
  let isReady = false;
  const readSync = (_stdin: number, bytes: Buffer, offset: number, length: number) => {
    isReady = !isReady;
    if (isReady) throw Object.assign(new Error('try again'), { code: 'EAGAIN' });
    const part = Math.min(length, 999);
    sent.copy(bytes, offset, at, at + part);
    at += part;
    return part;
  };
  const run: unknown[] = [];
  const modules: Record<string, object> = {
    'node:fs': { readSync },
    'node:vm': {
      runInThisContext: (text: string, { filename }: { filename: string }) =>
        run.push(text, filename),
    },
  };
  compileFunction(loaderText('none'), ['require'])((name: string) => modules[name]);
  assert.deepEqual(run, [confine(program, 'none'), '[eval]']);
  assert.equal(sent.toString('utf8', at), start);
});

const PERL = '/usr/bin/perl';
const noPerl = existsSync(PERL)
  ? false
  : 'this system has no perl, which makes descriptors non-blocking';
/** More than a pipe holds, in both directions. */
const MANY_QUOTES = Array.from({ length: 60_000 }, (_, index) => ({
  symbol: `S${index}`,
  previousClose: 100,
  open: 101,
}));
const UNBLOCK =
  'use Fcntl; for (STDIN, STDOUT) { fcntl($_, F_SETFL, fcntl($_, F_GETFL, 0) | O_NONBLOCK) } exec @ARGV';
test('a child bears descriptors that do not block', {
  skip: noPerl || leftToLongForm,
}, async () => {
  const { outcome } = await runThrough([PERL, '-e', UNBLOCK, NODE], {
    program: await realAgent(),
    quotes: MANY_QUOTES,
  });
  assert.equal(outcome.status, 'finished');
});
