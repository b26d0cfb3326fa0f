import { getAsset, isSea } from 'node:sea';

/**
 * The program in its second form: one executable, made of Node and dist/server.js by build-executable.mjs. The source map, which
 * otherwise lies beside dist/server.js, and the licences are assets of the executable.
 */

/** Whether this process is that executable, and not Node running a file. */
export const isExecutable = isSea();

/** What a person types to run the program. */
export const PROGRAM_NAME = isExecutable ? 'trading-simulation' : 'node server.js';

/** The text of an asset. Throws when the executable has none of that name, or when this is not the executable. */
export function readAsset(name: string): string {
  return getAsset(name, 'utf8');
}
