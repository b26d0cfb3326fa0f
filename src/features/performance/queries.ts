import { byDate, type CalendarDate, EARLIEST_DATE, type DateSpan } from '#time/calendar.ts';
import { actionTypes } from '#domain/vocabulary.ts';
import type { Money } from '#money/money.ts';
import { dateBounds, pickIds, type JobWindow, type DateWindow } from '#database/session-filters.ts';
import type { Database, Reader } from '#database/database.ts';
import {
  amount,
  type ColumnType,
  flag,
  integer,
  oneOf,
  orNull,
  query,
  reads,
  real,
  type RowOf,
  text,
} from '#database/rows.ts';
import { sumSql } from '#database/usage.ts';
import { findStaleDays } from '#database/stale.ts';
import { knownRuns, type Run } from '#database/records/model-records.ts';
import { explainExchanges, type LedgerAction } from './exchange-evidence.ts';
import { type OpeningLot, openingLots } from './holdings-queries.ts';

/** Without returns no position is looked up. By model in the order of an index. */
const daysQuery = <const Columns extends readonly ColumnType<unknown>[]>(
  more: string,
  columns: Columns,
) =>
  query(
    `SELECT model, session_id, job_id, date, start_date, started_from_session_id, pays_dividends ${more}
     FROM json_each(?1) AS chosen CROSS JOIN daily_returns ON model = chosen.value
     WHERE date BETWEEN ?2 AND ?3 AND (?4 IS NULL OR job_id = ?4)`,
    [text, integer, text, text, orNull(text), orNull(integer), flag, ...columns],
  );

const DAYS = daysQuery('', []);

const RETURNS = daysQuery(', daily_return', [orNull(real)]);

/** An active model-day, with the date and the session that it started from. */
export interface ActiveDay {
  sessionId: number;
  jobId: string;
  model: string;
  date: CalendarDate;
  /** This and the next are null for the initial cash. */
  startDate: CalendarDate | null;
  startedFrom: number | null;
  paysDividends: boolean;
  /** Null until `markStale` has found out. */
  isStale: boolean | null;
}

/** One with its return as a fraction; null where it started from a value of 0. */
export interface DayWithReturn extends ActiveDay {
  dailyReturn: number | null;
  /** The models that answered, in their providers' names: none where no provider said. */
  servedBy: readonly string[];
}

/** Its dates, and its job or null. */
function windowBounds({ jobId, ...window }: JobWindow) {
  return [...dateBounds(window), jobId ?? null];
}

/** The active model-days of some runs in a window, by run and date; of runs that have any. */
export function activeDays(
  reader: Reader,
  runs: readonly string[],
  window: JobWindow,
): Map<string, ActiveDay[]> {
  return groupByRun(DAYS.all(reader, runs, ...windowBounds(window)).map(toActiveDay));
}

/** The same with their returns, and which are stale. */
export function activeDaysWithReturns(
  reader: Reader,
  runs: readonly string[],
  window: JobWindow,
): Map<string, DayWithReturn[]> {
  const all = RETURNS.all(reader, runs, ...windowBounds(window)).map((row) =>
    Object.assign(toActiveDay(row), { dailyReturn: row[7], servedBy: [] as string[] }),
  );
  markStale(reader, all);
  const bySession = new Map(all.map((day) => [day.sessionId, day]));
  for (const [sessionId, model] of SERVED.iterate(reader, [...bySession.keys()]))
    bySession.get(sessionId)?.servedBy.push(model);
  return groupByRun(all);
}

function toActiveDay([model, sessionId, jobId, date, startDate, startedFrom, pays]:
  | RowOf<typeof DAYS>
  | RowOf<typeof RETURNS>): ActiveDay {
  const paysDividends = pays === 1;
  return { sessionId, jobId, model, date, startDate, startedFrom, paysDividends, isStale: null };
}

function groupByRun<Day extends ActiveDay>(all: readonly Day[]): Map<string, Day[]> {
  const runs = Map.groupBy(all, ({ model }) => model);
  for (const days of runs.values()) days.sort(byDate);
  return runs;
}

/** Finds out which of some days are stale, unless that is known. */
export function markStale(reader: Reader, days: readonly ActiveDay[]): void {
  const unknown = days.filter(({ isStale }) => isStale === null);
  if (unknown.length === 0) return;
  const stale = new Set(
    findStaleDays(reader, unknown).map(({ model, date }) => `${date} ${model}`),
  );
  for (const day of unknown) day.isStale = stale.has(`${day.date} ${day.model}`);
}

const LEDGER = query(
  `WITH RECURSIVE chain (session_id) AS (
     SELECT value FROM json_each(?)
     UNION SELECT started_from_session_id FROM chain CROSS JOIN trading_sessions USING (session_id)
     WHERE started_from_session_id IS NOT NULL)
   SELECT trading_sessions.session_id, date, started_from_session_id, initial_cash_e4, action_type, symbol, amount, price_e4,
     cash_e4, portfolio_value_e4, daily_profit_e4
   FROM chain CROSS JOIN trading_sessions USING (session_id) CROSS JOIN positions USING (session_id)
   ORDER BY date, trading_sessions.session_id, action_id`,
  [
    integer,
    text,
    orNull(integer),
    orNull(amount),
    oneOf(actionTypes),
    orNull(text),
    orNull(integer),
    orNull(amount),
    amount,
    amount,
    amount,
  ],
);

/** A model-day's ledger: its starting state, its actions and its close. */
export interface LedgerDay {
  sessionId: number;
  date: CalendarDate;
  startedFrom: number | null;
  /** Null unless the day started from it. */
  initialCash: Money | null;
  actions: LedgerAction[];
  /** At the close, as are the value and profit of the day. */
  cash: Money;
  value: Money;
  profit: Money;
  /** Of an opening: what it held, by symbol and oldest first. */
  lots?: readonly OpeningLot[];
}

/**
 * The ledgers of some model-days of one model, and of all days before those, back to the initial
 * cash or to an opening, in chain order.
 */
export function ledgerDays(database: Reader, sessionIds: Iterable<number>): LedgerDay[] {
  const days: LedgerDay[] = [];
  for (const row of LEDGER.iterate(database, [...sessionIds])) addLedgerRow(days, row);
  for (const day of days) explainExchanges(database, day);
  // A chain begins with the initial cash or with an opening, and only an opening has lots.
  const beginnings = days.filter((day) => day.startedFrom === null);
  const lots = Map.groupBy(openingLots(database, beginnings), ({ sessionId }) => sessionId);
  for (const day of beginnings) day.lots = lots.get(day.sessionId) ?? [];
  return days;
}

function addLedgerRow(
  days: LedgerDay[],
  [
    sessionId,
    date,
    startedFrom,
    initialCash,
    actionType,
    symbol,
    shares,
    price,
    cash,
    value,
    profit,
  ]: RowOf<typeof LEDGER>,
): void {
  let day = days.at(-1);
  if (day?.sessionId !== sessionId) {
    day = { sessionId, date, startedFrom, initialCash, actions: [], cash, value, profit };
    days.push(day);
  }
  day.actions.push({ actionType, symbol, amount: shares, price, cash });
  [day.cash, day.value, day.profit] = [cash, value, profit];
}

const USAGE = query(
  `SELECT trading_sessions.model, total(job_details.steps) AS steps, total(requests) AS requests, ${sumSql('prompt_tokens')},
     ${sumSql('completion_tokens')}, ${sumSql('cached_tokens')}, ${sumSql('reasoning_tokens')},
     count(*) - count(cost_usd) AS model_days_without_cost, ${sumSql('cost_usd')}
   FROM json_each(?) AS chosen JOIN trading_sessions ON session_id = chosen.value
     JOIN job_details USING (job_id, date, model) GROUP BY trading_sessions.model`,
  {
    model: text,
    steps: real,
    requests: real,
    prompt_tokens: orNull(real),
    completion_tokens: orNull(real),
    cached_tokens: orNull(real),
    reasoning_tokens: orNull(real),
    model_days_without_cost: integer,
    cost_usd: orNull(real),
  },
);

/** Named as in the response; null where it is unknown for all of the model-days. */
export type UsageTotals = Omit<RowOf<typeof USAGE>, 'model'>;

/** By model, what some model-days used, over all attempts of their jobs. */
export function usageTotals(
  reader: Reader,
  days: readonly { sessionId: number }[],
): Map<string, UsageTotals> {
  const rows = USAGE.all(reader, pickIds(days));
  return new Map(rows.map(({ model, ...used }) => [model, used]));
}

/**
 * By model, the refused orders of some model-days, the malformed calls, and of both those that
 * meant to trade: all but calls of the tools that only read.
 */
export const refusalTotals = reads(
  'all',
  `SELECT model, count(*) FILTER (WHERE kind = 'refusal') AS orders, count(*) FILTER (WHERE kind = 'malformed') AS malformed,
     count(*) FILTER (WHERE tool IS NULL OR tool NOT IN (SELECT value FROM json_each(?2))) AS tries
   FROM json_each(?1) AS chosen CROSS JOIN trading_sessions ON trading_sessions.session_id = chosen.value
     CROSS JOIN decisions INDEXED BY refused_decisions ON decisions.session_id = chosen.value AND detail IS NOT NULL
   GROUP BY model`,
  { model: text, orders: integer, malformed: integer, tries: integer },
  (days: readonly { sessionId: number }[], onlyRead: readonly string[]) => [
    pickIds(days),
    onlyRead,
  ],
);

/** By model, in how many answers of some model-days it refused, or was held back. */
export const refusedAnswers = reads(
  'all',
  `SELECT model, count(*) FROM json_each(?) AS chosen CROSS JOIN trading_sessions ON trading_sessions.session_id = chosen.value
     CROSS JOIN reasoning_logs AS log ON log.session_id = chosen.value AND fault = 'refused'
   GROUP BY model`,
  [text, integer],
  (days: readonly { sessionId: number }[]) => [pickIds(days)],
);

export const hasBars = reads(
  'has',
  `SELECT 1 FROM price_data WHERE symbol = ? AND date >= '${EARLIEST_DATE}' LIMIT 1`,
  [integer],
  (symbol: string) => [symbol],
);

/**
 * A symbol's bars between two dates, preceded by its last earlier one: date, open, close in raw
 * dollars.
 */
export const barsBetween = reads(
  'all',
  `SELECT date, open, close FROM price_data
   WHERE symbol = ?1 AND date <= ?3
     AND date >= coalesce((SELECT max(date) FROM price_data WHERE symbol = ?1 AND date <= ?2), ?2)
   ORDER BY date`,
  { date: text, open: real, close: orNull(real) },
  (symbol: string, { from, to }: DateSpan) => [symbol, from, to],
);

const COUNTS = query(
  `SELECT value, (SELECT count(*) FROM trading_sessions
     WHERE model = value AND status = 'active' AND date BETWEEN ?2 AND ?3 AND (?4 IS NULL OR job_id = ?4))
   FROM json_each(?1)`,
  [text, integer],
);

/** A run, and how many active model-days it has in a window. */
export interface RunInWindow extends Run {
  modelDays: number;
}

/** Every run that a job has named, or those of a study, by name. */
export function runsInWindow(reader: Reader, { study, ...window }: JobWindow): RunInWindow[] {
  const runs = knownRuns(reader, study);
  const names = runs.map(({ model }) => model);
  const counts = COUNTS.all(reader, names, ...windowBounds(window));
  return runs.map((run, place) => ({ ...run, modelDays: counts[place]?.[1] ?? 0 }));
}

/** The entries of some runs in some jobs, as stored: job, run, entry. */
export const storedEntries = reads(
  'iterate',
  `SELECT job_id, model, entry FROM json_each(?1) AS chosen CROSS JOIN simulation_runs ON job_id = chosen.value
   WHERE model IN (SELECT value FROM json_each(?2))`,
  [text, text, text],
  ({ runs, jobIds }: { runs: readonly string[]; jobIds: Iterable<string> }) => [[...jobIds], runs],
);

const SERVED = query(
  `SELECT DISTINCT session_id, served_model FROM json_each(?) AS chosen CROSS JOIN reasoning_logs ON session_id = chosen.value
   WHERE served_model IS NOT NULL ORDER BY session_id, served_model`,
  [integer, text],
);

/**
 * The date of the first model-day of a run that was completed or has failed; null when there is
 * none.
 */
export const firstTriedDate = reads(
  'cell',
  `SELECT min((
     SELECT date FROM job_details AS own
     WHERE own.job_id = simulation_runs.job_id AND own.model = simulation_runs.model AND date BETWEEN ?2 AND ?3
       AND own.status IN ('completed', 'failed')
     ORDER BY date LIMIT 1))
   FROM simulation_runs JOIN jobs USING (job_id)
   WHERE model = ?1 AND jobs.status <> 'discarded' AND (?4 IS NULL OR job_id = ?4)`,
  [orNull(text)],
  (run: string, window: JobWindow) => [run, ...windowBounds(window)],
);

/** The dates on which any of these symbols has a bar. */
export const marketDates = reads(
  'set',
  `SELECT DISTINCT date FROM price_data
   WHERE symbol IN (SELECT value FROM json_each(?)) AND date BETWEEN ? AND ?`,
  [text],
  (symbols: readonly string[], window: DateWindow) => [symbols, ...dateBounds(window)],
);

/** A completed job has no failed model-day, and those of a discarded one do not count. */
const FAILED = query(
  `SELECT DISTINCT model, date FROM jobs CROSS JOIN job_details AS own USING (job_id)
   WHERE job_id = coalesce(?3, job_id) AND jobs.status NOT IN ('completed', 'discarded')
     AND date BETWEEN ?1 AND ?2 AND own.status = 'failed'`,
  [text, text],
);

/**
 * The dates on which a model-day that matches the filters failed in some job, by model; another job
 * may have completed it.
 */
export function failedModelDays(
  database: Database,
  window: JobWindow,
): Map<string, Set<CalendarDate>> {
  const failed = new Map<string, Set<CalendarDate>>();
  for (const [name, date] of FAILED.iterate(database, ...windowBounds(window)))
    failed.set(name, (failed.get(name) ?? new Set()).add(date));
  return failed;
}
