import type { CalendarDate } from '#time/calendar.ts';
import type { Database, Reader } from './database.ts';
import type { JobRun } from './job-queries.ts';
import { amount, integer, orNull, query, type RowOf, text, reads } from './rows.ts';

/** The completed days of models: which there are, and in which state they closed. */

const closingQuery = (session: string) =>
  query(
    `SELECT {} FROM trading_sessions JOIN positions USING (session_id) WHERE session_id = ${session} ORDER BY action_id DESC LIMIT 1`,
    {
      sessionId: integer,
      date: text,
      cash: amount,
      portfolioValue: amount,
      note: orNull(text),
      unfilled: orNull(text),
    },
  );
const LATEST_CLOSING = closingQuery(`(SELECT session_id FROM trading_sessions
  WHERE model = ?1 AND date < ?2 AND status IN ('active', 'opening') ORDER BY date DESC, session_id DESC LIMIT 1)`);
const CLOSING = closingQuery('?');

/** The end of a model's active day, or of an opening, from which its next day starts. */
export type ClosingState = RowOf<typeof LATEST_CLOSING> & {
  holdings: RowOf<typeof closingHoldings>[];
};

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
export function readClosingState(reader: Reader, sessionId: number): ClosingState | null {
  return withHoldings(reader, CLOSING.get(reader, sessionId));
}

/** What a committed session, or an opening, holds at its close, by symbol. */
export const closingHoldings = reads(
  'all',
  'SELECT {} FROM holdings WHERE session_id = ? ORDER BY symbol',
  { symbol: text, quantity: integer },
  (sessionId: number) => [sessionId],
);

function withHoldings(
  reader: Reader,
  closing: RowOf<typeof LATEST_CLOSING> | undefined,
): ClosingState | null {
  return closing === undefined
    ? null
    : { ...closing, holdings: closingHoldings(reader, closing.sessionId) };
}

/**
 * What some models hold when a date begins; `since` is the earliest of the days that they last
 * closed, or that date without any.
 */
export function priorHoldings(database: Database, models: readonly string[], date: CalendarDate) {
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

/** Active days of some runs on a date that a job ran. */
export type CompletedDays = RowOf<typeof completedByJob>;

/** The active days of runs from the start of each on, by job and date. */
export const completedByJob = reads(
  'all',
  `SELECT {own}, count(*) AS days
   FROM json_each(?1) AS run CROSS JOIN trading_sessions AS own INDEXED BY one_active_generation
     ON own.model = run.value ->> 'model' AND own.date BETWEEN run.value ->> 'startDate' AND ?2
   WHERE own.status = 'active' GROUP BY own.job_id, own.date ORDER BY own.date, own.session_id`,
  { jobId: text, date: text, days: integer },
  (runs: readonly Pick<JobRun, 'model' | 'startDate'>[], endDate: CalendarDate) => [
    JSON.stringify(runs),
    endDate,
  ],
);

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
