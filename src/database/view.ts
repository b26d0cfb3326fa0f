import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { ServiceError } from '../basics/domain.ts';
import { type Database, prepareOnce, type Reader } from './database.ts';
import { type Address, momentOf, momentOfService } from './moment.ts';
import { type Access, openReadOnly } from './snapshot.ts';
import { isWrittenWithLog, realPathOf } from './storage/files.ts';

/**
 * A connection that nothing uses for this long is closed: SQLite removes a log only when its last
 * connection is closed.
 */
const IDLE_MS = 2_000;

/**
 * A database that is shown and never changed: neither the file nor what lies beside it, whether or
 * not a service runs on it. What such a service commits appears. Throws a `ServiceError`
 * (`storage_fault`) for a file that is missing, unreadable, or not a database of this version (an
 * `OlderSchema` for one of an earlier program); statements throw it when the file is lost later.
 */
export function openView(path: string, { idleMs = IDLE_MS }: { idleMs?: number } = {}): Database {
  const file = realPathOf(path);
  let open = openNow(path, file);
  let isUsed = true;
  let reopened = 0;
  const current = (): Connection => {
    isUsed = true;
    if (open.key === stateOf(path, file) && open.connection.isOpen) return open;
    const next = openNow(path, file);
    open.close();
    open = next;
    reopened += 1;
    return open;
  };
  const closeWhenIdle = () => {
    if (!isUsed && open.access === 'readonly_shm=1') open.close();
    isUsed = false;
  };
  const timer = setInterval(closeWhenIdle, idleMs).unref();
  return {
    path,
    statement: (sql, rows) => current().statement(sql, rows),
    reopened: () => reopened,
    write: () => assert.fail('a view writes nothing'),
    probe: () => null,
    storageFault: () => null,
    read(work) {
      const moment = momentOfView(path);
      try {
        return work(moment);
      } finally {
        moment.close();
      }
    },
    address: () => ({ path, isView: true }),
    close() {
      clearInterval(timer);
      open.close();
    },
  };
}

/**
 * The file as it is at the first statement, until it is closed. One that was opened as a file that
 * never changes must not change while it is read.
 */
function momentOfView(path: string): Database {
  const file = realPathOf(path);
  const { statement, access, key, close } = openNow(path, file, { isOneState: true });
  return momentOf(
    path,
    (sql, rows) => {
      if (access === 'immutable=1' && stateOf(path, file) !== key)
        throw new ServiceError(
          'storage_fault',
          `The file ${path} changed while a response was read from it; ask again`,
        );
      return statement(sql, rows);
    },
    close,
  );
}

interface Connection {
  connection: DatabaseSync;
  statement: Reader['statement'];
  access: Access;
  /** Of the file when it was opened. */
  key: string;
  close(): void;
}

/** Opens it as its present state allows. */
function openNow(path: string, file: string, { isOneState = false } = {}): Connection {
  let key = '';
  const lookAt = (): Access => {
    key = stateOf(path, file);
    return accessTo(file);
  };
  const { connection, access } = openReadOnly(path, lookAt, { isOneState });
  const close = () => void (connection.isOpen && connection.close());
  return { connection, statement: prepareOnce(connection), access, key, close };
}

/**
 * Differs from state to state, and stays the same while a program has the file open with a log,
 * which SQLite follows itself.
 */
function stateOf(path: string, file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) throw new ServiceError('storage_fault', `There is no database ${path}`);
  const { ino, size, mtimeNs } = found;
  return hasLog(file) ? `${ino} with a log` : `${ino} ${size} ${mtimeNs}`;
}

/** The index of a log is made after the log; until then the file is what it was. */
function hasLog(file: string): boolean {
  return existsSync(`${file}-shm`) && existsSync(`${file}-wal`);
}

function accessTo(file: string): Access {
  if (hasLog(file)) return 'readonly_shm=1';
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0)
    throw new Error(
      'its log (-wal) lies beside it without the index (-shm); start the service on it once, or copy it with backup',
    );
  return isWrittenWithLog(file) ? 'immutable=1' : '';
}

/** The database at an address as it is at the first statement, until it is closed. */
export function momentAt({ path, isView }: Address): Database {
  return isView ? momentOfView(path) : momentOfService(path);
}
