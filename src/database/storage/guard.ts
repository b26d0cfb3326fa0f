import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { storageFault } from './faults.ts';
import { realPathOf } from './files.ts';

/** The suffixes of SQLite's write-ahead log files, which lie beside the database. */
const LOG_SUFFIXES = ['-wal', '-shm'] as const;

/**
 * When it cannot be saved, because another program has the database open or a response is still
 * being read from it.
 */
const LOG_IS_REMOVED =
  'its log (-wal, -shm) was removed while the service runs, and cannot be saved while others have the database open; end them';
/** By another program that has begun its own log: the two would overwrite each other's pages. */
const LOG_IS_REPLACED =
  'its log (-wal, -shm) was replaced while the service runs, and the last writes may be lost; restart the service, then run check';

/**
 * How long files found in their places are taken to be there: under load, health checks spent a
 * tenth of their time on looking.
 */
const LOOK_AGAIN_MS = 10;

/** Called when the guard has repaired something. */
export type OnRepair = (what: string) => void;

/** Checks that the files that a connection has open are still those at their paths. */
export interface Guard {
  /**
   * Throws a `ServiceError` (`storage_fault`) when the database was removed or replaced, or its log
   * was and cannot be saved. A log that was only removed is saved and begun anew.
   */
  check(): void;
  /**
   * Whether every file is in its place, or was a few milliseconds ago. `now` is in milliseconds, of
   * any origin.
   */
  isWhole(now?: number): boolean;
  /**
   * As `isWhole`, but without the few milliseconds: a connection that is opened beside a lost log
   * begins another one.
   */
  isWholeNow(): boolean;
}

/** The guard of a database without a file. */
export const noGuard: Guard = { check() {}, isWhole: () => true, isWholeNow: () => true };

/**
 * Watches the files of an open connection. Writes to an unlinked file are silently lost when the
 * process ends, and if two programs have a log each, one overwrites the other's writes.
 * `beforeRepair` closes what this program has open besides.
 */
export function watchFiles(
  path: string,
  connection: DatabaseSync,
  { onRepair, beforeRepair = () => {} }: { onRepair: OnRepair; beforeRepair?: () => void },
): Guard {
  const place = realPathOf(path);
  const database = identityOf(path);
  let log = LOG_SUFFIXES.map((suffix) => identityOf(place + suffix));
  const isGone = () => isOther(path, database);
  const lostParts = () =>
    LOG_SUFFIXES.filter((suffix, index) => isOther(place + suffix, log[index]));
  const isWholeNow = () => !isGone() && lostParts().length === 0;
  let wholeUntil = 0;
  return {
    isWholeNow,
    isWhole(now = performance.now()) {
      if (now < wholeUntil) return true;
      const isWhole = isWholeNow();
      if (isWhole) wholeUntil = now + LOOK_AGAIN_MS;
      return isWhole;
    },
    check() {
      if (isGone()) throw storageFault('its file was removed or replaced while the service runs');
      const lost = lostParts();
      if (lost.length === 0) return;
      if (lost.some((suffix) => identityOf(place + suffix) !== undefined))
        throw storageFault(LOG_IS_REPLACED);
      beforeRepair();
      saveLog(connection);
      log = LOG_SUFFIXES.map((suffix) => identityOf(place + suffix));
      onRepair(
        `The log of the database (${lost.join(', ')}) was removed while it was in use; what it held was saved`,
      );
    },
  };
}

/**
 * Leaving WAL mode writes the log, which this connection still has open, into the database;
 * entering it again begins a new one. SQLite does so only under an exclusive lock on the database,
 * so no other program can have begun a log meanwhile. Prepared statements stay valid.
 */
function saveLog(connection: DatabaseSync): void {
  const timeout = connection.prepare('PRAGMA busy_timeout').get()?.['timeout'];
  try {
    connection.exec('PRAGMA busy_timeout = 0');
    if (switchTo(connection, 'DELETE') !== 'delete') throw new Error('The log is still in use');
  } catch (error) {
    throw storageFault(LOG_IS_REMOVED, error);
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
  switchTo(connection, 'WAL');
  connection.exec('SELECT 1 FROM sqlite_schema'); // the log's files exist from the first read on
}

function switchTo(connection: DatabaseSync, mode: 'DELETE' | 'WAL'): unknown {
  return connection.prepare(`PRAGMA journal_mode = ${mode}`).get()?.['journal_mode'];
}

interface FileIdentity {
  ino: bigint;
  birthtimeNs: bigint;
}

/** Undefined when the file is missing, or when the system cannot tell. */
function identityOf(path: string): FileIdentity | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // a folder that cannot be read says nothing about the file
  }
}

/**
 * Whether a name no longer leads to the file that was seen there; false when the system cannot
 * tell. Some file systems give a file a new number, so the number by itself decides nothing.
 */
function isOther(path: string, seen: FileIdentity | undefined): boolean {
  if (seen === undefined) return false;
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return (
      found === undefined || (found.ino !== seen.ino && found.birthtimeNs !== seen.birthtimeNs)
    );
  } catch {
    return false;
  }
}
