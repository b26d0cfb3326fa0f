/**
 * What model-days were computed from. Whether it differs from what is stored now is a query
 * (stale.ts).
 */
export const evidenceTables = `
-- The prices of each symbol that a committed session held or traded, adjusted for splits up to the session's date; null
-- where there was none.
CREATE TABLE session_prices (
  session_id INTEGER NOT NULL REFERENCES trading_sessions,
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

CREATE INDEX session_prices_by_bar ON session_prices (symbol, date);
-- Files name decades of dividends: those from before everything that is held are compared with no session.
CREATE INDEX session_prices_by_holding ON session_prices (symbol, held_since, date) WHERE held_since IS NOT NULL;

-- The splits that a committed session knew of what it held in the morning, since the day it started from.
CREATE TABLE session_splits (
  session_id INTEGER NOT NULL REFERENCES trading_sessions,
  symbol TEXT NOT NULL,
  date TEXT NOT NULL, -- of the split
  numerator INTEGER NOT NULL CHECK (numerator >= 1),
  denominator INTEGER NOT NULL CHECK (denominator >= 1),
  PRIMARY KEY (session_id, symbol, date)
) STRICT, WITHOUT ROWID;

-- The dividends that a committed session knew of what it held in the morning, since the day it started from.
CREATE TABLE session_dividends (
  session_id INTEGER NOT NULL REFERENCES trading_sessions,
  symbol TEXT NOT NULL,
  ex_date TEXT NOT NULL,
  cash_e6 INTEGER NOT NULL CHECK (cash_e6 >= 1), -- as its source tells it
  basis TEXT NOT NULL CHECK (basis IN ('as_paid', 'split_adjusted')),
  splits TEXT NOT NULL, -- those that converted it
  paid_e6 INTEGER NOT NULL CHECK (paid_e6 >= 0), -- per share as the ledger counted shares then
  PRIMARY KEY (session_id, symbol, ex_date)
) STRICT, WITHOUT ROWID;

-- Of a file with one job: the sessions that would have started from another day when it was made, of
-- which another job has some; empty in the database of a service.
CREATE TABLE changed_starts (
  session_id INTEGER PRIMARY KEY REFERENCES trading_sessions
) STRICT;
`;
