import type { Settings } from '../settings.ts';

/** A warning that the next start deletes the stored prices; empty where it keeps them. */
export function resetNote({ preserveDevData, databasePath }: Settings): string {
  return preserveDevData === false
    ? `Note: ${databasePath} is reset when the service starts in DEV mode, unless PRESERVE_DEV_DATA=true is set.\n`
    : '';
}
