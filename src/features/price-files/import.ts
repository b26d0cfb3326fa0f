import { utcDate } from '#time/calendar.ts';
import { type Meaning, priceMeaning } from '#database/schema/price-conditions.ts';
import type { CommandDatabase, Database } from '#database/database.ts';
import { contradictedSplits } from '#database/splits-and-dividends.ts';
import { createStaging, type StagedSymbol, type Staging } from './staging-queries.ts';
import { type StagedRow, checkRow, parseDay, type Defect, type Table } from '#prices/row.ts';
import { MAX_CASH } from '#prices/amounts.ts';
import { invalidFile } from '#domain/service-error.ts';
import { interpretPrices, findNights, findDefect, type Interpretation } from './meaning.ts';
import {
  type Ambiguities,
  type ImportOptions,
  type Refuse,
  type RowOptions,
  createProgress,
  storeSymbols,
  writeInTurns,
} from './store-staged.ts';
import { readHead, readLines } from './lines.ts';
import { readCsv } from './csv.ts';
import { importExchanges } from './exchanges-file.ts';
import { readJson } from './json.ts';
import { toLongRows } from './wide.ts';

/**
 * Imports the rows of a file of prices, dividends, splits or exchanges: reads all of them, refuses
 * those that contradict each other, and stores the others.
 */

export type ImportSummary = Awaited<ReturnType<typeof importFile>>;

/** What reports refused rows and counts them by reason. */
export function refusalCounter({ onRefused }: ImportOptions) {
  const refused = new Map<string, number>();
  const refuse: Refuse = (line, defect, rows = 1) => {
    refused.set(defect.reason, (refused.get(defect.reason) ?? 0) + rows);
    onRefused?.(line, defect);
  };
  return { refused, refuse };
}

/** Stages the rows; returns what those that are refused may have told. */
async function stageRows(
  { hasPrices, rows: batches }: Table,
  staging: Staging,
  { refuse, today }: RowOptions,
): Promise<Ambiguities> {
  const doubts: Ambiguities = { all: false, symbols: new Set(), dates: new Map() };
  const days = new Map<string, StagedRow>();
  for await (const rows of batches)
    for (const row of rows) {
      const { bar, defect } = checkRow(row, { hasPrices, today });
      if (bar !== undefined && hasPrices) {
        staging.add(bar);
        continue;
      }
      const refused = defect ?? mergeRow(days, bar);
      if (refused === null) continue;
      refuse(row.line ?? 1, refused);
      const { symbol, date } = parseDay(row);
      if (hasPrices || symbol === null) doubts.all = true;
      else if (date === null) doubts.symbols.add(symbol);
      else doubts.dates.set(symbol, (doubts.dates.get(symbol) ?? new Set()).add(date));
    }
  for (const row of days.values()) staging.add(row);
  return doubts;
}

/** Days of a file without prices are held in memory: a few hundred megabytes at most. */
const MAX_DAYS = 1_000_000;

/**
 * Several dividends of one symbol and date add up, and several splits are the same one. Returns why
 * a row is not added, or null.
 */
function mergeRow(days: Map<string, StagedRow>, row: StagedRow): Defect | null {
  const key = `${row.symbol} ${row.date}`;
  const before = days.get(key);
  if (before === undefined) {
    if (days.size === MAX_DAYS)
      throw invalidFile(`it has more than ${MAX_DAYS} dividends and splits: split it by symbols`);
    days.set(key, row);
    return null;
  }
  const dividend = row.dividend === null ? before.dividend : row.dividend + (before.dividend ?? 0);
  if (dividend !== null && dividend > MAX_CASH)
    return { reason: 'the amounts of one ex-date add up to no plausible number', value: key };
  const { numerator, denominator } = before.numerator === null ? row : before;
  const isOther = numerator !== row.numerator || denominator !== row.denominator;
  if (row.numerator !== null && isOther)
    return { reason: 'another row has a different split of this symbol and date', value: key };
  const confirmed = before.confirmed || row.confirmed;
  days.set(key, { ...before, dividend, numerator, denominator, confirmed });
  return null;
}

/**
 * Several prices of one symbol and date: perhaps the symbol is in a column with an unknown name.
 * Returns whether there are any.
 */
function refuseConflicts({ header }: Table, staging: Staging, refuse: Refuse): boolean {
  const columns =
    header === undefined ? '' : `; its columns are ${header.columns}: is one of these the symbol?`;
  const reason = `another row has different prices for this symbol and date${columns}`;
  const conflicting = new Set<string>();
  for (const { symbol, date, line, otherLine } of staging.takeConflicts()) {
    conflicting.add(symbol);
    const lines =
      line === otherLine
        ? `twice on line ${line}`
        : `on lines ${Math.min(line, otherLine)} and ${Math.max(line, otherLine)}`;
    refuse(line, { reason, value: `${symbol} ${date} ${lines}` });
  }
  const doubted = `the symbol is the file's name, and other rows contradict that${columns}`;
  for (const { symbol, firstLine, rows } of header?.mayHideSymbol ? staging.symbols() : [])
    if (conflicting.has(symbol)) {
      refuse(firstLine, { reason: doubted, value: symbol }, rows);
      staging.remove(symbol);
    }
  return conflicting.size > 0;
}

/**
 * Decides what the prices are, and refuses the symbols that do not agree; returns the others too.
 */
function refuseSymbols(
  database: Database,
  staging: Staging,
  { said, source, refuse }: { said: Meaning | null; source: Table['source']; refuse: Refuse },
): { taken: Interpretation; symbols: StagedSymbol[] } {
  const staged = staging.symbols();
  const nights = findNights(database, staging, staged);
  const taken = interpretPrices(source, said, nights);
  const symbols = staged.filter(({ symbol, firstLine, rows }) => {
    const defect = findDefect(database, symbol, { staging, taken, nights });
    if (defect === null) return true;
    refuse(firstLine, defect, rows);
    staging.remove(symbol);
    return false;
  });
  return { taken, symbols };
}

/**
 * Imports the daily bars, the dividends, the splits or the exchanges of one file in short
 * transactions. Bad rows are reported and skipped; a file in no known format, or a compressed one
 * that is torn, throws a `ServiceError` and changes nothing. Afterwards, every symbol is covered
 * from its first to its last complete bar, or ex-date.
 */
export async function importFile(database: CommandDatabase, path: string, options: ImportOptions) {
  await using source = readLines(path, options.onProgress); // closes the file, read to its end or not
  const lines = await readHead(source);
  const isJson = /^\s*[[{]/.test(lines.first.lines[0] ?? '');
  const table = isJson
    ? await readJson(lines)
    : readCsv(toLongRows(lines, options.onRefused), path);
  /** How many rows were refused, by reason. */
  const { refused, refuse } = refusalCounter(options);
  const importRows = table.hasExchanges ? importExchanges : importStaged;
  const today = utcDate(options.clock());
  const imported = await importRows(database, table, { ...options, today, refuse });
  if (imported.symbols.length === 0 && refused.size === 0) throw invalidFile('it has no rows');
  return { format: table.format, ...imported, refused };
}

/** Imports rows of bars, dividends and splits, of which only all together say what they are. */
async function importStaged(database: CommandDatabase, table: Table, options: RowOptions) {
  const { as: said = null, refuse } = options;
  const { hasPrices } = table;
  if (table.source === 'disguise' && (said ?? 'split-adjusted') !== priceMeaning(table.source))
    throw invalidFile(`the prices of a control market are ${priceMeaning(table.source)}`);
  const staging = createStaging(database);
  try {
    const doubts = await stageRows(table, staging, options);
    if (refuseConflicts(table, staging, refuse)) doubts.all = true;
    const { taken, symbols } = hasPrices
      ? refuseSymbols(database, staging, { said, source: table.source, refuse })
      : { taken: null, symbols: staging.symbols() };
    const progress = { ...createProgress(symbols), dates: staging.dates() };
    const source = taken?.source ?? table.source ?? 'csv';
    const own = { ...options, symbols, source, hasPrices, doubts, progress };
    await writeInTurns(database, storeSymbols(database, staging, own), options.time);
    return {
      ...progress,
      /** What the prices were taken for; null of a file without prices. */
      taken,
      /** The splits that the stored prices of the file's symbols contradict. */
      contradicted: contradictedSplits(database, progress.symbols),
    };
  } finally {
    staging.close();
  }
}
