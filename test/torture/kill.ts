import { readFileSync } from 'node:fs';
import { until } from '../support/until.ts';
import type { TortureModels } from './models.ts';
import type { Server } from './server.ts';

/**
 * Ends the service and waits until nothing of it is left. Resolves to how long its children
 * outlived it, in milliseconds; a child that stays is an error.
 */
export async function kill(
  server: Server,
  { signal, models }: { signal: NodeJS.Signals; models: TortureModels },
): Promise<number> {
  const { pid } = server.process as { pid: number };
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  const ended = new Promise((resolve) => server.process.once('close', resolve));
  server.process.kill(signal);
  await ended;
  const diedAt = performance.now();
  await until(
    `the children ${children.join(' ')} to end with their parent`,
    () => !children.some(isModelDay),
  );
  models.noteKill();
  return performance.now() - diedAt;
}

/** Whether a process is still there; another one may have its number by now. */
function isModelDay(pid: number): boolean {
  try {
    return /^(model-day|.*node)/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}
