import assert from 'node:assert/strict';
import { basename, dirname, join, relative } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import {
  type MessagePort,
  parentPort,
  type ResourceLimits,
  Worker,
  workerData,
} from 'node:worker_threads';

/**
 * The program in its second form: one executable, made of Node and dist/server.js by
 * build-executable.mjs. The licences are an asset of the executable.
 */

/** Whether this process is that executable, and not Node running a file. */
export const isExecutable = isSea();

/** Of the built program: the hash of its code. */
declare const PROGRAM_ID: string;

/** Distinguishes this build from any other; null without a build. */
const BUILD = typeof PROGRAM_ID === 'string' ? PROGRAM_ID : null;

/** What a person types to run the program from where they stand. */
export const PROGRAM_NAME = isExecutable
  ? 'trading-simulation'
  : commandFrom(process.cwd(), process.argv[1]);

/**
 * What runs the program from a folder: the package's command where that was typed; otherwise Node
 * with the file, in full where it is outside of the folder, and only its name where other code runs
 * it.
 */
export function commandFrom(folder: string, file = ''): string {
  const name = basename(file);
  if (name === 'trading-simulation-service') return name;
  if (name !== 'server.js') return 'node server.js';
  const path = relative(folder, file);
  return `node ${path.startsWith('..') ? file : path}`;
}

/** Starts this program in a thread of its own process; the data say what the thread does. */
export function startThread(data: object, resourceLimits: ResourceLimits = {}): Worker {
  const options = { workerData: { ...data, build: BUILD }, resourceLimits };
  if (isExecutable) return new Worker(readAsset('server.js'), { ...options, eval: true });
  const file = import.meta.filename;
  return new Worker(BUILD === null ? join(dirname(file), '../../main.ts') : file, options);
}

/** In such a thread: the one that started it. Throws when that runs another build. */
export function parentThread(): MessagePort {
  assert(parentPort !== null, 'a thread has a parent');
  const isSame = workerData.build === BUILD;
  assert(isSame, 'the program file was replaced while it runs: restart the service');
  return parentPort;
}

/**
 * The text of an asset. Throws when the executable has none of that name, or when this is not the
 * executable.
 */
export function readAsset(name: string): string {
  return getAsset(name, 'utf8');
}
