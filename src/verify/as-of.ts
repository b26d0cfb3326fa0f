import type { Reader } from '../database/database.ts';
import {
  changesWithin,
  clockSetBacks,
  isLostAt,
  openPast,
  type Places,
  type TimeSpan,
} from '../database/past.ts';
import { type Market, openMarket } from '../trading/market.ts';
import type { DayRecord } from './record.ts';

/**
 * One way in which a session may have seen prices, splits and dividends. They are shown through the
 * connection, at one time of the day after the other.
 */
export interface View {
  /** The quotes of its date, which all models of a job read at once. */
  market(): Market;
  /** Shows what it read when it started: splits and dividends since the day before. */
  atStart(): void;
  /** Shows what a tool call read whose result was logged at a time. */
  atResult(loggedAt: string): void;
  /** Shows the closing marks. */
  atClose(): void;
  /**
   * Whether a price that was unknown then, or has been lost, is taken to be the first version that
   * is known.
   */
  isLenient: boolean;
}

/** The past of prices, as sessions saw it. The connection shows it until it is ended. */
export interface PastPrices {
  /** All ways in which a session may have seen it, the likeliest first. */
  views(record: DayRecord): Generator<View>;
  /** Whether a price that a session could read may have been replaced without a trace. */
  mayBeLost(record: DayRecord, symbols: readonly string[]): boolean;
  /** Shows prices as they are again. */
  end(): void;
}

/** The instants of a view. */
interface Instants {
  market: string;
  start: string;
  result(loggedAt: string): string;
  close: string;
}

/** Opens the past of prices through a connection, which must write none meanwhile. */
export function openPastPrices(reader: Reader): PastPrices {
  const setBacks = clockSetBacks(reader);
  const past = openPast(reader);
  let last: { key: string; universe: ReadonlySet<string>; market: Market } | undefined;
  // The model-days of a job share the market of a date, as they did when they ran.
  const marketOf = ({ session: { date }, terms }: DayRecord, key: string) => {
    if (last?.key === key && last.universe === terms.universe) return last.market;
    const market = openMarket(reader, date, [...terms.universe]);
    last = { key, universe: terms.universe, market };
    return market;
  };
  const viewOf = (record: DayRecord, at: Instants, isLenient = false): View => ({
    market() {
      past.goTo(at.market, isLenient);
      return marketOf(record, `${record.session.date} ${at.market} ${isLenient}`);
    },
    atStart: () => past.goTo(at.start, isLenient),
    atResult: (loggedAt) => past.goTo(at.result(loggedAt), isLenient),
    atClose: () => past.goTo(at.close, isLenient),
    isLenient,
  });
  return {
    *views(record) {
      const stamped = asStamped(record);
      yield viewOf(record, stamped);
      for (const other of sideBySide(reader, record, stamped)) yield viewOf(record, other);
      for (const other of afterSetBack(reader, record, setBacks)) yield viewOf(record, other);
      yield viewOf(record, stamped, true);
    },
    mayBeLost({ session }, symbols) {
      return isLostAt(reader, { symbols, upTo: session.date }, session.completedAt);
    },
    end: past.end,
  };
}

/** What the time stamps say. */
function asStamped({ session: { openedAt, startedAt, completedAt } }: DayRecord): Instants {
  return { market: openedAt, start: startedAt, result: (at) => at, close: completedAt };
}

/** Everything whose prices a model-day could read. */
export function symbolsOf({ terms, past, evidence }: DayRecord): string[] {
  const held = past?.holdings ?? [];
  return [
    ...new Set([...terms.universe, ...[...held, ...evidence.prices].map(({ symbol }) => symbol)]),
  ];
}

function placesOf(record: DayRecord): Places {
  return { symbols: symbolsOf(record), upTo: record.session.date };
}

/**
 * A price is stamped when it is prepared, but others see it only when its transaction commits,
 * which may take a while (an import writes thousands of bars in one). For this long its predecessor
 * may still be read.
 */
const MAX_COMMIT_DELAY_MS = 60_000;

/** A time stamp moved back by that; an unreadable one is returned unchanged. */
function justBefore(timestamp: string): string {
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? timestamp : new Date(instant - MAX_COMMIT_DELAY_MS).toISOString();
}

/**
 * Where else a session may have stood when prices changed while it ran: a market may have been
 * opened again by a process that resumed it, and a price is seen by others only some time after its
 * stamp. None when nothing changed.
 */
function* sideBySide(reader: Reader, record: DayRecord, stamped: Instants): Generator<Instants> {
  const { openedAt, startedAt, completedAt } = record.session;
  const from = justBefore(openedAt);
  const changes = changesWithin(reader, placesOf(record), { from, to: completedAt });
  if (changes.length === 0) return;
  const markets = [...new Set([openedAt, startedAt, from, ...changes])];
  const starts = [...new Set([startedAt, ...changes])];
  for (const isLate of [false, true])
    for (const market of markets)
      for (const start of starts)
        yield {
          ...stamped,
          market,
          start,
          ...(isLate && { result: justBefore, close: justBefore(completedAt) }),
        };
}

/** Where the clock was set back, a session may have stood at any instant that stamps leave open. */
function* afterSetBack(
  reader: Reader,
  record: DayRecord,
  setBacks: readonly TimeSpan[],
): Generator<Instants> {
  const { openedAt, completedAt } = record.session;
  const touched = setBacks.filter(({ from, to }) => from < completedAt && to > openedAt);
  if (touched.length === 0) return;
  const [from = openedAt] = [openedAt, ...touched.map((span) => span.from)].sort();
  const to = [completedAt, ...touched.map((span) => span.to)].sort().at(-1) ?? completedAt;
  for (const instant of [from, ...changesWithin(reader, placesOf(record), { from, to })])
    yield { market: instant, start: instant, result: () => instant, close: instant };
}
