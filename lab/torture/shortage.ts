import { addDays } from '../../src/core/time/calendar.ts';
import { type Controller, createControlGroup } from './cgroups.ts';
import { FIRST_DATE } from './installation.ts';
import { trigger } from './server.ts';
import { makeTrouble } from './trouble.ts';

/**
 * A machine that is short of tasks or memory: the service lives, no model-day is lost, and no step
 * is paid twice.
 */

const MB = 1024 * 1024;

/**
 * Machines on which a service of three models comes through, with some of its model processes
 * taken.
 */
export const shortMachines: {
  name: string;
  controller: Controller;
  limit: number;
  models: number;
}[] = [
  { name: 'few tasks', controller: 'pids', limit: 16, models: 3 },
  { name: 'little memory', controller: 'memory', limit: 54 * MB, models: 5 },
];
/** A small machine that is just large enough for five children side by side. */
export const SMALL_MACHINE = { controller: 'memory', limit: 110 * MB } as const;

/** What the machine had of what is left; `taken` are model processes that it took. */
export type ShortageReport = NonNullable<Awaited<ReturnType<typeof runShort>>>;

/**
 * Runs one job in a control group. Throws when anything is lost or doubled; null where no such
 * group can be made.
 */
export async function runShort(
  { controller, limit }: { controller: Controller; limit: number },
  { days, seed, count = 3 }: { days: number; seed: number; count?: number },
) {
  const group = createControlGroup(controller, limit);
  if (group === null) return null;
  const end = addDays(FIRST_DATE, days - 1);
  const work = makeTrouble({ seed, count, lastDate: end }, async ({ models, start, finish }) => {
    let taken = 0;
    const onLog = (text: string) => {
      for (const line of text.split('\n')) {
        if (!line.includes('the machine ended a model process')) continue;
        taken += 1;
        if (line.includes('"hasSpoken":true')) models.noteKill();
      }
    };
    const server = await start({ command: group.command, onLog });
    const left = await finish(
      server,
      await trigger(server, { start_date: FIRST_DATE, end_date: end }),
    );
    // Killed are processes that the kernel ended for want of memory.
    const used = { killed: group.killed(), peak: group.peak() };
    return { controller, limit, taken, ...used, ...left };
  });
  return work.finally(() => group.remove());
}
