import type { Listed } from '../basics/domain.ts';
import type { Steps } from '../basics/turns.ts';
import { sourcesWithDividendsInSql } from './schema/price-conditions.ts';
import { activeSessions, jsonIds } from './session-filters.ts';
import type { Reader } from './database.ts';
import { type RunDays, staleRemedy } from '../basics/sentences.ts';
import { query, type RowOf, text } from './rows.ts';

/**
 * Whether a session, `own`, was computed from a state that has changed since: its latest earlier
 * active day is another one, a bar that valued it differs, or a split or a dividend of something it
 * held in the morning does. Triggers keep these comparisons; only whether a series is adjusted for
 * splits, or contains dividends, and so ignores them, is looked up here.
 */
const IS_STALE = `
  (own.start_changed OR EXISTS (
    SELECT 1 FROM session_prices AS used
    WHERE used.session_id = own.session_id AND (used.price_changed OR used.split_changed OR used.dividend_changed)
      AND (used.price_changed
        OR used.split_changed AND NOT EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = used.symbol AND adjusted)
        OR used.dividend_changed AND NOT EXISTS (
          SELECT 1 FROM price_data WHERE price_data.symbol = used.symbol AND source IN (${sourcesWithDividendsInSql})))))`;

/** For some sessions: a JSON array of their ids. */
const STALE = query(
  `SELECT model, date FROM json_each(?) AS chosen CROSS JOIN trading_sessions AS own ON own.session_id = chosen.value
   WHERE status = 'active' AND ${IS_STALE} ORDER BY model, date`,
  { model: text, date: text },
);

export type StaleModelDay = RowOf<typeof STALE>;

/** The stale model-days among some sessions, by model and date. */
export function staleAmong(
  reader: Reader,
  sessions: readonly { sessionId: number }[],
): StaleModelDay[] {
  return STALE.all(reader, jsonIds(sessions));
}

/** Stale model-days, and the remedy as a clause; '' where there are none. */
export type StaleModelDays = Listed<StaleModelDay> & { remedy: string };

/**
 * The stale model-days of some models, in the order of the models and by date, step by step; `most`
 * are kept, the rest counted.
 */
export function* staleModelDays(
  database: Reader,
  models: Iterable<string>,
  most: number,
): Steps<StaleModelDays> {
  const stale: Listed<StaleModelDay> = { total: 0, first: [] };
  const runs: RunDays[] = [];
  for (const model of models) {
    const days: { date: string; isStale: boolean }[] = [];
    const sessions = [...activeSessions(database, { model })];
    const found = staleAmong(database, sessions);
    const dates = new Set(found.map(({ date }) => date));
    days.push(...sessions.map(({ date }) => ({ date, isStale: dates.has(date) })));
    stale.total += found.length;
    stale.first.push(...found.slice(0, most - stale.first.length));
    yield null;
    if (days.some(({ isStale }) => isStale)) runs.push({ run: model, days });
  }
  return { ...stale, remedy: stale.total === 0 ? '' : staleRemedy(runs) };
}
