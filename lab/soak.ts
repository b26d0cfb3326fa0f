import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/core/time/calendar.ts';
import { auditDatabase } from '../src/core/verify/database-audit.ts';
import { requireProc } from '../test/support/processes.ts';
import { median, quantile } from '../bench/paired.ts';
import { residentMb } from '../bench/proc.ts';
import { askJson, type JobStatus, PROGRAM, type Server, startServer } from '../bench/support.ts';

/**
 * `npm run soak -- [SECONDS]`: the built program under a steady 200 requests per second, while one
 * simulation job follows another; five minutes by default. Exits by itself, with exit code 1 when
 * an answer was missing or not the right one, or when memory was not flat: the median of the last
 * quarter may lie 30 MB above that of the second.
 */
const REQUESTS_PER_SECOND = 200;
/**
 * Room for what V8 collects late; a kilobyte lost per request would be more within five minutes.
 */
const MAX_GROWTH_MB = 30;
const REQUEST_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 3_000;
const MODELS = ['model-0', 'model-1', 'model-2', 'model-3'];
const FIRST_MONDAY = '1980-01-07';
const JSON_TYPE = { 'content-type': 'application/json' };
const [seconds = 300] = process.argv.slice(2).map(Number);

interface Tally {
  /** Milliseconds from when a request was due to the end of its response. */
  times: number[];
  errors: string[];
  /** Every second, in megabytes. */
  memory: number[];
  jobs: number;
}

/** The requests made in turn: path, body, and the expected statuses. */
interface Question {
  path: string;
  body?: object;
  statuses: number[];
}

requireProc('the soak');
const tally: Tally = { times: [], errors: [], memory: [], jobs: 0 };
// Connections are let go before the server, which announces five seconds, closes them under a
// request.
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: IDLE_TIMEOUT_MS });
const server = await startServer(PROGRAM, { models: MODELS });
console.log(`${REQUESTS_PER_SECOND} requests per second for ${seconds} seconds, with jobs running`);
const stopping = new AbortController();
const jobs = runJobs(server, stopping.signal);
const memory = watchMemory(server, stopping.signal);
await jobs.begun;
await load(server, jobs.latest);
stopping.abort();
await Promise.all([jobs.ended, memory]);
await server.stop();
await replayAll(join(server.folder, 'data/jobs_dev.db'));
report();

/**
 * Starts a request every few milliseconds, whether those before have been answered or not; times
 * count from then.
 */
async function load({ url }: Server, latestJob: () => string): Promise<void> {
  const startedAt = performance.now();
  const open = new Set<Promise<void>>();
  for (let count = 0; count < seconds * REQUESTS_PER_SECOND; count += 1) {
    const dueAt = startedAt + (count * 1000) / REQUESTS_PER_SECOND;
    await sleep(Math.max(0, dueAt - performance.now()));
    const question = chooseQuestion(count, latestJob());
    const answer = ask(url, question).then(
      (status) => {
        tally.times.push(performance.now() - dueAt);
        if (!question.statuses.includes(status)) tally.errors.push(`${question.path}: ${status}`);
      },
      (error: Error) => void tally.errors.push(`${question.path}: ${error.message}`),
    );
    open.add(answer);
    void answer.finally(() => open.delete(answer));
  }
  await Promise.all(open);
}

function chooseQuestion(count: number, job: string): Question {
  const model = MODELS[count % MODELS.length] as string;
  const questions: Question[] = [
    { path: '/health', statuses: [200] },
    { path: `/simulate/status/${job}`, statuses: [200] },
    { path: '/jobs?limit=20', statuses: [200] },
    { path: `/results?job_id=${job}&model=${model}`, statuses: [200] },
    {
      path: `/reasoning?job_id=${job}&model=${model}&include_full_conversation=true`,
      statuses: [200, 404],
    },
    {
      path: '/simulate/trigger',
      body: { start_date: '2025-01-06', end_date: '2024-01-06' },
      statuses: [400],
    },
    { path: '/simulate/trigger', body: { end_date: 'soon' }, statuses: [422] },
    { path: '/nowhere', statuses: [404] },
  ];
  return questions[count % questions.length] as Question;
}

/** Resolves to the status when the whole answer is there. */
function ask(url: string, { path, body }: Question): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const options = {
    agent,
    timeout: REQUEST_TIMEOUT_MS,
    method: body ? 'POST' : 'GET',
    ...(body && { headers: JSON_TYPE }),
  };
  const outgoing = request(url + path, options, (answer) => {
    answer.on('end', () => resolve(answer.statusCode ?? 0)).on('error', reject);
    answer.resume();
  });
  outgoing
    .on('timeout', () => outgoing.destroy(new Error('no answer in time')))
    .on('error', reject);
  outgoing.end(body && JSON.stringify(body));
  return promise;
}

/** One job of a week after the other; `latest` is the one that was started last. */
function runJobs(
  { url }: Server,
  signal: AbortSignal,
): { latest: () => string; begun: Promise<void>; ended: Promise<void> } {
  let latest = '';
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const work = async () => {
    for (let monday = FIRST_MONDAY; !signal.aborted; monday = addDays(monday, 7)) {
      const body = JSON.stringify({ start_date: monday, end_date: addDays(monday, 4) });
      const answer = await fetch(`${url}/simulate/trigger`, {
        method: 'POST',
        body,
        headers: JSON_TYPE,
      });
      const { job_id, detail } = (await answer.json()) as { job_id?: string; detail?: string };
      begin();
      if (job_id === undefined) return void tally.errors.push(`trigger: ${detail}`);
      latest = job_id;
      await untilEnd(url, job_id, signal);
    }
  };
  return { latest: () => latest, begun, ended: work() };
}

async function untilEnd(url: string, jobId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { status, completed_at: completedAt } = await askJson<JobStatus>(
      `${url}/simulate/status/${jobId}`,
    );
    if (completedAt !== null) {
      tally.jobs += 1;
      if (status !== 'completed') tally.errors.push(`job ${jobId}: ${status}`);
      return;
    }
    await sleep(50);
  }
}

/** Notes the memory of the server every second. */
async function watchMemory({ pid }: Server, signal: AbortSignal): Promise<void> {
  for (; !signal.aborted; await sleep(1000)) tally.memory.push(residentMb(pid));
}

/** Whatever the jobs left behind replays. */
async function replayAll(path: string): Promise<void> {
  const { modelDays, same, problems } = await auditDatabase(path);
  if (same !== modelDays)
    tally.errors.push(
      `${same} of ${modelDays} model-days replayed: ${problems.first[0]?.sentences.join('; ')}`,
    );
}

function report(): void {
  const { times, errors, memory, jobs } = tally;
  const at = (share: number) => quantile(times, share).toFixed(1);
  const quarter = (index: number) =>
    median(
      memory.slice(
        Math.floor((memory.length * index) / 4),
        Math.ceil((memory.length * (index + 1)) / 4),
      ),
    );
  const growth = quarter(3) - quarter(1);
  const isFlat = growth <= MAX_GROWTH_MB;
  console.log(`${times.length} answers, ${jobs} jobs of ${5 * MODELS.length} model-days`);
  console.log(`p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`);
  console.log(
    `memory by quarters: ${[0, 1, 2, 3].map((index) => quarter(index).toFixed(1)).join(', ')} MB; ${isFlat ? 'flat' : 'GROWING'}`,
  );
  console.log(
    errors.length === 0
      ? 'no error'
      : `${errors.length} errors, among them:\n  ${errors.slice(0, 10).join('\n  ')}`,
  );
  process.exitCode = errors.length === 0 && isFlat ? 0 : 1;
}
