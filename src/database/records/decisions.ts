import { boundsOf, type Window } from '../session-filters.ts';
import type { Reader } from '../database.ts';
import { decisionColumns, type decisionKinds } from '../decisions.ts';
import { integer, query, type RowOf, text } from '../rows.ts';

/** Which model-days a feed covers; an absent filter matches everything. */
export interface FeedFilters extends Window {
  models?: readonly string[] | undefined;
  jobId?: string | undefined;
}

/** Which decisions the feed has. */
export interface DecisionFilters extends FeedFilters {
  symbol?: string | undefined;
  kind?: (typeof decisionKinds)[number] | undefined;
}

/** The id of a session is before its first decision. */
const PLACE = query(
  `SELECT date, model, job_id AS jobId, place FROM decisions WHERE id = ?1
   UNION ALL SELECT date, model, job_id, 0 FROM trading_sessions WHERE session_id = ?1 AND status <> 'opening'`,
  { date: text, model: text, jobId: text, place: integer },
);

/** Where a decision is in the feed. */
type Place = RowOf<typeof PLACE>;

/** Undefined for a text that is not the id of a decision. */
export function placeOf(reader: Reader, id: string): Place | undefined {
  return PLACE.get(reader, id);
}

/**
 * The decisions after a place in the order of an index. Those of a model-day's active session
 * count; a failure counts until a job completes its model-day, and not if its job is discarded. A
 * model-day whose session was replaced since its last page was read is not begun again.
 */
const feed = (index: string, isChosen: string) =>
  query(
    `SELECT ${Object.keys(decisionColumns)
      .map((name) => `own.${name}`)
      .join(', ')}
     FROM decisions AS own INDEXED BY ${index}
       LEFT JOIN trading_sessions AS active ON active.model = own.model AND active.date = own.date AND active.status = 'active'
     WHERE ${isChosen}
       AND (own.date <> ?1 OR own.model > ?2 OR own.model = ?2 AND (own.job_id, own.place) > (?3, ?4)
         AND (own.job_id = ?3 OR own.kind = 'failure'))
       AND own.date >= max(?5, coalesce((SELECT start_date FROM jobs WHERE job_id = ?7), ''))
       AND own.date <= min(?6, coalesce((SELECT end_date FROM jobs WHERE job_id = ?7), ?6))
       AND (?7 IS NULL OR own.job_id = ?7) AND (?8 IS NULL OR own.model IN (SELECT value FROM json_each(?8)))
       AND (?9 IS NULL OR own.kind = ?9) AND (?10 IS NULL OR own.symbol = ?10)
       AND (own.session_id = active.session_id OR active.session_id IS NULL AND own.kind = 'failure'
         AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = own.job_id AND jobs.status = 'discarded'))
     ORDER BY own.date DESC, own.model, own.job_id, own.place LIMIT CAST(?11 AS INTEGER)`,
    decisionColumns,
  );
const ALL = feed('decisions_in_order', 'true');
const RARE = feed('rare_decisions', `own.kind = ?9 AND own.kind IN ('refusal', 'failure')`);
const OF_SYMBOL = feed('decisions_by_symbol', 'own.symbol = ?10');

/** What a model did on a model-day, and why. */
export type Decision = RowOf<typeof ALL>;

/**
 * The decisions after a place, newest date first, then by model, and within a model-day the last
 * first.
 */
export function decisions(
  reader: Reader,
  { symbol, kind, jobId, models, ...window }: DecisionFilters,
  { after, limit }: { after: Place | null; limit: number },
): Decision[] {
  const [start, end] = boundsOf(window);
  const isRare = kind === 'refusal' || kind === 'failure';
  const chosen = symbol !== undefined ? OF_SYMBOL : isRare ? RARE : ALL;
  const { date, model, jobId: job, place } = after ?? { date: '', model: '', jobId: '', place: 0 };
  return chosen.all(
    reader,
    ...[date, model, job, place, start, after !== null && date < end ? date : end, jobId ?? null],
    ...[models ? JSON.stringify(models) : null, kind ?? null, symbol ?? null, limit],
  );
}
