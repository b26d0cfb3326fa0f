import { codeOf } from '../domain.ts';

/**
 * Lets this process outlive the reader of what it prints, as in `check | head`: it ends by itself, quietly and with its own exit
 * code, and a service keeps running when the program that reads its log has ended. Without this, Node would end it with a stack trace.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (!isReaderLost(error)) throw error;
    });
}

/** Whether something could not be written because its reader has ended or closed the pipe. */
export function isReaderLost(error: unknown): boolean {
  return codeOf(error) === 'EPIPE';
}
