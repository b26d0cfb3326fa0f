import type { Clock } from '../calendar.ts';
import type { Defect } from './formats/bar.ts';
import type { Time } from './import-turns.ts';

/** What imports of prices and of dividends have in common. */

/** Rows that are sorted together before they are stored: bounds the memory of an import. */
export const ROWS_PER_BATCH = 50_000;
/** Rows that are stored between two looks at the clock: a fraction of the time of a transaction. */
export const ROWS_PER_STEP = 100;

export interface ImportOptions {
  clock: Clock;
  onProgress?: (progress: { bytesRead: number; totalBytes: number }) => void;
  onRefused?: (line: number, defect: Defect) => void;
  /** When it writes; by default, the machine's time. */
  time?: Time;
}

/** Counts a refused row by its reason and reports it. */
export function countDefect(
  refused: Map<string, number>,
  { line, defect }: { line: number; defect: Defect },
  { onRefused }: ImportOptions,
): void {
  refused.set(defect.reason, (refused.get(defect.reason) ?? 0) + 1);
  onRefused?.(line, defect);
}
