import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { readWarnings } from '../../src/core/database/job-queries.ts';
import { isSound } from '../../src/core/verify/database-audit.ts';
import { scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { auditScripts } from '../support/replays.ts';
import { startTestService, twoModels } from '../support/service.ts';
import { isLong } from '../support/long.ts';
import { until } from '../support/until.ts';

const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103
  AAPL 2025-11-12 104 105
  AAPL 2025-11-13 106 107`;
const configuration = { ...twoModels, agent_config: { stock_symbols: ['AAPL'] } };
const DAY = { start_date: '2025-11-10', end_date: '2025-11-10' };
const WEEK = { start_date: '2025-11-10', end_date: '2025-11-13' };
const slowBuyer = scriptedAgent({
  '*': [[['buy', { symbol: 'AAPL', amount: 1 }]], [['wait', 100]]],
});
/** Keeps a job running until it is cancelled. */
const endless = scriptedAgent({ '*': [[['wait', 3_600_000]]] });

test('of simultaneous triggers exactly one creates a job', async (t) => {
  const service = await startTestService(t, { configuration, prices: PRICES, agent: endless });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => service.post('/simulate/trigger', DAY)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(400)]);
  const refusal = answers.find(({ status }) => status === 400);
  assert.match(refusal?.body.detail, /Another simulation job is already running or pending/);
  assert.equal(service.database.statement('SELECT 1 FROM jobs').all().length, 1);
  const created = answers.find(({ status }) => status === 200)?.body.job_id;
  await service.post(`/simulate/cancel/${created}`, {});
  await service.waitForJob(created);
  assert.equal((await service.post('/simulate/trigger', DAY)).status, 200);
});

for (const replace_existing of isLong ? [false, true] : [true])
  test(`a job interrupted by a stop continues at the next start, and no trade happens twice${replace_existing ? ', nor is one replaced twice' : ''}`, async (t) => {
    const agent = slowBuyer;
    const first = await startTestService(t, { configuration, prices: PRICES, agent });
    if (replace_existing) await first.runJob(WEEK);
    const { body } = await first.post('/simulate/trigger', { ...WEEK, replace_existing });
    const path = `/simulate/status/${body.job_id}`;
    await until(
      'three model-days',
      async () => (await first.get(path)).body.progress.completed >= 3,
    );
    await first.stop();
    const second = await startTestService(t, { configuration, agent, folder: first.folder });
    const { status, warnings, progress } = await second.waitForJob(body.job_id);
    assert.deepEqual([status, warnings], ['completed', null]);
    assert.deepEqual(Object.values(progress), [8, 8, 0, 0, 0, 0]);
    const expected = ledger(`
      2025-11-10 buy AAPL 1 100 => 9900 10001 1 AAPL:1
      2025-11-11 buy AAPL 1 102 => 9798 10004 3 AAPL:2
      2025-11-12 buy AAPL 1 104 => 9694 10009 5 AAPL:3
      2025-11-13 buy AAPL 1 106 => 9588 10016 7 AAPL:4`);
    for (const model of ['model-a', 'model-b'])
      assert.deepEqual(ledgerOf(second.database, model), expected);
  });

test('a job trades the universe that its trigger names, and keeps it', async (t) => {
  const orders = ['AAPL', 'MSFT'].map((symbol): [string, object] => ['buy', { symbol, amount: 1 }]);
  const service = await startTestService(t, {
    configuration: { ...configuration, universes: { other: ['msft'] } },
    prices: `${PRICES}\nMSFT 2025-11-10 50 51`,
    agent: scriptedAgent({ '*': [orders] }),
  });
  const refused = await service.post('/simulate/trigger', { ...DAY, universe: 'another' });
  const detail = "Universe 'another' is not in the server configuration: it names other";
  assert.deepEqual([refused.status, refused.body.detail], [400, detail]);
  assert.equal((await service.post('/simulate/trigger', { ...DAY, universe: '' })).status, 422);
  const plain = await service.runJob({ ...DAY, models: ['model-a'] });
  const chosen = await service.runJob({ ...DAY, models: ['model-b'], universe: 'other' });
  const bought = (model: string) =>
    ledgerOf(service.database, model).map((line) => line.split(' ').slice(1, 4).join(' '));
  assert.deepEqual([bought('model-a'), bought('model-b')], [['buy AAPL 1'], ['buy MSFT 1']]);
  assert.deepEqual([plain.universe, chosen.universe], [null, 'other']);
  const { body } = await service.get('/jobs');
  assert.deepEqual(
    body.jobs.map((job: any) => job.universe),
    ['other', null],
  );
  const { incomparable } = (await service.get('/performance')).body;
  assert.deepEqual(incomparable, [
    { model: 'model-b', kind: 'universe', reason: 'Its universe is not that of model-a' },
  ]);
  assert.equal(isSound(await auditScripts(service)), true);
});

test('the configuration is read at every trigger: missing or broken is a 500 that says which', async (t) => {
  const service = await startTestService(t, {
    configuration: null,
    prices: PRICES,
    agent: slowBuyer,
  });
  assert.equal((await service.get('/health')).body.status, 'healthy');
  const missing = await service.post('/simulate/trigger', DAY);
  assert.equal(missing.status, 500);
  assert.match(missing.body.detail, /Server configuration file not found: .*config\.json/);
  writeFileSync(service.settings.configurationPath, '{"models": [{"signature": 5}]}');
  const broken = await service.post('/simulate/trigger', DAY);
  assert.equal(broken.status, 500);
  assert.match(broken.body.detail, /models\[0\]\.signature: expected a string/);
  writeFileSync(service.settings.configurationPath, JSON.stringify(configuration));
  assert.equal((await service.runJob(DAY)).status, 'completed');
});

test('an empty start date means resume mode, as null and none do; a job keeps the agent configuration that it was created with', async (t) => {
  const service = await startTestService(t, {
    configuration: { ...twoModels, agent_config: { stock_symbols: ['AAPL'], initial_cash: 500 } },
    ...{ prices: PRICES, agent: scriptedAgent({}) },
  });
  for (const [index, request] of [{ start_date: '' }, { start_date: null }, {}].entries()) {
    const day = { end_date: `2025-11-1${index}`, models: ['model-a'] };
    const { body } = await service.post('/simulate/trigger', { ...request, ...day });
    assert.equal(body.message, 'Simulation job created for 1 dates, 1 models (resume mode)');
    if (index === 0)
      writeFileSync(service.settings.configurationPath, JSON.stringify(configuration));
    await service.waitForJob(body.job_id);
  }
  const [first] = ledgerOf(service.database, 'model-a');
  assert.equal(first, '2025-11-10 no_trade => 500 500 0');
});

test('warnings that cannot be read are null, and a warning has no code where it cannot', () => {
  const messages = ['{not json', '{"a":1}', '[1]', '', null];
  const read = messages.map((warnings) => readWarnings({ warnings, warningCodes: '[null]' }));
  assert.deepEqual(read, [null, null, null, null, null]);
  const codes = ['[null,{"code":"unread"}]', '[]', '{not json', '[1,{"code":"unread"}]'];
  const warnings = '["careful","more so"]';
  const codesOf = (warningCodes: string) =>
    readWarnings({ warnings, warningCodes })?.map(({ code }) => code);
  const [coded, none] = [
    [null, 'unread'],
    [null, null],
  ];
  assert.deepEqual(codes.map(codesOf), [coded, none, none, coded]);
});
