import {
  createWriteStream,
  writeFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Reader } from '#database/database.ts';
import { exchangesBetween } from '#database/exchanges.ts';
import { splitsBetween } from '#database/market-queries.ts';
import { latestPrices } from '#database/price-writes.ts';
import { storedBars } from '#database/prices.ts';
import { withSnapshot } from '#database/snapshot.ts';
import { assertUsableName } from '#database/storage/new-file.ts';
import { boardText, findBoard, type MarketTerms, rulesOf } from '#domain/market-rules.ts';
import { cannot, ServiceError } from '#domain/service-error.ts';
import type { DateSpan } from '#time/calendar.ts';
import {
  disguisedDividends,
  disguisedExchanges,
  disguisedRows,
  type DisguisedSeries,
  HEADER,
} from './disguised-rows.ts';
import { type Disguise, drawAll, type Key } from './key.ts';

/**
 * Creates a folder with content, all or nothing: `fill` writes into one with a temporary name
 * beside it, which gets the final name once it is complete. An empty folder is replaced, anything
 * else refused. Throws a `ServiceError` (`cannot_start`) that says why there is no folder, or what
 * `fill` throws on purpose.
 */
async function createFolder<Result>(
  path: string,
  database: string,
  fill: (folder: string) => Promise<Result>,
): Promise<Result> {
  const target = existsSync(path) ? realpathSync(path) : resolve(path);
  const unfinished = `${target}.${process.pid}-${crypto.randomUUID().slice(0, 8)}.unfinished`;
  try {
    assertUsableName(target, database);
    if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      throw new Error('it is a symbolic link that leads nowhere');
    if (existsSync(target) && readdirSync(target).length > 0) throw new Error('it is not empty');
    mkdirSync(unfinished);
    const result = await fill(unfinished);
    renameSync(unfinished, target); // fails if something was put into the folder meanwhile
    return result;
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw cannot(`create the folder ${path}`, error);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** File mode of the key: its owner only. */
const OWNER_ONLY = 0o600;

/** The span is that of the prices to disguise, both ends included. */
export interface ControlMarket extends DateSpan {
  key: Key;
  /** The name of its universe. */
  name: string;
  /** Of whose boards the codes trade. */
  rules: MarketTerms;
}

/** What was written. */
export type MarketFiles = Awaited<ReturnType<typeof writeControlMarket>>;

/**
 * Writes a control market: the stored bars and dividends of some symbols under other names, dates
 * and prices, and the boards of their market. The folder must be new or empty; it gets `prices.csv`,
 * `universe.json`, `key.csv` and, where anything is known of them, `dividends.csv` and
 * `exchanges.csv`, or nothing. Reads the database as it is at one moment and changes nothing in it.
 * Throws a `ServiceError` that says why there is no control market, or the signal's reason.
 */
export function writeControlMarket(
  databasePath: string,
  folder: string,
  {
    signal,
    onProgress = () => {},
    ...market
  }: ControlMarket & { signal: AbortSignal; onProgress?: (share: number) => void },
) {
  return createFolder(folder, databasePath, (unfinished) =>
    withSnapshot(databasePath, async (reader) => {
      const { key, from, to, name } = market;
      const window = { after: from, upTo: to };
      const prices = latestPrices(reader);
      const listed = key.disguises.map(({ symbol }) => symbol);
      const exchanges = exchangesBetween(prices, listed, window);
      // What they bring may have no price, between others of a chain.
      const brought = new Set(exchanges.flatMap(({ into }) => into || []));
      const all = drawAll(key, brought).map((disguise): DisguisedSeries => {
        const splits = splitsBetween(prices, [disguise.symbol], window);
        return { ...disguise, weeks: key.weeks, splits };
      });
      const bars = new Map<string, number>();
      const rows = pricesCsv(reader, all, { from, to, bars, onProgress });
      const file = createWriteStream(join(unfinished, 'prices.csv'), { flush: true });
      await pipeline(rows, file, { signal });
      if (bars.size === 0) {
        const problem = `no price of the universe is stored from ${from} to ${to}`;
        throw new ServiceError('no_prices', `Cannot disguise the prices: ${problem}`);
      }
      const disguises = all.filter(({ symbol }) => bars.has(symbol) || brought.has(symbol));
      const dividends = disguises.flatMap((own) => disguisedDividends(reader, own, { from, to }));
      const series = new Map(disguises.map((own) => [own.symbol, own]));
      const members = key.disguises.filter(({ symbol }) => bars.has(symbol));
      const studies = studyOfBoards(market, disguises);
      const exchanged = disguisedExchanges(exchanges, series);
      const files = ['prices.csv'];
      const write = (path: string, text: string, mode?: number) =>
        writeFileSync(join(unfinished, path), text, { mode, flush: true });
      for (const [path, columns, lines] of [
        ['dividends.csv', 'symbol,ex_date,amount,confirmed', dividends.map(({ row }) => row)],
        ['exchanges.csv', 'symbol,date,cash,into,numerator,denominator,remains', exchanged],
      ] as const) {
        if (lines.length === 0) continue;
        write(path, `${columns}\n${lines.join('')}`);
        files.push(path);
      }
      const universe = { universes: { [name]: members.map(({ code }) => code) }, studies };
      write('universe.json', `${JSON.stringify(universe, null, 2)}\n`);
      const keys = disguises.map((own) => `${own.code},${own.symbol},${own.factor},${own.weeks}\n`);
      write('key.csv', `code,symbol,factor,weeks\n${keys.join('')}`, OWNER_ONLY);
      return {
        disguises,
        /** Symbols without a bar in the span, which no exchange brings either. */
        leftOut: listed.filter((symbol) => !series.has(symbol)).sort(),
        bars: bars.values().reduce((sum, own) => sum + own, 0),
        dividends: dividends.filter(({ cash }) => cash > 0).length,
        exchanges: exchanged.length,
        /** Those to import. */
        files,
        /** Whether its boards are those of a study. */
        hasStudy: studies !== undefined,
      };
    }),
  );
}

/**
 * A study in which each code has the lots and the limit of its symbol; undefined where the market's
 * own patterns give it the same.
 */
function studyOfBoards({ rules, name }: ControlMarket, disguises: readonly Disguise[]) {
  const rowsBy = (nameOf: (own: Disguise) => string) =>
    disguises.map((own) => boardText({ ...findBoard(rules, nameOf(own)), symbols: own.code }));
  const own = rowsBy(({ symbol }) => symbol);
  const usual = rowsBy(({ code }) => code);
  if (own.join() === usual.join()) return undefined;
  const { boards, ...keys } = rulesOf(rules);
  // Without those of single symbols, whose names it would give away.
  const patterns = boards.filter(({ symbols }) => symbols.includes('*'));
  const rows = [...own, ...patterns.map(boardText)];
  return { [name]: { universe: name, market: { ...keys, symbols: rows.join('\n') } } };
}

/** The header, then a piece per symbol: only one symbol's bars are in memory. Counts them. */
function* pricesCsv(
  reader: Reader,
  all: readonly DisguisedSeries[],
  {
    bars,
    onProgress,
    ...span
  }: DateSpan & { bars: Map<string, number>; onProgress: (share: number) => void },
): Generator<string> {
  yield HEADER;
  for (const [index, series] of all.entries()) {
    onProgress(index / all.length);
    const own = storedBars(reader, series.symbol, span);
    if (own.length === 0) continue;
    bars.set(series.symbol, own.length);
    yield disguisedRows(own, series).join('');
  }
}
