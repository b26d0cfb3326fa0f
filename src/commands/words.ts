import type { BackupSummary } from '../database/backup.ts';
import { forTerminal } from '../text.ts';

const BYTES_PER_KB = 1_000;
const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** A count as people read it, thousands separated. */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** "1 date", "1,000 dates". */
export function counted(value: number, noun: string): string {
  return `${number(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** "1.2 MB". */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= BYTES_PER_KB && unit < UNITS.length - 1; unit += 1) value /= BYTES_PER_KB;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/**
 * A change as text with a plus sign for a gain, as on the pages; none where the text shows only
 * zeros.
 */
export function signed(change: number | null, text: string): string {
  return change !== null && change > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** A copied database, and what is in it. */
export function describeCopy(
  path: string,
  { bytes, jobs, modelDays, positions, bars }: BackupSummary,
): string {
  return (
    `${forTerminal(path)}: ${size(bytes)}, ${counted(jobs, 'job')}, ${counted(modelDays, 'model-day')}, ` +
    `${counted(positions, 'position')}, ${counted(bars, 'price bar')}\n`
  );
}
