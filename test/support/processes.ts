import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';

/**
 * Why tests that look at other processes cannot run here, or false. Each of them names it as its
 * reason to be skipped.
 */
export const noProc: string | false = existsSync('/proc/self/task')
  ? false
  : 'this system has no /proc, which shows other processes';

/** For programs that need /proc: exits with the reason where there is none. */
export function requireProc(what: string): void {
  if (noProc === false) return;
  console.error(`Cannot run ${what}: ${noProc}; run it on Linux`);
  process.exit(1);
}

/** The state of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';

/** The processes that a process has started and that have not been waited for. Linux only. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter((child) => child !== '')
    .map(Number);
}

/** Those of its children that are at a model-day, and not some tool of the tests. */
export function modelDaysOf(pid: number): number[] {
  return childrenOf(pid).filter((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').startsWith('model-day '),
  );
}

/** A process that has ended and whose new parent has not noticed yet does not count. */
export function isRunning(pid: number): boolean {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  return !/\) [ZX]/.test(stat);
}

/** Whether a process is stopped by SIGSTOP. */
export function isStopped(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && /\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/**
 * What any user of the machine sees of a process: its command line; and what its own user sees: its
 * environment.
 */
export function visibleTextOf(pid: number): string {
  return (
    readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8')
  );
}

/** Whether a process blocks signals of this number. Linux only. */
export function blocks(pid: number, signal: number): boolean {
  const [, mask = ''] =
    /^SigBlk:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) >> BigInt(signal - 1)) % 2n === 1n;
}

/** What a process has open: paths, `socket:[inode]` and the like. Linux only. */
export function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)];
    } catch {
      return []; // closed meanwhile, as the one is with which the list was read
    }
  });
}

/** The TCP ports on which a process listens, whatever opened them. Linux only. */
export function listeningPortsOf(pid: number): number[] {
  const descriptors = descriptorsOf(pid);
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1),
  );
  return rows.flatMap((row) => {
    const [, address = '', , state, , , , , , inode] = row.trim().split(/\s+/);
    const isOwn = state === LISTENING && descriptors.includes(`socket:[${inode}]`);
    return isOwn ? [Number.parseInt(address.split(':')[1] ?? '', 16)] : [];
  });
}
