import { type CommandDatabase, MAX_PAUSE_MS } from '../database/database.ts';
import { type EventLoop, eventLoop } from '../event-loop.ts';

/** How an import shares the write lock with a server that runs beside it. */

/**
 * How long one transaction of an import takes on more work; a server's commit waits for its end.
 */
export const TRANSACTION_MS = 100;
/**
 * How long the lock is free between two transactions. SQLite's lock has no queue: a server that
 * waits for it tries again after at most `MAX_PAUSE_MS`, so it has to find the lock free for longer
 * than that.
 */
export const FREE_MS = MAX_PAUSE_MS + 10;

/** As much of the event loop as an import needs. */
export type Time = Pick<EventLoop, 'now' | 'sleep'>;

/**
 * The writes of one import. Work is an iterator that writes a little at each step, in a transaction
 * that is open.
 */
export interface ImportTurns {
  /** Takes on work after everything before it has been done. */
  add(work: Iterator<unknown>): Promise<void>;
  /**
   * Runs a transaction, if there is work and the lock has been free for long enough: called often,
   * it makes waiting rare.
   */
  advance(): void;
  /** Waits until all work has been done. */
  finish(): Promise<void>;
}

/**
 * Writes in transactions of at most `TRANSACTION_MS` (and one step), which leave the lock free for
 * `FREE_MS` after each.
 */
export function createImportTurns(database: CommandDatabase, time: Time = eventLoop): ImportTurns {
  let current: Iterator<unknown> | null = null;
  let freeAt = -Infinity;
  const freeMsLeft = () => freeAt + FREE_MS - time.now();
  const runTransaction = (work: Iterator<unknown>) => {
    // The time spent waiting for the lock does not count.
    const isDone = database.transaction(() => runFor(work, time));
    freeAt = time.now();
    if (isDone) current = null;
  };
  const finish = async () => {
    while (current !== null) {
      const msLeft = freeMsLeft();
      if (msLeft > 0) await time.sleep(msLeft);
      else runTransaction(current);
    }
  };
  return {
    async add(work) {
      await finish();
      current = work;
    },
    advance() {
      if (current !== null && freeMsLeft() <= 0) runTransaction(current);
    },
    finish,
  };
}

/** Returns whether the work is done. */
function runFor(work: Iterator<unknown>, time: Time): boolean {
  const end = time.now() + TRANSACTION_MS;
  do {
    if (work.next().done === true) return true;
  } while (time.now() < end);
  return false;
}
