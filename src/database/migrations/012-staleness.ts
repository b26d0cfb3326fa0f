/**
 * Whether what a session was computed from differs from what is stored now, kept by triggers.
 * Released: never edit it.
 */
export const sql = `
  ALTER TABLE trading_sessions ADD COLUMN start_changed INTEGER NOT NULL DEFAULT 0 CHECK (start_changed IN (0, 1));

  -- As time stamps have it: another day is the latest earlier active one, or a bar or a split was written later.
  UPDATE trading_sessions SET start_changed = 1 WHERE status = 'active' AND started_from_session_id IS NOT (
    SELECT session_id FROM trading_sessions AS earlier
    WHERE earlier.model = trading_sessions.model AND earlier.date < trading_sessions.date AND earlier.status = 'active'
    ORDER BY earlier.date DESC LIMIT 1);
  UPDATE session_prices SET price_changed = 1
    FROM trading_sessions AS own CROSS JOIN price_data AS bar
    WHERE own.session_id = session_prices.session_id AND bar.symbol = session_prices.symbol AND bar.date = session_prices.date
      AND bar.recorded_at > completed_at AND NOT EXISTS (SELECT 1 FROM price_revisions AS known
        WHERE known.symbol = bar.symbol AND known.date = bar.date AND known.recorded_at <= completed_at
          AND known.replaced_at > completed_at AND known.open = bar.open AND known.close IS bar.close);
  UPDATE session_prices SET split_changed = 1
    FROM trading_sessions AS own CROSS JOIN stock_splits AS split
    WHERE own.session_id = session_prices.session_id AND split.symbol = session_prices.symbol
      AND split.date > held_since AND split.date <= session_prices.date AND split.recorded_at > started_at;

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

  -- Compares the sessions that held a symbol over the date of a split with its splits. A split that was removed has not
  -- changed; those of a series that is adjusted for splits count for nothing, which whoever reads split_changed looks up.
  CREATE VIEW written_splits AS SELECT symbol, date FROM stock_splits;
  CREATE TRIGGER split_written INSTEAD OF INSERT ON written_splits
  BEGIN
    UPDATE session_prices SET split_changed = EXISTS (
      SELECT 1 FROM stock_splits AS split
      WHERE split.symbol = new.symbol AND split.date > held_since AND split.date <= session_prices.date
        AND NOT EXISTS (SELECT 1 FROM session_splits AS known
          WHERE known.session_id = session_prices.session_id AND known.symbol = split.symbol AND known.date = split.date
            AND known.numerator = split.numerator AND known.denominator = split.denominator))
    WHERE symbol = new.symbol AND date >= new.date AND held_since < new.date;
  END;

  -- Compares an active session, and the model's next one, with the model's latest active day before it.
  CREATE VIEW written_sessions AS SELECT session_id, model, date FROM trading_sessions;
  CREATE TRIGGER session_written INSTEAD OF INSERT ON written_sessions
  BEGIN
    UPDATE trading_sessions SET start_changed = started_from_session_id IS NOT (
      SELECT session_id FROM trading_sessions AS earlier
      WHERE earlier.model = new.model AND earlier.date < trading_sessions.date AND earlier.status = 'active'
      ORDER BY earlier.date DESC LIMIT 1)
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
  BEGIN
    INSERT INTO written_splits VALUES (new.symbol, new.date);
  END;

  CREATE TRIGGER bar_added AFTER INSERT ON price_data
  WHEN EXISTS (SELECT 1 FROM session_prices WHERE symbol = new.symbol AND date = new.date)
  BEGIN
    INSERT INTO written_bars VALUES (new.symbol, new.date);
  END;
  CREATE TRIGGER bar_changed AFTER UPDATE OF symbol, date, open, close ON price_data
  BEGIN
    INSERT INTO written_bars VALUES (old.symbol, old.date), (new.symbol, new.date);
  END;
  CREATE TRIGGER bar_removed AFTER DELETE ON price_data
  BEGIN
    INSERT INTO written_bars VALUES (old.symbol, old.date);
  END;

  CREATE TRIGGER split_added AFTER INSERT ON stock_splits
  BEGIN
    INSERT INTO written_splits VALUES (new.symbol, new.date);
  END;
  CREATE TRIGGER split_changed AFTER UPDATE OF symbol, date, numerator, denominator ON stock_splits
  BEGIN
    INSERT INTO written_splits VALUES (old.symbol, old.date), (new.symbol, new.date);
  END;
  CREATE TRIGGER split_removed AFTER DELETE ON stock_splits
  BEGIN
    INSERT INTO written_splits VALUES (old.symbol, old.date);
  END;

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
