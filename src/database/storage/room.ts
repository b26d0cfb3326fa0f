import { statfsSync } from 'node:fs';
import { diskIsFull } from './faults.ts';

/**
 * A disk that was full counts as full until it has this much room. A single page may fit where a
 * commit does not: a job that took this for room would run its model-days again, pay for them
 * again, and fail to store them again.
 */
const MIN_ROOM_BYTES = 1 << 20;

/** Throws a `ServiceError` (`storage_fault`) when the disk of this file has too little room. */
export function assertRoom(path: string): void {
  const { blocks, bavail, bsize } = statfsSync(path);
  // A file system without a size of its own, as a tmpfs may be, reports 0 for both.
  if (blocks > 0 && bavail * bsize < MIN_ROOM_BYTES) diskIsFull();
}
