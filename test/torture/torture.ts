import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../../src/basics/calendar.ts';
import { requireProc } from '../support/processes.ts';
import { check } from './check.ts';
import { FIRST_DATE, install, randomNumbers, SYMBOLS } from './installation.ts';
import { kill } from './kill.ts';
import { links } from './links.ts';
import { startModels } from './models.ts';
import { killQuickly } from './quick-kills.ts';
import { ask, readRecords, run, type Server, startServer, trigger, untilEnd } from './server.ts';
import { runShort, shortMachines } from './shortage.ts';

/**
 * Kills the built service at random moments while it runs jobs on models that answer over HTTP,
 * starts it again each time, and looks at what is left: `npm run torture -- [kills] [seed]`, at
 * least 200 kills by default; a short form is part of `npm test`. Other kinds of trouble follow,
 * each in a file of its own.
 */

/**
 * The service lives this long at least and at most before it is killed; its start alone takes some
 * eighty.
 */
const LEAST_LIFE_MS = 60;
const MOST_LIFE_MS = 700;
/**
 * From the start of a job to the start of the next; a job that survives its kills makes room for
 * more of them.
 */
const DAYS_OF_A_JOB = 14;
const SPARE_JOBS = 20;
/** How often each other kind of trouble is made. */
const ROUNDS = 20;
/** The share of ends that are a polite SIGTERM; these are not counted among the kills. */
const POLITE_SHARE = 0.2;
/** More than the restarts without progress after which a job would be given up. */
const QUICK_KILLS = 25;

export interface TortureReport {
  /** SIGKILL. */
  kills: number;
  /** SIGTERM, beside these. */
  stops: number;
  seed: number;
  jobs: number;
  modelDays: number;
  /**
   * Requests that the model server saw, and those of them that repeated a step in flight at a kill.
   */
  requests: number;
  repeated: number;
  records: number;
  /**
   * The longest that children outlived the service: a figure, because each kill waits until all of
   * its children have ended.
   */
  orphanMs: number;
  seconds: number;
}

/**
 * Throws when anything is lost, doubled or left behind. A job has as many calendar days as `days`
 * says.
 */
export async function torture({
  kills,
  seed,
  days = 12,
}: {
  kills: number;
  seed: number;
  days?: number;
}): Promise<TortureReport> {
  const startedAt = performance.now();
  const random = randomNumbers(seed);
  const models = await startModels({ seed, symbols: SYMBOLS });
  const lastDate = addDays(FIRST_DATE, DAYS_OF_A_JOB * (kills + SPARE_JOBS));
  const folder = install(models.url, random, { lastDate });
  let server: Server | undefined;
  try {
    await run(folder, ['import-prices', 'prices.jsonl']);
    let killed = 0;
    let stopped = 0;
    let orphanMs = 0;
    let jobs = 0;
    let start = FIRST_DATE;
    for (; killed < kills; jobs += 1) {
      const request = { start_date: start, end_date: addDays(start, days - 1) };
      start = addDays(start, random() < 0.3 ? 7 : DAYS_OF_A_JOB); // some jobs overlap with what is done already
      models.beginJob();
      server ??= await startServer(folder);
      const jobId = await trigger(server, request);
      while (server !== undefined && killed < kills) {
        const life = LEAST_LIFE_MS + random() * (MOST_LIFE_MS - LEAST_LIFE_MS);
        if (await endsWithin(server, jobId, life)) break;
        const signal = random() < POLITE_SHARE ? 'SIGTERM' : 'SIGKILL';
        if (signal === 'SIGKILL') killed += 1;
        else stopped += 1;
        orphanMs = Math.max(orphanMs, await kill(server, { signal, models }));
        server = await startServer(folder);
      }
      await untilEnd(server, jobId);
    }
    const records = await readRecords(server as Server);
    const modelDays = await check({ folder, records });
    await (server as Server).stop();
    await run(folder, ['check']); // the service's own audit, beside the independent bookkeeper's
    const { requests, repeated } = models.check();
    const seconds = (performance.now() - startedAt) / 1000;
    return {
      kills: killed,
      stops: stopped,
      seed,
      jobs,
      modelDays,
      requests,
      repeated,
      records: records.length,
      orphanMs: Math.round(orphanMs),
      seconds,
    };
  } finally {
    server?.process.kill('SIGKILL');
    models.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Whether a job ends within a random life of its service. Nothing is expected of that time: where
 * it is over, the service is killed, at a later point of the job on a fast machine than on a slow
 * one.
 */
async function endsWithin({ url, jobEnd }: Server, jobId: string, ms: number): Promise<boolean> {
  if ((await ask(`${url}/simulate/status/${jobId}`)).completed_at !== null) return true;
  return Promise.race([jobEnd(jobId).then(() => true), sleep(ms, false)]);
}

if (import.meta.main) {
  requireProc('the torture');
  const [kills = '200', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
  console.log(`${kills} kills, seed ${seed}`);
  void tortureAll({ kills: Number(kills), seed: Number(seed) });
}

/** Every kind of trouble, one after another; what the machine cannot make is skipped by name. */
async function tortureAll({ kills, seed }: { kills: number; seed: number }): Promise<void> {
  console.log('kills at random moments', await torture({ kills, seed }));
  console.log('quick kills under load', await killQuickly({ kills: QUICK_KILLS, seed }));
  console.log('links', await links({ rounds: ROUNDS, seed }));
  for (const machine of shortMachines) {
    const report = await runShort(machine, { days: 28, seed });
    console.log(
      machine.name,
      report ?? `skipped: no control group (cgroup) for ${machine.controller} can be made here`,
    );
  }
}
