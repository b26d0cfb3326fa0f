import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandDatabase, type Database, openDatabase } from '../../src/database/database.ts';
import type { Meaning } from '../../src/database/schema/price-conditions.ts';
import { importFile, type ImportSummary } from '../../src/prices/import.ts';
import { clockFrom } from './service.ts';
import { rowsAsText } from './tables.ts';
import { temporaryFolder } from './folder.ts';

/** What is today in tests of imports. */
export const TODAY = '2025-11-10';

export interface Imported {
  database: CommandDatabase;
  summary: ImportSummary;
  /** The rows that were refused, as `line: reason: value`. */
  refused: string[];
  /** What is stored, as `storedIn` says it. */
  stored: string[];
  /** How much of the file was read. */
  bytesRead: number;
}

/** Imports a file with this content, into a database in memory unless one is given. */
export async function importText(
  text: string | Buffer,
  {
    name = 'AAPL.csv',
    database = openDatabase(':memory:'),
    as,
  }: { name?: string; database?: CommandDatabase; as?: Meaning | undefined } = {},
): Promise<Imported> {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  const refused: string[] = [];
  let bytesRead = 0;
  const summary = await importFile(database, path, {
    clock: clockFrom(TODAY),
    as,
    onRefused: (line, { reason, value }) => refused.push(`${line}: ${reason}: ${value}`),
    onProgress: (progress) => (bytesRead = progress.bytesRead),
  });
  return { database, summary, refused, stored: storedIn(database), bytesRead };
}

const spans = (table: string, word: string) =>
  `SELECT '${word}', symbol, start_date || '..' || end_date, source FROM ${table} ORDER BY symbol, start_date`;
const TOLD = [
  'SELECT symbol, date, open, high, low, close, volume, source FROM price_data ORDER BY symbol, date',
  spans('price_data_coverage', 'covered'),
  `SELECT 'dividend', symbol, ex_date, cash_e6, basis, source FROM dividends ORDER BY symbol, ex_date`,
  spans('dividend_coverage', 'dividends'),
  `SELECT 'split', symbol, date, numerator || ':' || denominator, source FROM stock_splits ORDER BY symbol, date`,
  spans('stock_split_spans', 'splits'),
];

/**
 * All that a database has of prices, a line each: bars as `symbol date open high low close volume
 * source`, what is covered, dividends, where all of them are known, splits, and where these are.
 */
export function storedIn(database: Database): string[] {
  return TOLD.flatMap((sql) => rowsAsText(database, sql));
}
