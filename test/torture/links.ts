import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from './check.ts';
import { SYMBOLS, install, randomNumbers } from './installation.ts';
import { kill } from './kill.ts';
import { startModels } from './models.ts';
import { type Server, readRecords, run, startServer, trigger, untilEnd } from './server.ts';

const JOB = { start_date: '2015-01-01', end_date: '2015-01-28' };

/** Ways for a second folder to the database of the first. */
const ways: ((first: string, second: string) => void)[] = [
  (first, second) => {
    mkdirSync(join(second, 'data'));
    symlinkSync(join(first, 'data/jobs.db'), join(second, 'data/jobs.db'));
  },
  (first, second) => symlinkSync(join(first, 'data'), join(second, 'data')),
];

/**
 * Starts second servers on one database through links while a job runs: each is refused. Then the
 * first is killed. A server that opens the database through a symbolic link continues its job at
 * once, and a restart of the first is refused meanwhile.
 */
export async function links({
  rounds,
  seed,
}: {
  rounds: number;
  seed: number;
}): Promise<{ refused: number; takenOver: number; modelDays: number }> {
  const models = await startModels({ seed, symbols: SYMBOLS });
  const folder = install(models.url, randomNumbers(seed));
  const others: string[] = [];
  let server: Server | undefined;
  let refused = 0;
  let takenOver = 0;
  const second = (link: (first: string, second: string) => void) => {
    const other = mkdtempSync(join(tmpdir(), 'tss-torture-'));
    others.push(other);
    copyFileSync(join(folder, 'server.js'), join(other, 'server.js'));
    symlinkSync(join(folder, 'configs'), join(other, 'configs'));
    link(folder, other);
    return other;
  };
  const expectRefusal = async (where: string) => {
    const started = await startServer(where).catch((error: Error) => error.message);
    if (typeof started !== 'string') started.process.kill('SIGKILL');
    if (typeof started !== 'string' || !/is in use by process/.test(started))
      throw new Error(`A second server was not refused: ${String(started)}`);
    refused += 1;
  };
  try {
    await run(folder, ['import-prices', 'prices.jsonl']);
    models.beginJob();
    server = await startServer(folder);
    const jobId = await trigger(server, JOB);
    for (let round = 0; round < rounds; round += 1) {
      const other = second(ways[round % ways.length] as (typeof ways)[number]);
      await expectRefusal(other);
      await kill(server, { signal: 'SIGKILL', models });
      server = await startServer(other);
      takenOver += 1;
      await expectRefusal(folder);
      await kill(server, { signal: 'SIGKILL', models });
      server = await startServer(folder);
    }
    await untilEnd(server, jobId);
    const modelDays = await check({ folder, records: await readRecords(server) });
    await server.stop();
    await run(folder, ['check']);
    models.check();
    return { refused, takenOver, modelDays };
  } finally {
    server?.process.kill('SIGKILL');
    models.stop();
    for (const path of [...others, folder]) rmSync(path, { recursive: true, force: true });
  }
}
