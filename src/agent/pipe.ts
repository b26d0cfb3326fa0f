import { read, readSync, writeSync } from 'node:fs';
import { createLineReader } from '../line-reader.ts';
import { type ChildMessage, encodeLine } from '../protocol.ts';

const STDIN = 0;
const STDOUT = 1;
const READ_BYTES = 64 * 1024;
/** One thread waits for the parent, one looks up host names; Node would start four, and containers may limit threads. */
const THREADS = 2;

/** The child's two ends of the pipe to its parent. The process exits when the parent has. */
export interface Pipe {
  send(message: ChildMessage): void;
  /** Waits for the next line. */
  receive(): string | Promise<string>;
  /** From now on reads continuously, so that a child waiting for its model notices at once when its parent exits. */
  readAhead(): void;
}

/**
 * Opens the pipe on stdin and stdout. A child that only ever waits for its parent uses plain blocking reads: the modules
 * behind `process.stdin` and a thread pool would add a fifth to its start-up time.
 */
export function openPipe(): Pipe {
  const lines: string[] = [];
  let waiting: ((line: string) => void) | undefined;
  let isReadingAhead = false;
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
      for (let written = 0; written < bytes.length;) written += writeSync(STDOUT, bytes, written);
    },
    receive() {
      for (;;) {
        const line = lines.shift();
        if (line !== undefined) return line;
        if (isReadingAhead) return new Promise((resolve) => (waiting = resolve));
        take(readChunk());
      }
    },
    readAhead() {
      isReadingAhead = true;
      process.env['UV_THREADPOOL_SIZE'] = String(THREADS); // read when the first thread is started
      readAlways(take);
    },
  };
}

function readChunk(): Buffer {
  const chunk = Buffer.allocUnsafe(READ_BYTES);
  const length = readSync(STDIN, chunk);
  if (length === 0) process.exit(1);
  return chunk.subarray(0, length);
}

function readAlways(take: (chunk: Buffer) => void): void {
  read(STDIN, Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, null, (error, length, chunk) => {
    if (error || length === 0) process.exit(1);
    take(chunk.subarray(0, length));
    readAlways(take);
  });
}
