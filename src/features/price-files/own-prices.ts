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
  type Action,
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
  symbol: string;
  date: CalendarDate;
  kind: (typeof FIELDS)[number] | Action;
  /** What an exchange brings: it is told from others of the same date by that. */
  into?: string;
  value: number;
  /** As a sentence shows it. */
  text: string;
  /** Of a dividend. */
  basis?: string;
}

const nameOf = ({ kind, into }: Fact) => (into === undefined ? kind : `${kind} into ${into}`);
const keyOf = (fact: Fact) => `${nameOf(fact)} ${fact.date}`;

function isAction(kind: Fact['kind']): kind is Action {
  return !FIELDS.some((field) => field === kind);
}

/**
 * Every value that both have, whatever its date: a model may have read it. A bar that only one of
 * them has counts from the first close that a model-day started from.
 */
function compareBoth(reader: Reader, yours: Reader, untold: ReadonlySet<string>) {
  /** How much of the database was compared: each bar has an open. */
  const counts = { open: 0, high: 0, low: 0, close: 0, split: 0, dividend: 0, exchange: 0 };
  /** A sentence each, by symbol and date. */
  const differences: string[] = [];
  const usedFacts = [
    ...usedPrices(reader).map((own) => priceFact(own, own.kind, own.price)),
    ...usedSplits(reader).map(splitFact),
    ...usedDividends(reader).map((own) => dividendFact(own, reader)),
    ...usedExchanges(reader).map(exchangeFact),
  ];
  const used = Map.groupBy(usedFacts, ({ symbol }) => symbol);
  for (const [symbol, { from, to }] of spansOf(reader)) {
    const say = (date: CalendarDate, words: string) =>
      differences.push(`${symbol} ${date}: ${words}`);
    const [here, there] = [storedBars(reader, symbol, { to }), storedBars(yours, symbol, { to })];
    const [meaning, other] = [meaningOf(here), meaningOf(there)];
    if (meaning !== other && here.length > 0 && there.length > 0 && !untold.has(symbol)) {
      const given = `${meaning} prices in the database, ${other} ones in your files`;
      say(from, `${given}; give files of the same, or say what they are with --as`);
      continue;
    }
    const theirs = [
      ...barFacts(symbol, there),
      ...storedSplits(yours, symbol).map(splitFact),
      ...listDividends(yours, [symbol]).map((own) => dividendFact(own, reader)),
      ...exchangesOf(yours, symbol).map(exchangeFact),
    ];
    const ours = [...barFacts(symbol, here), ...(used.get(symbol) ?? [])];
    // A price that the ledger used is that of the bar, unless that has changed since.
    const different = new Map(ours.map((fact) => [`${keyOf(fact)} ${fact.text}`, fact]));
    const isMissed = ({ date, kind }: Fact) =>
      isAction(kind)
        ? wasHeldOver(reader, symbol, { date, kind })
        : kind === 'open' && date >= from && here.length > 0;
    for (const [fact, own] of joinRows([...different.values()], theirs, keyOf)) {
      const some = fact ?? own;
      const { date, kind } = some;
      // A bar that is not there is missed once, by its open.
      if (own === undefined && (date < from || !(isAction(kind) || kind === 'open'))) continue;
      if (fact === undefined && !isMissed(own)) continue;
      if (fact !== undefined) counts[kind] += 1;
      if (fact === undefined || own === undefined || !isSame(fact, own)) {
        const sides = `${fact?.text ?? 'none'} in the database, ${own?.text ?? 'none'} in your files`;
        say(date, `${nameOf(some)} ${sides}`);
      }
    }
  }
  return { counts, differences: differences.sort() };
}

/** In 1/1,000,000 dollar: sources round their amounts, and conversions for splits more so. */
const ROUNDING = 100;
const MILLIONTHS = 1_000_000;

function isSame(one: Fact, other: Fact): boolean {
  if (one.kind === 'exchange') return one.text === other.text;
  const difference = Math.abs(one.value - other.value);
  return difference <= (one.basis === other.basis ? 0 : ROUNDING);
}

function meaningOf(bars: readonly StoredBar[]): string {
  return bars.some(({ adjusted }) => adjusted === 1) ? 'split-adjusted' : 'raw';
}

type Day = Pick<Fact, 'symbol' | 'date'>;

/** `units` are of 1/10000 dollar, as the ledger counts. */
function priceFact({ symbol, date }: Day, kind: Fact['kind'], units: number): Fact {
  return { symbol, date, kind, value: units, text: (units / UNITS_PER_DOLLAR).toFixed(4) };
}

function barFacts(symbol: string, bars: readonly StoredBar[]): Fact[] {
  return bars.flatMap(({ date, ...bar }) =>
    FIELDS.flatMap((field) => {
      const units = Math.round((bar[field] ?? 0) * UNITS_PER_DOLLAR);
      return bar[field] === null ? [] : priceFact({ symbol, date }, field, units);
    }),
  );
}

function splitFact({ symbol, date, numerator, denominator }: UsedSplit): Fact {
  const [value, text] = [numerator / denominator, `${numerator}:${denominator}`];
  return { symbol, date, kind: 'split', value, text };
}

function exchangeFact({ symbol, date, into, cash, ...shares }: UsedExchange): Fact {
  const parts = compact([
    cash > 0 && `${cash / MILLIONTHS} in cash`,
    into !== '' && `${shares.numerator}:${shares.denominator}`,
    shares.remains === 1 && 'beside the old share',
  ]);
  const text = list(parts) || 'worthless';
  return { symbol, date, kind: 'exchange', into: into || 'cash', value: 0, text };
}

/** What was paid at the time: an amount per share of today is converted by the splits since. */
function dividendFact({ symbol, exDate, cash, basis }: UsedDividend, reader: Reader): Fact {
  const splits = basis === 'as_paid' ? [] : storedSplits(reader, symbol);
  const since = splits.filter(({ date }) => date >= exDate);
  const value = since.reduce((sum, split) => (sum * split.numerator) / split.denominator, cash);
  const text = String(value / MILLIONTHS);
  return { symbol, date: exDate, kind: 'dividend', value, text, basis };
}
