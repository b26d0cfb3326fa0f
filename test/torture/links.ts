import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill, trigger } from './server.ts';
import { makeTrouble } from './trouble.ts';

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
export function links({ rounds, seed }: { rounds: number; seed: number }) {
  return makeTrouble({ seed }, async ({ folder, models, start, finish }) => {
    let refused = 0;
    const expectRefusal = async (where: string) => {
      const started = await start({}, where).catch((error: Error) => error.message);
      if (typeof started !== 'string' || !/is in use by process/.test(started))
        throw new Error(`A second server was not refused: ${String(started)}`);
      refused += 1;
    };
    let server = await start();
    const jobId = await trigger(server, JOB);
    for (let round = 0; round < rounds; round += 1) {
      const other = mkdtempSync(join(tmpdir(), 'tss-torture-'));
      copyFileSync(join(folder, 'server.js'), join(other, 'server.js'));
      symlinkSync(join(folder, 'configs'), join(other, 'configs'));
      ways[round % ways.length]?.(folder, other);
      await expectRefusal(other);
      await kill(server, { signal: 'SIGKILL', models });
      server = await start({}, other);
      await expectRefusal(folder);
      await kill(server, { signal: 'SIGKILL', models });
      rmSync(other, { recursive: true });
      server = await start();
    }
    return { refused, takenOver: rounds, ...(await finish(server, jobId)) };
  });
}
