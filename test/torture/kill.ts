import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TortureModels } from './models.ts';
import type { Server } from './server.ts';

/** Children of a dead parent end by themselves within this time. */
export const ORPHAN_LIMIT_MS = 1_000;

/** Ends the service and waits until nothing of it is left; a child that outlives it for long is an error. */
export async function kill(
  server: Server,
  { signal, models, orphanLimitMs }: { signal: NodeJS.Signals; models: TortureModels; orphanLimitMs: number },
): Promise<void> {
  const { pid } = server.process as { pid: number };
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const ended = new Promise((resolve) => server.process.once('close', resolve));
  server.process.kill(signal);
  await ended;
  const diedAt = performance.now();
  while (children.some(isModelDay)) {
    if (performance.now() - diedAt > orphanLimitMs)
      throw new Error(`A child outlives its parent: ${children.join(' ')}`);
    await sleep(5);
  }
  models.noteKill();
}

/** Whether a process is still there; another one may have its number by now. */
function isModelDay(pid: number): boolean {
  try {
    return /^(model-day|.*node)/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}
