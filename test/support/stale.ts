import type { Database, Reader } from '../../src/core/database/database.ts';
import { modelsWithSessions } from '../../src/core/database/session-filters.ts';
import { staleModelDays } from '../../src/core/database/stale.ts';
import { openMarket } from '../../src/core/trading/market.ts';
import { adjustedSourcesInSql } from '../../src/core/database/schema/price-conditions.ts';

/** The stale model-days as the service finds them, as lines, `model date`. */
export function staleNow(reader: Reader): string[] {
  const { first } = staleModelDays(reader, modelsWithSessions(reader), { most: Infinity });
  return first.map(({ model, date }) => `${model} ${date}`);
}

/**
 * Stale model-days by the numbers of writes: what was stored in the morning and at the commit of a
 * session, beside what is stored now. The service compares with the evidence instead, so this is an
 * independent opinion. Takes the models as a JSON array.
 */
const STALE = `
  WITH active AS (
    SELECT session_id, model, date, morning_write, commit_write, started_from_session_id, pays_dividends,
      lag(session_id) OVER days AS previous_session_id, lag(date) OVER days AS previous_date
    FROM trading_sessions AS own WHERE status = 'active' AND model IN (SELECT value FROM json_each(?))
    WINDOW days AS (PARTITION BY model ORDER BY date)
  )
  SELECT model, date FROM active
  WHERE (started_from_session_id IS NOT previous_session_id AND NOT ( -- one that closed otherwise
      EXISTS (SELECT 1 FROM trading_sessions AS was, trading_sessions AS now
        WHERE was.session_id = active.started_from_session_id AND now.session_id = active.previous_session_id
          AND (was.date, coalesce(was.note, ''), coalesce(was.unfilled, '')) = (now.date, coalesce(now.note, ''), coalesce(now.unfilled, '')))
      AND (SELECT cash_e4 || ' ' || portfolio_value_e4 FROM (SELECT cash_e4, portfolio_value_e4, max(action_id) FROM positions WHERE session_id = active.started_from_session_id))
        = (SELECT cash_e4 || ' ' || portfolio_value_e4 FROM (SELECT cash_e4, portfolio_value_e4, max(action_id) FROM positions WHERE session_id = active.previous_session_id))
      AND NOT EXISTS (SELECT symbol, quantity FROM holdings WHERE session_id = active.started_from_session_id
        EXCEPT SELECT symbol, quantity FROM holdings WHERE session_id = active.previous_session_id)
      AND NOT EXISTS (SELECT symbol, quantity FROM holdings WHERE session_id = active.previous_session_id
        EXCEPT SELECT symbol, quantity FROM holdings WHERE session_id = active.started_from_session_id)))
    OR EXISTS ( -- a split of something it held in the morning is another now than when it started, or gone
      SELECT 1 FROM (
        SELECT symbol, active.previous_date AS since FROM holdings WHERE holdings.session_id = active.started_from_session_id
        UNION SELECT into_symbol, date FROM session_exchanges AS brought WHERE brought.session_id = active.session_id) AS owned JOIN (
        SELECT symbol, date FROM stock_splits UNION SELECT symbol, date FROM stock_split_revisions) AS told ON told.symbol = owned.symbol
      WHERE told.date > owned.since AND told.date <= active.date
        AND NOT EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = told.symbol AND source IN (${adjustedSourcesInSql}))
        AND (SELECT numerator || ':' || denominator FROM stock_splits WHERE stock_splits.symbol = told.symbol AND stock_splits.date = told.date) IS NOT (
          SELECT numerator || ':' || denominator FROM (
            SELECT symbol, date, numerator, denominator, coalesce(written, 1e9) AS written, 1e9 AS replaced FROM stock_splits
            UNION ALL SELECT symbol, date, numerator, denominator, written, replaced FROM stock_split_revisions) AS version
          WHERE version.symbol = told.symbol AND version.date = told.date
            AND version.written <= active.morning_write AND version.replaced > active.morning_write))
    OR pays_dividends AND EXISTS ( -- a dividend of something it held in the morning is another now than when it started, or gone
      SELECT 1 FROM (
        SELECT symbol, active.previous_date AS since FROM holdings WHERE holdings.session_id = active.started_from_session_id
        UNION SELECT into_symbol, date FROM session_exchanges AS brought WHERE brought.session_id = active.session_id) AS owned JOIN (
        SELECT symbol, ex_date FROM dividends UNION SELECT symbol, ex_date FROM dividend_revisions) AS told ON told.symbol = owned.symbol
      WHERE told.ex_date > owned.since AND told.ex_date <= active.date
        AND (SELECT cash_e6 || basis FROM dividends WHERE dividends.symbol = told.symbol AND dividends.ex_date = told.ex_date) IS NOT (
          SELECT cash_e6 || basis FROM (
            SELECT * FROM (SELECT symbol, ex_date, cash_e6, basis, coalesce(written, 1e9) AS written, 1e9 AS replaced FROM dividends)
            UNION ALL SELECT symbol, ex_date, cash_e6, basis, written, replaced FROM dividend_revisions) AS version
          WHERE version.symbol = told.symbol AND version.ex_date = told.ex_date
            AND version.written <= active.morning_write AND version.replaced > active.morning_write))
    OR pays_dividends AND EXISTS ( -- a split that converts a split-adjusted dividend is another now
      SELECT 1 FROM session_dividends AS paid JOIN dividends USING (symbol, ex_date)
        LEFT JOIN stock_splits ON stock_splits.symbol = paid.symbol AND stock_splits.date >= paid.ex_date
      WHERE paid.session_id = active.session_id AND dividends.basis = 'split_adjusted'
      GROUP BY paid.symbol, paid.ex_date
      HAVING coalesce(group_concat(stock_splits.date || ' ' || numerator || ':' || denominator, ', ' ORDER BY stock_splits.date), '') <> max(splits))
    OR EXISTS ( -- an exchange of what it held in the morning, or of what that brought, is another now than when it started, or gone
      WITH RECURSIVE told AS (
        SELECT symbol, date, into_symbol FROM exchanges UNION SELECT symbol, date, into_symbol FROM exchange_revisions),
      owned (symbol, since) AS (
        SELECT symbol, active.previous_date FROM holdings WHERE holdings.session_id = active.started_from_session_id
        UNION SELECT told.into_symbol, told.date FROM owned JOIN told ON told.symbol = owned.symbol
        WHERE told.into_symbol <> '' AND told.date >= owned.since AND told.date > active.previous_date AND told.date <= active.date)
      SELECT 1 FROM owned JOIN told ON told.symbol = owned.symbol
      WHERE told.date >= owned.since AND told.date > active.previous_date AND told.date <= active.date
        AND (SELECT cash_e6 || ' ' || numerator || ':' || denominator || remains FROM exchanges
            WHERE (exchanges.symbol, exchanges.date, exchanges.into_symbol) = (told.symbol, told.date, told.into_symbol)) IS NOT (
          SELECT cash_e6 || ' ' || numerator || ':' || denominator || remains FROM (
            SELECT symbol, date, into_symbol, cash_e6, numerator, denominator, remains, coalesce(written, 1e9) AS written, 1e9 AS replaced FROM exchanges
            UNION ALL SELECT symbol, date, into_symbol, cash_e6, numerator, denominator, remains, written, replaced FROM exchange_revisions) AS version
          WHERE (version.symbol, version.date, version.into_symbol) = (told.symbol, told.date, told.into_symbol)
            AND version.written <= active.morning_write AND version.replaced > active.morning_write))
    OR EXISTS ( -- the close it was marked at, or an open it read, is another now
      SELECT 1 FROM price_data AS bar
      WHERE bar.date = active.date
        AND bar.symbol IN (
          SELECT symbol FROM holdings WHERE holdings.session_id = active.session_id
          UNION SELECT symbol FROM positions WHERE positions.session_id = active.session_id AND symbol IS NOT NULL)
        AND (coalesce(bar.written, 1e9) > active.morning_write AND NOT EXISTS (
            SELECT 1 FROM price_revisions AS known
            WHERE known.symbol = bar.symbol AND known.date = bar.date
              AND known.written <= active.morning_write AND known.replaced > active.morning_write AND known.open = bar.open)
          OR coalesce(bar.written, 1e9) > active.commit_write AND NOT EXISTS (
            SELECT 1 FROM price_revisions AS known
            WHERE known.symbol = bar.symbol AND known.date = bar.date
              AND known.written <= active.commit_write AND known.replaced > active.commit_write AND known.close IS bar.close)))
  ORDER BY model, date`;

type Received = Record<'model' | 'date' | 'day' | 'symbol' | 'since', string> & {
  price: number | null;
  written: number;
};
/** What was received, and what was stored when. */
const RECEIVED = `
  SELECT own.model, own.date, brought.date AS day, into_symbol AS symbol, price_e4 AS price, own.morning_write AS written, was.date AS since
  FROM trading_sessions AS own JOIN trading_sessions AS was ON was.session_id = own.started_from_session_id
    JOIN session_exchanges AS brought ON brought.session_id = own.session_id
    JOIN positions AS paid ON paid.session_id = own.session_id AND paid.symbol = into_symbol AND action_type = 'received'
  WHERE own.status = 'active' AND own.model IN (SELECT value FROM json_each(?))`;
const SPLITS = 'SELECT 1 FROM stock_splits WHERE symbol = ? AND date > ? AND date <= ?';

/**
 * The model-days whose fractions would be paid at another earlier price now, as a market has it. One
 * that splits convert is not looked at.
 */
function fractionsPaidOtherwise(reader: Reader, models: string): string[] {
  const rows = reader.statement(RECEIVED).all(models) as Received[];
  const marked = rows.filter(({ date, day, symbol, price, written, since }) => {
    const [then, now] = [written, null].map((write) => openMarket({ reader, write }, date, []));
    const mark = now?.knownMark(symbol, day);
    if (then?.knownMark(symbol)?.date === date || !mark || mark.date === date) return false;
    const after = mark.date < since ? mark.date : since;
    return mark.price !== price && reader.statement(SPLITS).get(symbol, after, date) === undefined;
  });
  return marked.map(({ model, date }) => `${model} ${date}`);
}

/** The stale model-days of some models as lines, `model date`. */
export function staleByNumbers(database: Database, models: readonly string[]): string[] {
  const all = JSON.stringify(models);
  const rows = database.statement(STALE).all(all);
  const lines = rows.map((row) => `${row['model']} ${row['date']}`);
  return [...new Set([...lines, ...fractionsPaidOtherwise(database, all)])].sort();
}
