/**
 * The tables of the first release: jobs, trading sessions, positions and prices. Released: never
 * edit it.
 */
export const sql = `
  CREATE TABLE jobs (
    job_id TEXT PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('pending', 'downloading_data', 'running', 'completed', 'partial', 'failed', 'cancelled')),
    start_date TEXT NOT NULL CHECK (start_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    end_date TEXT NOT NULL CHECK (end_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND start_date <= end_date),
    dates TEXT NOT NULL CHECK (json_valid(dates)), -- its weekdays, as a JSON array
    replace_existing INTEGER NOT NULL CHECK (replace_existing IN (0, 1)),
    agent_config TEXT NOT NULL CHECK (json_valid(agent_config)),
    created_at TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT,
    error TEXT,
    warnings TEXT, -- no JSON constraint: the interface says what an unreadable value means
    CHECK ((completed_at IS NULL) = (status IN ('pending', 'downloading_data', 'running')))
  ) STRICT;

  -- At most one unfinished job, whoever inserts it.
  CREATE UNIQUE INDEX one_unfinished_job ON jobs ((1)) WHERE completed_at IS NULL;
  CREATE INDEX jobs_by_creation ON jobs (created_at);

  -- One row per job and model: the chain of its model-days. start_date is the model's own start in resume mode.
  CREATE TABLE simulation_runs (
    run_id INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL REFERENCES jobs,
    model TEXT NOT NULL,
    model_index INTEGER NOT NULL,
    start_date TEXT NOT NULL CHECK (start_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded')),
    created_at TEXT NOT NULL,
    UNIQUE (job_id, model),
    UNIQUE (job_id, model_index)
  ) STRICT;

  -- One row per model-day of a job.
  CREATE TABLE job_details (
    job_id TEXT NOT NULL,
    date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    model TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed', 'skipped')),
    error TEXT, -- why it failed or was skipped
    started_at TEXT,
    completed_at TEXT,
    duration_seconds REAL GENERATED ALWAYS AS (round(unixepoch(completed_at, 'subsec') - unixepoch(started_at, 'subsec'), 3)) STORED,
    PRIMARY KEY (job_id, date, model),
    FOREIGN KEY (job_id, model) REFERENCES simulation_runs (job_id, model),
    CHECK ((completed_at IS NULL) = (status IN ('pending', 'running'))),
    CHECK ((error IS NOT NULL) = (status IN ('failed', 'skipped'))),
    CHECK (started_at IS NOT NULL OR status NOT IN ('running', 'completed'))
  ) STRICT, WITHOUT ROWID;

  -- One attempt at a model-day. The latest earlier active day it started from, or else the initial cash, is its past.
  CREATE TABLE trading_sessions (
    session_id INTEGER PRIMARY KEY,
    job_id TEXT NOT NULL,
    date TEXT NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'active', 'superseded', 'failed')),
    started_from_session_id INTEGER REFERENCES trading_sessions,
    initial_cash_e4 INTEGER CHECK (initial_cash_e4 >= 0),
    session_summary TEXT,
    error TEXT,
    steps INTEGER NOT NULL DEFAULT 0 CHECK (steps >= 0),
    total_messages INTEGER NOT NULL DEFAULT 0 CHECK (total_messages >= 0),
    started_at TEXT NOT NULL,
    completed_at TEXT,
    FOREIGN KEY (job_id, date, model) REFERENCES job_details (job_id, date, model),
    CHECK ((started_from_session_id IS NULL) = (initial_cash_e4 IS NOT NULL)),
    CHECK ((completed_at IS NULL) = (status = 'running')),
    CHECK ((error IS NOT NULL) = (status = 'failed'))
  ) STRICT;

  -- At most one generation of a model-day counts, and at most one is being made.
  CREATE UNIQUE INDEX one_active_generation ON trading_sessions (model, date) WHERE status = 'active';
  CREATE UNIQUE INDEX one_running_session ON trading_sessions (model, date) WHERE status = 'running';
  CREATE INDEX sessions_in_answer_order ON trading_sessions (date, model, session_id, status);
  CREATE INDEX sessions_by_job ON trading_sessions (job_id, date, model, status);

  -- Cash and holdings after one action, marked at the session date's close. daily_* are against the day it started from.
  CREATE TABLE positions (
    position_id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    action_id INTEGER NOT NULL CHECK (action_id >= 1),
    action_type TEXT NOT NULL CHECK (action_type IN ('buy', 'sell', 'split', 'no_trade')),
    symbol TEXT,
    amount INTEGER, -- whole shares; for a split, the shares it added (negative: took away)
    price_e4 INTEGER CHECK (price_e4 > 0),
    cash_e4 INTEGER NOT NULL CHECK (cash_e4 >= 0),
    portfolio_value_e4 INTEGER NOT NULL CHECK (portfolio_value_e4 >= cash_e4),
    daily_profit_e4 INTEGER NOT NULL,
    daily_return_pct REAL, -- null when the day it started from was worth nothing
    created_at TEXT NOT NULL,
    UNIQUE (session_id, action_id),
    CHECK (CASE action_type
      WHEN 'no_trade' THEN symbol IS NULL AND amount IS NULL AND price_e4 IS NULL
      WHEN 'split' THEN symbol IS NOT NULL AND amount IS NOT NULL
      ELSE symbol IS NOT NULL AND amount >= 1 AND price_e4 IS NOT NULL END)
  ) STRICT;

  CREATE TABLE holdings (
    position_id INTEGER NOT NULL REFERENCES positions,
    symbol TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0), -- a holding of zero is not a holding
    PRIMARY KEY (position_id, symbol)
  ) STRICT, WITHOUT ROWID;

  -- The whole conversation of a session, written as it happens.
  CREATE TABLE reasoning_logs (
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    message_index INTEGER NOT NULL CHECK (message_index >= 0),
    role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    content TEXT NOT NULL,
    summary TEXT,
    tool_name TEXT,
    tool_input TEXT, -- the arguments as the model sent them
    tool_calls TEXT CHECK (json_valid(tool_calls)), -- of an assistant's message: what it asked for
    timestamp TEXT NOT NULL,
    UNIQUE (session_id, message_index),
    CHECK ((tool_name IS NOT NULL) = (role = 'tool')),
    CHECK (tool_calls IS NULL OR role = 'assistant')
  ) STRICT;

  CREATE TABLE tool_usage (
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    tool_name TEXT NOT NULL,
    calls INTEGER NOT NULL CHECK (calls >= 1),
    refused INTEGER NOT NULL CHECK (refused BETWEEN 0 AND calls),
    duration_ms REAL NOT NULL CHECK (duration_ms >= 0),
    PRIMARY KEY (session_id, tool_name)
  ) STRICT, WITHOUT ROWID;

  -- Daily bars in dollars. Other processes may write here too, so what is not given has a default.
  CREATE TABLE price_data (
    symbol TEXT NOT NULL,
    date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    open REAL NOT NULL CHECK (open > 0 AND open <= 10000000),
    high REAL CHECK (high > 0 AND high <= 10000000),
    low REAL CHECK (low > 0 AND low <= 10000000),
    close REAL CHECK (close > 0 AND close <= 10000000),
    volume REAL CHECK (volume >= 0 AND volume <= 1e15),
    source TEXT NOT NULL DEFAULT 'manual' CHECK (source <> ''),
    recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), -- when it took its present values
    adjusted INTEGER GENERATED ALWAYS AS (source IN ('yahoo', 'stooq', 'synthetic')) VIRTUAL, -- free of split jumps
    PRIMARY KEY (symbol, date)
  ) STRICT, WITHOUT ROWID;

  -- Every bar as it stood before it was changed or removed, so that a past valuation can be recomputed.
  CREATE TABLE price_revisions (
    revision_id INTEGER PRIMARY KEY,
    symbol TEXT NOT NULL,
    date TEXT NOT NULL,
    open REAL NOT NULL,
    high REAL,
    low REAL,
    close REAL,
    volume REAL,
    source TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    replaced_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX price_revisions_by_bar ON price_revisions (symbol, date);
  CREATE TRIGGER price_data_revised AFTER UPDATE OF symbol, date, open, high, low, close, volume, source ON price_data
  BEGIN
    INSERT INTO price_revisions (symbol, date, open, high, low, close, volume, source, recorded_at, replaced_at)
    VALUES (old.symbol, old.date, old.open, old.high, old.low, old.close, old.volume, old.source, old.recorded_at,
      CASE WHEN new.recorded_at = old.recorded_at THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') ELSE new.recorded_at END);
    UPDATE price_data SET recorded_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    WHERE symbol = new.symbol AND date = new.date AND new.recorded_at = old.recorded_at;
  END;
  CREATE TRIGGER price_data_removed AFTER DELETE ON price_data
  BEGIN
    INSERT INTO price_revisions (symbol, date, open, high, low, close, volume, source, recorded_at, replaced_at)
    VALUES (old.symbol, old.date, old.open, old.high, old.low, old.close, old.volume, old.source, old.recorded_at,
      strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
  END;

  -- The spans for which a source's series is known: a day inside one without a bar is a day without trading.
  CREATE TABLE price_data_coverage (
    symbol TEXT NOT NULL,
    source TEXT NOT NULL,
    start_date TEXT NOT NULL CHECK (start_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    end_date TEXT NOT NULL CHECK (end_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND start_date <= end_date),
    recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (symbol, source, start_date)
  ) STRICT, WITHOUT ROWID;

  -- numerator new shares for denominator old ones, before the open of date.
  CREATE TABLE stock_splits (
    symbol TEXT NOT NULL,
    date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    numerator INTEGER NOT NULL CHECK (numerator BETWEEN 1 AND 1000000),
    denominator INTEGER NOT NULL CHECK (denominator BETWEEN 1 AND 1000000 AND denominator <> numerator),
    source TEXT NOT NULL DEFAULT 'manual',
    recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (symbol, date)
  ) STRICT, WITHOUT ROWID;
  `;
