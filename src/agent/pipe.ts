import { read, readSync, writeSync } from 'node:fs';
import { type ChildMessage, createLineReader, encodeLine } from '../protocol.ts';

const STDIN = 0;
const STDOUT = 1;
const READ_BYTES = 64 * 1024;
/** One thread waits for the parent, one looks up names; Node would make four, and containers may allow few. */
const THREADS = 2;

/** The child's two ends of the pipe to its parent. The process ends when the parent is gone. */
export interface Pipe {
  send(message: ChildMessage): void;
  /** Waits for the next line. */
  receive(): string | Promise<string>;
  /** From now on reads all the time, so that a child that waits for its model notices at once when its parent is gone. */
  readAhead(): void;
}

/**
 * Opens the pipe on stdin and stdout. A child that only ever waits for its parent does so in plain blocking reads: the
 * modules behind `process.stdin` and a thread pool would add a fifth to what its start costs.
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
      if (isReadingAhead && lines.length === 0) return new Promise((resolve) => (waiting = resolve));
      while (lines.length === 0) take(readChunk());
      return lines.shift() as string;
    },
    readAhead() {
      isReadingAhead = true;
      process.env['UV_THREADPOOL_SIZE'] = String(THREADS); // read when the first thread is asked for
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
