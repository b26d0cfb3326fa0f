import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { fileIsGone, logIsRemoved, logIsReplaced } from './faults.ts';
import { realPathOf } from './file.ts';

/** The files of SQLite's write-ahead log lie beside the database and bear its name with these endings. */
const LOG_ENDINGS = ['-wal', '-shm'] as const;

/** Told when the guard has put something right. */
export type OnRepair = (what: string) => void;

/** Looks whether the files that a connection has open are still those that bear their names. */
export interface Guard {
  /**
   * Throws a `ServiceError` (`storage_fault`) when the database was removed or replaced, or its log was and cannot be saved.
   * A log that was only removed is saved and begun anew.
   */
  check(): void;
  /** Whether every file is in its place. */
  isWhole(): boolean;
}

/** The guard of a database without a file. */
export const noGuard: Guard = { check() {}, isWhole: () => true };

/**
 * Watches the files of an open connection. What is written to a file without a name is lost with the process, without a
 * word; and of two programs that each have a log of their own, one overwrites what the other has written.
 */
export function watchFiles(path: string, connection: DatabaseSync, onRepair: OnRepair): Guard {
  const place = realPathOf(path);
  const database = identityOf(path);
  let log = LOG_ENDINGS.map((ending) => identityOf(place + ending));
  const isGone = () => isOther(path, database);
  const lostParts = () => LOG_ENDINGS.filter((ending, index) => isOther(place + ending, log[index]));
  return {
    isWhole: () => !isGone() && lostParts().length === 0,
    check() {
      if (isGone()) throw fileIsGone();
      const lost = lostParts();
      if (lost.length === 0) return;
      if (lost.some((ending) => identityOf(place + ending) !== undefined)) throw logIsReplaced();
      saveLog(connection);
      log = LOG_ENDINGS.map((ending) => identityOf(place + ending));
      onRepair(`The log of the database (${lost.join(', ')}) was removed while it was in use; what it held was saved`);
    },
  };
}

/**
 * Leaving WAL mode writes the log, which this connection still has open, into the database; entering it again begins a new
 * one. SQLite does so only under an exclusive lock on the database, so no other program can have begun a log meanwhile.
 * Prepared statements stay valid.
 */
function saveLog(connection: DatabaseSync): void {
  const timeout = connection.prepare('PRAGMA busy_timeout').get()?.['timeout'];
  try {
    connection.exec('PRAGMA busy_timeout = 0');
    if (switchTo(connection, 'DELETE') !== 'delete') throw new Error('The log is still in use');
  } catch (error) {
    throw logIsRemoved(error);
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
  switchTo(connection, 'WAL');
  connection.exec('SELECT 1 FROM sqlite_schema'); // the log's files are there from the first read on
}

function switchTo(connection: DatabaseSync, mode: 'DELETE' | 'WAL'): unknown {
  return connection.prepare(`PRAGMA journal_mode = ${mode}`).get()?.['journal_mode'];
}

interface FileIdentity {
  ino: bigint;
  birthtimeNs: bigint;
}

/** Undefined where there is no such file, or the system does not tell. */
function identityOf(path: string): FileIdentity | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // a folder that cannot be looked into says nothing about the file
  }
}

/** Whether a name no longer leads to the file that was seen there. Some file systems number a file anew, so that alone decides nothing. */
function isOther(path: string, seen: FileIdentity | undefined): boolean {
  if (seen === undefined) return false;
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined || (found.ino !== seen.ino && found.birthtimeNs !== seen.birthtimeNs);
  } catch {
    return false;
  }
}
