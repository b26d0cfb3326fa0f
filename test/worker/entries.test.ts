import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { Database } from '../../src/database/database.ts';
import { ledgerOf } from '../support/ledger.ts';
import { type ModelRequest, calls, says, startModelServer, whereIs } from '../support/model-server.ts';
import { PROD, startProdService } from '../support/prod.ts';
import { startTestService } from '../support/service.ts';

const RANGE = { start_date: '2025-10-15', end_date: '2025-10-16' };
const SECRETS = ['sk-of-the-entry-1', 'sk-of-a-variable-2', 'value-of-the-query-3', 'key-in-the-body-4'];
const [heldKey, variableKey, queryValue, bodyKey] = SECRETS;
const agentConfig = { max_cost_usd: 5 };

const modelsAt = (baseUrl: string) => [
  {
    signature: 'held',
    basemodel: 'vendor/held',
    openai_base_url: `${baseUrl}?api-version=${queryValue}`,
    openai_api_key: heldKey,
    temperature: 0.25,
    seed: 7,
    extra_body: { provider: { api_key: bodyKey, order: ['x'] } },
    enabled: true,
  },
  { signature: 'named', openai_base_url: baseUrl, openai_api_key_env: 'KEY_OF_NAMED', enabled: true },
  { signature: 'rule', basemodel: 'baseline/buy-and-hold', enabled: true },
];

/** Every entry asks for something else now, and costs too much; keys are where they were. */
const edited = (baseUrl: string) =>
  modelsAt(baseUrl).map((entry) => ({
    ...entry,
    basemodel: entry.signature === 'rule' ? 'baseline/random' : 'vendor/other',
    temperature: 1,
    seed: 1,
    max_tokens: 5,
    max_cost_usd: 0,
    price_per_million_tokens: { input: 1, output: 1 },
  }));

/** The job's ledgers, requests and database; `meanwhile` changes the file while the second date's first answers are awaited. */
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
  const first = await startProdService(t, { models: modelsAt(server.baseUrl), agentConfig, environment });
  const { body } = await first.post('/simulate/trigger', { ...RANGE, models });
  let service = first;
  if (meanwhile !== null) {
    await asked.promise;
    meanwhile(first.settings.configurationPath, server.baseUrl);
    await first.stop();
    holds = false;
    service = await startTestService(t, { configuration: null, folder: first.folder, settings: PROD, environment });
  }
  const status = await service.waitForJob(body.job_id);
  assert.equal(status.status, 'completed', JSON.stringify(status.details));
  const bodies = new Set(server.requests.map((request) => JSON.stringify([request.path.replace(/.*\?/, ''), request.body])));
  const keys = new Set(server.requests.map(({ headers }: ModelRequest) => headers.authorization));
  const ledgers = models.map((model) => ledgerOf(service.database, model));
  return { ledgers, bodies: [...bodies].sort(), keys: [...keys].sort(), status, service };
}

/** Every text and blob of a database, as one text. */
function allTexts(database: Database): string {
  const tables = database.statement(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  return JSON.stringify(tables.map(({ name }) => database.statement(`SELECT * FROM "${name}"`).all()));
}

test('a configuration edited or deleted during a job changes nothing in it, also after a restart; no key is stored', async (t) => {
  const all = ['held', 'named', 'rule'];
  const plain = await runAndRestart(t, all, null);
  assert.equal(plain.ledgers.flat().length, 7);
  assert.deepEqual(plain.keys, [variableKey, heldKey].map((key) => `Bearer ${key}`));
  assert.ok(plain.bodies.some((text) => text.includes(`api-version=${queryValue}`) && text.includes(`"api_key":"${bodyKey}"`)));

  const withEdit = await runAndRestart(t, all, (path, baseUrl) =>
    writeFileSync(path, JSON.stringify({ models: edited(baseUrl), agent_config: { max_steps: 1, max_cost_usd: 0 } })),
  );
  const { ledgers, bodies, keys } = plain;
  assert.deepEqual([withEdit.ledgers, withEdit.bodies, withEdit.keys], [ledgers, bodies, keys]);

  const keyless = ['named', 'rule']; // a key that the file held is gone with it
  const withoutFile = await runAndRestart(t, keyless, (path) => rmSync(path));
  assert.deepEqual(withoutFile.ledgers, ledgers.slice(1));

  const stored = allTexts(withEdit.service.database);
  assert.match(stored, /vendor\/held/);
  assert.deepEqual(SECRETS.filter((secret) => stored.includes(secret)), []);
});
