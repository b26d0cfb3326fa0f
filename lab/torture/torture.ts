import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../../src/core/time/calendar.ts';
import { requireProc } from '../../test/support/processes.ts';
import { FIRST_DATE } from './installation.ts';
import { jobEnd, kill, type Server, trigger, untilEnd } from './server.ts';
import { runShort, shortMachines } from './shortage.ts';
import { makeTrouble } from './trouble.ts';

/**
 * Kills the built service at random moments while it runs jobs on models that answer over HTTP,
 * starts it again each time, and looks at what is left: `npm run torture -- [kills] [seed]`, at
 * least 200 kills by default; a short form is part of `npm run test:long`. Other kinds of trouble follow,
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
/** The share of ends that are a polite SIGTERM; these are not counted among the kills. */
const POLITE_SHARE = 0.2;

/**
 * Throws when anything is lost, doubled or left behind. A job has as many calendar days as `days`
 * says. Reports SIGKILLs as `kills`, SIGTERMs beside these as `stops`, and the longest that children
 * outlived the service: a figure, because each kill waits until all of its children have ended.
 */
export function torture({
  kills,
  seed,
  days = 12,
}: {
  kills: number;
  seed: number;
  days?: number;
}) {
  const startedAt = performance.now();
  const lastDate = addDays(FIRST_DATE, DAYS_OF_A_JOB * (kills + SPARE_JOBS));
  return makeTrouble({ seed, lastDate }, async ({ models, random, start, finish }) => {
    const report = { kills: 0, stops: 0, seed, jobs: 0, orphanMs: 0 };
    let server = await start();
    let date = FIRST_DATE;
    let jobId = '';
    for (; report.kills < kills; report.jobs += 1) {
      const request = { start_date: date, end_date: addDays(date, days - 1) };
      date = addDays(date, random() < 0.3 ? 7 : DAYS_OF_A_JOB); // some jobs overlap with what is done already
      if (report.jobs > 0) models.beginJob();
      jobId = await trigger(server, request);
      while (report.kills < kills) {
        const life = LEAST_LIFE_MS + random() * (MOST_LIFE_MS - LEAST_LIFE_MS);
        if (await endsWithin(server, jobId, life)) break;
        const signal = random() < POLITE_SHARE ? 'SIGTERM' : 'SIGKILL';
        report[signal === 'SIGKILL' ? 'kills' : 'stops'] += 1;
        report.orphanMs = Math.max(report.orphanMs, await kill(server, { signal, models }));
        server = await start();
      }
      await untilEnd(server, jobId);
    }
    const left = await finish(server, jobId);
    return { ...report, ...left, seconds: (performance.now() - startedAt) / 1000 };
  });
}

/**
 * Whether a job ends within a random life of its service. Nothing is expected of that time: where
 * it is over, the service is killed, at a later point of the job on a fast machine than on a slow
 * one.
 */
async function endsWithin(server: Server, jobId: string, ms: number): Promise<boolean> {
  return Promise.race([jobEnd(server, jobId).then(() => true), sleep(ms, false)]);
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
  for (const machine of shortMachines) {
    const report = await runShort(machine, { days: 28, seed });
    console.log(
      machine.name,
      report ?? `skipped: no control group (cgroup) for ${machine.controller} can be made here`,
    );
  }
}
