import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  ask,
  installProgram,
  type Program,
  runProgram,
  startServer,
  waitForJob,
} from '../support/program.ts';
import { HIDDEN_PATH, hangs, startReceiver, takes } from '../support/receiver.ts';
import { until } from '../support/until.ts';

/** The built program that announces the end of a job, and is ended itself. */

const SECRET = `whsec_${Buffer.alloc(24, 'hidden').toString('base64')}`;
/** Without prices a job fails at once, and starts no process. */
const JOB = { start_date: '2025-11-10', end_date: '2025-11-10' };

/** A service in PROD that announces to a receiver, with a function that starts it again. */
async function serve(t: TestContext) {
  const receiver = await startReceiver(t, hangs);
  const cwd = installProgram();
  const variables = { JOB_WEBHOOK_URL: receiver.url, JOB_WEBHOOK_SECRET: SECRET };
  const env = { AUTO_DOWNLOAD_PRICE_DATA: 'false', ...variables };
  const start = () => startServer(t, { cwd, env });
  return { receiver, start, server: await start() };
}

async function assertShowsNothing({ ended }: Program): Promise<void> {
  const { stdout, stderr } = await ended;
  assert.match(stderr, /"job ended"|"stopping"/);
  for (const secret of [HIDDEN_PATH, SECRET, SECRET.slice(6)])
    assert.equal((stdout + stderr).includes(secret), false);
}

test('a service that is killed between the end of a job and its announcement sends that after the start', async (t) => {
  const { receiver, start, server } = await serve(t);
  receiver.server.once('connection', () => server.process.kill('SIGKILL'));
  const { job_id: jobId } = await ask(`${server.url}/simulate/trigger`, JOB);
  assert.equal((await server.ended).signal, 'SIGKILL');
  await assertShowsNothing(server);
  receiver.received.length = 0; // the kill may have come after it was sent
  receiver.react = takes;
  const again = await start();
  const [{ body, headers } = assert.fail()] = await until(
    'it',
    () => receiver.received[0] && receiver.received,
  );
  assert.deepEqual([headers['webhook-id'], body.job_id, body.status], [jobId, jobId, 'failed']);
  assert.equal((await waitForJob(again.url, jobId)).error, body.error);
});

test('SIGTERM breaks an announcement off, which is sent after the start', async (t) => {
  const { receiver, start, server } = await serve(t);
  await ask(`${server.url}/simulate/trigger`, JOB);
  await until('the first try', () => receiver.received.length === 1);
  server.process.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
  receiver.react = takes;
  const again = await start();
  await until('the second', () => receiver.received.length === 2);
  const [one, other] = receiver.received.map(({ text, headers }) => [text, headers['webhook-id']]);
  assert.deepEqual(other, one);
  again.process.kill('SIGTERM');
  for (const ended of [server, again]) await assertShowsNothing(ended);
});

test('an address or a secret that cannot be read stops the start, and is not shown', async () => {
  const cwd = installProgram();
  const env = {
    JOB_WEBHOOK_SECRET: SECRET.slice(6),
    JOB_WEBHOOK_URL: `hooks.example.com${HIDDEN_PATH}`,
  };
  const { code, stdout, stderr } = await runProgram([], { cwd, env });
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /JOB_WEBHOOK_URL: expected a URL that starts with/);
  assert.match(stderr, /JOB_WEBHOOK_SECRET: expected whsec_ and the base64 of 24 to 64 bytes/);
  for (const secret of [HIDDEN_PATH, SECRET.slice(6)]) assert.equal(stderr.includes(secret), false);
});
