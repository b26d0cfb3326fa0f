import { isDeepStrictEqual } from 'node:util';
import {
  type Board,
  boardText,
  findBoard,
  type MarketTerms,
  rulesOf,
} from '#domain/market-rules.ts';
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
import { latestPrices } from '#database/price-writes.ts';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { splitsBetween } from '#database/market-queries.ts';
import { type StoredBar, storedBars } from '#database/prices.ts';
import { cannot, ServiceError } from '#domain/service-error.ts';
import { UNITS_PER_DOLLAR } from '#money/money.ts';
import { MAX_PRICE, MAX_VOLUME } from '#prices/row.ts';
import { DISGUISE_COLUMNS } from '../price-files/csv.ts';
import type { CalendarDate, DateSpan } from '#time/calendar.ts';
import { disguisedExchanges, drawAll, EXCHANGES_HEADER } from './disguised-exchanges.ts';
import {
  type Disguise,
  type Key,
  MILLIONTHS,
  outOfRange,
  priceScale,
  type DisguisedSeries,
  shiftBack,
} from './key.ts';
import {
  confirmedDividends,
  dividendCoverage,
  dividendsBetween,
  nonPayingSymbols,
} from '#database/splits-and-dividends.ts';
import type { Reader } from '#database/database.ts';
import { gapsBetween } from '#prices/needs.ts';
import { MAX_CASH } from '#prices/amounts.ts';
import { cashPerShare } from '#trading/morning.ts';
import { exchangesBetween } from '#database/exchanges.ts';
import { withSnapshot } from '#database/snapshot.ts';
import { assertUsableName } from '#database/storage/new-file.ts';

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

export const HEADER = `${DISGUISE_COLUMNS.join()}\n`;

/**
 * The bars of one symbol as lines of `prices.csv`: adjusted for its splits after each bar,
 * multiplied by the factor, under the code, on the shifted date. An unknown value stays an empty
 * cell. Throws a `ServiceError` (`no_prices`) for a bar that would no longer be one.
 */
export function disguisedRows(
  bars: readonly Omit<StoredBar, 'adjusted'>[],
  { symbol, code, factor, weeks, splits }: DisguisedSeries,
): string[] {
  return bars.map(({ date, open, high, low, close, volume }) => {
    const later = splits.filter((split) => split.date > date);
    const scale = priceScale(later, factor);
    const prices = [open, high, low, close].map(
      (price) => price && Math.round(price * scale * UNITS_PER_DOLLAR) / UNITS_PER_DOLLAR,
    );
    const traded = volume && Math.round(volume / scale);
    const isOut = prices.some((price) => price === 0 || (price ?? 0) > MAX_PRICE);
    if (isOut || (traded ?? 0) > MAX_VOLUME) throw outOfRange(symbol, `bar of ${date}`);
    return `${[code, shiftBack(date, { weeks }), ...prices, traded, 'disguise'].join()}\n`;
  });
}

const DIVIDENDS_HEADER = 'symbol,ex_date,amount,confirmed\n';

/** A dividend in disguise; cash of 0 says that the dividends are known at that date. */
interface DisguisedDividend {
  row: string;
  cash: number;
}

/**
 * The dividends of one symbol as lines of `dividends.csv`: under the code, on shifted ex-dates,
 * adjusted for splits and multiplied by the factor like its prices. Rows with an amount of 0 mark
 * both ends of the span in which they are known; none do where there is a gap in it. Throws a
 * `ServiceError` (`no_prices`) for a dividend that would no longer be one.
 */
export function disguisedDividends(
  reader: Reader,
  { symbol, code, factor, weeks, splits }: DisguisedSeries,
  span: DateSpan,
): DisguisedDividend[] {
  const confirmed = confirmedDividends(reader, symbol);
  const toRow = (date: CalendarDate, cash: number) => {
    const isConfirmed = cash > 0 && confirmed.has(date);
    const cells = [code, shiftBack(date, { weeks }), cash / MILLIONTHS, isConfirmed ? 'yes' : ''];
    return { row: `${cells.join()}\n`, cash };
  };
  // What is held at the close of the first bar is paid from the next day on.
  const dividends = dividendsBetween(latestPrices(reader), [symbol], {
    after: span.from,
    upTo: span.to,
  }).map((dividend) => {
    const { exDate } = dividend;
    // On one day the dividend comes before the split.
    const later = splits.filter(({ date }) => date >= exDate);
    const cash = Math.round(cashPerShare(dividend) * priceScale(later, factor));
    if (cash > MAX_CASH) throw outOfRange(symbol, `dividend of ${exDate}`);
    return toRow(exDate, cash);
  });
  const ends = new Set(knownSpan(reader, symbol, span));
  return [...[...ends].map((date) => toRow(date, 0)), ...dividends];
}

/**
 * The part of a span in which a symbol's dividends are known; null where it is none, or several.
 */
function knownSpan(
  reader: Reader,
  symbol: string,
  { from, to }: DateSpan,
): [start: CalendarDate, end: CalendarDate] | null {
  if (nonPayingSymbols(reader, [symbol]).has(symbol)) return [from, to];
  const spans = dividendCoverage(reader, [symbol], { from, to }).map(({ startDate, endDate }) => ({
    startDate: startDate > from ? startDate : from,
    endDate: endDate < to ? endDate : to,
  }));
  const [first] = spans;
  if (first === undefined || gapsBetween(spans).length > 0) return null;
  const ends = spans.map(({ endDate }) => endDate).sort();
  return [first.startDate, ends.at(-1) ?? first.endDate];
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
export interface MarketFiles {
  /** Symbols without a bar in the span are not among them. */
  disguises: Disguise[];
  bars: number;
  dividends: number;
  exchanges: number;
  /** The names of the files to import. */
  files: string[];
  /** Whether its boards are those of a study. */
  hasStudy: boolean;
}

/**
 * Writes a control market: the stored bars and dividends of some symbols under other names, dates
 * and prices, and the boards of their market. The folder must be new or empty; it gets `prices.csv`, `universe.json`, `key.csv`
 * and, where anything is known of them, `dividends.csv` and `exchanges.csv`, or nothing. Reads the database as it
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
): Promise<MarketFiles> {
  return createFolder(folder, databasePath, (unfinished) =>
    withSnapshot(databasePath, async (reader) => {
      const written: MarketFiles = {
        ...{ disguises: [], bars: 0, dividends: 0, exchanges: 0, files: ['prices.csv'] },
        hasStudy: false,
      };
      const dividends: DisguisedDividend[] = [];
      const { key, from: after, to: upTo } = market;
      const listed = new Set(key.disguises.map(({ symbol }) => symbol));
      const exchanges = exchangesBetween(latestPrices(reader), [...listed], { after, upTo });
      const all = { ...market, key: { ...key, disguises: drawAll(key, exchanges) } };
      const series = new Map<string, DisguisedSeries>();
      const rows = pricesCsv(reader, all, { written, dividends, series, listed, onProgress });
      await pipeline(rows, createWriteStream(join(unfinished, 'prices.csv'), { flush: true }), {
        signal,
      });
      if (written.bars === 0) {
        const problem = `no price of the universe is stored from ${market.from} to ${market.to}`;
        throw new ServiceError('no_prices', `Cannot disguise the prices: ${problem}`);
      }
      writeDividends(unfinished, dividends, written);
      writeExchanges(unfinished, disguisedExchanges(exchanges, series), written);
      const members = written.disguises.filter(({ symbol }) => listed.has(symbol));
      const universes = { [market.name]: members.map(({ code }) => code) };
      const studies = studyOfBoards(market, written.disguises);
      written.hasStudy = studies !== undefined;
      const universe = `${JSON.stringify({ universes, studies }, null, 2)}\n`;
      writeFileSync(join(unfinished, 'universe.json'), universe, { flush: true });
      const keyText = keyCsv(written.disguises, key);
      writeFileSync(join(unfinished, 'key.csv'), keyText, { mode: OWNER_ONLY, flush: true });
      return written;
    }),
  );
}

/**
 * A study in which each code has the lots and the limit of its symbol; undefined where the market's
 * own patterns give it the same.
 */
function studyOfBoards({ rules, name }: ControlMarket, disguises: readonly Disguise[]) {
  const own = disguises.map(({ symbol, code }) => ({ ...findBoard(rules, symbol), symbols: code }));
  const isSame = (row: Board) =>
    isDeepStrictEqual(row, { ...findBoard(rules, row.symbols), symbols: row.symbols });
  if (own.every(isSame)) return undefined;
  const { boards, ...keys } = rulesOf(rules);
  const rows = [...own, ...boards].map(boardText);
  return { [name]: { universe: name, market: { ...keys, symbols: rows.join('\n') } } };
}

/**
 * The header, then a piece per symbol: only one symbol's bars are in memory. Collects their
 * dividends. What exchanges bring may have no price, between others of a chain.
 */
function* pricesCsv(
  reader: Reader,
  { key, from, to }: ControlMarket,
  {
    written,
    dividends,
    series: all,
    listed,
    onProgress,
  }: {
    written: MarketFiles;
    dividends: DisguisedDividend[];
    series: Map<string, DisguisedSeries>;
    listed: ReadonlySet<string>;
    onProgress: (share: number) => void;
  },
): Generator<string> {
  yield HEADER;
  for (const [index, disguise] of key.disguises.entries()) {
    onProgress(index / key.disguises.length);
    const bars = storedBars(reader, disguise.symbol, { from, to });
    if (bars.length === 0 && listed.has(disguise.symbol)) continue;
    written.disguises.push(disguise);
    written.bars += bars.length;
    const splits = splitsBetween(latestPrices(reader), [disguise.symbol], {
      after: from,
      upTo: to,
    });
    const series = { ...disguise, weeks: key.weeks, splits };
    all.set(disguise.symbol, series);
    dividends.push(...disguisedDividends(reader, series, { from, to }));
    yield disguisedRows(bars, series).join('');
  }
}

function writeDividends(
  folder: string,
  dividends: readonly DisguisedDividend[],
  written: MarketFiles,
): void {
  if (dividends.length === 0) return;
  const name = 'dividends.csv';
  const text = DIVIDENDS_HEADER + dividends.map(({ row }) => row).join('');
  writeFileSync(join(folder, name), text, { flush: true });
  written.dividends = dividends.filter(({ cash }) => cash > 0).length;
  written.files.push(name);
}

function writeExchanges(folder: string, rows: readonly string[], written: MarketFiles): void {
  if (rows.length === 0) return;
  const name = 'exchanges.csv';
  writeFileSync(join(folder, name), EXCHANGES_HEADER + rows.join(''), { flush: true });
  written.exchanges = rows.length;
  written.files.push(name);
}

function keyCsv(disguises: readonly Disguise[], { weeks }: Key): string {
  const rows = disguises.map(
    ({ code, symbol, factor }) => `${code},${symbol},${factor},${weeks}\n`,
  );
  return `code,symbol,factor,weeks\n${rows.join('')}`;
}
