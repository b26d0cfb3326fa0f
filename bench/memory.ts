import { readFileSync, writeFileSync } from 'node:fs';
import type { Measurement } from './support.ts';

/**
 * The memory of processes and of the machine, in megabytes. Linux only. It is measured once: other
 * work does not change it.
 */

const KB_PER_MB = 1024;
/** Resets the peak of a process's memory: see proc(5), clear_refs. */
const RESET_PEAK = '5';

/**
 * The number of kilobytes behind a name in a file of /proc, in megabytes. Not a number when the
 * name is not in it.
 */
function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / KB_PER_MB;
}

/**
 * The most that a process has had so far, or since its peak was reset. Not a number for one that
 * has ended.
 */
export function peakMemoryMb(pid: number): number {
  return field(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmHWM');
}

/** From now on the peak of a process is that of what follows. */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
}

/** What a process has now: all that is resident, and its own share of it (PSS). */
export function memoryMb(pid: number): { resident: number; share: number } {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return { resident: field(rollup, 'Rss'), share: field(rollup, 'Pss') };
}

/** What the machine can still give to programs. */
export function availableMb(): number {
  return field(readFileSync('/proc/meminfo', 'utf8'), 'MemAvailable');
}

/** A line of the report. */
export function memoryBelow(what: string, megabytes: number, aimMb?: number): Measurement {
  const aims = aimMb === undefined ? [] : [{ aim: `< ${aimMb} MB`, isMet: megabytes < aimMb }];
  return { what, ours: `${megabytes.toFixed(1)} MB`, aims };
}
