import { DatabaseSync } from 'node:sqlite';
import { isLockHeld } from './faults.ts';

/**
 * Locks a file, which it creates, by an open write transaction on it, which the operating system
 * ends with this process, however it ends. Closing it releases the lock. Null while another process
 * holds it.
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
