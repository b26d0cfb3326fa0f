import type { CalendarDate } from '../calendar.ts';
import {
  type AuditedSession,
  type BarVersion,
  type Lifetime,
  type SplitVersion,
  barVersions,
  earlierBarVersions,
  firstStartOf,
  splitVersions,
  wasAdjusted,
} from '../database/audit.ts';
import type { Reader } from '../database/database.ts';
import { type Money, fromDollars } from '../money.ts';
import { type Moment, changesWithin, laterVersion, shift, spans, versionAt, versionsWithin } from './lifetimes.ts';

/**
 * A price carries the time at which it was made ready; others see it when its transaction is committed, and that may
 * take a while (an import writes thousands of bars at once). So for this long its predecessor may still be read.
 */
const MAX_COMMIT_DELAY_MS = 60_000;
/** Changes about the time of one model-day that are told apart. */
const MAX_INSTANTS = 200;

export type Marks = ReadonlyMap<string, Money>;

/** What something was, by the stamps, and what else it may have been. */
export interface AsOf<Value> {
  likeliest: Value;
  /** All that it may have been, as it changed about then; the likeliest first. */
  all(): Value[];
  /** False when a row that it came from may have been replaced without a trace: then not even `all` is sure to have it. */
  isComplete(): boolean;
}

/** What follows from something that was. */
export function mapped<Value, Result>(asOf: AsOf<Value>, map: (value: Value) => Result): AsOf<Result> {
  return { likeliest: map(asOf.likeliest), all: () => asOf.all().map(map), isComplete: asOf.isComplete };
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

/** The price history of one date, shared by its model-days. */
export interface History {
  readonly reader: Reader;
  readonly date: CalendarDate;
  /** All bars that a symbol ever had on the date. */
  bars(symbol: string): readonly BarVersion[];
  /** Reads the bars of some symbols at once. */
  load(symbols: readonly string[]): void;
}

export function createHistory(reader: Reader, date: CalendarDate): History {
  const known = new Map<string, BarVersion[]>();
  return {
    reader,
    date,
    bars: (symbol) => known.get(symbol) ?? [],
    load(symbols) {
      const unknown = symbols.filter((symbol) => !known.has(symbol));
      if (unknown.length === 0) return;
      for (const symbol of unknown) known.set(symbol, []);
      for (const bar of barVersions(reader, date, unknown)) known.get(bar.symbol)?.push(bar);
    },
  };
}

type DollarsOf = (bar: BarVersion) => number;

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
  return {
    open: (symbol) =>
      asOf([symbol], { day, moment: atOpening, valueAt: (at, fill) => openAt(day, symbol, { at, fill }) }, completedAt),
    morningMark: (symbol) =>
      asOf(
        [symbol],
        { day, moment: atOpening, valueAt: (at, fill) => markAt(day, symbol, { at, fill, dollarsOf: open }) },
        completedAt,
      ),
    closingMarks: (held) =>
      asOf(held, { day, moment: atCommit, valueAt: (at, fill) => marksAt(day, held, { at, fill }) }, completedAt),
    splits(held) {
      if (pastDate === null || held.length === 0) return [];
      // Read at the start, or later by a process that took the session up again.
      const moment = { from: shift(startedAt, -ms), to: completedAt };
      const days = splitDays(reader, held, { after: pastDate, upTo: date });
      return days.map((versions) => knownSplit(reader, versions, { at: startedAt, moment }));
    },
  };
}

/** Whether rows that are known only from later count as if they had been there. */
type Fill = boolean;

function asOf<Value>(
  symbols: readonly string[],
  { day, moment, valueAt }: { day: History; moment: () => Moment; valueAt: (at: string, fill: Fill) => Value },
  likeliestAt: string,
): AsOf<Value> {
  const likeliest = valueAt(likeliestAt, false);
  const history = once(() => historyOf(day, symbols, moment()));
  return {
    likeliest,
    all: () => [
      likeliest,
      ...history().instants.flatMap((at) => [valueAt(at, false), valueAt(at, true)]),
      valueAt(likeliestAt, true),
    ],
    isComplete: () => history().isComplete,
  };
}

/** The instants of a moment between which some symbols' prices changed; none when they were the same all the time. */
function historyOf(
  day: History,
  symbols: readonly string[],
  moment: Moment,
): { instants: string[]; isComplete: boolean } {
  const rows = symbols.map((symbol) => relevantVersions(day, symbol, moment)).flat();
  const changes = rows.flatMap((versions) => changesWithin(versions, moment)).sort();
  return {
    instants: changes.length === 0 ? [] : [moment.from, ...new Set(changes.reverse())].slice(0, MAX_INSTANTS),
    isComplete: rows.every((versions) => laterVersion(versions, moment.to) === undefined),
  };
}

/** All that a symbol's mark can have come from: the date's bar, earlier ones back to a sure close, splits. */
function relevantVersions({ reader, date, bars }: History, symbol: string, moment: Moment): (readonly Lifetime[])[] {
  const own = bars(symbol);
  if (own.some((bar) => spans(bar, moment))) return [own];
  const all: (readonly Lifetime[])[] = [own];
  let after = date;
  for (const versions of byDate(earlierBarVersions(reader, date, symbol))) {
    all.push(versions);
    after = versions[0]?.date ?? after;
    if (versions.some((bar) => bar.close !== null && spans(bar, moment))) break;
  }
  return [...all, ...splitDays(reader, [symbol], { after, upTo: date })];
}

interface At {
  at: string;
  fill: Fill;
}

function openAt({ bars }: History, symbol: string, { at, fill }: At): Money | null {
  const bar = barAt(bars(symbol), { at, fill });
  return bar === undefined ? null : fromDollars(bar.open);
}

function marksAt(day: History, symbols: readonly string[], at: At): Marks {
  const dollarsOf: DollarsOf = ({ open, close }) => close ?? open;
  return new Map(
    symbols.flatMap((symbol) => {
      const mark = markAt(day, symbol, { ...at, dollarsOf });
      return mark === null ? [] : [[symbol, mark]];
    }),
  );
}

function markAt(day: History, symbol: string, { at, fill, dollarsOf }: At & { dollarsOf: DollarsOf }): Money | null {
  const own = barAt(day.bars(symbol), { at, fill });
  return own === undefined ? lastEarlier(day, symbol, { at, fill }) : fromDollars(dollarsOf(own));
}

function barAt(versions: readonly BarVersion[], { at, fill }: At): BarVersion | undefined {
  return versionAt(versions, at) ?? (fill ? laterVersion(versions, at) : undefined);
}

/** Without a bar of the date: the last earlier close, or else the last earlier open, adjusted for splits since. */
function lastEarlier({ reader, date }: History, symbol: string, { at, fill }: At): Money | null {
  let lastOpen: Money | null = null;
  for (const versions of byDate(earlierBarVersions(reader, date, symbol))) {
    const bar = barAt(versions, { at, fill });
    if (bar === undefined) continue;
    const adjust = (dollars: number) =>
      fromDollars(dollars / ratioAt(reader, symbol, { after: bar.date, upTo: date, at }));
    if (bar.close !== null) return adjust(bar.close);
    lastOpen ??= adjust(bar.open);
  }
  return lastOpen;
}

/** New shares per old share, by the splits that were known at an instant. */
function ratioAt(
  reader: Reader,
  symbol: string,
  { after, upTo, at }: { after: CalendarDate; upTo: CalendarDate; at: string },
): number {
  const days = splitDays(reader, [symbol], { after, upTo });
  if (days.length === 0 || wasAdjusted(reader, symbol, at)) return 1;
  return days.reduce((ratio, versions) => {
    const split = versionAt(versions, at);
    return split === undefined ? ratio : ratio * (split.numerator / split.denominator);
  }, 1);
}

function knownSplit(
  reader: Reader,
  versions: readonly SplitVersion[],
  { at, moment }: { at: string; moment: Moment },
): KnownSplit {
  const { symbol } = versions[0] as SplitVersion;
  const later = laterVersion(versions, moment.to);
  const wasAdjustedAt = [at, moment.from, moment.to].map((instant) => wasAdjusted(reader, symbol, instant));
  if (wasAdjustedAt.every(Boolean)) return { choices: [null], isComplete: true };
  const within = versionsWithin(versions, moment);
  const likeliest = wasAdjustedAt[0] ? undefined : versionAt(versions, at);
  const others = [...within, ...(later ? [later] : [])].filter((version) => version !== likeliest);
  const isCertain = within.some((version) => spans(version, moment)) && !wasAdjustedAt.some(Boolean);
  const choices = likeliest ? [likeliest, ...others, ...(isCertain ? [] : [null])] : [null, ...others];
  return { choices, isComplete: later === undefined };
}

/** The versions of each split, in the order of the splits. */
function splitDays(
  reader: Reader,
  symbols: readonly string[],
  span: { after: CalendarDate; upTo: CalendarDate },
): SplitVersion[][] {
  const all = splitVersions(reader, symbols, span);
  return [...Map.groupBy(all, ({ symbol, date }) => `${date} ${symbol}`).values()];
}

function* byDate(versions: Iterable<BarVersion>): Generator<BarVersion[]> {
  let group: BarVersion[] = [];
  for (const version of versions) {
    if (group[0] !== undefined && group[0].date !== version.date) {
      yield group;
      group = [];
    }
    group.push(version);
  }
  if (group.length > 0) yield group;
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
