import { existsSync } from 'node:fs';
import { ServiceError } from '../basics/domain.ts';
import type { Settings } from '../basics/settings.ts';

/**
 * The path of the service's own database. Throws a `ServiceError` when there is none, with the
 * mode: each has its own.
 */
export function ownDatabase({ databasePath, deploymentMode }: Settings): string {
  if (existsSync(databasePath)) return databasePath;
  throw new ServiceError(
    'storage_fault',
    `There is no database ${databasePath} (DEPLOYMENT_MODE=${deploymentMode})`,
  );
}

/** A warning that the next start deletes the stored prices; empty where it keeps them. */
export function resetNote({ preserveDevData, databasePath }: Settings): string {
  return preserveDevData === false
    ? `Note: ${databasePath} is reset when the service starts in DEV mode, unless PRESERVE_DEV_DATA=true is set.\n`
    : '';
}
