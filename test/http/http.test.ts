import assert from 'node:assert/strict';
import { type TestContext, before, test } from 'node:test';
import { routes } from '../../src/http/routes.ts';
import { scriptedAgent } from '../support/agents.ts';
import { USUAL_TERMS } from '../support/job-status.ts';
import { type TestService, startTestService, twoModels } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';
import { send } from '../support/wire.ts';

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
const JSON_TYPE = { 'content-type': 'application/json' };
const trigger = (body: unknown, headers: Record<string, string> = JSON_TYPE) => ({
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Method and path (or a whole request) → status and detail. */
const refusals: [
  name: string,
  path: string,
  request: { method?: string; headers?: Record<string, string>; body?: string },
  status: number,
  detail: RegExp,
][] = [
  [
    'no end_date',
    '/simulate/trigger',
    trigger({}),
    422,
    /^end_date: end_date is required and cannot be null or empty$/,
  ],
  [
    'end_date null',
    '/simulate/trigger',
    trigger({ end_date: null }),
    422,
    /^end_date: end_date is required and cannot be null or empty$/,
  ],
  [
    'end_date empty',
    '/simulate/trigger',
    trigger({ end_date: '' }),
    422,
    /^end_date: end_date is required and cannot be null or empty$/,
  ],
  [
    'a date in another form',
    '/simulate/trigger',
    trigger({ start_date: '2025/01/05', end_date: '2025-1-5' }),
    422,
    /^start_date: Invalid date format: 2025\/01\/05\. Expected YYYY-MM-DD; end_date: Invalid date format: 2025-1-5\. Expected YYYY-MM-DD$/,
  ],
  [
    'a date that does not exist',
    '/simulate/trigger',
    trigger({ end_date: '2025-02-30' }),
    422,
    /^end_date: Invalid date format: 2025-02-30\. Expected YYYY-MM-DD$/,
  ],
  [
    'a date that is a number',
    '/simulate/trigger',
    trigger({ end_date: 20250105 }),
    422,
    /^end_date: Invalid date format: 20250105/,
  ],
  [
    'a start date that is an object',
    '/simulate/trigger',
    trigger({ start_date: {}, end_date: '2025-11-10' }),
    422,
    /^start_date: Invalid date format: \{\}/,
  ],
  [
    'a date nested beyond any stack',
    '/simulate/trigger',
    trigger(`{"end_date":${'['.repeat(60_000)}${']'.repeat(60_000)}}`),
    422,
    /^end_date: [^]{1,300}$/,
  ],
  [
    'as many wrong models as a body holds',
    '/simulate/trigger',
    trigger(`{"end_date":"2025-11-10","models":[${'1,'.repeat(65_000)}1]}`),
    422,
    /^models\[0\]: expected a string; [^]*; and 649\d\d more$/,
  ],
  [
    'as many unknown fields as a body holds',
    '/simulate/trigger',
    trigger(`{${Array.from({ length: 11_000 }, (_, index) => `"k${index}":1`)}}`),
    422,
    /^[^]{1,2000}$/,
  ],
  [
    'unknown fields, of which one is named',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', symbols: [], bench: 1 }),
    422,
    /^symbols: is not a field of this request$/,
  ],
  [
    'objects where a text belongs',
    '/simulate/trigger',
    trigger(`{"end_date":[${'{"a":1},'.repeat(16_000)}1]}`),
    422,
    /^end_date: [^]{1,300}$/,
  ],
  [
    'as many items without a field as a body holds',
    '/simulate/trigger',
    trigger(`[${'1,'.repeat(65_000)}1]`),
    422,
    /^body: expected a JSON object$/,
  ],
  [
    'more problems than anybody reads',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', models: Array.from({ length: 200 }, () => 1) }),
    422,
    /^models\[0\]: expected a string; .*models\[19\]: expected a string; and 180 more$/,
  ],
  [
    'a compressed body',
    '/simulate/trigger',
    trigger('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    415,
    /must not be compressed, got Content-Encoding gzip$/,
  ],
  [
    'models that are no list',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', models: 'model-a' }),
    422,
    /^models: expected an array of model signatures$/,
  ],
  [
    'a model that is a number',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', models: ['a', 5] }),
    422,
    /^models\[1\]: expected a string$/,
  ],
  [
    'an empty signature',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', models: [''] }),
    422,
    /^models\[0\]: must not be empty$/,
  ],
  [
    'a signature with control characters',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', models: ['a\u0000b'] }),
    422,
    /^models\[0\]: must not contain a control character \(U\+0000\)$/,
  ],
  [
    'a lone surrogate',
    '/simulate/trigger',
    trigger('{"end_date":"2025-11-10","models":["\\ud800"]}'),
    422,
    /^models\[0\]: must not contain half a character \(U\+D800\)$/,
  ],
  [
    'a signature as long as a body',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', models: ['x'.repeat(130_000)] }),
    422,
    /^models\[0\]: must not be longer than 200 characters$/,
  ],
  [
    'too many models',
    '/simulate/trigger',
    trigger({
      end_date: '2025-11-10',
      models: Array.from({ length: 2_001 }, (_, index) => `m${index}`),
    }),
    422,
    /^models: at most 2000 models$/,
  ],
  [
    'replace_existing as text',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', replace_existing: 'true' }),
    422,
    /^replace_existing: expected true or false$/,
  ],
  [
    'an unknown field',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', symbols: [] }),
    422,
    /^symbols: is not a field of this request$/,
  ],
  [
    'the retired date_range',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', date_range: [] }),
    422,
    /^date_range: .*use start_date and end_date$/,
  ],
  [
    'the retired config_path',
    '/simulate/trigger',
    trigger({ end_date: '2025-11-10', config_path: '/etc/passwd' }),
    422,
    /^config_path: .*the path of the configuration is the server's own$/,
  ],
  [
    '__proto__ as a field',
    '/simulate/trigger',
    trigger('{"end_date":"2025-11-10","__proto__":{"replace_existing":true}}'),
    422,
    /^__proto__: is not a field/,
  ],
  [
    'a year 0000',
    '/simulate/trigger',
    trigger({ start_date: '0000-09-04', end_date: '0000-09-04' }),
    422,
    /^start_date: Invalid date: 0000-09-04\. The earliest is 1900-01-01; end_date: Invalid date: 0000-09-04\./,
  ],
  [
    'a day before 1900',
    '/reasoning?date=1899-12-31',
    {},
    400,
    /^Invalid date: 1899-12-31\. The earliest is 1900-01-01$/,
  ],
  [
    'a body that is a list',
    '/simulate/trigger',
    trigger([]),
    422,
    /^body: expected a JSON object$/,
  ],
  [
    'a body that is null',
    '/simulate/trigger',
    trigger('null'),
    422,
    /^body: expected a JSON object$/,
  ],
  ['a body that is not JSON', '/simulate/trigger', trigger('{"end_date":'), 400, /not valid JSON/],
  [
    'an empty body',
    '/simulate/trigger',
    { method: 'POST', headers: JSON_TYPE },
    400,
    /not valid JSON/,
  ],
  [
    'another content type',
    '/simulate/trigger',
    trigger('{}', { 'content-type': 'text/plain' }),
    415,
    /Content-Type must be application\/json, got text\/plain/,
  ],
  [
    'a form',
    '/simulate/trigger',
    trigger('end_date=2025-11-10', { 'content-type': 'application/x-www-form-urlencoded' }),
    415,
    /Content-Type must be/,
  ],
  [
    'a body over the limit',
    '/simulate/trigger',
    trigger(`"${'x'.repeat(1_100_000)}"`),
    413,
    /larger than 131072 bytes/,
  ],
  [
    'start after end',
    '/simulate/trigger',
    trigger({ start_date: '2025-11-11', end_date: '2025-11-10' }),
    400,
    /is after end_date/,
  ],
  ['the future', '/simulate/trigger', trigger({ end_date: '2025-12-02' }), 400, /future/],
  [
    'no weekday',
    '/simulate/trigger',
    trigger({ start_date: '2025-11-15', end_date: '2025-11-16' }),
    400,
    /weekday/,
  ],
  ['the trigger by GET', '/simulate/trigger', {}, 405, /has no method GET; it has POST/],
  [
    'a result to delete',
    '/results',
    { method: 'DELETE' },
    405,
    /has no method DELETE; it has GET, HEAD/,
  ],
  ['an unknown path', '/nowhere', {}, 404, /There is no \/nowhere/],
  ['a path that is too deep', '/health/deep', {}, 404, /There is no/],
  ['a status without a job', '/simulate/status/', {}, 404, /There is no/],
  ['an unknown job', '/simulate/status/no-such-job', {}, 404, /^Job no-such-job not found$/],
  [
    'an unknown job with an encoded slash',
    '/simulate/status/a%2Fb',
    {},
    404,
    /^Job a\/b not found$/,
  ],
  ['broken percent-encoding', '/simulate/status/%zz', {}, 400, /percent-encoding/],
  [
    'a date in another form',
    '/reasoning?date=2025/11/10',
    {},
    400,
    /^Invalid date format: 2025\/11\/10\. Expected YYYY-MM-DD$/,
  ],
  [
    'a date that does not exist',
    '/reasoning?date=2025-02-30',
    {},
    400,
    /^Invalid date format: 2025-02-30\. Expected YYYY-MM-DD$/,
  ],
  [
    'nothing that matches',
    '/reasoning?model=stranger',
    {},
    404,
    /No trading sessions found matching the provided filters/,
  ],
  [
    'a flag that is a fruit',
    '/reasoning?include_full_conversation=banana',
    {},
    422,
    /^include_full_conversation: expected true or false$/,
  ],
  [
    'a parameter given twice',
    '/reasoning?model=a&model=b',
    {},
    422,
    /^model: given more than once$/,
  ],
  [
    'a parameter that is misspelt',
    '/reasoning?modle=a&dtae=b',
    {},
    422,
    /^modle: is not a query parameter of this path; there are job_id, date, model, .*include_full_conversation/,
  ],
  [
    'a filter that is misspelt',
    '/results?modle=a',
    {},
    422,
    /^modle: is not a query parameter .*; there are job_id, /,
  ],
  [
    'a parameter of a path without parameters',
    '/health?x=1',
    {},
    422,
    /^x: is not a query parameter of this path; there are none$/,
  ],
  [
    'a parameter of the trigger',
    '/simulate/trigger?end_date=2025-11-10',
    trigger({ end_date: '2025-11-10' }),
    422,
    /^end_date: is not a query parameter of this path; there are none$/,
  ],
  ['two slashes in front', '//simulate/trigger', {}, 404, /^There is no \/\/simulate\/trigger; /],
  [
    'two slashes in front of a POST',
    '//simulate/trigger',
    trigger({}),
    404,
    /^There is no \/\/simulate\/trigger; /,
  ],
  [
    'a date beside a range',
    '/results?date=2025-11-10&end_date=2025-11-11',
    {},
    422,
    /^date: cannot be combined with start_date/,
  ],
  [
    'a date beside a range',
    '/reasoning?date=2025-11-10&start_date=2025-11-09',
    {},
    422,
    /^date: cannot be combined/,
  ],
  [
    'a date that does not exist',
    '/results?start_date=2025-02-30',
    {},
    422,
    /^start_date: Invalid date format: 2025-02-30/,
  ],
  [
    'a range that ends before it starts',
    '/reasoning?start_date=2025-11-11&end_date=2025-11-10',
    {},
    400,
    /^Invalid date range/,
  ],
  [
    'a range without a session',
    '/reasoning?start_date=2025-11-12',
    {},
    404,
    /^No trading sessions found matching/,
  ],
  [
    'a filter given twice',
    '/results?date=2025-11-10&date=2025-11-11',
    {},
    422,
    /^date: given more than once$/,
  ],
];
for (const [name, path, request, status, detail] of refusals) {
  test(`${request.method ?? 'GET'} ${path.slice(0, 40)}: ${name} is ${status}`, async () => {
    const response = await fetch(service.url + path, request);
    const body = (await response.json()) as { detail: string };
    assert.equal(response.status, status, body.detail);
    assert.match(body.detail, detail);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.deepEqual(
      { ...body, detail: '' },
      { detail: '', ...(path.startsWith('/results') ? {} : DEPLOYMENT) },
    );
    if (status === 405) assert.match(String(response.headers.get('allow')), /GET, HEAD|POST/);
  });
}

test('every response fits its schema', async () => {
  const answers: [path: string, url: string][] = [
    ['/simulate/status/{job_id}', `/simulate/status/${job.job_id}`],
    ['/results', '/results'],
    ['/reasoning', '/reasoning?include_full_conversation=true'],
    ['/audit', '/audit'],
    ['/health', '/health'],
  ];
  for (const [path, url] of answers) {
    const schema = routes.find((route) => route.path === path)?.response;
    assert.ok(schema);
    await validBody(service, url, schema);
  }
});

test('the status, field by field', async () => {
  const { body } = await service.get(`/simulate/status/${job.job_id}`);
  const {
    created_at,
    started_at,
    completed_at,
    total_duration_seconds,
    details,
    entries,
    ...rest
  } = body;
  assert.deepEqual(rest, {
    job_id: job.job_id,
    status: 'completed',
    progress: { total_model_days: 4, completed: 4, failed: 0, pending: 0, skipped: 0 },
    date_range: ['2025-11-10', '2025-11-11'],
    models: ['model-a', 'model-b'],
    universe: null,
    error: null,
    usage: { cost_usd: null, model_days_without_cost: 4 },
    terms: USUAL_TERMS,
    replace_existing: false,
    warnings: null,
    ...DEPLOYMENT,
  });
  assert.deepEqual(
    entries.map(({ family, runs, entry }: any) => [family, runs, entry.kind, entry.parameters]),
    ['model-a', 'model-b'].map((model) => [model, [model], 'simulated', { model }]),
  );
  assert.ok(created_at <= started_at && started_at < completed_at);
  assert.equal(total_duration_seconds, (Date.parse(completed_at) - Date.parse(started_at)) / 1000);
  assert.deepEqual(Object.keys(details[0]), [
    'date',
    'model',
    'status',
    'error',
    'started_at',
    'completed_at',
    'duration_seconds',
    'steps',
    'requests',
    'prompt_tokens',
    'completion_tokens',
    'cached_tokens',
    'reasoning_tokens',
    'cost_usd',
  ]);
});

test('results: every position by date, model and action, with exact figures', async () => {
  const { body } = await service.get('/results');
  assert.deepEqual(Object.keys(body), ['results', 'count']);
  assert.equal(body.count, 5);
  const short = body.results.map((record: any) => [
    record.date,
    record.model,
    record.action_id,
    record.action_type,
    record.symbol,
    record.amount,
    record.price,
    record.cash,
    record.portfolio_value,
    record.daily_profit,
    record.daily_return_pct,
  ]);
  assert.deepEqual(short, [
    ['2025-11-10', 'model-a', 1, 'buy', 'MSFT', 2, 200, 9600, 10_002, 2, 0.02],
    ['2025-11-10', 'model-a', 2, 'buy', 'AAPL', 3, 100.5, 9298.5, 10_004.25, 4.25, 0.0425],
    ['2025-11-10', 'model-b', 1, 'no_trade', null, null, null, 10_000, 10_000, 0, 0],
    ['2025-11-11', 'model-a', 1, 'no_trade', null, null, null, 9298.5, 10_013.5, 9.25, 0.0925],
    ['2025-11-11', 'model-b', 1, 'no_trade', null, null, null, 10_000, 10_000, 0, 0],
  ]);
  assert.deepEqual(body.results[1].holdings, [
    { symbol: 'AAPL', quantity: 3 },
    { symbol: 'MSFT', quantity: 2 },
  ]);
  assert.equal(body.results[1].job_id, job.job_id);
});

const filters: [query: string, count: number][] = [
  ['', 5],
  ['?model=model-a', 3],
  ['?date=2025-11-10', 3],
  ['?date=2025-11-10&model=model-a', 2],
  ['?job_id=unknown', 0],
  ['?date=never', 0],
  ['?start_date=2025-11-10', 5],
  ['?start_date=2025-11-11', 2],
  ['?start_date=2025-11-12', 0],
  ['?end_date=2025-11-10', 3],
  ['?start_date=2025-11-10&end_date=2025-11-11', 5],
  ['?start_date=2025-11-11&end_date=2025-11-11&model=model-b', 1],
  ['?model=&date=', 5],
  ['?unknown=', 5],
  ['?model=&model=model-a', 3],
  ["?model=' OR 1=1 --", 0],
];
for (const [query, count] of filters) {
  test(`GET /results${query} has ${count} records`, async () => {
    const { status, body } = await service.get(`/results${query}`);
    assert.deepEqual([status, body.count, body.results.length], [200, count, count]);
  });
}

test('reasoning: sessions by date and model, conversations only on request', async () => {
  const { body } = await service.get('/reasoning');
  assert.equal(body.count, 4);
  assert.deepEqual(
    body.sessions.map((session: any) => `${session.date} ${session.model}`),
    ['2025-11-10 model-a', '2025-11-10 model-b', '2025-11-11 model-a', '2025-11-11 model-b'],
  );
  assert.deepEqual(
    body.sessions.map(({ conversation }: any) => conversation),
    [null, null, null, null],
  );
  assert.deepEqual(body.sessions[0].positions[1], {
    action_id: 2,
    action_type: 'buy',
    symbol: 'AAPL',
    amount: 3,
    price: 100.5,
    cash_after: 9298.5,
    portfolio_value: 10_004.25,
  });
  const neighbours = body.sessions.map(({ previous_date, next_date, opening, usage }: any) => [
    previous_date,
    next_date,
    opening,
    usage,
  ]);
  assert.deepEqual(
    [neighbours[0], neighbours[2]],
    [
      [null, '2025-11-11', null, null],
      ['2025-11-10', null, null, null],
    ],
  );
  const whole = (await service.get('/reasoning?model=model-a&include_full_conversation=true')).body
    .sessions;
  const { details } = (await service.get(`/simulate/status/${whole[1].job_id}`)).body;
  const records = (await service.get('/results?model=model-a&date=2025-11-10')).body.results;
  const { cash, portfolio_value, holdings } = records.at(-1);
  assert.ok(holdings.length > 0);
  assert.deepEqual(whole[0].opening, {
    date: null,
    cash: 10_000,
    portfolio_value: 10_000,
    holdings: [],
  });
  assert.deepEqual(whole[1].opening, { date: '2025-11-10', cash, portfolio_value, holdings });
  const { status, started_at, completed_at, date, model, ...usage } = details.find(
    (one: any) => one.model === 'model-a' && one.date === '2025-11-11',
  );
  assert.deepEqual(whole[1].usage, usage, 'as in the status of its job');
  assert.ok(usage.steps > 0);
  for (const flag of ['true', 'TRUE', '1', 'yes']) {
    const { sessions } = (
      await service.get(
        `/reasoning?model=model-b&date=2025-11-11&include_full_conversation=${flag}`,
      )
    ).body;
    assert.equal(sessions[0].total_messages, 4);
    assert.deepEqual(
      sessions[0].conversation.map(({ message_index, role, tool_name, tool_input }: any) => [
        message_index,
        role,
        tool_name,
        tool_input,
      ]),
      [
        [0, 'user', null, null],
        [1, 'assistant', null, null],
        [2, 'tool', 'buy', '{"symbol":"AAPL","amount":1000}'],
        [3, 'assistant', null, null],
      ],
    );
    assert.match(sessions[0].conversation[2].content, /^\{"error":"Cannot buy 1000 AAPL/);
    assert.equal(sessions[0].session_summary, 'Done.');
  }
});

test('health: healthy, and unhealthy with status 200 while the database cannot be queried', async (t) => {
  const timestamp = '2025-12-01T12:00:00.123Z';
  const service = await startTestService(t, { clock: () => new Date(timestamp) });
  const healthy = { status: 'healthy', database: 'connected', timestamp, ...DEPLOYMENT };
  assert.deepEqual((await service.get('/health')).body, healthy);
  service.database.statement('ALTER TABLE jobs RENAME TO hidden').run();
  const broken = await service.get('/health');
  service.database.statement('ALTER TABLE hidden RENAME TO jobs').run();
  assert.deepEqual(
    [broken.status, broken.body],
    [200, { ...healthy, status: 'unhealthy', database: 'disconnected' }],
  );
  assert.deepEqual((await service.get('/health')).body, healthy);
});

test('each health check has the time of its own', async (t) => {
  let now = Date.parse('2025-12-01T12:00:00Z');
  const { get } = await startTestService(t, { clock: () => new Date(now) });
  for (let day = 0; day < 5; day += 1) {
    now += 24 * 60 * 60 * 1000;
    assert.equal((await get('/health')).body.timestamp, new Date(now).toISOString());
  }
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

test('HEAD responds like GET, without the body', async () => {
  for (const path of ['/health', '/results']) {
    const response = await fetch(service.url + path, { method: 'HEAD' });
    assert.deepEqual([response.status, await response.text()], [200, '']);
  }
});

test('after a refused body the same connection continues', async () => {
  const big = 'x'.repeat(1_200_000);
  const request = `POST /simulate/trigger HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${big.length}\r\n\r\n${big}`;
  const answers = await send(
    service.url,
    `${request}GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  assert.match(answers, /^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 OK/);
});
