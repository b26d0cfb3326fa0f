import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { weekdays } from '../src/calendar.ts';
import { nasdaq100 } from '../src/universe.ts';
import { startSameBytes } from './bare-server.ts';
import { ITSELF, describePairs } from './figure.ts';
import { answerOf } from './model-answers.ts';
import { type Pair, median, windowsOf } from './paired.ts';
import {
  type BenchOptions,
  type Measurement,
  PROGRAM,
  type Server,
  benchFolder,
  getJson,
  memoryBelow,
  memoryMb,
  run,
  startServer,
  triggerJob,
} from './support.ts';

const CHILDREN = 50;
const RANGE = { start_date: '2025-09-15', end_date: '2025-09-16' };
/** A request is answered after a time between half of this and one and a half times this. */
const THINKING_MS = 5_000;
const WINDOW = 100;
const AIM = { aboveMs: 20 };
const FIXTURES = new URL('../test/fixtures/tls/', import.meta.url).pathname;

interface SlowModel {
  baseUrl: string;
  /** How many model-days have sent their first request. */
  begun(): number;
  /** Resolves when so many have. */
  untilBegun(count: number): Promise<void>;
  /** From now on requests are answered, each in its time. */
  answer(): void;
  stop(): void;
}

/**
 * Status while fifty children wait for slow models, and what they cost in memory meanwhile: the built program in PROD over
 * stored prices of the whole universe, and a provider on loopback that takes its time, without TLS and with it.
 */
export async function* measureWaiting(options: BenchOptions): AsyncGenerator<Measurement> {
  yield* measure({ tls: false, ...options });
  yield* measure({ tls: true, ...options });
}

async function* measure({ tls, self }: { tls: boolean } & BenchOptions): AsyncGenerator<Measurement> {
  const wire = tls ? 'https' : 'http';
  const model = await startSlowModel({ tls });
  const server = await startProdServer(model);
  const statusUrl = `${server.url}/simulate/status/${await triggerJob(server, RANGE)}`;
  await model.untilBegun(CHILDREN);
  const { parentMb, childMb } = readMemory(server.process.pid as number);
  model.answer();
  const bare = await startSameBytes(statusUrl);
  const samples = await sampleStatus(model, { statusUrl, peerUrl: self ? statusUrl : bare.url });
  bare.stop();
  await server.stop();
  model.stop();
  const peer = self ? ITSELF : 'bare node:http, same bytes';
  for (const [when, taken] of Object.entries(samples)) {
    const what = `p99 of ${WINDOW} requests for the status while ${CHILDREN} children ${when} (${wire})`;
    yield describePairs({ what, unit: 'ms', peer, aim: when === 'wait' ? AIM : undefined }, windowsOf(taken, WINDOW, 0.99));
  }
  yield memoryBelow(`memory of a child that waits (${wire}), its own share, median`, childMb);
  yield memoryBelow(`memory of the parent of ${CHILDREN} (${wire}), resident`, parentMb);
}

/** Requests alternate between the service and the peer, so that other load on the machine affects both. */
async function sampleStatus(
  model: SlowModel,
  { statusUrl, peerUrl }: { statusUrl: string; peerUrl: string },
): Promise<{ wait: Pair[]; 'start and end': Pair[] }> {
  const samples = { wait: [] as Pair[], 'start and end': [] as Pair[] };
  for (let isRunning = true; isRunning;) {
    const startedAt = performance.now();
    const status = await getJson(statusUrl);
    const ours = performance.now() - startedAt;
    const running = status.details.filter((detail: { status: string }) => detail.status === 'running');
    const allWait = running.length === CHILDREN && model.begun() % CHILDREN === 0;
    isRunning = status.completed_at === null;
    await sleep(5);
    const peerStartedAt = performance.now();
    await getJson(peerUrl);
    samples[allWait ? 'wait' : 'start and end'].push({ ours, peer: performance.now() - peerStartedAt });
  }
  return samples;
}

async function startProdServer({ baseUrl }: SlowModel): Promise<Server> {
  const folder = benchFolder();
  const rows = nasdaq100.flatMap((symbol, index) =>
    weekdays('2025-09-01', RANGE.end_date).map((date, day) => {
      const open = 50 + index + day;
      return [symbol, date, open, open + 2, open - 1, open + 1, 1_000_000].join(',');
    }),
  );
  writeFileSync(join(folder, 'prices.csv'), ['symbol,date,open,high,low,close,volume', ...rows].join('\n'));
  await run(process.execPath, [PROGRAM, 'import-prices', 'prices.csv'], { cwd: folder });
  return startServer(
    Array.from({ length: CHILDREN }, (_, index) => `model-${index}`),
    {
      folder,
      entry: { openai_base_url: baseUrl },
      env: {
        DEPLOYMENT_MODE: 'PROD',
        AUTO_DOWNLOAD_PRICE_DATA: 'false',
        MAX_PARALLEL_MODELS: String(CHILDREN),
        NODE_EXTRA_CA_CERTS: join(FIXTURES, 'certificate.pem'),
      },
    },
  );
}

async function startSlowModel({ tls }: { tls: boolean }): Promise<SlowModel> {
  const opened = Promise.withResolvers<void>();
  let begun = 0;
  let look = () => {};
  const listener = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { messages } = JSON.parse((await incoming.toArray()).join(''));
    const step = messages.filter(({ role }: { role: string }) => role === 'assistant').length + 1;
    if (step === 1) begun += 1;
    look();
    await opened.promise;
    await sleep(THINKING_MS * (0.5 + Math.random()));
    outgoing.setHeader('content-type', 'application/json');
    outgoing.end(JSON.stringify(answerOf(step)));
  };
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void listener(incoming, outgoing);
  const read = (name: string) => readFileSync(join(FIXTURES, name));
  const server = tls
    ? createTlsServer({ key: read('key.pem'), cert: read('certificate.pem') }, handle)
    : createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http${tls ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    begun: () => begun,
    untilBegun: (count) =>
      new Promise((resolve) => {
        look = () => begun >= count && resolve();
        look();
      }),
    answer: () => opened.resolve(),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function readMemory(pid: number): { parentMb: number; childMb: number } {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return {
    parentMb: memoryMb(pid).resident,
    childMb: median(children.map((child) => memoryMb(child).share)),
  };
}
