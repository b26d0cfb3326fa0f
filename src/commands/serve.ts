import { stat } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { timestamp } from '../calendar.ts';
import { openDatabase, removeDatabase } from '../database/database.ts';
import { claimOwnership } from '../database/storage/owner.ts';
import { removeAbandonedPartials } from '../database/storage/partial.ts';
import { readAccessTokens } from '../http/access-tokens.ts';
import type { BuiltPages } from '../http/pages.ts';
import { type Log, createStderrLog } from '../log.ts';
import { type Service, startService } from '../service.ts';
import { type Settings, readSettings } from '../settings.ts';
import { VERSION } from '../version.ts';

/** The child's program, bundled from src/agent/ by the build: compressed with Brotli, as base64. */
declare const AGENT_PROGRAM: string;
/** The files of the pages, bundled from src/browser/ by the build. */
declare const PAGES: BuiltPages;

/** After a signal the process exits within this time, whatever still runs. */
const SHUTDOWN_TIMEOUT_MS = 10_000;
/** Work that can wait starts this long after start-up. */
const SETTLING_MS = 500;
/** Threads for blocking calls, which here means host name look-ups. Node's default is four. */
const THREADS = 2;
const FAILED = 1;

// Loading this module initialises the database; start-up initialises it again, and finds nothing to do.
const clock = () => new Date();
const settings = readSettings(process.env);
const log = createStderrLog(settings.logLevel);
const accessTokens = readAccessTokens(settings);
const ownership = claimOwnership(settings.databasePath, {
  folder: settings.agentDataPath,
  startedAt: timestamp(clock()),
});
prepareDatabase(settings);

/** The command `serve`: runs until SIGTERM or SIGINT. */
export async function serve(): Promise<Service> {
  announceMode(settings);
  await makeThreads();
  const agentProgram = brotliDecompressSync(Buffer.from(AGENT_PROGRAM, 'base64')).toString();
  const service = await startService({ settings, log, clock, agentProgram, accessTokens, pages: PAGES });
  const { deploymentMode: mode, databasePath: database, configurationPath: configuration } = settings;
  const access = { accessTokens: accessTokens.length };
  log.info('listening', { version: VERSION, port: service.port, mode, database, configuration, ...access });
  setTimeout(keepMemoryFlat, SETTLING_MS).unref();
  stopOnSignal(async () => {
    await service.stop();
    ownership.release();
  }, log);
  return service;
}

/**
 * Node starts all its threads when the first is needed, and aborts the process if the system allows no more. Before there are
 * children this either succeeds or fails with nothing lost.
 */
function makeThreads(): Promise<void> {
  process.env['UV_THREADPOOL_SIZE'] ??= String(THREADS);
  return new Promise((resolve) => stat('.', () => resolve()));
}

/**
 * Under load V8 repeatedly doubles its young generation, and keeps it: 100 MB for a service that holds 10. Keeping the first
 * size has no measurable cost.
 */
async function keepMemoryFlat(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** DEV starts with an empty database unless it is to be kept; PROD's is only created or migrated. Removes what killed backups left. */
function prepareDatabase({ databasePath, agentDataPath, deploymentMode, preserveDevData }: Settings): void {
  if (deploymentMode === 'DEV' && !preserveDevData) removeDatabase(databasePath);
  openDatabase(databasePath).close();
  removeAbandonedPartials(agentDataPath);
}

function announceMode({ deploymentMode, preserveDevData, databasePath }: Settings): void {
  if (deploymentMode !== 'DEV') return;
  const line = '='.repeat(72);
  log.warning(line);
  log.warning('DEVELOPMENT MODE: models are simulated, no model call is made or paid for');
  log.warning(
    preserveDevData
      ? `${databasePath} is kept (PRESERVE_DEV_DATA=true)`
      : `${databasePath} was reset (PRESERVE_DEV_DATA=true keeps it)`,
  );
  log.warning(line);
}

/** The first signal shuts down cleanly, the second exits at once. */
function stopOnSignal(stop: () => Promise<void>, { info, error }: Log): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(FAILED);
    stopping = true;
    info('stopping', { signal });
    setTimeout(() => process.exit(FAILED), SHUTDOWN_TIMEOUT_MS).unref();
    stop().then(
      () => process.exit(0),
      (thrown: unknown) => {
        error('unexpected failure while stopping', { error: String(thrown) });
        process.exit(FAILED);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
