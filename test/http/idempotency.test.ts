import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { scriptedAgent } from '../support/agents.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { readAnswers, send } from '../support/wire.ts';

/**
 * `Idempotency-Key`: a trigger that is sent twice, because its response was lost, creates one job.
 */

const REQUEST = { start_date: '2025-11-10', end_date: '2025-11-10', models: ['model-a'] };

/** Keys are lines of their own, which `fetch` would join. */
async function trigger({ url }: TestService, key: string | string[], body: unknown = REQUEST) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const keys = [key].flat().map((one) => `Idempotency-Key: ${one}\r\n`);
  const type = `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  const head = `Host: localhost\r\nConnection: close\r\n${type}${keys.join('')}`;
  const request = `POST /simulate/trigger HTTP/1.1\r\n${head}\r\n${text}`;
  const [answer] = readAnswers(await send(url, Buffer.from(request, 'latin1')));
  return { status: answer?.status, body: JSON.parse(answer?.body ?? '') };
}

/** Ends a model-day at once, or keeps it running until it is cancelled. */
const quick = scriptedAgent({});
const agent = scriptedAgent({ '*': [[['wait', 3_600_000]]] });

async function cancel(service: TestService, jobId: string): Promise<void> {
  await service.post(`/simulate/cancel/${jobId}`, {});
  assert.equal((await service.waitForJob(jobId)).status, 'cancelled');
}

test('the same key and request return the first job again: while it runs, after its end, after a restart', async (t) => {
  const service = await startTestService(t, { agent });
  const first = await trigger(service, 'key-1');
  assert.equal(first.status, 200);
  assert.deepEqual(await trigger(service, 'key-1'), first);
  await cancel(service, first.body.job_id);
  assert.deepEqual(await trigger(service, 'key-1'), first);
  await service.stop();
  const again = await startTestService(t, { agent, folder: service.folder });
  assert.deepEqual(await trigger(again, 'key-1'), first);
  assert.equal((await again.get('/jobs')).body.count, 1);
});

/** The same request in other words, or another one. */
const bodies: [name: string, body: unknown, status: number][] = [
  ['the same in another order', Object.fromEntries(Object.entries(REQUEST).reverse()), 200],
  ['the same with other spaces', JSON.stringify(REQUEST, null, 4), 200],
  ['the same with a default spelled out', { ...REQUEST, replace_existing: false }, 200],
  ['the same with the default universe spelled out', { ...REQUEST, universe: null }, 200],
  ['another date', { ...REQUEST, end_date: '2025-11-12' }, 422],
  ['no start', { ...REQUEST, start_date: null }, 422],
  ['another model', { ...REQUEST, models: ['model-b'] }, 422],
  ['one more model', { ...REQUEST, models: ['model-a', 'model-b'] }, 422],
  ['replacing', { ...REQUEST, replace_existing: true }, 422],
  ['another universe', { ...REQUEST, universe: 'control' }, 422],
  ['the study without a name spelled out', { ...REQUEST, study: null }, 200],
  ['the same in an empty text', { ...REQUEST, study: '' }, 200],
  ['another study', { ...REQUEST, study: 'hidden-open' }, 422],
  ['no word on terms', { ...REQUEST, change_terms: null }, 200],
  ['terms that may change', { ...REQUEST, change_terms: true }, 422],
  ['terms that may not', { ...REQUEST, change_terms: false }, 422],
  ['the terms of a job', { ...REQUEST, terms_of: 'some-job' }, 422],
];
test('the same key with another request is refused, and creates nothing', async (t) => {
  const service = await startTestService(t, { agent: quick });
  const first = await trigger(service, 'key-1');
  await service.waitForJob(first.body.job_id);
  const other = new RegExp(`^Idempotency-Key: another request .* job ${first.body.job_id}`);
  for (const [name, body, status] of bodies) {
    const answer = await trigger(service, 'key-1', body);
    assert.equal(answer.status, status, name);
    if (status === 200) assert.deepEqual(answer, first, name);
    else assert.match(answer.body.detail, other);
  }
  const keys = service.database.statement('SELECT request_hash AS stored FROM idempotency_keys');
  const request = JSON.stringify(['2025-11-10', '2025-11-10', ['model-a'], false, null]);
  // A later version hashes the same, so that a repeated request finds its job after an update.
  assert.equal(keys.get()?.['stored'], hash('sha256', request));
  assert.equal((await service.get('/jobs')).body.count, 1);
});

test('only responses with status 200 are remembered', async (t) => {
  const service = await startTestService(t, { agent });
  const running = await trigger(service, 'key-1');
  const other = { ...REQUEST, models: ['model-b'] };
  const future = { ...other, end_date: '2035-01-01' };
  for (const [body, status] of [
    [other, 400], // another job is running
    [future, 400],
    [{ end_date: 5 }, 422],
  ] as const)
    assert.equal((await trigger(service, 'key-2', body)).status, status);
  await cancel(service, running.body.job_id);
  assert.equal((await trigger(service, 'key-2', other)).status, 200, 'the key is still free');
});

test('it is checked after the schema and before the rules of the trigger', async (t) => {
  const service = await startTestService(t, { agent: quick });
  const first = await trigger(service, 'key-1');
  const broken = await trigger(service, 'key-1', { end_date: 'soon' });
  assert.match(broken.body.detail, /^end_date: /);
  await service.waitForJob(first.body.job_id);
  const { folder } = service;
  const later = await startTestService(t, { folder, configuration: 'no configuration any more' });
  assert.deepEqual(await trigger(later, 'key-1'), first, 'rule 1, the configuration, is not asked');
  assert.equal((await trigger(later, 'key-2')).status, 500);
});

const keys: [name: string, key: string | string[], status: number][] = [
  ['the same in capitals', 'KEY-1', 200],
  ['a UUID', '9f2b1c1e-5d0e-4a53-9f0b-0f7f3f1f6c11', 200],
  ['a quoted one, as in the draft standard', '"8e03978e-40d5-43dd"', 200],
  ['as long as allowed', 'k'.repeat(200), 200],
  ['with spaces inside', 'job of Monday', 200],
  ['that looks like SQL', "'; DROP TABLE jobs; --", 200],
  ['__proto__', '__proto__', 200],
  ['too long', 'k'.repeat(201), 422],
  ['empty', '', 422],
  ['beyond ASCII', 'caf\u00e9', 422],
  ['given twice', ['one', 'two'], 422],
];
test('a key is 1 to 200 printable ASCII characters; each makes one job, also of requests sent at the same time', async (t) => {
  const service = await startTestService(t, { agent: quick });
  const same = await Promise.all(Array.from({ length: 20 }, () => trigger(service, 'key-1')));
  const ids = new Set(same.map(({ status, body }) => `${status} ${body.job_id}`));
  assert.equal(ids.size, 1);
  assert.equal((await service.get('/jobs')).body.count, 1);
  await service.waitForJob(same[0]?.body.job_id);
  const { job_id } = await service.runJob(REQUEST); // without a key
  ids.add(`200 ${job_id}`);
  for (const [name, key, status] of keys) {
    const answer = await trigger(service, key);
    assert.equal(answer.status, status, name);
    if (status === 422) {
      const detail = /^Idempotency-Key: (must be 1 to 200 printable ASCII|given more than once)/;
      assert.match(answer.body.detail, detail, name);
      continue;
    }
    await service.waitForJob(answer.body.job_id);
    assert.deepEqual(await trigger(service, key), answer, name);
    ids.add(`200 ${answer.body.job_id}`);
  }
  assert.equal(ids.size, 2 + keys.filter(([, , status]) => status === 200).length);
});
