import { join } from 'node:path';
import type { CalendarDate } from '../basics/calendar.ts';
import { parseAgentConfiguration, universeOf } from '../basics/configuration.ts';
import { UNITS_PER_DOLLAR } from '../basics/money.ts';
import { type CommandDatabase, openDatabase, type Reader } from '../database/database.ts';
import { withSnapshot } from '../database/snapshot.ts';
import { inTemporaryFolder } from '../database/storage/files.ts';
import { type StoredBar, storedBars } from '../database/prices.ts';
import { storedSplits } from '../database/splits-and-dividends.ts';
import {
  dividendsOf,
  type UsedDividend,
  usedDividends,
  usedPrices,
  usedSpans,
  usedSplits,
  wasHeldOver,
} from '../database/used-prices.ts';

/**
 * Are the prices real? Compares what model-days used with files of the reader's own, which are
 * imported into a database that is deleted afterwards.
 */

export interface PriceComparison {
  /** How much of the database was compared. */
  bars: number;
  splits: number;
  dividends: number;
  /** A sentence each, by symbol and date. */
  differences: string[];
}

/**
 * `importOwn` imports the reader's files into a new database, and returns the symbols of which they
 * do not tell what the prices are: these count as what is stored.
 */
export function comparePrices(
  databasePath: string,
  importOwn: (yours: CommandDatabase) => Promise<ReadonlySet<string>>,
): Promise<PriceComparison> {
  return inTemporaryFolder(async (folder) => {
    const yours = openDatabase(join(folder, 'prices.db'), { durability: 'process-end' });
    try {
      const untold = await importOwn(yours);
      return await withSnapshot(databasePath, (reader) => compareBoth({ reader, yours, untold }));
    } finally {
      yours.close();
    }
  });
}

/** Symbols with the dates between which model-days may have read them. */
type Spans = Map<string, { from: CalendarDate; to: CalendarDate }>;

function spansOf(reader: Reader): Spans {
  const spans: Spans = new Map();
  const widen = (symbol: string, { from, to }: { from: CalendarDate; to: CalendarDate }) => {
    const known = spans.get(symbol) ?? { from, to };
    spans.set(symbol, {
      from: from < known.from ? from : known.from,
      to: to > known.to ? to : known.to,
    });
  };
  for (const span of usedSpans(reader))
    for (const symbol of universeOf(parseAgentConfiguration(span.agentConfig))) widen(symbol, span);
  for (const { symbol, date } of usedPrices(reader))
    if (date !== null) widen(symbol, { from: date, to: date });
  return new Map([...spans].sort(([one], [other]) => (one < other ? -1 : 1)));
}

interface Compared {
  reader: Reader;
  yours: Reader;
  untold: ReadonlySet<string>;
}

function compareBoth({ reader, yours, untold }: Compared): PriceComparison {
  const comparison: PriceComparison = { bars: 0, splits: 0, dividends: 0, differences: [] };
  const spans = spansOf(reader);
  const prices = Map.groupBy(usedPrices(reader), ({ symbol }) => symbol);
  const dividends = Map.groupBy(usedDividends(reader), ({ symbol }) => symbol);
  const splits = Map.groupBy(usedSplits(reader), ({ symbol }) => symbol);
  for (const [symbol, span] of spans) {
    const say = (date: CalendarDate, words: string) =>
      comparison.differences.push(`${symbol} ${date}: ${words}`);
    const [here, there] = [reader, yours].map((one) =>
      storedBars(one, symbol, { to: span.to }),
    ) as [StoredBar[], StoredBar[]];
    const meanings = [here, there].map(meaningOf);
    const isOther = meanings[0] !== meanings[1] && !untold.has(symbol);
    if (isOther && here.length > 0 && there.length > 0) {
      const given = `${meanings[0]} prices in the database, ${meanings[1]} ones in your files`;
      say(span.from, `${given}; give files of the same, or say what they are with --as`);
      continue;
    }
    comparison.bars += compareBars({ here, there, from: span.from }, say);
    const byDate = new Map(there.map((bar) => [bar.date, bar]));
    for (const { date, kind, price } of prices.get(symbol) ?? []) {
      const bar = byDate.get(date ?? '');
      const own = bar && unitsOf(kind === 'open' ? bar.open : (bar.close ?? bar.open));
      if (own !== undefined && own !== price && date !== null)
        say(date, `a model-day used ${inDollars(price)}, your ${kind} is ${inDollars(own)}`);
    }
    const both = { reader, yours, symbol };
    comparison.splits += compareSplits(both, { used: splits.get(symbol) ?? [], span }, say);
    comparison.dividends += compareDividends(
      both,
      { used: dividends.get(symbol) ?? [], span },
      say,
    );
  }
  return comparison;
}

type Say = (date: CalendarDate, words: string) => void;

function meaningOf(bars: readonly StoredBar[]): string {
  return bars.some(({ adjusted }) => adjusted === 1) ? 'split-adjusted' : 'raw';
}

/** In 1/10000 dollar, as the ledger counts. */
function unitsOf(price: number): number {
  return Math.round(price * UNITS_PER_DOLLAR);
}

function inDollars(units: number | null): string {
  return units === null ? 'none' : (units / UNITS_PER_DOLLAR).toFixed(4);
}

const FIELDS = ['open', 'high', 'low', 'close'] as const;

/**
 * Every value that both have, whatever its date: a model may have read it. A bar that only one of
 * them has counts from the first close that a model-day started from. Returns how many bars there
 * were to compare.
 */
function compareBars(
  { here, there, from }: { here: readonly StoredBar[]; there: readonly StoredBar[]; from: string },
  say: Say,
): number {
  const yours = new Map(there.map((bar) => [bar.date, bar]));
  let bars = 0;
  for (const bar of here) {
    const own = yours.get(bar.date);
    yours.delete(bar.date);
    if (own === undefined && bar.date < from) continue;
    bars += 1;
    if (own === undefined) say(bar.date, 'a bar in the database, none in your files');
    for (const field of FIELDS) {
      const [value, other] = [bar[field], own?.[field] ?? null];
      if (value !== null && other !== null && unitsOf(value) !== unitsOf(other))
        say(
          bar.date,
          `${field} ${inDollars(unitsOf(value))} in the database, ${inDollars(unitsOf(other))} in your files`,
        );
    }
  }
  for (const { date } of yours.values())
    if (date >= from && here.length > 0) say(date, 'a bar in your files, none in the database');
  return bars;
}

interface Both {
  reader: Reader;
  yours: Reader;
  symbol: string;
}

interface Ratio {
  numerator: number;
  denominator: number;
}

const ratioText = ({ numerator, denominator }: Ratio) => `${numerator}:${denominator}`;

/** The splits that model-days knew, and those that they should have known. */
function compareSplits(
  { reader, yours, symbol }: Both,
  { used, span }: { used: readonly (Ratio & { date: string })[]; span: { to: string } },
  say: Say,
): number {
  const there = new Map(storedSplits(yours, symbol).map((split) => [split.date, split]));
  for (const split of used) {
    const own = there.get(split.date);
    const isSame =
      own !== undefined && own.numerator * split.denominator === split.numerator * own.denominator;
    if (!isSame)
      say(
        split.date,
        `split ${ratioText(split)} in the database, ${own === undefined ? 'none' : ratioText(own)} in your files`,
      );
  }
  const known = new Set(used.map(({ date }) => date));
  for (const [date, split] of there)
    if (!known.has(date) && date <= span.to && wasHeldOver(reader, symbol, { date, kind: 'split' }))
      say(date, `split ${ratioText(split)} in your files, none in the database`);
  return used.length;
}

/** In 1/1,000,000 dollar; sources round their amounts, and conversions for splits more so. */
const DIVIDEND_TOLERANCE = { same: 0, converted: 100 };
const MILLIONTHS = 1_000_000;

/** The dividends that model-days were paid, and those that they should have been paid. */
function compareDividends(
  { reader, yours, symbol }: Both,
  { used, span }: { used: readonly UsedDividend[]; span: { to: string } },
  say: Say,
): number {
  const splits = storedSplits(reader, symbol);
  const paid = ({ exDate, cash, basis }: Omit<UsedDividend, 'symbol'>) =>
    basis === 'as_paid'
      ? cash
      : splits
          .filter(({ date }) => date >= exDate)
          .reduce((sum, { numerator, denominator }) => (sum * numerator) / denominator, cash);
  const there = new Map(dividendsOf(yours, symbol).map((dividend) => [dividend.exDate, dividend]));
  const words = (cash: number) => (cash / MILLIONTHS).toString();
  for (const dividend of used) {
    const own = there.get(dividend.exDate);
    const tolerance =
      own?.basis === dividend.basis ? DIVIDEND_TOLERANCE.same : DIVIDEND_TOLERANCE.converted;
    if (own !== undefined && Math.abs(paid(own) - paid(dividend)) <= tolerance) continue;
    const other = own === undefined ? 'none' : words(paid(own));
    say(
      dividend.exDate,
      `dividend ${words(paid(dividend))} in the database, ${other} in your files`,
    );
  }
  const known = new Set(used.map(({ exDate }) => exDate));
  for (const [date, own] of there)
    if (
      !known.has(date) &&
      date <= span.to &&
      wasHeldOver(reader, symbol, { date, kind: 'dividend' })
    )
      say(date, `dividend ${words(paid(own))} in your files, none in the database`);
  return used.length;
}
