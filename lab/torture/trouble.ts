import { rmSync } from 'node:fs';
import { ask } from '../../test/support/program.ts';
import { check } from './check.ts';
import { install, randomNumbers, SYMBOLS } from './installation.ts';
import { startModels, type TortureModels } from './models.ts';
import { run, type Server, startServer, untilEnd } from './server.ts';

/** Where one kind of trouble is made: an installation with imported prices, and its models. */
export interface Place {
  folder: string;
  models: TortureModels;
  random: () => number;
  /** Starts a service, here or in another folder; what still runs at the end is killed. */
  start(options?: Parameters<typeof startServer>[1], folder?: string): Promise<Server>;
  /**
   * Waits for the end of the last job and stops the service; then throws when anything is lost,
   * doubled, or paid twice.
   */
  finish(server: Server, jobId: string): Promise<Left>;
}

/** What is left after the trouble; `repeated` are requests of steps that were in flight at a kill. */
export interface Left {
  modelDays: number;
  records: number;
  requests: number;
  repeated: number;
}

/** Makes one kind of trouble, and removes all that it took. */
export async function makeTrouble<Report>(
  { seed, ...installation }: { seed: number; count?: number; lastDate?: string },
  work: (place: Place) => Promise<Report>,
): Promise<Report> {
  const models = await startModels({ seed, symbols: SYMBOLS });
  const random = randomNumbers(seed);
  const folder = install(models.url, random, installation);
  const servers: Server[] = [];
  const start: Place['start'] = async (options, where = folder) => {
    const server = await startServer(where, options);
    servers.push(server);
    return server;
  };
  const finish: Place['finish'] = async (server, jobId) => {
    await untilEnd(server, jobId);
    const { results } = await ask(`${server.url}/results`);
    const modelDays = await check(folder, results);
    server.process.kill('SIGTERM');
    await server.ended;
    await run(folder, ['check']); // the service's own audit, beside the independent bookkeeper's
    return { modelDays, records: results.length, ...models.check() };
  };
  try {
    await run(folder, ['import-prices', 'prices.jsonl']);
    models.beginJob();
    return await work({ folder, models, random, start, finish });
  } finally {
    for (const server of servers) server.process.kill('SIGKILL');
    models.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
