import { cpus } from 'node:os';
import { measureAudit } from './audit.ts';
import { measureComparison } from './comparison.ts';
import { measureLarge } from './large.ts';
import { measureModelDays } from './model-days.ts';
import { measurePages } from './pages.ts';
import { measurePerformance } from './performance.ts';
import { measureLatency, measureRequests } from './requests.ts';
import { measureSearch } from './search.ts';
import { measureStartup } from './startup.ts';
import { measureImport, measureResults } from './storage.ts';
import { requireProc } from '../test/support/processes.ts';
import type { Measurement } from './support.ts';
import { measureThousand } from './thousand.ts';
import { measureWaiting } from './waiting.ts';

/**
 * Measures the built program against limits and peers, each in turn with its peer in this same run, so that the ratios
 * hold on any machine. `npm run bench`, or `npm run bench -- results import` for some of it.
 */
const benches: Record<string, () => Promise<Measurement | Measurement[]> | AsyncIterable<Measurement>> = {
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
  pages: measurePages,
  startup: measureStartup,
  waiting: measureWaiting,
  thousand: measureThousand,
};

requireProc('the bench');
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(benches);
console.log(`Node ${process.versions.node}, ${cpus().length} cores; medians of interleaved rounds\n`);
for (const name of chosen) {
  const bench = benches[name];
  if (bench === undefined) throw new Error(`There is no bench ${name}; there are ${Object.keys(benches).join(', ')}`);
  const measured = bench();
  if (Symbol.asyncIterator in measured) for await (const measurement of measured) report(measurement);
  else [await measured].flat().forEach(report);
}

function report({ what, ours, peer, ratio, aim, met }: Measurement): void {
  const verdict = met === null ? '' : met ? ', met' : ', MISSED';
  console.log(`${what}\n  ${ours}${peer ? ` against ${peer}` : ''}${ratio ? `: ratio ${ratio}` : ''} (aim: ${aim}${verdict})`);
}
