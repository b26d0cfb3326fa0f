import { statSync } from 'node:fs';
import { type CalendarDate, dateOf } from '../basics/calendar.ts';
import { meaningOf } from '../database/schema/price-conditions.ts';
import type { CommandDatabase, Database } from '../database/database.ts';
import { type ContradictedSplit, contradictedSplits } from '../database/splits-and-dividends.ts';
import {
  createStaging,
  type StagedRow,
  type StagedSymbol,
  type Staging,
} from '../database/staging.ts';
import { messageOf, ServiceError } from '../basics/domain.ts';
import {
  meaningOfFile,
  nightsIn,
  type PriceFile,
  problemOf,
  type Row,
  type Taken,
  type Unknown,
} from './files/bar.ts';
import { countDefect, type ImportOptions, type Stored, storeStaged } from './store-staged.ts';
import { type LineBatch, readLines, takeHeader } from './files/lines.ts';
import { readCsv } from './files/csv.ts';
import { type DividendFile, namesDividends, readDividendCsv } from './files/dividend-rows.ts';
import { readJson } from './files/json.ts';
import { namesSplits, readSplitCsv, type SplitFile } from './files/split-rows.ts';
import { type DividendSummary, importDividends } from './import-dividends.ts';
import { importSplits, type SplitSummary } from './import-splits.ts';

/**
 * Imports the rows of a file of prices: reads all of them, refuses those that contradict each
 * other, and stores the others.
 */

export interface PriceSummary extends Stored {
  kind: 'prices';
  format: string;
  /** What the prices were taken for. */
  taken: Taken;
  /** The splits that the stored prices of the file's symbols contradict. */
  contradicted: ContradictedSplit[];
  /** How many rows were refused, by reason. */
  refused: Map<string, number>;
}

type RowOptions = ImportOptions & { today: CalendarDate };

async function importRows(
  database: CommandDatabase,
  file: PriceFile,
  options: RowOptions,
): Promise<PriceSummary> {
  if (file.source === 'disguise' && (options.as ?? 'split-adjusted') !== meaningOf(file.source))
    throw new ServiceError(
      'invalid_file',
      `the prices of a control market are ${meaningOf(file.source)}`,
    );
  const staging = createStaging(database);
  try {
    const refused = new Map<string, number>();
    const refuse: Refuse = (line, defect, rows = 1) =>
      countDefect(refused, { line, defect, rows }, options);
    const unknown = new Map<string, Unknown[]>();
    let rowsThatSay = 0;
    for await (const rows of file.rows)
      for (const row of rows) {
        stageRow(staging, row, refuse);
        if (row.defect === undefined || row.leaves === undefined) continue;
        rowsThatSay += 1;
        const { symbol, dividendsOn, splitsOn } = row.leaves;
        if (dividendsOn ?? splitsOn)
          unknown.set(symbol, [...(unknown.get(symbol) ?? []), row.leaves]);
      }
    refuseConflicts(file, staging, refuse);
    const isWhole = [...refused.values()].reduce((sum, rows) => sum + rows, 0) === rowsThatSay;
    const { taken, symbols } = refuseSymbols(database, staging, { file, options, refuse });
    const stored = await storeStaged(database, staging, {
      symbols,
      source: taken.source,
      isWhole,
      unknown,
      options,
    });
    const contradicted = contradictedSplits(database, stored.symbols);
    return { kind: 'prices', format: file.format, taken, ...stored, contradicted, refused };
  } finally {
    staging.close();
  }
}

type Refuse = (line: number, defect: { reason: string; value: string }, rows?: number) => void;

function stageRow(staging: Staging, { line, bar, actions, defect }: Row, refuse: Refuse): void {
  if (defect !== undefined) return refuse(line, defect);
  const { dividend = null, split } = actions ?? {};
  const row: StagedRow = {
    ...bar,
    line,
    dividend,
    numerator: split?.numerator ?? null,
    denominator: split?.denominator ?? null,
  };
  staging.add(row);
}

/**
 * Several prices of one symbol and date: perhaps the symbol is in a column with an unknown name.
 */
function refuseConflicts({ header }: PriceFile, staging: Staging, refuse: Refuse): void {
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
  if (header?.mayHideSymbol !== true) return;
  for (const { symbol, firstLine, rows } of staging
    .symbols()
    .filter((staged) => conflicting.has(staged.symbol))) {
    refuse(
      firstLine,
      {
        reason: `the symbol is the file's name, and other rows contradict that${columns}`,
        value: symbol,
      },
      rows,
    );
    staging.remove(symbol);
  }
}

/**
 * Decides what the prices are, and refuses the symbols that do not agree; returns the others too.
 */
function refuseSymbols(
  database: Database,
  staging: Staging,
  { file, options, refuse }: { file: PriceFile; options: RowOptions; refuse: Refuse },
): { taken: Taken; symbols: StagedSymbol[] } {
  const staged = staging.symbols();
  const nights = nightsIn(database, staging, staged);
  const taken = meaningOfFile(file, options.as ?? null, nights);
  const symbols = staged.filter(({ symbol, firstLine, rows }) => {
    const defect = problemOf(database, symbol, { staging, taken, nights });
    if (defect === null) return true;
    refuse(firstLine, defect, rows);
    staging.remove(symbol);
    return false;
  });
  return { taken, symbols };
}

export type ImportSummary = PriceSummary | DividendSummary | SplitSummary;

/**
 * Imports the daily bars, the dividends or the splits of one file in short transactions. Bad rows are reported
 * and skipped; a file in no known format, or a compressed one that is torn, throws a `ServiceError`
 * and changes nothing. Afterwards, every symbol is covered from its first to its last complete bar,
 * or ex-date.
 */
export async function importFile(
  database: CommandDatabase,
  path: string,
  options: ImportOptions,
): Promise<ImportSummary> {
  const today = dateOf(options.clock());
  const batches = readLines(path);
  try {
    const { size: totalBytes } = statSync(path);
    const tracked = track(batches, (bytesRead) => options.onProgress?.({ bytesRead, totalBytes }));
    const file = await detect(tracked, { path, today });
    if (file.kind === 'dividends')
      return refuseEmpty(
        await importDividends(database, file, { ...options, today }),
        'it has no dividends',
      );
    if (file.kind === 'splits')
      return refuseEmpty(
        await importSplits(database, file, { ...options, today }),
        'it has no splits',
      );
    const whenEmpty = file.header === undefined ? 'it has no bars' : 'it has a header and no rows';
    return refuseEmpty(await importRows(database, file, { ...options, today }), whenEmpty);
  } catch (error) {
    const message = `Cannot ${options.verb ?? 'import'} ${path}: ${messageOf(error)}`;
    throw new ServiceError('invalid_file', message, { cause: error });
  } finally {
    await batches.return(undefined); // closes a file that was not read to its end
  }
}

/** A file without any row, not even one that was refused, is none of these. */
function refuseEmpty(summary: ImportSummary, reason: string): ImportSummary {
  const imported = summary.kind === 'prices' ? summary.bars : summary.symbols;
  if (imported === 0 && summary.refused.size === 0) throw new ServiceError('invalid_file', reason);
  return summary;
}

async function detect(
  batches: AsyncGenerator<LineBatch>,
  { path, today }: { path: string; today: CalendarDate },
): Promise<PriceFile | DividendFile | SplitFile> {
  const { value: first, done } = await batches.next();
  if (done === true) throw new ServiceError('invalid_file', 'it is empty');
  const [line = ''] = first.lines;
  const trimmed = { ...first, lines: [line.replace(/^\ufeff/, ''), ...first.lines.slice(1)] };
  const start = trimmed.lines.find((text) => text.trim() !== '')?.trimStart()[0];
  if (start === '{') return readJson(batches, trimmed, today);
  const header = takeHeader(trimmed);
  if (namesSplits(header)) return readSplitCsv(batches, header, path);
  return namesDividends(header)
    ? readDividendCsv(batches, header, { path, today })
    : readCsv(batches, header, { path, today });
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
