import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import { priorHoldings } from '#database/active-days.ts';
import type { Database, Reader } from '#database/database.ts';
import { datesOfJob } from '#database/model-days.ts';
import { latestPrices } from '#database/price-writes.ts';
import { activeSessions } from '#database/session-filters.ts';
import { dividendsBetween } from '#database/splits-and-dividends.ts';
import {
  heldSymbols,
  isHeldOver,
  largeDividend,
  possibleEnds,
  suspectedKinds,
  type Suspicion,
  unexplainedJumps,
} from '#database/suspicion-queries.ts';
import type { Warning } from '#domain/vocabulary.ts';
import { list } from '#text/sentences.ts';
import { approximateCashPerShare, MILLIONTHS } from '#trading/share-events.ts';

/** What the prices may not know: splits, what a dividend was, the end of a symbol. */

/** In the shares of their series; only those that changed after a write, if there is one. */
export function largeDividends(
  reader: Reader,
  symbols: readonly string[],
  { from: after, to: upTo }: DateSpan,
  write: number | null = null,
) {
  const all = dividendsBetween(latestPrices(reader), symbols, { after, upTo });
  return all.flatMap((dividend) =>
    largeDividend(reader, dividend, approximateCashPerShare(dividend) / MILLIONTHS, write),
  );
}

const EXCHANGES = 'symbol,date,cash,into,numerator,denominator,remains';

/** How each kind is named, found in the prices after one date up to another, and settled. */
export const kinds = {
  split: {
    noun: 'Possible split',
    find: unexplainedJumps,
    words: ({ from, to }: Suspicion) => `${from} to ${to}`,
    remedy: (key: string) =>
      `splits.csv with the header symbol,date,numerator,denominator and a line such as ${key},NEW,OLD ` +
      '(new shares for old ones, 1,1 for no split) and run import-prices splits.csv, ' +
      "or run download-prices with a provider's key",
  },
  dividend: {
    noun: 'Large dividend',
    find: largeDividends,
    words: ({ from, to }: Suspicion) => `${to} a share, after a close of ${from}`,
    remedy: (key: string) =>
      `dividends.csv with the header symbol,ex_date,amount,confirmed and a line such as ${key},AMOUNT,yes (dollars per share ` +
      'as paid, 0 for no dividend) and run import-prices dividends.csv; ' +
      `of a merger or a spin-off 0, and an exchanges.csv (${EXCHANGES})`,
  },
  end: {
    noun: 'Possible end',
    find: possibleEnds,
    words: ({ from, last, isCovered }: Suspicion) =>
      `${isCovered ? 'its last close is' : 'its file ends with'} ${from} on ${last}`,
    remedy: (key: string) =>
      `exchanges.csv with the header ${EXCHANGES} and a line such as ${key},CASH,,,, (cash per share, 0 if it is worthless; ` +
      `${key},,INTO,NEW,OLD, for new shares of INTO) and run import-prices exchanges.csv, or import its later prices`,
  },
};

/** A symbol may have ended that did not trade on so many sessions on which others did. */
const END_SESSIONS = 5;

/** A model-day; where it starts is looked up if it is not given. */
interface Day {
  sessionId: number;
  jobId: string;
  date: CalendarDate;
  startDate?: CalendarDate | null;
}

/**
 * Finds what some model-days of one model, in order, held a symbol over, with those that did;
 * settled by whatever explains it in the prices of now, which are read once, for all calls. The
 * date of an end is that of the first of them.
 */
export function createSuspicionSearch(
  reader: Reader,
  span: DateSpan,
  some: readonly Suspicion['kind'][] = suspectedKinds,
) {
  const symbols = heldSymbols(reader).map(({ symbol }) => symbol);
  const all = some.flatMap((kind) => kinds[kind].find(reader, symbols, span));
  return (days: readonly Day[]) =>
    all.flatMap((one) => {
      const isEnd = one.kind === 'end';
      const over = days.filter(
        ({ sessionId, date, startDate }) =>
          date >= one.date &&
          (isEnd || (startDate ?? '') < one.date) &&
          isHeldOver(reader, sessionId, one),
      );
      const [first] = over;
      if (first === undefined || (isEnd && over.length < END_SESSIONS)) return [];
      return [{ ...one, date: isEnd ? first.date : one.date, days: over }];
    });
}

/** Suspicions that are named in one sentence; the rest are only counted. */
export const MAX_NAMED = 10;

/** Some suspicions by kind, with how to settle them. */
export function describeSuspicions(all: readonly Suspicion[]) {
  return [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, some]) => {
    const { noun, words, remedy } = kinds[kind];
    const names = some.map((one) => `${one.symbol} on ${one.date} (${words(one)})`);
    const [line] = some.map(({ symbol, date }) => remedy(`${symbol},${date}`));
    const text = `${list(names, { most: MAX_NAMED })}. To settle this, write a file ${line}`;
    return { kind, some, noun, text };
  });
}

/** `possible split of ORLY on 2025-06-10`. */
export function nameSuspicion({ kind, symbol, date }: Suspicion): string {
  return `${kinds[kind].noun.toLowerCase()} of ${symbol} on ${date}`;
}

/** The warnings of a job, one for each kind. */
export function suspicionWarnings(all: readonly Suspicion[]): Warning[] {
  return describeSuspicions(all).map(({ kind, some, noun, text }) => {
    const by = kind === 'split' ? ', not confirmed by a provider' : '';
    const message = `${noun}${some.length === 1 ? '' : 's'}${by}: ${text}`;
    return { code: `possible_${kind}`, message, about: some.slice(0, MAX_NAMED).map(suspicionKey) };
  });
}

export function suspicionKey({ symbol, date, from, to }: Suspicion): string {
  return [symbol, date, from, to].join(' ');
}

/** Model-days so long before a job count to those that held a symbol after its end. */
const MAX_END_DAYS = 60;

/** Of the large dividends and the possible ends over which a job's model-days held symbols. */
export function heldWarnings(
  database: Database,
  jobId: string,
  models: readonly string[],
): Warning[] {
  const dates = datesOfJob(database, jobId);
  const [first = '', to = first] = [dates[0], dates.at(-1)];
  const { since: from } = priorHoldings(database, models, first);
  const search = createSuspicionSearch(database, { from, to }, ['dividend', 'end']);
  const startDate = addDays(first, -MAX_END_DAYS);
  const found = new Map<string, Suspicion>();
  for (const model of models)
    for (const one of search([...activeSessions(database, { model, startDate })]))
      if (one.days.some((day) => day.jobId === jobId)) found.set(nameSuspicion(one), one);
  return suspicionWarnings([...found.values()]);
}
