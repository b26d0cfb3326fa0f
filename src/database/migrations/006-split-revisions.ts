/** The revision log of splits. Released: never edit it. */
export const sql = `
  -- Every split as it stood before it was changed or removed, as price_revisions does for bars.
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
