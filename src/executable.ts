import { basename, relative } from 'node:path';
import { getAsset, isSea } from 'node:sea';

/**
 * The program in its second form: one executable, made of Node and dist/server.js by
 * build-executable.mjs. The source map, which otherwise lies beside dist/server.js, and the
 * licences are assets of the executable.
 */

/** Whether this process is that executable, and not Node running a file. */
export const isExecutable = isSea();

/** What a person types to run the program from where they stand. */
export const PROGRAM_NAME = isExecutable
  ? 'trading-simulation'
  : `node ${fileFrom(process.cwd(), process.argv[1])}`;

/**
 * Where the program is, as seen from a folder; in full where it is outside of it, and only by its
 * name where other code runs it.
 */
export function fileFrom(folder: string, file = ''): string {
  if (basename(file) !== 'server.js') return 'server.js';
  const path = relative(folder, file);
  return path.startsWith('..') ? file : path;
}

/**
 * The text of an asset. Throws when the executable has none of that name, or when this is not the
 * executable.
 */
export function readAsset(name: string): string {
  return getAsset(name, 'utf8');
}
