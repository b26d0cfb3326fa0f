import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcesses } from '../support/agent-here.ts';
import { agentFixture, scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { startTestService, twoModels } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Monday to Friday, with a holiday on Wednesday; two symbols that make the universe. */
const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103
  AAPL 2025-11-13 104 105
  AAPL 2025-11-14 106 107
  AAPL 2025-11-17 108 109
  MSFT 2025-11-10 200 201
  MSFT 2025-11-11 202 203
  MSFT 2025-11-13 204 205
  MSFT 2025-11-14 206 207
  MSFT 2025-11-17 208 209`;

const configuration = {
  ...twoModels,
  agent_config: { stock_symbols: ['AAPL', 'MSFT'], max_steps: 5 },
};
const buyAapl = (amount: number): [string, unknown][][] => [[['buy', { symbol: 'AAPL', amount }]]];

/** Options of a service over these prices whose models follow a script. */
const scripted = (script: Parameters<typeof scriptedAgent>[0]) => ({
  configuration,
  prices: PRICES,
  agent: scriptedAgent(script),
});

/** A job's model-days in short: `date model status reason`. */
function detailsOf(status: any): string[] {
  return status.details.map((detail: any) =>
    [detail.date, detail.model, detail.status, detail.error]
      .filter((part) => part !== null)
      .join(' '),
  );
}

test('a job runs every model on every date, skips the holiday and says so', async (t) => {
  const service = await startTestService(t, scripted({ 'model-a 2025-11-11': buyAapl(10) }));
  const status = await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-13' });
  assert.equal(status.status, 'completed');
  assert.deepEqual(status.progress, {
    total_model_days: 8,
    completed: 8,
    failed: 0,
    pending: 0,
    skipped: 2,
  });
  assert.deepEqual(status.warnings, ['Skipped 1 date without price data: 2025-11-12']);
  assert.deepEqual(detailsOf(status), [
    '2025-11-10 model-a completed',
    '2025-11-10 model-b completed',
    '2025-11-11 model-a completed',
    '2025-11-11 model-b completed',
    '2025-11-12 model-a skipped No price data',
    '2025-11-12 model-b skipped No price data',
    '2025-11-13 model-a completed',
    '2025-11-13 model-b completed',
  ]);
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 no_trade        => 10000 10000 0
      2025-11-11 buy AAPL 10 102 => 8980 10010 10 AAPL:10
      2025-11-13 no_trade        => 8980 10030 20 AAPL:10`),
  );
});

test('the job goes through its states in order', async (t) => {
  const service = await startTestService(t, scripted({}));
  service.database.statement('CREATE TABLE seen (status TEXT)').run();
  service.database
    .statement(
      'CREATE TRIGGER watch AFTER UPDATE OF status ON jobs BEGIN INSERT INTO seen VALUES (new.status); END',
    )
    .run();
  const trigger = await service.post('/simulate/trigger', {
    start_date: '2025-11-10',
    end_date: '2025-11-10',
  });
  assert.equal(trigger.body.status, 'pending');
  await service.waitForJob(trigger.body.job_id);
  assert.deepEqual(
    service.database
      .statement('SELECT status FROM seen')
      .all()
      .map((row) => row['status']),
    ['downloading_data', 'running', 'completed'],
  );
});

test('dates run strictly in sequence while the models of one date overlap', async (t) => {
  const service = await startTestService(t, scripted({ '*': [[['wait', 150]]] }));
  const { details } = await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-13' });
  const spans = (date: string) =>
    details
      .filter((detail: any) => detail.date === date)
      .map((detail: any) => [detail.started_at, detail.completed_at]);
  const [first, second] = [spans('2025-11-10'), spans('2025-11-11')];
  assert.ok(first[0][0] < first[1][1] && first[1][0] < first[0][1], 'the models of a date overlap');
  assert.ok(
    Math.max(...first.map(([, end]: string[]) => Date.parse(end as string))) <=
      Math.min(...second.map(([start]: string[]) => Date.parse(start as string))),
  );
});

test('no more models run side by side than the setting allows', async (t) => {
  const models = ['a', 'b', 'c', 'd', 'e'];
  const service = await startTestService(t, {
    ...scripted({ '*': [[['wait', 60]]] }),
    settings: { maxParallelModels: 2 },
  });
  const { details } = await service.runJob({
    start_date: '2025-11-10',
    end_date: '2025-11-10',
    models,
  });
  const atOnce = details.map(
    ({ started_at }: any) =>
      details.filter(
        (other: any) => other.started_at <= started_at && started_at < other.completed_at,
      ).length,
  );
  assert.equal(Math.max(...atOnce), 2);
});

test('a repeated job runs nothing again and is completed', async (t) => {
  const service = await startTestService(t, scripted({ 'model-a 2025-11-10': buyAapl(1) }));
  const request = { start_date: '2025-11-10', end_date: '2025-11-11' };
  const first = await service.runJob(request);
  const before = service.database.statement('SELECT count(*) AS count FROM trading_sessions').get();
  const again = await service.runJob(request);
  assert.equal(again.status, 'completed');
  assert.deepEqual(again.warnings, ['Skipped 4 model-days already completed']);
  assert.deepEqual(again.progress, {
    total_model_days: 4,
    completed: 4,
    failed: 0,
    pending: 0,
    skipped: 4,
  });
  assert.deepEqual(
    service.database.statement('SELECT count(*) AS count FROM trading_sessions').get(),
    before,
  );
  assert.equal((await service.get(`/results?job_id=${first.job_id}`)).body.count, 4);
  assert.equal((await service.get(`/results?job_id=${again.job_id}`)).body.count, 0);
});

test('a failed day leaves its log but no position, and the next day continues from the last completed one', async (t) => {
  const service = await startTestService(
    t,
    scripted({
      'model-a 2025-11-10': buyAapl(10),
      'model-a 2025-11-11': [...buyAapl(10), [['fail', 'The provider is down']]],
      'model-a 2025-11-13': buyAapl(10),
    }),
  );
  const status = await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-13' });
  assert.equal(status.status, 'partial');
  assert.equal(detailsOf(status)[2], '2025-11-11 model-a failed The provider is down');
  assert.deepEqual(status.progress, {
    total_model_days: 8,
    completed: 7,
    failed: 1,
    pending: 0,
    skipped: 2,
  });
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 buy AAPL 10 100 => 9000 10010 10 AAPL:10
      2025-11-13 buy AAPL 10 104 => 7960 10060 50 AAPL:20`),
  );
  const { sessions } = (
    await service.get('/reasoning?model=model-a&date=2025-11-11&include_full_conversation=true')
  ).body;
  assert.equal(sessions.length, 1);
  assert.deepEqual(sessions[0].positions, []);
  assert.deepEqual(
    sessions[0].conversation.map(({ role }: any) => role),
    ['user', 'assistant', 'tool'],
  );
});

test('a job in which every model-day failed is failed', async (t) => {
  const service = await startTestService(t, scripted({ '*': [[['fail', 'no']]] }));
  const status = await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-10' });
  assert.deepEqual([status.status, status.error, status.progress.failed], ['failed', null, 2]);
});

test('a model that exceeds its steps is stopped by the parent', async (t) => {
  const service = await startTestService(t, {
    configuration,
    prices: PRICES,
    agent: inProcesses(agentFixture('never-stops')),
  });
  const status = await service.runJob({
    start_date: '2025-11-10',
    end_date: '2025-11-10',
    models: ['model-a'],
  });
  assert.equal(
    status.details[0].error,
    'The model process broke the protocol: it continued after 5 steps',
  );
});

test('a day that reaches its step limit ends there, its last calls executed, with a note', async (t) => {
  const limited = {
    ...configuration,
    agent_config: { stock_symbols: ['AAPL', 'MSFT'], max_steps: 2 },
  };
  const models = ['model-0']; // it gives orders on that day, in its second step
  const service = await startTestService(t, { configuration: limited, prices: PRICES });
  const status = await service.runJob({ start_date: '2025-11-17', end_date: '2025-11-17', models });
  assert.equal(status.status, 'completed');
  const { sessions } = (await service.get('/reasoning')).body;
  const noted = sessions.filter(
    (session: any) =>
      session.session_summary === 'Reached the limit of 2 steps; the day ended there.',
  );
  assert.ok(
    noted.some(({ positions }: any) => positions[0].action_type === 'buy'),
    JSON.stringify(sessions),
  );
});

test('a model-day has a time limit', async (t) => {
  const service = await startTestService(t, {
    configuration,
    prices: PRICES,
    agent: inProcesses(agentFixture('hangs')),
    settings: { modelDayTimeoutMs: 200 },
  });
  const status = await service.runJob({
    start_date: '2025-11-10',
    end_date: '2025-11-10',
    models: ['model-a'],
  });
  assert.equal(status.details[0].error, 'The model-day took longer than 0.2 seconds');
});

test('the portfolio continues over weekends and from job to job', async (t) => {
  const service = await startTestService(
    t,
    scripted({
      'model-a 2025-11-14': buyAapl(10),
      'model-a 2025-11-17': [[['sell', { symbol: 'AAPL', amount: 10 }]]],
    }),
  );
  await service.runJob({ start_date: '2025-11-14', end_date: '2025-11-14' });
  await service.runJob({ start_date: '2025-11-17', end_date: '2025-11-17' });
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-14 buy AAPL 10 106  => 8940 10010 10 AAPL:10
      2025-11-17 sell AAPL 10 108 => 10020 10020 10`),
  );
});

test('resume mode: each model continues after its own last day, and a new one runs only the end date', async (t) => {
  const service = await startTestService(t, scripted({}));
  await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-10', models: ['model-a'] });
  await service.runJob({ start_date: '2025-11-13', end_date: '2025-11-13', models: ['model-b'] });
  const { body } = await service.post('/simulate/trigger', {
    end_date: '2025-11-14',
    models: ['model-a', 'model-b', 'model-c'],
  });
  assert.equal(body.message, 'Simulation job created for 4 dates, 3 models (resume mode)');
  const status = await service.waitForJob(body.job_id);
  assert.deepEqual(detailsOf(status), [
    '2025-11-11 model-a completed',
    "2025-11-11 model-b skipped Before the model's resume date",
    "2025-11-11 model-c skipped Before the model's resume date",
    '2025-11-12 model-a skipped No price data',
    "2025-11-12 model-b skipped Before the model's resume date",
    "2025-11-12 model-c skipped Before the model's resume date",
    '2025-11-13 model-a completed',
    '2025-11-13 model-b skipped Already completed',
    "2025-11-13 model-c skipped Before the model's resume date",
    '2025-11-14 model-a completed',
    '2025-11-14 model-b completed',
    '2025-11-14 model-c completed',
  ]);
});

test('resume mode keeps to the start dates when it replaces', async (t) => {
  const service = await startTestService(t, scripted({}));
  await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-10', models: ['model-a'] });
  await service.runJob({ start_date: '2025-11-11', end_date: '2025-11-11', models: ['model-b'] });
  const status = await service.runJob({ end_date: '2025-11-13', replace_existing: true });
  assert.equal(detailsOf(status)[1], "2025-11-11 model-b skipped Before the model's resume date");
});

test('a job of only holidays is completed, a job without any prices fails with the reason', async (t) => {
  const service = await startTestService(t, scripted({}));
  const holiday = await service.runJob({ start_date: '2025-11-12', end_date: '2025-11-12' });
  assert.deepEqual([holiday.status, holiday.error], ['completed', null]);
  const unknown = await service.runJob({ start_date: '2025-11-24', end_date: '2025-11-25' });
  assert.deepEqual(
    [unknown.status, unknown.error],
    [
      'failed',
      'No trading dates available after price data preparation: neither MASSIVE_API_KEY nor ALPHAADVANTAGE_API_KEY is set; import-prices reads price files',
    ],
  );
  assert.deepEqual(unknown.progress, {
    total_model_days: 4,
    completed: 4,
    failed: 0,
    pending: 0,
    skipped: 4,
  });
});

test('a date without prices is skipped while its neighbours run', async (t) => {
  const service = await startTestService(t, scripted({}));
  const status = await service.runJob({ start_date: '2025-11-17', end_date: '2025-11-18' });
  assert.equal(status.status, 'completed');
  assert.ok(
    status.warnings.includes('Skipped 1 date without price data: 2025-11-18'),
    String(status.warnings),
  );
});

test('one symbol without prices blocks no date, and an extra one changes nothing', async (t) => {
  const lonely = { ...configuration, agent_config: { stock_symbols: ['AAPL', 'NONE'] } };
  const service = await startTestService(t, {
    ...scripted({ 'model-a 2025-11-10': buyAapl(1) }),
    configuration: lonely,
    settings: { deploymentMode: 'DEV', alphaVantageApiKey: 'set', autoDownloadPriceData: false },
  });
  const status = await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-10' });
  assert.equal(status.status, 'completed');
  assert.deepEqual(status.warnings, [
    'Price data is not downloaded: AUTO_DOWNLOAD_PRICE_DATA is false',
    '1 of 2 symbols have no price data on some of the dates',
  ]);
});

test('symbols with real prices keep to them in DEV, others get synthetic ones', async (t) => {
  const mixed = { ...configuration, agent_config: { stock_symbols: ['AAPL', 'MADE'] } };
  const service = await startTestService(t, { ...scripted({}), configuration: mixed });
  await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-12' });
  const sources = service.database
    .statement(
      `SELECT DISTINCT symbol, source FROM price_data WHERE symbol IN ('AAPL', 'MADE') ORDER BY symbol`,
    )
    .all();
  assert.deepEqual(
    sources.map((row) => ({ ...row })),
    [
      { symbol: 'AAPL', source: 'csv' },
      { symbol: 'MADE', source: 'synthetic' },
    ],
  );
});

for (const [count, rest] of [
  [6, 'All model-days of 1 more model will fail'],
  [8, 'All model-days of 3 more models will fail'],
] as const)
  test(`models that are not in the configuration are named in warnings, and many are counted: ${count}`, async (t) => {
    const service = await startTestService(t, {
      ...scripted({}),
      settings: { deploymentMode: 'PROD', preserveDevData: null },
    });
    const models = Array.from({ length: count }, (_, place) => `stranger-${place}`);
    const { body } = await service.post('/simulate/trigger', {
      start_date: '2025-11-10',
      end_date: '2025-11-10',
      models,
    });
    const named = models
      .slice(0, 5)
      .map(
        (model) => `Model '${model}' is not in the server configuration; its model-days will fail`,
      );
    assert.deepEqual(body.warnings, [...named, rest]);
    await service.waitForJob(body.job_id);
  });

test('in PROD nothing is synthetic, and an unknown model is a warning and a failure', async (t) => {
  const service = await startTestService(t, {
    ...scripted({}),
    settings: { deploymentMode: 'PROD', preserveDevData: null },
  });
  const { body } = await service.post('/simulate/trigger', {
    start_date: '2025-11-10',
    end_date: '2025-11-18',
    models: ['stranger'],
  });
  assert.deepEqual(body.warnings, [
    "Model 'stranger' is not in the server configuration; its model-days will fail",
  ]);
  const status = await service.waitForJob(body.job_id);
  assert.equal(status.details[0].error, "Model 'stranger' is not in the server configuration");
  assert.equal(
    service.database
      .statement(`SELECT count(*) AS count FROM price_data WHERE source = 'synthetic'`)
      .get()?.['count'],
    0,
  );
});

test('the model-day that runs has its conversation readable as it happens', async (t) => {
  const service = await startTestService(
    t,
    scripted({ '*': [[['get_portfolio', {}]], [['wait', 400]]] }),
  );
  const { body } = await service.post('/simulate/trigger', {
    start_date: '2025-11-10',
    end_date: '2025-11-10',
    models: ['model-a'],
  });
  const logged = service.database.statement('SELECT 1 FROM reasoning_logs WHERE message_index = 2');
  await until('three messages', () => logged.get());
  const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
  const [session] = sessions;
  assert.equal(session.total_messages, 3);
  assert.deepEqual(
    [session.completed_at, session.positions, session.conversation.length],
    [null, [], 3],
  );
  await service.waitForJob(body.job_id);
});

test('in DEV, where models cost nothing, a cost limit has no effect', async (t) => {
  const service = await startTestService(t, {
    ...scripted({}),
    configuration: {
      ...configuration,
      agent_config: { ...configuration.agent_config, max_cost_usd: 0.01 },
    },
  });
  const { status, warnings } = await service.runJob({
    start_date: '2025-11-10',
    end_date: '2025-11-10',
  });
  assert.deepEqual([status, warnings], ['completed', null]);
});

const precedence: [name: string, models: number, maxParallelModels: number, niceness: number][] = [
  ['few models, although many may run', 2, 200, 10],
  ['many models, few at a time', 101, 3, 10],
  ['many models side by side', 101, 200, 19],
];
for (const [name, models, maxParallelModels, niceness] of precedence) {
  test(`${name}: their children have niceness ${niceness}`, async (t) => {
    const agent = scriptedAgent({});
    const seen = new Set<number | undefined>();
    const startChild: typeof agent.startChild = (program, rights, modelDay) => {
      seen.add(rights.niceness);
      return agent.startChild(program, rights, modelDay);
    };
    const entries = Array.from({ length: models }, (_, index) => ({
      signature: `model-${index}`,
      enabled: true,
    }));
    const service = await startTestService(t, {
      ...scripted({}),
      configuration: { ...configuration, models: entries },
      agent: { ...agent, startChild },
      settings: { maxParallelModels },
    });
    await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-10' });
    assert.deepEqual([...seen], [niceness]);
  });
}
