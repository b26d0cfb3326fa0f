/**
 * What every committed session was computed from; of older ones that is worked out. Released: never
 * edit it.
 */
export const sql = `
  -- The prices of each symbol that a committed session held or traded, adjusted for splits up to the session's date. Null
  -- values are unknown: there was no price, or the session was committed before evidence was stored.
  CREATE TABLE session_prices (
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    symbol TEXT NOT NULL,
    date TEXT NOT NULL, -- the session's
    held_since TEXT CHECK (held_since < date), -- of what was held in the morning: the date of the day it started from
    open_e4 INTEGER CHECK (open_e4 >= 0), -- in the morning: the open, else the last earlier close, else the last earlier open
    open_date TEXT CHECK (open_date <= date), -- of its bar; orders fill at the open of the session's date only
    close_e4 INTEGER CHECK (close_e4 >= 0), -- at the commit: the close, else the open, else the last earlier close or open
    close_date TEXT CHECK (close_date <= date), -- of its bar
    price_changed INTEGER NOT NULL DEFAULT 0 CHECK (price_changed IN (0, 1)), -- whether its bar of the date differs now
    split_changed INTEGER NOT NULL DEFAULT 0 CHECK (split_changed IN (0, 1)), -- whether a split since held_since does
    PRIMARY KEY (session_id, symbol),
    CHECK ((open_e4 IS NULL) = (open_date IS NULL)),
    CHECK ((close_e4 IS NULL) = (close_date IS NULL))
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX session_prices_by_bar ON session_prices (symbol, date);
  CREATE INDEX changed_session_prices ON session_prices (session_id) WHERE price_changed OR split_changed;

  -- The splits that a committed session knew of what it held in the morning, since the day it started from.
  CREATE TABLE session_splits (
    session_id INTEGER NOT NULL REFERENCES trading_sessions,
    symbol TEXT NOT NULL,
    date TEXT NOT NULL, -- of the split
    numerator INTEGER CHECK (numerator >= 1), -- null when unknown: committed before evidence was stored
    denominator INTEGER CHECK (denominator >= 1),
    PRIMARY KEY (session_id, symbol, date),
    CHECK ((numerator IS NULL) = (denominator IS NULL))
  ) STRICT, WITHOUT ROWID;

  -- What older sessions were computed from is worked out here, once: the prices and splits by their time stamps or, where
  -- they changed about that time, those with which the figures come out. What has been replaced without a trace and does
  -- not come out is left null. A price carries the time at which it was made ready, and others see it when its transaction
  -- is committed; so for a minute its predecessor may still have been read.
  CREATE TEMP TABLE ended AS
    SELECT own.session_id, own.date, own.started_at, own.completed_at, past.session_id AS past_id, past.date AS past_date,
      coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', first_start, '-60 seconds'), own.started_at) AS opens_from,
      coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', own.started_at, '-60 seconds'), own.started_at) AS splits_from,
      coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', own.completed_at, '-60 seconds'), own.completed_at) AS closes_from,
      CAST(round(coalesce(json_extract(agent_config, '$.slippage_bps'), 0) * 10000) AS INTEGER) AS slippage
    FROM trading_sessions AS own LEFT JOIN jobs ON jobs.job_id = own.job_id
      JOIN (SELECT job_id, date, min(started_at) AS first_start FROM trading_sessions GROUP BY job_id, date) AS market
        ON market.job_id = own.job_id AND market.date = own.date
      LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id AND past.date < own.date
    WHERE own.status IN ('active', 'superseded');
  CREATE UNIQUE INDEX temp.ended_by_session ON ended (session_id);

  -- What each session held or traded.
  CREATE TEMP TABLE used (session_id INTEGER, symbol TEXT, date TEXT, held_since TEXT, is_lost INTEGER,
    PRIMARY KEY (session_id, symbol)) WITHOUT ROWID;
  INSERT INTO used (session_id, symbol, date, held_since)
    SELECT ended.session_id, symbol, date, past_date FROM ended CROSS JOIN holdings
      ON holdings.position_id = (SELECT position_id FROM positions WHERE session_id = past_id ORDER BY action_id DESC LIMIT 1)
    ORDER BY ended.session_id, symbol;
  INSERT OR IGNORE INTO used (session_id, symbol, date)
    SELECT session_id, holdings.symbol, date
    FROM ended CROSS JOIN positions USING (session_id) CROSS JOIN holdings USING (position_id);
  INSERT OR IGNORE INTO used (session_id, symbol, date)
    SELECT session_id, symbol, date FROM ended CROSS JOIN positions USING (session_id) WHERE symbol IS NOT NULL;

  -- Lost: a bar that is known only from later than the commit, and may have replaced another without a trace.
  UPDATE used SET is_lost = (SELECT
      NOT EXISTS (SELECT 1 FROM price_data AS bar
        WHERE bar.symbol = used.symbol AND bar.date = used.date AND bar.recorded_at <= completed_at)
      AND NOT EXISTS (SELECT 1 FROM price_revisions AS bar WHERE bar.symbol = used.symbol AND bar.date = used.date
        AND bar.recorded_at <= completed_at AND bar.replaced_at > completed_at)
      AND (EXISTS (SELECT 1 FROM price_revisions AS bar
          WHERE bar.symbol = used.symbol AND bar.date = used.date AND bar.recorded_at > completed_at)
        OR (SELECT recorded_at FROM price_data AS bar WHERE bar.symbol = used.symbol AND bar.date <= used.date
          ORDER BY bar.date DESC LIMIT 1) > completed_at)
    FROM ended WHERE ended.session_id = used.session_id);

  -- When each session may have read its opens and its closes: by its time stamps, and around every change about then.
  CREATE TEMP TABLE changes AS
    SELECT DISTINCT used.session_id, stamp FROM used CROSS JOIN ended USING (session_id) CROSS JOIN (
      SELECT symbol, date, recorded_at AS stamp FROM price_data
      UNION ALL SELECT symbol, date, recorded_at FROM price_revisions
      UNION ALL SELECT symbol, date, replaced_at FROM price_revisions) AS bar
      ON bar.symbol = used.symbol AND bar.date = used.date
    WHERE stamp > opens_from AND stamp <= completed_at;
  INSERT INTO changes
    SELECT DISTINCT used.session_id, stamp FROM used CROSS JOIN ended USING (session_id) CROSS JOIN (
      SELECT symbol, date, recorded_at AS stamp FROM price_data
      UNION ALL SELECT symbol, date, recorded_at FROM price_revisions
      UNION ALL SELECT symbol, date, replaced_at FROM price_revisions
      UNION ALL SELECT symbol, date, recorded_at FROM stock_splits
      UNION ALL SELECT symbol, date, recorded_at FROM stock_split_revisions
      UNION ALL SELECT symbol, date, replaced_at FROM stock_split_revisions) AS earlier
      ON earlier.symbol = used.symbol AND earlier.date <= used.date
    WHERE stamp > opens_from AND stamp <= completed_at AND NOT EXISTS (SELECT 1 FROM price_data AS bar
      WHERE bar.symbol = used.symbol AND bar.date = used.date AND bar.recorded_at <= opens_from);
  CREATE TEMP TABLE instants (session_id INTEGER, kind TEXT, n INTEGER, at TEXT, may_be_later INTEGER,
    PRIMARY KEY (session_id, kind, n)) WITHOUT ROWID;
  INSERT INTO instants
    SELECT session_id, kind, row_number() OVER (PARTITION BY session_id, kind ORDER BY later.value, place, at DESC), at, later.value
    FROM (
      SELECT session_id, 'open' AS kind, 0 AS place, started_at AS at FROM ended
      UNION SELECT session_id, 'close', 0, completed_at FROM ended
      UNION SELECT session_id, 'open', 1, stamp FROM changes
      UNION SELECT session_id, 'open', 2, completed_at FROM ended WHERE session_id IN (SELECT session_id FROM changes)
      UNION SELECT session_id, 'open', 3, opens_from FROM ended WHERE session_id IN (SELECT session_id FROM changes)
      UNION SELECT session_id, 'close', 1, stamp FROM changes CROSS JOIN ended USING (session_id) WHERE stamp > closes_from
      UNION SELECT session_id, 'close', 2, closes_from FROM ended WHERE session_id IN (SELECT session_id FROM changes))
      CROSS JOIN json_each('[0, 1]') AS later
    WHERE later.value = 0 OR session_id IN (SELECT session_id FROM used WHERE is_lost);

  -- The prices at each of these times: the bar of the date, or else the last earlier close, or else the last earlier open.
  CREATE TEMP TABLE readings (session_id INTEGER, kind TEXT, n INTEGER, symbol TEXT, date TEXT, at TEXT, may_be_later INTEGER,
    bar_date TEXT, dollars REAL, ratio REAL DEFAULT 1, price_e4 INTEGER, PRIMARY KEY (session_id, kind, n, symbol)) WITHOUT ROWID;
  INSERT INTO readings (session_id, kind, n, symbol, date, at, may_be_later, bar_date, dollars)
    SELECT session_id, kind, n, used.symbol, used.date, at, may_be_later, used.date, coalesce(
      CASE WHEN bar.recorded_at <= at THEN iif(kind = 'open', bar.open, coalesce(bar.close, bar.open)) END,
      (SELECT iif(kind = 'open', old.open, coalesce(old.close, old.open)) FROM price_revisions AS old
        WHERE old.symbol = used.symbol AND old.date = used.date AND old.recorded_at <= at AND old.replaced_at > at
        ORDER BY old.recorded_at DESC LIMIT 1),
      CASE WHEN may_be_later THEN coalesce(
        (SELECT iif(kind = 'open', old.open, coalesce(old.close, old.open)) FROM price_revisions AS old
          WHERE old.symbol = used.symbol AND old.date = used.date AND old.recorded_at > at ORDER BY old.recorded_at LIMIT 1),
        iif(kind = 'open', bar.open, coalesce(bar.close, bar.open))) END)
    FROM instants CROSS JOIN used USING (session_id)
      LEFT JOIN price_data AS bar ON bar.symbol = used.symbol AND bar.date = used.date;
  UPDATE readings SET (bar_date, dollars) = (
      SELECT bar.date, coalesce(bar.close, bar.open) FROM (
        SELECT symbol, date, open, close, recorded_at, NULL AS replaced_at FROM price_data
        UNION ALL SELECT symbol, date, open, close, recorded_at, replaced_at FROM price_revisions) AS bar
      WHERE bar.symbol = readings.symbol AND bar.date < readings.date
        AND (may_be_later OR (bar.recorded_at <= at AND (bar.replaced_at IS NULL OR bar.replaced_at > at)))
      ORDER BY bar.close IS NULL, bar.date DESC, bar.recorded_at <= at AND (bar.replaced_at IS NULL OR bar.replaced_at > at) DESC,
        bar.recorded_at LIMIT 1)
    WHERE dollars IS NULL;
  CREATE TEMP TABLE adjustments AS
    SELECT session_id, kind, n, readings.symbol, split.date, split.numerator, split.denominator
    FROM readings CROSS JOIN (
      SELECT symbol, date, numerator, denominator, recorded_at, NULL AS replaced_at FROM stock_splits
      UNION ALL SELECT symbol, date, numerator, denominator, recorded_at, replaced_at FROM stock_split_revisions) AS split
      ON split.symbol = readings.symbol AND split.date > bar_date AND split.date <= readings.date
    WHERE bar_date < readings.date AND split.recorded_at <= at AND (split.replaced_at IS NULL OR split.replaced_at > at)
      AND NOT EXISTS (SELECT 1 FROM price_data AS bar WHERE bar.symbol = readings.symbol AND bar.adjusted AND bar.recorded_at <= at)
      AND NOT EXISTS (SELECT 1 FROM price_revisions AS bar WHERE bar.symbol = readings.symbol
        AND bar.source IN ('yahoo', 'stooq', 'synthetic') AND bar.recorded_at <= at AND bar.replaced_at > at);
  CREATE INDEX temp.adjustments_by_reading ON adjustments (session_id, kind, n, symbol, date);
  UPDATE readings SET ratio = (
      WITH RECURSIVE product (date, ratio) AS (
        SELECT bar_date, 1.0
        UNION ALL
        SELECT own.date, product.ratio * (CAST(own.numerator AS REAL) / own.denominator) FROM product JOIN adjustments AS own
          ON own.session_id = readings.session_id AND own.kind = readings.kind AND own.n = readings.n
          AND own.symbol = readings.symbol AND own.date = (SELECT min(next.date) FROM adjustments AS next
            WHERE next.session_id = readings.session_id AND next.kind = readings.kind AND next.n = readings.n
              AND next.symbol = readings.symbol AND next.date > product.date))
      SELECT product.ratio FROM product ORDER BY product.date DESC LIMIT 1)
    WHERE bar_date < date AND EXISTS (SELECT 1 FROM adjustments AS own WHERE own.session_id = readings.session_id
      AND own.kind = readings.kind AND own.n = readings.n AND own.symbol = readings.symbol);
  UPDATE readings SET price_e4 = CAST(round(dollars / ratio * 10000) AS INTEGER) WHERE dollars IS NOT NULL;

  -- Of the closes those with which all values come out; of the opens those that orders filled at.
  CREATE TEMP TABLE fitting_closes AS
    SELECT session_id, min(n) AS n FROM instants WHERE kind = 'close' AND NOT EXISTS (
      SELECT 1 FROM positions WHERE positions.session_id = instants.session_id AND portfolio_value_e4 IS NOT cash_e4 + (
        SELECT coalesce(sum(quantity * price_e4), 0) FROM holdings CROSS JOIN readings
          ON readings.session_id = instants.session_id AND readings.kind = 'close' AND readings.n = instants.n
          AND readings.symbol = holdings.symbol
        WHERE holdings.position_id = positions.position_id))
    GROUP BY session_id;
  CREATE UNIQUE INDEX temp.fitting_closes_by_session ON fitting_closes (session_id);
  CREATE TEMP TABLE fitting_opens AS
    SELECT session_id, symbol, min(n) AS n FROM readings CROSS JOIN ended USING (session_id)
    WHERE kind = 'open' AND readings.price_e4 IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM positions AS own WHERE own.session_id = readings.session_id AND own.symbol = readings.symbol
        AND CASE action_type
          WHEN 'buy' THEN bar_date < readings.date
            OR own.price_e4 <> readings.price_e4 + (readings.price_e4 * slippage + 99999999) / 100000000
          WHEN 'sell' THEN bar_date < readings.date
            OR own.price_e4 <> max(1, readings.price_e4 - (readings.price_e4 * slippage + 99999999) / 100000000)
          ELSE own.price_e4 IS NOT readings.price_e4 AND action_id = (SELECT max(action_id) FROM positions AS last
            WHERE last.session_id = own.session_id AND last.symbol = own.symbol AND last.action_type = 'split') END)
    GROUP BY session_id, symbol;
  CREATE UNIQUE INDEX temp.fitting_opens_by_symbol ON fitting_opens (session_id, symbol);
  INSERT INTO session_prices (session_id, symbol, date, held_since, open_e4, open_date, close_e4, close_date)
    SELECT used.session_id, used.symbol, used.date, held_since, open.price_e4, iif(open.price_e4 IS NULL, NULL, open.bar_date),
      close.price_e4, iif(close.price_e4 IS NULL, NULL, close.bar_date)
    FROM used
      LEFT JOIN fitting_opens USING (session_id, symbol) LEFT JOIN fitting_closes USING (session_id)
      LEFT JOIN readings AS open ON open.session_id = used.session_id AND open.kind = 'open' AND open.symbol = used.symbol
        AND open.n = coalesce(fitting_opens.n, iif(is_lost, NULL, 1))
      LEFT JOIN readings AS close ON close.session_id = used.session_id AND close.kind = 'close' AND close.symbol = used.symbol
        AND close.n = coalesce(fitting_closes.n, iif(is_lost, NULL, 1))
    WHERE is_lost OR open.price_e4 IS NOT NULL OR close.price_e4 IS NOT NULL
    ORDER BY used.session_id, used.symbol;

  -- The splits of what each session held, in their order, and what each of them may have been when it was read.
  CREATE TEMP TABLE split_days AS
    SELECT session_id, split.symbol, split.date, splits_from, started_at, completed_at,
      row_number() OVER (PARTITION BY session_id ORDER BY split.date, split.symbol) AS place,
      max(EXISTS (SELECT 1 FROM price_data AS bar
        WHERE bar.symbol = split.symbol AND bar.adjusted AND bar.recorded_at <= started_at)
        OR EXISTS (SELECT 1 FROM price_revisions AS bar WHERE bar.symbol = split.symbol
          AND bar.source IN ('yahoo', 'stooq', 'synthetic') AND bar.recorded_at <= started_at
          AND bar.replaced_at > started_at)) AS is_adjusted
    FROM (SELECT symbol, date FROM stock_splits UNION SELECT symbol, date FROM stock_split_revisions) AS split
      CROSS JOIN used AS own ON own.symbol = split.symbol AND own.date >= split.date AND own.held_since < split.date
      CROSS JOIN ended USING (session_id)
    GROUP BY session_id, split.symbol, split.date;
  CREATE UNIQUE INDEX temp.split_days_by_place ON split_days (session_id, place);
  CREATE TEMP TABLE split_choices AS
    SELECT session_id, place, numerator, denominator, iif(is_adjusted, 2, CASE
        WHEN recorded_at <= started_at AND (replaced_at IS NULL OR replaced_at > started_at) THEN 0
        WHEN recorded_at <= completed_at THEN 1 ELSE 3 END) AS misfit
    FROM split_days CROSS JOIN (
      SELECT symbol, date, numerator, denominator, recorded_at, NULL AS replaced_at FROM stock_splits
      UNION ALL SELECT symbol, date, numerator, denominator, recorded_at, replaced_at FROM stock_split_revisions) AS version
      USING (symbol, date)
    WHERE replaced_at IS NULL OR replaced_at > splits_from OR replaced_at <= recorded_at;
  INSERT INTO split_choices
    SELECT session_id, place, NULL, NULL, iif(EXISTS (SELECT 1 FROM split_choices AS own
      WHERE own.session_id = split_days.session_id AND own.place = split_days.place AND own.misfit = 0), 2, 0)
    FROM split_days;
  CREATE INDEX temp.split_choices_by_place ON split_choices (session_id, place);

  -- All ways in which the first records of a session come out of them.
  CREATE TEMP TABLE split_walks AS
    WITH RECURSIVE walk (session_id, place, action_id, choices, misfit) AS (
      SELECT DISTINCT session_id, 0, 0, '[]', 0 FROM split_days
      UNION ALL
      SELECT walk.session_id, walk.place + 1, walk.action_id + (numerator IS NOT NULL AND quantity IS NOT NULL),
        json_insert(choices, '$[#]', json_array(split_days.symbol, split_days.date, numerator, denominator)),
        walk.misfit + split_choices.misfit
      FROM walk CROSS JOIN ended USING (session_id)
        CROSS JOIN split_days ON split_days.session_id = walk.session_id AND split_days.place = walk.place + 1
        CROSS JOIN split_choices ON split_choices.session_id = walk.session_id AND split_choices.place = walk.place + 1
        LEFT JOIN holdings ON holdings.symbol = split_days.symbol AND holdings.position_id = iif(walk.action_id = 0,
          (SELECT position_id FROM positions WHERE session_id = past_id ORDER BY action_id DESC LIMIT 1),
          (SELECT position_id FROM positions WHERE session_id = walk.session_id AND positions.action_id = walk.action_id))
      WHERE numerator IS NULL OR quantity IS NULL OR EXISTS (
        SELECT 1 FROM positions AS record WHERE record.session_id = walk.session_id AND record.action_id = walk.action_id + 1
          AND record.action_type = 'split' AND record.symbol = split_days.symbol
          AND record.amount = quantity * numerator / denominator - quantity))
    SELECT session_id, choices, misfit FROM walk
    WHERE place = (SELECT max(place) FROM split_days WHERE split_days.session_id = walk.session_id)
      AND action_id = (SELECT count(*) FROM positions WHERE positions.session_id = walk.session_id AND action_type = 'split');
  INSERT INTO session_splits
    SELECT session_id, split.value ->> 0, split.value ->> 1, split.value ->> 2, split.value ->> 3
    FROM (SELECT session_id, choices, min(misfit) FROM split_walks GROUP BY session_id), json_each(choices) AS split
    WHERE split.value ->> 2 IS NOT NULL;
  -- Where none comes out: the splits by their time stamps; null where those that were read may be lost.
  INSERT INTO session_splits
    SELECT session_id, symbol, date, iif(misfit = 3, NULL, numerator), iif(misfit = 3, NULL, denominator)
    FROM split_days JOIN split_choices USING (session_id, place)
    WHERE session_id NOT IN (SELECT session_id FROM split_walks) AND numerator IS NOT NULL AND misfit IN (0, 3)
    GROUP BY session_id, symbol, date HAVING min(misfit) >= 0;
  DROP TABLE temp.ended;
  DROP TABLE temp.used;
  DROP TABLE temp.changes;
  DROP TABLE temp.instants;
  DROP TABLE temp.readings;
  DROP TABLE temp.adjustments;
  DROP TABLE temp.fitting_closes;
  DROP TABLE temp.fitting_opens;
  DROP TABLE temp.split_days;
  DROP TABLE temp.split_choices;
  DROP TABLE temp.split_walks;
  `;
