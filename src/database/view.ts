import assert from 'node:assert/strict';
import type { Database } from './database.ts';
import { type Address, momentOf, openServed, type Snapshot } from './moment.ts';
import { closing, inspectFile, openForReading } from './snapshot.ts';

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
  let inspected = inspectFile(path);
  const openNow = () => openForReading(path, { isOneState: false, isView: true, inspected });
  let open = openNow();
  let isUsed = true;
  let reopened = 0;
  const current = () => {
    isUsed = true;
    if (open.isCurrent() && open.isOpen()) return open;
    inspected = inspectFile(path, inspected);
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
  const address = (): Address => {
    current(); // if the file was replaced, this process inspects it before its threads open it
    return { path, shown: inspected };
  };
  return {
    path,
    statement: (sql, rows) => current().statement(sql, rows),
    reopened: () => reopened,
    write: () => assert.fail('a view writes nothing'),
    probe: () => null,
    storageFault: () => null,
    read(work) {
      const moment = momentAt(address());
      try {
        return work(moment);
      } finally {
        moment.close();
      }
    },
    address,
    close() {
      clearInterval(timer);
      open.close();
    },
  };
}

/** The address of a file that this process neither shows nor has open. */
export function addressOfFile(path: string): Address {
  return { path, shown: inspectFile(path) };
}

/**
 * The database at an address as it is at the first statement, until it is closed. A file that was
 * opened as one that never changes must not change while it is read.
 */
export function momentAt(address: Address): Database {
  const { path, statement, assertSame, close } = openAt(address);
  return momentOf(
    path,
    (sql, rows) => {
      assertSame();
      return statement(sql, rows);
    },
    close,
  );
}

/** Works on a snapshot of the database at an address; throws as `openForReading` does. */
export async function withMoment<Result>(
  address: Address,
  work: (snapshot: Snapshot) => Result | Promise<Result>,
): Promise<Result> {
  return closing(openAt(address), work);
}

function openAt({ path, shown }: Address): Snapshot {
  return shown === null
    ? openServed(path)
    : openForReading(path, { isOneState: true, isView: true, inspected: shown });
}
