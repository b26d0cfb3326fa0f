import assert from 'node:assert/strict';
import type { FileHandle } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';
import type { Address } from '#database/database.ts';
import { type ErrorCode, ServiceError } from '#domain/service-error.ts';
import { startThread } from '#process/program.ts';
import { type Input, CLIENT_LEFT, type AsyncBody, type ByteBody } from '#api/handler.ts';
import type { ServedSettings } from '#settings/settings.ts';
import { HttpError } from './errors.ts';
import type { HttpLimits } from './limits.ts';

/**
 * Reports: the responses of reader threads. Each is made by the handler of its route, as one plain
 * computation over one read transaction, while this thread serves the others. A thread makes its
 * report as fast as it can, a long one into a file, from which it is sent meanwhile. A report whose
 * thread fails costs that response only.
 */

/**
 * Reader threads of this process; the first report starts one, a second at the same time another.
 */
const MAX_THREADS = 2;
/**
 * V8 ends a thread that reaches its own limit, but where that happens by one large allocation the
 * whole process. So `maxReportHeapMb`, which is checked from outside, is far below.
 */
const HARD_HEAP_MB = 8 * 1024;
/**
 * A report whose client has left ends between two statements; after this long its thread is ended.
 */
const CANCEL_GRACE_MS = 1_000;
/** How much of a file is read at a time. */
const READ_BYTES = 128 * 1024;
/** Reports that are kept while nothing in the database changes, and how long each may be. */
const MAX_KEPT_REPORTS = 12;
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

/** What a thread sends back: a whole report, or a file and whenever it has written more to it. */
export type Delivery =
  | { bytes: Uint8Array<ArrayBuffer>; fileName: string | null }
  | { file: FileHandle }
  | FileWrite
  | { failure: Failure };

interface FileWrite {
  written: number;
  fileName: string | null;
  isLast: boolean;
}

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
  make(request: ReportRequest, version: string | null): AsyncBody;
}

/** A report that is being made, or sent. */
interface Task {
  request: ReportRequest;
  limits: HttpLimits;
  startedAt: number;
  /** Whether a thread makes it, or may still write to its file. */
  isMaking: boolean;
  begun: PromiseWithResolvers<ByteBody>;
  end: AbortController;
  /** Of a long report, with how many bytes of it have been written and read. */
  file: FileHandle | null;
  written: number;
  read: number;
  /** Called when more is written, or no more will be. */
  wake(): void;
  /** Takes a whole report that is short enough to be kept. */
  onMade(made: KeptReport): void;
  timer: NodeJS.Timeout;
}

/** A whole report. */
type KeptReport = ByteBody & { bytes: Uint8Array };

interface Thread {
  worker: Worker;
  task: Task | null;
}

/** Reader threads of this process, shared by its servers. */
const threads = new Set<Thread>();
const queue: Task[] = [];
/** Bytes in the files of all reports. */
let fileBytes = 0;

export function createReports(limits: HttpLimits): Reports {
  const kept = new Map<string, KeptReport & { version: string }>();
  return {
    make(request, version) {
      const { params, query, format } = request.input;
      const key = JSON.stringify([request.path, params, query, format]);
      const isTable = format === 'csv';
      const known = kept.get(key);
      if (known?.version === version)
        return { made: Promise.resolve(known), isTable, end: new AbortController() };
      const task = enqueue(request, limits, (made) => {
        if (version === null) return;
        kept.delete(key);
        kept.set(key, { version, ...made });
        const [oldest = ''] = kept.keys();
        if (kept.size > MAX_KEPT_REPORTS) kept.delete(oldest); // the one that was made longest ago
      });
      return { made: task.begun.promise, isTable, end: task.end };
    },
  };
}

/** A long report, as its thread writes it. */
async function* readReportFile(
  task: Task,
  file: FileHandle,
): AsyncGenerator<Uint8Array, void, void> {
  for (;;) {
    task.end.signal.throwIfAborted();
    const length = Math.min(READ_BYTES, task.written - task.read);
    if (length > 0) {
      const { buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, task.read);
      task.read += length;
      yield buffer;
    } else if (!task.isMaking) return;
    else await new Promise<void>((resolve) => (task.wake = resolve));
  }
}

function enqueue(request: ReportRequest, limits: HttpLimits, onMade: Task['onMade']): Task {
  const end = new AbortController();
  const task: Task = {
    request,
    limits,
    startedAt: 0,
    isMaking: false,
    begun: Promise.withResolvers(),
    end,
    file: null,
    written: 0,
    read: 0,
    wake() {},
    onMade,
    timer: setTimeout(() => end.abort(TOO_BUSY), limits.maxReportWaitMs),
  };
  end.signal.addEventListener('abort', () => stop(task));
  queue.push(task);
  beginNext();
  return task;
}

/** Gives waiting reports to threads, as far as there are any. */
function beginNext(): void {
  while (queue.length > 0) {
    const free = threads.values().find(({ task }) => task === null);
    if (free === undefined && threads.size === MAX_THREADS) return;
    const task = queue.shift();
    if (task === undefined) return;
    const thread = free ?? startReader();
    thread.task = task;
    task.isMaking = true;
    task.startedAt = performance.now();
    clearTimeout(task.timer);
    task.timer = setTimeout(() => checkPace(task), task.limits.maxReportMs);
    thread.worker.postMessage(task.request);
    watchMemory(thread, task);
  }
}

function startReader(): Thread {
  const worker = startThread({}, { maxOldGenerationSizeMb: HARD_HEAP_MB });
  const thread: Thread = { worker, task: null };
  threads.add(thread);
  worker.on('message', (delivery: Delivery) => receiveDelivery(thread, delivery));
  worker.on('error', (error) => thread.task?.end.abort(error));
  worker.on('exit', () => {
    threads.delete(thread);
    thread.task?.end.abort(new Error('A reader thread has ended'));
    release(thread); // no sooner: until now it could write to the file
  });
  worker.unref(); // after the listeners: each of them would keep the process
  return thread;
}

/** How often it is checked whether the client of a long report reads fast enough. */
const PACE_CHECKED_EVERY_MS = 1_000;

/** Ends a report that holds what others need, and is not made, or not read, fast enough. */
function checkPace(task: Task): void {
  const { maxReportMs, minReadKbPerSecond, maxReportFilesMb } = task.limits;
  const wantedBytes = (performance.now() - task.startedAt) * 1.024 * minReadKbPerSecond;
  const isHolding = task.isMaking || fileBytes > (maxReportFilesMb * 2 ** 20) / 2;
  if (isHolding && task.read < wantedBytes)
    return task.end.abort(tooCostly(`takes longer than ${maxReportMs / 1_000} seconds`));
  task.timer = setTimeout(() => checkPace(task), PACE_CHECKED_EVERY_MS);
}

/** Ends a thread whose report holds too much memory. */
function watchMemory(thread: Thread, task: Task): void {
  const { maxReportHeapMb: limitMb, reportCheckMs } = task.limits;
  const check = setInterval(async () => {
    if (thread.task !== task) return clearInterval(check);
    // Rejects when the thread has just ended.
    const heap = await thread.worker.getHeapStatistics().catch(() => null);
    if (thread.task !== task || heap === null || heap.used_heap_size <= limitMb * 2 ** 20) return;
    task.end.abort(tooCostly(`needs more than ${limitMb} MB of memory`));
  }, reportCheckMs);
}

function receiveDelivery(thread: Thread, delivery: Delivery): void {
  const { task } = thread;
  if (task === null) return;
  if ('file' in delivery) task.file = delivery.file;
  else if ('written' in delivery) recordWrite(thread, task, delivery);
  else {
    release(thread);
    if ('failure' in delivery) task.end.abort(toError(delivery.failure));
    else {
      task.onMade(delivery);
      task.begun.resolve(delivery);
    }
  }
  beginNext();
}

/** Records what a thread has written to its file. */
function recordWrite(thread: Thread, task: Task, { written, fileName, isLast }: FileWrite): void {
  const { file, limits } = task;
  assert(file !== null, 'a report that grows has a file');
  fileBytes += written;
  task.written += written;
  if (fileBytes > limits.maxReportFilesMb * 2 ** 20)
    return task.end.abort(
      tooCostly(`needs more than is left of ${limits.maxReportFilesMb} MB for files`),
    );
  if (task.written === written) task.begun.resolve({ bytes: readReportFile(task, file), fileName });
  if (isLast && task.written <= MAX_KEPT_BYTES && !task.end.signal.aborted)
    file.read(Buffer.alloc(task.written), { position: 0 }).then(
      ({ buffer }) => task.onMade({ bytes: buffer, fileName }),
      () => {}, // it is not kept
    );
  if (isLast) release(thread);
  task.wake();
}

function toError({ code, message, stack }: Failure): Error {
  if (code !== null) return new ServiceError(code, message);
  return Object.assign(new Error(message), { stack });
}

/** Detaches a thread from its report. */
function release(thread: Thread): void {
  const { task } = thread;
  thread.task = null;
  if (task === null) return;
  task.isMaking = false;
  closeFile(task);
}

/** Closes a file that is neither written nor read any more. */
function closeFile(task: Task): void {
  if (task.isMaking || !task.end.signal.aborted) return;
  fileBytes -= task.written;
  task.written = 0;
  task.file?.close().catch(() => {});
  task.file = null;
}

/** The response is over, its client has left, or it cannot be made. */
function stop(task: Task): void {
  const { reason } = task.end.signal;
  clearTimeout(task.timer);
  const place = queue.indexOf(task);
  if (place >= 0) queue.splice(place, 1);
  task.begun.reject(reason);
  task.wake();
  closeFile(task);
  const thread = threads.values().find((one) => one.task === task);
  if (thread === undefined) return;
  if (reason !== CLIENT_LEFT) return end(thread);
  thread.worker.postMessage(null);
  setTimeout(() => thread.task === task && end(thread), CANCEL_GRACE_MS).unref();
}

/** Terminates a thread; the next report starts another. */
function end(thread: Thread): void {
  threads.delete(thread);
  void thread.worker.terminate();
  beginNext();
}

const TOO_BUSY = new HttpError(
  503,
  'Cannot make this report now: others are being made; try again later',
  { headers: ['Retry-After', '10'] },
);

function tooCostly(why: string): HttpError {
  return new HttpError(
    503,
    `Cannot make this report: it ${why}; ask for fewer models or a shorter range`,
  );
}
