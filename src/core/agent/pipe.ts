import { read, readSync, writeSync } from 'node:fs';
import { errorCode } from '#domain/service-error.ts';
import { createLineReader, type ChildMessage, encodeLine } from '#wire/protocol.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const READ_BYTES = 64 * 1024;
/**
 * One thread waits for the parent, one looks up host names; Node would start four, and containers
 * may limit threads.
 */
const THREADS = 2;
/**
 * The pause before a descriptor that does not block is tried again; some launchers hand over such a
 * descriptor.
 */
const EAGAIN_PAUSE_MS = 5;

/**
 * The child's two ends of the pipe to its parent. The process exits when the parent has, or has
 * closed the pipe: with exit code 0 after it has sent its outcome, so that engines such as Slurm
 * list the day as a success.
 */
export interface Pipe {
  send(message: ChildMessage): void;
  receive(): string | Promise<string>;
  /**
   * From now on reads continuously, so that a child waiting for its model notices at once when its
   * parent exits.
   */
  readAhead(): void;
  /**
   * Calls a function with what nothing has caught. Node would end the process then, but not while a
   * thread reads ahead; the parent ends it once it has the outcome.
   */
  onUncaught(fail: (error: unknown) => void): void;
}

/**
 * Opens the pipe on stdin and stdout. A child that only ever waits for its parent uses plain
 * blocking reads: the modules behind `process.stdin` and a thread pool would add a fifth to its
 * start-up time.
 */
export function openPipe(): Pipe {
  const lines: string[] = [];
  let waiting: ((line: string) => void) | undefined;
  let isReadingAhead = false;
  let isDone = false;
  const end = () => process.exit(isDone ? 0 : 1);
  const take = createLineReader(
    (line) => {
      if (waiting === undefined) lines.push(line);
      else waiting(line);
      waiting = undefined;
    },
    () => process.exit(1),
  );
  return {
    send(message) {
      const bytes = Buffer.from(encodeLine(message));
      isDone = message.type === 'outcome';
      for (let written = 0; written < bytes.length; )
        written += retryUntilReady(() => writeSync(STDOUT, bytes, written));
    },
    receive() {
      for (;;) {
        const line = lines.shift();
        if (line !== undefined) return line;
        if (isReadingAhead) return new Promise((resolve) => (waiting = resolve));
        take(readChunk(end));
      }
    },
    readAhead() {
      isReadingAhead = true;
      process.env['UV_THREADPOOL_SIZE'] = String(THREADS); // read when the first thread is started
      readLoop(take, end);
    },
    onUncaught(fail) {
      process.on('uncaughtException', (error: unknown) => {
        const words = error instanceof Error ? error.stack : error;
        retryUntilReady(() => writeSync(STDERR, `${words}\n`));
        fail(error);
      });
    },
  };
}

/** Repeats a system call until its descriptor, which may not block, is ready. */
function retryUntilReady(call: () => number): number {
  for (;;)
    try {
      return call();
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EAGAIN_PAUSE_MS);
    }
}

function readChunk(end: () => never): Buffer {
  const chunk = Buffer.allocUnsafe(READ_BYTES);
  const length = retryUntilReady(() => readSync(STDIN, chunk));
  if (length === 0) end();
  return chunk.subarray(0, length);
}

function readLoop(take: (chunk: Buffer) => void, end: () => never): void {
  const again = () => readLoop(take, end);
  read(STDIN, Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, null, (error, length, chunk) => {
    if (errorCode(error) === 'EAGAIN') return void setTimeout(again, EAGAIN_PAUSE_MS);
    if (error || length === 0) end();
    take(chunk.subarray(0, length));
    again();
  });
}
