import { type CalendarDate, EARLIEST_DATE } from '../../calendar.ts';
import { parseAgentConfiguration, universeOf } from '../../configuration.ts';
import type { ActionType } from '../../domain.ts';
import type { Money } from '../../money.ts';
import type { Steps } from '../../turns.ts';
import { type ChosenSession, type SessionFilters, SESSIONS_PER_STEP, committedSessions } from '../chosen.ts';
import type { Database } from '../database.ts';
import { PARTS, portionsOf, rowsOf } from './results.ts';
import { type Usage, sumOf } from '../usage.ts';

/** An active model-day, with the date of the day it started from; null when it started from the initial cash. */
export interface ChosenDay extends ChosenSession {
  startDate: CalendarDate | null;
}

const STARTS = `
  SELECT past.date FROM json_each(?) AS chosen JOIN trading_sessions AS own ON own.session_id = chosen.value
    LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
  ORDER BY chosen.key`;

/** The model-days that the filters let through as of a change of the ledger, by date and model; some at a time. */
export function* chosenDays(database: Database, filters: SessionFilters, at: number): Generator<ChosenDay[]> {
  for (const sessions of committedSessions(database, filters, at)) {
    const ids = sessions.map(({ sessionId }) => sessionId);
    const starts = rowsOf(database, STARTS).all(JSON.stringify(ids)) as unknown as [CalendarDate | null][];
    yield sessions.map((session, index) => ({ ...session, startDate: starts[index]?.[0] ?? null }));
  }
}

/** One action with the cash after it. */
export interface LedgerAction {
  actionType: ActionType;
  symbol: string | null;
  amount: number | null;
  price: Money | null;
  cash: Money;
}

/** A model-day's ledger: how it started, its actions, and how it closed. */
export interface LedgerDay {
  sessionId: number;
  date: CalendarDate;
  startedFrom: number | null;
  /** Null unless it started from nothing else. */
  initialCash: Money | null;
  actions: LedgerAction[];
  /** At the close, as are the value and the profit of the day. */
  cash: Money;
  value: Money;
  profit: Money;
}

const LEDGER = `
  SELECT trading_sessions.session_id, date, started_from_session_id, initial_cash_e4, action_type, symbol, amount, price_e4,
    cash_e4, portfolio_value_e4, daily_profit_e4 ${PARTS}`;

type LedgerRow = [
  sessionId: number,
  date: string,
  startedFrom: number | null,
  initialCash: Money | null,
  actionType: ActionType,
  symbol: string | null,
  amount: number | null,
  price: Money | null,
  cash: Money,
  value: Money,
  profit: Money,
];

/**
 * The ledgers of some model-days of one model and of all that they started from, back to the initial cash, each after its
 * past. Committed days never change, so what is read later, step by step, is still the state of when they were chosen.
 */
export function* ledgerDays(database: Database, sessionIds: readonly number[]): Steps<LedgerDay[]> {
  const days: LedgerDay[] = [];
  const all = [...sessionIds, ...(yield* pastOf(database, sessionIds))];
  for (let start = 0; start < all.length; start += SESSIONS_PER_STEP) {
    for (const portion of portionsOf(database, all.slice(start, start + SESSIONS_PER_STEP))) {
      const rows = rowsOf(database, LEDGER).all(JSON.stringify(portion)) as unknown as LedgerRow[];
      for (const row of rows) addRow(days, row);
      yield null;
    }
  }
  return days.sort((one, other) => (one.date < other.date ? -1 : one.date > other.date ? 1 : one.sessionId - other.sessionId));
}

function addRow(
  days: LedgerDay[],
  [sessionId, date, startedFrom, initialCash, actionType, symbol, amount, price, cash, value, profit]: LedgerRow,
): void {
  let day = days.at(-1);
  if (day?.sessionId !== sessionId) {
    day = { sessionId, date, startedFrom, initialCash, actions: [], cash, value, profit };
    days.push(day);
  }
  day.actions.push({ actionType, symbol, amount, price, cash });
  [day.cash, day.value, day.profit] = [cash, value, profit];
}

const STARTED_FROM = `
  SELECT started_from_session_id FROM json_each(?) AS chosen JOIN trading_sessions ON session_id = chosen.value
  WHERE started_from_session_id IS NOT NULL`;

/** A session and those before it, the newest first. */
const LINEAGE = `
  WITH RECURSIVE lineage (session_id, past, place) AS (
    SELECT session_id, started_from_session_id, 1 FROM trading_sessions WHERE session_id = ?
    UNION ALL
    SELECT own.session_id, own.started_from_session_id, place + 1
    FROM lineage JOIN trading_sessions AS own ON own.session_id = lineage.past WHERE place < ${SESSIONS_PER_STEP})
  SELECT session_id, past FROM lineage ORDER BY place`;

/** The sessions that some sessions go back to and that are none of them. */
function* pastOf(database: Database, sessionIds: readonly number[]): Steps<number[]> {
  const known = new Set(sessionIds);
  const past: number[] = [];
  for (let start = 0; start < sessionIds.length; start += SESSIONS_PER_STEP) {
    const ids = sessionIds.slice(start, start + SESSIONS_PER_STEP);
    const starts = rowsOf(database, STARTED_FROM).all(JSON.stringify(ids)) as unknown as [number][];
    for (const [first] of starts) {
      let next: number | null = first;
      while (next !== null && !known.has(next)) {
        const lineage = rowsOf(database, LINEAGE).all(next) as unknown as [number, number | null][];
        const end = lineage.findIndex(([id]) => known.has(id));
        const fresh = end === -1 ? lineage : lineage.slice(0, end);
        for (const [id] of fresh) known.add(id);
        past.push(...fresh.map(([id]) => id));
        next = fresh.at(-1)?.[1] ?? null;
        yield null;
      }
    }
    yield null;
  }
  return past;
}

/** What some model-days took, over all attempts of their jobs; null where nobody knows of any of them. */
export interface UsageTotals extends Usage {
  /** Of how many model-days the cost is not known. */
  daysWithoutCost: number;
}

const USAGE = `
  SELECT total(job_details.steps) AS steps, total(requests) AS requests, ${sumOf('prompt_tokens')} AS promptTokens,
    ${sumOf('completion_tokens')} AS completionTokens, ${sumOf('cached_tokens')} AS cachedTokens,
    ${sumOf('reasoning_tokens')} AS reasoningTokens, ${sumOf('cost_usd')} AS costUsd,
    count(*) - count(cost_usd) AS daysWithoutCost
  FROM json_each(?) AS chosen JOIN trading_sessions ON session_id = chosen.value
    JOIN job_details USING (job_id, date, model)`;

export function* usageTotals(database: Database, sessionIds: readonly number[]): Steps<UsageTotals> {
  let totals = database.statement(USAGE).get('[]') as never as UsageTotals;
  for (let start = 0; start < sessionIds.length; start += SESSIONS_PER_STEP) {
    const ids = sessionIds.slice(start, start + SESSIONS_PER_STEP);
    totals = added(totals, database.statement(USAGE).get(JSON.stringify(ids)) as never);
    yield null;
  }
  return totals;
}

function added(one: UsageTotals, other: UsageTotals): UsageTotals {
  const sum = (name: keyof UsageTotals) => {
    const [left, right] = [one[name], other[name]];
    return left === null || right === null ? (left ?? right) : left + right;
  };
  return Object.fromEntries((Object.keys(one) as (keyof UsageTotals)[]).map((name) => [name, sum(name)])) as never;
}

/** The universe of the newest job that ran one of these model-days; empty when there are none. */
export function universeOfDays(database: Database, sessionIds: readonly number[]): readonly string[] {
  const row = database
    .statement(
      `SELECT agent_config FROM jobs WHERE job_id IN (
         SELECT job_id FROM trading_sessions WHERE session_id IN (SELECT value FROM json_each(?)))
       ORDER BY created_at DESC LIMIT 1`,
    )
    .get(JSON.stringify(sessionIds));
  return row === undefined ? [] : universeOf(parseAgentConfiguration(JSON.parse(String(row['agent_config']))));
}

/** The first and the last date on which a symbol has a bar; null when it has none. */
export function priceSpan(database: Database, symbol: string): { first: CalendarDate; last: CalendarDate } | null {
  const row = database
    .statement(`SELECT min(date) AS first, max(date) AS last FROM price_data WHERE symbol = ? AND date >= '${EARLIEST_DATE}'`)
    .get(symbol) as { first: string | null; last: string | null };
  return row.first === null ? null : (row as never);
}

/** A symbol's bars between two dates, and its last one before them, in order: date, open, close in raw dollars. */
export function barsBetween(
  database: Database,
  symbol: string,
  { from, to }: { from: CalendarDate; to: CalendarDate },
): { date: CalendarDate; open: number; close: number | null }[] {
  const rows = rowsOf(
    database,
    `SELECT date, open, close FROM price_data
     WHERE symbol = ?1 AND date <= ?3
       AND date >= coalesce((SELECT max(date) FROM price_data WHERE symbol = ?1 AND date <= ?2), ?2)
     ORDER BY date`,
  ).all(symbol, from, to);
  return (rows as unknown as [string, number, number | null][]).map(([date, open, close]) => ({ date, open, close }));
}
