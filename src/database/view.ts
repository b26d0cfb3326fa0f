import assert from 'node:assert/strict';
import type { Address, Database } from './database.ts';
import { inspectFile, momentAt, openForReading } from './snapshot.ts';

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
  let shown = inspectFile(path);
  const openNow = () => openForReading({ path, shown }, { isOneState: false });
  let open = openNow();
  let isUsed = true;
  let reopened = 0;
  const current = () => {
    isUsed = true;
    if (open.isCurrent() && open.isOpen()) return open;
    shown = inspectFile(path, shown);
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
    return { path, shown };
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
