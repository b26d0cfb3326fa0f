import type { Worker } from 'node:worker_threads';
import type { Address } from '../database/database.ts';
import { type ErrorCode, ServiceError } from '../basics/domain.ts';
import { startThread } from '../basics/program.ts';
import type { Chunk, Input, LateBody } from '../api/handler.ts';
import type { ServedSettings } from '../basics/settings.ts';
import { HttpError } from './errors.ts';
import type { HttpLimits } from './limits.ts';

/**
 * Reports: the responses of reader threads. Each is made by the handler of its route, as one plain
 * computation over one read transaction, while this thread serves the others. A thread makes its
 * report ahead of the client, as far as the limits of what may wait allow. A report whose thread
 * fails costs that response only.
 */

/**
 * Reader threads of this process; the first report starts one, a second at the same time another.
 */
const MOST_THREADS = 2;
/**
 * V8 ends a thread that reaches its own limit, but where that happens by one large allocation the
 * whole process. So `maxReportHeapMb`, which is checked from outside, is far below.
 */
const HARD_HEAP_MB = 8 * 1024;
/**
 * A report whose client has left ends between two statements; after this long its thread is ended.
 */
const LEAVING_MS = 1_000;
/** Reports that are kept while nothing in the database changes, and how long each may be. */
const MOST_KEPT = 12;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** What a report is made of. Only data: it goes to another thread. */
export interface ReportRequest {
  /** Of the route. */
  path: string;
  input: Input;
  settings: ServedSettings;
  viewedFile: string | null;
  database: Address;
}

/** What a reader thread is sent. */
export interface Order {
  request: ReportRequest;
  /** At the places below; the thread is notified at TAKEN. */
  flow: Int32Array<SharedArrayBuffer>;
}

/** How many bytes of a report no longer wait for its client, modulo 2^32. */
export const TAKEN = 0;
/** While so many bytes wait for the client, the thread waits too. */
export const MOST_WAITING = 1;
/** Not 0 once the report is no longer wanted. */
export const IS_UNWANTED = 2;

/** What it sends back. */
export type Delivery = Chunk | { failure: Failure };

/** Why there is no report, or no rest of it. */
export interface Failure {
  /** Null for a bug. */
  code: ErrorCode | null;
  message: string;
  stack: string;
}

/** The reports of one server. */
export interface Reports {
  /**
   * Makes a report, or returns the one that was made of the same `version` of the database; null
   * keeps none.
   */
  make(request: ReportRequest, version: string | null): LateBody;
}

/** A report that is being made, or sent. */
interface Task {
  order: Order;
  limits: HttpLimits;
  /** Those that have not been taken yet. */
  chunks: Chunk[];
  /** All of them, unless they are too long to be kept. */
  made: Chunk[];
  /** How many bytes have been made, how many wait for the client, and how many it has read. */
  bytes: number;
  waiting: number;
  read: number;
  startedAt: number;
  isLeft: boolean;
  /** Takes all chunks of a report that is short enough to be kept. */
  onMade(chunks: readonly Chunk[]): void;
  /** Undefined while it is being made. */
  outcome?: { error?: unknown };
  /** Called when a chunk or the outcome has come. */
  wake(): void;
  timer: NodeJS.Timeout;
}

interface Thread {
  worker: Worker;
  task: Task | null;
}

/** Of this process, whatever number of servers it has. */
const threads = new Set<Thread>();
const queue: Task[] = [];
/** Bytes of all reports that wait for their clients. */
let allWaiting = 0;

export function createReports(limits: HttpLimits): Reports {
  const kept = new Map<string, { version: string; chunks: readonly Chunk[] }>();
  return {
    make(request, version) {
      const key = JSON.stringify(request);
      const isTable = request.input.format === 'csv';
      const known = kept.get(key);
      if (known?.version === version) return { chunks: known.chunks, isTable, stop() {} };
      const task = enter(request, limits);
      task.onMade = (chunks) => {
        if (version === null) return;
        kept.delete(key);
        kept.set(key, { version, chunks });
        const [oldest = ''] = kept.keys();
        if (kept.size > MOST_KEPT) kept.delete(oldest); // the one that was made longest ago
      };
      return {
        chunks: chunksOf(task),
        isTable,
        onWaiting(bytes, isRead) {
          if (isRead) task.read -= bytes;
          addWaiting(task, bytes);
        },
        stop: () => leave(task),
      };
    },
  };
}

/** The chunks as they come. */
async function* chunksOf(task: Task): AsyncGenerator<Chunk, void, void> {
  for (;;) {
    const chunk = task.chunks.shift();
    if (chunk !== undefined) {
      addWaiting(task, -chunk.bytes.length); // from here on it is counted by what sends it
      yield chunk;
    } else if (task.outcome === undefined)
      await new Promise<void>((resolve) => (task.wake = resolve));
    else break;
  }
  if (task.outcome.error !== undefined) throw task.outcome.error;
}

/** Counts what waits for the client, and tells the threads. */
function addWaiting(task: Task, bytes: number): void {
  if (task.isLeft) return;
  task.waiting += bytes;
  allWaiting += bytes;
  for (const { task: one } of threads) if (one !== null) tellFlow(one);
}

/** However much waits of other reports, so much of each may. */
const ALWAYS_WAITING_KB = 1_024;

function tellFlow({ order: { flow }, limits, bytes, waiting }: Task): void {
  const left = 1024 * limits.maxAllWaitingKb - (allWaiting - waiting);
  const most = Math.min(1024 * limits.maxWaitingKb, Math.max(1024 * ALWAYS_WAITING_KB, left));
  Atomics.store(flow, MOST_WAITING, most);
  Atomics.store(flow, TAKEN, (bytes - waiting) | 0);
  Atomics.notify(flow, TAKEN);
}

function enter(request: ReportRequest, limits: HttpLimits): Task {
  const task: Task = {
    order: { request, flow: new Int32Array(new SharedArrayBuffer(12)) },
    limits,
    chunks: [],
    made: [],
    bytes: 0,
    waiting: 0,
    read: 0,
    startedAt: 0,
    isLeft: false,
    onMade() {},
    wake() {},
    timer: setTimeout(() => finish(task, TOO_BUSY), limits.maxReportWaitMs),
  };
  queue.push(task);
  beginNext();
  return task;
}

/** Gives waiting reports to threads, as far as there are any. */
function beginNext(): void {
  while (queue.length > 0) {
    const free = threads.values().find(({ task }) => task === null);
    if (free === undefined && threads.size === MOST_THREADS) return;
    const task = queue.shift();
    if (task === undefined) return;
    const thread = free ?? startReader();
    thread.task = task;
    task.startedAt = performance.now();
    clearTimeout(task.timer);
    task.timer = setTimeout(() => checkPace(thread, task), task.limits.maxReportMs);
    tellFlow(task);
    thread.worker.postMessage(task.order);
    watchMemory(thread, task);
  }
}

function startReader(): Thread {
  const worker = startThread({}, { maxOldGenerationSizeMb: HARD_HEAP_MB });
  const thread: Thread = { worker, task: null };
  threads.add(thread);
  worker.on('message', (delivery: Delivery) => take(thread, delivery));
  worker.on('error', (error) => end(thread, error));
  worker.on('exit', () => end(thread, new Error('A reader thread has ended')));
  worker.unref(); // after the listeners: each of them would keep the process
  return thread;
}

/** How often it is checked whether the client of a long report reads fast enough. */
const PACE_CHECKED_EVERY_MS = 1_000;

/** Ends a thread whose report is not made, or not read, fast enough. */
function checkPace(thread: Thread, task: Task): void {
  const { maxReportMs, minReadKbPerSecond } = task.limits;
  const wantedBytes = (performance.now() - task.startedAt) * 1.024 * minReadKbPerSecond;
  if (task.read < wantedBytes)
    return end(thread, cannotMake(`takes longer than ${maxReportMs / 1_000} seconds`));
  task.timer = setTimeout(() => checkPace(thread, task), PACE_CHECKED_EVERY_MS);
}

/** Ends a thread whose report holds too much memory. */
function watchMemory(thread: Thread, task: Task): void {
  const { maxReportHeapMb: limitMb, reportCheckMs } = task.limits;
  const check = setInterval(async () => {
    if (thread.task !== task) return clearInterval(check);
    // Rejects when the thread has just ended.
    const heap = await thread.worker.getHeapStatistics().catch(() => null);
    if (thread.task !== task || heap === null || heap.used_heap_size <= limitMb * 2 ** 20) return;
    end(thread, cannotMake(`needs more than ${limitMb} MB of memory`));
  }, reportCheckMs);
}

function take(thread: Thread, delivery: Delivery): void {
  const { task } = thread;
  if (task === null) return;
  if ('failure' in delivery) return free(thread, task, errorOf(delivery.failure));
  if (!task.isLeft) {
    task.chunks.push(delivery);
    task.bytes += delivery.bytes.length;
    addWaiting(task, delivery.bytes.length);
    if (task.bytes <= MAX_KEPT_BYTES) task.made.push(delivery);
    else task.made.length = 0;
    if (delivery.isLast && task.bytes <= MAX_KEPT_BYTES) task.onMade(task.made);
    task.wake();
  }
  if (delivery.isLast) free(thread, task);
}

/** The thread has made its report. */
function free(thread: Thread, task: Task, error?: Error): void {
  thread.task = null;
  finish(task, error);
  beginNext();
}

function errorOf({ code, message, stack }: Failure): Error {
  if (code !== null) return new ServiceError(code, message);
  return Object.assign(new Error(message), { stack });
}

function finish(task: Task, error?: unknown): void {
  clearTimeout(task.timer);
  const place = queue.indexOf(task);
  if (place >= 0) queue.splice(place, 1);
  task.outcome ??= { error };
  task.wake();
}

/** Ends a thread, and with it the report that it makes. The next report starts another. */
function end(thread: Thread, error: unknown): void {
  if (!threads.delete(thread)) return;
  void thread.worker.terminate();
  const { task } = thread;
  thread.task = null;
  if (task !== null) finish(task, error);
  beginNext();
}

/** The response is over, or its client has left. */
function leave(task: Task): void {
  addWaiting(task, -task.waiting);
  task.isLeft = true;
  task.chunks.length = 0;
  Atomics.store(task.order.flow, IS_UNWANTED, 1);
  Atomics.notify(task.order.flow, TAKEN);
  finish(task, new Error('its client has left'));
  const thread = threads.values().find((one) => one.task === task);
  if (thread === undefined) return;
  task.timer = setTimeout(() => {
    if (thread.task === task) end(thread, undefined);
  }, LEAVING_MS);
}

const TOO_BUSY = new HttpError(
  503,
  'Cannot make this report now: others are being made; try again later',
  { headers: ['Retry-After', '10'] },
);

function cannotMake(why: string): HttpError {
  return new HttpError(
    503,
    `Cannot make this report: it ${why}; ask for fewer models or a shorter range`,
  );
}
