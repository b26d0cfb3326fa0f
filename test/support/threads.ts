import type { TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { startTestService } from './service.ts';

/** The reader threads that this process starts from now on. */
export function watchThreads(t: TestContext): Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => workers.push(worker);
  process.on('worker', add);
  t.after(() => process.off('worker', add));
  return workers;
}

/**
 * Ends all reader threads, so that the next report starts one. A short report could be made before
 * the shortest timer is due, where a thread is there already; one that takes several chunks waits.
 */
export async function endThreads(t: TestContext): Promise<void> {
  const service = await startTestService(t, { httpLimits: { maxReportMs: 0 } });
  insertSymbols(service.database);
  await Promise.allSettled([1, 2, 3].map(() => service.get('/prices/coverage')));
}

/** So many symbols that /prices/coverage takes several chunks. */
export function insertSymbols(database: Pick<TestDatabase, 'statement'>): void {
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, close, source)
       WITH RECURSIVE symbols (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM symbols LIMIT 10000)
       SELECT 'S' || value, '2025-11-03', 1, 1, 'csv' FROM symbols`,
    )
    .run();
}

type TestDatabase = Awaited<ReturnType<typeof startTestService>>['database'];
