import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { existsSync, statSync } from 'node:fs';
import { errorMessage, ServiceError } from '#domain/service-error.ts';
import { type Address, BUSY_TIMEOUT_MS, type Database, prepareOnce } from './database.ts';
import { checkOwnership, isEmpty } from '#database/schema/schema.ts';
import { describeDamage } from '#database/storage/faults.ts';
import { assertUsable, realPath } from '#database/storage/files.ts';

/** A program has it open with a log beside it; the index of that log is only read. */
const READONLY_SHM = '?readonly_shm=1';
/** Nothing is written beside it: the file is read as one that never changes. */
const IMMUTABLE = '?immutable=1';

/**
 * Opens a file for reading. Leaves no trace, not even the empty side files that SQLite creates for
 * a reader and that would belong to this user instead of the server's. Only beside a log without
 * its index SQLite makes that index; a view refuses such a file. Throws a `ServiceError`
 * (`storage_fault`) for a file that is missing, unreadable, empty, replaced since it was inspected,
 * or not a database of this version. With `isOneState`, all statements see the state that the first
 * of them saw.
 */
export function openForReading({ path, shown }: Address, { isOneState = true } = {}) {
  let connection: DatabaseSync | undefined;
  try {
    const file = realPath(path);
    const { ino, state } = fileState(path, file);
    if (shown !== null && ino !== shown) throw changedWhileRead(path);
    const access = accessParameters(file, { isView: shown !== null });
    const url = `${pathToFileURL(file).href}${access}`;
    const opened = new DatabaseSync(new URL(url), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    connection = opened;
    if (isOneState) opened.exec('BEGIN'); // the state of the first read is kept until the end of the transaction
    checkOwnership(opened, path);
    if (isEmpty(opened))
      throw new ServiceError('storage_fault', `Cannot read ${path}: it is empty`);
    const isCurrent = () => fileState(path, file).state === state;
    return {
      path,
      shown,
      /** The file as a URL with SQLite's parameters, for further connections like this one. */
      url,
      /** Whether it is read beside a program that has it open with a log. */
      hasLog: access === READONLY_SHM,
      statement: prepareOnce(opened),
      /** Whether it would be opened in the same way again. */
      isCurrent,
      /** Throws when the file is read as one that never changes, and has changed. */
      assertSame() {
        if (access === IMMUTABLE && !isCurrent()) throw changedWhileRead(path);
      },
      close: () => opened.close(),
    };
  } catch (error) {
    connection?.close();
    throw unreadable(path, error);
  }
}

/** A database that is read as it is at one moment. */
export type Snapshot = ReturnType<typeof openForReading>;

/**
 * Inspects a file itself before SQLite opens it, unless that was done to the same file; returns its
 * number. For a process that has no connection to it: when a process closes any other descriptor of
 * a file, it loses all its locks on that file, SQLite's too
 * (https://sqlite.org/howtocorrupt.html, 2.2). Throws as `openForReading` does.
 */
export function inspectFile(path: string, before?: string): string {
  try {
    const { ino } = fileState(path, realPath(path));
    if (ino !== before) assertUsable(path);
    return ino;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The error for a database that cannot be read. */
export function unreadable(path: string, error: unknown): ServiceError {
  const message =
    error instanceof ServiceError
      ? error.message
      : `Cannot read the database ${path}: ${describeDamage(error) ?? errorMessage(error)}`;
  return new ServiceError('storage_fault', message, { cause: error });
}

function changedWhileRead(path: string): ServiceError {
  return new ServiceError('storage_fault', `The file ${path} changed while it was read; try again`);
}

/** How a file is opened for reading, as parameters of its URL. */
function accessParameters(file: string, { isView }: { isView: boolean }): string {
  if (hasLog(file)) return READONLY_SHM;
  const isThere = (side: string) =>
    (statSync(file + side, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (isView && isThere('-wal'))
    throw new Error(
      'its log (-wal) exists without its index (-shm); start the service on it once, or copy it with backup',
    );
  // What a program has left beside it is not whole; SQLite may create the index of its log.
  return isThere('-wal') || isThere('-journal') ? '' : IMMUTABLE;
}

/**
 * The file's number, and a text that differs from state to state, and stays the same while a
 * program has the file open with a log, which SQLite follows itself.
 */
function fileState(path: string, file: string): { ino: string; state: string } {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) throw new ServiceError('storage_fault', `There is no database ${path}`);
  const { ino, size, mtimeNs } = found;
  const state = hasLog(file) ? `${ino} with a log` : `${ino} ${size} ${mtimeNs}`;
  return { ino: String(ino), state };
}

/** The index of a log is made after the log; until then the file is what it was. */
function hasLog(file: string): boolean {
  return existsSync(`${file}-shm`) && existsSync(`${file}-wal`);
}

/** The address of a file that this process neither shows nor has open. Throws as `inspectFile`. */
export function fileAddress(path: string): Address {
  inspectFile(path);
  return { path, shown: null };
}

/**
 * The database at an address as it is at the first statement, until it is closed. A file that was
 * opened as one that never changes must not change while it is read.
 */
export function openMoment(address: Address): Database {
  const { path, statement, assertSame, close } = openForReading(address);
  const fail = () => assert.fail('a response only reads');
  return {
    path,
    statement(sql, rows) {
      assertSame();
      return statement(sql, rows);
    },
    close,
    write: fail,
    probe: fail,
    storageFault: fail,
    read: fail,
    address: fail,
  };
}

/**
 * Works on a snapshot of a database while others may write; throws as `openForReading` does, and
 * when a program opens a file meanwhile that none had open. A process that has no connection to the
 * file gives its path.
 */
export async function withSnapshot<Result>(
  database: string | Address,
  work: (snapshot: Snapshot) => Result | Promise<Result>,
): Promise<Result> {
  const address = typeof database === 'string' ? fileAddress(database) : database;
  const snapshot = openForReading(address);
  try {
    return await work(snapshot);
  } finally {
    snapshot.close();
    snapshot.assertSame();
  }
}
