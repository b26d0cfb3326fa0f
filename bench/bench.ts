import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { requireProc } from '../test/support/processes.ts';
import type { Builds } from './figure.ts';
import { measureImport } from './import.ts';
import { measureLarge } from './large.ts';
import { measureModelDays } from './model-days.ts';
import { measureRequests } from './requests.ts';
import { measureStart } from './start.ts';
import { PROGRAM } from './support.ts';
import { measureWaiting } from './waiting.ts';
import { measureWrites } from './writes.ts';

/**
 * `npm run bench -- [short] [OLD.js NEW.js] [NAME...]`: measures the built program beside peers
 * that do the same work, or the second build beside the first; all figures, or those named.
 */
const benches: Record<string, (builds: Builds) => AsyncIterable<string>> = {
  requests: measureRequests,
  'model-days': measureModelDays,
  start: measureStart,
  import: measureImport,
  writes: measureWrites,
  waiting: measureWaiting,
  large: measureLarge,
};

requireProc('the bench');
const given = process.argv.slice(2);
const programs = given.filter((one) => one.endsWith('.js')).map((path) => resolve(path));
const [before, now = PROGRAM] = programs;
const names = given.filter((one) => !one.endsWith('.js') && one !== 'short');
const unknown = names.find((name) => benches[name] === undefined);
if (unknown !== undefined || ![0, 2].includes(programs.length))
  throw new Error(
    `Say [short] [OLD.js NEW.js] [NAME...]; the names are ${Object.keys(benches).join(', ')}`,
  );

const builds: Builds = { now, before, isShort: given.includes('short') };
console.log(
  `Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}\n`,
);
console.log(
  '| | Ours | Peer | Ratio: median (minimum to maximum, pairs; interval) | Aim |\n|---|---|---|---|---|',
);
for (const name of names.length > 0 ? names : Object.keys(benches))
  for await (const row of benches[name]?.(builds) ?? []) console.log(row);
process.exit();
