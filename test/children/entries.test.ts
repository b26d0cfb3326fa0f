import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { realAgentHere } from '../support/agent-here.ts';
import { ledgerOf } from '../support/ledger.ts';
import {
  calls,
  type ModelRequest,
  says,
  startModelServer,
  whereIs,
} from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';

const RANGE = { start_date: '2025-10-15', end_date: '2025-10-16' };
test('repeats are runs of their own, with seeds of their own, under one cost limit', async (t) => {
  const server = await startModelServer(t, [says('Done.')]); // 0.013 dollars a day
  const price = { price_per_million_tokens: { input: 10, output: 30 } };
  const limited = { openai_base_url: server.baseUrl, max_cost_usd: 0.03, ...price };
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [
      { signature: 'm', seed: 7, repeats: 3, ...limited },
      { signature: 'other', ...limited },
    ],
  });
  const status = await service.runJob(RANGE);
  const runs = ['m', 'm#2', 'm#3'];
  assert.deepEqual(status.models, [...runs, 'other']);
  const entries = status.entries.map(
    ({ family, runs: own, entry: { run, repeats, parameters } }: any) =>
      `${family} (${own}): ${run} of ${repeats}, ${parameters.seed}`,
  );
  assert.deepEqual(entries, ['m (m,m#2,m#3): 1 of 3, 7', 'other (other): 1 of 1, undefined']);
  assert.deepEqual(
    status.details.map(
      ({ date, model, status, error }: any) => `${date} ${model} ${error ?? status}`,
    ),
    [
      ...[...runs, 'other'].map((model) => `${RANGE.start_date} ${model} completed`),
      ...runs.map((model) => `${RANGE.end_date} ${model} Cost limit reached`),
      `${RANGE.end_date} other completed`,
    ],
  );
  const seeds = server.requests.map(({ body }) => body.seed).filter((seed) => seed !== undefined);
  assert.deepEqual(seeds.sort(), [7, 8, 9]);
});

/** The random baseline needs no provider. */
test('an existing chain becomes run 1 when its entry gets repeats; resuming names the date that fills in the others', async (t) => {
  const entry = { signature: 'rule', basemodel: 'baseline/random', enabled: true };
  const first = await startProdService(t, { agent: await realAgentHere(), models: [entry] });
  await first.runJob(RANGE);
  const before = ledgerOf(first.database, 'rule');
  const agent_config = { stock_symbols: ['AAPL', 'MSFT'] };
  writeFileSync(
    first.settings.configurationPath,
    JSON.stringify({ models: [{ ...entry, repeats: 3 }], agent_config }),
  );
  const resumed = await first.runJob({ end_date: '2025-10-17' });
  assert.deepEqual(resumed.warnings?.slice(0, 1), [
    'rule#2, rule#3 have no completed day, and this job runs only 2025-10-17 for them; for the days before, cancel the job and start one with start_date 2025-10-15',
  ]);
  const rest = { ...RANGE, end_date: '2025-10-17' };
  const filled = await first.runJob({ ...rest, models: ['rule#3'] });
  assert.deepEqual(
    filled.details.map(({ status, error }: any) => error ?? status),
    ['completed', 'completed', 'Already completed'],
  );
  assert.deepEqual(ledgerOf(first.database, 'rule').slice(0, before.length), before);
  writeFileSync(first.settings.configurationPath, JSON.stringify({ models: [entry] }));
  const refused = await first.post('/simulate/trigger', { ...RANGE, models: ['rule#2'] });
  assert.equal(refused.status, 400);
  const { models } = (await first.get('/models')).body;
  assert.deepEqual(
    models.map(({ signature, family, configured }: any) => `${signature} ${family} ${configured}`),
    ['rule rule true', 'rule#2 rule false', 'rule#3 rule false'],
  );
});

test('two prompts, one with notes and one without, with repeats, are one job', async (t) => {
  const writes = (request: ModelRequest) =>
    request.body.tools.some((tool: any) => tool.function.name === 'write_note');
  const server = await startModelServer(t, (request) => {
    const { date, step } = whereIs(request);
    return step === 1 && writes(request)
      ? calls(['write_note', { text: `note of ${date}` }])
      : says('Done.');
  });
  const { baseUrl: openai_base_url } = server;
  const models = [
    { signature: 'bold', openai_base_url, prompt: 'Be bold.', notes: true, repeats: 2 },
    { signature: 'calm', openai_base_url, prompt: 'Be calm.', repeats: 2 },
  ];
  const service = await startProdService(t, { agent: await realAgentHere(), models });
  assert.equal((await service.runJob(RANGE)).status, 'completed');
  const asked = server.requests.map((request) => {
    const [system, user] = request.body.messages;
    const [prompt] = /Be \w+\.$/.exec(system.content) ?? [];
    const [note = 'nothing'] = /Your note: none|Your note:\n.*/.exec(user.content) ?? [];
    return `${prompt} ${whereIs(request).date} ${note}`;
  });
  const counts = Object.entries(Object.groupBy(asked, (line) => line)).map(
    ([line, own]) => `${own?.length} ${line}`,
  );
  assert.deepEqual(counts.sort(), [
    '2 Be calm. 2025-10-15 nothing',
    '2 Be calm. 2025-10-16 nothing',
    '4 Be bold. 2025-10-15 Your note: none',
    '4 Be bold. 2025-10-16 Your note:\nnote of 2025-10-15',
  ]);
  const { sessions } = (await service.get('/reasoning')).body;
  const notes = sessions.map(({ date, model, note }: any) =>
    [model, note?.endsWith(date)].join(' '),
  );
  const ofDate = ['bold true', 'bold#2 true', 'calm ', 'calm#2 '];
  assert.deepEqual(notes, [...ofDate, ...ofDate]);
});
test('a run that was offered news does not continue without the key for it', async (t) => {
  const server = await startModelServer(t, () => {
    service.settings.jinaApiKey = null;
    return says('Done.');
  });
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    models: [{ signature: 'm', openai_base_url: server.baseUrl }],
    settings: { jinaApiKey: 'jina-key' },
  });
  const { details } = await service.runJob(RANGE);
  assert.deepEqual(
    details.map(({ error }: any) => error),
    [null, "Model 'm' was offered search_news, whose key JINA_API_KEY is no longer set"],
  );
});
