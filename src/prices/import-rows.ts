import type { CalendarDate } from '../calendar.ts';
import { meaningOf } from '../database/adjusted-sources.ts';
import type { CommandDatabase, Database } from '../database/database.ts';
import { type ContradictedSplit, contradictedSplits } from '../database/splits.ts';
import { type StagedRow, type Staging, createStaging } from '../database/staging.ts';
import { ServiceError } from '../domain.ts';
import { type Taken, meaningOfFile, nightsIn, problemOf } from './file-meaning.ts';
import type { PriceFile, Row, Unknown } from './formats/bar.ts';
import { type ImportOptions, countDefect } from './import-options.ts';
import { type Stored, storeStaged } from './store-staged.ts';

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

export async function importRows(
  database: CommandDatabase,
  file: PriceFile,
  options: RowOptions,
): Promise<PriceSummary> {
  if (file.source === 'disguise' && (options.as ?? 'split-adjusted') !== meaningOf(file.source))
    throw new ServiceError(
      'invalid_file',
      `the prices of a control market are ${meaningOf(file.source)}`,
    );
  const staging = createStaging();
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
    staging.sort();
    refuseConflicts(file, staging, refuse);
    const isWhole = [...refused.values()].reduce((sum, rows) => sum + rows, 0) === rowsThatSay;
    const taken = refuseSymbols(database, staging, { file, options, refuse });
    const stored = await storeStaged(database, staging, {
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

/** Decides what the prices are, and refuses the symbols that do not agree. */
function refuseSymbols(
  database: Database,
  staging: Staging,
  { file, options, refuse }: { file: PriceFile; options: RowOptions; refuse: Refuse },
): Taken {
  const nights = nightsIn(database, staging);
  const taken = meaningOfFile(file, options.as ?? null, nights);
  for (const { symbol, firstLine, rows } of staging.symbols()) {
    const defect = problemOf(database, symbol, { staging, taken, nights });
    if (defect === null) continue;
    refuse(firstLine, defect, rows);
    staging.remove(symbol);
  }
  return taken;
}
