import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import type { Clock } from './basics/calendar.ts';
import { type Database, openDatabase } from './database/database.ts';
import { riskFreeRateOf, storeRiskFreeRate } from './database/state.ts';
import { storageFaultOf } from './database/storage/faults.ts';
import { messageOf, ServiceError } from './basics/domain.ts';
import type { AccessToken } from './http/access.ts';
import { interfaceDescription } from './http/interface-description.ts';
import type { HttpLimits } from './http/limits.ts';
import type { BuiltPages } from './http/pages.ts';
import { createHttpServer } from './http/server.ts';
import { createJobs } from './jobs/queue.ts';
import { createAgentDays } from './trading/agent-days.ts';
import type { Log } from './basics/log.ts';
import type { Settings } from './basics/settings.ts';
import { type WorkerLimits, workerLimits } from './children/places.ts';
import { startChildBy } from './children/launcher.ts';
import type { StartChild } from './children/process.ts';

export interface ServiceOptions {
  settings: Settings;
  log: Log;
  clock: Clock;
  /** The program of the child processes: the agent as JavaScript text. Read when a child starts. */
  readonly agentProgram: string;
  /** How a child is started; tests of jobs run the agent in their own process. */
  startChild?: StartChild;
  /** Empty means that every client may do everything. */
  accessTokens: readonly AccessToken[];
  /** The built files of the pages. */
  pages: BuiltPages;
  httpLimits?: HttpLimits;
  limits?: WorkerLimits;
  environment?: NodeJS.ProcessEnv;
}

/** A service that answers requests. */
export interface Service {
  port: number;
  /**
   * Stops listening, answers what it has read, stops the children, closes the database. A running
   * job continues at the next start.
   */
  stop(): Promise<void>;
}

/** Opens the database, resumes an unfinished job and listens on all interfaces. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { settings, log, clock, startChild, accessTokens, pages, httpLimits } = options;
  const { limits = workerLimits, environment = process.env } = options;
  const database = openDatabase(settings.databasePath, {
    durability: settings.deploymentMode === 'DEV' ? 'process-end' : 'power-loss',
    isServing: true,
  });
  await rememberSettings(database, options);
  let { apiPort } = settings;
  const agentDays = createAgentDays(() => settings.publicUrl ?? `http://127.0.0.1:${apiPort}`);
  const jobs = createJobs({
    ...{ database, settings, log, clock, environment, limits, agentDays },
    startChild: startChild ?? startChildBy(settings, environment),
    get agentProgram() {
      return options.agentProgram;
    },
  });
  const http = createHttpServer(
    {
      database,
      settings,
      log,
      clock,
      jobs,
      agentDays,
      viewedFile: null,
      isFixed: false,
      interfaceDescription,
    },
    { accessTokens, pages, limits: httpLimits },
  );
  const port = await listen(http.server, settings.apiPort, database);
  apiPort = port;
  jobs.resume();
  return {
    port,
    async stop() {
      await Promise.all([http.stop(), jobs.stop()]);
      await jobs.stop(); // a request that was answered meanwhile may have cancelled a job
      database.close();
    },
  };
}

/**
 * Stores what the figures depend on, for later views of the file; a database that cannot be written
 * is served all the same.
 */
async function rememberSettings(
  database: Database,
  { settings, log }: ServiceOptions,
): Promise<void> {
  const { riskFreeRate } = settings;
  if (riskFreeRateOf(database) === riskFreeRate) return;
  try {
    await database.write(() => storeRiskFreeRate(database, riskFreeRate));
  } catch (error) {
    if (storageFaultOf(error) === null) throw error;
    log.warning('Cannot store the risk-free rate with the database', { error: messageOf(error) });
  }
}

/**
 * Listens on all interfaces, and returns the port. Otherwise closes the database and throws a
 * `ServiceError` (`cannot_start`).
 */
export async function listen(server: Server, port: number, database: Database): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(port, resolve),
    );
  } catch (error) {
    database.close();
    throw new ServiceError(
      'cannot_start',
      `Cannot listen on port ${port}: ${messageOf(error)}; set API_PORT to use another`,
      {
        cause: error,
      },
    );
  }
  const address = server.address();
  assert(typeof address === 'object' && address !== null, 'a server that listens has an address');
  return address.port;
}
