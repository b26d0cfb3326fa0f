import { countSql, dateCheck, dateSql, flagSql, OF_SESSION } from './columns.ts';
import { documentTables, documentWords } from './document-tables.ts';
import { priceTables } from './price-tables.ts';

/**
 * What model-days were computed from. Whether it differs from what is stored now is a query
 * (stale.ts).
 */
const evidenceTables = [
  // The prices of each symbol that a committed session held or traded, adjusted for splits up to
  // the session's date; null where there was none.
  `CREATE TABLE session_prices (
  ${OF_SESSION},
  symbol TEXT NOT NULL,
  date TEXT NOT NULL, -- the session's
  held_since TEXT CHECK (held_since < date), -- of what was held in the morning: the date of the day it started from
  open_e4 INTEGER CHECK (open_e4 >= 0), -- in the morning: the open, otherwise the last earlier close, otherwise the last earlier open
  open_date TEXT CHECK (open_date <= date), -- of its bar; orders fill at the open of the session's date only
  close_e4 INTEGER CHECK (close_e4 >= 0), -- at the commit: the close, otherwise the open, otherwise the last earlier close or open
  close_date TEXT CHECK (close_date <= date), -- of its bar
  PRIMARY KEY (session_id, symbol),
  CHECK ((open_e4 IS NULL) = (open_date IS NULL)),
  CHECK ((close_e4 IS NULL) = (close_date IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX session_prices_by_bar ON session_prices (symbol, date);`,
  // Files name decades of dividends: those from before everything that is held are compared with
  // no session.
  `CREATE INDEX session_prices_by_holding ON session_prices (symbol, held_since, date) WHERE held_since IS NOT NULL;`,
  // The splits that a committed session knew of what it held in the morning, since the day it
  // started from.
  `CREATE TABLE session_splits (
  ${OF_SESSION},
  symbol TEXT NOT NULL,
  date TEXT NOT NULL, -- of the split
  numerator INTEGER NOT NULL CHECK (numerator >= 1),
  denominator INTEGER NOT NULL CHECK (denominator >= 1),
  PRIMARY KEY (session_id, symbol, date)
) STRICT, WITHOUT ROWID;`,
  // The dividends that a committed session knew of what it held in the morning, since the day it
  // started from.
  `CREATE TABLE session_dividends (
  ${OF_SESSION},
  symbol TEXT NOT NULL,
  ex_date TEXT NOT NULL,
  cash_e6 INTEGER NOT NULL CHECK (cash_e6 >= 1), -- as its source tells it
  basis TEXT NOT NULL CHECK (basis IN ('as_paid', 'split_adjusted')),
  splits TEXT NOT NULL, -- those that converted it
  paid_e6 INTEGER NOT NULL CHECK (paid_e6 >= 0), -- per share as the ledger counted shares then
  PRIMARY KEY (session_id, symbol, ex_date)
) STRICT, WITHOUT ROWID;`,
  // The exchanges that a committed session knew of what it held in the morning, and of what those
  // brought.
  `CREATE TABLE session_exchanges (
  ${OF_SESSION},
  symbol TEXT NOT NULL,
  date TEXT NOT NULL,
  into_symbol TEXT NOT NULL,
  cash_e6 INTEGER NOT NULL CHECK (cash_e6 >= 0), -- as its source tells it, as are the next three
  numerator INTEGER,
  denominator INTEGER,
  remains INTEGER NOT NULL CHECK (remains IN (0, 1)),
  splits TEXT NOT NULL, -- those of the old symbol since, which converted it
  into_splits TEXT NOT NULL, -- those of the new one
  PRIMARY KEY (session_id, symbol, date, into_symbol)
) STRICT, WITHOUT ROWID;`,
  // Of a file with one job: the sessions that would have started from another day when it was
  // made, of which another job has some; empty in the database of a service.
  `CREATE TABLE changed_starts (
  session_id INTEGER PRIMARY KEY REFERENCES trading_sessions
) STRICT;`,
].join('\n');

/**
 * The schema; a change of it takes the next `SCHEMA_VERSION` (schema.ts), or a file of before would be opened. Columns whose names end
 * in `_e4` are integers of 1/10000 dollar; prices in `price_data` are dollars, because other tools
 * read and write that table. Timestamps are UTC with a trailing Z.
 */
export const tables = [
  `CREATE TABLE jobs (
  job_id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('pending', 'downloading_data', 'running',
    'completed', 'partial', 'failed', 'cancelled', 'discarded')),
  ${dateSql('start_date')},
  end_date TEXT NOT NULL CHECK (${dateCheck('end_date')} AND start_date <= end_date),
  dates TEXT NOT NULL CHECK (json_valid(dates)), -- its weekdays, as a JSON array
  replace_existing INTEGER NOT NULL CHECK (replace_existing IN (0, 1)),
  agent_config TEXT NOT NULL CHECK (json_valid(agent_config)),
  created_at TEXT NOT NULL,
  started_at TEXT,
  completed_at TEXT,
  error TEXT,
  warnings TEXT, -- no JSON constraint: the interface says what an unreadable value means
  warning_codes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(warning_codes)), -- of each its code and what it is about, or null
  ${countSql('idle_restarts')}, -- in a row, without progress
  progress_mark INTEGER NOT NULL DEFAULT 0, -- messages logged and model-days ended at the last restart
  ${flagSql('life_counts')}, -- whether an exit now would count as an idle restart
  universe TEXT, -- its name in the configuration; null for the default one. Its symbols are in agent_config
  deployment_mode TEXT NOT NULL CHECK (deployment_mode IN ('DEV', 'PROD')), -- of the service that created it
  study TEXT CHECK (study <> '' AND study NOT GLOB '*[@,]*'), -- whose terms it runs on; null for the one without a name
  CHECK ((completed_at IS NULL) = (status IN ('pending', 'downloading_data', 'running')))
) STRICT;`,
  // At most one unfinished job, whichever program inserts it.
  `CREATE UNIQUE INDEX one_unfinished_job ON jobs ((1)) WHERE completed_at IS NULL;
CREATE INDEX jobs_by_creation ON jobs (created_at);`,
  // One row per job and model: the chain of its model-days. start_date is the model's own start
  // in resume mode.
  `CREATE TABLE simulation_runs (
  run_id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL REFERENCES jobs,
  model TEXT NOT NULL,
  model_index INTEGER NOT NULL,
  ${dateSql('start_date')},
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded')),
  created_at TEXT NOT NULL,
  entry TEXT NOT NULL CHECK (json_valid(entry)), -- what ran (entry.ts)
  family TEXT NOT NULL, -- the signature of its entry, in a study with @ and its name
  left_out TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(left_out)), -- what its provider refused of what the service adds to requests
  UNIQUE (job_id, model),
  UNIQUE (job_id, model_index)
) STRICT;
CREATE INDEX runs_by_model ON simulation_runs (model, status DESC);`,
  // One row per model-day of a job.
  `CREATE TABLE job_details (
  job_id TEXT NOT NULL,
  ${dateSql('date')},
  model TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'completed', 'failed', 'skipped')),
  error TEXT, -- why it failed or was skipped
  started_at TEXT,
  completed_at TEXT,
  duration_seconds REAL GENERATED ALWAYS AS (round((julianday(completed_at) - julianday(started_at)) * 86400.0, 3)) STORED,
  -- What it used, over all attempts of its job. Unknown tokens and costs are null.
  ${countSql('steps')}, -- model requests, not counting retries
  ${countSql('requests')}, -- with retries
  prompt_tokens INTEGER CHECK (prompt_tokens >= 0),
  completion_tokens INTEGER CHECK (completion_tokens >= 0),
  cached_tokens INTEGER CHECK (cached_tokens >= 0),
  reasoning_tokens INTEGER CHECK (reasoning_tokens >= 0),
  cost_usd REAL CHECK (cost_usd BETWEEN 0 AND 1e300), -- no sum of them is infinite
  PRIMARY KEY (job_id, date, model),
  FOREIGN KEY (job_id, model) REFERENCES simulation_runs (job_id, model),
  CHECK ((completed_at IS NULL) = (status IN ('pending', 'running'))),
  CHECK ((error IS NOT NULL) = (status IN ('failed', 'skipped'))),
  CHECK (started_at IS NOT NULL OR status NOT IN ('running', 'completed'))
) STRICT, WITHOUT ROWID;
CREATE INDEX failed_model_days ON job_details (date DESC, model, job_id) WHERE status = 'failed';`,
  // One attempt at a model-day. It starts from the latest earlier active day, or from the
  // initial cash. A file with one job has openings: of each day of another job from which a
  // chain continues, the date, the note and one position, the portfolio at the close. They have
  // no conversation and count nowhere; initial_cash_e4 is that of the model's first day, if
  // known.
  `CREATE TABLE trading_sessions (
  session_id INTEGER PRIMARY KEY,
  job_id TEXT,
  date TEXT NOT NULL,
  model TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'active', 'superseded', 'failed', 'opening')),
  started_from_session_id INTEGER REFERENCES trading_sessions,
  initial_cash_e4 INTEGER CHECK (initial_cash_e4 >= 0),
  session_summary TEXT,
  confidence REAL CHECK (confidence BETWEEN 0 AND 1), -- of a decision, where it says so
  ${flagSql('unread')}, -- whether none of its answers was a decision
  error TEXT,
  ${countSql('steps')},
  ${countSql('total_messages')},
  started_at TEXT NOT NULL,
  completed_at TEXT,
  note TEXT CHECK (note <> ''), -- the model's note as it is at the end of an active session; null without one
  unfilled TEXT CHECK (unfilled IS NULL OR json_valid(unfilled)), -- what did not fill at a hidden open: sentences
  documents TEXT CHECK (documents IS NULL OR json_valid(documents)), -- counts of what it might read, and a hash of the versions
  morning_write INTEGER NOT NULL DEFAULT 0, -- the last number of price_writes in its morning: it reads prices as they were then
  commit_write INTEGER NOT NULL DEFAULT 0, -- and at its commit, as of which its closing marks are; 0 until then
  ${flagSql('pays_dividends')}, -- whether it was paid dividends of what it held
  wording INTEGER CHECK (wording >= 1), -- of a committed session: the version of the words that its model read
  FOREIGN KEY (job_id, date, model) REFERENCES job_details (job_id, date, model),
  CHECK ((started_from_session_id IS NULL) = (initial_cash_e4 IS NOT NULL) OR status = 'opening'),
  CHECK ((job_id IS NULL) = (status = 'opening')),
  CHECK (started_from_session_id IS NULL OR status <> 'opening'),
  CHECK ((completed_at IS NULL) = (status = 'running')),
  CHECK ((error IS NOT NULL) = (status = 'failed')),
  CHECK (wording IS NOT NULL OR status NOT IN ('active', 'superseded')),
  CHECK (morning_write >= 0 AND (commit_write = 0 OR commit_write >= morning_write))
) STRICT;`,
  // At most one generation of a model-day is active, and at most one is running.
  `CREATE UNIQUE INDEX one_active_generation ON trading_sessions (model, date) WHERE status = 'active';
CREATE UNIQUE INDEX one_running_session ON trading_sessions (model, date) WHERE status = 'running';
CREATE INDEX sessions_in_answer_order ON trading_sessions (date, model, session_id, status);
CREATE INDEX sessions_by_model ON trading_sessions (model, date);
CREATE INDEX sessions_by_job ON trading_sessions (job_id, date, model, status);`,
  // The cash after one action, and what cash and holdings are worth at the session date's close.
  // daily_* are against the day it started from.
  `CREATE TABLE positions (
  position_id INTEGER PRIMARY KEY,
  ${OF_SESSION},
  action_id INTEGER NOT NULL CHECK (action_id >= 1),
  action_type TEXT NOT NULL CHECK (action_type IN ('buy', 'sell', 'split', 'dividend', 'exchange', 'received', 'no_trade')),
  symbol TEXT,
  amount INTEGER, -- whole shares: those a split added (negative: removed), a dividend was paid on, or that left in an exchange
  price_e4 INTEGER -- cash per share of a dividend and an exchange; the price of a fraction that was received
    CHECK (price_e4 > 0 OR (price_e4 = 0 AND action_type IN ('dividend', 'exchange'))),
  cash_e4 INTEGER NOT NULL CHECK (cash_e4 >= 0),
  portfolio_value_e4 INTEGER NOT NULL CHECK (portfolio_value_e4 >= cash_e4),
  daily_profit_e4 INTEGER NOT NULL,
  daily_return_pct REAL, -- null when the day it started from was worth nothing
  UNIQUE (session_id, action_id),
  CHECK (CASE action_type
    WHEN 'no_trade' THEN symbol IS NULL AND amount IS NULL AND price_e4 IS NULL
    WHEN 'split' THEN symbol IS NOT NULL AND amount IS NOT NULL
    WHEN 'exchange' THEN symbol IS NOT NULL AND amount >= 0 AND price_e4 IS NOT NULL
    WHEN 'received' THEN symbol IS NOT NULL AND amount >= 0
    ELSE symbol IS NOT NULL AND amount >= 1 AND price_e4 IS NOT NULL END)
) STRICT;`,
  // What each active model-day returned: from the close that it started from, or from the
  // initial cash, to its own close.
  `CREATE VIEW daily_returns AS
SELECT own.session_id, own.job_id, own.model, own.date, own.pays_dividends, past.date AS start_date,
  own.started_from_session_id, portfolio_value_e4 - daily_profit_e4 AS start_value_e4, portfolio_value_e4 AS end_value_e4,
  CASE WHEN portfolio_value_e4 <> daily_profit_e4
    THEN CAST(daily_profit_e4 AS REAL) / (portfolio_value_e4 - daily_profit_e4) END AS daily_return
FROM trading_sessions AS own
  LEFT JOIN positions ON position_id = (SELECT last.position_id FROM positions AS last
    WHERE last.session_id = own.session_id ORDER BY action_id DESC LIMIT 1)
  LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
WHERE own.status = 'active';`,
  // What a committed session, or an opening, holds at its close. After an earlier action it held
  // this without what later ones added.
  `CREATE TABLE holdings (
  ${OF_SESSION},
  symbol TEXT NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity > 0), -- a holding of zero is not a holding
  PRIMARY KEY (session_id, symbol)
) STRICT, WITHOUT ROWID;`,
  // The whole conversation of a session, written as it happens.
  `CREATE TABLE reasoning_logs (
  log_id INTEGER PRIMARY KEY, -- by which the index of words names it
  ${OF_SESSION},
  message_index INTEGER NOT NULL CHECK (message_index >= 0),
  role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
  content TEXT NOT NULL,
  summary TEXT,
  tool_name TEXT,
  tool_input TEXT, -- the arguments as the model sent them
  tool_calls TEXT CHECK (tool_calls IS NULL OR json_valid(tool_calls)), -- of an assistant's message: its tool calls
  timestamp TEXT NOT NULL,
  carried TEXT -- of an assistant's message: what its provider wants sent back with it, unchanged
    CHECK (carried IS NULL OR (role = 'assistant' AND json_valid(carried))),
  served TEXT -- of an assistant's message: what its provider said of itself
    CHECK (served IS NULL OR (role = 'assistant' AND json_valid(served))),
  fault TEXT -- of an assistant's message: it was cut off, refused, or writes calls as text
    CHECK (fault IS NULL OR (role = 'assistant' AND fault IN ('cut_off', 'refused', 'written_call'))),
  served_model TEXT GENERATED ALWAYS AS
    (CASE WHEN json_valid(served) THEN json_extract(served, '$.model') END) VIRTUAL, -- that answered, in its provider's name
  UNIQUE (session_id, message_index),
  CHECK ((tool_name IS NOT NULL) = (role = 'tool')),
  CHECK (tool_calls IS NULL OR role = 'assistant')
) STRICT;

CREATE INDEX served_models ON reasoning_logs (session_id, served_model) WHERE served_model IS NOT NULL;

CREATE INDEX faulty_answers ON reasoning_logs (session_id, fault) WHERE fault IS NOT NULL;

CREATE TABLE tool_usage (
  ${OF_SESSION},
  tool_name TEXT NOT NULL,
  calls INTEGER NOT NULL CHECK (calls >= 1),
  refused INTEGER NOT NULL CHECK (refused BETWEEN 0 AND calls),
  duration_ms REAL NOT NULL CHECK (duration_ms >= 0),
  PRIMARY KEY (session_id, tool_name)
) STRICT, WITHOUT ROWID;`,
  // What a model did on a model-day that it completed; of several decisions the last has place
  // 1. Its session, its trade and the messages say the rest. Refused orders and malformed calls
  // are counted from here, and nowhere else.
  `CREATE TABLE decisions (
  ${OF_SESSION},
  place INTEGER NOT NULL CHECK (place >= 1),
  message_index INTEGER, -- of an order or a malformed call: its result
  action_id INTEGER, -- of an executed order: the trade
  side TEXT CHECK (side IN ('buy', 'sell')), -- of an order; null where a refused call names none
  symbol TEXT,
  amount REAL, -- of a refused order, which may ask for anything
  detail TEXT, -- why an order was refused, or what is wrong with a call
  tool TEXT, -- of a malformed call: the name that it called
  kind TEXT GENERATED ALWAYS AS
    (CASE WHEN message_index IS NULL THEN 'no_trade' WHEN detail IS NULL THEN 'trade'
      WHEN tool IS NULL THEN 'refusal' ELSE 'malformed' END) VIRTUAL,
  PRIMARY KEY (session_id, place),
  CHECK (CASE kind WHEN 'no_trade' THEN coalesce(action_id, side, symbol, amount, detail, tool) IS NULL
    WHEN 'trade' THEN action_id IS NOT NULL AND symbol IS NOT NULL AND coalesce(amount, tool) IS NULL
    WHEN 'malformed' THEN coalesce(action_id, side, symbol, amount) IS NULL ELSE action_id IS NULL END)
) STRICT, WITHOUT ROWID;
CREATE INDEX refused_decisions ON decisions (session_id) WHERE detail IS NOT NULL;
CREATE INDEX decisions_by_symbol ON decisions (symbol, session_id) WHERE symbol IS NOT NULL;`,
  // A model-day that has ended, in any status, has no session that is still running.
  `CREATE TRIGGER model_day_ended AFTER UPDATE OF completed_at ON job_details
  WHEN new.completed_at IS NOT NULL AND new.started_at IS NOT NULL -- one that was never started has no session
BEGIN
  UPDATE trading_sessions SET status = 'failed', error = coalesce(new.error, 'Its model-day ended without it'),
    completed_at = new.completed_at,
    (steps, total_messages) = (SELECT count(*) FILTER (WHERE role = 'assistant'), count(*) FROM reasoning_logs
      WHERE reasoning_logs.session_id = trading_sessions.session_id)
  WHERE job_id = new.job_id AND date = new.date AND model = new.model AND status = 'running';
END;`,
  // Triggers that created a job, by the client's Idempotency-Key; kept as long as their jobs.
  `CREATE TABLE idempotency_keys (
  key TEXT PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 200),
  job_id TEXT NOT NULL UNIQUE REFERENCES jobs,
  request_hash TEXT NOT NULL,
  answer TEXT NOT NULL CHECK (json_valid(answer))
) STRICT, WITHOUT ROWID;`,
  // Ends of jobs that are still to be announced (jobs/webhook.ts), as they were at that moment.
  `CREATE TABLE announcements (
  job_id TEXT PRIMARY KEY REFERENCES jobs,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;`,
  // The lots of an opening's holdings, oldest first.
  `CREATE TABLE opening_lots (
  ${OF_SESSION},
  symbol TEXT NOT NULL,
  lot INTEGER NOT NULL CHECK (lot >= 1),
  bought_on TEXT NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  cost_e4 INTEGER NOT NULL, -- with commission
  PRIMARY KEY (session_id, symbol, lot)
) STRICT, WITHOUT ROWID;`,
  // What a file with one job held when it was made; empty in the database of a service.
  `CREATE TABLE package_manifest (
  table_name TEXT PRIMARY KEY,
  rows INTEGER NOT NULL CHECK (rows >= 0),
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64)
) STRICT, WITHOUT ROWID;`,
  // The settings on which figures depend: those with which a service last served the database;
  // of a package, its author's.
  `CREATE TABLE figure_settings (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  risk_free_rate REAL NOT NULL CHECK (risk_free_rate > -1) -- yearly, as a fraction
) STRICT;`,
  priceTables,
  evidenceTables,
  documentTables,
  // The words of the reasoning logs by their rows, without the texts; log-words.ts fills it.
  `CREATE VIRTUAL TABLE log_words USING fts5(words, content='', columnsize=0, tokenize='ascii');`,
  documentWords,
].join('\n');
