import type { CalendarDate } from '../../basics/calendar.ts';
import { boundsOf, type Window } from '../session-filters.ts';
import type { Database } from '../database.ts';
import { flag, integer, orNull, query, type RowOf, text } from '../rows.ts';

/**
 * What a decision can be: an executed order, a refused one, a model-day that failed, and one
 * without a trade.
 */
export const decisionKinds = ['trade', 'refusal', 'failure', 'no_trade'] as const;
export type DecisionKind = (typeof decisionKinds)[number];

export interface DecisionFilters extends Window {
  /** Undefined for all models. */
  models?: readonly string[] | undefined;
  jobId?: string | undefined;
  symbol?: string | undefined;
  kind?: DecisionKind | undefined;
}

/**
 * Model-days that one statement returns. It looks at those of one date at most: some microseconds
 * for each.
 */
const MODEL_DAYS_PER_STEP = 200;

const LATEST_SESSION = query(
  'SELECT max(date) FROM trading_sessions INDEXED BY sessions_in_answer_order WHERE date < ?',
  [orNull(text)],
);
const LATEST_FAILURE = query(
  `SELECT max(date) FROM job_details WHERE status = 'failed' AND date < ?`,
  [orNull(text)],
);
/** A model-day that traded a symbol has the price that it used. */
const LATEST_USE = query(
  'SELECT max(date) FROM session_prices INDEXED BY session_prices_by_bar WHERE symbol = ? AND date < ?',
  [orNull(text)],
);
const JOB_DATES = query('SELECT start_date, end_date FROM jobs WHERE job_id = ?', [text, text]);

/** What is asked of each model-day: only what the filters want, because each look takes time. */
const has = (kind: DecisionKind, rows: string) =>
  `((?5 IS NULL OR ?5 = '${kind}') AND EXISTS (SELECT 1 FROM ${rows}))`;
const TRADE = has(
  'trade',
  `positions WHERE positions.session_id = own.session_id AND action_type IN ('buy', 'sell') AND (?4 IS NULL OR symbol = ?4)`,
);
const REFUSAL = has(
  'refusal',
  `tool_usage WHERE tool_usage.session_id = own.session_id AND tool_name IN ('buy', 'sell') AND refused > 0`,
);
/** The last record of a model-day, and only of one without a trade. */
const NO_TRADE = `((?5 IS NULL OR ?5 = 'no_trade') AND ?4 IS NULL AND 'no_trade' = (
  SELECT action_type FROM positions WHERE positions.session_id = own.session_id ORDER BY action_id DESC LIMIT 1))`;

/**
 * The model-days of a date that may have a decision which the filters want: the active session, or
 * no session and the error of a failure. A failed model-day counts as long as no job has completed
 * it.
 */
const modelDays = (sessions: string, failures: string) =>
  query(
    `SELECT model, job_id AS jobId, session_id AS sessionId, NULL AS error, completed_at AS completedAt, ${NO_TRADE} AS isQuiet
     FROM ${sessions} date = ?6 AND own.status = 'active' AND model > ?2
       AND (?7 IS NULL OR job_id = ?7) AND (${REFUSAL} OR ${TRADE} OR ${NO_TRADE})
     UNION ALL
     SELECT model, job_id, NULL, error, completed_at, 0
     FROM ${failures} date = ?6 AND own.status = 'failed' AND (model, job_id) > (?2, ?3)
       AND ?4 IS NULL AND (?5 IS NULL OR ?5 = 'failure') AND (?7 IS NULL OR job_id = ?7)
       AND NOT EXISTS (SELECT 1 FROM trading_sessions AS done
         WHERE done.model = own.model AND done.date = own.date AND done.status = 'active')
       AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = own.job_id AND jobs.status = 'discarded')
     ORDER BY model, jobId LIMIT ${MODEL_DAYS_PER_STEP}`,
    {
      model: text,
      jobId: text,
      sessionId: orNull(integer),
      error: orNull(text),
      completedAt: orNull(text),
      isQuiet: flag,
    },
  );
const OF_ALL = modelDays(
  'trading_sessions AS own INDEXED BY sessions_in_answer_order WHERE',
  'job_details AS own INDEXED BY failed_model_days WHERE',
);
const WANTED = '(SELECT value FROM json_each(?1)) AS wanted CROSS JOIN';
const OF_MODELS = modelDays(
  `${WANTED} trading_sessions AS own ON own.model = wanted.value WHERE`,
  `${WANTED} job_details AS own INDEXED BY failed_model_days ON own.model = wanted.value WHERE`,
);

/** A model-day in the feed. */
export type DecisionDay = RowOf<typeof OF_ALL> & { date: CalendarDate };

/**
 * Where a model-day is in the feed: newest date first, then by model; failures in several jobs by
 * job.
 */
export interface DayPlace {
  date: CalendarDate;
  model: string;
  jobId: string;
}

/**
 * The model-days after a place that may have a decision which the filters want, in batches, some of
 * them empty.
 */
export function* decisionDays(
  database: Database,
  filters: DecisionFilters,
  after: DayPlace | null,
): Generator<DecisionDay[]> {
  const { models, jobId = null, symbol = null, kind = null } = filters;
  if (symbol !== null && (kind === 'failure' || kind === 'no_trade')) return; // only orders name a symbol
  const [start, end] = windowOf(database, filters);
  const wanted = JSON.stringify(models ?? []);
  const modelDaysOn = models === undefined ? OF_ALL : OF_MODELS;
  const { before, kindOn } = datesOf(database, symbol, kind);
  let date: CalendarDate | null =
    after !== null && after.date <= end ? after.date : before(`${end}~`);
  let [model, job] = after !== null && after.date === date ? [after.model, after.jobId] : ['', ''];
  while (date !== null && date >= start) {
    const day = date;
    const found = modelDaysOn.all(database, wanted, model, job, symbol, kindOn(day), day, jobId);
    yield found.map((one) => ({ ...one, date: day }));
    const last = found[MODEL_DAYS_PER_STEP - 1];
    if (last === undefined) date = before(date);
    [model, job] = last === undefined ? ['', ''] : [last.model, last.jobId];
  }
}

interface Dates {
  /** The latest date before another that may have a decision which the filters want. */
  before(later: string): CalendarDate | null;
  /**
   * The kind to look for on a date: where no model used the symbol, only refused orders can name
   * it.
   */
  kindOn(date: CalendarDate): DecisionKind | null;
}

/** The dates to look at, in descending order. */
function datesOf(database: Database, symbol: string | null, kind: DecisionKind | null): Dates {
  if (kind === 'failure')
    return { before: (later) => failureBefore(database, later), kindOn: () => kind };
  if (symbol === null || kind === 'refusal')
    return { before: (later) => dateBefore(database, later), kindOn: () => kind };
  const useBefore = (later: string) => LATEST_USE.one(database, symbol, later)[0];
  if (kind === 'trade') return { before: useBefore, kindOn: () => kind };
  let used: CalendarDate | null = '~'; // the latest use that is not after the date
  return {
    before: (later) => dateBefore(database, later),
    kindOn(date) {
      if (used !== null && used > date) used = useBefore(`${date}~`);
      return used === date ? null : 'refusal';
    },
  };
}

/** The latest date before another that has a model-day. */
function dateBefore(database: Database, end: string): CalendarDate | null {
  const [[session], failure] = [LATEST_SESSION.one(database, end), failureBefore(database, end)];
  return session !== null && (failure === null || session > failure) ? session : failure;
}

function failureBefore(database: Database, end: string): CalendarDate | null {
  return LATEST_FAILURE.one(database, end)[0];
}

/** The dates to look at: no more than those of the job. */
function windowOf(database: Database, filters: DecisionFilters): [start: string, end: string] {
  const [start, end] = boundsOf(filters);
  if (filters.jobId === undefined) return [start, end];
  const [first, last] = JOB_DATES.get(database, filters.jobId) ?? ['~', ''];
  return [start > first ? start : first, end < last ? end : last];
}

/**
 * A place among the orders of a session, which go from the last to the first: before this message,
 * and before this action.
 */
export interface OrderPlace {
  message: number;
  action: number;
}

/**
 * The place of a decision in the feed. The session is null for a failure, the order null for a
 * model-day without a trade.
 */
export interface DecisionPlace extends DayPlace {
  sessionId: number | null;
  order: OrderPlace | null;
}

/** Before all orders of a session. */
export const ALL_ORDERS: OrderPlace = {
  message: Number.MAX_SAFE_INTEGER,
  action: Number.MAX_SAFE_INTEGER,
};

const FAILURE = /^failure:(\d{4}-\d\d-\d\d):([^:]+):(.+)$/s;
const IN_SESSION = /^(\d{1,15})(?::(\d{1,15})(?::(\d{1,15}))?)?$/;

/**
 * The id of a decision, from which its place can be found again. A model's name comes last: it may
 * have any character.
 */
export function idOf({ date, model, jobId, sessionId, order }: DecisionPlace): string {
  if (sessionId === null) return `failure:${date}:${jobId}:${model}`;
  const { message, action } = order ?? ALL_ORDERS;
  return [sessionId, message, action].filter((part) => part !== Number.MAX_SAFE_INTEGER).join(':');
}

const SESSION = query(
  `SELECT date, model, job_id AS jobId FROM trading_sessions WHERE session_id = ? AND status <> 'opening'`,
  {
    date: text,
    model: text,
    jobId: text,
  },
);

/** Undefined for a text that is not the id of a decision. */
export function placeOf(database: Database, id: string): DecisionPlace | undefined {
  const [, date, jobId, model] = FAILURE.exec(id) ?? [];
  if (date !== undefined && jobId !== undefined && model !== undefined)
    return { date, model, jobId, sessionId: null, order: null };
  const [, session, message, action] = IN_SESSION.exec(id) ?? [];
  const day = session === undefined ? undefined : SESSION.get(database, Number(session));
  if (day === undefined) return undefined;
  const numberOf = (part: string | undefined) =>
    part === undefined ? Number.MAX_SAFE_INTEGER : Number(part);
  return {
    ...day,
    sessionId: Number(session),
    order: { message: numberOf(message), action: numberOf(action) },
  };
}

const ACTIVE = query(
  `SELECT session_id FROM trading_sessions WHERE session_id = ? AND status = 'active'`,
  [integer],
);

/** Whether a session still counts. */
export function isActive(database: Database, sessionId: number): boolean {
  return ACTIVE.has(database, sessionId);
}
