import type { CalendarDate } from '#time/calendar.ts';
import { type Money, money } from '#money/money.ts';
import type { Database, Reader } from './database.ts';
import { bars, dividends, exchanges, splits } from '#database/schema/price-tables.ts';
import { STORED_EXCHANGE } from './exchanges.ts';
import { STORED_DIVIDEND } from './splits-and-dividends.ts';
import { amount, columnName, integer, orNull, query, type RowOf, selected, text } from './rows.ts';
import { SPLIT_COLUMNS } from './market-queries.ts';

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
 * What a session knew of what it held, in order: its splits, the dividends that it paid (`paid` is
 * per share of its series, in 1/1,000,000 dollar) and its exchanges.
 */
export interface KnownEvents {
  splits: readonly RowOf<typeof SPLITS>[];
  dividends: readonly RowOf<typeof DIVIDENDS>[];
  exchanges: readonly RowOf<typeof EXCHANGES>[];
}

/** What a model-day was computed from: also the prices of everything it held or traded. */
export interface Evidence extends KnownEvents {
  prices: readonly UsedPrice[];
}

/** A row of a table of evidence, as names and values; the first ones are its key in its session. */
interface EvidenceRow {
  table: string;
  keys: number;
  symbol: string;
  columns: [name: string, value: string | number | null][];
}

export function* evidenceRows({ prices, ...known }: Evidence): Generator<EvidenceRow> {
  for (const { symbol, heldSince, open, close } of prices) {
    const opened = { open_e4: open?.price ?? null, open_date: open?.date ?? null };
    const closed = { close_e4: close?.price ?? null, close_date: close?.date ?? null };
    const columns = Object.entries({ symbol, held_since: heldSince, ...opened, ...closed });
    yield { table: bars.evidence, keys: 1, symbol, columns };
  }
  const tables = { splits, dividends, exchanges };
  for (const kind of ['splits', 'dividends', 'exchanges'] as const) {
    const { evidence: table, key = [] } = tables[kind];
    for (const row of known[kind]) {
      const columns: EvidenceRow['columns'] = [];
      for (const [property, value] of Object.entries(row))
        columns.push([columnName(property), value]);
      yield { table, keys: 2 + key.length, symbol: row.symbol, columns };
    }
  }
}

/** Stores the evidence of a session within the transaction that commits it. */
export function storeEvidence(
  database: Database,
  { sessionId, date }: { sessionId: number; date: CalendarDate },
  evidence: Evidence,
): void {
  for (const { table, columns } of evidenceRows(evidence)) {
    const own = { session_id: sessionId, ...(table === bars.evidence && { date }) };
    const row = [...Object.entries(own), ...columns];
    const names = row.map(([name]) => name).join();
    const insert = `INSERT INTO ${table} (${names}) VALUES (${row.map(() => '?').join()})`;
    database.statement(insert).run(...row.map(([, value]) => value));
  }
}

const PRICES = query(
  'SELECT symbol, held_since, open_e4, open_date, close_e4, close_date FROM session_prices WHERE session_id = ?',
  [text, orNull(text), orNull(amount), orNull(text), orNull(amount), orNull(text)],
);
const ofSession = (table: string, columns: object) =>
  `SELECT ${selected(columns)} FROM ${table} WHERE session_id = ? ORDER BY 2, 1, 3`;
const KNOWN_DIVIDEND = { ...STORED_DIVIDEND, paid: integer };
const SPLITS = query(ofSession(splits.evidence, SPLIT_COLUMNS), SPLIT_COLUMNS);
const DIVIDENDS = query(ofSession(dividends.evidence, KNOWN_DIVIDEND), KNOWN_DIVIDEND);
const EXCHANGES = query(ofSession(exchanges.evidence, STORED_EXCHANGE), STORED_EXCHANGE);

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
