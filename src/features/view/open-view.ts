import assert from 'node:assert/strict';
import type { Database } from '#database/database.ts';
import { inspectFile, openMoment, openForReading, type Snapshot } from '#database/snapshot.ts';

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
  let shown: string | undefined;
  let open: Snapshot | undefined;
  let isUsed = true;
  let opened = 0;
  const current = () => {
    isUsed = true;
    if (open?.isCurrent()) return open;
    shown = inspectFile(path, shown);
    const next = openForReading({ path, shown }, { isOneState: false });
    open?.close();
    open = next;
    opened += 1;
    return open;
  };
  current();
  const closeWhenIdle = () => {
    if (!isUsed && open?.hasLog) {
      open.close();
      open = undefined;
    }
    isUsed = false;
  };
  const timer = setInterval(closeWhenIdle, idleMs).unref();
  // If the file was replaced, this process inspects it before its threads open it.
  const address = () => ({ path, shown: current().shown });
  return {
    path,
    statement: (sql, rows) => current().statement(sql, rows),
    opened: () => opened,
    write: () => assert.fail('a view writes nothing'),
    probe: () => null,
    storageFault: () => null,
    read(work) {
      const moment = openMoment(address());
      try {
        return work(moment);
      } finally {
        moment.close();
      }
    },
    address,
    close() {
      clearInterval(timer);
      open?.close();
    },
  };
}
