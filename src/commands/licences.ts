import { gunzipSync } from 'node:zlib';

/** The licences of the project and of what is bundled, put here when the program is built: with gzip, as base64. */
declare const LICENCES: string;

/** The licence texts of this program and of everything inside it. */
export function licences(): string {
  return `${gunzipSync(Buffer.from(LICENCES, 'base64')).toString()}\n`;
}
