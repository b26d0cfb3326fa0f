import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { CHILD_NICENESS } from '../src/worker/process.ts';
import { serveLines } from './helper.ts';

/**
 * The peer of model-days: starts empty Node processes side by side, at the niceness of the
 * service's children. A helper.
 */

await serveLines(async ({ children, parallel }: { children: number; parallel: number }) => {
  let left = children;
  const startedAt = performance.now();
  const worker = async () => {
    while (left-- > 0) {
      const child = spawn(process.execPath, ['-e', '0'], { stdio: 'pipe', env: {} });
      if (child.pid !== undefined) setPriority(child.pid, CHILD_NICENESS);
      await new Promise((resolve) => child.on('close', resolve));
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { ms: performance.now() - startedAt };
});
