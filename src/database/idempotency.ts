import type { Database } from './database.ts';
import { type RowOf, query, text } from './rows.ts';

const REMEMBERED = query(
  'SELECT job_id AS jobId, request_hash AS requestHash, answer FROM idempotency_keys WHERE key = ?',
  {
    jobId: text,
    requestHash: text,
    /** The response, as JSON. */
    answer: text,
  },
);

/** A trigger that created a job: a hash of its request, and the response. */
export type RememberedTrigger = RowOf<typeof REMEMBERED>;

/** The first trigger with an `Idempotency-Key`. */
export function triggerOfKey(database: Database, key: string): RememberedTrigger | undefined {
  return REMEMBERED.get(database, key);
}

/** Stores a trigger within the transaction that inserts its job; throws when the key is taken. */
export function rememberTrigger(
  database: Database,
  key: string,
  { jobId, requestHash, answer }: RememberedTrigger,
): void {
  database
    .statement(
      'INSERT INTO idempotency_keys (key, job_id, request_hash, answer) VALUES (?, ?, ?, ?)',
    )
    .run(key, jobId, requestHash, answer);
}
