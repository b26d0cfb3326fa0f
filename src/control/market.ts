import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { CalendarDate } from '../calendar.ts';
import type { Reader } from '../database/database.ts';
import { splitsBetween } from '../database/market.ts';
import { wholeBars } from '../database/prices.ts';
import { withSnapshot } from '../database/snapshot.ts';
import { ServiceError } from '../domain.ts';
import { DIVIDENDS_HEADER, type DisguisedDividend, disguisedDividends } from './dividends.ts';
import type { Disguise, Key } from './key.ts';
import { createFolder } from './new-folder.ts';
import { HEADER, disguisedRows } from './rows.ts';

/** Of the key. */
const OWNER_ONLY = 0o600;

export interface ControlMarket {
  key: Key;
  /** The span of the prices to disguise, both ends included. */
  from: CalendarDate;
  to: CalendarDate;
  /** The name of its universe. */
  name: string;
}

/** What was written. */
export interface Written {
  /** Symbols without a bar in the span are not among them. */
  disguises: Disguise[];
  bars: number;
  dividends: number;
  /** The names of the files to import. */
  files: string[];
}

/**
 * Writes a control market: the stored bars and dividends of some symbols under other names, dates
 * and prices. The folder must be new or empty; it gets `prices.csv`, `universe.json`, `key.csv`
 * and, where anything is known of dividends, `dividends.csv`, or nothing. Reads the database as it
 * is at one moment and changes nothing in it. Throws a `ServiceError` that says why there is no
 * control market, or the signal's reason.
 */
export function writeControlMarket(
  databasePath: string,
  folder: string,
  {
    signal,
    onProgress = () => {},
    ...market
  }: ControlMarket & { signal: AbortSignal; onProgress?: (share: number) => void },
): Promise<Written> {
  return createFolder(folder, databasePath, (unfinished) =>
    withSnapshot(databasePath, async (reader) => {
      const written: Written = { disguises: [], bars: 0, dividends: 0, files: ['prices.csv'] };
      const rows = pricesCsv(reader, market, { written, onProgress });
      await pipeline(rows, createWriteStream(join(unfinished, 'prices.csv'), { flush: true }), {
        signal,
      });
      if (written.bars === 0) {
        const problem = `no price of the universe is stored from ${market.from} to ${market.to}`;
        throw new ServiceError('no_prices', `Cannot disguise the prices: ${problem}`);
      }
      writeDividends(reader, unfinished, { market, written });
      const universes = { [market.name]: written.disguises.map(({ code }) => code) };
      writeFileSync(
        join(unfinished, 'universe.json'),
        `${JSON.stringify({ universes }, null, 2)}\n`,
        { flush: true },
      );
      writeFileSync(join(unfinished, 'key.csv'), keyCsv(written.disguises, market.key), {
        mode: OWNER_ONLY,
        flush: true,
      });
      return written;
    }),
  );
}

/** The header, then a piece per symbol: only one symbol's bars are in memory. */
function* pricesCsv(
  reader: Reader,
  { key, from, to }: ControlMarket,
  { written, onProgress }: { written: Written; onProgress: (share: number) => void },
): Generator<string> {
  yield HEADER;
  for (const [index, disguise] of key.disguises.entries()) {
    onProgress(index / key.disguises.length);
    const bars = wholeBars(reader, disguise.symbol, { from, to });
    if (bars.length === 0) continue;
    written.disguises.push(disguise);
    written.bars += bars.length;
    const splits = splitsBetween(reader, [disguise.symbol], { after: from, upTo: to });
    yield disguisedRows(bars, { ...disguise, weeks: key.weeks, splits }).join('');
  }
}

function writeDividends(
  reader: Reader,
  folder: string,
  { market: { key, from, to }, written }: { market: ControlMarket; written: Written },
): void {
  const dividends = written.disguises.flatMap((disguise): DisguisedDividend[] => {
    const splits = splitsBetween(reader, [disguise.symbol], { after: from, upTo: to });
    return disguisedDividends(reader, { ...disguise, weeks: key.weeks, splits }, { from, to });
  });
  if (dividends.length === 0) return;
  const name = 'dividends.csv';
  writeFileSync(join(folder, name), DIVIDENDS_HEADER + dividends.map(({ row }) => row).join(''), {
    flush: true,
  });
  written.dividends = dividends.filter(({ cash }) => cash > 0).length;
  written.files.push(name);
}

function keyCsv(disguises: readonly Disguise[], { weeks }: Key): string {
  const rows = disguises.map(
    ({ code, symbol, factor }) => `${code},${symbol},${factor},${weeks}\n`,
  );
  return `code,symbol,factor,weeks\n${rows.join('')}`;
}
