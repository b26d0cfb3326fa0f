import assert from 'node:assert/strict';
import type { Database } from './database.ts';
import { type Address, momentOf, momentOfService } from './moment.ts';
import { openForReading } from './snapshot.ts';

/**
 * A connection that nothing uses for this long is closed: SQLite removes a log only when its last
 * connection is closed.
 */
const IDLE_MS = 2_000;

/**
 * A database that is shown and never changed: neither the file nor what lies beside it, whether or
 * not a service runs on it. What such a service commits appears. Throws a `ServiceError`
 * (`storage_fault`) for a file that is missing, unreadable, or not a database of this version;
 * statements throw it when the file is lost later.
 */
export function openView(path: string, { idleMs = IDLE_MS }: { idleMs?: number } = {}): Database {
  const openNow = () => openForReading(path, { isOneState: false, isView: true });
  let open = openNow();
  let isUsed = true;
  let reopened = 0;
  const current = () => {
    isUsed = true;
    if (open.isCurrent() && open.isOpen()) return open;
    const next = openNow();
    open.close();
    open = next;
    reopened += 1;
    return open;
  };
  const closeWhenIdle = () => {
    if (!isUsed && open.hasLog) open.close();
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
  const { statement, assertSame, close } = openForReading(path, { isOneState: true, isView: true });
  return momentOf(
    path,
    (sql, rows) => {
      assertSame();
      return statement(sql, rows);
    },
    close,
  );
}

/** The database at an address as it is at the first statement, until it is closed. */
export function momentAt({ path, isView }: Address): Database {
  return isView ? momentOfView(path) : momentOfService(path);
}
