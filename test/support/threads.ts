import type { TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import type { TestService } from './service.ts';

const threads = new Set<Worker>();
process.on('worker', (worker) => {
  threads.add(worker);
  worker.on('exit', () => threads.delete(worker));
});

/** The reader threads that this process starts from now on. */
export function watchThreads(t: TestContext): Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => workers.push(worker);
  process.on('worker', add);
  t.after(() => process.off('worker', add));
  return workers;
}

/** Ends all reader threads, so that the next report starts one. */
export async function endThreads(): Promise<void> {
  await Promise.all([...threads].map((worker) => worker.terminate()));
}

/** So many symbols that /prices/coverage takes several chunks. */
export function insertSymbols(database: Pick<TestService['database'], 'statement'>): void {
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, close, source)
       WITH RECURSIVE symbols (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM symbols LIMIT 10000)
       SELECT 'S' || value, '2025-11-03', 1, 1, 'csv' FROM symbols`,
    )
    .run();
}
