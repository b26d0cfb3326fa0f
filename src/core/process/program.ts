import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import {
  type MessagePort,
  parentPort,
  type ResourceLimits,
  Worker,
  workerData,
} from 'node:worker_threads';
import { COMMAND_NAME } from './version.ts';

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

/** Whether npx runs the program: in a clone, and where npm has put the package's command beside it. */
const isPackage = BUILD === null || (!isExecutable && existsSync(pathBeside('bin.js')));

/** What a person types to run the program. */
export const PROGRAM_NAME = isPackage ? `npx ${COMMAND_NAME}` : COMMAND_NAME;

/**
 * A file of configs/ by its name: that of the working directory, else the one that came with the
 * program.
 */
export function configurationFile(name: string): string {
  const path = `configs/${name}`;
  const packaged = pathBeside(path);
  return existsSync(path) || !existsSync(packaged) ? path : packaged;
}

function pathBeside(name: string): string {
  return join(dirname(import.meta.filename), name);
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
