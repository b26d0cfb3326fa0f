import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { type Database, openDatabase } from '#database/database.ts';
import { readRiskFreeRate, storeRiskFreeRate } from '#database/state.ts';
import { findStorageFault } from '#database/storage/faults.ts';
import { errorMessage, ServiceError } from '#domain/service-error.ts';
import { localUrl, type Settings } from '#settings/settings.ts';
import type { AccessToken } from '#http/access.ts';
import type { HttpLimits } from '#http/limits.ts';
import type { Application } from '#http/application.ts';
import { createHttpServer } from '#http/server.ts';
import type { WorkerContext } from '#jobs/active-job.ts';
import { createJobQueue } from '#jobs/queue.ts';
import { createAgentDays } from '#trading/agent-days.ts';
import { workerLimits } from '#children/places.ts';
import { createChildStarter } from '#children/launcher.ts';

/** The agent's program is read when a child starts. */
export interface ServiceOptions
  extends Readonly<Pick<WorkerContext, 'settings' | 'log' | 'clock' | 'agentProgram'>>,
    Application,
    Partial<Pick<WorkerContext, 'startChild' | 'limits' | 'environment'>> {
  /** Empty means that every client may do everything. */
  accessTokens: readonly AccessToken[];
  httpLimits?: HttpLimits;
}

export interface Service {
  port: number;
  /**
   * Stops listening, answers what it has read, stops the children, closes the database. A running
   * job continues at the next start.
   */
  stop(): Promise<void>;
}

/** Opens the database, resumes an unfinished job and listens. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { settings, log, clock, startChild, accessTokens, routes, createPages, httpLimits } =
    options;
  const { limits = workerLimits, environment = process.env } = options;
  const database = openDatabase(settings.databasePath, {
    durability: settings.deploymentMode === 'DEV' ? 'process-end' : 'power-loss',
    isServing: true,
  });
  await rememberSettings(database, options);
  let { apiPort } = settings;
  const agentDays = createAgentDays(() => settings.publicUrl ?? localUrl({ ...settings, apiPort }));
  const jobs = createJobQueue({
    ...{ database, settings, log, clock, environment, limits, agentDays },
    startChild: startChild ?? createChildStarter(settings, environment),
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
    },
    { accessTokens, routes, createPages, limits: httpLimits },
  );
  const port = await listen(http.server, settings, database);
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
  if (readRiskFreeRate(database) === riskFreeRate) return;
  try {
    await database.write(() => storeRiskFreeRate(database, riskFreeRate));
  } catch (error) {
    if (findStorageFault(error) === null) throw error;
    log.warning('Cannot store the risk-free rate with the database', {
      error: errorMessage(error),
    });
  }
}

/**
 * Listens, and returns the port. Otherwise closes the database and throws a `ServiceError`
 * (`cannot_start`).
 */
export async function listen(
  server: Server,
  { apiHost, apiPort: port }: Pick<Settings, 'apiHost' | 'apiPort'>,
  database: Database,
): Promise<number> {
  const place = { port, host: apiHost ?? undefined };
  try {
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(place, resolve),
    );
  } catch (error) {
    database.close();
    const names = apiHost === null ? 'API_PORT' : 'API_HOST or API_PORT';
    throw new ServiceError(
      'cannot_start',
      `Cannot listen on port ${port}: ${errorMessage(error)}; set ${names} to use another`,
      {
        cause: error,
      },
    );
  }
  const address = server.address();
  assert(typeof address === 'object' && address !== null, 'a server that listens has an address');
  return address.port;
}
