import { heldOver } from './price-conditions.ts';

/**
 * What model-days were computed from, and whether it differs from what is stored now. Triggers
 * compare the two whenever either is written, by any program: they insert into a view whose own
 * trigger does the comparing. So the comparison is defined once, and each bar of a bulk import
 * costs one index look-up.
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
  price_changed INTEGER NOT NULL DEFAULT 0 CHECK (price_changed IN (0, 1)), -- whether its bar of the date differs now
  split_changed INTEGER NOT NULL DEFAULT 0 CHECK (split_changed IN (0, 1)), -- whether a split since held_since does
  dividend_changed INTEGER NOT NULL DEFAULT 0 CHECK (dividend_changed IN (0, 1)), -- whether a dividend since held_since does
  PRIMARY KEY (session_id, symbol),
  CHECK ((open_e4 IS NULL) = (open_date IS NULL)),
  CHECK ((close_e4 IS NULL) = (close_date IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX session_prices_by_bar ON session_prices (symbol, date);
-- Files name decades of dividends: those from before everything that is held are compared with no session.
CREATE INDEX session_prices_by_holding ON session_prices (symbol, held_since, date) WHERE held_since IS NOT NULL;
CREATE INDEX changed_session_prices ON session_prices (session_id) WHERE price_changed OR split_changed OR dividend_changed;

-- The splits that a committed session knew of what it held in the morning, since the day it started from.
CREATE TABLE session_splits (
  session_id INTEGER NOT NULL REFERENCES trading_sessions,
  symbol TEXT NOT NULL,
  date TEXT NOT NULL, -- of the split
  numerator INTEGER NOT NULL CHECK (numerator >= 1),
  denominator INTEGER NOT NULL CHECK (denominator >= 1),
  PRIMARY KEY (session_id, symbol, date)
) STRICT, WITHOUT ROWID;

-- Compares the sessions that used a bar with that bar. A bar that was removed has not changed.
CREATE VIEW written_bars AS SELECT symbol, date FROM price_data;
CREATE TRIGGER bar_written INSTEAD OF INSERT ON written_bars
BEGIN
  UPDATE session_prices SET price_changed = EXISTS (
    SELECT 1 FROM price_data AS bar WHERE bar.symbol = new.symbol AND bar.date = new.date
      AND (open_date IS NOT bar.date OR close_date IS NOT bar.date OR open_e4 IS NOT round(bar.open * 10000)
        OR close_e4 IS NOT round(coalesce(bar.close, bar.open) * 10000)))
  WHERE symbol = new.symbol AND date = new.date;
END;

-- Compares the sessions that held a symbol over the date of a split with its splits; only one, if it is named. Readers of
-- split_changed ignore those of a series that is adjusted for splits.
CREATE VIEW written_splits AS SELECT symbol, date, NULL AS session_id FROM stock_splits;
CREATE TRIGGER split_written INSTEAD OF INSERT ON written_splits
BEGIN
  UPDATE session_prices SET split_changed = EXISTS (
    SELECT 1 FROM stock_splits AS split
    WHERE split.symbol = new.symbol AND split.date > held_since AND split.date <= session_prices.date
      AND NOT EXISTS (SELECT 1 FROM session_splits AS known
        WHERE known.session_id = session_prices.session_id AND known.symbol = split.symbol AND known.date = split.date
          AND known.numerator = split.numerator AND known.denominator = split.denominator))
    OR EXISTS (SELECT 1 FROM session_splits AS known
      WHERE known.session_id = session_prices.session_id AND known.symbol = new.symbol
        AND NOT EXISTS (SELECT 1 FROM stock_splits AS split WHERE split.symbol = new.symbol AND split.date = known.date))
  WHERE symbol = new.symbol AND session_id IN (SELECT new.session_id UNION ALL SELECT * FROM (
    ${heldOver('new.symbol', { date: 'new.date', before: 'new.date', condition: 'new.session_id IS NULL' })}));
END;

-- Compares an active session, and the model's next one, with the model's latest active day before it, or opening.
CREATE VIEW written_sessions AS SELECT session_id, model, date FROM trading_sessions;
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

-- While a session ran, an open may have been revised, or a split learned.
CREATE TRIGGER price_used AFTER INSERT ON session_prices
WHEN EXISTS (SELECT 1 FROM price_data AS bar WHERE bar.symbol = new.symbol AND bar.date = new.date
  AND (new.open_date IS NOT bar.date OR new.open_e4 IS NOT round(bar.open * 10000)))
BEGIN
  INSERT INTO written_bars VALUES (new.symbol, new.date);
END;
CREATE TRIGGER symbol_held AFTER INSERT ON session_prices
WHEN EXISTS (SELECT 1 FROM stock_splits AS split
    WHERE split.symbol = new.symbol AND split.date > new.held_since AND split.date <= new.date)
  OR EXISTS (SELECT 1 FROM session_splits AS known WHERE known.session_id = new.session_id AND known.symbol = new.symbol)
BEGIN
  INSERT INTO written_splits VALUES (new.symbol, new.date, new.session_id);
END;

CREATE TRIGGER bar_added AFTER INSERT ON price_data
WHEN EXISTS (SELECT 1 FROM session_prices WHERE symbol = new.symbol AND date = new.date)
BEGIN
  INSERT INTO written_bars VALUES (new.symbol, new.date);
END;
${changesOf('bar', 'price_data', { columns: 'open, close', view: 'written_bars' })}
CREATE TRIGGER split_added AFTER INSERT ON stock_splits
BEGIN
  INSERT INTO written_splits (symbol, date) VALUES (new.symbol, new.date);
END;
${changesOf('split', 'stock_splits', { columns: 'numerator, denominator', view: 'written_splits (symbol, date)' })}
CREATE TRIGGER start_added AFTER INSERT ON trading_sessions WHEN new.status = 'active'
BEGIN
  INSERT INTO written_sessions VALUES (new.session_id, new.model, new.date);
END;
CREATE TRIGGER start_changed AFTER UPDATE OF status, started_from_session_id ON trading_sessions
WHEN 'active' IN (old.status, new.status)
BEGIN
  INSERT INTO written_sessions VALUES (new.session_id, new.model, new.date);
END;
CREATE TRIGGER start_removed AFTER DELETE ON trading_sessions WHEN old.status = 'active'
BEGIN
  INSERT INTO written_sessions VALUES (old.session_id, old.model, old.date);
END;
`;

/**
 * Writes the old and the new place of a changed row of a table to the view that compares it, and
 * the place of a removed one.
 */
function changesOf(
  row: string,
  table: string,
  { columns, view }: { columns: string; view: string },
): string {
  return `
CREATE TRIGGER ${row}_changed AFTER UPDATE OF symbol, date, ${columns} ON ${table}
BEGIN
  INSERT INTO ${view} VALUES (old.symbol, old.date), (new.symbol, new.date);
END;
CREATE TRIGGER ${row}_removed AFTER DELETE ON ${table}
BEGIN
  INSERT INTO ${view} VALUES (old.symbol, old.date);
END;
`;
}
