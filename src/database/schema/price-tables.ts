import { adjustedSourcesInSql } from './price-conditions.ts';

/**
 * Prices in dollars, because other tools read and write these tables: daily bars, splits, the spans
 * for which each is known, and the values that changes replaced.
 */
export const priceTables = `
-- Daily bars in dollars. Other processes may write here too, so optional columns have defaults.
CREATE TABLE price_data (
  symbol TEXT NOT NULL,
  date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  open REAL NOT NULL CHECK (open >= 0.0001 AND open <= 10000000),
  high REAL CHECK (high >= 0.0001 AND high <= 10000000),
  low REAL CHECK (low >= 0.0001 AND low <= 10000000),
  close REAL CHECK (close >= 0.0001 AND close <= 10000000),
  volume REAL CHECK (volume >= 0 AND volume <= 1e15),
  source TEXT NOT NULL DEFAULT 'manual' CHECK (source <> ''),
  recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), -- when it took its present values
  adjusted INTEGER GENERATED ALWAYS AS (source IN (${adjustedSourcesInSql})) VIRTUAL, -- free of split jumps
  PRIMARY KEY (symbol, date)
) STRICT, WITHOUT ROWID;

-- Every bar as it was before it was changed or removed, so that a past valuation can be recomputed.
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

-- The days of the whole market that a provider returned with bars, and when it last did.
CREATE TABLE market_days (
  source TEXT NOT NULL,
  date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  recorded_at TEXT NOT NULL,
  PRIMARY KEY (source, date)
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

-- Through which date a provider's splits of a symbol are known.
CREATE TABLE stock_split_coverage (
  symbol TEXT PRIMARY KEY,
  end_date TEXT NOT NULL CHECK (end_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  source TEXT NOT NULL,
  recorded_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The spans for which a source's splits of a symbol are known: a date inside one without a row has no split.
CREATE TABLE stock_split_spans (
  symbol TEXT NOT NULL,
  source TEXT NOT NULL,
  start_date TEXT NOT NULL CHECK (start_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  end_date TEXT NOT NULL CHECK (end_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' AND start_date <= end_date),
  recorded_at TEXT NOT NULL,
  PRIMARY KEY (symbol, source, start_date)
) STRICT, WITHOUT ROWID;

-- Every split as it was before it was changed or removed.
CREATE TABLE stock_split_revisions (
  revision_id INTEGER PRIMARY KEY,
  symbol TEXT NOT NULL,
  date TEXT NOT NULL,
  numerator INTEGER NOT NULL,
  denominator INTEGER NOT NULL,
  source TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  replaced_at TEXT NOT NULL
) STRICT;

CREATE INDEX stock_split_revisions_by_split ON stock_split_revisions (symbol, date);

CREATE TRIGGER stock_splits_revised AFTER UPDATE OF symbol, date, numerator, denominator ON stock_splits
BEGIN
  INSERT INTO stock_split_revisions (symbol, date, numerator, denominator, source, recorded_at, replaced_at)
  VALUES (old.symbol, old.date, old.numerator, old.denominator, old.source, old.recorded_at,
    CASE WHEN new.recorded_at = old.recorded_at THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') ELSE new.recorded_at END);
  UPDATE stock_splits SET recorded_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
  WHERE symbol = new.symbol AND date = new.date AND new.recorded_at = old.recorded_at;
END;

CREATE TRIGGER stock_splits_removed AFTER DELETE ON stock_splits
BEGIN
  INSERT INTO stock_split_revisions (symbol, date, numerator, denominator, source, recorded_at, replaced_at)
  VALUES (old.symbol, old.date, old.numerator, old.denominator, old.source, old.recorded_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
END;
`;

/**
 * Dividends as sources tell them, the spans for which they are known, and the values that changes
 * replaced.
 */
export const dividendTables = `
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
`;
