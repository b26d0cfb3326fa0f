import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf } from '../test/support/processes.ts';
import { processorMs } from './processor-time.ts';

/** A window of time, and the processor time in it that an idle program may use. */
const WINDOW_MS = 50;
const IDLE_MS = 5;
/** Something that works all the time, such as a page that moves, is not waited for. */
const MAX_WINDOWS = 40;

/**
 * Resolves when no process that the bench has started works any more. What a browser does after a
 * page has been closed, or a server after a response, would otherwise slow the calibration that
 * follows, and so make them look fast.
 */
export async function untilIdle(): Promise<void> {
  let before = processorMsOfAll();
  for (let window = 0; window < MAX_WINDOWS; window += 1) {
    await sleep(WINDOW_MS);
    const now = processorMsOfAll();
    const isIdle = [...now].every(([pid, ms]) => ms - (before.get(pid) ?? 0) < IDLE_MS);
    if (isIdle) return;
    before = now;
  }
}

/** Of each process that descends from this one. */
function processorMsOfAll(
  pid = process.pid,
  found = new Map<number, number>(),
): Map<number, number> {
  for (const child of unlessEnded(() => childrenOf(pid)) ?? []) {
    const ms = unlessEnded(() => processorMs(child));
    if (ms === undefined) continue;
    found.set(child, ms);
    processorMsOfAll(child, found);
  }
  return found;
}

/** A process may end while it is looked at. */
function unlessEnded<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code !== 'ENOENT' &&
      (error as NodeJS.ErrnoException).code !== 'ESRCH'
    )
      throw error;
    return undefined;
  }
}
