import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import type { Database, Reader } from '#database/database.ts';
import { dividendsSince, type Jump, unexplainedJumps } from '#database/splits-and-dividends.ts';
import {
  daysOfModels,
  type HeldSymbol,
  heldSymbols,
  holders,
  lastBarsOf,
} from '#database/suspicion-queries.ts';
import type { Warning } from '#domain/vocabulary.ts';
import { list } from '#text/sentences.ts';
import { approximateCashPerShare } from '#trading/morning.ts';

/** What the prices may not know: splits, what a dividend was, the end of a symbol. */

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
  /** The date of the close before, and whether prices are known to be complete after it. */
  last?: CalendarDate;
  isCovered?: 0 | 1;
}

/** A model-day, as far as it says what a symbol was held over. */
interface Day {
  sessionId: number;
  jobId: string;
  date: CalendarDate;
  startDate: CalendarDate | null;
  paysDividends: boolean | 0 | 1;
}

/** With the model-days that held the symbol over it. */
export type Suspected = Suspicion & { days: Day[] };

/** A dividend above this share of the close before it may be something else. */
const MAX_SHARE_OF_CLOSE = 0.25;
/** A symbol may have ended that did not trade on so many sessions on which others did. */
const END_SESSIONS = 5;

/** In the shares of their series; only those that changed after a write, if there is one. */
export function largeDividends(
  reader: Reader,
  symbols: readonly string[],
  span?: DateSpan,
  write?: number,
): Suspicion[] {
  return dividendsSince(reader, symbols, span, write).flatMap((dividend) => {
    const { symbol, exDate: date, close: from, closeDate: last } = dividend;
    const to = approximateCashPerShare(dividend) / 1_000_000;
    return to > MAX_SHARE_OF_CLOSE * from
      ? [{ kind: 'dividend', symbol, date, from, to, last }]
      : [];
  });
}

export function toSuspicion({ symbol, date, previousClose: from, open: to }: Jump): Suspicion {
  return { kind: 'split', symbol, date, from, to };
}

const possibleSplits = (reader: Reader, symbols: readonly string[], span: DateSpan) =>
  [...unexplainedJumps(reader, symbols, span)].map(toSuspicion);

/** The last bars of some symbols, from the day after on. */
const lastBars = (reader: Reader, symbols: readonly string[]) =>
  lastBarsOf(reader, symbols).map(
    (bar): Suspicion => ({ kind: 'end', ...bar, date: addDays(bar.last, 1), to: null }),
  );

/**
 * Finds what some model-days of one model held a symbol over; settled by whatever explains it in the
 * prices of now, which are read once, for all calls.
 */
export function createSuspicionSearch(
  reader: Reader,
  held: readonly HeldSymbol[],
  span: DateSpan,
  { withSplits = true } = {},
) {
  const symbols = held.map(({ symbol }) => symbol);
  const heldOn = new Map(held.map(({ symbol, lastDate }) => [symbol, lastDate]));
  const all = [
    ...(withSplits ? possibleSplits(reader, symbols, span) : []),
    ...largeDividends(reader, symbols, span),
    ...lastBars(reader, symbols).filter(({ symbol, date }) => date <= (heldOn.get(symbol) ?? '')),
  ];
  return (days: readonly Day[]): Suspected[] =>
    all.flatMap((one) => {
      const isEnd = one.kind === 'end';
      const least = isEnd ? END_SESSIONS : 1;
      const over = days.filter(
        ({ date, startDate, paysDividends }) =>
          date >= one.date &&
          (isEnd || (startDate ?? date) < one.date) &&
          (one.kind !== 'dividend' || paysDividends),
      );
      const own = over.length < least ? null : holders(reader, over, one.symbol, isEnd);
      const found = over.filter(({ sessionId }) => own?.has(sessionId));
      const [first] = found.map(({ date }) => date).sort();
      if (first === undefined || found.length < least) return [];
      return [{ ...one, date: isEnd ? first : one.date, days: found }];
    });
}

const EXCHANGES = 'symbol,date,cash,into,numerator,denominator,remains';
const NOUNS = { split: 'possible split', dividend: 'large dividend', end: 'possible end' };

/** How to settle something of a symbol and a date, as commands. */
const REMEDIES: Record<Suspicion['kind'], (key: string) => string> = {
  split: (key) =>
    `splits.csv with the header symbol,date,numerator,denominator and a line such as ${key},NEW,OLD ` +
    '(new shares for old ones, 1,1 for no split) and run import-prices splits.csv, ' +
    "or run download-prices with a provider's key",
  dividend: (key) =>
    `dividends.csv with the header symbol,ex_date,amount,confirmed and a line such as ${key},AMOUNT,yes (dollars per share ` +
    'as paid, 0 for no dividend) and run import-prices dividends.csv; ' +
    `of a merger or a spin-off 0, and an exchanges.csv (${EXCHANGES})`,
  end: (key) =>
    `exchanges.csv with the header ${EXCHANGES} and a line such as ${key},CASH,,,, (cash per share, 0 if it is worthless; ` +
    `${key},,INTO,NEW,OLD, for new shares of INTO) and run import-prices exchanges.csv, or import its later prices`,
};

/** Suspicions that are named in one sentence; the rest are only counted. */
export const MAX_NAMED = 10;

/** Some suspicions by kind, with how to settle them. */
export function describeSuspicions<Some extends Suspicion>(all: readonly Some[]) {
  return [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, some]) => {
    const [line] = some.map(({ symbol, date }) => REMEDIES[kind](`${symbol},${date}`));
    const named = list(some.map(suspicionText), { most: MAX_NAMED });
    const text = `${named}. To settle this, write a file ${line}`;
    return { kind, some, noun: NOUNS[kind], text };
  });
}

function suspicionText({ kind, symbol, date, from, to, last, isCovered }: Suspicion): string {
  const words = {
    split: `${from} to ${to}`,
    dividend: `${to} a share, after a close of ${from}`,
    end: `${isCovered ? 'its last close is' : 'its file ends with'} ${from} on ${last}`,
  };
  return `${symbol} on ${date} (${words[kind]})`;
}

/** `possible split of ORLY on 2025-06-10`. */
export function nameSuspicion({ kind, symbol, date }: Suspicion): string {
  return `${NOUNS[kind]} of ${symbol} on ${date}`;
}

/** The warnings of a job, one for each kind. */
export function suspicionWarnings(all: readonly Suspicion[]): Warning[] {
  return describeSuspicions(all).map(({ kind, some, noun, text }) => {
    const by = kind === 'split' ? ', not confirmed by a provider' : '';
    const message = `${upperFirst(noun)}${some.length === 1 ? '' : 's'}${by}: ${text}`;
    return { code: `possible_${kind}`, message, about: some.slice(0, MAX_NAMED).map(suspicionKey) };
  });
}

export function suspicionKey({ symbol, date, from, to, last }: Suspicion): string {
  return [symbol, date, from, to ?? last].join(' ');
}

const upperFirst = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** What warnings with a code are about, in the plural; undefined where nothing is to be settled. */
export function settledNoun(code: Warning['code']): string | undefined {
  const kind = suspectedKinds.find((own) => code === `possible_${own}`);
  return kind && `${upperFirst(NOUNS[kind])}s`;
}

/** What of a subject of a job's stored warning is still suspected. */
export function stillSuspected(reader: Reader, code: Warning['code'], key: string): Suspicion[] {
  const [symbol = '', date = '', , last] = key.split(' ');
  const span = { from: addDays(date, -1), to: date };
  if (code === 'possible_split') return possibleSplits(reader, [symbol], span);
  if (code === 'possible_dividend') return largeDividends(reader, [symbol], span);
  return lastBars(reader, [symbol]).flatMap((own) => (own.last === last ? { ...own, date } : []));
}

/** Of the large dividends and the possible ends over which a job's model-days held symbols. */
export function heldWarnings(database: Database, jobId: string): Warning[] {
  const days = daysOfModels(database, jobId);
  const isOwn = (day: Day) => day.jobId === jobId;
  const dates = days.filter(isOwn).flatMap(({ startDate, date }) => [startDate ?? date, date]);
  const [from = '', to = from] = [dates.sort()[0], dates.at(-1)];
  const held = heldSymbols(database);
  const search = createSuspicionSearch(database, held, { from, to }, { withSplits: false });
  const found = [...Map.groupBy(days, ({ model }) => model).values()].flatMap(search);
  const own = found.filter((one) => one.days.some(isOwn));
  return suspicionWarnings([...new Map(own.map((one) => [nameSuspicion(one), one])).values()]);
}
