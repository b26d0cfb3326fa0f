import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/calendar.ts';
import { type Measurement, getJson, inTurn, startServer, triggerJob } from './support.ts';

const PARALLEL = 8;
const ROUNDS = 5;
const BARE_CHILDREN = 120;
const AIM = 0.7;

/** Simulated model-days per second, against bare `node -e 0` processes with the same parallelism. */
export async function measureModelDays(): Promise<Measurement> {
  const server = await startServer(
    Array.from({ length: PARALLEL }, (_, index) => `model-${index}`),
    { env: { MAX_PARALLEL_MODELS: String(PARALLEL) } },
  );
  let end = '2025-01-01';
  const runJob = async () => {
    const start = addDays(end, 1);
    end = addDays(end, 21);
    const jobId = await triggerJob(server, { start_date: start, end_date: end });
    let status: any;
    while (!status?.completed_at) {
      await sleep(200);
      status = await getJson(`${server.url}/simulate/status/${jobId}`);
    }
    if (status.status !== 'completed') throw new Error(`The job is ${status.status}`);
    const first = Math.min(...status.details.map(({ started_at }: any) => Date.parse(started_at)));
    return status.details.length / ((Date.parse(status.completed_at) - first) / 1000);
  };
  await runJob(); // the first one also makes the prices
  const { ours, peer, ratio } = await inTurn(ROUNDS, runJob, spawnBareChildren);
  await server.stop();
  return {
    what: `model-days per second, ${PARALLEL} side by side`,
    ours: ours.toFixed(1),
    peer: `${peer.toFixed(1)} (node -e 0)`,
    ratio: ratio.toFixed(2),
    aim: `>= ${AIM}`,
    met: ratio >= AIM,
  };
}

async function spawnBareChildren(): Promise<number> {
  let left = BARE_CHILDREN;
  const startedAt = performance.now();
  const worker = async () => {
    while (left-- > 0) {
      const child = spawn(process.execPath, ['-e', '0'], { stdio: 'pipe', env: {} });
      await new Promise((resolve) => child.on('close', resolve));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return BARE_CHILDREN / ((performance.now() - startedAt) / 1000);
}
