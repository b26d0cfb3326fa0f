import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../support/in-process.ts';
import { installProgram, runProgram, startServer } from '../support/program.ts';

/** Access tokens, as the commands of the built program meet them. */

const DEV = { DEPLOYMENT_MODE: 'DEV' };
const TOKEN = 'a-token-that-is-never-printed';

test('with a token set, the server requires it, the health check does not, and no output contains it', async (t) => {
  const cwd = installProgram();
  const env = { ...DEV, API_TOKEN: TOKEN, LOG_LEVEL: 'DEBUG' };
  const server = await startServer(t, { cwd, env });
  assert.equal((await fetch(`${server.url}/jobs`)).status, 401);
  const headers = { authorization: `Bearer ${TOKEN}` };
  assert.equal((await fetch(`${server.url}/jobs`, { headers })).status, 200);
  const atPort = { API_PORT: new URL(server.url).port };
  const health = await runInProcess(['healthcheck'], { cwd, env: atPort });
  assert.deepEqual([health.code, health.stdout], [0, 'healthy\n']);
  server.process.kill('SIGTERM');
  const { stdout, stderr } = await server.ended;
  assert.match(stderr, /"message":"listening".*"accessTokens":1/);
  assert.doesNotMatch(stdout + stderr, new RegExp(TOKEN));
});

test('tokens that cannot be used stop the start before anything is touched, and the message has no token', async () => {
  const cwd = installProgram();
  writeFileSync(join(cwd, 'faulty.txt'), `good\n${TOKEN} may read\n`);
  const env = { ...DEV, API_PORT: '0', API_TOKENS_FILE: 'faulty.txt' };
  const { code, stdout, stderr } = await runProgram([], { cwd, env });
  assert.equal(code, 1);
  assert.match(stderr, /^Cannot use .* faulty\.txt .*: line 2: expected a token/);
  assert.doesNotMatch(stdout + stderr, new RegExp(TOKEN));
  assert.equal(existsSync(join(cwd, 'data')), false);
});
