import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** Why tests that look at other processes cannot run here, or false. Each of them names it as its reason to be skipped. */
export const noProc: string | false = existsSync('/proc/self/task')
  ? false
  : 'this system has no /proc, which tells about other processes';

/** For programs that cannot do without: ends this one with the reason where there is no /proc. */
export function requireProc(what: string): void {
  if (noProc === false) return;
  console.error(`Cannot run ${what}: ${noProc}; run it on Linux`);
  process.exit(1);
}

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter((child) => child !== '')
    .map(Number);
}

/** Those of its children that are at a model-day, and not some tool of the tests. */
export function modelDaysOf(pid: number): number[] {
  return childrenOf(pid).filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').startsWith('model-day '));
}

/** A process that has ended and whose new parent has not noticed yet does not count. */
export function isRunning(pid: number): boolean {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  return !/\) [ZX]/.test(stat);
}

/** What any user of the machine sees of a process: its command line; and what its own user sees: its environment. */
export function visibleTextOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8');
}
