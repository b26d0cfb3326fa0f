import type { CalendarDate } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { splitsBetween } from '../database/market.ts';
import { type ChosenDay, barsBetween, priceSpan, universeOfDays } from '../database/performance.ts';
import { ServiceError } from '../domain.ts';
import { type Levels, type Moment, equalWeightLevels, startOf, symbolLevels } from './benchmark.ts';

/** The word that asks for the equal-weight universe. No symbol is written in lower case. */
export const UNIVERSE = 'universe';
/** What models are measured against when its prices are there: a fund that follows the NASDAQ-100. */
export const DEFAULT_SYMBOL = 'QQQ';

export interface Benchmark {
  /** A symbol, or `universe`. */
  name: string;
  /** How many symbols are in it. */
  symbols: number;
  levels: Levels;
  /** Where its own curve starts: with the first of the models. Null when there is no model-day. */
  base: Moment | null;
}

/**
 * The benchmark of some model-days: the one that is asked for, else QQQ when it has prices from the first start to the
 * last day, else the universe. Throws a `ServiceError` (`not_found`) when no price of the symbol is stored.
 */
export function openBenchmark(database: Database, wanted: string | undefined, days: readonly ChosenDay[]): Benchmark {
  if (wanted !== undefined && wanted !== UNIVERSE && priceSpan(database, wanted) === null) {
    const remedy = `store some (download-prices --symbols ${wanted}, or import-prices FILE...), or ask for benchmark=${UNIVERSE}`;
    throw new ServiceError('not_found', `There are no prices of ${wanted} to compare with: ${remedy}`);
  }
  const base = firstMoment(days);
  const last = days.reduce((latest, { date }) => (date > latest ? date : latest), '');
  const name = wanted ?? (covers(database, { first: base?.date ?? '9999-12-31', last }) ? DEFAULT_SYMBOL : UNIVERSE);
  const sessionIds = days.map(({ sessionId }) => sessionId);
  const symbols = name === UNIVERSE ? universeOfDays(database, sessionIds) : [name];
  const levels = levelsOf(database, name, { symbols, from: base?.date ?? last, to: last });
  return { name, symbols: symbols.length, levels, base };
}

function covers(database: Database, { first, last }: { first: CalendarDate; last: CalendarDate }): boolean {
  const span = priceSpan(database, DEFAULT_SYMBOL);
  return span !== null && span.first <= first && span.last >= last;
}

interface Span {
  from: CalendarDate;
  to: CalendarDate;
}

function levelsOf(
  database: Database,
  name: string,
  { symbols, ...span }: Span & { symbols: readonly string[] },
): Levels {
  const members = symbols.values().map((symbol) => levelsOfSymbol(database, symbol, span));
  return name === UNIVERSE ? equalWeightLevels(members) : (members.next().value ?? symbolLevels([], []));
}

function levelsOfSymbol(database: Database, symbol: string, span: Span): Levels {
  const bars = barsBetween(database, symbol, span);
  const [first] = bars;
  const splits = first === undefined ? [] : splitsBetween(database, [symbol], { after: first.date, upTo: span.to });
  return symbolLevels(bars, splits);
}

/** The earliest start of all models' first days. */
function firstMoment(days: readonly ChosenDay[]): Moment | null {
  const firsts = days.filter(({ model }, index) => days[index - 1]?.model !== model).map(startOf);
  return firsts.reduce<Moment | null>(
    (earliest, moment) => (earliest === null || isBefore(moment, earliest) ? moment : earliest),
    null,
  );
}

function isBefore(one: Moment, other: Moment): boolean {
  return one.date < other.date || (one.date === other.date && one.at === 'open' && other.at === 'close');
}
