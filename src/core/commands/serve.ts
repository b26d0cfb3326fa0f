import { stat } from 'node:fs';
import type { Application } from '#http/application.ts';
import { createStderrLog, type Log } from '#process/log.ts';
import { timestamp } from '#time/calendar.ts';
import { readConfiguration, warnOfContent } from '#settings/configuration.ts';
import { openDatabase, removeDatabase } from '#database/database.ts';
import { claimOwnership } from '#database/storage/owner.ts';
import { remoteFileSystem } from '#database/storage/faults.ts';
import { removeAbandonedPartials } from '#database/storage/new-file.ts';
import { readAccessTokens } from '#http/access.ts';
import { ServiceError } from '#domain/service-error.ts';
import { type Service, startService } from '#service.ts';
import {
  listensOnAll,
  readSettings,
  type Settings,
  environmentWarnings,
} from '#settings/settings.ts';
import { foreignFileError } from '#settings/trusted-file.ts';
import { VERSION } from '#process/version.ts';

/** The command that serves requests until a signal, and what another such command shares with it. */

/** After a signal the process exits within this time, whatever still runs. */
export const SHUTDOWN_TIMEOUT_MS = 10_000;
/** Work that can wait starts this long after start-up. */
const SETTLING_MS = 500;
/** Threads for blocking calls, which here means host name look-ups. Node's default is four. */
const THREADS = 2;
const FAILED = 1;

/**
 * Node starts all its threads when the first is needed, and aborts the process if the system allows
 * no more. Before there are children this either succeeds or fails with nothing lost.
 */
export function startThreadPool(): Promise<void> {
  process.env['UV_THREADPOOL_SIZE'] ??= String(THREADS);
  return new Promise((resolve) => stat('.', () => resolve()));
}

/**
 * Under load V8 repeatedly doubles its young generation, and keeps it: 100 MB for a service that
 * holds 10. It also lets the old generation grow to four times what was alive at the last
 * collection, and keeps those pages too: in a response of minutes 45 MB more than with two and a
 * half times. Neither limit has a measurable cost.
 */
export const HEAP_FLAGS = ['--semi-space-growth-factor=1', '--heap-growing-percent=150'];

/** Sets `HEAP_FLAGS` once the start is over. */
export function limitHeapGrowth(): void {
  setTimeout(async () => {
    const { setFlagsFromString } = await import('node:v8');
    for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
  }, SETTLING_MS).unref();
}

/** The first signal shuts down cleanly, the second exits at once. */
export function stopOnSignal(stop: () => Promise<void>, { info, error }: Log): void {
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
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}

/** The child's program, bundled from src/core/agent/ by the build: compressed with Brotli, as base64. */
declare const AGENT_PROGRAM: string;

/**
 * The command `serve`: runs until SIGTERM or SIGINT. The database is initialised here, before
 * anything else asks for it. `names` are those in `.env`.
 */
export async function serve(names: readonly string[], application: Application): Promise<Service> {
  const clock = () => new Date();
  const settings = readSettings(process.env);
  const log = createStderrLog(settings.logLevel);
  const accessTokens = readAccessTokens(settings);
  const others = warnAboutConfiguration(settings, log);
  for (const sentence of environmentWarnings(process.env, { names, others })) log.warning(sentence);
  const ownership = claimOwnership(settings.databasePath, { startedAt: timestamp(clock()) });
  prepareDatabase(settings);
  announceMode(settings, log);
  warnOfRemote(settings, log);
  await startThreadPool();
  const service = await startService({
    settings,
    log,
    clock,
    accessTokens,
    ...application,
    get agentProgram() {
      return agentProgram();
    },
  });
  stopOnSignal(async () => {
    await service.stop();
    ownership.release();
  }, log);
  log.info('listening', {
    version: VERSION,
    port: service.port,
    mode: settings.deploymentMode,
    database: settings.databasePath,
    configuration: settings.configurationPath,
    accessTokens: accessTokens.length,
  });
  const { deploymentMode: mode } = settings;
  if (mode === 'PROD' && accessTokens.length === 0 && listensOnAll(settings))
    log.warning(
      `Anyone who reaches port ${service.port} has full access: set API_TOKEN, or API_HOST=127.0.0.1`,
    );
  limitHeapGrowth();
  return service;
}

/**
 * Throws a `ServiceError` (`cannot_start`) for a configuration, or a prompt in it, that another
 * user of the machine may have put there. What else may be wrong with it is a warning, because it
 * can be mended before a trigger needs it. Returns the variables that its entries name.
 */
function warnAboutConfiguration(settings: Settings, log: Log): string[] {
  const { configurationPath: path, runtimeConfigurationPath: wanted, runtimePathNote } = settings;
  const isSet = runtimePathNote === '';
  if (isSet && path !== wanted)
    log.warning(
      `RUNTIME_CONFIG_PATH names ${wanted}, and there is no such file: the configuration is ${path}`,
    );
  if (!isSet && path === wanted) log.warning(`The configuration is ${path}${runtimePathNote}`);
  try {
    const configuration = readConfiguration(path, settings.openaiApiBase);
    warnOfContent(configuration, log);
    return configuration.models.flatMap((entry) => entry.openai_api_key_env || []);
  } catch (error) {
    const refusal = foreignFileError(error);
    if (refusal !== null || !(error instanceof ServiceError)) throw refusal ?? error;
    log.warning(error.message);
    return [];
  }
}

let unpacked: string | undefined;

/**
 * The child's program as text, unpacked by the first model-day: a start has no need of it, nor of
 * `node:zlib`.
 */
function agentProgram(): string {
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
  return (unpacked ??= brotliDecompressSync(Buffer.from(AGENT_PROGRAM, 'base64')).toString());
}

/**
 * DEV starts with an empty database unless it is to be kept; PROD's is only created.
 * Removes what killed backups left.
 */
function prepareDatabase({ databasePath, agentDataPath, preserveDevData }: Settings): void {
  if (preserveDevData === false) removeDatabase(databasePath);
  openDatabase(databasePath).close();
  removeAbandonedPartials(agentDataPath);
}

/** Locks and shared memory of a network's file system may not work as SQLite needs them. */
function warnOfRemote({ databasePath }: Settings, log: Log): void {
  const name = remoteFileSystem(databasePath);
  if (name === null) return;
  log.warning(
    `${databasePath} is on a file system of type ${name}, which may be on another machine. ` +
      'Two programs could overwrite each other there: use a folder on a local disk',
  );
}

function announceMode({ preserveDevData, databasePath }: Settings, log: Log): void {
  if (preserveDevData === null) return;
  const line = '='.repeat(72);
  log.warning(line);
  log.warning(
    'DEVELOPMENT MODE: models are simulated, and the service calls no provider of models',
  );
  log.warning(
    preserveDevData
      ? `${databasePath} is kept (PRESERVE_DEV_DATA=true)`
      : `${databasePath} starts empty each time (PRESERVE_DEV_DATA=true keeps it)`,
  );
  log.warning(line);
}
