import type { CalendarDate } from '#time/calendar.ts';
import { type Money, money } from '#money/money.ts';
import type { Database, Reader } from './database.ts';
import { EXCHANGE_COLUMNS, type StoredExchange } from './exchanges.ts';
import { DIVIDEND_COLUMNS } from './splits-and-dividends.ts';
import { amount, integer, orNull, query, type RowOf, text } from './rows.ts';
import { type Split, SPLIT_COLUMNS } from './market-queries.ts';

/**
 * A price used for valuation, adjusted for splits up to the session's date, and the date of its
 * bar.
 */
export interface Mark {
  price: Money;
  date: CalendarDate;
}

/** The prices of one symbol as a session used them. */
interface UsedPrice {
  symbol: string;
  /** For a symbol held in the morning: the date of the day that the session started from. */
  heldSince: CalendarDate | null;
  /** Null when there was no price, or when it is unknown. */
  open: Mark | null;
  close: Mark | null;
}

/**
 * A dividend that a session paid on what it held; `paid` is per share of its series, in 1/1,000,000
 * dollar.
 */
export type KnownDividend = RowOf<typeof DIVIDENDS>;

/**
 * What a model-day was computed from: the prices of everything it held or traded, its splits and
 * its dividends in order.
 */
export interface Evidence {
  prices: readonly UsedPrice[];
  splits: readonly Split[];
  dividends: readonly KnownDividend[];
  exchanges: readonly StoredExchange[];
}

/** Stores the evidence of a session within the transaction that commits it. */
export function storeEvidence(
  database: Database,
  { sessionId, date }: { sessionId: number; date: CalendarDate },
  { prices, splits, dividends, exchanges }: Evidence,
): void {
  const insertSplit = database.statement('INSERT INTO session_splits VALUES (?, ?, ?, ?, ?)');
  for (const { symbol, date: splitDate, numerator, denominator } of splits)
    insertSplit.run(sessionId, symbol, splitDate, numerator, denominator);
  const insertDividend = database.statement(
    'INSERT INTO session_dividends VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const { symbol, exDate, cash, basis, splits: converting, paid } of dividends)
    insertDividend.run(sessionId, symbol, exDate, cash, basis, converting, paid);
  const insertExchange = database.statement(
    'INSERT INTO session_exchanges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const {
    symbol,
    date: day,
    into,
    cash,
    numerator,
    denominator,
    remains,
    ...own
  } of exchanges)
    insertExchange.run(
      ...[sessionId, symbol, day, into, cash, numerator, denominator, remains],
      ...[own.splits, own.intoSplits],
    );
  const insertPrice = database.statement(
    `INSERT INTO session_prices (session_id, symbol, date, held_since, open_e4, open_date, close_e4, close_date)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const { symbol, heldSince, open, close } of prices)
    insertPrice.run(
      sessionId,
      symbol,
      date,
      heldSince,
      open?.price ?? null,
      open?.date ?? null,
      close?.price ?? null,
      close?.date ?? null,
    );
}

const PRICES = query(
  'SELECT symbol, held_since, open_e4, open_date, close_e4, close_date FROM session_prices WHERE session_id = ?',
  [text, orNull(text), orNull(amount), orNull(text), orNull(amount), orNull(text)],
);
const SPLITS = query(
  'SELECT symbol, date, numerator, denominator FROM session_splits WHERE session_id = ? ORDER BY date, symbol',
  SPLIT_COLUMNS,
);
const DIVIDENDS = query(
  `SELECT symbol, ex_date AS exDate, cash_e6 AS cash, basis, splits, paid_e6 AS paid FROM session_dividends
   WHERE session_id = ? ORDER BY ex_date, symbol`,
  { ...DIVIDEND_COLUMNS, splits: text, paid: integer },
);

const EXCHANGES = query(
  `SELECT symbol, date, into_symbol AS "into", cash_e6 AS cash, numerator, denominator, remains, splits, into_splits AS intoSplits
   FROM session_exchanges WHERE session_id = ? ORDER BY date, symbol, into_symbol`,
  { ...EXCHANGE_COLUMNS, splits: text, intoSplits: text },
);

export function readEvidence(reader: Reader, sessionId: number): Evidence {
  const prices = PRICES.all(reader, sessionId).map(
    ([symbol, heldSince, open, openDate, close, closeDate]) => ({
      symbol,
      heldSince,
      open: toMark(open, openDate),
      close: toMark(close, closeDate),
    }),
  );
  const hasHeld = prices.some(({ heldSince }) => heldSince !== null);
  if (!hasHeld) return { prices, splits: [], dividends: [], exchanges: [] };
  return {
    prices,
    splits: SPLITS.all(reader, sessionId),
    dividends: DIVIDENDS.all(reader, sessionId),
    exchanges: EXCHANGES.all(reader, sessionId),
  };
}

function toMark(price: Money | null, date: CalendarDate | null): Mark | null {
  return price === null || date === null ? null : { price, date };
}

/**
 * The value of the holdings at the close, as far as prices are known. What exchanges took away or
 * brought only to take it away counts 0 without one.
 */
export function closingMarks({ prices, exchanges }: Evidence): ReadonlyMap<string, Money> {
  const passing = new Set(exchanges.flatMap(({ symbol, into }) => [symbol, into]));
  return new Map(
    prices.flatMap(({ symbol, close }) =>
      close !== null ? [[symbol, close.price]] : passing.has(symbol) ? [[symbol, money(0)]] : [],
    ),
  );
}
