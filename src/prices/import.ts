import { statSync } from 'node:fs';
import { dateOf, type CalendarDate } from '../basics/calendar.ts';
import { type Meaning, meaningOf } from '../database/schema/price-conditions.ts';
import type { CommandDatabase, Database } from '../database/database.ts';
import { type ContradictedSplit, contradictedSplits } from '../database/splits-and-dividends.ts';
import {
  createStaging,
  type StagedRow,
  type StagedSymbol,
  type Staging,
} from '../database/staging.ts';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { MAX_CASH } from './amounts.ts';
import { invalidFile } from './files/content.ts';
import type { Defect, Table } from './files/row.ts';
import { meaningOfFile, nightsIn, problemOf, type Taken } from './files/meaning.ts';
import { type Doubts, type ImportOptions, type Stored, storeStaged } from './store-staged.ts';
import { type LineBatch, readLines, takeHeader } from './files/lines.ts';
import { readCsv } from './files/csv.ts';
import { readJson } from './files/json.ts';
import { withLongRows } from './files/wide.ts';

/**
 * Imports the rows of a file of prices, dividends or splits: reads all of them, refuses those that
 * contradict each other, and stores the others.
 */

export interface ImportSummary extends Stored {
  format: string;
  /** What the prices were taken for; null of a file without prices. */
  taken: Taken | null;
  /** The splits that the stored prices of the file's symbols contradict. */
  contradicted: ContradictedSplit[];
  /** How many rows were refused, by reason. */
  refused: Map<string, number>;
}

type Options = ImportOptions & { today: CalendarDate };

async function importTable(
  database: CommandDatabase,
  table: Table,
  options: Options,
): Promise<ImportSummary> {
  const { hasPrices, source, format } = table;
  if (source === 'disguise' && (options.as ?? 'split-adjusted') !== meaningOf(source))
    throw invalidFile(`the prices of a control market are ${meaningOf(source)}`);
  const staging = createStaging(database);
  try {
    const { refused, refuse } = countRefused(options);
    const doubts = await stageRows(table, staging, refuse);
    if (refuseConflicts(table, staging, refuse)) doubts.ofAll = true;
    const { taken, symbols } = hasPrices
      ? refuseSymbols(database, staging, { said: options.as ?? null, source, refuse })
      : { taken: null, symbols: staging.symbols() };
    const stored = await storeStaged(database, staging, {
      symbols,
      source: taken?.source ?? source ?? 'csv',
      hasPrices,
      doubts,
      options,
    });
    const contradicted = contradictedSplits(database, stored.symbols);
    return { format, taken, ...stored, contradicted, refused };
  } finally {
    staging.close();
  }
}

type Refuse = (line: number, defect: Defect, rows?: number) => void;

/** What reports refused rows and counts them by reason. */
export function countRefused({ onRefused }: ImportOptions) {
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
  refuse: Refuse,
): Promise<Doubts> {
  const doubts: Doubts = { ofAll: false, ofSymbols: new Set(), onDates: new Map() };
  const days = new Map<string, StagedRow>();
  for await (const rows of batches)
    for (const row of rows) {
      if (row.defect === undefined && hasPrices) {
        staging.add(row);
        continue;
      }
      const defect = row.defect ?? addUp(days, row);
      if (defect === null) continue;
      refuse(row.line, defect);
      const { symbol, date } = row;
      if (hasPrices || symbol === null) doubts.ofAll = true;
      else if (date === null) doubts.ofSymbols.add(symbol);
      else doubts.onDates.set(symbol, (doubts.onDates.get(symbol) ?? new Set()).add(date));
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
function addUp(days: Map<string, StagedRow>, row: StagedRow): Defect | null {
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
  days.set(key, { ...before, dividend, numerator, denominator });
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
  const isAny = conflicting.size > 0;
  if (header?.mayHideSymbol !== true) return isAny;
  const doubted = `the symbol is the file's name, and other rows contradict that${columns}`;
  for (const { symbol, firstLine, rows } of staging.symbols()) {
    if (!conflicting.has(symbol)) continue;
    refuse(firstLine, { reason: doubted, value: symbol }, rows);
    staging.remove(symbol);
  }
  return isAny;
}

/**
 * Decides what the prices are, and refuses the symbols that do not agree; returns the others too.
 */
function refuseSymbols(
  database: Database,
  staging: Staging,
  { said, source, refuse }: { said: Meaning | null; source: Table['source']; refuse: Refuse },
): { taken: Taken; symbols: StagedSymbol[] } {
  const staged = staging.symbols();
  const nights = nightsIn(database, staging, staged);
  const taken = meaningOfFile(source, said, nights);
  const symbols = staged.filter(({ symbol, firstLine, rows }) => {
    const defect = problemOf(database, symbol, { staging, taken, nights });
    if (defect === null) return true;
    refuse(firstLine, defect, rows);
    staging.remove(symbol);
    return false;
  });
  return { taken, symbols };
}

/**
 * Imports the daily bars, the dividends or the splits of one file in short transactions. Bad rows
 * are reported and skipped; a file in no known format, or a compressed one that is torn, throws a
 * `ServiceError` and changes nothing. Afterwards, every symbol is covered from its first to its
 * last complete bar, or ex-date.
 */
export async function importFile(
  database: CommandDatabase,
  path: string,
  options: ImportOptions,
): Promise<ImportSummary> {
  const today = dateOf(options.clock());
  return readFile(path, options, async (batches, first) => {
    const table = await detect(batches, first, { ...options, path, today });
    const summary = await importTable(database, table, { ...options, today });
    if (summary.symbols.length === 0 && summary.refused.size === 0)
      throw invalidFile('it has no rows');
    return summary;
  });
}

/**
 * Reads a file by its lines: the first batch, without a byte order mark and blank lines at its start,
 * and all after it. Throws a `ServiceError` that names the file.
 */
export async function readFile<Result>(
  path: string,
  options: ImportOptions,
  read: (batches: AsyncGenerator<LineBatch>, first: LineBatch) => Promise<Result>,
): Promise<Result> {
  const batches = track(path, options);
  try {
    const { value: first, done } = await batches.next();
    if (done === true) throw invalidFile('it is empty');
    const blank = Math.max(
      0,
      first.lines.findIndex((text) => text.trim() !== ''),
    ); // so is a mark
    const [line = '', ...others] = first.lines.slice(blank);
    const lines = [line.replace(/^\ufeff/, ''), ...others];
    return await read(batches, { ...first, firstLine: first.firstLine + blank, lines });
  } catch (error) {
    const { verb = 'import', name = path } = options;
    const message = `Cannot ${verb} ${name}: ${messageOf(error)}`;
    throw new ServiceError('invalid_file', message, { cause: error });
  } finally {
    await batches.return(undefined); // closes a file that was not read to its end
  }
}

async function detect(
  batches: AsyncGenerator<LineBatch>,
  first: LineBatch,
  { path, today, onRefused }: Options & { path: string },
): Promise<Table> {
  const start = first.lines[0]?.trimStart()[0];
  if (start === '{' || start === '[') return readJson(batches, first, today);
  const [rows, header] = await withLongRows(batches, first, onRefused);
  return readCsv(rows, takeHeader(header), { path, today });
}

async function* track(path: string, { onProgress }: ImportOptions): AsyncGenerator<LineBatch> {
  const { size: totalBytes } = statSync(path);
  for await (const batch of readLines(path)) {
    onProgress?.({ bytesRead: batch.bytesRead, totalBytes });
    yield batch;
  }
}
