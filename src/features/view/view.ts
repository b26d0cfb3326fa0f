import { basename } from 'node:path';
import { limitHeapGrowth, startThreadPool, stopOnSignal } from '#commands/serve.ts';
import { readAccessTokens } from '#http/access.ts';
import { createStderrLog } from '#process/log.ts';
import { VERSION } from '#process/version.ts';
import { forTerminal } from '#text/text.ts';
import { readRiskFreeRate } from '#database/state.ts';
import { modeOfJobs } from '#database/job-queries.ts';
import { hasManifest } from '#database/manifest.ts';
import { findStorageFault } from '#database/storage/faults.ts';
import { openView } from './open-view.ts';
import type { Application } from '#http/application.ts';
import { createHttpServer } from '#http/server.ts';
import { listen, type Service, type ServiceOptions } from '#service.ts';
import { listensOnAll, localUrl, readSettings, type ServedSettings } from '#settings/settings.ts';

export interface ViewOptions
  extends Application,
    Pick<ServiceOptions, 'settings' | 'log' | 'clock' | 'accessTokens'> {
  path: string;
  /** What the file is called where people read it. */
  name: string;
}

/** A service that shows a file, with the mode that made it. */
type View = Service & { mode: ServedSettings['deploymentMode'] };

/**
 * Starts a service that shows a file: pages and GET endpoints, without jobs, locks or any change of
 * the file.
 */
export async function startView({
  path,
  name,
  settings,
  log,
  clock,
  ...application
}: ViewOptions): Promise<View> {
  const database = openView(path);
  const mode = cacheLastRead(() => modeOfJobs(database), 'UNKNOWN');
  const riskFreeRate = cacheLastRead(
    () => readRiskFreeRate(database) ?? settings.riskFreeRate,
    settings.riskFreeRate,
  );
  const served = {
    ...settings,
    preserveDevData: null,
    get deploymentMode(): ServedSettings['deploymentMode'] {
      return mode();
    },
    get riskFreeRate() {
      return riskFreeRate();
    },
  };
  // A package loses its manifest as soon as a service opens it, and is none from then on.
  const isFixed = hasManifest(database);
  const shown = { jobs: null, agentDays: null, viewedFile: name, isFixed };
  const http = createHttpServer({ database, settings: served, log, clock, ...shown }, application);
  const port = await listen(http.server, settings, database);
  return {
    port,
    mode: mode(),
    async stop() {
      await http.stop();
      database.close();
    },
  };
}

/**
 * Returns a function that reads something of a file; while the file cannot be read, it returns what
 * it read last.
 */
function cacheLastRead<Value>(read: () => Value, initial: Value): () => Value {
  let last = initial;
  return () => {
    try {
      return (last = read());
    } catch (error) {
      if (findStorageFault(error) === null) throw error;
      return last;
    }
  };
}

const MODES = {
  DEV: 'made in DEV mode, with simulated models',
  PROD: 'made in PROD mode',
  UNKNOWN: 'made in an unknown mode',
};

/** The command `view FILE`: shows a file until SIGTERM or SIGINT. */
export async function view(path: string, application: Application): Promise<void> {
  await startThreadPool();
  const settings = readSettings(process.env);
  const log = createStderrLog(settings.logLevel);
  const accessTokens = readAccessTokens(settings);
  const { port, mode, stop } = await startView({
    ...application,
    path,
    name: basename(path),
    clock: () => new Date(),
    settings,
    log,
    accessTokens,
  });
  stopOnSignal(stop, log);
  const facts = { version: VERSION, port, mode, view: path, accessTokens: accessTokens.length };
  log.info('listening', facts);
  const url = listensOnAll(settings)
    ? `http://localhost:${port}`
    : localUrl({ ...settings, apiPort: port });
  process.stdout.write(`${forTerminal(path)}, ${MODES[mode]}: ${url}/ (Ctrl-C ends it)\n`);
  limitHeapGrowth();
}
