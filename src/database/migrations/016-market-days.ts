/**
 * A provider of whole days: which days it returned, and for which spans it named the splits.
 * Released: never edit it.
 */
export const sql = `
  -- The days of the whole market that a provider returned with bars, and when it last did.
  CREATE TABLE market_days (
    source TEXT NOT NULL,
    date TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (source, date)
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
  `;
