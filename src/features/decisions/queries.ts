import { type SessionFilters, dateBounds, NONE_COUNTS } from '#database/session-filters.ts';
import type { Reader } from '#database/database.ts';
import { studySql } from '#database/records/model-records.ts';
import { cutWords, decisionKinds, MAX_WORDS_LENGTH, sides } from '#database/decisions.ts';
import { integer, oneOf, orNull, query, real, reads, type RowOf, text } from '#database/rows.ts';

/** How many messages before an order the model's words may be: it may call tools without a word. */
const WORDS_WITHIN = 20;

const SPACE = `' ' || char(9, 10, 13)`;

const trimmedSql = (column: string) =>
  `trim(substr(coalesce(${column}, ''), 1, ${2 * MAX_WORDS_LENGTH}), ${SPACE})`;

/** In SQL, the words of a message: its text, or its thoughts where it has none. */
function wordsSql(message: string): string {
  return `coalesce(nullif(${trimmedSql(`${message}.content`)}, ''), ${trimmedSql(`${message}.summary`)})`;
}

/**
 * In SQL, the index of the message with what the model said shortly before another message; null
 * where it said nothing.
 */
function wordsBeforeSql(sessionId: string, end: string): string {
  return `(SELECT message_index FROM reasoning_logs AS said
    WHERE said.session_id = ${sessionId} AND message_index BETWEEN ${end} - ${WORDS_WITHIN} AND ${end} - 1
      AND role = 'assistant' AND ${wordsSql('said')} <> '' ORDER BY message_index DESC LIMIT 1)`;
}

/** Which decisions the feed has. */
interface DecisionFilters extends SessionFilters {
  symbol?: string | undefined;
  kind?: (typeof decisionKinds)[number] | undefined;
}

/** Of an order: its message, which may be that of several, and its place. */
const ID = `own.session_id || coalesce(':' || message_index || ':' || place, '')`;

const FAILURE_ID = `'failure:' || own.date || ':' || own.job_id || ':' || own.model`;

/** The id of a session is before its first decision. */
const PLACE = query(
  `SELECT {} FROM trading_sessions AS own JOIN decisions USING (session_id)
   WHERE session_id = CAST(?1 AS INTEGER) AND ${ID} = ?1
   UNION ALL SELECT date, model, job_id, 0 FROM trading_sessions WHERE session_id = ?1 AND status <> 'opening'
   UNION ALL SELECT date, model, job_id, 1 FROM job_details AS own
     WHERE status = 'failed' AND date = substr(?1, ${'failure:'.length + 1}, 10) AND ${FAILURE_ID} = ?1`,
  { date: text, model: text, jobId: text, place: integer },
);

/** Where a decision is in the feed. */
type Place = RowOf<typeof PLACE>;

/** Undefined for a text that is not the id of a decision. */
export function findPlace(reader: Reader, id: string): Place | undefined {
  return PLACE.get(reader, id);
}

const IN_WINDOW = `own.date >= max(?5, coalesce((SELECT start_date FROM jobs WHERE job_id = ?7), ''))
  AND own.date <= min(?6, coalesce((SELECT end_date FROM jobs WHERE job_id = ?7), ?6))
  AND (?8 IS NULL OR own.model IN (SELECT value FROM json_each(?8)))`;

/**
 * The decisions of active sessions. A model-day whose session was replaced since its last page was
 * read is not begun again.
 */
const sessionsSql = (from: string, isChosen: string) => `
  SELECT ${ID} AS id, kind, own.model AS model, own.date AS date, job_id, own.session_id, completed_at, total_messages,
    message_index, action_id, symbol, side, amount, detail, place AS turn
  FROM ${from}
  WHERE ${isChosen} AND made.session_id = own.session_id AND ${IN_WINDOW} AND own.status = 'active'
    AND (?7 IS NULL OR job_id = ?7)
    AND (own.date <> ?1 OR own.model > ?2 OR own.model = ?2 AND job_id = ?3 AND place > ?4)
    AND ?9 IS NOT 'failure' AND (?9 IS NULL OR kind = ?9) AND (?10 IS NULL OR symbol = ?10)`;

/** A failure counts until a job completes its model-day, and not if its job is discarded. */
const FAILURES = `
  SELECT ${FAILURE_ID}, 'failure', own.model, own.date, own.job_id, session_id, own.completed_at, total_messages,
    NULL, NULL, NULL, NULL, NULL, own.error, own.job_id
  FROM job_details AS own INDEXED BY failed_model_days
    LEFT JOIN trading_sessions AS failed ON failed.session_id = (SELECT max(session_id) FROM trading_sessions AS last
      WHERE last.job_id = own.job_id AND last.date = own.date AND last.model = own.model AND last.status = 'failed')
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
  study: orNull(text),
};

/**
 * Those after a place. Of a model-day there are decisions of its active session, by their place, or
 * else failures, by their job. What they say beside is read for those of the page only.
 */
const feedQuery = (rows: string) =>
  query(
    `SELECT id, kind, model, date, job_id, one.session_id, coalesce(result.timestamp, completed_at, '') AS timestamp,
       one.symbol, side, coalesce(one.amount, trade.amount) AS amount, price_e4 / 10000.0 AS price,
       nullif(${wordsSql('words')}, '') AS reason, detail, coalesce(one.message_index, words.message_index) AS message_index,
       ${studySql('one')} AS study
     FROM (${rows} ORDER BY date DESC, model, turn LIMIT CAST(?11 AS INTEGER)) AS one
       LEFT JOIN positions AS trade
         ON trade.session_id = one.session_id AND trade.action_id = one.action_id
       LEFT JOIN reasoning_logs AS result
         ON result.session_id = one.session_id AND result.message_index = one.message_index
       LEFT JOIN reasoning_logs AS words ON words.session_id = one.session_id
         AND words.message_index = ${wordsBeforeSql('one.session_id', 'coalesce(one.message_index, total_messages)')}`,
    COLUMNS,
  );

/** Newest date first; those of a date are sorted. */
const SESSIONS = 'trading_sessions AS own INDEXED BY sessions_in_answer_order CROSS JOIN';

const EVERY = `${sessionsSql(`${SESSIONS} decisions AS made`, 'true')} UNION ALL ${FAILURES}`;
const ALL = feedQuery(EVERY);

/** How many decisions there are on all pages. */
export const countDecisions = reads(
  'cell',
  `SELECT count(*) FROM (${EVERY})`,
  [integer],
  (filters: DecisionFilters) => parametersOf(filters),
);

/** Up to how many decisions are all looked at and sorted for a page: a few milliseconds. */
const MAX_SORTED = 5_000;

/** Decisions of which there is an index: so few that they are sorted, or session by session. */
function indexedFeed(index: string, isChosen: (symbol: string) => string) {
  const own = `decisions AS made INDEXED BY ${index}`;
  return {
    count: query(
      `SELECT count(*) FROM (SELECT 1 FROM ${own} WHERE ${isChosen('?1')} LIMIT ${MAX_SORTED})`,
      [integer],
    ),
    sorted: feedQuery(sessionsSql(`${own} CROSS JOIN trading_sessions AS own`, isChosen('?10'))),
    bySession: feedQuery(sessionsSql(`${SESSIONS} ${own}`, isChosen('?10'))),
  };
}

const REFUSALS = indexedFeed(
  'refused_decisions',
  (symbol) => `${symbol} IS NULL AND detail IS NOT NULL`,
);

const BY_SYMBOL = indexedFeed('decisions_by_symbol', (symbol) => `symbol = ${symbol}`);

/** What a model did on a model-day, and why. */
export type FeedDecision = RowOf<typeof ALL>;

/**
 * The decisions after a place, newest date first, then by model, and within a model-day the last
 * first.
 */
export function readDecisions(
  reader: Reader,
  filters: DecisionFilters,
  { after, limit }: { after: Place | null; limit: number },
): FeedDecision[] {
  const { symbol, kind } = filters;
  const isRefused = kind === 'refusal' || kind === 'malformed';
  const own = symbol !== undefined ? BY_SYMBOL : isRefused ? REFUSALS : null;
  const [count = 0] = own?.count.one(reader, symbol ?? null) ?? [];
  const chosen = own?.[count < MAX_SORTED ? 'sorted' : 'bySession'] ?? ALL;
  const found = chosen.all(reader, ...parametersOf(filters, after), limit);
  const cut = (words: string | null) => words && cutWords(words);
  return found.map((one) => ({ ...one, reason: cut(one.reason), detail: cut(one.detail) }));
}

function parametersOf(
  { symbol, kind, jobId, models, ...window }: DecisionFilters,
  after: Place | null = null,
) {
  const [start, end] = dateBounds(window);
  const { date, model, jobId: job, place } = after ?? { date: '', model: '', jobId: '', place: 0 };
  const last = after !== null && date < end ? date : end;
  const chosen = [jobId ?? null, models ?? null, kind ?? null, symbol ?? null] as const;
  return [date, model, job, place, start, last, ...chosen] as const;
}
