import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import type { Database, Reader } from '#database/database.ts';
import { latestPrices } from '#database/price-writes.ts';
import { dividendsBetween, type Jump, unexplainedJumps } from '#database/splits-and-dividends.ts';
import {
  daysOfModels,
  doubtfulDividends,
  type HeldSymbol,
  heldSymbols,
  holders,
  jobSpan,
  lastBarsOf,
  othersTraded,
} from '#database/suspicion-queries.ts';
import type { Warning } from '#domain/vocabulary.ts';
import { list } from '#text/sentences.ts';
import { approximateCashPerShare } from '#trading/morning.ts';

/** What the prices look as if they do not know: splits, what a dividend was, the end of a symbol. */

export const suspectedKinds = ['split', 'dividend', 'end'] as const;

/** Something that is suspected of a symbol. */
export interface Suspicion {
  kind: (typeof suspectedKinds)[number];
  symbol: string;
  /** Of the jump, the ex-date, or the first session without a bar. */
  date: CalendarDate;
  /** The close before. */
  from: number;
  /** The open, the cash per share, or null. */
  to: number | null;
  /** Of an end, as far as a job's stored warning is about it. */
  end?: LastBar;
}

/** The last bar of a symbol, and through which date its prices are known. */
type LastBar = ReturnType<typeof lastBarsOf>[number];

/** A model-day, as far as it says what a symbol was held over. */
interface Day {
  sessionId: number;
  date: CalendarDate;
  startDate: CalendarDate | null;
  paysDividends: boolean | 0 | 1;
}

/** With the model-days that held the symbol over it. */
export type Suspected<Own extends Day = Day> = Suspicion & { days: Own[] };

/** A dividend above this share of the close before it may be something else. */
export const MAX_SHARE_OF_CLOSE = 0.25;
/** A symbol may have ended that did not trade on so many sessions on which others did. */
const END_SESSIONS = 5;

/** In the shares of their series, without those that prices contain. */
function largeDividends(reader: Reader, symbols: readonly string[], span: DateSpan): Suspicion[] {
  const doubtful = doubtfulDividends(reader, symbols, span, MAX_SHARE_OF_CLOSE);
  if (doubtful.length === 0) return [];
  const closes = new Map(doubtful.map((one) => [`${one.symbol} ${one.exDate}`, one.close]));
  const payers = [...new Set(doubtful.map(({ symbol }) => symbol))];
  const window = { after: span.from, upTo: span.to };
  return dividendsBetween(latestPrices(reader), payers, window).flatMap((dividend) => {
    const { symbol, exDate: date } = dividend;
    const [from, to] = [closes.get(`${symbol} ${date}`), approximateCashPerShare(dividend) / 1e6];
    return from !== undefined && to > MAX_SHARE_OF_CLOSE * from
      ? [{ kind: 'dividend', symbol, date, from, to }]
      : [];
  });
}

function possibleSplits(reader: Reader, symbols: readonly string[], span: DateSpan): Suspicion[] {
  return [...unexplainedJumps(reader, symbols, span)].map(toSuspicion);
}

export function toSuspicion({ symbol, date, previousClose: from, open: to }: Jump): Suspicion {
  return { kind: 'split', symbol, date, from, to };
}

/** Symbols that were held after their last bars. */
function possibleEnds(reader: Reader, held: readonly HeldSymbol[]): LastBar[] {
  const heldOn = new Map(held.map(({ symbol, lastDate }) => [symbol, lastDate]));
  const symbols = [...heldOn.keys()];
  return lastBarsOf(reader, symbols).filter(
    ({ symbol, date }) => date < (heldOn.get(symbol) ?? ''),
  );
}

/**
 * Finds what of some model-days' figures is in doubt, because they held a symbol over it; settled by
 * whatever explains it in the prices of now. Prices are read once, for all calls.
 */
export function createSuspicionSearch(
  reader: Reader,
  held: readonly HeldSymbol[],
  span: DateSpan,
): <Own extends Day>(days: readonly Own[]) => Suspected<Own>[] {
  const symbols = held.map(({ symbol }) => symbol);
  const nights = [
    ...possibleSplits(reader, symbols, span),
    ...largeDividends(reader, symbols, span),
  ];
  return searchIn(reader, nights, possibleEnds(reader, held));
}

function searchIn(reader: Reader, nights: readonly Suspicion[], ends: readonly LastBar[]) {
  const bySymbol = Map.groupBy(nights, ({ symbol }) => symbol);
  return <Own extends Day>(days: readonly Own[]): Suspected<Own>[] => [
    ...[...bySymbol.values()].flatMap((own) => heldOver(reader, own, days)),
    ...ends.flatMap((end) => heldAfter(reader, end, days)),
  ];
}

/** Those of the nights of one symbol over which some model-days held it. */
function heldOver<Own extends Day>(
  reader: Reader,
  nights: readonly Suspicion[],
  days: readonly Own[],
): Suspected<Own>[] {
  const over = nights.map((night) => ({
    ...night,
    days: days.filter(
      ({ startDate, date, paysDividends }) =>
        startDate !== null &&
        startDate < night.date &&
        night.date <= date &&
        (night.kind !== 'dividend' || paysDividends),
    ),
  }));
  const [first] = over;
  const all = over.flatMap((own) => own.days);
  if (first === undefined || all.length === 0) return [];
  const own = holders(reader, all, first.symbol);
  return over
    .map((one) => ({ ...one, days: one.days.filter(({ sessionId }) => own.has(sessionId)) }))
    .filter((one) => one.days.length > 0);
}

/** Where some model-days held a symbol over enough sessions after its last bar. */
function heldAfter<Own extends Day>(
  reader: Reader,
  end: LastBar,
  days: readonly Own[],
): Suspected<Own>[] {
  const { symbol, date: last, close: from } = end;
  const later = days.filter(({ date }) => date > last);
  if (later.length < END_SESSIONS) return [];
  const own = holders(reader, later, symbol);
  const held = later.filter(({ sessionId }) => own.has(sessionId));
  const traded = othersTraded(reader, held, symbol);
  const over = held.filter(({ sessionId }) => traded.has(sessionId));
  const date = over.reduce((least, day) => (day.date < least ? day.date : least), '~');
  return over.length < END_SESSIONS
    ? []
    : [{ kind: 'end', symbol, date, from, to: null, end, days: over }];
}

/** What each kind is called, its warning's code, and how to settle it, as commands. */
const KINDS = {
  split: {
    noun: 'possible split',
    code: 'possible_split',
    settle: ({ symbol, date }: Suspicion) =>
      `write a file splits.csv with the header symbol,date,numerator,denominator and a line such as ${symbol},${date},NEW,OLD ` +
      '(new shares for old ones, 1,1 for no split) and run import-prices splits.csv, ' +
      "or run download-prices with a provider's key",
  },
  dividend: {
    noun: 'large dividend',
    code: 'possible_dividend',
    settle: ({ symbol, date }: Suspicion) =>
      `write a file dividends.csv with the header symbol,ex_date,amount,confirmed and a line such as ${symbol},${date},AMOUNT,yes ` +
      '(the dollars per share as paid, 0 for no dividend) and run import-prices dividends.csv; ' +
      `of a merger or a spin-off also exchanges.csv (symbol,date,cash,into,numerator,denominator,remains)`,
  },
  end: {
    noun: 'possible end',
    code: 'possible_end',
    settle: ({ symbol, date }: Suspicion) =>
      'write a file exchanges.csv with the header symbol,date,cash,into,numerator,denominator,remains and a line such as ' +
      `${symbol},${date},CASH,,,, (cash per share, 0 if it is worthless; ${symbol},${date},,INTO,NEW,OLD, for new shares of INTO) ` +
      'and run import-prices exchanges.csv, or import its later prices',
  },
} as const;

/** Suspicions that are named in one sentence; the rest are only counted. */
export const MAX_NAMED = 10;

/** Some suspicions of one kind by name, and how to settle them. */
export function describeSuspicions(some: readonly Suspicion[]): string {
  const [first] = some;
  const named = list(some.map(suspicionText), { most: MAX_NAMED });
  return first === undefined ? '' : `${named}. To settle this, ${KINDS[first.kind].settle(first)}`;
}

function suspicionText({ kind, symbol, date, from, to, end }: Suspicion): string {
  const what = `${symbol} on ${date}`;
  if (kind === 'split') return `${what} (${from} to ${to})`;
  if (kind === 'dividend') return `${what} (${to} a share, after a close of ${from})`;
  const isCovered = (end?.knownThrough ?? '') >= date;
  return `${what} (${isCovered ? 'its last close is' : 'its file ends with'} ${from} on ${end?.date})`;
}

/** `possible split of ORLY on 2025-06-10`. */
export function nameSuspicion({ kind, symbol, date }: Suspicion): string {
  return `${KINDS[kind].noun} of ${symbol} on ${date}`;
}

/** The warning of a job of suspicions of one kind. */
export function suspicionWarnings(some: readonly Suspicion[]): Warning[] {
  const [first] = some;
  if (first === undefined) return [];
  const { noun, code } = KINDS[first.kind];
  const by = first.kind === 'split' ? ', not confirmed by a provider' : '';
  const message = `${upperFirst(noun)}${some.length === 1 ? '' : 's'}${by}: ${describeSuspicions(some)}`;
  return [{ code, message, about: some.slice(0, MAX_NAMED).map(suspicionKey) }];
}

export function suspicionKey({ symbol, date, from, to, end }: Suspicion): string {
  return [symbol, date, from, to ?? end?.date].join(' ');
}

const upperFirst = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** The warning with a code that asks to settle something, as it began; undefined of other codes. */
export function settledNoun(code: Warning['code']): string | undefined {
  const kind = Object.values(KINDS).find((own) => own.code === code);
  return kind && `${upperFirst(kind.noun)}s`;
}

/** What of a subject of a job's stored warning is still suspected. */
export function stillSuspected(reader: Reader, code: Warning['code'], key: string): Suspicion[] {
  const [symbol = '', date = '', from, last = ''] = key.split(' ');
  const span = { from: addDays(date, -1), to: date };
  if (code === 'possible_split') return possibleSplits(reader, [symbol], span);
  if (code === 'possible_dividend') return largeDividends(reader, [symbol], span);
  return lastBarsOf(reader, [symbol])
    .filter((end) => end.date === last)
    .map((end) => ({ kind: 'end', symbol, date, from: Number(from), to: null, end }));
}

/**
 * The large dividends that the model-days of a job were paid, and the symbols without prices that
 * they held: known at its end.
 */
export function heldSuspicions(database: Database, jobId: string): Warning[] {
  const span = jobSpan(database, jobId);
  if (span === undefined) return [];
  const held = heldSymbols(database);
  const symbols = held.map(({ symbol }) => symbol);
  const dividends = largeDividends(database, symbols, span);
  const ends = possibleEnds(database, held);
  if (dividends.length + ends.length === 0) return [];
  const from = [span.from, ...ends.map(({ date }) => date)].sort()[0] ?? '';
  const search = searchIn(database, dividends, ends);
  const byModel = Map.groupBy(daysOfModels(database, jobId, from), ({ model }) => model);
  const found = new Map<string, Suspicion>();
  for (const days of byModel.values())
    for (const one of search(days))
      if (one.days.some((day) => day.jobId === jobId)) {
        const key = `${one.kind} ${one.symbol} ${one.end?.date ?? one.date}`;
        const known = found.get(key);
        if (known === undefined || one.date < known.date) found.set(key, one);
      }
  return suspectedKinds.flatMap((kind) =>
    suspicionWarnings([...found.values()].filter((one) => one.kind === kind)),
  );
}
