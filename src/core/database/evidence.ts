import type { CalendarDate } from '#time/calendar.ts';
import { type Money, money } from '#money/money.ts';
import type { Database, Reader } from './database.ts';
import {
  bars,
  dividends,
  exchanges,
  type RevisedTable,
  splits,
} from '#database/schema/price-tables.ts';
import { STORED_EXCHANGE, type StoredEvents } from './exchanges.ts';
import { STORED_DIVIDEND } from './splits-and-dividends.ts';
import {
  amount,
  asColumns,
  insertRow,
  millionths,
  orNull,
  query,
  type RowOf,
  type ShapedRow,
  type TableShape,
  text,
} from './rows.ts';
import { SPLIT_COLUMNS } from './market-queries.ts';

/**
 * A price used for valuation, adjusted for splits up to the session's date, and the date of its
 * bar.
 */
export interface Mark {
  price: Money;
  date: CalendarDate;
}

/** A table of what sessions knew of a table of prices, in the order of its key. */
function evidenceTable<const Shape extends TableShape>(
  { evidence: table, date, key = [] }: RevisedTable,
  shape: Shape,
) {
  const keys = [date, 'symbol', ...key];
  return {
    ...query(`SELECT {} FROM ${table} WHERE session_id = ? ORDER BY ${keys.join()}`, shape),
    toRows: (rows: readonly ShapedRow<Shape>[]) =>
      rows.map((row) => {
        const columns = asColumns(shape, row);
        const own = Object.keys(columns).filter((name) => keys.includes(name));
        return { table, columns, name: [table, ...own.map((name) => columns[name])].join(' ') };
      }),
  };
}

const PRICES = evidenceTable(bars, {
  symbol: text,
  /** For a symbol held in the morning: the date of the day that the session started from. */
  heldSince: orNull(text),
  /** Each with the date of its bar; null when there was no price, or when it is unknown. */
  open: orNull(amount),
  openDate: orNull(text),
  close: orNull(amount),
  closeDate: orNull(text),
});
const SPLITS = evidenceTable(splits, SPLIT_COLUMNS);
const DIVIDENDS = evidenceTable(dividends, { ...STORED_DIVIDEND, paid: millionths });
const EXCHANGES = evidenceTable(exchanges, STORED_EXCHANGE);

/**
 * What a session knew of what it held, in order: its splits, the dividends that it paid (`paid` is
 * per share of its series, in 1/1,000,000 dollar) and its exchanges.
 */
export interface KnownEvents extends StoredEvents {
  dividends: readonly RowOf<typeof DIVIDENDS>[];
}

/** What a model-day was computed from: also the prices of everything it held or traded. */
export interface Evidence extends KnownEvents {
  prices: readonly RowOf<typeof PRICES>[];
}

/** Evidence as rows of its tables, each with a name that tells it apart in its session. */
export function evidenceRows(known: Evidence) {
  return [
    ...PRICES.toRows(known.prices),
    ...SPLITS.toRows(known.splits),
    ...DIVIDENDS.toRows(known.dividends),
    ...EXCHANGES.toRows(known.exchanges),
  ];
}

/** Stores the evidence of a session within the transaction that commits it. */
export function storeEvidence(
  database: Database,
  { sessionId, date }: { sessionId: number; date: CalendarDate },
  evidence: Evidence,
): void {
  for (const { table, columns } of evidenceRows(evidence)) {
    const own = { sessionId, ...(table === bars.evidence && { date }) };
    insertRow(database, table, { ...own, ...columns });
  }
}

export function readEvidence(reader: Reader, sessionId: number): Evidence {
  const prices = PRICES.all(reader, sessionId);
  return {
    prices,
    splits: SPLITS.all(reader, sessionId),
    dividends: DIVIDENDS.all(reader, sessionId),
    exchanges: EXCHANGES.all(reader, sessionId),
  };
}

/**
 * The value of the holdings at the close, as far as prices are known. What exchanges took away or
 * brought only to take it away counts 0 without one.
 */
export function closingMarks({ prices, exchanges }: Evidence): ReadonlyMap<string, Money> {
  const passing = exchanges.flatMap(({ symbol, into }) => [symbol, into]);
  const marks = new Map(passing.map((symbol) => [symbol, money(0)]));
  for (const { symbol, close } of prices) if (close !== null) marks.set(symbol, close);
  return marks;
}
