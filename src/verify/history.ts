import type { CalendarDate } from '../basics/calendar.ts';
import {
  type BarVersion,
  barVersions,
  type DividendVersion,
  dividendVersions,
  earlierBarVersions,
  type SplitVersion,
  splitVersions,
  type TimeSpan,
  wasAdjusted,
} from '../database/audit.ts';
import type { Reader } from '../database/database.ts';

/** When a row took its values, and when it lost them; null while it has them. */
interface Lifetime {
  recordedAt: string;
  replacedAt: string | null;
}

/** All versions of one row, newest first. */
export type Versions<Version extends Lifetime> = readonly Version[];

/** Splits and dividends, each symbol's read once. */
export interface CorporateActions {
  /** All versions of a symbol's splits, by date. */
  splits(symbol: string): readonly SplitVersion[];
  /** All versions of a symbol's dividends, by ex-date. */
  dividends(symbol: string): readonly DividendVersion[];
}

/** The price history of one date, shared by its model-days. */
export interface History extends CorporateActions {
  readonly reader: Reader;
  readonly date: CalendarDate;
  /** Where the clock was set back. */
  readonly setBacks: readonly TimeSpan[];
  /** All versions of a symbol's bar on the date. */
  bars(symbol: string): Versions<BarVersion>;
}

/** What is the same for every date. */
type Shared = CorporateActions & Pick<History, 'setBacks'>;

export function createHistory(reader: Reader, date: CalendarDate, shared: Shared): History {
  return { ...shared, reader, date, bars: onceEach((symbol) => barVersions(reader, symbol, date)) };
}

export function createCorporateActions(reader: Reader): CorporateActions {
  return {
    splits: onceEach((symbol) => splitVersions(reader, symbol)),
    dividends: onceEach((symbol) => dividendVersions(reader, symbol)),
  };
}

function onceEach<Value>(read: (symbol: string) => Value): (symbol: string) => Value {
  const known = new Map<string, Value>();
  return (symbol) => {
    const value = known.get(symbol) ?? read(symbol);
    known.set(symbol, value);
    return value;
  };
}

/** A span within which something was read, by its stamps; longer where the clock was set back. */
export function spanOf({ setBacks }: Pick<History, 'setBacks'>, { from, to }: TimeSpan): TimeSpan {
  const touched = setBacks.filter((span) => span.from < to && span.to > from);
  return {
    from: touched.reduce((least, span) => (span.from < least ? span.from : least), from),
    to: touched.reduce((most, span) => (span.to > most ? span.to : most), to),
  };
}

/** The versions of a symbol's earlier bars, the latest dates first. */
export function* earlierBars(
  { reader, date }: History,
  symbol: string,
): Generator<Versions<BarVersion>> {
  let versions: BarVersion[] = [];
  for (const bar of earlierBarVersions(reader, symbol, date)) {
    if (versions[0] !== undefined && versions[0].date !== bar.date) {
      yield versions;
      versions = [];
    }
    versions.push(bar);
  }
  if (versions.length > 0) yield versions;
}

/** The versions of a split that may have been read within a span of time. */
export interface PossibleSplit {
  symbol: string;
  date: CalendarDate;
  /** Null where it may have been unknown, or for a series that is adjusted for splits. */
  choices: (SplitVersion | null)[];
  /** False when it may have been replaced without a trace. */
  isComplete: boolean;
}

/**
 * The splits of a symbol after a date up to that of the history, in order, as they may have been
 * read within a span.
 */
export function splitsWithin(
  { reader, date: upTo, splits }: History,
  symbol: string,
  { after, span }: { after: CalendarDate; span: TimeSpan },
): PossibleSplit[] {
  const all = splits(symbol).filter(({ date }) => date > after && date <= upTo);
  return [...Map.groupBy(all, ({ date }) => date)].map(([date, versions]) => {
    const adjusted = [span.from, span.to].map((instant) => wasAdjusted(reader, symbol, instant));
    const isCertain = isThereAllThrough(versions, span) && !adjusted.includes(true);
    const known = adjusted.includes(false) ? possibleVersions(versions, span) : [];
    return {
      symbol,
      date,
      choices: isCertain ? [...known] : [...known, null],
      isComplete: !isLost(versions, span),
    };
  });
}

/** What there is of each symbol in one list, by date and symbol. */
export function inPlaces<Item extends { symbol: string }>(
  bySymbol: readonly Item[][],
  dateOf: (item: Item) => CalendarDate,
): Item[] {
  const placeOf = (item: Item) => `${dateOf(item)} ${item.symbol}`;
  return bySymbol.flat().sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
}

/** The version at an instant, according to the time stamps. */
export function versionAt<Version extends Lifetime>(
  all: Versions<Version>,
  at: string,
): Version | undefined {
  return all.find(
    ({ recordedAt, replacedAt }) => recordedAt <= at && (replacedAt === null || replacedAt > at),
  );
}

/** The first known version of something whose state at the end of a span is unknown. */
function laterVersion<Version extends Lifetime>(
  all: Versions<Version>,
  { to }: TimeSpan,
): Version | undefined {
  return versionAt(all, to) === undefined
    ? all.findLast(({ recordedAt }) => recordedAt > to)
    : undefined;
}

/** Whether an earlier version may have been lost: some tools replace rows without a trace. */
export function isLost(all: Versions<Lifetime>, span: TimeSpan): boolean {
  return laterVersion(all, span) !== undefined;
}

/**
 * Every version that may have been read within a span; where that was lost, also the first known
 * later one.
 */
export function possibleVersions<Version extends Lifetime>(
  all: Versions<Version>,
  span: TimeSpan,
): Versions<Version> {
  if (all.length === 1 && all[0]?.replacedAt === null) return all; // nearly always
  const later = laterVersion(all, span);
  return [...versionsWithin(all, span), ...(later ? [later] : [])];
}

/** Every version that was there at some time within a span. */
export function versionsWithin<Version extends Lifetime>(
  all: Versions<Version>,
  { from, to }: TimeSpan,
): Version[] {
  return all.filter(({ recordedAt, replacedAt }) => {
    // Two changes within one millisecond, or a clock that was set back.
    const hasNoLife = replacedAt !== null && replacedAt <= recordedAt;
    return recordedAt <= to && (replacedAt === null || replacedAt > from || hasNoLife);
  });
}

/** Whether some version was there all through a span. */
export function isThereAllThrough(all: Versions<Lifetime>, { from, to }: TimeSpan): boolean {
  let reach = from;
  for (const { recordedAt, replacedAt } of all.toReversed()) {
    if (recordedAt > reach) return false;
    if (replacedAt === null || replacedAt > to) return true;
    if (replacedAt > reach) reach = replacedAt;
  }
  return false;
}
