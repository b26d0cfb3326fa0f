import { adjustedSourcesInSql } from './price-conditions.ts';

/** SQL: the next number for a row that another program changed without one. */
function numberOf(table: string, date: string): string {
  const isWithoutOne = '(new.written IS NULL OR new.written IS old.written)';
  return `UPDATE price_writes SET number = number + 1 WHERE ${isWithoutOne};
  UPDATE ${table} SET written = (SELECT number FROM price_writes)
  WHERE symbol = new.symbol AND ${date} = new.${date} AND ${isWithoutOne};`;
}

/**
 * Prices in dollars, because other tools read and write these tables: daily bars, splits, the spans
 * for which each is known, and the values that changes replaced.
 */
export const priceTables = `
-- Every write to bars, splits and dividends takes the next number. What other programs write without one has it from the
-- next morning or commit of a model-day on. "As it was then" is the version with the highest number that is not above
-- the one at the time.
CREATE TABLE price_writes (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  number INTEGER NOT NULL CHECK (number >= 0) -- the last one
) STRICT;
INSERT INTO price_writes VALUES (1, 0);

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
  written INTEGER CHECK (written >= 1), -- the number of the write that gave it its values; null until another program's has one
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
  written INTEGER, -- its number; null if it was never given one, and so never read by a model-day
  replaced INTEGER NOT NULL, -- the number of the write that replaced or removed it
  replaced_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) -- for people: clocks differ
) STRICT;

CREATE INDEX unnumbered_bars ON price_data (symbol) WHERE written IS NULL;
CREATE INDEX price_revisions_by_bar ON price_revisions (symbol, date);

CREATE TRIGGER price_data_revised AFTER UPDATE OF symbol, date, open, high, low, close, volume, source ON price_data
BEGIN
  ${numberOf('price_data', 'date')}
  INSERT INTO price_revisions (symbol, date, open, high, low, close, volume, source, written, replaced)
  SELECT old.symbol, old.date, old.open, old.high, old.low, old.close, old.volume, old.source, old.written, written
  FROM price_data WHERE symbol = new.symbol AND date = new.date;
END;

CREATE TRIGGER price_data_removed AFTER DELETE ON price_data
BEGIN
  UPDATE price_writes SET number = number + 1;
  INSERT INTO price_revisions (symbol, date, open, high, low, close, volume, source, written, replaced)
  SELECT old.symbol, old.date, old.open, old.high, old.low, old.close, old.volume, old.source, old.written, number FROM price_writes;
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
  written INTEGER CHECK (written >= 1),
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
  written INTEGER, -- its number; null if it was never given one, and so never read by a model-day
  replaced INTEGER NOT NULL, -- the number of the write that replaced or removed it
  replaced_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) -- for people: clocks differ
) STRICT;

CREATE INDEX unnumbered_splits ON stock_splits (symbol) WHERE written IS NULL;
CREATE INDEX stock_split_revisions_by_split ON stock_split_revisions (symbol, date);

CREATE TRIGGER stock_splits_revised AFTER UPDATE OF symbol, date, numerator, denominator ON stock_splits
BEGIN
  ${numberOf('stock_splits', 'date')}
  INSERT INTO stock_split_revisions (symbol, date, numerator, denominator, source, written, replaced)
  SELECT old.symbol, old.date, old.numerator, old.denominator, old.source, old.written, written
  FROM stock_splits WHERE symbol = new.symbol AND date = new.date;
END;

CREATE TRIGGER stock_splits_removed AFTER DELETE ON stock_splits
BEGIN
  UPDATE price_writes SET number = number + 1;
  INSERT INTO stock_split_revisions (symbol, date, numerator, denominator, source, written, replaced)
  SELECT old.symbol, old.date, old.numerator, old.denominator, old.source, old.written, number FROM price_writes;
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
  written INTEGER CHECK (written >= 1),
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
  written INTEGER, -- its number; null if it was never given one, and so never read by a model-day
  replaced INTEGER NOT NULL, -- the number of the write that replaced or removed it
  replaced_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) -- for people: clocks differ
) STRICT;

CREATE INDEX unnumbered_dividends ON dividends (symbol) WHERE written IS NULL;
CREATE INDEX dividend_revisions_by_dividend ON dividend_revisions (symbol, ex_date);

CREATE TRIGGER dividends_revised AFTER UPDATE OF symbol, ex_date, cash_e6, basis ON dividends
BEGIN
  ${numberOf('dividends', 'ex_date')}
  INSERT INTO dividend_revisions (symbol, ex_date, cash_e6, basis, source, written, replaced)
  SELECT old.symbol, old.ex_date, old.cash_e6, old.basis, old.source, old.written, written
  FROM dividends WHERE symbol = new.symbol AND ex_date = new.ex_date;
END;

CREATE TRIGGER dividends_removed AFTER DELETE ON dividends
BEGIN
  UPDATE price_writes SET number = number + 1;
  INSERT INTO dividend_revisions (symbol, ex_date, cash_e6, basis, source, written, replaced)
  SELECT old.symbol, old.ex_date, old.cash_e6, old.basis, old.source, old.written, number FROM price_writes;
END;
`;
