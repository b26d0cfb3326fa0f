import type { CalendarDate } from '../basics/calendar.ts';
import { type ActionType, actionTypes } from '../basics/domain.ts';
import { holdingsOf } from './active-days.ts';
import { countActiveDays, modelsWithSessions } from './session-filters.ts';
import type { Reader } from './database.ts';
import { adjustedSourcesInSql, sourcesWithDividendsInSql } from './schema/price-conditions.ts';
import { dividendBases } from './splits-and-dividends.ts';
import {
  amount,
  distinctValues,
  flag,
  integer,
  oneOf,
  orNull,
  query,
  real,
  type RowOf,
  text,
} from './rows.ts';
import type { PositionRow } from './sessions.ts';

/**
 * What the audit reads. A model-day is read with everything it was computed from; no query here
 * reads current prices or settings.
 */

/** The models that have active model-days, and the number of these. */
export function countActive(reader: Reader): { models: number; modelDays: number } {
  const days = [...modelsWithSessions(reader)].map((model) => countActiveDays(reader, model));
  return {
    models: days.filter((count) => count > 0).length,
    modelDays: days.reduce((sum, count) => sum + count, 0),
  };
}

const NEXT_DATE = query(
  'SELECT date FROM trading_sessions INDEXED BY sessions_in_answer_order WHERE date > ? ORDER BY date LIMIT 1',
  [text],
);

/** The dates that have sessions, in order, one at a time. */
export function auditedDates(reader: Reader): Generator<CalendarDate> {
  return distinctValues(reader, NEXT_DATE);
}

const STARTS = query(
  `SELECT own.session_id AS id, own.status, past.session_id AS pastId, past.status AS pastStatus
   FROM trading_sessions AS own LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   ORDER BY own.session_id DESC`,
  { id: integer, status: text, pastId: orNull(integer), pastStatus: orNull(text) },
);

/**
 * The superseded sessions that active ones depend on: those they started from, and those these
 * started from in turn. Reads from the newest session to the oldest, because a session always starts
 * from an older one.
 */
export function supersededStarts(reader: Reader): Set<number> {
  const needed = new Set<number>();
  for (const { id, status, pastId, pastStatus } of STARTS.iterate(reader))
    if (pastId !== null && pastStatus === 'superseded' && (status === 'active' || needed.has(id)))
      needed.add(pastId);
  return needed;
}

const BEGINNINGS = query(
  `SELECT own.session_id AS id, own.started_at AS startedAt, coalesce(past.completed_at, '') AS pastCompletedAt
   FROM trading_sessions AS own LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   ORDER BY own.session_id`,
  { id: integer, startedAt: text, pastCompletedAt: text },
);

const LAST_STAMP = query(
  `SELECT coalesce(max(max(started_at, iif(completed_at <= ?2, completed_at, started_at))), '') FROM trading_sessions
   WHERE session_id < ?1 AND started_at <= ?2`,
  [text],
);

/** A span of time, as time stamps. */
export interface TimeSpan {
  from: string;
  to: string;
}

/**
 * The spans through which the clock ran more than once, because it was set back: stamps within one
 * of them tell no order. A session begins after those with lower numbers, and after the end of the
 * one that it started from. What was written between the change of the clock and the next session
 * is counted too: a span begins at the last stamp before that session.
 */
export function clockSetBacks(reader: Reader): TimeSpan[] {
  const spans: TimeSpan[] = [];
  let reached = '';
  for (const { id, startedAt, pastCompletedAt } of BEGINNINGS.iterate(reader)) {
    if (pastCompletedAt > reached) reached = pastCompletedAt;
    const last = spans.at(-1);
    if (startedAt >= reached) reached = startedAt;
    else if (last === undefined || startedAt < last.from || reached > last.to)
      spans.push({ from: LAST_STAMP.one(reader, id, startedAt)[0], to: reached });
  }
  return spans;
}

/**
 * The FROM clause of queries that audit or replay sessions: each with its job, and when its job
 * first opened the market of date ?1.
 */
export const COMMITTED_SESSIONS = `FROM trading_sessions AS own
     JOIN (SELECT job_id, min(started_at) AS opened_at FROM trading_sessions WHERE date = ?1 GROUP BY job_id) AS market
       ON market.job_id = own.job_id
     LEFT JOIN jobs ON jobs.job_id = own.job_id`;
/** The end of these queries: the sessions of date ?1 that were committed, in order. */
export const OF_ONE_DATE = `WHERE own.date = ?1 AND own.status IN ('active', 'superseded')
   ORDER BY own.model, own.session_id`;

const SESSIONS = query(
  `SELECT own.session_id AS sessionId, own.date, own.model, own.status, opened_at AS openedAt, own.started_at AS startedAt,
     coalesce(own.completed_at, '') AS completedAt, coalesce(own.initial_cash_e4, 0) AS initialCash,
     CASE WHEN own.started_from_session_id IS NULL
       THEN json_extract(agent_config, '$.initial_cash') END AS configuredCash,
     coalesce(json_extract(agent_config, '$.commission_per_trade'), 0) AS commissionPerTrade,
     coalesce(json_extract(agent_config, '$.commission_bps'), 0) AS commissionBps,
     coalesce(json_extract(agent_config, '$.slippage_bps'), 0) AS slippageBps,
     own.started_from_session_id AS startedFrom, past.model AS pastModel, past.date AS pastDate, past.status AS pastStatus,
     ${executed('buy')} AS buys, ${executed('sell')} AS sells,
     own.pays_dividends AS paysDividends,
     CASE WHEN jobs.job_id IS NOT NULL THEN coalesce(json_extract(agent_config, '$.dividends') = 1, 0) END AS configuredDividends,
     own.note, past.note AS pastNote, ${executed('write_note')} AS notesWritten
   ${COMMITTED_SESSIONS}
     LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   ${OF_ONE_DATE}`,
  {
    sessionId: integer,
    date: text,
    model: text,
    status: oneOf(['active', 'superseded']),
    openedAt: text, // the earliest start of its job's sessions on the date: they share one market, opened just before
    startedAt: text,
    completedAt: text,
    initialCash: amount, // of the first day of a chain only
    configuredCash: orNull(real), // the same as its job's configuration has it, in dollars
    commissionPerTrade: real,
    commissionBps: real,
    slippageBps: real,
    startedFrom: orNull(integer),
    pastModel: orNull(text), // of the day it started from; all four are null when that is missing
    pastDate: orNull(text),
    pastStatus: orNull(text),
    buys: integer, // orders that the model's calls executed, as the tool usage counts them
    sells: integer,
    paysDividends: flag,
    configuredDividends: orNull(flag), // null when its job is missing
    note: orNull(text), // as it is at the end of the day, and of the day it started from
    pastNote: orNull(text),
    notesWritten: integer,
  },
);

function executed(tool: ActionType | 'write_note'): string {
  return `coalesce((SELECT calls - refused FROM tool_usage WHERE session_id = own.session_id AND tool_name = '${tool}'), 0)`;
}

/** A session that has positions, with its record of the day it started from. */
export type AuditedSession = RowOf<typeof SESSIONS>;

/**
 * The sessions of a date that have positions, active and superseded, by model; read one at a time.
 */
export function auditedSessions(
  reader: Reader,
  date: CalendarDate,
): IterableIterator<AuditedSession> {
  return SESSIONS.iterate(reader, date);
}

const records = (rows: string) =>
  query(
    `SELECT action_id AS actionId, action_type AS actionType, symbol, amount, price_e4 AS price, cash_e4 AS cash,
       portfolio_value_e4 AS portfolioValue, daily_profit_e4 AS dailyProfit, daily_return_pct AS dailyReturnPct
     FROM positions WHERE session_id = ? ${rows}`,
    {
      actionId: integer,
      actionType: oneOf(actionTypes),
      symbol: orNull(text),
      amount: orNull(integer),
      price: orNull(amount),
      cash: amount,
      portfolioValue: amount,
      dailyProfit: amount,
      dailyReturnPct: orNull(real),
    },
  );
const RECORDS = records('ORDER BY action_id');
const LAST_RECORD = records('ORDER BY action_id DESC LIMIT 1');

/** A position as it is stored: with what was held only if it is the last one of its session. */
export type LedgerRecord = Omit<PositionRow, 'holdings'> & {
  holdings: ReadonlyMap<string, number> | null;
};

/** The ledger of one session, in order of its actions. */
export function ledgerRecords(reader: Reader, sessionId: number): LedgerRecord[] {
  const found: LedgerRecord[] = RECORDS.all(reader, sessionId).map((row) => ({
    ...row,
    holdings: null,
  }));
  const last = found.at(-1);
  if (last !== undefined) last.holdings = heldAtClose(reader, sessionId);
  return found;
}

/** The last record of a session's ledger; undefined when it has none. */
export function lastRecord(reader: Reader, sessionId: number): PositionRow | undefined {
  const row = LAST_RECORD.get(reader, sessionId);
  return row && { ...row, holdings: heldAtClose(reader, sessionId) };
}

function heldAtClose(reader: Reader, sessionId: number): Map<string, number> {
  return new Map(holdingsOf(reader, sessionId).map(({ symbol, quantity }) => [symbol, quantity]));
}

const LAST_NOTE = query(
  `SELECT tool_input AS input FROM reasoning_logs
   WHERE session_id = ? AND tool_name = 'write_note' AND content NOT LIKE '{"error"%' ORDER BY message_index DESC LIMIT 1`,
  { input: orNull(text) },
);

/**
 * The arguments, as JSON, of a session's last call that wrote a note; undefined when there is none.
 */
export function lastNoteWritten(reader: Reader, sessionId: number): string | null | undefined {
  return LAST_NOTE.get(reader, sessionId)?.input;
}

/**
 * SQL: every version of the rows of a table, each stored from `recordedAt` until `replacedAt`; null
 * for the present one.
 */
const versions = (
  columns: string,
  [table, revisions]: [string, string],
  { where, order }: { where: string; order: string },
) => `
  SELECT ${columns}, recorded_at AS recordedAt, NULL AS replacedAt FROM ${table} WHERE ${where}
  UNION ALL
  SELECT ${columns}, recorded_at AS recordedAt, replaced_at AS replacedAt FROM ${revisions} WHERE ${where}
  ORDER BY ${order}, recordedAt DESC, replacedAt DESC NULLS FIRST`;

const lifetime = { recordedAt: text, replacedAt: orNull(text) };

const bars = (dates: string) =>
  query(
    versions('date, open, close', ['price_data', 'price_revisions'], {
      where: `symbol = ?1 AND ${dates}`,
      order: 'date DESC',
    }),
    { date: text, open: real, close: orNull(real), ...lifetime },
  );
const BARS = bars('date = ?2');
const EARLIER_BARS = bars('date < ?2');

/** A version of a bar, in dollars, with the time for which it was stored. */
export type BarVersion = RowOf<typeof BARS>;

/** Every version of a symbol's bar on a date, the newest first. */
export function barVersions(reader: Reader, symbol: string, date: CalendarDate): BarVersion[] {
  return BARS.all(reader, symbol, date);
}

/** Every version of a symbol's bars before a date, the latest dates first. */
export function earlierBarVersions(
  reader: Reader,
  symbol: string,
  date: CalendarDate,
): IterableIterator<BarVersion> {
  return EARLIER_BARS.iterate(reader, symbol, date);
}

const SPLITS = query(
  versions('symbol, date, numerator, denominator', ['stock_splits', 'stock_split_revisions'], {
    where: 'symbol = ?1',
    order: 'date',
  }),
  { symbol: text, date: text, numerator: integer, denominator: integer, ...lifetime },
);

/** A version of a split, with the time for which it was stored. */
export type SplitVersion = RowOf<typeof SPLITS>;

/** Every version of a symbol's splits, by date, the newest versions first. */
export function splitVersions(reader: Reader, symbol: string): SplitVersion[] {
  return SPLITS.all(reader, symbol);
}

const DIVIDENDS = query(
  versions(
    'symbol, ex_date AS exDate, cash_e6 AS cash, basis',
    ['dividends', 'dividend_revisions'],
    {
      where: 'symbol = ?1',
      order: 'exDate',
    },
  ),
  { symbol: text, exDate: text, cash: integer, basis: oneOf(dividendBases), ...lifetime },
);

/** A version of a dividend as its source tells it, with the time for which it was stored. */
export type DividendVersion = RowOf<typeof DIVIDENDS>;

/** Every version of a symbol's dividends, by ex-date, the newest versions first. */
export function dividendVersions(reader: Reader, symbol: string): DividendVersion[] {
  return DIVIDENDS.all(reader, symbol);
}

/** Whether a symbol had a bar of certain sources at an instant. */
const hadSource = (sources: string) =>
  query(
    `SELECT EXISTS (SELECT 1 FROM price_data WHERE symbol = ?1 AND source IN (${sources}) AND recorded_at <= ?2)
       OR EXISTS (SELECT 1 FROM price_revisions WHERE symbol = ?1 AND source IN (${sources})
         AND recorded_at <= ?2 AND replaced_at > ?2)`,
    [flag],
  );
const IS_ADJUSTED = hadSource(adjustedSourcesInSql);
const HAS_DIVIDENDS = hadSource(sourcesWithDividendsInSql);

/**
 * Whether a symbol had bars free of split jumps at an instant; splits were not applied to it then.
 */
export function wasAdjusted(reader: Reader, symbol: string, at: string): boolean {
  return IS_ADJUSTED.one(reader, symbol, at)[0] === 1;
}

/**
 * Whether a symbol had bars whose prices contain dividends at an instant; none were paid on it
 * then.
 */
export function hadDividendsInPrices(reader: Reader, symbol: string, at: string): boolean {
  return HAS_DIVIDENDS.one(reader, symbol, at)[0] === 1;
}
