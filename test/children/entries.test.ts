import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import type { Database } from '../../src/core/database/database.ts';
import { assertLike } from '../support/text-table.ts';
import { ledgerOf } from '../support/ledger.ts';
import {
  calls,
  type ModelRequest,
  says,
  startModelServer,
  whereIs,
} from '../support/model-server.ts';
import { PROD, startProdService } from '../support/prod.ts';
import { startTestService, type TestServiceOptions } from '../support/service.ts';
import { inLongForm } from '../support/long.ts';

const RANGE = { start_date: '2025-10-15', end_date: '2025-10-16' };
const [heldKey, variableKey, queryValue, bodyKey] = [
  'sk-of-the-entry-1',
  'sk-of-a-variable-2',
  'value-of-the-query-3',
  'key-in-the-body-4',
];
const SECRETS = [heldKey, variableKey, queryValue, bodyKey];
const agentConfig = { max_cost_usd: 5 };

const modelsAt = (baseUrl: string) => [
  {
    signature: 'held',
    basemodel: 'vendor/held',
    openai_base_url: `${baseUrl}?api-version=${queryValue}`,
    openai_api_key: heldKey,
    temperature: 0.25,
    seed: 7,
    prompt: 'Be bold.',
    extra_body: { provider: { api_key: bodyKey, order: ['x'] } },
    enabled: true,
  },
  {
    ...{ signature: 'named', openai_base_url: baseUrl, openai_api_key_env: 'KEY_OF_NAMED' },
    enabled: true,
  },
  { signature: 'rule', basemodel: 'baseline/buy-and-hold', enabled: true },
];

/** Every entry asks for something else now, and costs too much; keys are where they were. */
const edited = (baseUrl: string) =>
  modelsAt(baseUrl).map((entry) => ({
    ...{ ...entry, basemodel: entry.signature === 'rule' ? 'baseline/random' : 'vendor/other' },
    ...{ temperature: 1, seed: 1, prompt: 'Be timid.', max_tokens: 5 },
    ...{ max_cost_usd: 0, price_per_million_tokens: { input: 1, output: 1 } },
  }));

const restart = async (t: TestContext, folder: string, options: TestServiceOptions) =>
  startTestService(t, { ...options, configuration: null, folder });

/**
 * The job's ledgers, requests and database; `meanwhile` changes the file while the second date's
 * first answers are awaited.
 */
async function runAndRestart(
  t: TestContext,
  models: readonly string[],
  meanwhile: ((path: string, baseUrl: string) => void) | null,
) {
  let holds = meanwhile !== null;
  const asked = Promise.withResolvers<void>();
  const server = await startModelServer(t, async (request) => {
    const { date, step } = whereIs(request);
    if (holds && date === RANGE.end_date) {
      asked.resolve();
      return 'never';
    }
    return step === 1 ? calls(['buy', { symbol: 'AAPL', amount: 1 }]) : says('Done.');
  });
  const environment = { KEY_OF_NAMED: variableKey };
  const first = await startProdService(t, {
    models: modelsAt(server.baseUrl),
    agentConfig,
    environment,
  });
  const { body } = await first.post('/simulate/trigger', { ...RANGE, models });
  let service = first;
  if (meanwhile !== null) {
    await asked.promise;
    meanwhile(first.settings.configurationPath, server.baseUrl);
    await first.stop();
    holds = false;
    service = await restart(t, first.folder, { settings: PROD, environment });
  }
  const status = await service.waitForJob(body.job_id);
  assert.equal(status.status, 'completed', JSON.stringify(status.details));
  const bodies = new Set(
    server.requests.map((request) =>
      JSON.stringify([request.path.replace(/.*\?/, ''), request.body]),
    ),
  );
  const keys = new Set(server.requests.map(({ headers }: ModelRequest) => headers.authorization));
  const ledgers = models.map((model) => ledgerOf(service.database, model));
  return { ledgers, bodies: [...bodies].sort(), keys: [...keys].sort(), status, service };
}

/**
 * Every text and blob of a database, as one text; the search index cannot be read, but the tables
 * that it is made of can.
 */
function allTexts(database: Database): string {
  const all = (sql: string) => database.statement(sql).all();
  const tables = all(`SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%'`);
  return JSON.stringify(tables.map(({ name }) => all(`SELECT * FROM "${name}"`)));
}

test(
  'a configuration edited or deleted during a job changes nothing in it, also after a restart; no key is stored',
  inLongForm,
  async (t) => {
    const all = ['held', 'named', 'rule'];
    const plain = await runAndRestart(t, all, null);
    assert.equal(plain.ledgers.flat().length, 7);
    const { ledgers, bodies, keys } = plain;
    assert.deepEqual(keys, [`Bearer ${variableKey}`, `Bearer ${heldKey}`]);
    for (const sent of [
      new RegExp(`api-version=${queryValue}.*"api_key":"${bodyKey}"`),
      /\\n\\nFurther instructions:\\nBe bold\./,
    ])
      assert.ok(bodies.some((text) => sent.test(text)));

    const later = { agent_config: { max_steps: 1, max_cost_usd: 0 } };
    const withEdit = await runAndRestart(t, all, (path, baseUrl) =>
      writeFileSync(path, JSON.stringify({ models: edited(baseUrl), ...later })),
    );
    assert.deepEqual([withEdit.ledgers, withEdit.bodies, withEdit.keys], [ledgers, bodies, keys]);

    const keyless = ['named']; // a key that the file held is gone with it
    const withoutFile = await runAndRestart(t, keyless, (path) => rmSync(path));
    assert.deepEqual(withoutFile.ledgers, ledgers.slice(1, 2));

    const stored = allTexts(withEdit.service.database);
    assert.match(stored, /vendor\/held/);
    assert.deepEqual(
      SECRETS.filter((secret) => stored.includes(secret)),
      [],
    );
  },
);

test('repeats are runs of their own, with seeds of their own, under one cost limit', async (t) => {
  const server = await startModelServer(t, [says('Done.')]); // 0.013 dollars a day
  const price = { price_per_million_tokens: { input: 10, output: 30 } };
  const limited = { openai_base_url: server.baseUrl, max_cost_usd: 0.03, ...price };
  const service = await startProdService(t, {
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
  const limit = "Cost limit reached: this job has spent $0.039 on 'm', and max_cost_usd is $0.03";
  assert.deepEqual(
    status.details.map(
      ({ date, model, status, error }: any) => `${date} ${model} ${error ?? status}`,
    ),
    [
      ...[...runs, 'other'].map((model) => `${RANGE.start_date} ${model} completed`),
      ...runs.map((model) => `${RANGE.end_date} ${model} ${limit}`),
      `${RANGE.end_date} other completed`,
    ],
  );
  const seeds = server.requests.map(({ body }) => body.seed).filter((seed) => seed !== undefined);
  assert.deepEqual(seeds.sort(), [7, 8, 9]);
});

/** The random baseline needs no provider. */
test('an existing chain becomes run 1 when its entry gets repeats; resuming names the date that fills in the others', async (t) => {
  const entry = { signature: 'rule', basemodel: 'baseline/random', enabled: true };
  const first = await startProdService(t, { models: [entry] });
  await first.runJob(RANGE);
  const before = ledgerOf(first.database, 'rule');
  const agent_config = { stock_symbols: ['AAPL', 'MSFT'] };
  writeFileSync(
    first.settings.configurationPath,
    JSON.stringify({ models: [{ ...entry, repeats: 3 }], agent_config }),
  );
  const resumed = await first.runJob({ end_date: '2025-10-17' });
  assertLike(resumed.warnings?.slice(0, 1), [
    'rule#2, rule#3 are new, …only 2025-10-17…start_date 2025-10-15',
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
  const service = await startProdService(t, { models });
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
    models: [{ signature: 'm', openai_base_url: server.baseUrl }],
    settings: { jinaApiKey: 'jina-key' },
  });
  const { details } = await service.runJob(RANGE);
  assert.deepEqual(
    details.map(({ error }: any) => error),
    [null, "Cannot run 'm': it uses search_news, and JINA_API_KEY is no longer set"],
  );
});
