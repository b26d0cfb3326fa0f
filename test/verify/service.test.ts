import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditResponse, progressInLog } from '../../src/api/audit.ts';
import { silentLog } from '../../src/basics/log.ts';
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

test('GET /audit reports whether the books add up, what does not, and stale days separately', async (t) => {
  const service = await startTestService(t, { configuration, prices: PRICES, isForged: true });
  const counts = { models: 0, model_days: 0, superseded_model_days: 0, positions: 0 };
  const nothing = { damage: 0, problems: 0, unverifiable: 0, stale: 0 };
  const empty = (await service.get('/audit')).body;
  assert.deepEqual([empty.status, empty.counts], ['sound', { ...counts, ...nothing }]);
  await runJobHere(service, script, DAYS);
  const sound = await validBody(service, '/audit', auditResponse);
  assert.deepEqual([sound.status, sound.deployment_mode], ['sound', 'DEV']);
  assert.deepEqual(sound.counts, { ...counts, ...nothing, models: 1, model_days: 2, positions: 2 });

  await runJobHere(service, script, { ...DAYS, end_date: DAYS.start_date, replace_existing: true });
  service.database
    .statement('UPDATE positions SET cash_e4 = cash_e4 - 1 WHERE position_id = 2')
    .run();
  const { status, body } = await service.get('/audit');
  assert.deepEqual([status, body.status], [200, 'faulty']);
  assert.deepEqual(body.problems, [
    {
      model: 'model-a',
      date: '2025-11-11',
      session_id: 2,
      status: 'active',
      problems: ['positions 1, cash_e4: stored 97979999, replayed 97980000'],
    },
  ]);
  assert.deepEqual(body.stale, [{ model: 'model-a', date: '2025-11-11' }]);
});

test('GET /audit takes a job and a model: only their model-days are counted, judged and stale', async (t) => {
  const service = await startTestService(t, { configuration, prices: PRICES, isForged: true });
  const { job_id: first } = await runJobHere(service, script, DAYS);
  const day = { ...DAYS, end_date: DAYS.start_date, replace_existing: true };
  const { job_id: second } = await runJobHere(service, script, day);
  service.database
    .statement('UPDATE positions SET cash_e4 = cash_e4 - 1 WHERE position_id = 2')
    .run();
  service.database
    .statement(`UPDATE job_details SET status = 'failed', error = 'x' WHERE job_id = ?`)
    .run(second);
  const look = async (query: string) => {
    const { status, counts } = (await service.get(`/audit?${query}`)).body;
    const { models, model_days: days, superseded_model_days: replaced, problems, stale } = counts;
    return [status, models, days, replaced, problems, stale];
  };
  assert.deepEqual(await look(''), ['faulty', 1, 2, 1, 2, 1]);
  assert.deepEqual(await look(`job_id=${first}`), ['faulty', 1, 1, 1, 1, 1]);
  assert.deepEqual(await look(`job_id=${second}&model=model-a`), ['faulty', 1, 1, 0, 1, 0]);
  assert.deepEqual(await look('model=nobody'), ['sound', 0, 0, 0, 0, 0]);
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
  const log = {
    ...silentLog,
    info: (message: string, fields = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`),
  };
  const short = progressInLog(log, () => now);
  for (const [at, done] of [
    [0, 0],
    [4_999, 900],
    [5_001, 1_000],
  ] as const) {
    now = at;
    short(done, 1_000);
  }
  assert.deepEqual(lines, []);
  now = 0;
  const long = progressInLog(log, () => now);
  for (const [at, done] of [
    [4_999, 100],
    [5_000, 101],
    [9_999, 200],
    [10_001, 555],
    [10_002, 1_000],
  ] as const) {
    now = at;
    long(done, 1_000);
  }
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

test('a session that started from a later one is a finding, whatever the clock says', async (t) => {
  const service = await startTestService(t, { configuration, prices: PRICES, isForged: true });
  await runJobHere(service, script, DAYS);
  await runJobHere(service, script, { ...DAYS, end_date: DAYS.start_date, replace_existing: true });
  service.database
    .statement('UPDATE trading_sessions SET started_from_session_id = 3 WHERE session_id = 2')
    .run();
  const { problems } = (await service.get('/audit')).body;
  assert.match(
    JSON.stringify(problems),
    /it started from session 3, which is not an earlier close of its model/,
  );
});
