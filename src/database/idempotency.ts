import type { Database } from './database.ts';

/** A trigger that was answered with a job: what was asked for, by its hash, and the answer as JSON. */
export interface RememberedTrigger {
  jobId: string;
  requestHash: string;
  answer: string;
}

/** What was answered to the first trigger with an `Idempotency-Key`. */
export function triggerOfKey(database: Database, key: string): RememberedTrigger | undefined {
  return database
    .statement('SELECT job_id AS jobId, request_hash AS requestHash, answer FROM idempotency_keys WHERE key = ?')
    .get(key) as never;
}

/** Remembers a trigger within the transaction that inserts its job; a key that is taken throws. */
export function rememberTrigger(
  database: Database,
  key: string,
  { jobId, requestHash, answer }: RememberedTrigger,
): void {
  database
    .statement('INSERT INTO idempotency_keys (key, job_id, request_hash, answer) VALUES (?, ?, ?, ?)')
    .run(key, jobId, requestHash, answer);
}
