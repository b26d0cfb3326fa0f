import { cpus, loadavg } from 'node:os';
import { requireProc } from '../test/support/processes.ts';
import { measureAudit } from './audit.ts';
import { QUIET_MS, calibrate } from './calibration.ts';
import { measureComparison } from './comparison.ts';
import { measureImport, measureLargeImport } from './imports.ts';
import { measureLargeAudit } from './large-audit.ts';
import { measureLarge } from './large.ts';
import { measureLatency } from './latency.ts';
import { measureModelDays } from './model-days.ts';
import { measurePages } from './pages.ts';
import { spreadOf } from './paired.ts';
import { measurePerformance } from './performance.ts';
import { measureRequests } from './requests.ts';
import { measureResults } from './results.ts';
import { measureSearch } from './search.ts';
import { measureStartup } from './startup.ts';
import type { BenchOptions, Measurement } from './support.ts';
import { measureThousand } from './thousand.ts';
import { measureWaiting } from './waiting.ts';
import { measureWrites } from './writes.ts';

/**
 * Measures the built program against peers that do the same work, in many short slices in turn:
 * `npm run bench`, or `npm run bench -- requests import` for some of it. `npm run bench -- self`
 * measures the same build against itself.
 */
const benches: Record<string, (options: BenchOptions) => AsyncIterable<Measurement>> = {
  'model-days': measureModelDays,
  requests: measureRequests,
  latency: measureLatency,
  import: measureImport,
  results: measureResults,
  performance: measurePerformance,
  comparison: measureComparison,
  search: measureSearch,
  audit: measureAudit,
  large: measureLarge,
  writes: measureWrites,
  'large-audit': measureLargeAudit,
  'large-import': measureLargeImport,
  pages: measurePages,
  startup: measureStartup,
  waiting: measureWaiting,
  thousand: measureThousand,
};

requireProc('the bench');

const names = process.argv.slice(2).filter((name) => name !== 'self');
const self = process.argv.includes('self', 2);
const unknown = names.find((name) => benches[name] === undefined);
if (unknown !== undefined)
  throw new Error(
    `There is no bench ${unknown}; there are ${Object.keys(benches).join(', ')}, and self`,
  );

await describeMachine();
for (const name of names.length > 0 ? names : Object.keys(benches))
  for await (const measurement of benches[name]?.({ self }) ?? []) report(measurement);
await describeMachine();
process.exit();

async function describeMachine(): Promise<void> {
  const times: number[] = [];
  while (times.length < 20) times.push(await calibrate());
  const { min, median: middle, max } = spreadOf(times);
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(', ');
  console.log(
    `Node ${process.versions.node}, ${cpus().length} cores, load ${load}; the calibration takes ${middle.toFixed(0)} ms ` +
      `(${min.toFixed(0)} to ${max.toFixed(0)}; ${QUIET_MS} on a quiet machine)\n`,
  );
}

function report({ what, ours, peer, ratio, aims = [] }: Measurement): void {
  console.log(`${what}\n  ours ${ours}${peer === undefined ? '' : `, peer ${peer}`}`);
  if (ratio !== undefined) console.log(`  ratio: ${ratio}`);
  for (const { aim, isMet } of aims) console.log(`  aim ${aim}, ${isMet ? 'met' : 'MISSED'}`);
}
