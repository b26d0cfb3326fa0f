import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { existsSync, statSync } from 'node:fs';
import { ServiceError } from '../basics/domain.ts';
import { BUSY_TIMEOUT_MS, prepareOnce } from './database.ts';
import { checkOwnership, isEmpty } from './schema/schema.ts';
import { type Inspected, type Snapshot, unreadable } from './moment.ts';
import { assertUsable, isWrittenWithLog, realPathOf } from './storage/files.ts';

/** How a file is opened for reading, as parameters of its URL. */
type Access =
  /** A program has it open with a log beside it; the index of that log is only read. */
  | 'readonly_shm=1'
  /**
   * Nothing has it open, and with a log SQLite would create files beside it: the file is read as
   * one that never changes.
   */
  | 'immutable=1'
  /** In the usual way: it is read without a log, or SQLite may create the index of its log. */
  | '';

/**
 * Opens a file for reading. Leaves no trace, not even the empty side files that SQLite creates for
 * a reader and that would belong to this user instead of the server's. Only beside a log without
 * its index SQLite makes that index; a view refuses such a file. Throws a `ServiceError`
 * (`storage_fault`) for a file that is missing, unreadable, empty, replaced since it was inspected,
 * or not a database of this version. With `isOneState`, all statements see the state that the first
 * of them saw.
 */
export function openForReading(
  path: string,
  {
    isOneState,
    isView,
    inspected = inspectFile(path),
  }: { isOneState: boolean; isView: boolean; inspected?: Inspected },
) {
  let connection: DatabaseSync | undefined;
  try {
    const file = realPathOf(path);
    const { ino, state } = stateOf(path, file);
    if (ino !== inspected.ino) throw changedWhileRead(path);
    const access = accessTo(file, { isView, isWithoutLog: state === inspected.withoutLog });
    const url = `${pathToFileURL(file).href}${access === '' ? '' : `?${access}`}`;
    const opened = new DatabaseSync(new URL(url), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    connection = opened;
    if (isOneState) opened.exec('BEGIN'); // the state of the first read is kept until the end of the transaction
    checkOwnership(opened, path);
    if (isEmpty(opened))
      throw new ServiceError('storage_fault', `Cannot read ${path}: it is empty`);
    const isCurrent = () => stateOf(path, file).state === state;
    return {
      path,
      url,
      /** Whether it is read beside a program that has it open with a log. */
      hasLog: access === 'readonly_shm=1',
      statement: prepareOnce(opened),
      isOpen: () => opened.isOpen,
      /** Whether it would be opened in the same way again. */
      isCurrent,
      assertSame() {
        if (access === 'immutable=1' && !isCurrent()) throw changedWhileRead(path);
      },
      close: () => void (opened.isOpen && opened.close()),
    };
  } catch (error) {
    connection?.close();
    throw unreadable(path, error);
  }
}

/**
 * Reads of a file itself how it is written; what was read before is still true of the same file.
 * For a process that has no connection to it: see `Inspected`. Throws as `openForReading` does.
 */
export function inspectFile(path: string, before?: Inspected): Inspected {
  try {
    const file = realPathOf(path);
    const { ino, state } = stateOf(path, file);
    if (before?.ino === ino) return before;
    assertUsable(path);
    return { ino, withoutLog: isWrittenWithLog(file) ? null : state };
  } catch (error) {
    throw unreadable(path, error);
  }
}

function changedWhileRead(path: string): ServiceError {
  return new ServiceError('storage_fault', `The file ${path} changed while it was read; try again`);
}

/** A file that has changed since it was inspected may be written with a log by now. */
function accessTo(
  file: string,
  { isView, isWithoutLog }: { isView: boolean; isWithoutLog: boolean },
): Access {
  if (hasLog(file)) return 'readonly_shm=1';
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return isWithoutLog ? '' : 'immutable=1';
  if (!isView) return '';
  throw new Error(
    'its log (-wal) lies beside it without the index (-shm); start the service on it once, or copy it with backup',
  );
}

/**
 * The file's number, and a text that differs from state to state, and stays the same while a
 * program has the file open with a log, which SQLite follows itself.
 */
function stateOf(path: string, file: string): { ino: string; state: string } {
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

/**
 * Works on a snapshot of a database while others may write; throws as `openForReading` does, and
 * when a program opens a file meanwhile that none had open. For a process that has no connection to
 * the file: see `Inspected`.
 */
export async function withSnapshot<Result>(
  path: string,
  work: (snapshot: Snapshot) => Result | Promise<Result>,
): Promise<Result> {
  return closing(openForReading(path, { isOneState: true, isView: false }), work);
}

/** Works on a snapshot, and closes it. */
export async function closing<Result>(
  snapshot: Snapshot,
  work: (snapshot: Snapshot) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work(snapshot);
  } finally {
    snapshot.close();
    snapshot.assertSame();
  }
}
