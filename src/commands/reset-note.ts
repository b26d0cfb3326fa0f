import type { Settings } from '../settings.ts';

/** For who stores prices in a database that the next start resets; nothing where they stay. */
export function resetNote({ preserveDevData, databasePath }: Settings): string {
  return preserveDevData === false
    ? `Note: ${databasePath} is reset when the service starts in DEV mode, unless PRESERVE_DEV_DATA=true is set.\n`
    : '';
}
