/** Idempotency keys of triggers. Released: never edit it. */
export const sql = `
  -- Triggers that created a job, by the client's Idempotency-Key; kept as long as their jobs.
  CREATE TABLE idempotency_keys (
    key TEXT PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 200),
    job_id TEXT NOT NULL UNIQUE REFERENCES jobs,
    request_hash TEXT NOT NULL,
    answer TEXT NOT NULL CHECK (json_valid(answer))
  ) STRICT, WITHOUT ROWID;
  `;
