import { DatabaseSync } from 'node:sqlite';
import { isLockHeld } from './faults.ts';

/**
 * Locks a file, which it creates: an open write transaction on it, which the operating system ends with this process,
 * however that ends. Closing it gives the lock back. Null while another process holds it.
 */
export function tryLock(file: string): DatabaseSync | null {
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('BEGIN IMMEDIATE');
    return lock;
  } catch (error) {
    lock.close();
    if (isLockHeld(error)) return null;
    throw error;
  }
}
