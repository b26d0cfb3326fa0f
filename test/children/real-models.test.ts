import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { inProcesses, realAgentHere } from '../support/agent-here.ts';
import { agentFixture } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import {
  answers,
  type Behaviour,
  calls,
  fails,
  type ModelRequest,
  type ModelServer,
  type Reply,
  says,
  startModelServer,
  whereIs,
} from '../support/model-server.ts';
import { isRunning, modelDaysOf, noProc } from '../support/processes.ts';
import { PRICES, startProdService } from '../support/prod.ts';
import { storePrices } from '../support/prices.ts';
import { ask, installProgram, startServer } from '../support/program.ts';
import type { TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { leftToLongForm, inLongForm } from '../support/long.ts';

const ONE_DAY = { start_date: '2025-10-06', end_date: '2025-10-06' };
const WEEK = { start_date: '2025-10-06', end_date: '2025-10-10' };
const KEY = 'sk-real-models-0123456789';

const fixture = (name: string): any =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/completions/${name}.json`, import.meta.url), 'utf8'),
  );

/**
 * Buys and sells so that every repeated trade would show: more from day to day, and two calls in
 * one message.
 */
function trade(request: ModelRequest): Reply {
  const { date, step } = whereIs(request);
  const day = Number(date.slice(8));
  if (step === 1)
    return calls(['buy', { symbol: 'AAPL', amount: day }], ['buy', { symbol: 'MSFT', amount: 1 }]);
  if (step === 2) return calls(['sell', { symbol: 'AAPL', amount: 2 }]);
  return says('Traded.');
}

const errorOf = (status: any, model: string): string =>
  status.details.find((detail: any) => detail.model === model)?.error;

/** The conversation of a model's one day: roles with what they say. */
async function conversationOf({ get }: TestService, model: string): Promise<any[]> {
  const { body } = await get(`/reasoning?model=${model}&include_full_conversation=true`);
  return body.sessions[0].conversation;
}

test('a provider that fails every third request leaves the same positions as one that never fails', async (t) => {
  const faults: Reply[] = [
    fails(429, 'Slow down', { 'retry-after-ms': '3' }),
    fails(500, 'Oops'),
    { cut: 'sized' },
  ];
  const failing: Behaviour = (request, count) =>
    count % 3 === 0 ? (faults[(count / 3) % faults.length] as Reply) : trade(request);
  const [good, bad] = await Promise.all([startModelServer(t, trade), startModelServer(t, failing)]);
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [
      { signature: 'good', openai_base_url: good.baseUrl },
      { signature: 'bad', openai_base_url: bad.baseUrl },
    ],
  });
  const status = await service.runJob(WEEK);
  assert.equal(status.status, 'completed');
  const expected = ledgerOf(service.database, 'good');
  assert.equal(expected.length, 15);
  assert.deepEqual(ledgerOf(service.database, 'bad'), expected);
  assert.deepEqual([good.requests.length, bad.requests.length], [15, 22]);
  const sum = (model: string, field: string) =>
    status.details.reduce(
      (total: number, detail: any) => total + (detail.model === model ? detail[field] : 0),
      0,
    );
  assert.deepEqual([sum('good', 'steps'), sum('good', 'requests')], [15, 15]);
  assert.deepEqual([sum('bad', 'steps'), sum('bad', 'requests')], [15, 22]);
  assert.equal(
    service.logLines.filter(({ message }) => message === 'model request failed').length,
    7,
  );
});

test('as many models as the setting allows wait for their provider at the same time', async (t) => {
  const most = 20;
  const server: ModelServer = await startModelServer(t, async () => {
    await server.untilAsked(most); // which fewer would wait for in vain
    return says('Held.');
  });
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [{ signature: 'm', openai_base_url: server.baseUrl, repeats: most }],
    settings: { maxParallelModels: most },
  });
  const { status, progress } = await service.runJob(ONE_DAY);
  assert.deepEqual([status, progress.completed, server.requests.length], ['completed', most, most]);
});

test('tokens, requests and costs are in the details, and unknown values are null', async (t) => {
  const { body } = says('Done.');
  const withoutUsage = { body: { ...body, usage: null } };
  const [reporting, silent] = await Promise.all([
    startModelServer(t, [says('Done.')]),
    startModelServer(t, [withoutUsage]),
  ]);
  const prices = { input: 10, output: 30 };
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [
      {
        signature: 'cached',
        openai_base_url: reporting.baseUrl,
        price_per_million_tokens: { ...prices, cached_input: 1 },
      },
      { signature: 'priced', openai_base_url: reporting.baseUrl, price_per_million_tokens: prices },
      { signature: 'unpriced', openai_base_url: reporting.baseUrl },
      {
        signature: 'free',
        openai_base_url: reporting.baseUrl,
        price_per_million_tokens: { input: 0, output: 0 },
      },
      {
        signature: 'unreported',
        openai_base_url: silent.baseUrl,
        price_per_million_tokens: prices,
      },
    ],
  });
  const { details } = await service.runJob(ONE_DAY);
  const rows = details.map((detail: any) =>
    [
      detail.model,
      detail.steps,
      detail.requests,
      detail.prompt_tokens,
      detail.completion_tokens,
      detail.cached_tokens,
      detail.reasoning_tokens,
      detail.cost_usd,
    ].join(' '),
  );
  assert.deepEqual(rows, [
    'cached 1 1 1000 100 400 60 0.0094', // (600 × 10 + 400 × 1 + 100 × 30) / 1,000,000
    'free 1 1 1000 100 400 60 0',
    'priced 1 1 1000 100 400 60 0.013', // (1,000 × 10 + 100 × 30) / 1,000,000
    'unpriced 1 1 1000 100 400 60 ',
    'unreported 1 1     ',
  ]);
});

test('an impossible token count is recorded as unknown, with a note, and breaks no answer', async (t) => {
  const impossible = { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 100 };
  const server = await startModelServer(t, [
    { body: { ...says('Done.').body, usage: impossible } },
  ]);
  const prices = { input: 1_000_000, output: 1_000_000 };
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [
      { signature: 'boasting', openai_base_url: server.baseUrl, price_per_million_tokens: prices },
    ],
  });
  const { details } = await service.runJob({ start_date: '2025-10-06', end_date: '2025-10-07' });
  assert.deepEqual(
    details.map((detail: any) => [
      detail.status,
      detail.prompt_tokens,
      detail.completion_tokens,
      detail.cost_usd,
    ]),
    Array(2).fill(['completed', null, 100, null]),
  );
  assert.match(
    (await conversationOf(service, 'boasting')).at(-1).content,
    /an impossible number of tokens \(prompt 9007199254740991\)/,
  );
  const [{ usage }] = (await service.get('/performance')).body.models;
  assert.deepEqual(
    [usage.prompt_tokens, usage.completion_tokens, usage.model_days_without_cost],
    [null, 200, 2],
  );
});

test('of half an answer that ends in an error without words, no order is executed', async (t) => {
  const { body } = calls(['buy', { symbol: 'AAPL', amount: 1 }]);
  const { message } = (body as any).choices[0]; // any: a body of the test's own
  const piece = JSON.stringify({ choices: [{ index: 0, delta: message }] });
  const halves: Record<string, Reply> = {
    streamed: {
      pieces: [`data: ${piece}\n\n`, 'data: {"error":{"type":"quota"}}\n\ndata: [DONE]\n\n'],
    },
    named: { pieces: [`data: ${piece}\n\n`, 'event: error\ndata: {}\n\ndata: [DONE]\n\n'] },
    whole: { body: { ...body, error: { type: 'quota' } } },
    ended: { body: { ...body, choices: [{ index: 0, message, finish_reason: 'error' }] } },
  };
  const server = await startModelServer(t, (request) => halves[request.body.model] as Reply);
  const models = Object.keys(halves).map((signature) => ({
    ...{ signature, openai_base_url: server.baseUrl, stream: true },
  }));
  const service = await startProdService(t, { agent: await realAgentHere(), models });
  const status = await service.runJob(ONE_DAY);
  assert.deepEqual(
    Object.keys(halves).map((model) => errorOf(status, model)),
    ['quota', '{}', 'quota', 'its finish_reason is error'].map(
      (words) => `The model provider returned 200: ${words}`,
    ),
  );
  const { body: tools } = await service.get('/reasoning?include_full_conversation=true');
  assert.doesNotMatch(JSON.stringify(tools), /"executed"|"role":"tool"/);
  assert.equal(server.requests.length, models.length, 'none is asked again');
});

test('a model over its cost limit runs no further model-days of the job, and others continue', async (t) => {
  const server = await startModelServer(t, [says('Done.')]); // 0.013 dollars a day
  const silent = await startModelServer(t, [{ body: { ...says('Done.').body, usage: null } }]);
  const priced = {
    openai_base_url: server.baseUrl,
    price_per_million_tokens: { input: 10, output: 30 },
  };
  const cheap = {
    openai_base_url: server.baseUrl,
    price_per_million_tokens: { input: 5, output: 15 },
  };
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [
      { signature: 'agent-limit', ...priced },
      { signature: 'higher-limit', ...priced, max_cost_usd: 0.03 },
      { signature: 'lower-limit', ...cheap, max_cost_usd: 0.006 },
      { signature: 'no-money', ...priced, max_cost_usd: 0 },
      { signature: 'unpriced', openai_base_url: server.baseUrl },
      { signature: 'unreported', ...priced, openai_base_url: silent.baseUrl },
    ],
    agentConfig: { max_cost_usd: 0.013 },
  });
  const daysOf = (status: any, model: string) =>
    status.details
      .filter((detail: any) => detail.model === model)
      .map((detail: any) => detail.error ?? detail.status);
  const reached = 'Cost limit reached';
  const status = await service.runJob({ ...WEEK, end_date: '2025-10-07' });
  assert.deepEqual(daysOf(status, 'agent-limit'), ['completed', reached]);
  assert.deepEqual(daysOf(status, 'higher-limit'), ['completed', 'completed']);
  assert.deepEqual(daysOf(status, 'lower-limit'), ['completed', reached]);
  assert.deepEqual(daysOf(status, 'no-money'), [reached, reached]);
  assert.deepEqual(daysOf(status, 'unpriced'), ['completed', 'completed']);
  assert.equal(status.status, 'partial');
  assert.deepEqual(
    status.warnings.filter((warning: string) => /cost/i.test(warning)),
    [
      "The cost limit of 'unpriced' cannot be enforced: its entry has no price_per_million_tokens",
      "The cost limit of 'unreported' cannot be enforced: its provider does not report how many tokens it uses",
    ],
  );
  // The limit is one job's.
  const next = await service.runJob({ ...WEEK, models: ['agent-limit'] });
  assert.deepEqual(daysOf(next, 'agent-limit'), [
    'Already completed',
    'completed',
    reached,
    reached,
    reached,
  ]);
});

test('requests and model-days have time limits', inLongForm, async (t) => {
  const silent = await startModelServer(t, ['never']);
  const models = [{ signature: 'slow', openai_base_url: silent.baseUrl }];
  const agentConfig = { max_retries: 1 };
  const limits: [settings: object, error: string][] = [
    [
      { modelRequestTimeoutMs: 80 },
      'The model provider could not be reached: no response within 0.08 seconds (after 2 tries)',
    ],
    [{ modelDayTimeoutMs: 300 }, 'The model-day took longer than 0.3 seconds'],
  ];
  for (const [settings, error] of limits) {
    const service = await startProdService(t, { models, agentConfig, settings });
    const { details } = await service.runJob(ONE_DAY);
    assert.equal(details[0].error, error);
  }
});

test("a provider's refusal fails the model-day immediately, in its own words and without the key", async (t) => {
  const words: Record<number, string> = {
    400: `Unsupported parameter, Bearer ${KEY}`,
    401: `Incorrect API key provided: ${KEY}`,
    403: 'Not in your country',
    404: 'The model does not exist',
  };
  const refusing = Object.entries(words).map(([status, message]) => [
    fails(Number(status), message),
  ]);
  const servers = await Promise.all(refusing.map((replies) => startModelServer(t, replies)));
  const models = Object.keys(words).map((status, index) => ({
    signature: `m${status}`,
    openai_base_url: servers[index]?.baseUrl,
    openai_api_key: KEY,
  }));
  const service = await startProdService(t, { agent: await realAgentHere(), models });
  const status = await service.runJob(ONE_DAY);
  assert.equal(status.status, 'failed');
  for (const [code, message] of Object.entries(words)) {
    const shown = message.replace(KEY, '[key]');
    assert.equal(errorOf(status, `m${code}`), `The model provider returned ${code}: ${shown}`);
  }
  assert.deepEqual(
    servers.map(({ requests }) => requests.length),
    [1, 1, 1, 1],
  );
  assert.ok(!JSON.stringify([service.logLines, status]).includes(KEY));
});

test('a day ends at max_steps with its last calls executed', async (t) => {
  const server = await startModelServer(t, () => calls(['buy', { symbol: 'AAPL', amount: 1 }]));
  const models = [{ signature: 'busy', openai_base_url: server.baseUrl }];
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models,
    agentConfig: { max_steps: 3 },
  });
  const { details } = await service.runJob(ONE_DAY);
  assert.deepEqual(
    [details[0].status, details[0].steps, server.requests.length],
    ['completed', 3, 3],
  );
  assert.equal(ledgerOf(service.database, 'busy').length, 3);
  const { body } = await service.get('/reasoning');
  assert.equal(
    body.sessions[0].session_summary,
    'Reached the limit of 3 steps; the day ended there.',
  );
});

test('the dialects from the wire to the ledger', async (t) => {
  /** Each is one step of the day of `calls`; all but the last two buy 5 shares. */
  const steps = [
    ...[
      'arguments-double-encoded',
      'arguments-object',
      'numbers-as-text',
      'ids-missing',
      'function-call',
    ],
    ...['deepseek-reasoner', 'arguments-broken', 'unknown-tool'],
  ];
  const written = {
    choices: [
      { message: { content: fixture('written-tool-calls').hermes }, finish_reason: 'stop' },
    ],
  };
  const replies = {
    calls: [...steps.map((name) => ({ body: fixture(name) })), says('Done.')],
    written: [{ body: written }],
    odd: [answers({ content: 'A\u0000B \ud800 \u2028' })],
  };
  const names = Object.keys(replies);
  const servers = await Promise.all(
    Object.values(replies).map((behaviour) => startModelServer(t, behaviour)),
  );
  const models = names.map((signature, index) => ({
    signature,
    openai_base_url: servers[index]?.baseUrl,
  }));
  const service = await startProdService(t, { agent: await realAgentHere(), models });
  const status = await service.runJob(ONE_DAY);
  assert.equal(status.status, 'completed');
  assert.deepEqual(
    ledgerOf(service.database, 'calls'),
    ledger(`
      2025-10-06 buy AAPL 5 103 => 9485 10002.5 2.5  AAPL:5
      2025-10-06 buy AAPL 5 103 => 8970 10005 5      AAPL:10
      2025-10-06 buy AAPL 5 103 => 8455 10007.5 7.5  AAPL:15
      2025-10-06 buy AAPL 5 103 => 7940 10010 10     AAPL:20
      2025-10-06 buy AAPL 5 103 => 7425 10012.5 12.5 AAPL:25
      2025-10-06 buy AAPL 5 103 => 6910 10015 15     AAPL:30`),
  );
  for (const name of ['written', 'odd'])
    assert.deepEqual(
      ledgerOf(service.database, name),
      ledger('2025-10-06 no_trade => 10000 10000 0'),
      name,
    );
  // What is wrong with a call is an answer that the model reads in its next request.
  const requestAfter = (name: string) =>
    servers[0]?.requests[steps.indexOf(name) + 1]?.body.messages;
  assert.equal(
    requestAfter('arguments-broken').at(-1).content,
    '{"error":"The arguments of buy are not JSON."}',
  );
  assert.match(
    requestAfter('unknown-tool').at(-1).content,
    /^\{"error":"There is no tool named \\"short_sell\\"\. The tools are buy, sell, get_price,/,
  );
  // Prose trades nothing, and the log says so.
  const prose = await conversationOf(service, 'written');
  assert.deepEqual(
    prose.map(({ role }: any) => role),
    ['system', 'user', 'assistant', 'system'],
  );
  assert.match(
    prose[3].content,
    /seems to contain tool calls written as text\. They were not executed/,
  );
  assert.equal(servers[names.indexOf('written')]?.requests.length, 1);
  // Thoughts are kept beside the words, and sent back to providers that want them.
  const thinking = (await conversationOf(service, 'calls')).filter(
    ({ summary }) => summary === 'AAPL looks cheap.',
  );
  assert.deepEqual(
    thinking.map(({ role }) => role),
    ['assistant'],
  );
  assert.equal(requestAfter('deepseek-reasoner').at(-2).reasoning_content, 'AAPL looks cheap.');
});

test('a service that stops while its models wait stops immediately, and continues later: a provider gets back its signatures and thoughts', async (t) => {
  /**
   * As Gemini 3 and DeepSeek do it: what they signed must be there in every later request of the
   * day.
   */
  const strict =
    (name: string): Behaviour =>
    (request, count) => {
      const sent = fixture(name).choices[0].message;
      const given = request.body.messages[2];
      const isGiven =
        given?.reasoning_content === sent.reasoning_content &&
        given?.tool_calls[0].extra_content?.google.thought_signature ===
          sent.tool_calls[0].extra_content?.google.thought_signature;
      if (count === 1) return { body: fixture(name) };
      if (!isGiven) return fails(400, 'What I thought must be passed back');
      return count === 2 ? 'never' : says('Done.');
    };
  const names = ['gemini', 'deepseek-reasoner'];
  const servers = await Promise.all(names.map((name) => startModelServer(t, strict(name))));
  const models = names.map((signature, index) => ({
    signature,
    openai_base_url: servers[index]?.baseUrl,
  }));
  const first = await startProdService(t, { models });
  const { body } = await first.post('/simulate/trigger', ONE_DAY);
  await Promise.all(servers.map((server) => server.untilAsked(2)));
  const children = noProc ? [] : modelDaysOf(process.pid);
  await first.stop(); // their requests would last for minutes
  assert.equal(children.length, noProc ? 0 : 2);
  assert.deepEqual(children.filter(isRunning), []);
  const second = await startProdService(t, { models, folder: first.folder, prices: '' });
  const status = await second.waitForJob(body.job_id);
  assert.deepEqual(
    status.details.map(({ model, error, steps }: any) => [model, error, steps]),
    [
      ['deepseek-reasoner', null, 2],
      ['gemini', null, 2],
    ],
  );
  assert.deepEqual(
    [status.status, status.progress.failed, ...servers.map(({ requests }) => requests.length)],
    ['completed', 0, 3, 3], // the one that was never answered is asked again
  );
  for (const name of names)
    assert.equal(ledgerOf(second.database, name).length, 1, 'the trade of the first process, once');
});

test('children that wait for their models exit by themselves when their parent is killed', {
  skip: noProc || leftToLongForm,
}, async (t) => {
  const server = await startModelServer(t, ['never']);
  const models = ['model-a', 'model-b'].map((signature) => ({
    signature,
    enabled: true,
    openai_base_url: server.baseUrl,
  }));
  const cwd = installProgram(t, { models, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } });
  mkdirSync(join(cwd, 'data'));
  const database = openDatabase(join(cwd, 'data/jobs.db'));
  storePrices(database, PRICES);
  database.close();
  const program = await startServer(t, { cwd, env: { AUTO_DOWNLOAD_PRICE_DATA: 'false' } });
  await ask(`${program.url}/simulate/trigger`, ONE_DAY);
  await server.untilAsked(2);
  const children = modelDaysOf(program.process.pid as number);
  assert.equal(children.length, 2);
  program.process.kill('SIGKILL');
  await until('the children to end', () => !children.some(isRunning));
});

test('a child that reports more failed requests than a step can have is ended, and does not fill the log', async (t) => {
  const service = await startProdService(t, {
    models: [{ signature: 'floods', openai_base_url: 'http://127.0.0.1:1/v1' }],
    agentConfig: { max_retries: 100 },
    agent: inProcesses(agentFixture('floods-reasons')),
  });
  const status = await service.runJob(ONE_DAY);
  assert.match(
    errorOf(status, 'floods'),
    /it reported 109 failed requests in one step; at most 108 are possible$/,
  );
  const logged = service.logLines.filter(({ message }) => message === 'model request failed');
  assert.equal(logged.length, 100);
  assert.ok(logged.every(({ level }) => level === 'WARNING'));
  assert.deepEqual(
    logged.filter(({ note }) => note !== undefined),
    [logged.at(-1)],
  );
  assert.equal(status.details[0].requests, 108);
});
