/**
 * Tokens and costs of a model-day; how far the splits of a symbol are known. Released: never edit
 * it.
 */
export const sql = `
  -- What a model-day took, over all attempts of its job. Tokens are null where the provider does not say, the cost is null
  -- where the configuration has no prices.
  ALTER TABLE job_details ADD COLUMN steps INTEGER NOT NULL DEFAULT 0 CHECK (steps >= 0); -- model requests, retries aside
  ALTER TABLE job_details ADD COLUMN requests INTEGER NOT NULL DEFAULT 0 CHECK (requests >= 0); -- with retries
  ALTER TABLE job_details ADD COLUMN prompt_tokens INTEGER CHECK (prompt_tokens >= 0);
  ALTER TABLE job_details ADD COLUMN completion_tokens INTEGER CHECK (completion_tokens >= 0);
  ALTER TABLE job_details ADD COLUMN cached_tokens INTEGER CHECK (cached_tokens >= 0);
  ALTER TABLE job_details ADD COLUMN reasoning_tokens INTEGER CHECK (reasoning_tokens >= 0);
  ALTER TABLE job_details ADD COLUMN cost_usd REAL CHECK (cost_usd >= 0);

  -- Through which date a provider's splits of a symbol are known.
  CREATE TABLE stock_split_coverage (
    symbol TEXT PRIMARY KEY,
    end_date TEXT NOT NULL CHECK (end_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    source TEXT NOT NULL,
    recorded_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `;
