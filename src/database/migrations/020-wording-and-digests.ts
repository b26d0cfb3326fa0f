/**
 * The version of the words that a committed session's model read, so that every later program can
 * replay it, and digests of what was committed. Sessions from before have neither: the words were
 * not counted then, and what would be digested now need not be what was committed. Released: never
 * edit it.
 */
export const sql = `
  ALTER TABLE trading_sessions ADD COLUMN wording INTEGER CHECK (wording >= 1);

  -- Of each part of a committed model-day (digests.ts): SHA-256, as base64url. None for a session from before.
  CREATE TABLE session_digests (
    session_id INTEGER PRIMARY KEY REFERENCES trading_sessions,
    session TEXT NOT NULL CHECK (length(session) = 43),
    conversation TEXT NOT NULL CHECK (length(conversation) = 43),
    positions TEXT NOT NULL CHECK (length(positions) = 43),
    evidence TEXT NOT NULL CHECK (length(evidence) = 43),
    tool_usage TEXT NOT NULL CHECK (length(tool_usage) = 43),
    usage TEXT NOT NULL CHECK (length(usage) = 43),
    terms TEXT NOT NULL CHECK (length(terms) = 43)
  ) STRICT;
  `;
