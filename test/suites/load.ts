import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { isLong } from '../support/long.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Folders whose tests start no process of the built program and no browser. */
const SERVICE_ROOMS = [
  'agent',
  'api',
  'bench',
  'comparison',
  'database',
  'http',
  'performance',
  'prices',
  'statistics',
  'trading',
  'verify',
];
const JOB_ROOMS = ['children', 'jobs'];
const SUITES = {
  service: (room: string) => SERVICE_ROOMS.includes(room),
  jobs: (room: string) => JOB_ROOMS.includes(room),
  program: (room: string) => ![...SERVICE_ROOMS, ...JOB_ROOMS].includes(room),
};

/**
 * Loads the test files of one suite into this process: compiled and started once, they take half
 * the processor time of a process for each file. Every file belongs to exactly one suite, by the
 * folder that it lies in. They are loaded without a pause, because the first tests start as soon as
 * the event loop turns, and hooks have to be there by then.
 */
export function loadSuite(name: keyof typeof SUITES): void {
  const pattern = isLong ? '{test,lab}/**/*.{test,long}.ts' : 'test/**/*.test.ts';
  const require = createRequire(import.meta.url);
  for (const file of globSync(pattern, { cwd: ROOT }).sort()) {
    const [, room = ''] = file.split('/');
    if (SUITES[name](room)) require(resolve(ROOT, file));
  }
}
