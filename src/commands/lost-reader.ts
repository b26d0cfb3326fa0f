import type { Writable } from 'node:stream';
import { codeOf } from '../domain.ts';

type Output = Writable & { isTTY?: boolean };

/**
 * Lets this process outlive the reader of what it prints, as in `check | head`: it ends by itself,
 * quietly and with its own exit code, and a service keeps running when the program that reads its
 * log has ended, or its terminal was closed. Without this, Node would end it with a stack trace.
 */
export function outliveReaders(
  streams: readonly Output[] = [process.stdout, process.stderr],
): void {
  for (const stream of streams)
    stream.on('error', (error) => {
      const isTerminalLost = stream.isTTY === true && codeOf(error) === 'EIO'; // of a file, it is a fault of the disk
      if (!isReaderLost(error) && !isTerminalLost) throw error;
    });
}

/** Whether something could not be written because its reader has ended or closed the pipe. */
export function isReaderLost(error: unknown): boolean {
  return codeOf(error) === 'EPIPE';
}
