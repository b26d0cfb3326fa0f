import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { before, test, type TestContext } from 'node:test';
import { fitAnswer } from '../../src/features/mcp/fit.ts';
import { scriptedAgent, type Script } from '../support/agents.ts';
import { bearer, callTool, mcp, request } from '../support/mcp.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { tableOf } from '../support/text-table.ts';
import { until } from '../support/until.ts';

/** The service's own tools of the Model Context Protocol: they answer what the routes answer. */

const MOST = 40_000;
const script: Script = {
  '*': [
    [
      ['buy', { symbol: 'AAPL', amount: 1 }],
      ['sell', { symbol: 'AAPL', amount: 9_999 }],
    ],
  ],
};

let service: TestService;
let jobId: string;
before(async (t) => {
  service = await startTestService(t as TestContext, {
    agent: scriptedAgent(script),
    settings: { maxSimulationDays: 100 },
  });
  jobId = (await service.runJob({ start_date: '2025-08-04', end_date: '2025-11-07' })).job_id;
});

/** A tool, its arguments, and the request that answers the same. */
const tools = tableOf<[tool: string, args: string, path: string]>(`
  job_status     | {"job_id":"JOB"}                      | /simulate/status/JOB
  list_jobs      | {"limit":5}                           | /jobs?limit=5
  results        | {"model":"model-a","date":"2025-08-05"} | /results?model=model-a&date=2025-08-05
  performance    | {"models":"model-a,model-b"}          | /performance?models=model-a,model-b
  performance    | {"models":"model-a,model-b","by":"entry","job_id":null} | /performance?models=model-a,model-b&by=entry
  comparison     | {}                                    | /comparison
  decisions      | {"limit":3,"kind":"refusal"}          | /decisions?limit=3&kind=refusal
  reasoning      | {"date":"2025-08-05","include_full_conversation":true} | /reasoning?date=2025-08-05&include_full_conversation=true
  models         | {"study":""}                          | /models?study=
  price_coverage | {"symbol":"aapl"}                     | /prices/coverage?symbol=aapl
`);
test('each tool answers what its route answers, as text and as it is, unless that is too long', async () => {
  const cut: string[] = [];
  for (const [tool, args, path] of tools) {
    const own = JSON.parse(args.replaceAll('JOB', jobId));
    const { content, structuredContent, isError } = await callTool(service.url, tool, own);
    const { body } = await service.get(path.replaceAll('JOB', jobId));
    assert.equal(isError, false, content[0].text);
    assert.deepEqual(JSON.parse(content[0].text), structuredContent, tool);
    if (content.length === 1) assert.deepEqual(structuredContent, body, tool);
    else cut.push(tool);
  }
  assert.deepEqual(cut, ['job_status', 'performance', 'performance']);
});

/** A tool, its arguments, and why it refuses them. */
const refusals = tableOf<[tool: string, args: string, why: string]>(`
  job_status  | {}                          | job_id: is required
  job_status  | {"job_id":"nope"}           | Job nope not found
  job_status  | {"job_id":"JOB","x":1}      | x: is not an argument of this tool; they are job_id
  results     | {"format":"csv"}            | format: is not an argument
  performance | {"table":"curve"}           | table: is not an argument
  results     | {"start_date":"2025-13-01"} | start_date: Invalid date format: 2025-13-01
  decisions   | {"limit":0}                 | limit: expected a whole number from 1 to 200
  decisions   | {"kind":{"a":1}}            | kind: expected a text
  results     | {"model":["model-a"]}       | model: expected a text
  comparison  | {"models":"nope"}           | no job has run nope
  start_job   | {}                          | end_date
  start_job   | {"end_date":"2025-11-07","Idempotency-Key":"k"} | Idempotency-Key: unknown field
  cancel_job  | {"job_id":"JOB"}            | Cannot cancel job
`);
test('a refusal is the result of the call, in the words of the route', async () => {
  for (const [tool, args, why] of refusals) {
    const own = JSON.parse(args.replaceAll('JOB', jobId));
    const { content, isError, structuredContent } = await callTool(service.url, tool, own);
    assert.deepEqual([isError, structuredContent], [true, undefined], tool);
    assert.ok(content[0].text.includes(why), content[0].text);
  }
});

test('a job is started and cancelled by tools, one that is over is not', async (t) => {
  const own = await startTestService(t, { agent: scriptedAgent({ '*': [[['wait', 60_000]]] }) });
  const started = await callTool(own.url, 'start_job', { end_date: '2025-11-10' });
  const { job_id, status } = started.structuredContent;
  assert.equal(status, 'pending');
  const running = own.database.statement(`SELECT 1 FROM job_details WHERE status = 'running'`);
  await until('the day to run', () => running.get());
  const { isError } = await callTool(own.url, 'cancel_job', { job_id });
  assert.equal(isError, false);
  assert.equal((await own.waitForJob(job_id)).status, 'cancelled');
  const over = await callTool(service.url, 'cancel_job', { job_id: jobId });
  assert.match(over.content[0].text, /Cannot cancel job .*: its status is completed/);
});

test('a long answer is cut to whole records, and says how many there are', async () => {
  const all = (await service.get('/results')).body;
  assert.ok(JSON.stringify(all).length > MOST);
  const { content, structuredContent } = await callTool(service.url, 'results', {});
  const [{ text }, { text: left }] = content;
  assert.ok(Buffer.byteLength(text) <= MOST);
  const { results, count } = structuredContent;
  assert.deepEqual(results, all.results.slice(0, results.length));
  assert.equal(count, results.length);
  assert.equal(
    left,
    `${count} of ${all.count} results are shown; ask for fewer by model, job_id, date, or start_date and end_date; GET /results has all over HTTP.`,
  );
  const status = await callTool(service.url, 'job_status', { job_id: jobId });
  const { details, terms } = status.structuredContent;
  assert.ok(details.length > 0 && terms.initial_cash > 0);
  const page = await callTool(service.url, 'decisions', { limit: 200 });
  const { decisions, next_before } = page.structuredContent;
  assert.equal(next_before, decisions.at(-1).id);
  const next = await callTool(service.url, 'decisions', { limit: 1, before: next_before });
  const whole = (await service.get('/decisions?limit=200')).body;
  const everything = service.database.statement('SELECT count(*) AS count FROM decisions').get();
  assert.match(
    page.content[1].text,
    RegExp(`^${decisions.length} of ${everything?.['count']} decis`),
  );
  assert.deepEqual(next.structuredContent.decisions[0], whole.decisions[decisions.length]);
  const sessions = await callTool(service.url, 'reasoning', { include_full_conversation: true });
  const total = (await service.get('/reasoning')).body.count;
  assert.ok(Buffer.byteLength(sessions.content[0].text) <= MOST);
  assert.match(sessions.content[1].text, RegExp(`of ${total} sessions`));
});

test('a record that is too large by itself loses its longest lists', () => {
  const record = (id: number, days: number) => ({
    id,
    name: 'model',
    curve: Array.from({ length: days }, (_, day) => ({ day, value: day * 1.5 })),
    trips: [1, 2, 3],
  });
  const fit = (records: object[], beside = {}) =>
    fitAnswer(JSON.stringify({ models: records, ...beside, count: records.length }), 4_000, {
      path: '/performance',
      list: 'models',
      rest: 'ask for fewer',
    });
  const { text, left } = fit([record(1, 5), record(2, 900), record(3, 5)]);
  const { models } = JSON.parse(text);
  assert.deepEqual(
    models.map((one: any) => [one.id, one.curve.length, one.trips.length]), // any: parsed JSON
    [
      [1, 5, 3],
      [2, 0, 3],
      [3, 5, 3],
    ],
  );
  assert.equal(left, 'Too long here, and left empty: curve; GET /performance has them over HTTP.');
  assert.equal(fit([record(1, 1)]).left, null);
  const beside = fit([record(1, 1)], { benchmark: record(0, 900) });
  assert.equal(JSON.parse(beside.text).models.length, 1);
  const large = { id: 1, name: 'x'.repeat(4_000) };
  assert.throws(() => fit([large]), /longer than 4000 bytes; GET \/performance has it over HTTP/);
  for (let days = 0; days < 120; days += 1)
    assert.ok(Buffer.byteLength(fit([record(1, days), record(2, days)]).text) <= 4_000);
});

test('the schemas of the arguments refer to nothing outside', async () => {
  const { body, text } = await mcp(service.url, request('tools/list'));
  assert.doesNotMatch(text, /\$ref|outputSchema/);
  for (const { name, inputSchema, description, annotations } of body.result.tools) {
    assert.equal(inputSchema.type, 'object', name);
    assert.equal(inputSchema.additionalProperties, false, name);
    assert.ok(description.length > 10, name);
    const changes = ['start_job', 'cancel_job'].includes(name);
    assert.equal(annotations.readOnlyHint, !changes, name);
  }
});

const READING = [
  ...['comparison', 'decisions', 'job_status', 'list_jobs', 'models', 'performance'],
  ...['price_coverage', 'reasoning', 'results'],
];
test('a token that may only read has no tools that change anything; a wrong one has none', async (t) => {
  const apiTokensFile = `${service.folder}/tokens.txt`;
  writeFileSync(apiTokensFile, 'all\nsome read-only\n', { mode: 0o600 });
  const own = await startTestService(t, { settings: { apiTokensFile } });
  const listed = async (token: string) => {
    const { body } = await mcp(own.url, request('tools/list'), bearer(token));
    return body.result.tools.map(({ name }: { name: string }) => name);
  };
  assert.equal((await listed('all')).length, READING.length + 2);
  assert.deepEqual((await listed('some')).sort(), READING);
  const refused = await callTool(own.url, 'start_job', { end_date: '2025-11-07' }, 'some');
  assert.equal(refused.code, -32_602);
  for (const headers of [{}, bearer('wrong')]) {
    const answer = await mcp(own.url, request('tools/list'), headers);
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="[^"]+"$/);
  }
  const found = await fetch(`${own.url}/.well-known/oauth-protected-resource/mcp`);
  assert.equal(found.status, 404);
});

test('a thousand calls at once are answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, id) => mcp(service.url, request('ping', {}, id))),
  );
  assert.deepEqual(
    answers.map(({ body }) => body.id),
    answers.map((_, id) => id),
  );
});
