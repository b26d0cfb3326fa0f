import type { CalendarDate } from '../time/calendar.ts';
import type { Database, Reader } from './database.ts';
import { amount, integer, orNull, query, type RowOf, text } from './rows.ts';
import type { Money } from '../money/money.ts';
import { idsOf } from './session-filters.ts';

/** The completed days of models: which there are, and in which state they closed. */

const closingOf = (session: string) =>
  query(
    `SELECT session_id AS sessionId, date, cash_e4 AS cash, portfolio_value_e4 AS portfolioValue,
       note, unfilled
     FROM trading_sessions JOIN positions USING (session_id) WHERE session_id = ${session} ORDER BY action_id DESC LIMIT 1`,
    {
      sessionId: integer,
      date: text,
      cash: amount,
      portfolioValue: amount,
      note: orNull(text),
      unfilled: orNull(text),
    },
  );
const LATEST_CLOSING = closingOf(`(SELECT session_id FROM trading_sessions
  WHERE model = ?1 AND date < ?2 AND status IN ('active', 'opening') ORDER BY date DESC, session_id DESC LIMIT 1)`);
const CLOSING = closingOf('?');

const HOLDINGS = query(
  'SELECT symbol, quantity FROM holdings WHERE session_id = ? ORDER BY symbol',
  { symbol: text, quantity: integer },
);

/** The end of a model's active day, or of an opening, from which its next day starts. */
export type ClosingState = RowOf<typeof LATEST_CLOSING> & { holdings: RowOf<typeof HOLDINGS>[] };

/**
 * A model's latest active day, or opening, strictly before a date, whichever job ran it; null when
 * there is none.
 */
export function latestActiveDayBefore(
  database: Database,
  model: string,
  date: CalendarDate,
): ClosingState | null {
  return withHoldings(database, LATEST_CLOSING.get(database, model, date));
}

/** The end of a session; null when it has no positions. */
export function closingStateOf(reader: Reader, sessionId: number): ClosingState | null {
  return withHoldings(reader, CLOSING.get(reader, sessionId));
}

/** What a committed session, or an opening, holds at its close, by symbol. */
export function holdingsOf(reader: Reader, sessionId: number) {
  return HOLDINGS.all(reader, sessionId);
}

function withHoldings(
  reader: Reader,
  closing: RowOf<typeof LATEST_CLOSING> | undefined,
): ClosingState | null {
  return closing === undefined
    ? null
    : { ...closing, holdings: holdingsOf(reader, closing.sessionId) };
}

/**
 * What some models hold when a date begins; `since` is the earliest of the days that they last
 * closed, or that date without any.
 */
export function heldBefore(database: Database, models: readonly string[], date: CalendarDate) {
  const states = models.flatMap((model) => latestActiveDayBefore(database, model, date) ?? []);
  return {
    symbols: [
      ...new Set(states.flatMap(({ holdings }) => holdings.map(({ symbol }) => symbol))),
    ].sort(),
    since: states.reduce(
      (earliest, state) => (state.date < earliest ? state.date : earliest),
      date,
    ),
  };
}

const SPANS = query(
  `SELECT value AS model,
     (SELECT min(date) FROM trading_sessions WHERE model = value AND status = 'active') AS firstDate,
     (SELECT max(date) FROM trading_sessions WHERE model = value AND status = 'active') AS lastDate
   FROM json_each(?)`,
  { model: text, firstDate: orNull(text), lastDate: orNull(text) },
);

/**
 * The first and the last active day of each of some models, null for one that has none: two
 * look-ups each, in one statement.
 */
export function activeSpans(database: Database, models: readonly string[]) {
  return new Map(SPANS.all(database, models).map((span) => [span.model, span]));
}

const LATER = query(
  `SELECT count(*) AS days, coalesce(min(date), '') AS first FROM trading_sessions
   WHERE model = ?1 AND status = 'active' AND date > (
     SELECT value FROM json_each(?2) AS day WHERE ?3 OR NOT EXISTS (
       SELECT 1 FROM trading_sessions WHERE model = ?1 AND date = day.value AND status = 'active') LIMIT 1)`,
  { days: integer, first: text },
);

/**
 * Of each model that has some: the active days after the first of these dates, which are in order,
 * on which it has none; or, if all of them are replaced, after the last.
 */
export function laterDays(
  database: Database,
  models: readonly string[],
  { dates, replaceExisting }: { dates: readonly CalendarDate[]; replaceExisting: boolean },
) {
  const candidates = replaceExisting ? dates.slice(-1) : dates;
  return models
    .map((model) => ({ model, ...LATER.one(database, model, candidates, Number(replaceExisting)) }))
    .filter(({ days }) => days > 0);
}

/**
 * Openings: the closes of days of other jobs from which the chains of a file with one job continue.
 */

const LOTS = query(
  `SELECT session_id AS sessionId, symbol, bought_on AS date, quantity, cost_e4 AS cost
   FROM json_each(?) AS chosen CROSS JOIN opening_lots ON session_id = chosen.value ORDER BY session_id, symbol, lot`,
  { sessionId: integer, symbol: text, date: text, quantity: integer, cost: amount },
);

/** Shares that were held at an opening and had been bought together, with their cost. */
export type OpeningLot = RowOf<typeof LOTS>;

/** The lots of those of some sessions that are openings, by session and symbol, oldest first. */
export function openingLots(
  reader: Reader,
  sessions: readonly { sessionId: number }[],
): OpeningLot[] {
  return LOTS.all(reader, idsOf(sessions));
}

const OUTSIDE_STARTS = query(
  `SELECT DISTINCT past.session_id AS sessionId, past.model
   FROM trading_sessions AS own JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
   WHERE own.job_id = ?1 AND past.job_id IS NOT ?1 ORDER BY past.session_id`,
  { sessionId: integer, model: text },
);

/** A session that belongs to no model-day of a job, and from which one of its sessions started. */
export type OutsideStart = RowOf<typeof OUTSIDE_STARTS>;

/** The sessions outside a job from which its sessions started. */
export function outsideStarts(reader: Reader, jobId: string): OutsideStart[] {
  return OUTSIDE_STARTS.all(reader, jobId);
}

/** What a package needs to know of a session from which a chain of its job continues. */
export interface Opening {
  sessionId: number;
  /** Of the model's first completed day; null when unknown. */
  initialCash: Money | null;
  /** Of everything that is held at its close, by symbol and oldest first. */
  lots: readonly Omit<OpeningLot, 'sessionId'>[];
}
