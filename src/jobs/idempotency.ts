import type { Database } from '../database/database.ts';
import { rememberTrigger, triggerOfKey } from '../database/jobs.ts';
import { ServiceError } from '../domain.ts';
import { sha256 } from '../digest.ts';
import type { JobRequest, SubmittedJob } from './submission.ts';

/**
 * The job that an earlier trigger with this key created, with its original response; null for a new
 * key. Throws a `ServiceError` (`key_reused`) when that trigger was a different request.
 */
export function submittedBefore(
  database: Database,
  key: string,
  request: JobRequest,
): SubmittedJob | null {
  const earlier = triggerOfKey(database, key);
  if (earlier === undefined) return null;
  if (earlier.requestHash === hashOf(request)) return JSON.parse(earlier.answer);
  throw new ServiceError(
    'key_reused',
    `Idempotency-Key: this key belongs to another request, which created job ${earlier.jobId}; a new request needs a new key`,
  );
}

/** Stores a created job under its key, within the transaction that inserts it. */
export function rememberSubmission(
  database: Database,
  key: string,
  { request, job }: { request: JobRequest; job: SubmittedJob },
): void {
  rememberTrigger(database, key, {
    jobId: job.jobId,
    requestHash: hashOf(request),
    answer: JSON.stringify(job),
  });
}

/** Two requests are the same when they mean the same, however they are written. */
function hashOf({ startDate, endDate, models, replaceExisting, universe }: JobRequest): string {
  return sha256(JSON.stringify([startDate, endDate, models, replaceExisting, universe])).toString(
    'hex',
  );
}
