/**
 * Dividends: as sources tell them, and as sessions paid them. Only new words and a looser bound
 * enter what is stored already (a dividend below 1/20000 dollar has the price 0), so the text of
 * the positions is edited in place (https://sqlite.org/lang_altertable.html#otheralter): the ledger
 * is neither read nor copied. Released: never edit it.
 */
export const sql = `
  ALTER TABLE trading_sessions ADD COLUMN pays_dividends INTEGER NOT NULL DEFAULT 0 CHECK (pays_dividends IN (0, 1));
  ALTER TABLE session_prices ADD COLUMN dividend_changed INTEGER NOT NULL DEFAULT 0 CHECK (dividend_changed IN (0, 1));
  DROP INDEX changed_session_prices;
  CREATE INDEX changed_session_prices ON session_prices (session_id) WHERE price_changed OR split_changed OR dividend_changed;

  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(replace(sql,
    'action_type IN (''buy'', ''sell'', ''split'', ''no_trade'')',
    'action_type IN (''buy'', ''sell'', ''split'', ''dividend'', ''no_trade'')'),
    'CHECK (price_e4 > 0)', 'CHECK (price_e4 > 0 OR (price_e4 = 0 AND action_type = ''dividend''))')
  WHERE type = 'table' AND name = 'positions';
  PRAGMA writable_schema = RESET;

  -- Fails where the text was not the released one. Its coming and going is a change of the schema that SQLite counts, so
  -- other connections read the schema again.
  CREATE TABLE schema_rewritten (texts INTEGER CONSTRAINT schema_is_as_released CHECK (texts = 1)) STRICT;
  INSERT INTO schema_rewritten SELECT count(*) FROM sqlite_schema
  WHERE type = 'table' AND name = 'positions' AND instr(sql, '(price_e4 > 0 OR (price_e4 = 0 AND action_type = ''dividend''))') > 0
    AND instr(sql, '(''buy'', ''sell'', ''split'', ''dividend'', ''no_trade'')') > 0;
  DROP TABLE schema_rewritten;

  -- Cash per share, paid on the morning of ex_date on shares held at the close before. Other processes may write here.
  CREATE TABLE dividends (
    symbol TEXT NOT NULL,
    ex_date TEXT NOT NULL CHECK (ex_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    cash_e6 INTEGER NOT NULL CHECK (cash_e6 BETWEEN 1 AND 1000000000000), -- per share, in 1/1,000,000 dollar
    basis TEXT NOT NULL DEFAULT 'as_paid' CHECK (basis IN ('as_paid', 'split_adjusted')), -- per share at the time, or per share of today
    source TEXT NOT NULL DEFAULT 'manual' CHECK (source <> ''),
    recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (symbol, ex_date)
  ) STRICT, WITHOUT ROWID;

  -- The spans for which a source's dividends of a symbol are known: a date inside one without a row has no dividend.
  CREATE TABLE dividend_coverage (
    symbol TEXT NOT NULL,
    source TEXT NOT NULL,
    start_date TEXT NOT NULL CHECK (start_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    end_date TEXT NOT NULL CHECK (end_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND start_date <= end_date),
    recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (symbol, source, start_date)
  ) STRICT, WITHOUT ROWID;

  -- Every dividend as it was before it was changed or removed.
  CREATE TABLE dividend_revisions (
    revision_id INTEGER PRIMARY KEY,
    symbol TEXT NOT NULL,
    ex_date TEXT NOT NULL,
    cash_e6 INTEGER NOT NULL,
    basis TEXT NOT NULL,
    source TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    replaced_at TEXT NOT NULL
  ) STRICT;

  CREATE INDEX dividend_revisions_by_dividend ON dividend_revisions (symbol, ex_date);

  CREATE TRIGGER dividends_revised AFTER UPDATE OF symbol, ex_date, cash_e6, basis ON dividends
  BEGIN
    INSERT INTO dividend_revisions (symbol, ex_date, cash_e6, basis, source, recorded_at, replaced_at)
    VALUES (old.symbol, old.ex_date, old.cash_e6, old.basis, old.source, old.recorded_at,
      CASE WHEN new.recorded_at = old.recorded_at THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') ELSE new.recorded_at END);
    UPDATE dividends SET recorded_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    WHERE symbol = new.symbol AND ex_date = new.ex_date AND new.recorded_at = old.recorded_at;
  END;

  CREATE TRIGGER dividends_removed AFTER DELETE ON dividends
  BEGIN
    INSERT INTO dividend_revisions (symbol, ex_date, cash_e6, basis, source, recorded_at, replaced_at)
    VALUES (old.symbol, old.ex_date, old.cash_e6, old.basis, old.source, old.recorded_at,
      strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
  END;

  -- Each dividend with the splits that convert its cash per share to the shares of its series, '' where these are the same:
  -- a split on its ex-date comes after it. An amount as paid is divided by them for a series that is free of split jumps; a
  -- split-adjusted amount is multiplied by them for a raw one.
  CREATE VIEW dividends_with_splits AS SELECT symbol, ex_date, cash_e6, basis,
    CASE WHEN (basis = 'split_adjusted') <> EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = dividends.symbol AND adjusted)
      THEN coalesce((SELECT group_concat(date || ' ' || numerator || ':' || denominator, ', ') FROM (
        SELECT date, numerator, denominator FROM stock_splits
        WHERE stock_splits.symbol = dividends.symbol AND stock_splits.date >= dividends.ex_date ORDER BY date)), '')
      ELSE '' END AS splits
  FROM dividends;

  -- The dividends that a committed session knew of what it held in the morning, since the day it started from.
  CREATE TABLE session_dividends (
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    symbol TEXT NOT NULL,
    ex_date TEXT NOT NULL,
    cash_e6 INTEGER NOT NULL CHECK (cash_e6 >= 1), -- as its source tells it
    basis TEXT NOT NULL CHECK (basis IN ('as_paid', 'split_adjusted')),
    splits TEXT NOT NULL, -- those that converted it, as in dividends_with_splits
    paid_e6 INTEGER NOT NULL CHECK (paid_e6 >= 0), -- per share as the ledger counted shares then
    PRIMARY KEY (session_id, symbol, ex_date)
  ) STRICT, WITHOUT ROWID;

  -- Compares the sessions that held a symbol over an ex-date, and pay dividends, with the dividends that are stored: one that
  -- was learned, corrected or removed has changed. Readers of dividend_changed ignore those of a series whose prices contain
  -- dividends.
  CREATE VIEW written_dividends AS SELECT symbol, ex_date FROM dividends;
  CREATE TRIGGER dividend_written INSTEAD OF INSERT ON written_dividends
  BEGIN
    UPDATE session_prices SET dividend_changed = EXISTS (
      SELECT 1 FROM dividends_with_splits AS stored
      WHERE stored.symbol = new.symbol AND stored.ex_date > held_since AND stored.ex_date <= session_prices.date
        AND NOT EXISTS (SELECT 1 FROM session_dividends AS known
          WHERE known.session_id = session_prices.session_id AND known.symbol = stored.symbol AND known.ex_date = stored.ex_date
            AND known.cash_e6 = stored.cash_e6 AND known.basis = stored.basis AND known.splits = stored.splits))
      OR EXISTS (SELECT 1 FROM session_dividends AS known
        WHERE known.session_id = session_prices.session_id AND known.symbol = new.symbol
          AND NOT EXISTS (SELECT 1 FROM dividends AS stored WHERE stored.symbol = known.symbol AND stored.ex_date = known.ex_date))
    WHERE symbol = new.symbol AND date >= new.ex_date AND held_since < new.ex_date
      AND (SELECT pays_dividends FROM trading_sessions WHERE trading_sessions.session_id = session_prices.session_id);
  END;

  -- While a session ran, a dividend may have been learned or removed.
  CREATE TRIGGER dividend_payer_held AFTER INSERT ON session_prices
  WHEN EXISTS (SELECT 1 FROM dividends AS stored
      WHERE stored.symbol = new.symbol AND stored.ex_date > new.held_since AND stored.ex_date <= new.date)
    OR EXISTS (SELECT 1 FROM session_dividends AS known WHERE known.session_id = new.session_id AND known.symbol = new.symbol)
  BEGIN
    INSERT INTO written_dividends VALUES (new.symbol, new.date);
  END;

  CREATE TRIGGER dividend_added AFTER INSERT ON dividends
  BEGIN
    INSERT INTO written_dividends VALUES (new.symbol, new.ex_date);
  END;
  CREATE TRIGGER dividend_changed AFTER UPDATE OF symbol, ex_date, cash_e6, basis ON dividends
  BEGIN
    INSERT INTO written_dividends VALUES (old.symbol, old.ex_date), (new.symbol, new.ex_date);
  END;
  CREATE TRIGGER dividend_removed AFTER DELETE ON dividends
  BEGIN
    INSERT INTO written_dividends VALUES (old.symbol, old.ex_date);
  END;

  -- A split changes what the dividends before it pay per share of a series that counts shares otherwise than their source.
  CREATE TRIGGER dividends_split_added AFTER INSERT ON stock_splits
  BEGIN
    INSERT INTO written_dividends SELECT symbol, ex_date FROM dividends WHERE symbol = new.symbol AND ex_date <= new.date;
  END;
  CREATE TRIGGER dividends_split_changed AFTER UPDATE OF symbol, date, numerator, denominator ON stock_splits
  BEGIN
    INSERT INTO written_dividends SELECT symbol, ex_date FROM dividends WHERE symbol = old.symbol AND ex_date <= old.date;
    INSERT INTO written_dividends SELECT symbol, ex_date FROM dividends WHERE symbol = new.symbol AND ex_date <= new.date;
  END;
  CREATE TRIGGER dividends_split_removed AFTER DELETE ON stock_splits
  BEGIN
    INSERT INTO written_dividends SELECT symbol, ex_date FROM dividends WHERE symbol = old.symbol AND ex_date <= old.date;
  END;
`;
