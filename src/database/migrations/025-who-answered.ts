/**
 * Who answered, and what a provider refused of what the service adds to requests. Released: never
 * edit it.
 */
export const sql = `
  -- Of an assistant's message: what its provider said of itself, as JSON.
  ALTER TABLE reasoning_logs ADD COLUMN served TEXT CHECK (served IS NULL OR (role = 'assistant' AND json_valid(served)));

  -- What the provider of a run has refused of what the service adds to requests by itself, as a JSON array of names.
  ALTER TABLE simulation_runs ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(left_out));

  -- The models that answered in a committed session, in their providers' names: what reports read instead of the messages.
  CREATE TABLE served_models (
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    model TEXT NOT NULL,
    PRIMARY KEY (session_id, model)
  ) STRICT, WITHOUT ROWID;
  `;
