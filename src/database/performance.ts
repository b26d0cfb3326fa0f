import { type CalendarDate, EARLIEST_DATE } from '../calendar.ts';
import { parseAgentConfiguration, universeOf } from '../configuration.ts';
import type { ActionType } from '../domain.ts';
import type { Money } from '../money.ts';
import type { Database } from './database.ts';
import { type Usage, sumOf } from './usage.ts';

/** Which model-days the figures are about; an absent filter lets all through. Dates are inclusive. */
export interface PerformanceFilters {
  jobId?: string | undefined;
  model?: string | undefined;
  startDate?: CalendarDate | undefined;
  endDate?: CalendarDate | undefined;
}

/** An active model-day, with the date of the day it started from; null when it started from the initial cash. */
export interface ChosenDay {
  sessionId: number;
  jobId: string;
  model: string;
  date: CalendarDate;
  startDate: CalendarDate | null;
}

/** The active model-days that the filters let through, by model and date. */
export function chosenDays(database: Database, { jobId, model, startDate, endDate }: PerformanceFilters): ChosenDay[] {
  const filters: [condition: string, value: string | undefined][] = [
    ['chosen.job_id = ?', jobId],
    ['chosen.model = ?', model],
    ['chosen.date >= ?', startDate],
    ['chosen.date <= ?', endDate],
  ];
  const given = filters.filter((filter): filter is [string, string] => filter[1] !== undefined);
  const rows = rowsOf(
    database,
    `SELECT chosen.session_id, chosen.job_id, chosen.model, chosen.date, past.date
     FROM trading_sessions AS chosen LEFT JOIN trading_sessions AS past ON past.session_id = chosen.started_from_session_id
     WHERE chosen.status = 'active'${given.map(([condition]) => ` AND ${condition}`).join('')}
     ORDER BY chosen.model, chosen.date`,
  ).all(...given.map(([, value]) => value));
  const jobs = new Map<string, string>(); // one text per job, not one per row
  return (rows as unknown as [number, string, string, string, string | null][]).map(([sessionId, job, name, date, start]) => {
    const known = jobs.get(job) ?? job;
    jobs.set(job, known);
    return { sessionId, jobId: known, model: name, date, startDate: start };
  });
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
  WITH RECURSIVE lineage (session_id) AS (
    SELECT value FROM json_each(?)
    UNION SELECT started_from_session_id FROM lineage JOIN trading_sessions USING (session_id)
    WHERE started_from_session_id IS NOT NULL)
  SELECT session_id, date, started_from_session_id, initial_cash_e4, action_type, symbol, amount, price_e4, cash_e4,
    portfolio_value_e4, daily_profit_e4
  FROM lineage JOIN trading_sessions USING (session_id) JOIN positions USING (session_id)
  ORDER BY date, session_id, action_id`;

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
 * past. Committed days never change, so what is read later, piece by piece, is still the state of when they were chosen.
 */
export function ledgerDays(database: Database, sessionIds: readonly number[]): LedgerDay[] {
  const rows = rowsOf(database, LEDGER).all(JSON.stringify(sessionIds)) as unknown as LedgerRow[];
  const days: LedgerDay[] = [];
  for (const [
    sessionId,
    date,
    startedFrom,
    initialCash,
    actionType,
    symbol,
    amount,
    price,
    cash,
    value,
    profit,
  ] of rows) {
    let day = days.at(-1);
    if (day?.sessionId !== sessionId) {
      day = { sessionId, date, startedFrom, initialCash, actions: [], cash, value, profit };
      days.push(day);
    }
    day.actions.push({ actionType, symbol, amount, price, cash });
    [day.cash, day.value, day.profit] = [cash, value, profit];
  }
  return days;
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

export function usageTotals(database: Database, sessionIds: readonly number[]): UsageTotals {
  return database.statement(USAGE).get(JSON.stringify(sessionIds)) as never;
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

/** A statement whose rows are arrays: a third less time than objects, where rows are many. */
function rowsOf(database: Database, sql: string) {
  const statement = database.statement(sql);
  statement.setReturnArrays(true);
  return statement;
}
