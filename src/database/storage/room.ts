import { statfsSync } from 'node:fs';
import { diskIsFull } from './faults.ts';

/**
 * The room on the disk below which it counts as full, once it was full. A single page may still fit where a commit does not:
 * a job that took this for room would run its model-days again, pay for them again, and fail to store them again.
 */
const MIN_ROOM_BYTES = 1 << 20;

/** Throws a `ServiceError` (`storage_fault`) when the disk of this file has too little room. */
export function assertRoom(path: string): void {
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize < MIN_ROOM_BYTES) diskIsFull();
}
