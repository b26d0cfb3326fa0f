import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import * as v from 'valibot';
import { routes } from '../../src/routes.ts';
import { fits } from './json-schema.ts';
import { installProgram, startServer } from './program.ts';
import { type Operation, type WholeRequest, brokenRequest, wholeRequest } from './requests.ts';
import { slowness, until } from './until.ts';
import { type WireAnswer, openWire, readAnswers } from './wire.ts';

/**
 * Per round: whole requests go over one connection, one after the other; each broken one gets a
 * connection of its own.
 */
const WHOLE_PER_ROUND = 20;
const BROKEN_PER_ROUND = 10;
/** Before memory is measured the first time: code is compiled then, and caches are filled. */
const MAX_WARM_UP_ROUNDS = 100;
/**
 * A connection on which nothing has come back by then waits for more, and then its sending side is
 * closed.
 */
const QUIET_MS = 15;
const HANG_MS = 15_000;
/** The reader threads have heaps of their own, which fill slowly; a soak shows that they stop growing. */
const MAX_GROWTH_MB = { rss: 50, heapUsed: 20, external: 20 };
/** Refusals of the server itself, which every path has. */
const OF_EVERY_PATH = [400, 414, 431];
const LAST_REQUEST = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

interface Memory {
  rss: number;
  heapUsed: number;
  external: number;
}

/**
 * Sends the built program requests made at random from its own interface description. Throws at the
 * first 5xx, answer that the description does not name, missing answer, hang, failure in the log,
 * or when it has grown by more than MAX_GROWTH_MB.
 */
export async function fuzz(
  t: TestContext,
  { requests, seed }: { requests: number; seed: number },
): Promise<void> {
  t.diagnostic(`seed ${seed}`);
  const server = await startProbedServer(t);
  const rounds = Math.ceil(requests / (WHOLE_PER_ROUND + BROKEN_PER_ROUND));
  await sendRounds(server.url, {
    rounds: Math.min(MAX_WARM_UP_ROUNDS, Math.ceil(rounds / 2)),
    seed: seed + 1,
  });
  const before = await memoryOf(server);
  const startedAt = performance.now();
  const sent = await sendRounds(server.url, { rounds, seed });
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await memoryOf(server);
  t.diagnostic(
    `${sent} requests in ${seconds.toFixed(1)} s; memory before and after: ${inMb(before)}; ${inMb(after)}`,
  );
  for (const kind of ['rss', 'heapUsed', 'external'] as const) {
    assert.ok(
      after[kind] - before[kind] < MAX_GROWTH_MB[kind] * 1e6,
      `${kind} has grown from ${before[kind]} to ${after[kind]}`,
    );
  }
  server.process.kill('SIGTERM');
  const { code, stderr } = await server.ended;
  assert.equal(code, 0);
  assert.deepEqual(stderr.match(/^.*"level":"ERROR".*$/gm), null);
}

async function startProbedServer(t: TestContext) {
  const cwd = installProgram();
  copyFileSync(new URL('./probe.cjs', import.meta.url), join(cwd, 'probe.cjs'));
  const env = {
    DEPLOYMENT_MODE: 'DEV',
    MAX_SIMULATION_DAYS: '2',
    NODE_OPTIONS: '--expose-gc --require ./probe.cjs',
  };
  const server = await startServer(t, { cwd, env });
  writeImpossibleUsage(join(cwd, 'data/jobs_dev.db'));
  return server;
}

/**
 * From now on every model-day has token counts and a cost that no sum of integers or JSON number
 * can hold.
 */
function writeImpossibleUsage(path: string): void {
  const database = new DatabaseSync(path, { timeout: HANG_MS });
  database.exec(
    `CREATE TRIGGER impossible_usage AFTER INSERT ON job_details BEGIN
       UPDATE job_details SET prompt_tokens = 9007199254740991, completion_tokens = 9223372036854775807, cost_usd = 1e300
       WHERE job_id = new.job_id AND date = new.date AND model = new.model;
     END`,
  );
  database.close();
}

let measurements = 0;

/** The server's memory after garbage collection, while no job runs. */
async function memoryOf(server: Awaited<ReturnType<typeof startProbedServer>>): Promise<Memory> {
  await until('the job to end', async () => {
    const { jobs } = (await (await fetch(`${server.url}/jobs?limit=1`)).json()) as {
      jobs: { completed_at: string | null }[];
    };
    return jobs[0]?.completed_at !== null;
  });
  server.process.kill('SIGUSR2');
  measurements += 1;
  const [, text] = await server.waitFor(
    new RegExp(`(?:MEMORY .*[^]*?){${measurements - 1}}MEMORY (.*)`),
  );
  return JSON.parse(text as string) as Memory;
}

const inMb = (memory: Memory) =>
  Object.entries(memory)
    .map(([kind, bytes]) => `${kind} ${((bytes as number) / 1e6).toFixed(1)} MB`)
    .join(', ');

/** Resolves to the number of requests sent. */
async function sendRounds(
  url: string,
  { rounds, seed }: { rounds: number; seed: number },
): Promise<number> {
  let sent = 0;
  const round = fc.tuple(
    fc.array(wholeRequest, { minLength: WHOLE_PER_ROUND, maxLength: WHOLE_PER_ROUND }),
    fc.array(brokenRequest, { minLength: BROKEN_PER_ROUND, maxLength: BROKEN_PER_ROUND }),
  );
  const property = fc.asyncProperty(round, async ([whole, broken]) => {
    await Promise.all([sendWhole(url, whole), ...broken.map((bytes) => sendBroken(url, bytes))]);
    sent += whole.length + broken.length;
  });
  await fc.assert(property, { numRuns: rounds, seed, endOnFailure: true });
  return sent;
}

async function sendWhole(url: string, requests: readonly WholeRequest[]): Promise<void> {
  const wire = await openWire(url);
  wire.socket.write(
    Buffer.concat([...requests.map(({ bytes }) => bytes), Buffer.from(LAST_REQUEST)]),
  );
  const answers = readAnswers(await within(wire.ended, `Hang: ${show(requests)}`));
  assert.equal(answers.length, requests.length + 1, `Answers are missing: ${show(requests)}`);
  requests.forEach(({ operation, bytes }, index) =>
    checkAnswer(operation, answers[index] as WireAnswer, bytes),
  );
}

function checkAnswer(
  { method, path, answers }: Operation,
  { status, headers, body }: WireAnswer,
  request: Buffer,
): void {
  const what = `${status} to ${JSON.stringify(request.toString('latin1'))}: ${body.slice(0, 500)}`;
  assert.ok(status < 500, what);
  // A path parameter can be empty, and then the path is another one.
  const isOtherPath = status === 404 && path.includes('{');
  const described = answers[status];
  assert.ok(described !== undefined || OF_EVERY_PATH.includes(status) || isOtherPath, what);
  const route = routes.find((one) => one.method === method && one.path === path);
  if (route?.hasTable && headers['content-type']?.startsWith('text/csv'))
    return assert.ok(status === 200 && body.endsWith('\r\n'), what);
  const value = JSON.parse(Buffer.from(body, 'latin1').toString());
  assert.ok(described === undefined || fits(described, value), what);
  if (status !== 200) return assert.equal(typeof value.detail, 'string', what);
  if (route !== undefined) assert.deepEqual(v.parse(route.response, value), value);
}

/** What cannot be read is refused, closed, or waited for until its sender has ended. */
async function sendBroken(url: string, bytes: Buffer): Promise<void> {
  const wire = await openWire(url);
  wire.socket.write(bytes);
  await Promise.race([wire.ended, sleep(QUIET_MS)]);
  wire.socket.end();
  const text = await within(wire.ended, `Hang: ${JSON.stringify(bytes.toString('latin1'))}`);
  assert.doesNotMatch(text, /HTTP\/1\.1 5\d\d /, JSON.stringify(bytes.toString('latin1')));
  assert.match(text, /^(HTTP\/1\.1 [1-4]\d\d |$)/, JSON.stringify(bytes.toString('latin1')));
}

/**
 * Rejects with the message where nothing has come of the work within `HANG_MS`, or longer on a slow
 * machine.
 */
async function within<Result>(work: Promise<Result>, message: string): Promise<Result> {
  const timer = new AbortController();
  const pause = (ms: number) => sleep(ms, null, { signal: timer.signal });
  const late = pause(HANG_MS)
    .then(() => pause(HANG_MS * (slowness() - 1)))
    .then(() => {
      throw new Error(message);
    });
  late.catch(() => {});
  return Promise.race([work, late]).finally(() => timer.abort());
}

function show(requests: readonly WholeRequest[]): string {
  return requests.map(({ bytes }) => JSON.stringify(bytes.toString('latin1'))).join('\n');
}
