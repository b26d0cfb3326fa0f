import { addDays, type CalendarDate, timestamp } from '../basics/calendar.ts';
import type { CommandDatabase } from '../database/database.ts';
import type { Split } from '../database/market.ts';
import {
  type ContradictedSplit,
  contradictedSplits,
  storeSplitSpans,
} from '../database/splits-and-dividends.ts';
import type { Defect } from './files/bar.ts';
import type { SplitFile } from './files/split-rows.ts';
import { countDefect, type ImportOptions } from './store-staged.ts';

export interface SplitSummary {
  kind: 'splits';
  format: string;
  symbols: number;
  splits: number;
  /** Of these, the lines which say that there was no split. */
  none: number;
  firstDate: CalendarDate | null;
  lastDate: CalendarDate | null;
  /** Those that the stored prices contradict. */
  contradicted: ContradictedSplit[];
  /** How many rows were refused, by reason. */
  refused: Map<string, number>;
}

/**
 * Imports the splits of one file. It adds them to those that are stored, and says nothing of other
 * dates: a file does not tell from when to when it is complete.
 */
export async function importSplits(
  database: CommandDatabase,
  file: SplitFile,
  options: ImportOptions & { today: CalendarDate },
): Promise<SplitSummary> {
  const refused = new Map<string, number>();
  const splits = new Map<string, Split>();
  for await (const rows of file.rows)
    for (const { line, split, defect } of rows) {
      const problem = defect ?? add(splits, split);
      if (problem !== null) countDefect(refused, { line, defect: problem }, options);
    }
  const list = {
    splits: [...splits.values()],
    spans: [],
    knownThrough: addDays(options.today, -1),
  };
  const stamp = { source: file.source, recordedAt: timestamp(options.clock()) };
  await database.write(() => storeSplitSpans(database, list, stamp));
  const dates = list.splits.map(({ date }) => date).sort();
  const symbols = [...new Set(list.splits.map(({ symbol }) => symbol))];
  return {
    kind: 'splits',
    format: file.format,
    symbols: symbols.length,
    splits: list.splits.length,
    none: list.splits.filter(({ numerator, denominator }) => numerator === denominator).length,
    firstDate: dates[0] ?? null,
    lastDate: dates.at(-1) ?? null,
    contradicted: contradictedSplits(database, symbols),
    refused,
  };
}

/** Returns why the split is not added, or null. */
function add(splits: Map<string, Split>, split: Split): Defect | null {
  const key = `${split.symbol} ${split.date}`;
  const before = splits.get(key);
  const isSame =
    before === undefined ||
    before.numerator * split.denominator === split.numerator * before.denominator;
  if (!isSame)
    return { reason: 'another row has a different split of this symbol and date', value: key };
  splits.set(key, split);
  return null;
}
