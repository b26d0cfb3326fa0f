import { readFileSync, readdirSync } from 'node:fs';

/**
 * The processor time of a process in milliseconds. Other work on the machine adds next to nothing
 * to it. Linux only.
 */

const MS_PER_TICK = 10;

/** Of the threads that a process has now, to the nanosecond. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ofThread = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return threads.reduce((sum, thread) => sum + ofThread(thread), 0) / 1e6;
}

/** Of a process and all its children that have ended, in steps of 10 ms. */
export function processorMsWithChildren(pid: number): number {
  return ticksOf(pid, ['utime', 'stime', 'cutime', 'cstime']) * MS_PER_TICK;
}

/** Of all children of this process that have ended, in steps of 10 ms. */
export function endedChildrenMs(): number {
  return ticksOf('self', ['cutime', 'cstime']) * MS_PER_TICK;
}

/** Of this process, to the microsecond. */
export function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * The fields of /proc/PID/stat in which clock ticks are counted, in their order from the 14th: see
 * proc(5).
 */
const TICKS = ['utime', 'stime', 'cutime', 'cstime'] as const;

function ticksOf(pid: number | 'self', fields: readonly (typeof TICKS)[number][]): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15); // a program's name may have spaces
  return fields.reduce((sum, field) => sum + Number(ticks[TICKS.indexOf(field)]), 0);
}
