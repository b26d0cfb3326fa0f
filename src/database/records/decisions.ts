import { boundsOf, NONE_COUNTS, type Window } from '../session-filters.ts';
import type { Reader } from '../database.ts';
import { cutWords, decisionKinds, sides, wordsBefore, wordsOf } from '../decisions.ts';
import { integer, oneOf, orNull, query, real, type RowOf, text } from '../rows.ts';

/** Which model-days a feed covers; an absent filter matches everything. */
export interface FeedFilters extends Window {
  models?: readonly string[] | undefined;
  jobId?: string | undefined;
}

/** Which decisions the feed has. */
interface DecisionFilters extends FeedFilters {
  symbol?: string | undefined;
  kind?: (typeof decisionKinds)[number] | undefined;
}

/** Of an order: its message, which may be that of several, and its place. */
const ID = `own.session_id || coalesce(':' || own.message_index || ':' || own.place, '')`;
const FAILURE_ID = `'failure:' || own.date || ':' || own.job_id || ':' || own.model`;

/** The id of a session is before its first decision. */
const PLACE = query(
  `SELECT own.date, own.model, job_id AS jobId, own.place
   FROM trading_sessions JOIN decisions AS own USING (date, model, session_id)
   WHERE session_id = CAST(?1 AS INTEGER) AND ${ID} = ?1
   UNION ALL SELECT date, model, job_id, 0 FROM trading_sessions WHERE session_id = ?1 AND status <> 'opening'
   UNION ALL SELECT date, model, job_id, 1 FROM job_details AS own
     WHERE status = 'failed' AND date = substr(?1, ${'failure:'.length + 1}, 10) AND ${FAILURE_ID} = ?1`,
  { date: text, model: text, jobId: text, place: integer },
);

/** Where a decision is in the feed. */
type Place = RowOf<typeof PLACE>;

/** Undefined for a text that is not the id of a decision. */
export function placeOf(reader: Reader, id: string): Place | undefined {
  return PLACE.get(reader, id);
}

const IN_WINDOW = `own.date >= max(?5, coalesce((SELECT start_date FROM jobs WHERE job_id = ?7), ''))
  AND own.date <= min(?6, coalesce((SELECT end_date FROM jobs WHERE job_id = ?7), ?6))
  AND (?8 IS NULL OR own.model IN (SELECT value FROM json_each(?8)))`;

/**
 * The decisions of active sessions. A model-day whose session was replaced since its last page was
 * read is not begun again.
 */
const ofSessions = (isChosen: string, index = '') => `
  SELECT ${ID} AS id, own.kind, own.model AS model, own.date AS date, active.job_id, own.session_id,
    coalesce(result.timestamp, active.completed_at, '') AS timestamp, own.symbol, own.side,
    coalesce(own.amount, trade.amount) AS amount, price_e4 / 10000.0 AS price, nullif(${wordsOf('words')}, '') AS reason,
    own.detail, coalesce(own.message_index, own.words_index) AS message_index, own.place AS turn
  FROM decisions AS own ${index}
    CROSS JOIN trading_sessions AS active ON active.session_id = own.session_id
    LEFT JOIN positions AS trade
      ON own.kind = 'trade' AND trade.session_id = own.session_id AND trade.action_id = own.action_id
    LEFT JOIN reasoning_logs AS result
      ON result.session_id = own.session_id AND result.message_index = own.message_index
    LEFT JOIN reasoning_logs AS words
      ON words.session_id = own.session_id AND words.message_index = own.words_index
  WHERE ${isChosen} AND ${IN_WINDOW} AND active.status = 'active' AND (?7 IS NULL OR active.job_id = ?7)
    AND (own.date <> ?1 OR own.model > ?2 OR own.model = ?2 AND active.job_id = ?3 AND own.place > ?4)
    AND ?9 IS NOT 'failure' AND (?9 IS NULL OR own.kind = ?9) AND (?10 IS NULL OR own.symbol = ?10)`;

/** A failure counts until a job completes its model-day, and not if its job is discarded. */
const FAILURES = `
  SELECT ${FAILURE_ID}, 'failure', own.model, own.date, own.job_id, failed.session_id,
    coalesce(own.completed_at, ''), NULL, NULL, NULL, NULL, nullif(${wordsOf('words')}, ''),
    own.error, words.message_index, own.job_id
  FROM job_details AS own INDEXED BY failed_model_days
    LEFT JOIN trading_sessions AS failed ON failed.session_id = (SELECT max(session_id) FROM trading_sessions AS last
      WHERE last.job_id = own.job_id AND last.date = own.date AND last.model = own.model AND last.status = 'failed')
    LEFT JOIN reasoning_logs AS words
      ON words.session_id = failed.session_id AND words.message_index = ${wordsBefore('failed.session_id')}
  WHERE own.status = 'failed' AND ${IN_WINDOW} AND (?7 IS NULL OR own.job_id = ?7)
    AND (own.date <> ?1 OR own.model > ?2 OR own.model = ?2 AND (own.job_id, 1) > (?3, ?4))
    AND (?9 IS NULL OR ?9 = 'failure') AND ?10 IS NULL AND ${NONE_COUNTS}`;

const COLUMNS = {
  id: text,
  kind: oneOf(decisionKinds),
  model: text,
  date: text,
  job_id: text,
  session_id: orNull(integer),
  timestamp: text,
  symbol: orNull(text),
  side: orNull(oneOf(sides)),
  amount: orNull(real),
  price: orNull(real),
  reason: orNull(text),
  detail: orNull(text),
  message_index: orNull(integer),
};

/**
 * Those after a place, in the order of an index. Of a model-day there are decisions of its active
 * session, by their place, or else failures, by their job.
 */
const feed = (rows: string) =>
  query(
    `SELECT ${Object.keys(COLUMNS).join(', ')}
     FROM (${rows} ORDER BY date DESC, model, turn LIMIT CAST(?11 AS INTEGER))`,
    COLUMNS,
  );
const ALL = feed(`${ofSessions('true')} UNION ALL ${FAILURES}`);
const REFUSALS = feed(ofSessions('own.detail IS NOT NULL', 'INDEXED BY refused_decisions'));
const OF_SYMBOL = feed(ofSessions('own.symbol = ?10', 'INDEXED BY decisions_by_symbol'));

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
  const chosen = symbol !== undefined ? OF_SYMBOL : kind === 'refusal' ? REFUSALS : ALL;
  const { date, model, jobId: job, place } = after ?? { date: '', model: '', jobId: '', place: 0 };
  const found = chosen.all(
    reader,
    date,
    model,
    job,
    place,
    start,
    after !== null && date < end ? date : end,
    jobId ?? null,
    models ?? null,
    kind ?? null,
    symbol ?? null,
    limit,
  );
  const cut = (words: string | null) => words && cutWords(words);
  return found.map((one) => ({ ...one, reason: cut(one.reason), detail: cut(one.detail) }));
}
