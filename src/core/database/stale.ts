import type { Listed } from '#domain/vocabulary.ts';
import {
  adjustedSourcesInSql,
  hasBarsSql,
  sourcesWithDividendsInSql,
  splitsSince,
} from '#database/schema/price-conditions.ts';
import { activeSessions, pickIds } from './session-filters.ts';
import type { Reader } from './database.ts';
import { convertingSplits } from './exchanges.ts';
import { type RunDays, shellOption, staleRemedy } from '#text/sentences.ts';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import { termsKey } from '#settings/terms.ts';
import { type RowOf, text, reads, orNull, query } from './rows.ts';

/**
 * SQL: whether the amount of a row of `dividends` is converted to the shares of its series. An
 * amount as paid is divided by the splits from its ex-date on for a series that is free of split
 * jumps; a split-adjusted amount is multiplied by them for a raw one.
 */
const IS_CONVERTED = `(dividends.basis = 'split_adjusted') <> ${hasBarsSql(adjustedSourcesInSql, 'dividends.symbol')}`;

/** SQL: what a day that starts from a session takes over from it. */
const closeSql = (
  session: string,
) => `(SELECT json_array(${session}.date, ${session}.note, ${session}.unfilled, cash_e4, portfolio_value_e4,
      (SELECT group_concat(symbol || ' ' || quantity ORDER BY symbol) FROM holdings WHERE holdings.session_id = ${session}.session_id))
    FROM positions WHERE positions.session_id = ${session}.session_id ORDER BY action_id DESC LIMIT 1)`;
const START_NOW = `(SELECT session_id FROM trading_sessions AS earlier
    WHERE earlier.model = own.model AND earlier.date < own.date AND earlier.status IN ('active', 'opening')
    ORDER BY earlier.date DESC, earlier.session_id DESC LIMIT 1)`;

/**
 * SQL: whether a session, `own`, would start otherwise now: from the latest day of its model before
 * it, where that is another one that did not close as the one that it started from.
 */
const STARTS_OTHERWISE = `own.started_from_session_id IS NOT ${START_NOW} AND NOT EXISTS (
    SELECT 1 FROM trading_sessions AS was CROSS JOIN trading_sessions AS now ON now.session_id = ${START_NOW}
    WHERE was.session_id = own.started_from_session_id AND ${closeSql('was')} = ${closeSql('now')})`;

/** SQL: the active sessions of a job that would start otherwise now. */
export const CHANGED_STARTS = `SELECT session_id FROM trading_sessions AS own
  WHERE job_id = ? AND status = 'active' AND ${STARTS_OTHERWISE}`;

/** SQL: whether a session, `own`, knew a row of `exchange` as it is now. */
const IS_KNOWN_EXCHANGE = `EXISTS (SELECT 1 FROM session_exchanges AS known
     WHERE known.session_id = own.session_id AND known.symbol = exchange.symbol AND known.date = exchange.date
       AND known.into_symbol = exchange.into_symbol AND known.cash_e6 = exchange.cash_e6 AND known.remains = exchange.remains
       AND known.numerator IS exchange.numerator AND known.denominator IS exchange.denominator
       AND known.splits = ${convertingSplits('symbol')} AND known.into_splits = ${convertingSplits('into_symbol')})`;

type StaleModelDay = RowOf<typeof findStaleDays>;

/**
 * The stale model-days among some sessions, by model and date.
 *
 * Compares what a session knew with what is stored now: the day it started from, the bars of its
 * date (one that was removed has not changed), and of what it held in the morning the splits and
 * the dividends since. A series that is adjusted for splits ignores splits, and one that contains
 * dividends ignores those.
 *
 * The order of the joins is fixed, because there are few rows in each after the first. Whether a
 * series is adjusted is the slowest question, since it reads all bars of one that is not: it is
 * asked last, and only of what differs. A term without columns of the last table, or on the other
 * side of an AND, would be evaluated earlier; hence the CASEs.
 */
export const findStaleDays = reads(
  'all',
  `WITH own AS MATERIALIZED (
     SELECT session_id, model, date, started_from_session_id, pays_dividends
     FROM json_each(?) AS chosen CROSS JOIN trading_sessions ON session_id = chosen.value WHERE status = 'active')
   SELECT model, date FROM own
   WHERE session_id IN (SELECT session_id FROM changed_starts) OR ${STARTS_OTHERWISE}
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_prices AS used USING (session_id)
     CROSS JOIN price_data AS bar ON bar.symbol = used.symbol AND bar.date = own.date
   WHERE open_date IS NOT bar.date OR close_date IS NOT bar.date OR open_e4 IS NOT round(bar.open * 10000)
     OR close_e4 IS NOT round(coalesce(bar.close, bar.open) * 10000)
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_prices AS used USING (session_id)
     CROSS JOIN stock_splits AS split ON split.symbol = used.symbol AND split.date > held_since AND split.date <= own.date
   WHERE CASE WHEN EXISTS (SELECT 1 FROM session_splits AS known
       WHERE known.session_id = own.session_id AND known.symbol = split.symbol AND known.date = split.date
         AND known.numerator = split.numerator AND known.denominator = split.denominator)
     THEN FALSE ELSE NOT ${hasBarsSql(adjustedSourcesInSql, 'split.symbol')} END
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_splits AS known USING (session_id)
   WHERE CASE WHEN EXISTS (SELECT 1 FROM stock_splits AS split WHERE split.symbol = known.symbol AND split.date = known.date)
     THEN FALSE ELSE NOT ${hasBarsSql(adjustedSourcesInSql, 'known.symbol')} END
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_prices AS used USING (session_id)
     CROSS JOIN dividends ON dividends.symbol = used.symbol AND ex_date > held_since AND ex_date <= own.date
   WHERE pays_dividends AND CASE WHEN EXISTS (SELECT 1 FROM session_dividends AS known
       WHERE known.session_id = own.session_id AND known.symbol = dividends.symbol AND known.ex_date = dividends.ex_date
         AND known.cash_e6 = dividends.cash_e6 AND known.basis = dividends.basis
         AND known.splits = CASE WHEN ${splitsSince()} = '' THEN '' WHEN ${IS_CONVERTED} THEN ${splitsSince()} ELSE '' END)
     THEN FALSE ELSE NOT ${hasBarsSql(sourcesWithDividendsInSql, 'dividends.symbol')} END
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_dividends AS known USING (session_id)
   WHERE pays_dividends AND CASE WHEN EXISTS (SELECT 1 FROM dividends
       WHERE dividends.symbol = known.symbol AND dividends.ex_date = known.ex_date)
     THEN FALSE ELSE NOT ${hasBarsSql(sourcesWithDividendsInSql, 'known.symbol')} END
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_prices AS used USING (session_id)
     CROSS JOIN exchanges AS exchange
       ON exchange.symbol = used.symbol AND exchange.date > held_since AND exchange.date <= own.date
   WHERE NOT ${IS_KNOWN_EXCHANGE}
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_exchanges AS brought USING (session_id)
     CROSS JOIN exchanges AS exchange
       ON exchange.symbol = brought.into_symbol AND exchange.date >= brought.date AND exchange.date <= own.date
   WHERE NOT ${IS_KNOWN_EXCHANGE}
   UNION
   SELECT own.model, own.date FROM own CROSS JOIN session_exchanges AS known USING (session_id)
   WHERE NOT EXISTS (SELECT 1 FROM exchanges AS exchange
     WHERE exchange.symbol = known.symbol AND exchange.date = known.date AND exchange.into_symbol = known.into_symbol)
   ORDER BY 1, 2`,
  { model: text, date: text },
  (sessions: readonly { sessionId: number }[]) => [pickIds(sessions)],
);

const TERMS = query('SELECT study, agent_config AS terms FROM jobs WHERE job_id = ?', {
  study: orNull(text),
  terms: text,
});

/**
 * The options of a command that runs days again on the terms of a job: its study, if that has a
 * name, and a job, the same for equal terms.
 */
export function createRerunOptions(reader: Reader) {
  /** By job, and by study and terms. */
  const options = new Map<string, string>();
  return (jobId: string): string => {
    const known = options.get(jobId);
    if (known !== undefined) return known;
    const { study, terms } = TERMS.one(reader, jobId);
    const key = JSON.stringify([study, termsKey(parseAgentConfiguration(terms))]);
    const ofStudy = study === null ? '' : `${shellOption('study', study)} `;
    const option = options.get(key) ?? `${ofStudy}--terms-of ${jobId}`;
    options.set(jobId, option).set(key, option);
    return option;
  };
}

/** Stale model-days, and the remedy as a clause; '' where there are none. */
export type StaleModelDays = Listed<StaleModelDay> & { remedy: string };

/**
 * The stale model-days of some models, in the order of the models and by date; `most` are kept, the
 * rest counted. With a job, only those that it ran.
 */
export function staleModelDays(
  database: Reader,
  models: Iterable<string>,
  { most, jobId }: { most: number; jobId?: string | undefined },
): StaleModelDays {
  const stale: Listed<StaleModelDay> = { total: 0, first: [] };
  const runs: RunDays[] = [];
  for (const model of models) {
    const sessions = [...activeSessions(database, { jobId, model })];
    const found = findStaleDays(database, sessions);
    const dates = new Set(found.map(({ date }) => date));
    const days = sessions.map((own) => ({ ...own, isStale: dates.has(own.date) }));
    stale.total += found.length;
    stale.first.push(...found.slice(0, most - stale.first.length));
    if (found.length > 0) runs.push({ run: model, days });
  }
  const remedy = stale.total === 0 ? '' : staleRemedy(runs, createRerunOptions(database));
  return { ...stale, remedy };
}
