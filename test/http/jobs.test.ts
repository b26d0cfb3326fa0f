import { US } from '../../src/core/domain/market-rules.ts';
import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { jobsResponse } from '../../src/core/api/jobs.ts';
import { parseAgentConfiguration } from '../../src/core/settings/configuration.ts';
import { queries } from '../../src/core/database/rows.ts';
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

const terms = {
  ...{ commission_per_trade: 1, commission_bps: 2, slippage_bps: 3 },
  ...{ initial_cash: 4, dividends: false, max_steps: 5, max_cost_usd: 6, stock_symbols: ['AAPL'] },
  ...{ open: 'hidden', limits: { max_weight: 0.25, max_orders: 5 } },
};

function insertOldJob(jobId: string, createdAt: string, status: 'completed' | 'failed'): void {
  const { database } = service;
  const run = (sql: string, ...values: (string | number | null)[]) =>
    database.statement(sql).run(...values);
  database.transaction(() => {
    insertTestJob(database, {
      jobId,
      createdAt,
      startDate: '2025-09-15',
      endDate: '2025-09-16',
      dates: ['2025-09-15', '2025-09-16'],
      runs: ['b', 'a'].map((model) => ({ model, startDate: '2025-09-15' })),
      replaceExisting: jobId === 'job-0',
      agentConfig: parseAgentConfiguration(JSON.stringify(terms)),
      warnings: jobId === 'job-0' ? ['Skipped 2 dates'] : [],
    });
    const end = `UPDATE job_details SET status = ?, error = ?, started_at = ?, completed_at = ?
      WHERE job_id = ? AND model = ?`;
    const error = status === 'failed' ? 'No answer' : null;
    run(end, status, error, createdAt, createdAt, jobId, 'b');
    run(end, 'skipped', 'Already completed', createdAt, createdAt, jobId, 'a');
    // A cost that is unknown adds nothing. Of all jobs but the first, model b asked on the first
    // day, and its cost is unknown.
    run(
      `UPDATE job_details SET steps = 1, cost_usd = iif(date = '2025-09-15', ?, 0.5)
       WHERE job_id = ? AND model = 'b'`,
      ...[jobId === 'job-0' ? 1.25 : null, jobId],
    );
    run(
      'UPDATE jobs SET status = ?, started_at = created_at, completed_at = ? WHERE job_id = ?',
      ...[status, createdAt.replace('00.000Z', '01.500Z'), jobId],
    );
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
test('pages and filters of the jobs, newest first', async () => {
  for (const [query, expected, nextBefore] of pages) {
    const { jobs, count, next_before } = await validBody(service, `/jobs${query}`, jobsResponse);
    const ids = jobs.map(({ job_id }) => job_id.slice('job-'.length));
    const found = [ids.join(' '), count, next_before];
    assert.deepEqual(found, [expected, ids.length, nextBefore], query);
  }
});

test('a page of the jobs is read from its place on, not from the newest job', () => {
  const next = queries.find(({ sql }) => sql.startsWith('SELECT job_id AS jobId, rowid FROM jobs'));
  const plan = service.database.statement(`EXPLAIN QUERY PLAN ${next?.sql}`).all(null, 3);
  const found = plan.map(({ detail }) => detail);
  assert.deepEqual(found, ['SEARCH jobs USING INTEGER PRIMARY KEY (rowid<?)']);
});

test('a job of the list, and on which terms it ran', async () => {
  const { jobs, ...rest } = (await service.get('/jobs?limit=1&before=job-1')).body;
  const mode = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };
  assert.deepEqual(rest, { count: 1, next_before: null, ...mode });
  const createdAt = '2025-10-01T08:00:00.000Z';
  assert.deepEqual(jobs, [
    {
      ...{
        job_id: 'job-0',
        status: 'completed',
        models: ['b', 'a'],
        universe: null,
        study: null,
        error: null,
      },
      progress: {
        ...{ total_model_days: 4, completed: 4, failed: 0, pending: 0, skipped: 2, cancelled: 0 },
      },
      ...{ start_date: '2025-09-15', end_date: '2025-09-16' },
      ...{ created_at: createdAt, started_at: createdAt, total_duration_seconds: 1.5 },
      completed_at: '2025-10-01T08:00:01.500Z',
      usage: { cost_usd: 1.75, model_days_without_cost: 0 },
      ...{ most_frequent_error: null, warnings: ['Skipped 2 dates'] },
      warning_codes: [null],
    },
  ]);
  const first = (await service.get('/simulate/status/job-0')).body;
  const { stock_symbols: symbols, ...others } = terms;
  assert.deepEqual(
    [first.terms, first.replace_existing],
    [{ ...others, min_commission: 0, sell_tax_bps: 0, market: US, symbols }, true],
  );
  const second = (await service.get('/simulate/status/job-1')).body;
  assert.equal(second.replace_existing, false);
  assert.deepEqual(second.usage, { cost_usd: 0.5, model_days_without_cost: 1 });
});

test('a job that another program has stored without runs has no models and no entries', async () => {
  service.database
    .statement(
      `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config,
         deployment_mode, created_at, completed_at)
       SELECT 'no-runs', status, start_date, end_date, dates, 0, agent_config,
         deployment_mode, '2025-09-01', completed_at FROM jobs WHERE job_id = 'job-0'`,
    )
    .run();
  const { body } = await service.get('/simulate/status/no-runs');
  service.database.statement(`DELETE FROM jobs WHERE job_id = 'no-runs'`).run();
  assert.deepEqual([body.models, body.entries, body.details], [[], [], []]);
});

test('the list shows the progress of a job, and with what most of its model-days failed', async (t) => {
  const words = 'The model responded with status 401: Incorrect API key';
  const script: Script = {
    '*': [[['fail', words]]],
    'model-a 2025-11-10': [[['wait', 60_000]]],
    'model-a 2025-11-11': [[['fail', 'A timeout']]],
  };
  const own = await startTestService(t, { agent: scriptedAgent(script) });
  const day = { start_date: '2025-11-10', end_date: '2025-11-10', models: ['model-a'] };
  const latest = async () => {
    const [job] = (await validBody(own, '/jobs', jobsResponse)).jobs;
    const { completed, total_model_days: all } = job?.progress ?? {};
    return [job?.job_id, `${job?.status} ${completed}/${all}`, job?.most_frequent_error];
  };
  const { body } = await own.post('/simulate/trigger', day);
  const sessions = own.database.statement('SELECT 1 FROM trading_sessions');
  await until('the model-day to run', () => sessions.get() !== undefined);
  assert.deepEqual(await latest(), [body.job_id, 'running 0/1', null]);
  await own.post(`/simulate/cancel/${body.job_id}`, {});
  await own.waitForJob(body.job_id);
  assert.equal((await latest())[1], 'cancelled 0/1');
  const { job_id } = await runJobHere(own, {}, day);
  assert.deepEqual(await latest(), [job_id, 'completed 1/1', null]);
  await own.runJob({ start_date: '2025-11-11', end_date: '2025-11-12' });
  assert.deepEqual((await latest())[2], { reason: words, model_days: 3 });
});
