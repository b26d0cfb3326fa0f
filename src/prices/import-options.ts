import type { Clock } from '../calendar.ts';
import type { Meaning } from '../database/adjusted-sources.ts';
import type { Defect } from './formats/bar.ts';
import type { Time } from './import-turns.ts';

/** What imports of prices and of dividends have in common. */

/** Rows that are stored between two looks at the clock: a fraction of the time of a transaction. */
export const ROWS_PER_STEP = 100;

export interface ImportOptions {
  clock: Clock;
  /** What a person says that the prices are. */
  as?: Meaning | undefined;
  onProgress?: (progress: { bytesRead: number; totalBytes: number }) => void;
  /** Called while the rows of a file of prices are stored, after all of them have been read. */
  onStored?: (stored: number, rows: number) => void;
  onRefused?: (line: number, defect: Defect) => void;
  /** When it writes; by default, the machine's time. */
  time?: Time;
}

/** Counts a refused row, or all rows of a symbol, by its reason and reports it. */
export function countDefect(
  refused: Map<string, number>,
  { line, defect, rows = 1 }: { line: number; defect: Defect; rows?: number },
  { onRefused }: ImportOptions,
): void {
  refused.set(defect.reason, (refused.get(defect.reason) ?? 0) + rows);
  onRefused?.(line, defect);
}
