import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { jobsResponse } from '../../src/api/jobs.ts';
import { parseAgentConfiguration } from '../../src/basics/configuration.ts';
import { queries } from '../../src/database/rows.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { insertTestJob } from '../support/jobs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { validBody } from '../support/valid-body.ts';

/** `GET /jobs`: the jobs, newest first, a page at a time. */

let service: TestService;
before(async (t) => {
  service = await startTestService(t as TestContext);
  // Five jobs, as other programs see them; the clock was set back before the second, the last two
  // are of the same millisecond.
  const jobs = ['2025-10-01', '2025-09-30', '2025-10-03', '2025-10-04', '2025-10-04'];
  jobs.forEach((day, index) =>
    insertOldJob(`job-${index}`, `${day}T08:00:00.000Z`, index === 1 ? 'failed' : 'completed'),
  );
});

const costs = { commission_per_trade: 1, commission_bps: 2, slippage_bps: 3 };
const terms = {
  ...costs,
  initial_cash: 4,
  dividends: false,
  max_steps: 5,
  max_cost_usd: 6,
  stock_symbols: ['AAPL'],
};

function insertOldJob(jobId: string, createdAt: string, status: 'completed' | 'failed'): void {
  const { database } = service;
  database.transaction(() => {
    insertTestJob(database, {
      jobId,
      createdAt,
      startDate: '2025-09-15',
      endDate: '2025-09-16',
      dates: ['2025-09-15', '2025-09-16'],
      runs: [
        { model: 'b', startDate: '2025-09-15' },
        { model: 'a', startDate: '2025-09-15' },
      ],
      replaceExisting: jobId === 'job-0',
      agentConfig: parseAgentConfiguration(JSON.stringify(terms)),
      warnings: jobId === 'job-0' ? ['Skipped 2 dates'] : [],
    });
    const ends = `UPDATE job_details SET status = ?, error = ?, started_at = ?, completed_at = ? WHERE job_id = ? AND model = ?`;
    const error = status === 'failed' ? 'No answer' : null;
    database.statement(ends).run(status, error, createdAt, createdAt, jobId, 'b');
    // A cost that is unknown adds nothing.
    const costs = `UPDATE job_details SET cost_usd = CASE date WHEN '2025-09-15' THEN ? ELSE 0.5 END WHERE job_id = ? AND model = 'b'`;
    // Of the others, model b asked on the first day, and its cost is unknown.
    database
      .statement(`UPDATE job_details SET steps = 1 WHERE job_id = ? AND model = 'b'`)
      .run(jobId);
    database.statement(costs).run(jobId === 'job-0' ? 1.25 : null, jobId);
    database.statement(ends).run('skipped', 'Already completed', createdAt, createdAt, jobId, 'a');
    database
      .statement(
        'UPDATE jobs SET status = ?, started_at = created_at, completed_at = ? WHERE job_id = ?',
      )
      .run(status, createdAt.replace('00.000Z', '01.500Z'), jobId);
  });
}

const pages: [query: string, jobs: string, nextBefore: string | null][] = [
  ['', '4 3 2 1 0', null],
  ['?limit=2', '4 3', 'job-3'],
  ['?limit=2&before=job-3', '2 1', 'job-1'],
  ['?limit=2&before=job-1', '0', null],
  ['?limit=1&before=job-4', '3', 'job-3'],
  ['?limit=5', '4 3 2 1 0', null],
  ['?limit=200&before=job-0', '', null],
  ['?before=2025-10-04T08:00:00.000Z', '2 1 0', null],
  ['?before=2025-10-04T08:00:00.001Z', '4 3 2 1 0', null],
  ['?before=2025-10-02T00:00Z', '1 0', null],
  ['?status=failed', '1', null],
  ['?status=completed&limit=3', '4 3 2', 'job-2'],
  ['?status=completed&limit=3&before=job-2', '0', null],
  ['?status=completed&before=job-1', '0', null],
  ['?status=running', '', null],
  ['?status=&limit=&before=', '4 3 2 1 0', null],
];
for (const [query, expected, nextBefore] of pages) {
  test(`GET /jobs${query} has jobs ${expected || 'none'}`, async () => {
    const body = await validBody(service, `/jobs${query}`, jobsResponse);
    const ids = body.jobs.map(({ job_id }: { job_id: string }) => job_id.slice('job-'.length));
    assert.deepEqual(
      [ids.join(' '), body.count, body.next_before],
      [expected, ids.length, nextBefore],
    );
  });
}

test('a page of the jobs is read from its place on, not from the newest job', () => {
  const next = queries.find(({ sql }) => sql.startsWith('SELECT job_id AS jobId, rowid FROM jobs'));
  const plan = service.database.statement(`EXPLAIN QUERY PLAN ${next?.sql}`).all(null, 3);
  assert.deepEqual(
    plan.map(({ detail }) => detail),
    ['SEARCH jobs USING INTEGER PRIMARY KEY (rowid<?)'],
  );
});

test('a job of the list, field by field', async () => {
  const { body } = await service.get('/jobs?limit=1&before=job-1');
  const { jobs: _jobs, ...rest } = body;
  assert.deepEqual(rest, {
    count: 1,
    next_before: null,
    deployment_mode: 'DEV',
    is_dev_mode: true,
    preserve_dev_data: false,
  });
  assert.deepEqual(body.jobs, [
    {
      job_id: 'job-0',
      status: 'completed',
      progress: { total_model_days: 4, completed: 4, failed: 0, pending: 0, skipped: 2 },
      start_date: '2025-09-15',
      end_date: '2025-09-16',
      models: ['b', 'a'],
      universe: null,
      created_at: '2025-10-01T08:00:00.000Z',
      started_at: '2025-10-01T08:00:00.000Z',
      completed_at: '2025-10-01T08:00:01.500Z',
      total_duration_seconds: 1.5,
      error: null,
      usage: { cost_usd: 1.75, model_days_without_cost: 0 },
      most_frequent_error: null,
      warnings: ['Skipped 2 dates'],
    },
  ]);
});

test('the status of a job says on which terms it ran', async () => {
  const { body } = await service.get('/simulate/status/job-0');
  const { stock_symbols: symbols, ...others } = terms;
  assert.deepEqual(
    [body.terms, body.replace_existing, body.usage.cost_usd],
    [{ ...others, symbols }, true, 1.75],
  );
  assert.equal((await service.get('/simulate/status/job-1')).body.replace_existing, false);
  assert.deepEqual((await service.get('/simulate/status/job-1')).body.usage, {
    cost_usd: 0.5,
    model_days_without_cost: 1,
  });
});

const refusals: [query: string, detail: RegExp][] = [
  [
    '?status=done',
    /^status: expected one of pending, downloading_data, running, completed, partial, failed, cancelled, discarded$/,
  ],
  ['?status=completed&status=failed', /^status: given more than once$/],
  ['?limit=0', /^limit: expected a whole number from 1 to 200$/],
  ['?limit=201', /^limit: expected/],
  ['?limit=-1', /^limit: expected/],
  ['?limit=1e2', /^limit: expected/],
  ['?limit=99999999999999999999', /^limit: expected/],
  ['?before=job-9', /^before: expected the job_id of a job, or a timestamp/],
  ['?before=2025-13-01T00:00:00Z', /^before: expected/],
  ['?before=yesterday', /^before: expected/],
];
for (const [query, detail] of refusals) {
  test(`GET /jobs${query} is 422`, async () => {
    const { status, body } = await service.get(`/jobs${query}`);
    assert.equal(status, 422);
    assert.match(body.detail, detail);
  });
}

test('a job that another program has stored without runs has no models and no entries', async () => {
  service.database
    .statement(
      `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode,
         created_at, completed_at)
       SELECT 'no-runs', status, start_date, end_date, dates, 0, agent_config, deployment_mode, '2025-09-01', completed_at FROM jobs WHERE job_id = 'job-0'`,
    )
    .run();
  const { body } = await service.get('/simulate/status/no-runs');
  service.database.statement(`DELETE FROM jobs WHERE job_id = 'no-runs'`).run();
  assert.deepEqual([body.models, body.entries, body.details], [[], [], []]);
});

test('the list shows the progress of a job', async (t) => {
  const own = await startTestService(t, { agent: scriptedAgent({ '*': [[['wait', 60_000]]] }) });
  const day = { start_date: '2025-11-10', end_date: '2025-11-10', models: ['model-a'] };
  const latest = async () => {
    const [{ job_id, status, progress }] = (await own.get('/jobs')).body.jobs;
    return [job_id, `${status} ${progress.completed}/${progress.total_model_days}`];
  };
  const { body } = await own.post('/simulate/trigger', day);
  const sessions = own.database.statement('SELECT 1 FROM trading_sessions');
  await until('the model-day to run', () => sessions.get() !== undefined);
  assert.deepEqual(await latest(), [body.job_id, 'running 0/1']);
  await own.post(`/simulate/cancel/${body.job_id}`, {});
  await own.waitForJob(body.job_id);
  assert.deepEqual(await latest(), [body.job_id, 'cancelled 0/1']);
  const { job_id } = await runJobHere(own, {}, day);
  assert.deepEqual(await latest(), [job_id, 'completed 1/1']);
});

test('the list says with what most of the failed model-days of a job failed', async (t) => {
  const words = 'The model responded with status 401: Incorrect API key';
  const script: Script = {
    '*': [[['fail', words]]],
    'model-a 2025-11-10': [[['fail', 'A timeout']]],
  };
  const own = await startTestService(t, { agent: scriptedAgent(script) });
  await own.runJob({ start_date: '2025-11-10', end_date: '2025-11-11' });
  const [job] = (await validBody(own, '/jobs', jobsResponse)).jobs;
  assert.deepEqual(job?.most_frequent_error, { reason: words, model_days: 3 });
});

test('unreadable warnings of one job are null and do not hide other jobs', async () => {
  const { database } = service;
  database.statement(`UPDATE jobs SET warnings = '[1, 2' WHERE job_id = 'job-0'`).run();
  const { body } = await service.get('/jobs');
  database
    .statement(`UPDATE jobs SET warnings = '["Skipped 2 dates"]' WHERE job_id = 'job-0'`)
    .run();
  assert.deepEqual([body.count, body.jobs[4].warnings], [5, null]);
});
