import { timestamp } from '../calendar.ts';
import { readConfiguration, warnOfUnset } from '../configuration.ts';
import { openDatabase, removeDatabase } from '../database/database.ts';
import { claimOwnership } from '../database/storage/owner.ts';
import { removeAbandonedPartials } from '../database/storage/partial.ts';
import { finishRestore } from '../database/storage/restoring.ts';
import { readAccessTokens } from '../http/access-tokens.ts';
import { ServiceError } from '../domain.ts';
import { type Log, createStderrLog } from '../log.ts';
import { type Service, startService } from '../service.ts';
import { type Settings, readSettings } from '../settings.ts';
import { refusalOfForeign } from '../trusted-file.ts';
import { VERSION } from '../version.ts';
import { capacityWarnings } from '../children/capacity.ts';
import { builtPages, keepMemoryFlat, makeThreads, stopOnSignal } from './serving.ts';

/** The child's program, bundled from src/agent/ by the build: compressed with Brotli, as base64. */
declare const AGENT_PROGRAM: string;

/**
 * The command `serve`: runs until SIGTERM or SIGINT. The database is initialised here, before
 * anything else asks for it.
 */
export async function serve(): Promise<Service> {
  const clock = () => new Date();
  const settings = readSettings(process.env);
  const log = createStderrLog(settings.logLevel);
  const accessTokens = readAccessTokens(settings);
  lookAtConfiguration(settings, log);
  const ownership = claimOwnership(settings.databasePath, {
    folder: settings.agentDataPath,
    startedAt: timestamp(clock()),
  });
  prepareDatabase(settings, log);
  announceMode(settings, log);
  await makeThreads();
  const service = await startService({
    settings,
    log,
    clock,
    accessTokens,
    pages: builtPages(),
    get agentProgram() {
      return agentProgram();
    },
  });
  stopOnSignal(async () => {
    await service.stop();
    ownership.release();
  }, log);
  const {
    deploymentMode: mode,
    databasePath: database,
    configurationPath: configuration,
  } = settings;
  const access = { accessTokens: accessTokens.length };
  log.info('listening', {
    version: VERSION,
    port: service.port,
    mode,
    database,
    configuration,
    ...access,
  });
  for (const warning of capacityWarnings(settings)) log.warning(warning);
  keepMemoryFlat();
  return service;
}

/**
 * Throws a `ServiceError` (`cannot_start`) for a configuration, or a prompt in it, that another
 * user of the machine may have put there. What else may be wrong with it is said at each trigger,
 * because it can be mended meanwhile.
 */
function lookAtConfiguration({ configurationPath, openaiApiBase }: Settings, log: Log): void {
  try {
    warnOfUnset(readConfiguration(configurationPath, openaiApiBase), log);
  } catch (error) {
    const refusal = refusalOfForeign(error);
    if (refusal !== null || !(error instanceof ServiceError)) throw refusal ?? error;
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
 * DEV starts with an empty database unless it is to be kept; PROD's is only created or migrated.
 * Removes what killed backups left.
 */
function prepareDatabase(
  { databasePath, agentDataPath, deploymentMode, preserveDevData }: Settings,
  log: Log,
): void {
  const aside = finishRestore(databasePath);
  if (aside !== undefined)
    log.warning('Finished a restore that was interrupted', {
      database: databasePath,
      before: aside,
    });
  if (deploymentMode === 'DEV' && !preserveDevData) removeDatabase(databasePath);
  openDatabase(databasePath).close();
  removeAbandonedPartials(agentDataPath);
}

function announceMode({ deploymentMode, preserveDevData, databasePath }: Settings, log: Log): void {
  if (deploymentMode !== 'DEV') return;
  const line = '='.repeat(72);
  log.warning(line);
  log.warning('DEVELOPMENT MODE: models are simulated, no model call is made or paid for');
  log.warning(
    preserveDevData
      ? `${databasePath} is kept (PRESERVE_DEV_DATA=true)`
      : `${databasePath} starts empty each time (PRESERVE_DEV_DATA=true keeps it)`,
  );
  log.warning(line);
}
