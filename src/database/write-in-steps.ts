import { type Steps, forSlice, nextTurn } from '../turns.ts';
import type { Database } from './database.ts';

/**
 * Writes in steps, in one transaction for as many as fit into a slice; other requests are answered
 * in between. What the earlier transactions wrote stays if a later step throws or the process ends:
 * the last step writes that the rest is complete. Resolves to what the generator returns.
 */
export async function writeInSteps<Result>(
  database: Database,
  steps: Steps<Result>,
): Promise<Result> {
  for (;;) {
    const step = await database.write(() => forSlice(steps));
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
