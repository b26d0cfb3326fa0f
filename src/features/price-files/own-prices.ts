import { join } from 'node:path';
import type { CalendarDate } from '#time/calendar.ts';
import { UNITS_PER_DOLLAR } from '#money/money.ts';
import { type CommandDatabase, openDatabase, type Reader } from '#database/database.ts';
import { withSnapshot } from '#database/snapshot.ts';
import { MILLIONTHS } from '#trading/share-events.ts';
import { joinRows } from '#verify/books.ts';
import { withTemporaryFolder } from '#database/storage/files.ts';
import { type StoredBar, storedBars } from '#database/prices.ts';
import { compact, list } from '#text/sentences.ts';
import { storedSplits } from '#database/splits-and-dividends.ts';
import {
  type UsedAction,
  storedActions,
  usedActions,
  usedPrices,
  usedSpans,
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

const FIELDS = ['open', 'high', 'low', 'close'] as const;

/** What one side knows of a symbol on a date. */
interface Fact extends Pick<UsedAction, 'symbol' | 'date'> {
  kind: (typeof FIELDS)[number] | UsedAction['kind'];
  /** What an exchange brings: on one date there may be several. */
  into?: UsedAction['into'];
  value: number;
  /** As a sentence shows it. */
  text: string;
  basis?: string;
}

const nameOf = ({ kind, into = null }: Fact) =>
  into === null ? kind : `${kind} into ${into || 'cash'}`;
const keyOf = (fact: Fact) => `${nameOf(fact)} ${fact.date}`;

function isAction(kind: Fact['kind']): kind is UsedAction['kind'] {
  return !FIELDS.some((field) => field === kind);
}

const bySymbol = (facts: readonly Fact[]) => Map.groupBy(facts, ({ symbol }) => symbol);

/**
 * Every value that both have, whatever its date: a model may have read it. A bar that only one of
 * them has counts from the first close that a model-day started from.
 */
function compareBoth(reader: Reader, yours: Reader, untold: ReadonlySet<string>) {
  /** How much of the database was compared: each bar has an open. */
  const counts = { open: 0, high: 0, low: 0, close: 0, split: 0, dividend: 0, exchange: 0 };
  /** A sentence each, by symbol and date. */
  const differences: string[] = [];
  const actionFacts = (actions: readonly UsedAction[]) =>
    actions.map((action) => actionFact(action, reader));
  const pricesUsed = usedPrices(reader).map((own) => priceFact(own, own.kind, own.price));
  const used = bySymbol([...pricesUsed, ...actionFacts(usedActions(reader))]);
  const given = bySymbol(actionFacts(storedActions(yours)));
  for (const { symbol, from, to } of usedSpans(reader)) {
    const say = (date: CalendarDate, words: string) =>
      differences.push(`${symbol} ${date}: ${words}`);
    const [here, there] = [storedBars(reader, symbol, { to }), storedBars(yours, symbol, { to })];
    const [meaning, other] = [meaningOf(here), meaningOf(there)];
    if (meaning !== other && here.length > 0 && there.length > 0 && !untold.has(symbol)) {
      const both = `${meaning} prices in the database, ${other} ones in your files`;
      say(from, `${both}; give files of the same, or say what they are with --as`);
      continue;
    }
    const theirs = [...barFacts(symbol, there), ...(given.get(symbol) ?? [])];
    const ours = [...barFacts(symbol, here), ...(used.get(symbol) ?? [])];
    // A price that the ledger used is that of the bar, unless that has changed since.
    const different = new Map(ours.map((fact) => [`${keyOf(fact)} ${fact.text}`, fact]));
    const isMissed = ({ date, kind }: Fact) =>
      isAction(kind)
        ? wasHeldOver(reader, symbol, date, kind)
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

function isSame(one: Fact, other: Fact): boolean {
  if (one.kind === 'exchange') return one.text === other.text;
  const difference = Math.abs(one.value - other.value);
  return difference <= (one.basis === other.basis ? 0 : ROUNDING);
}

function meaningOf(bars: readonly StoredBar[]): string {
  return bars.some(({ adjusted }) => adjusted === 1) ? 'split-adjusted' : 'raw';
}

/** `units` are of 1/10000 dollar, as the ledger counts. */
function priceFact(
  { symbol, date }: Pick<Fact, 'symbol' | 'date'>,
  kind: Fact['kind'],
  units: number,
): Fact {
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

/** A dividend per share of today counts as it was paid at the time, before the splits since. */
function actionFact(action: UsedAction, reader: Reader): Fact {
  const { symbol, date, kind, basis, ratio, remains } = action;
  const splits = basis === 'split_adjusted' ? storedSplits(reader, symbol) : [];
  const since = splits.filter((split) => split.date >= date);
  const value = since.reduce((sum, own) => (sum * own.numerator) / own.denominator, action.value);
  const parts = compact([
    kind === 'dividend' && `${value / MILLIONTHS}`,
    kind === 'exchange' && value > 0 && `${value / MILLIONTHS} in cash`,
    ratio ?? false,
    remains === 1 && 'the old share remains',
  ]);
  return { ...action, value, text: list(parts) || 'worthless' };
}
