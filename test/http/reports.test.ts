import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { type TestService, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openWire } from '../support/wire.ts';

/** Reports are made in reader threads, and a thread that ends costs its own report only. */

/** The reader threads that this process starts from now on. */
function watchThreads(t: TestContext): Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => workers.push(worker);
  process.on('worker', add);
  t.after(() => process.off('worker', add));
  return workers;
}

/** Ends the reader threads of other tests, so that the next report starts one of its own. */
async function serviceWithJob(
  t: TestContext,
  httpLimits: Parameters<typeof startTestService>[1] = {},
): Promise<TestService> {
  const service = await startTestService(t, httpLimits);
  await service.runJob({ start_date: '2025-11-03', end_date: '2025-11-04' });
  return service;
}

test('a report that takes too long is a 503, and the next one is made by a fresh thread', async (t) => {
  const slow = await startTestService(t, { httpLimits: { maxReportMs: 0 } });
  const refused = await slow.get('/performance');
  assert.equal(refused.status, 503);
  assert.match(refused.body.detail, /^Cannot make this report: it takes longer than 0 seconds; ask/);
  const workers = watchThreads(t);
  const service = await startTestService(t);
  assert.equal((await service.get('/performance')).status, 200);
  assert.equal(workers.length, 1);
});

test('a report that finds no free thread in time is a 503 that says when to try again', async (t) => {
  const service = await startTestService(t, { httpLimits: { maxReportWaitMs: 0 } });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => service.get(`/holdings?model=m${index}`)),
  );
  const refused = answers.filter(({ status }) => status === 503);
  assert.ok(refused.length > 0);
  for (const { headers, body } of refused) {
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    assert.match(body.detail, /^Cannot make this report now/);
  }
});

test('a thread that is killed or runs out of memory costs its own report only', async (t) => {
  const service = await serviceWithJob(t);
  const ask = (index: number) => service.get(`/performance?start_date=2000-01-0${index}`);
  const workers = watchThreads(t);
  // The limit of time ends the threads that are there, so that the next are seen.
  const other = await startTestService(t, { httpLimits: { maxReportMs: 0 } });
  await Promise.all([other.get('/models'), other.get('/jobs')]);
  const killed = ask(1);
  await until('a thread', () => workers.length > 0);
  await workers.at(-1)?.terminate();
  assert.deepEqual([(await killed).status, (await ask(2)).status], [500, 200]);
  const small = await startTestService(t, { httpLimits: { maxReportHeapMb: 1, maxReportMs: 0 } });
  await Promise.all([small.get('/models'), small.get('/jobs')]);
  const tight = await startTestService(t, { httpLimits: { maxReportHeapMb: 1 } });
  const broken = await tight.get('/models');
  assert.equal(broken.status, 503);
  assert.match(broken.body.detail, /more than 1 MB of memory/);
  assert.equal((await ask(3)).status, 200);
});

test('a report whose client leaves is given up, and the next one is made', async (t) => {
  const service = await serviceWithJob(t);
  const wire = await openWire(t, Number(new URL(service.url).port));
  wire.write('GET /performance?details=true HTTP/1.1\r\nHost: localhost\r\n\r\n');
  wire.destroy();
  assert.equal((await service.get('/performance?details=true')).status, 200);
});

test('a report is kept while nothing in the database changes', async (t) => {
  const service = await serviceWithJob(t);
  const first = await service.get('/performance');
  assert.deepEqual((await service.get('/performance')).body, first.body);
  await service.runJob({ start_date: '2025-11-05', end_date: '2025-11-05' });
  const later = await service.get('/performance');
  assert.notDeepEqual(later.body, first.body);
  const csv = await fetch(`${service.url}/performance?format=csv`);
  assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="curve.csv"');
});
