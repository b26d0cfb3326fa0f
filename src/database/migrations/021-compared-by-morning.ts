/**
 * A split or a dividend is compared with the sessions that held its symbol over its date, which are
 * found from morning to morning without reading the others of that symbol; a session that is
 * committed is compared by itself. Released: never edit it.
 */
export const sql = `
  DROP VIEW written_splits;
  DROP VIEW written_dividends;
  DROP VIEW dividends_with_splits;
  DROP TRIGGER symbol_held;
  DROP TRIGGER split_added;
  DROP TRIGGER split_changed;
  DROP TRIGGER split_removed;
  DROP TRIGGER dividend_payer_held;
  DROP TRIGGER dividend_added;
  DROP TRIGGER dividend_changed;
  DROP TRIGGER dividend_removed;
  DROP TRIGGER dividends_split_added;
  DROP TRIGGER dividends_split_changed;
  DROP TRIGGER dividends_split_removed;

  -- Compares the sessions that held a symbol over the date of a split with its splits; only one, if it is named. A split
  -- that was removed has not changed; readers of split_changed ignore those of a series that is adjusted for splits.
  CREATE VIEW written_splits AS SELECT symbol, date, NULL AS session_id FROM stock_splits;
  CREATE TRIGGER split_written INSTEAD OF INSERT ON written_splits
  BEGIN
    UPDATE session_prices SET split_changed = EXISTS (
      SELECT 1 FROM stock_splits AS split
      WHERE split.symbol = new.symbol AND split.date > held_since AND split.date <= session_prices.date
        AND NOT EXISTS (SELECT 1 FROM session_splits AS known
          WHERE known.session_id = session_prices.session_id AND known.symbol = split.symbol AND known.date = split.date
            AND known.numerator = split.numerator AND known.denominator = split.denominator))
    WHERE symbol = new.symbol AND session_id IN (SELECT new.session_id UNION ALL SELECT * FROM (
      WITH RECURSIVE morning (held_since) AS (
        SELECT min(held_since) FROM session_prices
          WHERE symbol = new.symbol AND held_since < new.date AND new.session_id IS NULL
        UNION ALL SELECT (SELECT min(held_since) FROM session_prices
          WHERE symbol = new.symbol AND held_since < new.date AND held_since > morning.held_since)
        FROM morning WHERE morning.held_since IS NOT NULL)
      SELECT own.session_id FROM morning CROSS JOIN session_prices AS own
        ON own.symbol = new.symbol AND own.held_since = morning.held_since AND own.date >= new.date));
  END;

  CREATE TRIGGER symbol_held AFTER INSERT ON session_prices
  WHEN EXISTS (SELECT 1 FROM stock_splits AS split
    WHERE split.symbol = new.symbol AND split.date > new.held_since AND split.date <= new.date)
  BEGIN
    INSERT INTO written_splits VALUES (new.symbol, new.date, new.session_id);
  END;

  CREATE TRIGGER split_added AFTER INSERT ON stock_splits
  BEGIN
    INSERT INTO written_splits (symbol, date) VALUES (new.symbol, new.date);
  END;

  CREATE TRIGGER split_changed AFTER UPDATE OF symbol, date, numerator, denominator ON stock_splits
  BEGIN
    INSERT INTO written_splits (symbol, date) VALUES (old.symbol, old.date), (new.symbol, new.date);
  END;

  CREATE TRIGGER split_removed AFTER DELETE ON stock_splits
  BEGIN
    INSERT INTO written_splits (symbol, date) VALUES (old.symbol, old.date);
  END;

  -- Compares the sessions that held a symbol over an ex-date, and pay dividends, with the dividends that are stored: one that
  -- was learned, corrected or removed has changed. Over any ex-date up to last_ex_date if that is given; only one session if it is
  -- named. Readers of dividend_changed ignore those of a series whose prices contain dividends.
  CREATE VIEW written_dividends AS SELECT symbol, ex_date, ex_date AS last_ex_date, NULL AS session_id FROM dividends;
  CREATE TRIGGER dividend_written INSTEAD OF INSERT ON written_dividends
  BEGIN
    UPDATE session_prices SET dividend_changed = EXISTS (
      SELECT 1 FROM dividends
      WHERE dividends.symbol = new.symbol AND dividends.ex_date > held_since AND dividends.ex_date <= session_prices.date
        AND NOT EXISTS (SELECT 1 FROM session_dividends AS known
          WHERE known.session_id = session_prices.session_id AND known.symbol = new.symbol AND known.ex_date = dividends.ex_date
            AND known.cash_e6 = dividends.cash_e6 AND known.basis = dividends.basis
            AND known.splits = CASE WHEN (dividends.basis = 'split_adjusted') <>
        EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = new.symbol AND adjusted)
              THEN coalesce((SELECT group_concat(date || ' ' || numerator || ':' || denominator, ', ') FROM (
        SELECT date, numerator, denominator FROM stock_splits
        WHERE stock_splits.symbol = dividends.symbol AND stock_splits.date >= dividends.ex_date ORDER BY date)), '') ELSE '' END))
      OR EXISTS (SELECT 1 FROM session_dividends AS known
        WHERE known.session_id = session_prices.session_id AND known.symbol = new.symbol
          AND NOT EXISTS (SELECT 1 FROM dividends WHERE dividends.symbol = new.symbol AND dividends.ex_date = known.ex_date))
    WHERE symbol = new.symbol AND session_id IN (SELECT new.session_id UNION ALL SELECT * FROM (
      WITH RECURSIVE morning (held_since) AS (
        SELECT min(held_since) FROM session_prices
          WHERE symbol = new.symbol AND held_since < coalesce(new.last_ex_date, new.ex_date) AND new.session_id IS NULL
        UNION ALL SELECT (SELECT min(held_since) FROM session_prices
          WHERE symbol = new.symbol AND held_since < coalesce(new.last_ex_date, new.ex_date) AND held_since > morning.held_since)
        FROM morning WHERE morning.held_since IS NOT NULL)
      SELECT own.session_id FROM morning CROSS JOIN session_prices AS own
        ON own.symbol = new.symbol AND own.held_since = morning.held_since AND own.date >= coalesce((SELECT min(ex_date) FROM dividends
          WHERE dividends.symbol = new.symbol AND ex_date BETWEEN new.ex_date AND new.last_ex_date
            AND ex_date > morning.held_since), new.ex_date)))
      AND (SELECT pays_dividends FROM trading_sessions WHERE trading_sessions.session_id = session_prices.session_id);
  END;

  CREATE TRIGGER dividend_payer_held AFTER INSERT ON session_prices
  WHEN EXISTS (SELECT 1 FROM dividends AS stored
      WHERE stored.symbol = new.symbol AND stored.ex_date > new.held_since AND stored.ex_date <= new.date)
    OR EXISTS (SELECT 1 FROM session_dividends AS known WHERE known.session_id = new.session_id AND known.symbol = new.symbol)
  BEGIN
    INSERT INTO written_dividends (symbol, session_id) VALUES (new.symbol, new.session_id);
  END;

  CREATE TRIGGER dividend_added AFTER INSERT ON dividends
  BEGIN
    INSERT INTO written_dividends (symbol, ex_date) VALUES (new.symbol, new.ex_date);
  END;

  CREATE TRIGGER dividend_changed AFTER UPDATE OF symbol, ex_date, cash_e6, basis ON dividends
  BEGIN
    INSERT INTO written_dividends (symbol, ex_date) VALUES (old.symbol, old.ex_date), (new.symbol, new.ex_date);
  END;

  CREATE TRIGGER dividend_removed AFTER DELETE ON dividends
  BEGIN
    INSERT INTO written_dividends (symbol, ex_date) VALUES (old.symbol, old.ex_date);
  END;

  CREATE TRIGGER dividends_split_added AFTER INSERT ON stock_splits
  BEGIN
    INSERT INTO written_dividends (symbol, ex_date, last_ex_date)
    SELECT symbol, min(ex_date), max(ex_date) FROM dividends
    WHERE symbol = new.symbol AND ex_date <= new.date
      AND (dividends.basis = 'split_adjusted') <>
        EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = new.symbol AND adjusted)
    GROUP BY symbol;
  END;

  CREATE TRIGGER dividends_split_changed AFTER UPDATE OF symbol, date, numerator, denominator ON stock_splits
  BEGIN
    INSERT INTO written_dividends (symbol, ex_date, last_ex_date)
    SELECT symbol, min(ex_date), max(ex_date) FROM dividends
    WHERE symbol = old.symbol AND ex_date <= old.date
      AND (dividends.basis = 'split_adjusted') <>
        EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = old.symbol AND adjusted)
    GROUP BY symbol;
    INSERT INTO written_dividends (symbol, ex_date, last_ex_date)
    SELECT symbol, min(ex_date), max(ex_date) FROM dividends
    WHERE symbol = new.symbol AND ex_date <= new.date
      AND (dividends.basis = 'split_adjusted') <>
        EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = new.symbol AND adjusted)
    GROUP BY symbol;
  END;

  CREATE TRIGGER dividends_split_removed AFTER DELETE ON stock_splits
  BEGIN
    INSERT INTO written_dividends (symbol, ex_date, last_ex_date)
    SELECT symbol, min(ex_date), max(ex_date) FROM dividends
    WHERE symbol = old.symbol AND ex_date <= old.date
      AND (dividends.basis = 'split_adjusted') <>
        EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = old.symbol AND adjusted)
    GROUP BY symbol;
  END;
  `;
