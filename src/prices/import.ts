import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { type CalendarDate, addDays, dateOf, timestamp } from '../calendar.ts';
import type { CommandDatabase, Database } from '../database/database.ts';
import { adjustedSources } from '../database/adjusted-sources.ts';
import { type Bar, addCoverage, dropSyntheticPrices, seriesOf, storeBars } from '../database/prices.ts';
import { ServiceError, messageOf } from '../domain.ts';
import { atOnce } from '../turns.ts';
import type { PriceFile, Defect, Row } from './formats/bar.ts';
import { takeHeader } from './formats/cells.ts';
import { readCsv } from './formats/csv.ts';
import { type DividendFile, namesDividends, readDividendCsv } from './formats/dividends.ts';
import { readJson } from './formats/json.ts';
import { type LineBatch, readLines } from './formats/lines.ts';
import { type BarBatch, createBarBatch } from './bar-batch.ts';
import { type DividendSummary, importDividends } from './import-dividends.ts';
import { type ImportOptions, ROWS_PER_BATCH, ROWS_PER_STEP, countDefect } from './import-options.ts';
import { createImportTurns } from './import-turns.ts';

export interface PriceSummary {
  kind: 'prices';
  format: string;
  symbols: number;
  /** Rows that are now in the database, including those that already were. */
  bars: number;
  /** Those of them that are new or were changed. */
  changed: number;
  dates: number;
  firstDate: CalendarDate | null;
  lastDate: CalendarDate | null;
  /** Symbols whose synthetic prices were replaced. */
  syntheticReplaced: number;
  /** How many rows were refused, by reason. */
  refused: Map<string, number>;
}

export type ImportSummary = PriceSummary | DividendSummary;

/**
 * Imports the daily bars or the dividends of one file in short transactions. Bad rows are reported and skipped; a
 * file in no known format, or a compressed one that is torn, throws a `ServiceError` and changes nothing. Afterwards, every
 * symbol is covered from its first to its last complete bar, or ex-date.
 */
export async function importFile(
  database: CommandDatabase,
  path: string,
  options: ImportOptions,
): Promise<ImportSummary> {
  const today = dateOf(options.clock());
  try {
    const { size: totalBytes } = statSync(path);
    const batches = readLines(path);
    const tracked = track(batches, (bytesRead) => options.onProgress?.({ bytesRead, totalBytes }));
    const file = await detect(tracked, { path, today });
    if (file.kind === 'dividends') return await importDividends(database, file, { ...options, today });
    return await importRows(database, file, { ...options, today });
  } catch (error) {
    throw new ServiceError('invalid_file', `Cannot import ${path}: ${messageOf(error)}`, { cause: error });
  }
}

async function detect(
  batches: AsyncGenerator<LineBatch>,
  { path, today }: { path: string; today: CalendarDate },
): Promise<PriceFile | DividendFile> {
  const { value: first, done } = await batches.next();
  if (done === true) throw new ServiceError('invalid_file', 'it is empty');
  const [line = ''] = first.lines;
  const trimmed = { ...first, lines: [line.replace(/^\ufeff/, ''), ...first.lines.slice(1)] };
  const start = trimmed.lines.find((text) => text.trim() !== '')?.trimStart()[0];
  if (start === '{') return readJson(batches, trimmed, today);
  const header = takeHeader(trimmed);
  return namesDividends(header) ? readDividendCsv(batches, header, { path, today }) : readCsv(batches, header, { path, today });
}

/** What is known of a symbol while its file is read. */
interface SymbolState {
  defect: Defect | null;
  /** Whether its synthetic prices, if any, have been removed. */
  hasWay: boolean;
  firstComplete: CalendarDate | null;
  lastComplete: CalendarDate | null;
}

interface Progress {
  summary: PriceSummary;
  symbols: Map<string, SymbolState>;
  dates: Set<CalendarDate>;
}

type RowOptions = ImportOptions & { today: CalendarDate };

async function importRows(database: CommandDatabase, file: PriceFile, options: RowOptions): Promise<PriceSummary> {
  const progress: Progress = {
    summary: {
      kind: 'prices',
      format: file.format,
      symbols: 0,
      bars: 0,
      changed: 0,
      dates: 0,
      firstDate: null,
      lastDate: null,
      syntheticReplaced: 0,
      refused: new Map(),
    },
    symbols: new Map(),
    dates: new Set(),
  };
  const batch = createBarBatch();
  const turns = createImportTurns(database, options.time);
  const store = () => turns.add(storeBatch(database, batch, { file, progress, options }));
  for await (const rows of file.rows) {
    for (const row of rows) {
      accept(database, row, { batch, file, progress, options });
      if (batch.size === ROWS_PER_BATCH) await store();
    }
    // While a server has its turn, the next rows are read.
    turns.advance();
  }
  await store();
  await turns.add(coverSymbols(database, file, { progress, options }));
  await turns.finish();
  return summarise(progress);
}

/** Adds a row's bar to the batch. A row that cannot be imported is counted and reported. */
function accept(
  database: Database,
  { line, bar, defect }: Row,
  { batch, file, progress, options }: { batch: BarBatch; file: PriceFile; progress: Progress; options: RowOptions },
): void {
  const state = bar && stateOf(database, bar.symbol, { file, progress });
  const problem = defect ?? state?.defect ?? null;
  if (problem !== null) {
    countDefect(progress.summary.refused, { line, defect: problem }, options);
  } else if (bar !== undefined && state !== undefined) {
    batch.add(bar);
    progress.dates.add(bar.date);
    noteComplete(state, bar);
  }
}

/** Empties the batch, and stores what was in it step by step. */
function storeBatch(
  database: Database,
  batch: BarBatch,
  { file, progress, options }: { file: PriceFile; progress: Progress; options: RowOptions },
): Iterator<unknown> {
  return storeInSteps(database, { size: batch.size, bars: batch.take() }, { file, progress, options });
}

function* storeInSteps(
  database: Database,
  { size, bars }: { size: number; bars: Iterator<Bar> },
  { file, progress, options }: { file: PriceFile; progress: Progress; options: RowOptions },
): Generator<null> {
  const { summary } = progress;
  for (let left = size; left > 0; left -= ROWS_PER_STEP) {
    const stamp = { source: file.source, recordedAt: timestamp(options.clock()) };
    const portion = Math.min(ROWS_PER_STEP, left);
    summary.changed += storeBars(database, prepared(database, bars, { portion, progress }), stamp);
    summary.bars += portion;
    yield null;
  }
}

/** The next bars, each read when it is stored. Real prices replace synthetic ones, in the transaction that stores the first of them. */
function* prepared(
  database: Database,
  bars: Iterator<Bar>,
  { portion, progress: { symbols, summary } }: { portion: number; progress: Progress },
): Generator<Bar> {
  for (let left = portion, last = ''; left > 0; left -= 1) {
    const { value: bar, done } = bars.next();
    assert(done !== true, 'there are as many bars as the batch has');
    const state = bar.symbol === last ? undefined : symbols.get(bar.symbol);
    if (state?.hasWay === false) {
      state.hasWay = true;
      if (atOnce(dropSyntheticPrices(database, bar.symbol))) summary.syntheticReplaced += 1;
    }
    last = bar.symbol;
    yield bar;
  }
}

/** Called at a symbol's first row: a series never mixes adjusted and raw bars. */
function stateOf(
  database: Database,
  symbol: string,
  { file, progress }: { file: PriceFile; progress: Progress },
): SymbolState {
  const known = progress.symbols.get(symbol);
  if (known !== undefined) return known;
  const defect = mixingProblem(database, symbol, file);
  const state: SymbolState = { defect, hasWay: false, firstComplete: null, lastComplete: null };
  progress.symbols.set(symbol, state);
  return state;
}

function mixingProblem(database: Database, symbol: string, { source }: PriceFile): Defect | null {
  const series = seriesOf(database, symbol);
  const isAdjusted = adjustedSources.includes(source);
  if (series === null || series.adjusted === isAdjusted) return null;
  const [there, here] = isAdjusted ? ['raw', 'split-adjusted'] : ['split-adjusted', 'raw'];
  return {
    reason: `${here} prices for a symbol whose stored prices are ${there}`,
    value: `${symbol} has prices from ${series.source}`,
  };
}

function noteComplete(state: SymbolState, { date, high, low, close }: Bar): void {
  if (high === null || low === null || close === null) return;
  if (state.firstComplete === null || date < state.firstComplete) state.firstComplete = date;
  if (state.lastComplete === null || date > state.lastComplete) state.lastComplete = date;
}

/** Only days before today are covered: today's bar may still change. */
function* coverSymbols(
  database: Database,
  { source }: PriceFile,
  { progress, options }: { progress: Progress; options: RowOptions },
): Generator<null> {
  const yesterday = addDays(options.today, -1);
  for (const [symbol, { firstComplete, lastComplete }] of progress.symbols) {
    if (firstComplete === null || lastComplete === null || firstComplete > yesterday) continue;
    const endDate = lastComplete < yesterday ? lastComplete : yesterday;
    addCoverage(database, { symbol, startDate: firstComplete, endDate }, { source, recordedAt: timestamp(options.clock()) });
    yield null;
  }
}

function summarise({ summary, symbols, dates }: Progress): PriceSummary {
  const ordered = [...dates].sort();
  return {
    ...summary,
    symbols: [...symbols.values()].filter(({ defect }) => defect === null).length,
    dates: ordered.length,
    firstDate: ordered[0] ?? null,
    lastDate: ordered.at(-1) ?? null,
  };
}

async function* track(
  batches: AsyncGenerator<LineBatch>,
  onBytes: (bytesRead: number) => void,
): AsyncGenerator<LineBatch> {
  for await (const batch of batches) {
    onBytes(batch.bytesRead);
    yield batch;
  }
}
