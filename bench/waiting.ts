import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { weekdays } from '../src/calendar.ts';
import { nasdaq100 } from '../src/universe.ts';
import { startBareServer } from './requests.ts';
import {
  type Measurement,
  PROGRAM,
  type Server,
  benchFolder,
  getJson,
  median,
  memoryMb,
  run,
  startServer,
  triggerJob,
} from './support.ts';

const CHILDREN = 50;
const RANGE = { start_date: '2025-09-15', end_date: '2025-09-16' };
/** A request is answered after a time between half of this and one and a half times this. */
const THINKING_MS = 1_500;
const STEPS_PER_DAY = 3;
const P99_AIM_MS = 20;
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
export async function measureWaiting(): Promise<Measurement[]> {
  return [...(await measure({ tls: false })), ...(await measure({ tls: true }))];
}

async function measure({ tls }: { tls: boolean }): Promise<Measurement[]> {
  const model = await startSlowModel({ tls });
  const server = await startProdServer(model);
  const jobId = await triggerJob(server, RANGE);
  const statusUrl = `${server.url}/simulate/status/${jobId}`;
  await model.untilBegun(CHILDREN);
  const { parentMb, childMb } = readMemory(server.process.pid as number);
  model.answer();
  const peer = await startBareServer(await (await fetch(statusUrl)).text());
  const times = { waiting: [] as number[], starting: [] as number[], peer: [] as number[] };
  for (let isRunning = true; isRunning;) {
    const startedAt = performance.now();
    const status = await getJson(statusUrl);
    const running = status.details.filter((detail: { status: string }) => detail.status === 'running');
    const allWait = running.length === CHILDREN && model.begun() % CHILDREN === 0;
    times[allWait ? 'waiting' : 'starting'].push(performance.now() - startedAt);
    isRunning = status.completed_at === null;
    await sleep(5);
    const peerStartedAt = performance.now();
    await getJson(peer.url);
    if (allWait) times.peer.push(performance.now() - peerStartedAt);
  }
  peer.stop();
  await server.stop();
  model.stop();
  const wire = tls ? 'https' : 'http';
  return [
    compare(`p99 of status while ${CHILDREN} children wait (${wire}, ${times.waiting.length} requests)`, times),
    {
      what: `p99 of status while they start and end (${wire}, ${times.starting.length} requests)`,
      ours: `${p99(times.starting).toFixed(1)} ms`,
      peer: '',
      ratio: '',
      aim: 'none',
      met: null,
    },
    memory(`memory of a child that waits (${wire}), its own share, median`, childMb),
    memory(`memory of the parent of ${CHILDREN} (${wire}), resident`, parentMb),
  ];
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

/** Looks at prices, buys, and ends the day. */
function answerOf(step: number): object {
  const calls = [
    ['get_price_history', '{"symbol":"AAPL","days":30}'],
    ['buy', '{"symbol":"AAPL","amount":1}'],
  ].map(([name, args], index) => ({ id: `call_${index}`, type: 'function', function: { name, arguments: args } }));
  const message =
    step < STEPS_PER_DAY
      ? { role: 'assistant', content: null, tool_calls: calls }
      : { role: 'assistant', content: 'I bought a little.' };
  return {
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3_000, completion_tokens: 50 },
  };
}

function readMemory(pid: number): { parentMb: number; childMb: number } {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return {
    parentMb: memoryMb(pid).resident,
    childMb: median(children.map((child) => memoryMb(child).share)),
  };
}

/** Requests alternate between the peer and the service, so that other load on the machine affects both. */
function compare(what: string, { waiting, peer }: { waiting: number[]; peer: number[] }): Measurement {
  const [ours, bare] = [p99(waiting), p99(peer)];
  return {
    what,
    ours: `${ours.toFixed(1)} ms`,
    peer: `${bare.toFixed(1)} ms (bare node:http, same bytes)`,
    ratio: (ours / bare).toFixed(2),
    aim: `< ${P99_AIM_MS} ms`,
    met: ours < P99_AIM_MS,
  };
}

function p99(times: number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * 0.99)] as number;
}

function memory(what: string, megabytes: number): Measurement {
  return { what, ours: `${megabytes.toFixed(1)} MB`, peer: '', ratio: '', aim: 'none', met: null };
}
