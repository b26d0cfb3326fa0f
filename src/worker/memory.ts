import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';

/**
 * How often the memory of a child close to its limit is measured: one that fills memory as fast as
 * it can takes about 50 MB in this time.
 */
const LOOK_INTERVAL_MS = 100;
/**
 * A child far from its limit is measured less often: it cannot reach the limit faster than this,
 * twice what was measured.
 */
const FASTEST_MB_PER_MS = 1;
const MAX_LOOK_INTERVAL_MS = 1_000;
/**
 * One measurement takes 0.02 to 0.05 ms. Children that were started together would be measured
 * together for as long as they live, so a tick measures no more than this: no request waits for a
 * thousand measurements, and 2,000 children get one in half a second.
 */
const LOOKS_PER_TICK = 40;
const TICK_MS = 10;

interface Watch {
  memoryMb: number;
  onTooMuch: (error: string) => void;
  /** When to measure next, as `performance.now()`. */
  dueAt: number;
}

const watches = new Map<ChildProcess, Watch>();
let timer: NodeJS.Timeout | undefined;

/**
 * Watches the memory that a child really uses, including buffers and swapped pages, which no flag
 * of Node limits. Calls `onTooMuch` with a reason when it exceeds `memoryMb` megabytes. Watches
 * nothing on a system without /proc. The function returned ends the watch.
 */
export function watchMemory(child: ChildProcess, watch: Omit<Watch, 'dueAt'>): () => void {
  watches.set(child, { ...watch, dueAt: performance.now() + LOOK_INTERVAL_MS });
  timer ??= setInterval(look, TICK_MS).unref();
  return () => {
    watches.delete(child);
    if (watches.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function look(): void {
  const now = performance.now();
  for (const [child, watch] of mostDue(watches, now)) {
    const { memoryMb, onTooMuch } = watch;
    const leftMb = memoryMb - (takenKb(child.pid) ?? 0) / 1024;
    watch.dueAt = now + nextLookMs(leftMb);
    if (leftMb >= 0) continue;
    watches.delete(child);
    onTooMuch(
      `The model process used more than ${memoryMb} MB of memory, which is its limit (MODEL_DAY_MEMORY_MB)`,
    );
  }
}

/** The watches that are due, longest overdue first, as many as a tick allows. */
export function mostDue<Child, Of extends { dueAt: number }>(
  all: Iterable<[Child, Of]>,
  now: number,
): [Child, Of][] {
  const due: [Child, Of][] = [];
  for (const one of all) if (one[1].dueAt <= now) due.push(one);
  return due.toSorted(([, one], [, other]) => one.dueAt - other.dueAt).slice(0, LOOKS_PER_TICK);
}

/**
 * When to measure a child again that has so much left: before it could have used that up, and not
 * more often than needed.
 */
export function nextLookMs(leftMb: number): number {
  return Math.min(MAX_LOOK_INTERVAL_MS, Math.max(LOOK_INTERVAL_MS, leftMb / FASTEST_MB_PER_MS));
}

/**
 * Far more than the file has; read again and again, because every reader would otherwise make a
 * buffer of its own.
 */
const text = Buffer.alloc(8_192);

/**
 * Memory in use and swapped out, in kilobytes; undefined without /proc, and for a process that
 * never began or has exited.
 */
function takenKb(pid: number | undefined): number | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/status`, 'r');
    const status = text.toString('latin1', 0, readSync(file, text));
    const [resident, swapped] = [/^VmRSS:\s+(\d+) kB$/m, /^VmSwap:\s+(\d+) kB$/m].map(
      (line) => line.exec(status)?.[1],
    );
    return Number(resident ?? 0) + Number(swapped ?? 0);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
