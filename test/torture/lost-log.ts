import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../../src/basics/calendar.ts';
import { check } from './check.ts';
import { FIRST_DATE, install, randomNumbers, SYMBOLS } from './installation.ts';
import { kill } from './kill.ts';
import { startModels } from './models.ts';
import { ask, readRecords, run, type Server, startServer, trigger, untilEnd } from './server.ts';

/** The job runs for up to so long before its log is removed, and after. */
const MOST_PAUSE_MS = 150;
const LOGS = [['-wal'], ['-shm'], ['-wal', '-shm']];

/**
 * Removes SQLite's log under the service at random moments while jobs run, then asks for its health
 * and kills it: what the service had reported by then must be there at the next start.
 */
export async function lostLog({
  rounds,
  seed,
}: {
  rounds: number;
  seed: number;
}): Promise<{ removed: number; modelDays: number }> {
  const random = randomNumbers(seed);
  const models = await startModels({ seed, symbols: SYMBOLS });
  const folder = install(models.url, random);
  let server: Server | undefined;
  try {
    await run(folder, ['import-prices', 'prices.jsonl']);
    server = await startServer(folder);
    let jobId = '';
    for (let round = 0; round < rounds; round += 1) {
      if (round % 2 === 0) {
        if (jobId !== '') await untilEnd(server, jobId);
        models.beginJob();
        const start = addDays(FIRST_DATE, 7 * round);
        jobId = await trigger(server, {
          start_date: start,
          end_date: addDays(start, 11),
          replace_existing: false,
        });
      }
      await sleep(random() * MOST_PAUSE_MS);
      for (const suffix of LOGS[round % LOGS.length] as string[])
        rmSync(join(folder, `data/jobs.db${suffix}`));
      await sleep(random() * MOST_PAUSE_MS);
      const reported = await completedIn(server, jobId);
      const { status } = await ask(`${server.url}/health`);
      if (status !== 'healthy') throw new Error('The service did not save its log');
      await kill(server, { signal: 'SIGKILL', models });
      server = await startServer(folder);
      const found = await completedIn(server, jobId);
      if (found < reported)
        throw new Error(
          `${reported} model-days were completed, ${found} are there after the log was removed`,
        );
    }
    await untilEnd(server, jobId);
    const modelDays = await check({ folder, records: await readRecords(server) });
    await server.stop();
    await run(folder, ['check']);
    models.check();
    return { removed: rounds, modelDays };
  } finally {
    server?.process.kill('SIGKILL');
    models.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many model-days of a job are completed; an unknown job is one that was lost. */
async function completedIn({ url }: Server, jobId: string): Promise<number> {
  const { progress, detail } = await ask(`${url}/simulate/status/${jobId}`);
  if (progress === undefined) throw new Error(`The job was lost: ${detail}`);
  return progress.completed;
}
