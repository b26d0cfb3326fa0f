import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import type { Behaviour } from '../support/model-server.ts';
import { ask, BOUGHT, DECISION, run } from '../support/own-agents.ts';

/** Days of agents that end while these call their tools. */

test('calls beside a cancellation are carried out or learn that the day is over', async (t) => {
  const seen = Promise.withResolvers<{ beside: number[]; after: number[] }>();
  const act: Behaviour = async ({ headers, body }) => {
    const [jobId] = String(headers['idempotency-key']).split(':');
    const buy = async () => (await ask(body, '/tools/buy', { symbol: 'AAPL', amount: 1 })).status;
    const calls = Array.from({ length: 32 }, buy);
    const cancelled = fetch(`${body.day.url}/simulate/cancel/${jobId}`, { method: 'POST' });
    calls.push(...Array.from({ length: 32 }, buy));
    await cancelled;
    const after = [await buy(), (await ask(body, '')).status, (await ask(body, '/tools')).status];
    seen.resolve({ beside: await Promise.all(calls), after });
    return DECISION;
  };
  const { job, service } = await run(t, act);
  const { beside, after } = await seen.promise;
  assert.equal(job.status, 'cancelled');
  assert.deepEqual(after, [401, 401, 401]);
  assert.deepEqual(
    [...new Set(beside)].filter((status) => status !== 200 && status !== 401),
    [],
  );
  assert.deepEqual(
    service.logLines.filter(({ level }) => level === 'ERROR'),
    [],
  );
});

test('a call that fails by a bug fails its day, whatever its agent answers', async (t) => {
  const databasePath = join(temporaryFolder(), 'jobs.db');
  const statuses: number[] = [];
  const act: Behaviour = async ({ body }) => {
    using database = new DatabaseSync(databasePath);
    database.exec(
      `CREATE TRIGGER bug BEFORE INSERT ON reasoning_logs WHEN new.tool_name = 'buy'
       BEGIN SELECT RAISE(ABORT, 'a bug'); END`,
    );
    statuses.push((await ask(body, '/tools/buy', { symbol: 'AAPL', amount: 1 })).status);
    database.exec('DROP TRIGGER bug');
    return DECISION;
  };
  const { ledger, requests, error } = await run(t, act, { settings: { databasePath } });
  assert.match(error, /^Internal error \(reference /);
  assert.deepEqual([statuses, ledger, requests.length], [[500], [], 1]);
});

test('a call that finds no storage answers 503, and the day begins again with another token', async (t) => {
  const answers: { status: number; body: any }[] = []; // any: the test checks its fields
  const databasePath = join(temporaryFolder(), 'jobs.db');
  const act: Behaviour = async ({ body }, count) => {
    if (count > 1) return DECISION;
    const buy = () => ask(body, '/tools/buy', { symbol: 'AAPL', amount: 2 });
    answers.push(await buy());
    renameSync(databasePath, `${databasePath}.away`);
    answers.push(await buy(), await buy());
    renameSync(`${databasePath}.away`, databasePath);
    return DECISION;
  };
  const { requests, ledger } = await run(t, act, { settings: { databasePath } });
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 503, 401],
  );
  const fault = 'Cannot use the database: its file was removed or replaced while the service runs';
  const words = `${fault}. The day begins again from its opening, with a new token`;
  assert.equal(answers[1]?.body.detail, words);
  assert.deepEqual(ledger, BOUGHT);
  const [first, second] = requests.map(({ headers }) => headers['idempotency-key']);
  assert.deepEqual([first, requests.length], [second, 2]);
  assert.notEqual(requests[0]?.body.day.token, requests[1]?.body.day.token);
});
