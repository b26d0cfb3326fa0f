import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * How often the memory of children is measured. A child that fills memory as fast as it can takes about 50 MB in this time;
 * one measurement costs 0.02 ms per child.
 */
const LOOK_INTERVAL_MS = 100;

interface Watch {
  memoryMb: number;
  onTooMuch: (error: string) => void;
}

const watches = new Map<ChildProcess, Watch>();
let timer: NodeJS.Timeout | undefined;

/**
 * Watches the memory that a child really uses, including buffers and swapped pages, which no flag of Node limits. Calls
 * `onTooMuch` with a reason when it exceeds `memoryMb` megabytes. Watches nothing on a system without /proc. The function
 * returned ends the watch.
 */
export function watchMemory(child: ChildProcess, watch: Watch): () => void {
  watches.set(child, watch);
  timer ??= setInterval(look, LOOK_INTERVAL_MS).unref();
  return () => {
    watches.delete(child);
    if (watches.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function look(): void {
  for (const [child, { memoryMb, onTooMuch }] of watches) {
    if ((takenKb(child.pid) ?? 0) <= memoryMb * 1024) continue;
    watches.delete(child);
    onTooMuch(`The model process used more than ${memoryMb} MB of memory, which is its limit (MODEL_DAY_MEMORY_MB)`);
  }
}

/** Memory in use and swapped out, in kilobytes; undefined without /proc, and for a process that never began or has exited. */
function takenKb(pid: number | undefined): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const [resident, swapped] = [/^VmRSS:\s+(\d+) kB$/m, /^VmSwap:\s+(\d+) kB$/m].map((line) => line.exec(status)?.[1]);
    return Number(resident ?? 0) + Number(swapped ?? 0);
  } catch {
    return undefined;
  }
}
