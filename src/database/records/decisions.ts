import { normaliseSymbol } from '../../basics/domain.ts';
import { asObject, tryParse } from '../../basics/json.ts';
import type { Database } from '../database.ts';
import { amount, integer, oneOf, orNull, query, type RowOf, text } from '../rows.ts';
import {
  ALL_ORDERS,
  type DecisionDay,
  decisionDays,
  type DecisionFilters,
  type DecisionKind,
  type DecisionPlace,
  idOf,
  isActive,
  type OrderPlace,
} from './decision-days.ts';
import { toDollars } from '../../basics/money.ts';
import { cutText } from '../../basics/text.ts';

/** Orders that one statement reads: bounds how long other requests wait for it. */
const ORDERS_PER_STEP = 50;
/** What is read of an order and of its result: ours are shorter. */
const MAX_TEXT_LENGTH = 10_000;

export const sides = ['buy', 'sell'] as const;
export type Side = (typeof sides)[number];

const CALLS = query(
  `SELECT message_index AS messageIndex, iif(tool_name = 'buy', 'buy', 'sell') AS side,
     substr(coalesce(tool_input, ''), 1, ${MAX_TEXT_LENGTH}) AS input, substr(content, 1, ${MAX_TEXT_LENGTH}) AS result, timestamp
   FROM reasoning_logs
   WHERE session_id = ? AND message_index < ? AND role = 'tool' AND tool_name IN ('buy', 'sell')
   ORDER BY message_index DESC LIMIT ${ORDERS_PER_STEP}`,
  { messageIndex: integer, side: oneOf(sides), input: text, result: text, timestamp: text },
);

const TRADE = query(
  `SELECT action_id AS actionId, action_type AS side, symbol, amount, price_e4 AS price,
     (SELECT coalesce(completed_at, '') FROM trading_sessions WHERE session_id = positions.session_id) AS timestamp FROM positions
   WHERE session_id = ? AND action_id < ? AND action_type IN ('buy', 'sell') ORDER BY action_id DESC LIMIT 1`,
  {
    actionId: integer,
    side: oneOf(sides),
    symbol: orNull(text),
    amount: orNull(integer),
    price: orNull(amount),
    timestamp: text,
  },
);

type Trade = RowOf<typeof TRADE>;

/** JSON can also write a letter as its code. */
const MAY_NAME = query(
  `SELECT 1 WHERE EXISTS (SELECT 1 FROM positions WHERE session_id = ?1 AND action_type IN ('buy', 'sell') AND symbol = ?2)
     OR EXISTS (SELECT 1 FROM reasoning_logs
       WHERE session_id = ?1 AND role = 'tool' AND tool_name IN ('buy', 'sell')
         AND (instr(upper(tool_input), ?2) > 0 OR instr(tool_input, '\\u') > 0))`,
  [integer],
);

/**
 * Whether a session may have an order for a symbol: takes a tenth of the time of reading its
 * orders.
 */
export function mayOrder(database: Database, sessionId: number, symbol: string): boolean {
  return MAY_NAME.has(database, sessionId, symbol);
}

/** An order of a session; a refused one has no price. */
export interface Order extends Omit<Trade, 'actionId'> {
  place: OrderPlace;
  /** Why it was refused; null for one that was executed. */
  refusal: string | null;
  /** The message with its result; null where the log does not have it. */
  messageIndex: number | null;
}

/**
 * The orders of a session from the last to the first, after a place: the executed ones as the
 * ledger has them, the refused ones from the log. A trade that the log does not have comes before
 * the next one that it has.
 */
export function* ordersOf(
  database: Database,
  sessionId: number,
  from: OrderPlace = ALL_ORDERS,
): Generator<Order> {
  let { message, action } = from;
  const nextTrade = () => TRADE.get(database, sessionId, action);
  for (
    let calls = CALLS.all(database, sessionId, message);
    calls.length > 0;
    calls = CALLS.all(database, sessionId, message)
  ) {
    for (const call of calls) {
      const { refusal, executed } = resultOf(call.result);
      message = call.messageIndex;
      if (refusal !== undefined) yield refused(call, { message, action }, refusal);
      for (
        let trade = nextTrade();
        executed !== undefined && trade !== undefined;
        trade = nextTrade()
      ) {
        action = trade.actionId;
        const isLogged = isResultOf(trade, executed);
        if (isLogged)
          yield {
            ...trade,
            timestamp: call.timestamp,
            place: { message, action },
            refusal: null,
            messageIndex: message,
          };
        else
          yield {
            ...trade,
            place: { message: message + 1, action },
            refusal: null,
            messageIndex: null,
          };
        if (isLogged) break;
      }
    }
  }
  for (let trade = nextTrade(); trade !== undefined; trade = nextTrade()) {
    action = trade.actionId;
    yield { ...trade, place: { message: 0, action }, refusal: null, messageIndex: null };
  }
}

function resultOf(text: string): {
  refusal?: string | undefined;
  executed?: Record<string, unknown> | undefined;
} {
  const result = asObject(tryParse(text)) ?? {};
  if (typeof result['error'] === 'string') return { refusal: result['error'] };
  return 'executed' in result ? { executed: result } : {};
}

/** Whether a result in the log is that of a trade. */
function isResultOf(
  { side, symbol, amount: shares }: Trade,
  result: Record<string, unknown>,
): boolean {
  return result['executed'] === side && result['symbol'] === symbol && result['amount'] === shares;
}

/** With what the model asked for, as far as it can be read. */
function refused(
  { side, input, timestamp }: RowOf<typeof CALLS>,
  place: OrderPlace,
  refusal: string,
): Order {
  const { symbol, amount: wanted } = asObject(tryParse(input)) ?? {};
  return {
    side,
    symbol: typeof symbol === 'string' ? normaliseSymbol(symbol) : null,
    amount: typeof wanted === 'number' && Number.isFinite(wanted) ? wanted : null,
    price: null,
    timestamp,
    place,
    refusal,
    messageIndex: place.message,
  };
}

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
