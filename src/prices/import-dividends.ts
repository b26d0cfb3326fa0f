import { addDays, type CalendarDate, timestamp } from '../basics/calendar.ts';
import type { CommandDatabase, Database } from '../database/database.ts';
import { type Dividend, storeDividends } from '../database/splits-and-dividends.ts';
import { type Coverage, spanWithout } from '../database/prices.ts';
import { ServiceError } from '../basics/domain.ts';
import type { Defect } from './files/bar.ts';
import { type DividendFile, MAX_CASH } from './files/dividend-rows.ts';
import { countDefect, createImportTurns, type ImportOptions } from './store-staged.ts';

/**
 * A file's dividends are held in memory until its end, because they are added up: a few hundred
 * megabytes at most.
 */
const MAX_DIVIDENDS = 1_000_000;
/** A file's amounts are those that were paid at the time. */
const BASIS = 'as_paid';

export interface DividendSummary {
  kind: 'dividends';
  format: string;
  symbols: number;
  /** Dividends that are now in the database, including those that already were. */
  dividends: number;
  /** How many are new, were changed or, because the file does not name them, removed. */
  changed: number;
  firstDate: CalendarDate | null;
  lastDate: CalendarDate | null;
  /**
   * Symbols that are not known to be complete, because rows that were refused may have named
   * further dividends.
   */
  incomplete: number;
  /**
   * Ex-dates of rows that were refused, within the known dates of a symbol, as `AAPL 2024-05-10`.
   */
  unknown: string[];
  /** How many rows were refused, by reason. */
  refused: Map<string, number>;
}

/** A file's dividends of a symbol, by ex-date, in 1/1,000,000 dollar. */
type Payments = Map<CalendarDate, number>;

interface Collected {
  symbols: Map<string, Payments>;
  /**
   * Symbols with a refused row whose ex-date cannot be read; null once a row was refused whose
   * symbol cannot be read.
   */
  doubtful: Set<string> | null;
  /** The ex-dates of the other refused rows, by symbol. */
  unknown: Map<string, Set<CalendarDate>>;
  refused: Map<string, number>;
}

/**
 * Imports the dividends of one file. Several of one ex-date add up. The file replaces what was
 * stored of a symbol from its first to its last ex-date, and they are known there afterwards, up to
 * yesterday; a row that was refused leaves its ex-date unknown, or where that cannot be read all of
 * its symbol, whose other dividends are then only added.
 */
export async function importDividends(
  database: CommandDatabase,
  file: DividendFile,
  options: ImportOptions & { today: CalendarDate },
): Promise<DividendSummary> {
  const collected = await collect(file, options);
  const result = { changed: 0 };
  const turns = createImportTurns(database, options.time);
  await turns.add(storeBySymbol(database, collected, { source: file.source, options, result }));
  await turns.finish();
  return summarise(file, collected, result.changed);
}

function* storeBySymbol(
  database: Database,
  collected: Collected,
  {
    source,
    options,
    result,
  }: {
    source: string;
    options: ImportOptions & { today: CalendarDate };
    result: { changed: number };
  },
): Generator<null> {
  for (const [symbol, payments] of collected.symbols) {
    const dividends = dividendsOf(symbol, payments);
    const spans = spansOf(symbol, payments, { collected, today: options.today });
    const stamp = { source, recordedAt: timestamp(options.clock()) };
    result.changed += storeDividends(database, { basis: BASIS, dividends, spans }, stamp);
    yield null;
  }
}

async function collect(file: DividendFile, options: ImportOptions): Promise<Collected> {
  const collected: Collected = {
    symbols: new Map(),
    doubtful: new Set(),
    unknown: new Map(),
    refused: new Map(),
  };
  let dividends = 0;
  for await (const rows of file.rows) {
    for (const { line, symbol, exDate, dividend, defect } of rows) {
      const problem = defect ?? add(collected.symbols, dividend);
      if (problem === null) {
        dividends += 1;
        continue;
      }
      countDefect(collected.refused, { line, defect: problem }, options);
      if (symbol === null) collected.doubtful = null;
      else if (exDate === null) collected.doubtful?.add(symbol);
      else collected.unknown.set(symbol, (collected.unknown.get(symbol) ?? new Set()).add(exDate));
    }
    if (dividends > MAX_DIVIDENDS)
      throw new ServiceError(
        'invalid_file',
        `it has more than ${MAX_DIVIDENDS} dividends: split it by symbols`,
      );
  }
  return collected;
}

/** Returns why the dividend is not added, or null. */
function add(symbols: Collected['symbols'], { symbol, exDate, cash }: Dividend): Defect | null {
  const payments = symbols.get(symbol) ?? new Map<CalendarDate, number>();
  const sum = (payments.get(exDate) ?? 0) + cash;
  if (sum > MAX_CASH)
    return {
      reason: 'the amounts of one ex-date add up to no plausible number',
      value: `${symbol} ${exDate}`,
    };
  payments.set(exDate, sum);
  symbols.set(symbol, payments);
  return null;
}

/** A date with cash of 0 belongs to the span, but nothing was paid. */
function dividendsOf(symbol: string, payments: Payments): Dividend[] {
  return [...payments].flatMap(([exDate, cash]) => (cash > 0 ? [{ symbol, exDate, cash }] : []));
}

function spansOf(
  symbol: string,
  payments: Payments,
  { collected, today }: { collected: Collected; today: CalendarDate },
): Coverage[] {
  if (isDoubtful(symbol, collected)) return [];
  const exDates = [...payments.keys()].sort();
  const [startDate, last] = [exDates[0], exDates.at(-1)];
  const yesterday = addDays(today, -1);
  if (startDate === undefined || last === undefined || startDate > yesterday) return [];
  const endDate = last < yesterday ? last : yesterday;
  return spanWithout({ symbol, startDate, endDate }, collected.unknown.get(symbol) ?? []);
}

/** The ex-dates of refused rows within the span that a symbol has. */
function unknownWithin(symbol: string, payments: Payments, { unknown }: Collected): string[] {
  const exDates = [...payments.keys()].sort();
  const [first, last] = [exDates[0] ?? '', exDates.at(-1) ?? ''];
  return [...(unknown.get(symbol) ?? [])]
    .filter((date) => first <= date && date <= last)
    .sort()
    .map((date) => `${symbol} ${date}`);
}

function isDoubtful(symbol: string, { doubtful }: Pick<Collected, 'doubtful'>): boolean {
  return doubtful === null || doubtful.has(symbol);
}

function summarise(
  { format }: DividendFile,
  collected: Collected,
  changed: number,
): DividendSummary {
  const { symbols, refused } = collected;
  const exDates = [...symbols.values()].flatMap((payments) => [...payments.keys()]);
  exDates.sort();
  return {
    kind: 'dividends',
    format,
    symbols: symbols.size,
    dividends: [...symbols].reduce(
      (sum, [symbol, payments]) => sum + dividendsOf(symbol, payments).length,
      0,
    ),
    changed,
    firstDate: exDates[0] ?? null,
    lastDate: exDates.at(-1) ?? null,
    incomplete: [...symbols.keys()].filter((symbol) => isDoubtful(symbol, collected)).length,
    unknown: [...symbols].flatMap(([symbol, payments]) =>
      unknownWithin(symbol, payments, collected),
    ),
    refused,
  };
}
