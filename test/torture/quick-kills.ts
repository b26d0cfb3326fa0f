import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { addDays } from '../../src/basics/calendar.ts';
import { FIRST_DATE } from './installation.ts';
import { trigger } from './server.ts';
import { makeTrouble } from './trouble.ts';

/**
 * Kills the service so many times before the first message of its job, on a machine that is busy
 * elsewhere with so many loops; then lets the job run to its end: it is not given up.
 */
export async function killQuickly({
  kills,
  seed,
  load = 2 * availableParallelism(),
}: {
  kills: number;
  seed: number;
  load?: number;
}) {
  const loops = Array.from({ length: load }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const work = makeTrouble({ seed }, async ({ folder, start, finish }) => {
    let server = await start();
    const request = { start_date: FIRST_DATE, end_date: addDays(FIRST_DATE, 4) };
    const jobId = await trigger(server, request);
    for (let count = 0; count < kills; count += 1) {
      server.process.kill('SIGKILL');
      await server.ended;
      if (messagesIn(folder) > 0) throw new Error(`Kill ${count + 1} came after the first message`);
      server = await start();
    }
    return { kills, load, ...(await finish(server, jobId)) };
  });
  return work.finally(() => loops.forEach((loop) => loop.kill('SIGKILL')));
}

function messagesIn(folder: string): number {
  const database = new DatabaseSync(join(folder, 'data/jobs.db'), { readOnly: true });
  const rows = database.prepare('SELECT 1 FROM reasoning_logs').all();
  database.close();
  return rows.length;
}
