import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditResponse, createProgressLogger } from '../../src/core/api/audit.ts';
import { silentLog } from '../../src/core/process/log.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { startTestService } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';
import { inLongForm } from '../support/long.ts';

const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103`;
const configuration = {
  models: [{ signature: 'model-a', enabled: true }],
  agent_config: { stock_symbols: ['AAPL'] },
};
const script: Script = { '*': [[['buy', { symbol: 'AAPL', amount: 1 }]]] };
const WORLD = `
  AAPL 2025-11-06 98 98
  AAPL 2025-11-07 99 99${PRICES}
  AAPL 2025-11-12 104 105`;
const DAYS = {
  start_date: '2025-11-10',
  end_date: '2025-11-11',
  models: ['model-a'],
  isReplayable: true,
};

test('GET /audit reports whether the books add up, what does not, and stale days, of all, a job or a model', async (t) => {
  const service = await startTestService(t, { configuration, prices: PRICES, isForged: true });
  const { job_id: first } = await runJobHere(service, script, DAYS);
  const sound = await validBody(service, '/audit', auditResponse);
  assert.deepEqual([sound.status, sound.deployment_mode], ['sound', 'DEV']);
  const nothing = { damage: 0, problems: 0, unverifiable: 0, stale: 0 };
  const counts = { models: 1, model_days: 2, superseded_model_days: 0, positions: 2, ...nothing };
  assert.deepEqual(sound.counts, counts);

  const day = { ...DAYS, end_date: DAYS.start_date, replace_existing: true };
  const other: Script = { '*': [[['buy', { symbol: 'AAPL', amount: 2 }]]] };
  const { job_id: second } = await runJobHere(service, other, day);
  for (const sql of [
    'UPDATE positions SET cash_e4 = cash_e4 - 1 WHERE position_id = 2',
    `UPDATE job_details SET status = 'failed', error = 'x' WHERE job_id = '${second}'`,
  ])
    service.database.statement(sql).run();
  const look = async (query: string) => {
    const { body } = await service.get(`/audit?${query}`);
    const { models, model_days: days, superseded_model_days: replaced, ...rest } = body.counts;
    return {
      body,
      line: [body.status, models, days, replaced, rest.problems, rest.stale].join(' '),
    };
  };
  const { body, line } = await look('');
  assert.equal(line, 'faulty 1 2 1 2 1');
  const problems = ['positions 1, cash_e4: stored 97979999, replayed 97980000'];
  const of = { model: 'model-a', date: '2025-11-11', session_id: 2, status: 'active' };
  assert.deepEqual(body.problems[0], { ...of, problems });
  assert.deepEqual(body.stale, [{ model: 'model-a', date: '2025-11-11' }]);
  // With a job or a model only their model-days are counted, judged and stale.
  assert.equal((await look(`job_id=${first}`)).line, 'faulty 1 1 1 1 1');
  assert.equal((await look(`job_id=${second}&model=model-a`)).line, 'faulty 1 1 0 1 0');
  assert.equal((await service.get('/audit?model=absent')).status, 422);
  assert.equal((await service.get('/audit?job_id=none')).status, 404);
});

test('other requests are served while an audit runs', inLongForm, async (t) => {
  const service = await startTestService(t, { configuration, prices: PRICES });
  await runJobHere(service, script, DAYS);
  const order: string[] = [];
  const ask = async (path: string) => {
    const { body } = await service.get(path);
    order.push(path);
    return body.status;
  };
  const both = [ask('/audit'), ask('/audit'), ask('/health')];
  assert.deepEqual(await Promise.all(both), ['sound', 'sound', 'healthy']);
  assert.equal(order[0], '/health');
});

test('an audit of an unreadable database is an error that says so', async (t) => {
  const service = await startTestService(t, { configuration, prices: PRICES });
  const version = service.database.statement('PRAGMA user_version').get()?.['user_version'];
  service.database.statement('PRAGMA user_version = 999').run();
  const { status, body } = await service.get('/audit');
  service.database.statement(`PRAGMA user_version = ${version}`).run();
  assert.equal(status, 500);
  assert.match(
    body.detail,
    /^Internal server error: Cannot use .*jobs\.db: its schema is version 999, .* \(reference \w{8}\)$/,
  );
});

test('a long audit logs its progress every five seconds and when only the file is left; a short one logs nothing', () => {
  const lines: string[] = [];
  let now = 0;
  const info = (message: string, fields = {}) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const play = (...looks: [at: number, done: number][]) => {
    now = 0;
    const note = createProgressLogger({ ...silentLog, info }, () => now);
    for (const [at, done] of looks) {
      now = at;
      note(done, 1_000);
    }
  };
  play([0, 0], [4_999, 900], [5_001, 1_000]);
  assert.deepEqual(lines, []);
  play([4_999, 100], [5_000, 101], [9_999, 200], [10_001, 555], [10_002, 1_000]);
  assert.deepEqual(lines, [
    'the audit plays model-days again {"done":101,"total":1000,"percent":10}',
    'the audit plays model-days again {"done":555,"total":1000,"percent":55}',
    'the audit has played all model-days again; the file is being read {"done":1000,"total":1000}',
  ]);
});

test('a clock that is set back between model-days makes nothing faulty: what followed what is known by order', async (t) => {
  const instants = [
    '2025-11-14T12:00:00Z',
    '2025-11-13T09:00:00Z',
    '2025-11-13T10:00:00Z',
    '2025-11-12T00:00:00Z',
  ];
  let now = instants[0] as string;
  const clock = () => new Date(now);
  const service = await startTestService(t, { configuration, prices: WORLD, clock });
  const dates = ['2025-11-07', '2025-11-10', '2025-11-11', '2025-11-12'];
  for (const [index, date] of dates.entries()) {
    now = instants[index] as string;
    await runJobHere(service, script, {
      start_date: date,
      end_date: date,
      models: ['model-a'],
      isReplayable: true,
    });
  }
  now = '2025-11-20T00:00:00Z';
  const { body } = await service.get('/audit');
  assert.deepEqual([body.status, body.problems, body.counts.stale], ['sound', [], 0]);
  const { models } = (await service.get('/models')).body;
  assert.equal(
    models.find(({ signature }: any) => signature === 'model-a').last_job.created_at,
    '2025-11-12T00:00:00.000Z',
    'the newest job by order',
  );
});
