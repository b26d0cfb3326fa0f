import { riskFreeRateOf } from '../../core/database/state.ts';
import { modeOfJobs } from '../../core/database/job-queries.ts';
import { hasManifest } from '../../core/database/manifest.ts';
import { storageFaultOf } from '../../core/database/storage/faults.ts';
import { openView } from './open-view.ts';
import { interfaceDescription } from '../openapi/interface-description.ts';
import { createHttpServer } from '../../core/http/server.ts';
import { asObject, tryParse } from '../../core/json/json.ts';
import { listen, type Service, type ServiceOptions } from '../../core/service.ts';
import type { ServedSettings } from '../../core/settings/settings.ts';

/** What a view needs. */
export interface ViewOptions
  extends Pick<ServiceOptions, 'settings' | 'log' | 'clock' | 'accessTokens' | 'pages'> {
  /** The file to read. */
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
  accessTokens,
  pages,
}: ViewOptions): Promise<View> {
  const database = openView(path);
  const mode = whileReadable(() => modeOfJobs(database), 'UNKNOWN');
  const riskFreeRate = whileReadable(
    () => riskFreeRateOf(database) ?? settings.riskFreeRate,
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
  const shown = {
    jobs: null,
    agentDays: null,
    viewedFile: name,
    isFixed,
    interfaceDescription: describeReading,
  };
  const http = createHttpServer(
    { database, settings: served, log, clock, ...shown },
    { accessTokens, pages },
  );
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
function whileReadable<Value>(read: () => Value, initial: Value): () => Value {
  let last = initial;
  return () => {
    try {
      return (last = read());
    } catch (error) {
      if (storageFaultOf(error) === null) throw error;
      return last;
    }
  };
}

/** The interface without what a view refuses: everything but GET. */
async function describeReading(): Promise<string> {
  const description = asObject(tryParse(await interfaceDescription()));
  const paths = Object.entries(asObject(description?.['paths']) ?? {}).flatMap(
    ([path, operations]) => {
      const { get } = asObject(operations) ?? {};
      return get === undefined ? [] : [[path, { get }] as const];
    },
  );
  return JSON.stringify({ ...description, paths: Object.fromEntries(paths) });
}
