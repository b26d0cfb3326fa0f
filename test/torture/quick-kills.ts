import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { addDays } from '../../src/basics/calendar.ts';
import { check } from './check.ts';
import { FIRST_DATE, install, randomNumbers, SYMBOLS } from './installation.ts';
import { startModels } from './models.ts';
import { readRecords, run, type Server, startServer, trigger, untilEnd } from './server.ts';

/**
 * Restarts that come before a child can say a word, on a machine that is busy elsewhere: no job is
 * given up for them.
 */

export interface QuickKillsReport {
  kills: number;
  /** Busy loops beside the service. */
  load: number;
  modelDays: number;
}

/**
 * Kills the service so many times before the first message of its job; then lets the job run to its
 * end.
 */
export async function killQuickly({
  kills,
  seed,
  load = 2 * availableParallelism(),
}: {
  kills: number;
  seed: number;
  load?: number;
}): Promise<QuickKillsReport> {
  const models = await startModels({ seed, symbols: SYMBOLS });
  const folder = install(models.url, randomNumbers(seed));
  const loops = Array.from({ length: load }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  let server: Server | undefined;
  try {
    await run(folder, ['import-prices', 'prices.jsonl']);
    models.beginJob();
    server = await startServer(folder);
    const jobId = await trigger(server, {
      start_date: FIRST_DATE,
      end_date: addDays(FIRST_DATE, 4),
    });
    for (let count = 0; count < kills; count += 1) {
      const ended = new Promise((resolve) => server?.process.once('close', resolve));
      server.process.kill('SIGKILL');
      await ended;
      if (messagesIn(folder) > 0) throw new Error(`Kill ${count + 1} came after the first message`);
      server = await startServer(folder);
    }
    await untilEnd(server, jobId);
    const modelDays = await check({ folder, records: await readRecords(server) });
    await server.stop();
    return { kills, load, modelDays };
  } finally {
    server?.process.kill('SIGKILL');
    for (const loop of loops) loop.kill('SIGKILL');
    models.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function messagesIn(folder: string): number {
  const database = new DatabaseSync(join(folder, 'data/jobs.db'), { readOnly: true });
  const row = database.prepare('SELECT count(*) AS count FROM reasoning_logs').get();
  database.close();
  return Number(row?.['count']);
}
