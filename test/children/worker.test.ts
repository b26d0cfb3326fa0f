import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inProcesses } from '../support/agent-here.ts';
import { agentFixture, scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { startTestService, twoModels } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { assertLike, tableOf } from '../support/text-table.ts';
import { until } from '../support/until.ts';
import { inLongForm } from '../support/long.ts';

/** Monday to Friday, with a holiday on Wednesday; two symbols that make the universe. */
const PRICES = ['10', '11', '13', '14', '17']
  .flatMap((day, index) => [
    `AAPL 2025-11-${day} ${100 + 2 * index} ${101 + 2 * index}`,
    `MSFT 2025-11-${day} ${200 + 2 * index} ${201 + 2 * index}`,
  ])
  .join('\n');

const agent_config = { stock_symbols: ['AAPL', 'MSFT'], max_steps: 5 };
const configuration = { ...twoModels, agent_config };
const buyAapl = (amount: number): [string, unknown][][] => [[['buy', { symbol: 'AAPL', amount }]]];

/** Options of a service over these prices whose models follow a script. */
const scripted = (script: Parameters<typeof scriptedAgent>[0]) => ({
  configuration,
  prices: PRICES,
  agent: scriptedAgent(script),
});

const MONDAY = { start_date: '2025-11-10', end_date: '2025-11-10' };
const UNTIL_THURSDAY = { start_date: '2025-11-10', end_date: '2025-11-13' };

/** A job's model-days in short: `date model status reason`. */
function detailsOf(status: any): string[] {
  return status.details.map((detail: any) =>
    [detail.date, detail.model, detail.status, detail.error]
      .filter((part) => part !== null)
      .join(' '),
  );
}

test('a job runs every model on every date, skips the holiday and says so, and goes through its states in order; repeated it runs nothing', async (t) => {
  const service = await startTestService(t, {
    ...scripted({ 'model-a 2025-11-11': buyAapl(10) }),
    // In DEV, where models cost nothing, a cost limit has no effect.
    configuration: { ...configuration, agent_config: { ...agent_config, max_cost_usd: 0.01 } },
  });
  const watch = 'AFTER UPDATE OF status ON jobs BEGIN INSERT INTO seen VALUES (new.status); END';
  for (const sql of ['CREATE TABLE seen (status TEXT)', `CREATE TRIGGER watch ${watch}`])
    service.database.statement(sql).run();
  const { body } = await service.post('/simulate/trigger', UNTIL_THURSDAY);
  assert.equal(body.status, 'pending');
  const status = await service.waitForJob(body.job_id);
  const seen = rowsAsText(service.database, 'SELECT status FROM seen');
  assert.deepEqual(seen, ['downloading_data', 'running', 'completed']);
  assert.deepEqual(Object.values(status.progress), [8, 8, 0, 0, 2, 0]);
  assert.deepEqual(status.warnings, ['Skipped 1 date without prices: 2025-11-12']);
  const days = ['10 completed', '11 completed', '12 skipped No price data', '13 completed'];
  assert.deepEqual(
    detailsOf(status),
    days.flatMap((day) =>
      ['a', 'b'].map((model) => `2025-11-${day.replace(' ', ` model-${model} `)}`),
    ),
  );
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 no_trade        => 10000 10000 0
      2025-11-11 buy AAPL 10 102 => 8980 10010 10 AAPL:10
      2025-11-13 no_trade        => 8980 10030 20 AAPL:10`),
  );
  // Repeated it runs nothing again, and is completed.
  const sessions = service.database.statement('SELECT count(*) AS count FROM trading_sessions');
  const before = sessions.get();
  const again = await service.runJob(UNTIL_THURSDAY);
  assert.deepEqual(Object.values(again.progress), [8, 8, 0, 0, 8, 0]);
  assert.equal(again.warnings[0], 'Skipped 6 completed model-days');
  assert.deepEqual([again.status, sessions.get()], ['completed', before]);
  assert.equal((await service.get(`/results?job_id=${again.job_id}`)).body.count, 0);
});

test('dates run strictly in sequence, and of the models of one date as many side by side as the setting allows', async (t) => {
  const service = await startTestService(t, {
    ...scripted({ '*': [[['wait', 60]]] }),
    settings: { maxParallelModels: 2 },
  });
  const models = ['a', 'b', 'c', 'd', 'e'];
  const { details } = await service.runJob({ ...MONDAY, end_date: '2025-11-11', models });
  const atOnce = details.map(({ started_at: start }: any) => {
    const others = details.filter(
      (other: any) => other.started_at <= start && start < other.completed_at,
    );
    assert.equal(new Set(others.map(({ date }: any) => date)).size, 1);
    return others.length;
  });
  assert.equal(Math.max(...atOnce), 2);
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
  const status = await service.runJob(UNTIL_THURSDAY);
  assert.equal(status.status, 'partial');
  assert.equal(detailsOf(status)[2], '2025-11-11 model-a failed The provider is down');
  assert.deepEqual(Object.values(status.progress), [8, 7, 1, 0, 2, 0]);
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

test('a model-day that exceeds its steps is stopped by the parent, one has a time limit, and a job in which every model-day failed is failed', async (t) => {
  const stops = await startTestService(t, {
    configuration,
    prices: PRICES,
    agent: inProcesses(agentFixture('never-stops')),
  });
  const waits = await startTestService(t, {
    ...scripted({ '*': [[['wait', 60_000]]] }),
    settings: { modelDayTimeoutMs: 200 },
  });
  for (const [service, reason] of [
    [stops, 'The model process broke the protocol: it continued after 5 steps'],
    [waits, 'The model-day took longer than 0.2 seconds'],
  ] as const) {
    const { status, error, details } = await service.runJob({ ...MONDAY, models: ['model-a'] });
    assert.deepEqual([status, error, details[0].error], ['failed', null, reason]);
  }
});

test('resume mode: each model continues after its own last day, and a new one runs only the end date', async (t) => {
  const service = await startTestService(t, scripted({}));
  await service.runJob({ ...MONDAY, models: ['model-a'] });
  await service.runJob({ start_date: '2025-11-13', end_date: '2025-11-13', models: ['model-b'] });
  const { body } = await service.post('/simulate/trigger', {
    end_date: '2025-11-14',
    models: ['model-a', 'model-b', 'model-c'],
  });
  assert.equal(body.message, 'Simulation job created for 4 dates, 3 models (resume mode)');
  const status = await service.waitForJob(body.job_id);
  assert.deepEqual(status.warnings.slice(1), [
    'Skipped 1 completed model-day',
    'Skipped 5 model-days: model-b runs from 2025-11-14 on, model-c runs from 2025-11-14 on',
    'Skipped 1 date without prices: 2025-11-12',
  ]);
  const early = "skipped Before the model's resume date";
  assert.deepEqual(
    detailsOf(status),
    tableOf(`
      2025-11-11 | completed             | ${early}                  | ${early}
      2025-11-12 | skipped No price data | ${early}                  | ${early}
      2025-11-13 | completed             | skipped Already completed | ${early}
      2025-11-14 | completed             | completed                 | completed
    `).flatMap(([date, ...ends]) =>
      ends.map((end, index) => `${date} model-${'abc'[index]} ${end}`),
    ),
  );
});

test('a job of only holidays is completed, and one symbol without prices blocks no date', async (t) => {
  const service = await startTestService(t, {
    ...scripted({}),
    configuration: { ...twoModels, agent_config: { stock_symbols: ['AAPL', 'NONE'] } },
    settings: { alphaVantageApiKey: 'set', autoDownloadPriceData: false },
  });
  const holiday = await service.runJob({ start_date: '2025-11-12', end_date: '2025-11-12' });
  assert.deepEqual([holiday.status, holiday.error], ['completed', null]);
  const { status, warnings } = await service.runJob(MONDAY);
  assert.equal(status, 'completed');
  assertLike(warnings, [
    '…not downloaded: AUTO_DOWNLOAD_PRICE_DATA is false',
    '1 of 2 symbols has no prices…: NONE',
  ]);
});

test('symbols with real prices keep to them in DEV, others get synthetic ones', async (t) => {
  const mixed = { ...configuration, agent_config: { stock_symbols: ['AAPL', 'MADE'] } };
  const service = await startTestService(t, { ...scripted({}), configuration: mixed });
  await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-12' });
  const sources = `SELECT DISTINCT symbol, source FROM price_data WHERE symbol IN ('AAPL', 'MADE') ORDER BY symbol`;
  assert.deepEqual(rowsAsText(service.database, sources), ['AAPL csv', 'MADE synthetic']);
});

test('in PROD nothing is synthetic, and models that are not in the configuration are named in warnings, many are counted, and fail', async (t) => {
  const service = await startTestService(t, {
    ...scripted({}),
    settings: { deploymentMode: 'PROD', preserveDevData: null },
  });
  for (const [count, rest] of [
    [6, 'All model-days of 1 more model will fail'],
    [8, 'All model-days of 3 more models will fail'],
  ] as const) {
    const models = Array.from({ length: count }, (_, place) => `stranger-${place}`);
    const request = { ...MONDAY, end_date: '2025-11-18', models };
    const { body } = await service.post('/simulate/trigger', request);
    const reasons = models.map((model) => `Model '${model}' is not in the server configuration`);
    const named = reasons.slice(0, 5).map((reason) => `${reason}; its model-days will fail`);
    assert.deepEqual(body.warnings.slice(0, named.length + 1), [...named, rest]);
    const { details } = await service.waitForJob(body.job_id);
    assert.equal(details[0].error, reasons[0]);
  }
  const made = `SELECT 1 FROM price_data WHERE source = 'synthetic'`;
  assert.equal(service.database.statement(made).get(), undefined);
});

test('a job whose symbols have no prices names some that have', async (t) => {
  const settings = { deploymentMode: 'PROD', preserveDevData: null } as const;
  const prices = `${PRICES}\nNVDA 2025-11-07 1 1\nZ 2025-11-28 1 1`;
  const runWith = async (symbols: string[]) => {
    const agent_config = { ...configuration.agent_config, stock_symbols: symbols };
    const own = {
      ...scripted({}),
      prices,
      settings,
      configuration: { ...twoModels, agent_config },
    };
    const service = await startTestService(t, own);
    return (await service.runJob({ ...MONDAY, start_date: '2025-11-03', end_date: '2025-11-03' }))
      .error;
  };
  const [none, some] = await Promise.all([runWith(['KO', 'PEP']), runWith(['KO', 'AAPL'])]);
  assert.match(none, /no prices for any of its dates \(neither MASSIVE_API_KEY/);
  assert.match(none, /AAPL, MSFT, NVDA \(2025-11-07 to 2025-11-17\).*stock_symbols/);
  assert.match(
    some,
    /\(neither MASSIVE_API_KEY nor \S+ is set\)\. Import them with import-prices$/,
  );
});

test('the model-day that runs has its conversation readable as it happens', async (t) => {
  const service = await startTestService(
    t,
    scripted({ '*': [[['get_portfolio', {}]], [['wait', 400]]] }),
  );
  const { body } = await service.post('/simulate/trigger', { ...MONDAY, models: ['model-a'] });
  const logged = service.database.statement('SELECT 1 FROM reasoning_logs WHERE message_index = 2');
  await until('three messages', () => logged.get());
  const [session] = (await service.get('/reasoning?include_full_conversation=true')).body.sessions;
  const { completed_at: end, positions, conversation, total_messages: total } = session;
  assert.deepEqual([end, positions, conversation.length, total], [null, [], 3, 3]);
  await service.waitForJob(body.job_id);
});

test(
  'of many models few at a time are no burden, side by side their children come last',
  inLongForm,
  async (t) => {
    const agent = scriptedAgent({});
    const seen = new Set<number | undefined>();
    const startChild: typeof agent.startChild = (program, rights, modelDay) => {
      seen.add(rights.niceness);
      return agent.startChild(program, rights, modelDay);
    };
    const models = Array.from({ length: 101 }, (_, index) => `model-${index}`);
    const options = { ...scripted({}), agent: { ...agent, startChild } };
    const service = await startTestService(t, { ...options, settings: { maxParallelModels: 200 } });
    for (const [count, niceness] of [
      [3, 10],
      [101, 19],
    ] as const) {
      await service.runJob({ ...MONDAY, models: models.slice(0, count), replace_existing: true });
      assert.deepEqual([...seen], [niceness]);
      seen.clear();
    }
  },
);
