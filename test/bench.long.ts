import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startHelper } from '../bench/helper.ts';
import { listenHere } from './support/loopback.ts';
import { noProc } from './support/processes.ts';
import { followProgram } from './support/program.ts';

const BENCH = new URL('../bench/', import.meta.url).pathname;

test('the short bench ends with a row for every figure, and starts every program of its folder', {
  skip: noProc,
}, async () => {
  const { code, stdout, stderr } = await followProgram(
    spawn(process.execPath, [`${BENCH}bench.ts`, 'short']),
  ).ended;
  assert.equal(code, 0, stderr);
  const rows = [
    ...['`/health`, requests per second', 'status of 40 model-days, requests per second'],
    ...['model-days, 8 side by side, per second', 'start to first healthy response, ms'],
    ...['size of the program, MB', 'import|The import is not measured', 'commit of 50 symbols'],
    ...['status while 20 models wait|Waiting models are not measured', '`/audit`, MB per second'],
  ];
  for (const row of rows) assert.match(stdout, new RegExp(`^(\\| )?(${row})`, 'm'));
  const texts = readdirSync(BENCH).map((file) => readFileSync(BENCH + file, 'utf8'));
  const helpers = readdirSync(BENCH).filter((_file, index) =>
    texts[index]?.includes('serveBench('),
  );
  const isStarted = (file: string) => texts.some((text) => text.includes(`('./${file}'`));
  assert.deepEqual(
    helpers.filter((file) => !isStarted(file)),
    [],
    'a helper that no figure starts',
  );
});

test('the load generator connects again when a server has sent the last response of a connection', async (t) => {
  const server = createServer((_request, response) => response.end('{}'));
  server.maxRequestsPerSocket = 2;
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await listenHere(t, server);
  const loader = startHelper<object>('./loader.ts');
  t.after(() => loader.stop());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (let slice = 0; slice < 2; slice += 1) {
    const { requests, ms } = await loader.ask({ url, ms: 50 });
    assert.ok(requests >= 16 && ms >= 50, `${requests} in ${ms} ms`);
  }
  assert.ok(connections > 16, `${connections}`);
});
