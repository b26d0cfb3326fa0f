import { rmSync } from 'node:fs';
import { addDays } from '../../src/basics/calendar.ts';
import { type Controller, createControlGroup } from '../support/cgroups.ts';
import { check } from './check.ts';
import { FIRST_DATE, install, randomNumbers, SYMBOLS } from './installation.ts';
import { startModels } from './models.ts';
import { readRecords, run, startServer, trigger, untilEnd } from './server.ts';

/**
 * A machine that is short of tasks or memory: the service lives, no model-day is lost, and no step
 * is paid twice.
 */

const MB = 1024 * 1024;

/**
 * Machines on which a service of three models comes through, with some of its model processes
 * taken.
 */
export const shortMachines: { name: string; controller: Controller; limit: number }[] = [
  { name: 'few tasks', controller: 'pids', limit: 16 },
  { name: 'little memory', controller: 'memory', limit: 52 * MB },
];
/** A small machine that is just large enough for five children side by side. */
export const SMALL_MACHINE = { controller: 'memory', limit: 110 * MB } as const;

export interface ShortageReport {
  controller: Controller;
  limit: number;
  modelDays: number;
  /** Model processes that the machine took. */
  taken: number;
  /** Processes that the kernel ended for want of memory. */
  killed: number;
  /** The most that the service and its children took: tasks, or bytes. */
  peak: number | null;
  requests: number;
  repeated: number;
}

/**
 * Runs one job in a control group. Throws when anything is lost or doubled; null where no such
 * group can be made.
 */
export async function runShort(
  { controller, limit }: { controller: Controller; limit: number },
  { days, seed, count = 3 }: { days: number; seed: number; count?: number },
): Promise<ShortageReport | null> {
  const group = createControlGroup(controller, limit);
  if (group === null) return null;
  const models = await startModels({ seed, symbols: SYMBOLS });
  const end = addDays(FIRST_DATE, days - 1);
  const folder = install(models.url, randomNumbers(seed), { count, lastDate: end });
  let taken = 0;
  const onLog = (text: string) => {
    for (const line of text
      .split('\n')
      .filter((part) => part.includes('the machine ended a model process'))) {
      taken += 1;
      if (line.includes('"hasSpoken":true')) models.noteKill();
    }
  };
  try {
    await run(folder, ['import-prices', 'prices.jsonl']);
    models.beginJob();
    const server = await startServer(folder, { command: group.command, onLog });
    await untilEnd(server, await trigger(server, { start_date: FIRST_DATE, end_date: end }));
    const modelDays = await check({ folder, records: await readRecords(server) });
    await server.stop();
    await run(folder, ['check']);
    return {
      controller,
      limit,
      modelDays,
      taken,
      killed: group.killed(),
      peak: group.peak(),
      ...models.check(),
    };
  } finally {
    await group.remove();
    models.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
