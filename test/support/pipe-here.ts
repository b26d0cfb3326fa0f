import { read, writeSync } from 'node:fs';
import type { Pipe } from '../../src/core/agent/pipe.ts';
import { createLineReader, encodeLine } from '../../src/core/wire/protocol.ts';

const STDIN = 0;
const STDOUT = 1;
const READ_BYTES = 64 * 1024;

/**
 * The pipe of an agent that runs in the process of a test (agent-here.ts), which nothing may block.
 */
export function openPipe(): Pipe {
  const lines: string[] = [];
  const take = createLineReader(
    (line) => void lines.push(line),
    () => process.exit(1),
  );
  return {
    send: (message) => void writeSync(STDOUT, encodeLine(message)),
    async receive() {
      while (lines.length === 0) take(await readChunk());
      return lines.shift() as string;
    },
    readAhead() {},
    onUncaught() {}, // it would be one of the test's process
  };
}

function readChunk(): Promise<Buffer> {
  const chunk = Buffer.allocUnsafe(READ_BYTES);
  return new Promise((resolve) => {
    read(STDIN, chunk, (error, length) => {
      if (error || length === 0) process.exit(1);
      resolve(chunk.subarray(0, length));
    });
  });
}
