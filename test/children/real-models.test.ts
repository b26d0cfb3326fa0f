import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { assertLike } from '../support/text-table.ts';
import { inProcesses } from '../support/agent-here.ts';
import { agentFixture } from '../support/agents.ts';
import { ledgerOf } from '../support/ledger.ts';
import { calls, says, startModelServer, usage } from '../support/model-server.ts';
import { isRunning, modelDaysOf, noProc } from '../support/processes.ts';
import { PRICES, startProdService } from '../support/prod.ts';
import { storePrices } from '../support/prices.ts';
import { ask, installProgram, startServer } from '../support/program.ts';
import { until } from '../support/until.ts';
import { leftToLongForm } from '../support/long.ts';

const ONE_DAY = { start_date: '2025-10-06', end_date: '2025-10-06' };
const WEEK = { start_date: '2025-10-06', end_date: '2025-10-10' };

test('tokens, requests and costs are in the details, and unknown values are null', async (t) => {
  const usages: Record<string, object | null> = {
    told: usage,
    silent: null,
    boasting: { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 100 },
  };
  const { baseUrl: openai_base_url } = await startModelServer(t, ({ body }) => ({
    body: { ...says('Done.').body, usage: usages[body.model] },
  }));
  const prices = { input: 10, output: 30 };
  const rows: [signature: string, basemodel: string, prices: object | null, expected: string][] = [
    // (600 × 10 + 400 × 1 + 100 × 30) / 1,000,000
    ['cached', 'told', { ...prices, cached_input: 1 }, '1 1 1000 100 400 60 0.0094'],
    ['priced', 'told', prices, '1 1 1000 100 400 60 0.013'],
    ['unpriced', 'told', null, '1 1 1000 100 400 60 '],
    ['free', 'told', { input: 0, output: 0 }, '1 1 1000 100 400 60 0'],
    ['unreported', 'silent', prices, '1 1     '],
    ['boasting', 'boasting', prices, '1 1  100   '],
  ];
  const service = await startProdService(t, {
    models: rows.map(([signature, basemodel, price_per_million_tokens]) => ({
      ...{ signature, basemodel, openai_base_url },
      ...(price_per_million_tokens !== null && { price_per_million_tokens }),
    })),
  });
  const { details } = await service.runJob(ONE_DAY);
  for (const [model, , , expected] of rows) {
    const { steps, requests, prompt_tokens, completion_tokens, ...others } = details.find(
      (detail: any) => detail.model === model,
    );
    const { cached_tokens, reasoning_tokens, cost_usd } = others;
    const found = [steps, requests, prompt_tokens, completion_tokens, cached_tokens];
    assert.equal([...found, reasoning_tokens, cost_usd].join(' '), expected, model);
  }
  const [{ usage: used }] = (await service.get('/performance?model=boasting')).body.models;
  assert.deepEqual(
    [used.prompt_tokens, used.completion_tokens, used.model_days_without_cost],
    [null, 100, 1],
  );
});

test('a model over its cost limit runs no further model-days of the job, and others continue', async (t) => {
  const server = await startModelServer(t, [says('Done.')]); // 0.013 dollars a day
  const silent = await startModelServer(t, [{ body: { ...says('Done.').body, usage: null } }]);
  const [priced, cheap] = [10, 5].map((input) => ({
    openai_base_url: server.baseUrl,
    price_per_million_tokens: { input, output: 3 * input },
  }));
  const service = await startProdService(t, {
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
      .map((detail: any) => (detail.error ?? detail.status).replace(/: .*/, ''));
  const reached = 'Cost limit reached';
  const status = await service.runJob({ ...WEEK, end_date: '2025-10-07' });
  const expected: [model: string, days: string[]][] = [
    ['agent-limit', ['completed', reached]],
    ['higher-limit', ['completed', 'completed']],
    ['lower-limit', ['completed', reached]],
    ['no-money', [reached, reached]],
    ['unpriced', ['completed', 'completed']],
  ];
  for (const [model, days] of expected) assert.deepEqual(daysOf(status, model), days, model);
  assert.equal(status.status, 'partial');
  assertLike(
    status.warnings.filter((warning: string) => /cost/i.test(warning)).sort(), // the days run side by side
    [
      "max_cost_usd of 'unpriced' has no effect…price_per_million_tokens…",
      "max_cost_usd of 'unreported' has no effect…no tokens",
    ],
  );
  // The limit is one job's.
  const next = await service.runJob({ ...WEEK, models: ['agent-limit'] });
  const days = daysOf(next, 'agent-limit');
  assert.deepEqual(days, ['Already completed', 'completed', reached, reached, reached]);
});

test('a day ends at max_steps with its last calls executed', async (t) => {
  const server = await startModelServer(t, () => calls(['buy', { symbol: 'AAPL', amount: 1 }]));
  const models = [{ signature: 'busy', openai_base_url: server.baseUrl }];
  const service = await startProdService(t, {
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

test('children that wait for their models exit by themselves when their parent is killed', {
  skip: noProc || leftToLongForm,
}, async (t) => {
  const server = await startModelServer(t, ['never']);
  const models = ['model-a', 'model-b'].map((signature) => ({
    ...{ signature, enabled: true, openai_base_url: server.baseUrl },
  }));
  const cwd = installProgram({ models, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } });
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
    status.details[0].error,
    /it reported 112 failed requests in one step; at most 111 are possible$/,
  );
  const logged = service.logLines.filter(({ message }) => message === 'model request failed');
  assert.equal(logged.length, 100);
  assert.ok(logged.every(({ level }) => level === 'WARNING'));
  assert.deepEqual(
    logged.filter(({ note }) => note !== undefined),
    [logged.at(-1)],
  );
  assert.equal(status.details[0].requests, 111);
});
