import type { CalendarDate } from '../calendar.ts';
import { parseAgentConfiguration, universeOf } from '../configuration.ts';
import type { Database } from '../database/database.ts';
import { dividendsBetween } from '../database/dividends.ts';
import { splitsBetween } from '../database/market.ts';
import { type ChosenDay, barsBetween, priceSpan } from '../database/records/performance.ts';
import { newestConfiguration } from '../database/records/trading-terms.ts';
import { ServiceError } from '../domain.ts';
import { cashPerShareAbout } from '../trading/morning.ts';
import { type BothLevels, equalWeightLevels, isBefore, levelAt, startOf } from './benchmark.ts';
import { type Levels, symbolLevels } from './symbol-levels.ts';
import { daysWithUnknown } from './unknown-dividends.ts';

/** The name of the equal-weight universe as a benchmark. No symbol is written in lower case. */
export const UNIVERSE = 'universe';
/** The default benchmark if its prices are stored: a fund that follows the NASDAQ-100. */
export const DEFAULT_SYMBOL = 'QQQ';
/** Cash per share comes in 1/1,000,000 dollar. */
const MILLIONTHS = 1_000_000;
/** After every date. */
const NEVER = '9999-12-31';

export interface Benchmark {
  /** A symbol, or `universe`. */
  name: string;
  /** How many symbols it has. */
  symbols: number;
  levels: BothLevels;
  /** The days on which its levels with dividends may lack one of some symbol. */
  unknownDividends: ReadonlySet<CalendarDate>;
}

/** Throws a `ServiceError` (`no_prices`) when no price of the symbol is stored. */
export function checkBenchmark(database: Database, wanted: string | undefined): void {
  if (wanted === undefined || wanted === UNIVERSE || priceSpan(database, wanted) !== null) return;
  const remedy = `store some (download-prices --symbols ${wanted}, or import-prices FILE...), or ask for benchmark=${UNIVERSE}`;
  throw new ServiceError(
    'no_prices',
    `There are no prices of ${wanted} to compare with: ${remedy}`,
  );
}

/**
 * The benchmark of some model-days: the requested one, otherwise QQQ if its prices reach the first
 * start, otherwise the universe, so that no later day changes what the models are compared with;
 * one symbol per step. Throws a `ServiceError` (`no_prices`) when no price of the symbol is stored.
 */
export function chooseBenchmark(
  database: Database,
  wanted: string | undefined,
  days: readonly ChosenDay[],
): Benchmark {
  checkBenchmark(database, wanted);
  const start = days
    .map((day) => startOf(day).date)
    .reduce((earliest, date) => (date < earliest ? date : earliest), NEVER);
  const last = days.reduce((latest, { date }) => (date > latest ? date : latest), '');
  const name = wanted ?? (reachesStart(database, days) ? DEFAULT_SYMBOL : UNIVERSE);
  const symbols = name === UNIVERSE ? universeOfDays(database, days) : [name];
  const span = { from: start, to: last };
  const levels = bothLevels(days, (paysDividends) =>
    levelsOfAll(database, symbols, { name, ...span, paysDividends }),
  );
  const paying = days.some(({ paysDividends }) => paysDividends) ? symbols : [];
  const unknownDividends = daysWithUnknown(database, paying, span);
  return { name, symbols: symbols.length, levels, unknownDividends };
}

/** Levels with and without dividends; where the model-days are all of one kind, the same twice. */
function bothLevels(
  days: readonly ChosenDay[],
  levelsOf: (paysDividends: boolean) => Levels,
): BothLevels {
  const kinds = new Set(days.map(({ paysDividends }) => paysDividends));
  const withDividends = kinds.has(true) ? levelsOf(true) : [];
  const ofPrices = kinds.has(false) || kinds.size === 0 ? levelsOf(false) : withDividends;
  return { withDividends: kinds.has(true) ? withDividends : ofPrices, ofPrices };
}

function levelsOfAll(
  database: Database,
  symbols: readonly string[],
  { name, ...options }: Span & { name: string; paysDividends: boolean },
): Levels {
  const members = symbols.values().map((symbol) => levelsOfSymbol(database, symbol, options));
  return name === UNIVERSE ? equalWeightLevels(members) : (members.next().value ?? []);
}

function firstDateOf(days: readonly ChosenDay[]): CalendarDate {
  return days.reduce((earliest, { date }) => (date < earliest ? date : earliest), NEVER);
}

/**
 * The universe of the newest job that ran a model-day of the first date, so that later jobs do not
 * change the benchmark.
 */
function universeOfDays(database: Database, days: readonly ChosenDay[]): readonly string[] {
  const first = firstDateOf(days);
  const sessions = days.filter(({ date }) => date === first).map(({ sessionId }) => sessionId);
  const configuration = newestConfiguration(database, sessions);
  return configuration === undefined ? [] : universeOf(parseAgentConfiguration(configuration));
}

/** Whether QQQ has a level at the earliest start of the first date. */
function reachesStart(database: Database, days: readonly ChosenDay[]): boolean {
  const date = firstDateOf(days);
  const starts = days.filter((day) => day.date === date).map(startOf);
  const [first, ...others] = starts;
  if (first === undefined) return false;
  const start = others.reduce((earliest, one) => (isBefore(one, earliest) ? one : earliest), first);
  const span = { from: start.date, to: start.date };
  return (
    levelAt(levelsOfSymbol(database, DEFAULT_SYMBOL, { ...span, paysDividends: false }), start) !==
    null
  );
}

interface Span {
  from: CalendarDate;
  to: CalendarDate;
}

function levelsOfSymbol(
  database: Database,
  symbol: string,
  { paysDividends, ...span }: Span & { paysDividends: boolean },
): Levels {
  const bars = barsBetween(database, symbol, span);
  const [first] = bars;
  if (first === undefined) return [];
  const since = { after: first.date, upTo: span.to };
  const dividends = paysDividends ? dividendsBetween(database, [symbol], since) : [];
  return symbolLevels(bars, {
    splits: splitsBetween(database, [symbol], since),
    dividends: dividends.map((dividend) => ({
      exDate: dividend.exDate,
      cash: cashPerShareAbout(dividend) / MILLIONTHS,
    })),
  });
}
