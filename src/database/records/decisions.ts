import { toDollars } from '../../money.ts';
import { cutText } from '../../text.ts';
import type { Database } from '../database.ts';
import { integer, orNull, query, text } from '../rows.ts';
import {
  type DecisionDay,
  type DecisionFilters,
  type DecisionKind,
  decisionDays,
} from './decision-days.ts';
import { type DecisionPlace, type OrderPlace, idOf, isActive } from './decision-place.ts';
import { type Order, type Side, mayOrder, ordersOf } from './orders.ts';

/** How much of a model's words, of a refusal or of an error an item repeats. */
const MAX_WORDS_LENGTH = 500;
/** How many messages before an order the model's words may be: it may call tools without a word. */
const WORDS_WITHIN = 20;

/** What a model did on a model-day, and why. */
export interface Decision {
  id: string;
  kind: DecisionKind;
  model: string;
  date: string;
  job_id: string;
  session_id: number | null;
  timestamp: string;
  symbol: string | null;
  side: Side | null;
  amount: number | null;
  price: number | null;
  reason: string | null;
  detail: string | null;
  message_index: number | null;
}

type Day = Pick<DecisionDay, 'date' | 'model' | 'jobId'>;

/**
 * The decisions after a place, newest date first, then by model, and within a model-day the last
 * first. Of each model-day its active session counts; a failure counts until a job completes that
 * model-day.
 */
export function* decisions(
  database: Database,
  filters: DecisionFilters,
  after: DecisionPlace | null,
): Generator<Decision> {
  if (
    after !== null &&
    after.sessionId !== null &&
    after.order !== null &&
    isActive(database, after.sessionId)
  )
    yield* ordersOfDay(
      database,
      { day: after, sessionId: after.sessionId, from: after.order },
      filters,
    );
  for (const days of decisionDays(database, filters, after)) {
    for (const day of days) {
      const { sessionId } = day;
      if (sessionId === null) {
        yield failure(database, day);
        continue;
      }
      if (day.isQuiet === 1) yield quietDay(database, day, sessionId);
      yield* ordersOfDay(database, { day, sessionId }, filters);
    }
  }
}

function isWanted(filters: DecisionFilters, kind: DecisionKind, symbol: string | null): boolean {
  return (filters.kind ?? kind) === kind && (filters.symbol ?? symbol) === symbol;
}

function* ordersOfDay(
  database: Database,
  { day, sessionId, from }: { day: Day; sessionId: number; from?: OrderPlace },
  filters: DecisionFilters,
): Generator<Decision, void> {
  if (filters.kind === 'no_trade') return;
  if (filters.symbol !== undefined && !mayOrder(database, sessionId, filters.symbol)) return;
  for (const order of ordersOf(database, sessionId, from)) {
    if (isWanted(filters, kindOf(order), order.symbol))
      yield decisionOf(database, { day, sessionId, order });
  }
}

function kindOf({ refusal }: Order): 'trade' | 'refusal' {
  return refusal === null ? 'trade' : 'refusal';
}

function decisionOf(
  database: Database,
  { day, sessionId, order }: { day: Day; sessionId: number; order: Order },
): Decision {
  const { side, symbol, amount, price, refusal, timestamp, messageIndex, place } = order;
  return {
    ...headOf(day, kindOf(order), { sessionId, order: place }),
    timestamp,
    symbol,
    side,
    amount,
    price: price === null ? null : toDollars(price),
    reason: messageIndex === null ? null : wordsBefore(database, sessionId, messageIndex)[0],
    detail: refusal === null ? null : cutText(refusal, MAX_WORDS_LENGTH),
    message_index: messageIndex,
  };
}

function headOf(
  { date, model, jobId }: Day,
  kind: DecisionKind,
  at: Pick<DecisionPlace, 'sessionId' | 'order'>,
) {
  return {
    id: idOf({ date, model, jobId, ...at }),
    kind,
    model,
    date,
    job_id: jobId,
    session_id: at.sessionId,
  };
}

const NO_ORDER = { symbol: null, side: null, amount: null, price: null };

/** A model-day without a trade, with the model's last words. */
function quietDay(database: Database, day: DecisionDay, sessionId: number): Decision {
  const [reason, messageIndex] = lastWords(database, sessionId);
  const head = headOf(day, 'no_trade', { sessionId, order: null });
  return {
    ...head,
    timestamp: day.completedAt ?? '',
    ...NO_ORDER,
    reason,
    detail: null,
    message_index: messageIndex,
  };
}

const FAILED_SESSION = query(
  `SELECT max(session_id) FROM trading_sessions WHERE job_id = ? AND date = ? AND model = ? AND status = 'failed'`,
  [orNull(integer)],
);

/**
 * A failed model-day, with the last words that the model had. It may have failed before its session
 * began.
 */
function failure(database: Database, day: DecisionDay): Decision {
  const { jobId, date, model, completedAt, error } = day;
  const [sessionId] = FAILED_SESSION.one(database, jobId, date, model);
  const [reason, messageIndex] = sessionId === null ? [null, null] : lastWords(database, sessionId);
  return {
    ...headOf(day, 'failure', { sessionId: null, order: null }),
    session_id: sessionId,
    timestamp: completedAt ?? '',
    ...NO_ORDER,
    reason,
    detail: cutText(error ?? '', MAX_WORDS_LENGTH),
    message_index: messageIndex,
  };
}

const SPACE = `' ' || char(9, 10, 13)`;
const SAID = (column: string) =>
  `trim(substr(coalesce(${column}, ''), 1, ${2 * MAX_WORDS_LENGTH}), ${SPACE})`;
/** Where a message has no text, its thoughts. */
const WORDS = query(
  `SELECT iif(${SAID('content')} <> '', ${SAID('content')}, ${SAID('summary')}) AS words, message_index FROM reasoning_logs
   WHERE session_id = ?1 AND message_index BETWEEN ?2 - ${WORDS_WITHIN} AND ?2 - 1 AND role = 'assistant'
     AND (${SAID('content')} <> '' OR ${SAID('summary')} <> '')
   ORDER BY message_index DESC LIMIT 1`,
  [text, integer],
);
const LENGTH = query(
  'SELECT coalesce(max(message_index), -1) + 1 FROM reasoning_logs WHERE session_id = ?',
  [integer],
);

/** What the model said shortly before a message, and in which; nulls where it said nothing. */
function wordsBefore(
  database: Database,
  sessionId: number,
  messageIndex: number,
): [words: string, index: number] | [null, null] {
  const [words, index] = WORDS.get(database, sessionId, messageIndex) ?? [null, null];
  return words === null ? [null, null] : [cutText(words, MAX_WORDS_LENGTH), index];
}

function lastWords(database: Database, sessionId: number): ReturnType<typeof wordsBefore> {
  return wordsBefore(database, sessionId, LENGTH.one(database, sessionId)[0]);
}
