import { readSync, writeSync } from 'node:fs'; // those of agent-here.ts: it awaits what is read
import type { Pipe } from '../../src/agent/pipe.ts';
import { createLineReader } from '../../src/line-reader.ts';
import { encodeLine } from '../../src/protocol.ts';

const READ_BYTES = 64 * 1024;

/** The pipe of an agent that runs in the process of a test, which nothing may block. */
export function openPipe(): Pipe {
  const lines: string[] = [];
  const take = createLineReader((line) => void lines.push(line), () => process.exit(1));
  return {
    send: (message) => void writeSync(1, encodeLine(message)),
    async receive() {
      const chunk = Buffer.allocUnsafe(READ_BYTES);
      while (lines.length === 0) take(chunk.subarray(0, await readSync(0, chunk)));
      return lines.shift() as string;
    },
    readAhead() {},
  };
}
