import { readSync, writeSync } from 'node:fs';
import { type ChildMessage, createLineReader, encodeLine } from '../protocol.ts';

const STDIN = 0;
const STDOUT = 1;
const READ_BYTES = 64 * 1024;

/** The child's two ends of the pipe to its parent. */
export interface Pipe {
  send(message: ChildMessage): void;
  /** Waits for the next line. The process ends when the parent is gone. */
  receive(): string;
}

/**
 * Opens the pipe on stdin and stdout. While it waits for its parent the child has nothing else to do, so plain blocking
 * reads and writes serve; the modules behind `process.stdin` and a thread pool would add a fifth to what a start costs.
 */
export function openPipe(): Pipe {
  const lines: string[] = [];
  const take = createLineReader(
    (line) => void lines.push(line),
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
        const chunk = Buffer.allocUnsafe(READ_BYTES);
        const length = readSync(STDIN, chunk);
        if (length === 0) process.exit(1);
        take(chunk.subarray(0, length));
      }
    },
  };
}
