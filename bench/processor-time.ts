import { readFileSync, readdirSync } from 'node:fs';

/** The processor time of a process in milliseconds. Other work on the machine adds next to nothing to it. Linux only. */

const MS_PER_TICK = 10;

/** Of the threads that a process has now, to the nanosecond. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ofThread = (thread: string) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return threads.reduce((sum, thread) => sum + ofThread(thread), 0) / 1e6;
}

/** Of a process and all its children that have ended, in steps of 10 ms. */
export function processorMsWithChildren(pid: number | 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 15);
  return fields.reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
}
