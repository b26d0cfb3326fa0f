import type { Clock } from '../calendar.ts';
import type { Defect } from './formats/bar.ts';

/** What imports of prices and of dividends have in common. */

/** Rows per transaction: a server running beside the import waits for one at most, a few milliseconds. */
export const ROWS_PER_TRANSACTION = 10_000;
/** Rows that are sorted together before they are stored: bounds the memory of an import. */
export const ROWS_PER_BATCH = 5 * ROWS_PER_TRANSACTION;
/** The pause between two transactions, which gives a waiting server its turn. */
export const PAUSE_MS = 1;

export interface ImportOptions {
  clock: Clock;
  onProgress?: (progress: { bytesRead: number; totalBytes: number }) => void;
  onRefused?: (line: number, defect: Defect) => void;
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
