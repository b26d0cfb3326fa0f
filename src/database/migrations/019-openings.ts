/**
 * Files that hold one job: the closing states with which its chains began, without the jobs that
 * made them, and a manifest. And the deployment mode of each job. Only a new word, a column that
 * may be null and constraints that every stored row fulfils enter the text of trading_sessions, so
 * it is edited in place (https://sqlite.org/lang_altertable.html#otheralter): the ledger is neither
 * read nor copied. Released: never edit it.
 */
export const sql = `
  ALTER TABLE jobs ADD COLUMN deployment_mode TEXT CHECK (deployment_mode IN ('DEV', 'PROD'));
  UPDATE jobs SET deployment_mode = (
    SELECT CASE json_extract(entry, '$.kind') WHEN 'simulated' THEN 'DEV' ELSE 'PROD' END FROM simulation_runs
    WHERE simulation_runs.job_id = jobs.job_id AND json_extract(entry, '$.kind') IN ('simulated', 'provider')
    ORDER BY model_index LIMIT 1);

  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
    'job_id TEXT NOT NULL', 'job_id TEXT'),
    'status IN (''running'', ''active'', ''superseded'', ''failed'')',
    'status IN (''running'', ''active'', ''superseded'', ''failed'', ''opening'')'),
    'CHECK ((started_from_session_id IS NULL) = (initial_cash_e4 IS NOT NULL))',
    'CHECK ((started_from_session_id IS NULL) = (initial_cash_e4 IS NOT NULL) OR status = ''opening''),
    CHECK ((job_id IS NULL) = (status = ''opening'')),
    CHECK (started_from_session_id IS NULL OR status <> ''opening'')')
  WHERE type = 'table' AND name = 'trading_sessions';
  PRAGMA writable_schema = RESET;

  -- Fails where the text was not the released one. Its coming and going is a change of the schema that SQLite counts, so
  -- other connections read the schema again.
  CREATE TABLE schema_rewritten (texts INTEGER CONSTRAINT schema_is_as_released CHECK (texts = 1)) STRICT;
  INSERT INTO schema_rewritten SELECT count(*) FROM sqlite_schema
  WHERE type = 'table' AND name = 'trading_sessions' AND instr(sql, 'job_id TEXT,') > 0
    AND instr(sql, '(''running'', ''active'', ''superseded'', ''failed'', ''opening'')') > 0
    AND instr(sql, 'CHECK ((job_id IS NULL) = (status = ''opening''))') > 0;
  DROP TABLE schema_rewritten;

  -- The lots of an opening's holdings, oldest first.
  CREATE TABLE opening_lots (
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    symbol TEXT NOT NULL,
    lot INTEGER NOT NULL CHECK (lot >= 1),
    bought_on TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    cost_e4 INTEGER NOT NULL, -- with commission
    PRIMARY KEY (session_id, symbol, lot)
  ) STRICT, WITHOUT ROWID;

  -- What a file with one job held when it was made; empty in the database of a service.
  CREATE TABLE package_manifest (
    table_name TEXT PRIMARY KEY,
    rows INTEGER NOT NULL CHECK (rows >= 0),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64)
  ) STRICT, WITHOUT ROWID;

  -- A day also continues from an opening.
  DROP TRIGGER session_written;
  CREATE TRIGGER session_written INSTEAD OF INSERT ON written_sessions
  BEGIN
    UPDATE trading_sessions SET start_changed = started_from_session_id IS NOT (
      SELECT session_id FROM trading_sessions AS earlier
      WHERE earlier.model = new.model AND earlier.date < trading_sessions.date AND earlier.status IN ('active', 'opening')
      ORDER BY earlier.date DESC, earlier.session_id DESC LIMIT 1)
    WHERE session_id IN (new.session_id, (
      SELECT session_id FROM trading_sessions AS later
      WHERE later.model = new.model AND later.date > new.date AND later.status = 'active' ORDER BY later.date LIMIT 1));
  END;
  `;
