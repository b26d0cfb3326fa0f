import assert from 'node:assert/strict';
import { type TestContext, before, test } from 'node:test';
import { routes } from '../../src/routes.ts';
import { scriptedAgent } from '../support/agents.ts';
import { USUAL_TERMS } from '../support/job-status.ts';
import { type TestService, startTestService, twoModels } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

const configuration = { ...twoModels, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } };
const PRICES = `
  AAPL 2025-11-10 100.5 101.25
  AAPL 2025-11-11 102 103
  MSFT 2025-11-10 200 201
  MSFT 2025-11-11 202 203`;
const script = {
  'model-a 2025-11-10': [
    [
      ['buy', { symbol: 'MSFT', amount: 2 }],
      ['buy', { symbol: 'AAPL', amount: 3 }],
    ],
  ],
  'model-b 2025-11-11': [[['buy', { symbol: 'AAPL', amount: 1_000 }]]],
} satisfies Parameters<typeof scriptedAgent>[0];

let service: TestService;
let job: any;
before(async (t) => {
  service = await startTestService(t as TestContext, {
    configuration,
    prices: PRICES,
    agent: scriptedAgent(script),
  });
  job = await service.runJob({ start_date: '2025-11-10', end_date: '2025-11-11' });
});

const DEPLOYMENT = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };

test('every response fits its schema', async () => {
  const answers = ['/results', '/reasoning?include_full_conversation=true', '/audit', '/health'];
  for (const url of [`/simulate/status/${job.job_id}`, ...answers]) {
    const path = url.replace(/\?.*/, '').replace(job.job_id, '{job_id}');
    const schema = routes.find((route) => route.path === path)?.response;
    assert.ok(schema);
    await validBody(service, url, schema);
  }
});

test('the status, field by field', async () => {
  const { body } = await service.get(`/simulate/status/${job.job_id}`);
  const { created_at, started_at, completed_at, total_duration_seconds, ...rest } = body;
  const { details, entries, ...own } = rest;
  assert.deepEqual(own, {
    job_id: job.job_id,
    status: 'completed',
    progress: {
      ...{ total_model_days: 4, completed: 4, failed: 0, pending: 0, skipped: 0, cancelled: 0 },
    },
    date_range: ['2025-11-10', '2025-11-11'],
    models: ['model-a', 'model-b'],
    universe: null,
    study: null,
    error: null,
    usage: { cost_usd: null, model_days_without_cost: 4 },
    terms: USUAL_TERMS,
    replace_existing: false,
    warnings: [
      '2 of 2 symbols may lack dividends on these dates (AAPL, MSFT): unknown dividends are not paid, and the figures ' +
        'are marked. Import a file of dividends with import-prices, or download them with download-prices --dividends',
    ],
    warning_codes: ['unknown_dividends'],
    ...DEPLOYMENT,
  });
  assert.deepEqual(
    entries.map(({ family, runs, entry }: any) => [family, runs, entry.kind, entry.parameters]),
    ['model-a', 'model-b'].map((model) => [model, [model], 'simulated', { model }]),
  );
  assert.equal(details.length, 4);
  assert.ok(created_at <= started_at && started_at < completed_at);
  assert.equal(total_duration_seconds, (Date.parse(completed_at) - Date.parse(started_at)) / 1000);
});

test('results: every position by date, model and action, with exact figures', async () => {
  const { body } = await service.get('/results');
  const rows = body.results.map((record: any) =>
    [
      `${record.date} ${record.model} ${record.action_id} ${record.action_type}`,
      ...[record.symbol, record.amount, record.price, record.cash, record.portfolio_value],
      ...[record.daily_profit, record.daily_return_pct],
    ].join(' '),
  );
  assert.deepEqual(rows, [
    '2025-11-10 model-a 1 buy MSFT 2 200 9600 10002 2 0.02',
    '2025-11-10 model-a 2 buy AAPL 3 100.5 9298.5 10004.25 4.25 0.0425',
    '2025-11-10 model-b 1 no_trade    10000 10000 0 0',
    '2025-11-11 model-a 1 no_trade    9298.5 10013.5 9.25 0.0925',
    '2025-11-11 model-b 1 no_trade    10000 10000 0 0',
  ]);
  assert.deepEqual(body.results[1].holdings, [
    { symbol: 'AAPL', quantity: 3 },
    { symbol: 'MSFT', quantity: 2 },
  ]);
  assert.deepEqual([body.count, body.results[1].job_id], [5, job.job_id]);
});

const filters: [query: string, count: number][] = [
  ['', 5],
  ['?model=model-a', 3],
  ['?date=2025-11-10&model=model-a', 2],
  ['?job_id=unknown', 0],
  ['?date=never', 0],
  ['?start_date=2025-11-11', 2],
  ['?end_date=2025-11-10', 3],
  ['?start_date=2025-11-11&end_date=2025-11-11&model=model-b', 1],
  ['?model=&date=', 5],
  ['?unknown=', 5],
  ['?model=&model=model-a', 3],
  ["?model=' OR 1=1 --", 0],
];
test('results: filters', async () => {
  for (const [query, count] of filters) {
    const { status, body } = await service.get(`/results${query}`);
    assert.deepEqual([status, body.count, body.results.length], [200, count, count], query);
  }
});

test('reasoning: sessions by date and model, with their neighbours', async () => {
  const { body } = await service.get('/reasoning');
  assert.deepEqual(
    body.sessions.map((session: any) => `${session.date} ${session.model} ${session.conversation}`),
    ['10 model-a', '10 model-b', '11 model-a', '11 model-b'].map((own) => `2025-11-${own} null`),
  );
  const [first, , second] = body.sessions;
  assert.deepEqual(first.positions[1], {
    ...{ action_id: 2, action_type: 'buy', symbol: 'AAPL', amount: 3, price: 100.5 },
    ...{ cash_after: 9298.5, portfolio_value: 10_004.25 },
  });
  const { previous_date, next_date, opening } = first;
  assert.deepEqual([previous_date, next_date, opening], [null, '2025-11-11', null]);
  assert.deepEqual([second.previous_date, second.next_date], ['2025-11-10', null]);
});

test('reasoning: conversations, what a day opened with and what it used, on request', async () => {
  const flag = 'include_full_conversation';
  const { sessions } = (await service.get(`/reasoning?model=model-a&${flag}=true`)).body;
  const { details } = (await service.get(`/simulate/status/${sessions[1].job_id}`)).body;
  const records = (await service.get('/results?model=model-a&date=2025-11-10')).body.results;
  const { cash, portfolio_value, holdings } = records.at(-1);
  const start = { cash: 10_000, portfolio_value: 10_000, holdings: [] };
  assert.deepEqual(sessions[0].opening, { date: null, ...start });
  assert.deepEqual(sessions[1].opening, { date: '2025-11-10', cash, portfolio_value, holdings });
  assert.ok(holdings.length > 0);
  const { status, started_at, completed_at, date, model, ...usage } = details.find(
    (one: any) => one.model === 'model-a' && one.date === '2025-11-11',
  );
  assert.deepEqual(sessions[1].usage, usage, 'as in the status of its job');
  assert.ok(usage.steps > 0);
  for (const value of ['true', 'TRUE', '1', 'yes']) {
    const path = `/reasoning?model=model-b&date=2025-11-11&${flag}=${value}`;
    const [session] = (await service.get(path)).body.sessions;
    assert.deepEqual([session.total_messages, session.session_summary], [4, 'Done.']);
    const lines = session.conversation.map(
      (one: any) => `${one.message_index} ${one.role} ${one.tool_name} ${one.tool_input}`,
    );
    assert.deepEqual(lines, [
      ...['0 user null null', '1 assistant null null'],
      '2 tool buy {"symbol":"AAPL","amount":1000}',
      '3 assistant null null',
    ]);
    assert.match(session.conversation[2].content, /^\{"error":"Cannot buy 1000 AAPL/);
  }
});

test('health: healthy at the time of the check, unhealthy with status 200 without its tables', async (t) => {
  let now = Date.parse('2025-12-01T12:00:00.123Z');
  const own = await startTestService(t, { clock: () => new Date(now) });
  const check = async (health: object) => {
    const { status, body } = await own.get('/health');
    const timestamp = new Date(now).toISOString();
    assert.deepEqual([status, body], [200, { ...health, timestamp, ...DEPLOYMENT }]);
    now += 24 * 60 * 60 * 1000;
  };
  await check({ status: 'healthy', database: 'connected' });
  own.database.statement('ALTER TABLE jobs RENAME TO hidden').run();
  await check({ status: 'unhealthy', database: 'disconnected' });
  own.database.statement('ALTER TABLE hidden RENAME TO jobs').run();
  await check({ status: 'healthy', database: 'connected' });
});

test('an unexpected failure is a 500 with a reference to the log, and reveals nothing else', async () => {
  service.database.statement('ALTER TABLE positions RENAME TO hidden').run();
  const { status, body } = await service.get('/results');
  service.database.statement('ALTER TABLE hidden RENAME TO positions').run();
  assert.equal(status, 500);
  const reference = /^Internal server error: unexpected failure \(reference ([0-9a-f]{8})\)$/.exec(
    body.detail,
  )?.[1];
  assert.deepEqual(Object.keys(body), ['detail']);
  const logged = service.logLines.find((line) => line['reference'] === reference);
  assert.match(String(logged?.['error']), /no such table/);
});
