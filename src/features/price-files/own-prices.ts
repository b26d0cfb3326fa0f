import { join } from 'node:path';
import type { CalendarDate, DateSpan } from '#time/calendar.ts';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import { UNITS_PER_DOLLAR } from '#money/money.ts';
import { type CommandDatabase, openDatabase, type Reader } from '#database/database.ts';
import { withSnapshot } from '#database/snapshot.ts';
import { joinRows } from '#verify/books.ts';
import { withTemporaryFolder } from '#database/storage/files.ts';
import { type StoredBar, storedBars } from '#database/prices.ts';
import { exchangesOf } from '#database/exchanges.ts';
import { compact, list } from '#text/sentences.ts';
import { listDividends, storedSplits } from '#database/splits-and-dividends.ts';
import {
  type UsedDividend,
  type UsedExchange,
  usedExchanges,
  type UsedSplit,
  usedDividends,
  usedPrices,
  usedSpans,
  usedSplits,
  wasHeldOver,
} from './used-price-queries.ts';

/**
 * Are the prices real? Compares what model-days used with files of the reader's own, which are
 * imported into a database that is deleted afterwards.
 */

/**
 * `importOwn` imports the reader's files into a new database, and returns the symbols of which they
 * do not tell what the prices are: these count as what is stored.
 */
export function comparePrices(
  databasePath: string,
  importOwn: (yours: CommandDatabase) => Promise<ReadonlySet<string>>,
) {
  return withTemporaryFolder(async (folder) => {
    const yours = openDatabase(join(folder, 'prices.db'), { durability: 'process-end' });
    try {
      const untold = await importOwn(yours);
      return await withSnapshot(databasePath, (reader) => compareBoth(reader, yours, untold));
    } finally {
      yours.close();
    }
  });
}

/** Symbols with the dates between which model-days may have read them. */
function spansOf(reader: Reader): Map<string, DateSpan> {
  const read = usedSpans(reader).flatMap(({ agentConfig, from, to }) =>
    parseAgentConfiguration(agentConfig).stock_symbols.flatMap((symbol) => [
      { symbol, date: from },
      { symbol, date: to },
    ]),
  );
  const spans = new Map<string, DateSpan>();
  for (const { symbol, date } of [...read, ...usedPrices(reader)]) {
    const { from, to } = spans.get(symbol) ?? { from: date, to: date };
    spans.set(symbol, { from: date < from ? date : from, to: date > to ? date : to });
  }
  return spans;
}

const FIELDS = ['open', 'high', 'low', 'close'] as const;

/** What one side knows of a symbol on a date. */
interface Fact {
  date: CalendarDate;
  what: (typeof FIELDS)[number] | 'split' | 'dividend' | `exchange into ${string}`;
  value: number;
  /** As a sentence shows it. */
  text: string;
  /** Of a dividend. */
  basis?: string;
}

const isExchange = ({ what }: Fact) => what.startsWith('exchange');
const keyOf = ({ what, date }: Fact) => `${what} ${date}`;

/** What is counted, and missed on the side that lacks it. Each bar has an open. */
const COUNTED = new Map<string, 'bars' | 'splits' | 'dividends'>([
  ['open', 'bars'],
  ['split', 'splits'],
  ['dividend', 'dividends'],
]);

/**
 * Every value that both have, whatever its date: a model may have read it. A bar that only one of
 * them has counts from the first close that a model-day started from.
 */
function compareBoth(reader: Reader, yours: Reader, untold: ReadonlySet<string>) {
  const comparison = {
    /** How much of the database was compared. */
    bars: 0,
    splits: 0,
    dividends: 0,
    exchanges: 0,
    /** A sentence each, by symbol and date. */
    differences: [] as string[],
  };
  const used = {
    prices: Map.groupBy(usedPrices(reader), ({ symbol }) => symbol),
    splits: Map.groupBy(usedSplits(reader), ({ symbol }) => symbol),
    dividends: Map.groupBy(usedDividends(reader), ({ symbol }) => symbol),
    exchanges: Map.groupBy(usedExchanges(reader), ({ symbol }) => symbol),
  };
  for (const [symbol, { from, to }] of spansOf(reader)) {
    const say = (date: CalendarDate, words: string) =>
      comparison.differences.push(`${symbol} ${date}: ${words}`);
    const [here, there] = [storedBars(reader, symbol, { to }), storedBars(yours, symbol, { to })];
    const [meaning, other] = [meaningOf(here), meaningOf(there)];
    if (meaning !== other && here.length > 0 && there.length > 0 && !untold.has(symbol)) {
      const given = `${meaning} prices in the database, ${other} ones in your files`;
      say(from, `${given}; give files of the same, or say what they are with --as`);
      continue;
    }
    const splits = storedSplits(reader, symbol);
    const theirs = [
      ...there.flatMap(barFacts),
      ...storedSplits(yours, symbol).map(splitFact),
      ...listDividends(yours, [symbol]).map((dividend) => dividendFact(dividend, splits)),
      ...exchangesOf(yours, symbol).map(exchangeFact),
    ];
    const ours = [
      ...here.flatMap(barFacts),
      ...(used.prices.get(symbol) ?? []).map((own) => priceFact(own.date, own.kind, own.price)),
      ...(used.splits.get(symbol) ?? []).map(splitFact),
      ...(used.dividends.get(symbol) ?? []).map((dividend) => dividendFact(dividend, splits)),
      ...(used.exchanges.get(symbol) ?? []).map(exchangeFact),
    ];
    // A price that the ledger used is that of the bar, unless that has changed since.
    const different = new Map(ours.map((fact) => [`${keyOf(fact)} ${fact.text}`, fact]));
    const isMissed = (fact: Fact) => {
      const { date, what } = fact;
      if (what === 'split' || what === 'dividend')
        return wasHeldOver(reader, symbol, { date, kind: what });
      if (isExchange(fact)) return wasHeldOver(reader, symbol, { date, kind: 'exchange' });
      return what === 'open' && date >= from && here.length > 0;
    };
    for (const [fact, own] of joinRows([...different.values()], theirs, keyOf)) {
      const { date, what } = fact ?? own;
      const counted = isExchange(fact ?? own) ? 'exchanges' : COUNTED.get(what);
      if (own === undefined && (counted === undefined || date < from)) continue;
      if (fact === undefined && !isMissed(own)) continue;
      if (fact !== undefined && counted !== undefined) comparison[counted] += 1;
      if (fact === undefined || own === undefined || !isSame(fact, own))
        say(
          date,
          `${what} ${fact?.text ?? 'none'} in the database, ${own?.text ?? 'none'} in your files`,
        );
    }
  }
  comparison.differences.sort();
  return comparison;
}

/** In 1/1,000,000 dollar: sources round their amounts, and conversions for splits more so. */
const ROUNDING = 100;
const MILLIONTHS = 1_000_000;

function isSame(one: Fact, other: Fact): boolean {
  if (isExchange(one)) return one.text === other.text;
  const difference = Math.abs(one.value - other.value);
  return difference <= (one.basis === other.basis ? 0 : ROUNDING);
}

function meaningOf(bars: readonly StoredBar[]): string {
  return bars.some(({ adjusted }) => adjusted === 1) ? 'split-adjusted' : 'raw';
}

/** `units` are of 1/10000 dollar, as the ledger counts. */
function priceFact(date: CalendarDate, what: Fact['what'], units: number): Fact {
  return { date, what, value: units, text: (units / UNITS_PER_DOLLAR).toFixed(4) };
}

function barFacts(bar: StoredBar): Fact[] {
  return FIELDS.flatMap((field) => {
    const price = bar[field];
    return price === null ? [] : [priceFact(bar.date, field, Math.round(price * UNITS_PER_DOLLAR))];
  });
}

type Split = Omit<UsedSplit, 'symbol'>;

function splitFact({ date, numerator, denominator }: Split): Fact {
  const [value, text] = [numerator / denominator, `${numerator}:${denominator}`];
  return { date, what: 'split', value, text };
}

function exchangeFact({ date, into, cash, numerator, denominator, remains }: UsedExchange): Fact {
  const parts = compact([
    cash > 0 && `${cash / MILLIONTHS} in cash`,
    into !== '' && `${numerator}:${denominator}`,
    remains === 1 && 'beside the old share',
  ]);
  const text = list(parts) || 'worthless';
  return { date, what: `exchange into ${into || 'cash'}`, value: 0, text };
}

/** What was paid at the time: an amount per share of today is converted by the splits since. */
function dividendFact(
  { exDate, cash, basis }: Omit<UsedDividend, 'symbol'>,
  splits: readonly Split[],
): Fact {
  const since = basis === 'as_paid' ? [] : splits.filter(({ date }) => date >= exDate);
  const value = since.reduce((sum, split) => (sum * split.numerator) / split.denominator, cash);
  return { date: exDate, what: 'dividend', value, text: String(value / MILLIONTHS), basis };
}
