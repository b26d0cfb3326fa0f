import type { CalendarDate } from '../calendar.ts';
import type { ActionType } from '../domain.ts';
import type { Money } from '../money.ts';
import type { Reader } from './database.ts';
import { adjustedSourcesInSql } from './price-tables.ts';
import { query, text } from './rows.ts';
import type { PositionRow } from './sessions.ts';

/** What the audit reads. A model-day is read with everything it was computed from; no query here reads current prices or settings. */

/** A session that has positions, with its record of the day it started from. */
export interface AuditedSession {
  sessionId: number;
  date: CalendarDate;
  model: string;
  jobId: string;
  status: 'active' | 'superseded';
  startedAt: string;
  completedAt: string;
  /** For the first day of a chain: the initial cash in its record, and the initial cash in its job's configuration, in dollars. */
  initialCash: Money | null;
  configuredCash: number | null;
  /** The trading costs in its job's configuration. */
  commissionPerTrade: number;
  commissionBps: number;
  slippageBps: number;
  startedFrom: number | null;
  /** The day it started from; all null when that session is missing. */
  pastModel: string | null;
  pastDate: CalendarDate | null;
  pastStatus: string | null;
  pastCompletedAt: string | null;
  /** Executed orders, as counted in the tool usage. */
  buys: number;
  sells: number;
}

/** The models that have a ledger, by name, one at a time: one look-up each, however many model-days there are. */
export function* auditedModels(reader: Reader): Generator<string> {
  const next = reader.statement(
    `SELECT model, EXISTS (SELECT 1 FROM trading_sessions AS own WHERE own.model = later.model AND status = 'active') AS has
     FROM (SELECT model FROM trading_sessions INDEXED BY sessions_by_model WHERE model > ? ORDER BY model LIMIT 1) AS later`,
  );
  for (let row = next.get(''); row !== undefined; row = next.get(row['model'] as string))
    if (row['has'] === 1) yield String(row['model']);
}

/** The dates that have sessions, in order, one at a time. */
export function* auditedDates(reader: Reader): Generator<CalendarDate> {
  const next = reader.statement(
    'SELECT date FROM trading_sessions INDEXED BY sessions_in_answer_order WHERE date > ? ORDER BY date LIMIT 1',
  );
  for (let row = next.get(''); row !== undefined; row = next.get(row['date'] as string)) yield String(row['date']);
}

export function countActiveModelDays(reader: Reader, model: string): number {
  const row = reader.statement(`SELECT count(*) AS count FROM trading_sessions WHERE model = ? AND status = 'active'`);
  return Number(row.get(model)?.['count']);
}

/** How many sessions one statement looks at. */
const STARTS_PER_STEP = 500;

const STARTS = `
  SELECT own.session_id AS id, own.status, past.session_id AS pastId, past.status AS pastStatus
  FROM trading_sessions AS own LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
  WHERE own.session_id < ? ORDER BY own.session_id DESC LIMIT ${STARTS_PER_STEP}`;

/**
 * The superseded sessions that active ones depend on: those they started from, and those these started from in turn. Reads
 * from the newest session to the oldest, in steps, because a session always starts from an older one.
 */
export function* supersededStarts(reader: Reader): Generator<void, Set<number>> {
  const needed = new Set<number>();
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const rows = reader.statement(STARTS).all(before) as never as StartRow[];
    for (const { id, status, pastId, pastStatus } of rows)
      if (pastStatus === 'superseded' && (status === 'active' || needed.has(id))) needed.add(pastId);
    const last = rows.at(-1);
    if (last === undefined) return needed;
    before = last.id;
    yield;
  }
}

interface StartRow {
  id: number;
  status: string;
  pastId: number;
  pastStatus: string | null;
}

const SESSIONS = `
  SELECT own.session_id AS sessionId, own.date, own.model, own.job_id AS jobId, own.status, own.started_at AS startedAt,
    own.completed_at AS completedAt, own.initial_cash_e4 AS initialCash,
    CASE WHEN own.started_from_session_id IS NULL
      THEN json_extract(agent_config, '$.initial_cash') END AS configuredCash,
    coalesce(json_extract(agent_config, '$.commission_per_trade'), 0) AS commissionPerTrade,
    coalesce(json_extract(agent_config, '$.commission_bps'), 0) AS commissionBps,
    coalesce(json_extract(agent_config, '$.slippage_bps'), 0) AS slippageBps,
    own.started_from_session_id AS startedFrom, past.model AS pastModel, past.date AS pastDate, past.status AS pastStatus,
    past.completed_at AS pastCompletedAt, ${executed('buy')} AS buys, ${executed('sell')} AS sells
  FROM trading_sessions AS own LEFT JOIN jobs ON jobs.job_id = own.job_id
    LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
  WHERE own.date = ?1 AND own.status IN ('active', 'superseded')
  ORDER BY own.model, own.session_id`;

function executed(tool: ActionType): string {
  return `coalesce((SELECT calls - refused FROM tool_usage WHERE session_id = own.session_id AND tool_name = '${tool}'), 0)`;
}

/** The sessions of a date that have positions, active and superseded, by model. */
export function auditedSessions(reader: Reader, date: CalendarDate): AuditedSession[] {
  return reader.statement(SESSIONS).all(date) as never;
}

/** A position as it is stored. */
export type LedgerRecord = PositionRow;

const RECORDS = `
  SELECT action_id AS actionId, action_type AS actionType, symbol, amount, price_e4 AS price, cash_e4 AS cash,
    portfolio_value_e4 AS portfolioValue, daily_profit_e4 AS dailyProfit, daily_return_pct AS dailyReturnPct,
    (SELECT json_group_array(json_array(symbol, quantity)) FROM holdings WHERE holdings.position_id = positions.position_id) AS holdings
  FROM positions WHERE session_id = ? ORDER BY action_id`;

/** The ledger of one session, in order of its actions. */
export function ledgerRecords(reader: Reader, sessionId: number): LedgerRecord[] {
  const rows = reader.statement(RECORDS).all(sessionId) as never as (LedgerRecord & { holdings: string })[];
  return rows.map((row) => ({ ...row, holdings: new Map(JSON.parse(row.holdings)) }));
}

/** The earliest start of a job's sessions on a date: its models share one market, opened just before. */
export function firstStartOf(reader: Reader, { jobId, date }: { jobId: string; date: CalendarDate }): string {
  const row = reader
    .statement('SELECT min(started_at) AS at FROM trading_sessions WHERE job_id = ? AND date = ?')
    .get(jobId, date);
  return String(row?.['at']);
}

/** When a row took its values, and when it lost them; null while it has them. */
export interface Lifetime {
  recordedAt: string;
  replacedAt: string | null;
}

/** A version of a bar, in dollars, with the time for which it was stored. */
export interface BarVersion extends Lifetime {
  symbol: string;
  date: CalendarDate;
  open: number;
  close: number | null;
}

const BAR = 'symbol, date, open, close, recorded_at AS recordedAt';
const BARS = `
  SELECT ${BAR}, NULL AS replacedAt FROM json_each(?1) JOIN price_data ON symbol = value AND date = ?2
  UNION ALL
  SELECT ${BAR}, replaced_at AS replacedAt FROM json_each(?1) JOIN price_revisions ON symbol = value AND date = ?2`;

/** Every version of the bars of some symbols on a date. */
export function barVersions(reader: Reader, date: CalendarDate, symbols: readonly string[]): BarVersion[] {
  return reader.statement(BARS).all(JSON.stringify(symbols), date) as never;
}

const EARLIER_BARS = `
  SELECT ${BAR}, NULL AS replacedAt FROM price_data WHERE symbol = ?1 AND date < ?2
  UNION ALL
  SELECT ${BAR}, replaced_at AS replacedAt FROM price_revisions WHERE symbol = ?1 AND date < ?2
  ORDER BY date DESC`;

/** Every version of a symbol's bars before a date, the latest dates first. */
export function earlierBarVersions(reader: Reader, date: CalendarDate, symbol: string): IterableIterator<BarVersion> {
  return reader.statement(EARLIER_BARS).iterate(symbol, date) as never;
}

export interface SplitVersion extends Lifetime {
  symbol: string;
  date: CalendarDate;
  numerator: number;
  denominator: number;
}

const SPLIT = 'symbol, date, numerator, denominator, recorded_at AS recordedAt';
const CHOSEN = 'symbol IN (SELECT value FROM json_each(?1)) AND date > ?2 AND date <= ?3';
const SPLITS = `
  SELECT ${SPLIT}, NULL AS replacedAt FROM stock_splits WHERE ${CHOSEN}
  UNION ALL
  SELECT ${SPLIT}, replaced_at AS replacedAt FROM stock_split_revisions WHERE ${CHOSEN}
  ORDER BY date, symbol`;

const SPLIT_SYMBOLS = query('SELECT symbol FROM stock_splits UNION SELECT symbol FROM stock_split_revisions', [text]);

/** The symbols that ever had a split. */
export function symbolsWithSplits(reader: Reader): Set<string> {
  return new Set(SPLIT_SYMBOLS.all(reader).flat());
}

/** Every version of the splits of some symbols after one date up to another, in order. */
export function splitVersions(
  reader: Reader,
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): SplitVersion[] {
  return reader.statement(SPLITS).all(JSON.stringify(symbols), after, upTo) as never;
}

const IS_ADJUSTED = `
  SELECT EXISTS (SELECT 1 FROM price_data WHERE symbol = ?1 AND adjusted AND recorded_at <= ?2)
    OR EXISTS (SELECT 1 FROM price_revisions WHERE symbol = ?1 AND source IN (${adjustedSourcesInSql})
      AND recorded_at <= ?2 AND replaced_at > ?2) AS adjusted`;

/** Whether a symbol had bars free of split jumps at an instant; splits were not applied to it then. */
export function wasAdjusted(reader: Reader, symbol: string, at: string): boolean {
  return reader.statement(IS_ADJUSTED).get(symbol, at)?.['adjusted'] === 1;
}

/** Model-days that do not match their sessions, whatever their figures; runs in a separate process, because it reads every row. */
export const MISFITS = `
  SELECT model, date, session_id AS sessionId, status, 'it is ' || status || ' and has positions' AS problem
  FROM trading_sessions
  WHERE status IN ('running', 'failed') AND EXISTS (SELECT 1 FROM positions WHERE positions.session_id = trading_sessions.session_id)
  UNION ALL
  SELECT model, date, session_id, own.status, 'its model-day in job ' || job_id || ' is ' || job_details.status || ', not completed'
  FROM trading_sessions AS own JOIN job_details USING (job_id, date, model)
  WHERE own.status IN ('active', 'superseded') AND job_details.status <> 'completed'
  UNION ALL
  SELECT model, date, NULL, 'missing', 'it is completed in job ' || job_id || ' and has no session with positions there'
  FROM job_details
  WHERE status = 'completed' AND NOT EXISTS (
    SELECT 1 FROM trading_sessions AS own WHERE own.job_id = job_details.job_id AND own.date = job_details.date
      AND own.model = job_details.model AND own.status IN ('active', 'superseded'))
  ORDER BY 1, 2
  LIMIT 1000`;
