import assert from 'node:assert/strict';
import { join } from 'node:path';
import { copyFileSync, statSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { audit } from '../../src/audit/audit.ts';
import { packageJob } from '../../src/packaging/package.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { fillWithTrackRecords, modelNames } from '../support/track-records.ts';

test('try', async (t) => {
  const [one, two] = [temporaryFolder(t), temporaryFolder(t)];
  const path = join(one, 'jobs.db');
  fillWithTrackRecords(path, { models: modelNames(3), days: 60, datesPerJob: 20, failures: 0.05 });
  const jobId = 'bench-0001';
  console.time('package');
  console.log(await packageJob({ path, jobId, target: join(two, 'jobs.db') }));
  console.timeEnd('package');
  console.log(statSync(path).size, statSync(join(two, 'jobs.db')).size);
  console.log(JSON.stringify(await audit(join(two, 'jobs.db'))).slice(0, 1500));
  console.log(JSON.stringify(await audit(path)).slice(0, 500));
  const bytes = readFileSync(join(two, 'jobs.db')).toString('latin1');
  for (const other of ['bench-0000', 'bench-0002']) assert.ok(!bytes.includes(other));
  const services = [await startTestService(t, { folder: one }), await startTestService(t, { folder: two })];
  for (const p of [`/results?job_id=${jobId}`, `/results?job_id=${jobId}&format=csv`, `/performance?job_id=${jobId}`, `/performance?job_id=${jobId}&details=true`, `/performance?job_id=${jobId}&benchmark=universe`,
    `/performance?job_id=${jobId}&format=csv&table=trades`, `/performance?job_id=${jobId}&common=true`, `/comparison?job_id=${jobId}`, `/comparison?job_id=${jobId}&align=number`, `/holdings?job_id=${jobId}&model=model-1`,
    `/reasoning?job_id=${jobId}`, `/reasoning?job_id=${jobId}&include_full_conversation=true`, `/decisions?job_id=${jobId}&limit=100`, `/search?job_id=${jobId}&q=AAPL`, `/simulate/status/${jobId}`, '/jobs', '/models', '/prices/coverage']) {
    const [a, b] = await Promise.all(services.map(async ({ url }) => (await fetch(url + p)).text()));
    const same = a === b;
    let at = 0; while (!same && a[at] === b[at]) at += 1;
    console.log(same ? 'SAME' : 'DIFF', p, a.length, b.length, same ? '' : `\n   ${a.slice(Math.max(0, at - 150), at + 150)}\n   ${b.slice(Math.max(0, at - 150), at + 150)}`);
  }
});
