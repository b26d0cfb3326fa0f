import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { csvRows } from '../../src/core/text/csv.ts';
import { actionTypes } from '../../src/core/domain/vocabulary.ts';
import { resultColumns } from '../../src/core/database/records/position-records.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { storePrices } from '../support/prices.ts';
import { startTestService, type TestService, twoModels } from '../support/service.ts';

const FORMULA = '=cmd("x"), or so';
const PRICES = `
  AAPL 2025-11-10 100.5 99.25
  MSFT 2025-11-10 200 201`;
const script: Script = {
  'model-a 2025-11-10': [
    [
      ['buy', { symbol: 'MSFT', amount: 2 }],
      ['buy', { symbol: 'AAPL', amount: 30 }],
    ],
  ],
};

let service: TestService;
let jobId: string;
before(async (t) => {
  service = await startTestService(t as TestContext, {
    configuration: { ...twoModels, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } },
    prices: PRICES,
  });
  const day = { start_date: '2025-11-10', end_date: '2025-11-10' };
  jobId = (await runJobHere(service, script, { ...day, models: ['model-a', FORMULA] })).job_id;
});

const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(service.url + path, init);
  return { response, text: await response.text() };
};

test('results as CSV: a header line, a line per record, holdings in one column, formulas defused', async () => {
  const { response, text } = await ask('/results?format=csv');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  assert.equal(response.headers.get('content-disposition'), 'attachment; filename="results.csv"');
  const { results } = (await service.get('/results')).body;
  const columns = resultColumns.filter((name) => name !== 'currency');
  assert.deepEqual(columns, Object.keys(results[0]));
  const withoutIds = text.replaceAll(jobId, 'JOB').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  const lines = withoutIds.split('\r\n').map((line) => line.replace(/^\d+,/, 'ID,'));
  assert.deepEqual(lines, [
    resultColumns.join(','),
    `ID,JOB,2025-11-10,"'=cmd(""x""), or so",1,no_trade,,,,10000,10000,0,0,TIME,,USD,`,
    'ID,JOB,2025-11-10,model-a,1,buy,MSFT,2,200,9600,10002,2,0.02,TIME,MSFT:2,USD,',
    'ID,JOB,2025-11-10,model-a,2,buy,AAPL,30,100.5,6585,9964.5,-35.5,-0.355,TIME,AAPL:30 MSFT:2,USD,',
    '',
  ]);
});

test('jobs and decisions as CSV: the fields of the JSON, those inside others too, and lists in one cell', async () => {
  const table = async (path: string) => csvRows((await ask(`${path}format=csv`)).text);
  const { decisions } = (await service.get('/decisions')).body;
  const cells = (row: object) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')]));
  const found = await table('/decisions?');
  assert.deepEqual(
    found.map((row) => ({ ...row, model: row['model']?.replace(/^'/, '') })),
    decisions.map((row: object) => ({ ...cells(row), currency: 'USD' })),
  );
  const paged = await table(`/decisions?limit=1&before=${decisions[0].id}&`);
  assert.deepEqual(paged, found.slice(1, 2));
  const [job] = (await service.get('/jobs')).body.jobs;
  const [row = {}, ...others] = await table('/jobs?');
  assert.deepEqual(others, []);
  const { progress, usage, models, most_frequent_error, warnings, warning_codes, ...plain } = job;
  assert.deepEqual([most_frequent_error, warnings, warning_codes], [null, null, null]);
  assert.deepEqual(row, {
    ...cells(plain),
    ...Object.fromEntries(
      Object.entries(cells(progress)).map(([name, one]) => [`progress_${name}`, one]),
    ),
    ...Object.fromEntries(
      Object.entries(cells(usage)).map(([name, one]) => [`usage_${name}`, one]),
    ),
    models: models.join('; '),
    ...{ most_frequent_error_reason: '', most_frequent_error_model_days: '' },
    ...{ warnings: '', warning_codes: '' },
  });
});

const rows: [path: string, accept: string, type: string, lines: number][] = [
  ['/results', 'text/csv', 'text/csv', 4],
  ['/results?model=model-a', 'text/csv', 'text/csv', 3],
  ['/results?model=stranger', 'text/csv', 'text/csv', 1],
  ['/results?date=foo', 'text/csv', 'text/csv', 1],
  ['/results?format=csv', 'application/json', 'text/csv', 4],
  ['/results?format=json', 'text/csv', 'application/json', 0],
  ['/results', '*/*', 'application/json', 0],
  ['/results?format=', '*/*', 'application/json', 0],
  ['/health', 'text/csv', 'application/json', 0],
];
test('the format is that of the query, else that of the Accept header', async () => {
  for (const [path, accept, type, lines] of rows) {
    const { response, text } = await ask(path, { headers: { accept } });
    const what = `${path} with Accept: ${accept}`;
    assert.equal(response.headers.get('content-type')?.split(';')[0], type, what);
    const vary = path.startsWith('/results') ? 'Accept-Encoding, Accept' : 'Accept-Encoding';
    assert.deepEqual([response.status, response.headers.get('vary')], [200, vary], what);
    if (type === 'text/csv') assert.equal(text.split('\r\n').length - 1, lines, what);
  }
  const head = await ask('/results?format=csv', { method: 'HEAD' });
  assert.deepEqual([head.response.status, head.text], [200, '']);
  assert.match(String(head.response.headers.get('content-type')), /^text\/csv/);
});

test('an error before the first line is an error response, also for CSV', async () => {
  service.database.statement('ALTER TABLE positions RENAME TO hidden').run();
  const { response, text } = await ask('/results?format=csv');
  service.database.statement('ALTER TABLE hidden RENAME TO positions').run();
  assert.equal(response.status, 500);
  assert.match(JSON.parse(text).detail, /^Internal server error: /);
  assert.equal(response.headers.get('content-disposition'), null);
});

test('a dividend is a record like any other, in JSON, in CSV and in the interface description', async () => {
  const { database } = service;
  storePrices(database, 'AAPL 2025-11-11 100 100\nMSFT 2025-11-11 200 200');
  database
    .statement(
      `INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES ('AAPL', '2025-11-11', 123456)`,
    )
    .run();
  const day = { start_date: '2025-11-11', end_date: '2025-11-11' };
  await runJobHere(service, {}, { ...day, models: ['model-a'] });
  const [record] = (await service.get('/results?model=model-a&date=2025-11-11')).body.results;
  const { action_id, action_type, symbol, amount, price, cash } = record;
  const found = [action_id, action_type, symbol, amount, price, cash];
  assert.deepEqual(found, [1, 'dividend', 'AAPL', 30, 0.1235, 6588.7037]);
  const { text } = await ask('/results?format=csv&model=model-a&date=2025-11-11');
  assert.match(
    text,
    /,1,dividend,AAPL,30,0.1235,6588.7037,9988.7037,24.2037,0.2429,[^,]+,AAPL:30 MSFT:2,USD,\r\n.*,2,no_trade,/,
  );
  const { schemas } = (await service.get('/openapi.json')).body.components;
  assert.deepEqual(schemas.ActionType.enum, actionTypes);
});
