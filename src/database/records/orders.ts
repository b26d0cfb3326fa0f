import { normaliseSymbol } from '../../domain.ts';
import { asObject, tryParse } from '../../json.ts';
import type { Database } from '../database.ts';
import { type RowOf, amount, integer, oneOf, orNull, query, text } from '../rows.ts';
import { ALL_ORDERS, type OrderPlace } from './decision-place.ts';

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
  `SELECT action_id AS actionId, action_type AS side, symbol, amount, price_e4 AS price, created_at AS timestamp FROM positions
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
