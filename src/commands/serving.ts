import { stat } from 'node:fs';
import type { BuiltPages } from '../http/pages.ts';
import type { Log } from '../log.ts';

/** What the commands that serve requests until a signal have in common. */

/** The files of the pages, bundled from src/browser/ by the build. */
declare const PAGES: BuiltPages;

/** After a signal the process exits within this time, whatever still runs. */
export const SHUTDOWN_TIMEOUT_MS = 10_000;
/** Work that can wait starts this long after start-up. */
const SETTLING_MS = 500;
/** Threads for blocking calls, which here means host name look-ups. Node's default is four. */
const THREADS = 2;
const FAILED = 1;

/** The files of the pages, as the build put them into the program. */
export function builtPages(): BuiltPages {
  return PAGES;
}

/**
 * Node starts all its threads when the first is needed, and aborts the process if the system allows
 * no more. Before there are children this either succeeds or fails with nothing lost.
 */
export function makeThreads(): Promise<void> {
  process.env['UV_THREADPOOL_SIZE'] ??= String(THREADS);
  return new Promise((resolve) => stat('.', () => resolve()));
}

/**
 * Under load V8 repeatedly doubles its young generation, and keeps it: 100 MB for a service that
 * holds 10. It also lets the old generation grow to four times what was alive at the last
 * collection, and keeps those pages too: in a response of minutes 45 MB more than with two and a
 * half times. Neither limit has a measurable cost.
 */
export const HEAP_FLAGS = ['--semi-space-growth-factor=1', '--heap-growing-percent=150'];

/** Sets `HEAP_FLAGS` once the start is over. */
export function keepMemoryFlat(): void {
  setTimeout(async () => {
    const { setFlagsFromString } = await import('node:v8');
    for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
  }, SETTLING_MS).unref();
}

/** The first signal shuts down cleanly, the second exits at once. */
export function stopOnSignal(stop: () => Promise<void>, { info, error }: Log): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(FAILED);
    stopping = true;
    info('stopping', { signal });
    setTimeout(() => process.exit(FAILED), SHUTDOWN_TIMEOUT_MS).unref();
    stop().then(
      () => process.exit(0),
      (thrown: unknown) => {
        error('unexpected failure while stopping', { error: String(thrown) });
        process.exit(FAILED);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
