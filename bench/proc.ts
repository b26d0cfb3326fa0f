import { readFileSync, readdirSync } from 'node:fs';

/**
 * Processor time in milliseconds and memory in megabytes, of which other work changes little. Linux
 * only.
 */

const MS_PER_TICK = 10;
const KB_PER_MB = 1024;
/**
 * The fields of /proc/PID/stat in which clock ticks are counted, in their order from the 14th: see
 * proc(5).
 */
const TICKS = ['utime', 'stime', 'cutime', 'cstime'] as const;

/** Of the threads that a process has now, to the nanosecond. */
export function processorMs(pid: number): number {
  const ofThread = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ofThread(thread), 0) / 1e6;
}

/** Of a process and all its children that have ended, in steps of 10 ms. */
export function processorMsWithChildren(pid: number): number {
  return ticksOf(pid, TICKS) * MS_PER_TICK;
}

/** Of all children of this process that have ended, in steps of 10 ms. */
export function endedChildrenMs(): number {
  return ticksOf('self', ['cutime', 'cstime']) * MS_PER_TICK;
}

function ticksOf(pid: number | 'self', fields: readonly (typeof TICKS)[number][]): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15); // a name may have spaces
  return fields.reduce((sum, field) => sum + Number(ticks[TICKS.indexOf(field)]), 0);
}

/**
 * The number of kilobytes behind a name in a file of /proc, in megabytes. Not a number when it is
 * not in it.
 */
function field(path: string, name: string): number {
  return (
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(path, 'utf8'))?.[1]) / KB_PER_MB
  );
}

/** The most that a process has had so far. Not a number for one that has ended. */
export function peakMemoryMb(pid: number): number {
  return field(`/proc/${pid}/status`, 'VmHWM');
}

/** What a process has now. */
export function residentMb(pid: number): number {
  return field(`/proc/${pid}/smaps_rollup`, 'Rss');
}

/** What the machine can still give to programs. */
export function availableMb(): number {
  return field('/proc/meminfo', 'MemAvailable');
}
