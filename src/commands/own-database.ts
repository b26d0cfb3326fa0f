import { existsSync } from 'node:fs';
import { assertOwnLog } from '../database/storage/restoring.ts';
import { ServiceError } from '../domain.ts';
import type { Settings } from '../settings.ts';

/**
 * The path of the service's own database. Throws a `ServiceError` when there is none, with the
 * mode: each has its own.
 */
export function ownDatabase({ databasePath, deploymentMode }: Settings): string {
  assertOwnLog(databasePath);
  if (existsSync(databasePath)) return databasePath;
  throw new ServiceError(
    'storage_fault',
    `There is no database ${databasePath} (DEPLOYMENT_MODE=${deploymentMode})`,
  );
}
