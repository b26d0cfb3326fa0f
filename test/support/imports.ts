import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CommandDatabase,
  type Database,
  MAX_PAUSE_MS,
  openDatabase,
} from '../../src/core/database/database.ts';
import type { Meaning } from '../../src/core/database/schema/price-conditions.ts';
import { importFile, type ImportSummary } from '../../src/features/price-files/import.ts';
import { type ImportOptions, TRANSACTION_MS } from '../../src/features/price-files/store-staged.ts';
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
    onProgress: (read) => (bytesRead = read),
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
  `SELECT 'exchange', symbol, date, cash_e6, into_symbol, coalesce(numerator || ':' || denominator, '-'), iif(remains, 'remains', 'leaves')
   FROM exchanges ORDER BY symbol, date, into_symbol`,
];

/**
 * All that a database has of prices, a line each: bars as `symbol date open high low close volume
 * source`, what is covered, dividends, where all of them are known, splits, and where these are.
 */
export function storedIn(database: Database): string[] {
  return TOLD.flatMap((sql) => rowsAsText(database, sql));
}

/** What a look at the time takes of it here: some steps are a transaction. */
const LOOK_MS = 5;

/**
 * Imports beside a server that wants the write lock during each transaction: it gets it after each,
 * and none takes longer than it may. `look` sees the server's database before each transaction.
 */
export async function importBesideServer(
  run: (database: CommandDatabase, time: Required<ImportOptions>['time']) => Promise<unknown>,
  look: (server: Database) => void = () => {},
): Promise<void> {
  const path = join(temporaryFolder(), 'prices.db');
  const [importer, server] = [openDatabase(path), openDatabase(path, { isServing: true })];
  let [nowMs, turns, waiting] = [0, 0, Promise.resolve()];
  const transactions: number[] = [];
  const watched: CommandDatabase = {
    ...importer,
    transaction: (work) => {
      assert.equal(turns, transactions.length, 'the server has had its turn after each so far');
      look(server);
      const startMs = nowMs;
      const result = importer.transaction(() => {
        const done = work();
        // The first attempt fails: the lock is taken. The next one is made after at most
        // MAX_PAUSE_MS.
        waiting = server.write(() => void (turns += 1));
        return done;
      });
      transactions.push(nowMs - startMs);
      return result;
    },
  };
  const sleep = async (ms: number) => {
    nowMs += ms;
    if (ms + LOOK_MS > MAX_PAUSE_MS) await waiting;
  };
  await run(watched, { now: () => (nowMs += LOOK_MS), sleep });
  await waiting;
  assert.ok(transactions.length > 10, `${transactions.length} transactions`);
  const longest = Math.max(...transactions);
  assert.ok(longest <= TRANSACTION_MS + 2 * LOOK_MS, `a transaction took ${longest} ms`);
  for (const database of [importer, server]) database.close();
}
