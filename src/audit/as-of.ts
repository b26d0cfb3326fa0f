import { type AuditedSession, type Lifetime, type SplitVersion, firstStartOf, wasAdjusted } from '../database/audit.ts';
import type { Reader } from '../database/database.ts';
import type { Money } from '../money.ts';
import {
  type At,
  type DollarsOf,
  type History,
  type Marks,
  markAt,
  marksAt,
  openAt,
  originsOf,
  splitDays,
} from './history.ts';
import {
  type Moment,
  type Versions,
  changesWithin,
  isThereAllThrough,
  laterVersion,
  shift,
  versionAt,
  versionsWithin,
} from './lifetimes.ts';

/**
 * A price carries the time at which it was made ready; others see it when its transaction is committed, and that may
 * take a while (an import writes thousands of bars at once). So for this long its predecessor may still be read.
 */
const MAX_COMMIT_DELAY_MS = 60_000;
/** Changes about the time of one model-day that are told apart. */
const MAX_INSTANTS = 1_000;

/** What something was, by the stamps, and what else it may have been. */
export interface AsOf<Value> {
  likeliest: Value;
  /** All that it may have been, as it changed about then; the likeliest first. */
  all(): Iterable<Value>;
  /** False when a row that it came from may have been replaced without a trace: then not even `all` is sure to have it. */
  isComplete(): boolean;
}

/** What follows from something that was. */
export function mapped<Value, Result>(asOf: AsOf<Value>, map: (value: Value) => Result): AsOf<Result> {
  return { likeliest: map(asOf.likeliest), all: () => Iterator.from(asOf.all()).map(map), isComplete: asOf.isComplete };
}

/** What one split may have been when a session began. */
export interface KnownSplit {
  /** The likeliest first; null where it may have been unknown. */
  choices: (SplitVersion | null)[];
  /** False when it may have been replaced without a trace. */
  isComplete: boolean;
}

/** The prices of one model-day as they stood when it was made. A price that there was not is null. */
export interface PricesAsOf {
  /** What an order filled at. */
  open(symbol: string): AsOf<Money | null>;
  /** What a holding was worth inside the session: the open, else the last earlier close, else the last earlier open. */
  morningMark(symbol: string): AsOf<Money | null>;
  /** What holdings were marked at: the close, else the open, else the last earlier close, else the last earlier open. */
  closingMarks(symbols: readonly string[]): AsOf<Marks>;
  /** The splits of some symbols since the day it started from, in order. */
  splits(symbols: readonly string[]): KnownSplit[];
}

/** The prices of a model-day of the history's date; `symbols` are all that it held or traded. */
export function pricesAsOf(day: History, session: AuditedSession, symbols: readonly string[]): PricesAsOf {
  const { startedAt, completedAt, pastDate } = session;
  const { reader, date } = day;
  day.load(symbols);
  const ms = MAX_COMMIT_DELAY_MS;
  const atCommit = () => ({ from: shift(completedAt, -ms), to: completedAt });
  // The models of a date share its opens; they are read just before the first of them starts.
  const atOpening = () => ({ from: shift(firstStartOf(reader, session), -ms), to: completedAt });
  const open: DollarsOf = (bar) => bar.open;
  const close: DollarsOf = (bar) => bar.close ?? bar.open;
  return {
    open: (symbol) =>
      asOf(completedAt, {
        valueAt: (at) => openAt(day, symbol, at),
        history: () => historyOf([day.bars(symbol)], atOpening()),
      }),
    morningMark: (symbol) =>
      asOf(completedAt, {
        valueAt: (at) => markAt(day, symbol, { ...at, dollarsOf: open }),
        history: () => historyOf(originsOf(day, symbol, atOpening()), atOpening()),
      }),
    closingMarks: (held) =>
      asOf(completedAt, {
        valueAt: (at) => marksAt(day, held, { ...at, dollarsOf: close }),
        history: () =>
          historyOf(
            held.flatMap((symbol) => originsOf(day, symbol, atCommit())),
            atCommit(),
          ),
      }),
    splits(held) {
      if (pastDate === null || held.length === 0) return [];
      // Read at the start, or later by a process that took the session up again.
      const moment = { from: shift(startedAt, -ms), to: completedAt };
      const days = splitDays(reader, held, { after: pastDate, upTo: date });
      return days.map((versions) => knownSplit(reader, versions, { at: startedAt, moment }));
    },
  };
}

interface RowHistory {
  /** Between them the rows changed; none when they were the same all the time. */
  instants: string[];
  isComplete: boolean;
}

function asOf<Value>(
  at: string,
  { valueAt, history }: { valueAt: (at: At) => Value; history: () => RowHistory },
): AsOf<Value> {
  const likeliest = valueAt({ at, fill: false });
  const rows = once(history);
  return {
    likeliest,
    *all() {
      yield likeliest;
      for (const instant of rows().instants) {
        yield valueAt({ at: instant, fill: false });
        if (!rows().isComplete) yield valueAt({ at: instant, fill: true });
      }
      if (!rows().isComplete) yield valueAt({ at, fill: true });
    },
    isComplete: () => rows().isComplete,
  };
}

function historyOf(rows: readonly Versions<Lifetime>[], moment: Moment): RowHistory {
  const changes = [...new Set(rows.flatMap((versions) => changesWithin(versions, moment)))].sort().reverse();
  return {
    instants: changes.length === 0 ? [] : [...changes.slice(0, MAX_INSTANTS), moment.from],
    isComplete: rows.every((versions) => laterVersion(versions, moment.to) === undefined),
  };
}

function knownSplit(
  reader: Reader,
  versions: Versions<SplitVersion>,
  { at, moment }: { at: string; moment: Moment },
): KnownSplit {
  const { symbol } = versions[0] as SplitVersion;
  const later = laterVersion(versions, moment.to);
  const wasAdjustedAt = [at, moment.from, moment.to].map((instant) => wasAdjusted(reader, symbol, instant));
  if (wasAdjustedAt.every(Boolean)) return { choices: [null], isComplete: true };
  const within = versionsWithin(versions, moment);
  const likeliest = wasAdjustedAt[0] ? undefined : versionAt(versions, at);
  const others = [...within, ...(later ? [later] : [])].filter((version) => version !== likeliest);
  const isCertain = isThereAllThrough(versions, moment) && !wasAdjustedAt.some(Boolean);
  const choices = likeliest ? [likeliest, ...others, ...(isCertain ? [] : [null])] : [null, ...others];
  return { choices, isComplete: later === undefined };
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
