import type { CalendarDate } from '../calendar.ts';
import {
  type BarVersion,
  type Lifetime,
  type SplitVersion,
  barVersions,
  earlierBarVersions,
  splitVersions,
  wasAdjusted,
} from '../database/audit.ts';
import type { Reader } from '../database/database.ts';
import { type Money, fromDollars } from '../money.ts';
import {
  type Moment,
  type Versions,
  isThereAllThrough,
  laterVersion,
  newestFirst,
  versionAt,
  versionsWithin,
} from './lifetimes.ts';

export type Marks = ReadonlyMap<string, Money>;

/** The price history of one date, shared by its model-days. */
export interface History {
  readonly reader: Reader;
  readonly date: CalendarDate;
  /** All bars that a symbol ever had on the date. */
  bars(symbol: string): Versions<BarVersion>;
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
      for (const symbol of unknown) newestFirst(known.get(symbol) ?? []);
    },
  };
}

/** What of a bar is meant. */
export type DollarsOf = (bar: BarVersion) => number;

/** An instant; with `fill`, rows that are known only from later count as if they had been there. */
export interface At {
  at: string;
  fill: boolean;
}

/** The open of the date; null when there was none. */
export function openAt({ bars }: History, symbol: string, { at, fill }: At): Money | null {
  const bar = barAt(bars(symbol), { at, fill });
  return bar === undefined ? null : fromDollars(bar.open);
}

/** The marks of some symbols; those that never had a price are left out. */
export function marksAt(day: History, symbols: readonly string[], at: At & { dollarsOf: DollarsOf }): Marks {
  return new Map(
    symbols.flatMap((symbol) => {
      const mark = markAt(day, symbol, at);
      return mark === null ? [] : [[symbol, mark]];
    }),
  );
}

/** What a symbol's bar of the date says; without one its last earlier price, null when there was none. */
export function markAt(
  day: History,
  symbol: string,
  { at, fill, dollarsOf }: At & { dollarsOf: DollarsOf },
): Money | null {
  const own = barAt(day.bars(symbol), { at, fill });
  return own === undefined ? lastEarlier(day, symbol, { at, fill }) : fromDollars(dollarsOf(own));
}

function barAt(versions: Versions<BarVersion>, { at, fill }: At): BarVersion | undefined {
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

/** The rows that a symbol's mark can have come from: the date's bar, earlier ones back to a sure close, splits. */
export function originsOf({ reader, date, bars }: History, symbol: string, moment: Moment): Versions<Lifetime>[] {
  const rows: Versions<Lifetime>[] = [bars(symbol)];
  if (isThereAllThrough(bars(symbol), moment)) return rows;
  let after = date;
  for (const versions of byDate(earlierBarVersions(reader, date, symbol))) {
    rows.push(versions);
    after = versions[0]?.date ?? after;
    const hasClose = versionsWithin(versions, moment).every(({ close }) => close !== null);
    if (hasClose && isThereAllThrough(versions, moment)) break;
  }
  return [...rows, ...splitDays(reader, [symbol], { after, upTo: date })];
}

/** The versions of each split, in the order of the splits. */
export function splitDays(
  reader: Reader,
  symbols: readonly string[],
  span: { after: CalendarDate; upTo: CalendarDate },
): Versions<SplitVersion>[] {
  const all = splitVersions(reader, symbols, span);
  return [...Map.groupBy(all, ({ symbol, date }) => `${date} ${symbol}`).values()].map(newestFirst);
}

function* byDate(bars: Iterable<BarVersion>): Generator<Versions<BarVersion>> {
  let versions: BarVersion[] = [];
  for (const bar of bars) {
    if (versions[0] !== undefined && versions[0].date !== bar.date) {
      yield newestFirst(versions);
      versions = [];
    }
    versions.push(bar);
  }
  if (versions.length > 0) yield newestFirst(versions);
}
