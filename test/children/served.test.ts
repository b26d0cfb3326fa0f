import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelsResponse } from '../../src/core/api/models.ts';
import { reasoningResponse } from '../../src/core/api/reasoning.ts';
import { answerCost } from '../../src/core/trading/answer-cost.ts';
import { calls, says, startModelServer, whereIs } from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { tableOf } from '../support/text-table.ts';
import { validBody } from '../support/valid-body.ts';

/** Who answered: kept with each message, told for each model, and a change of it is no skill. */

const RANGE = { start_date: '2025-10-13', end_date: '2025-10-17' };
const CHANGE = '2025-10-16';

const servedBy = (model: string, first: string, last: string) => ({
  ...{ model, first_date: `2025-10-${first}`, last_date: `2025-10-${last}` },
});

test('who answered is in the conversation, with the model, and a change within a window leaves it without figures', async (t) => {
  const server = await startModelServer(t, (request) => {
    const { date, step } = whereIs(request);
    const model = request.body.model === 'steady' ? 'steady-1' : `moving-${date < CHANGE ? 1 : 2}`;
    const { body } = step === 1 ? calls(['get_portfolio', {}]) : says('Done.');
    return {
      body: { ...body, model, system_fingerprint: 'fp_1', service_tier: 'default', provider: '' },
    };
  });
  const models = ['moving', 'steady'].map((signature) => ({
    signature,
    openai_base_url: server.baseUrl,
  }));
  const service = await startProdService(t, { models });
  assert.equal((await service.runJob(RANGE)).status, 'completed');

  const path = '/reasoning?model=moving&date=2025-10-13&include_full_conversation=true';
  const [session] = (await validBody(service, path, reasoningResponse)).sessions;
  const conversation = session?.conversation ?? [];
  const saidBy = conversation.map(({ role, served }) => `${role} ${served?.model ?? '-'}`);
  const [asked, answered] = [['system -', 'user -'], 'assistant moving-1'];
  assert.deepEqual(saidBy, [...asked, answered, 'tool -', answered]);
  const rest = { id: 'chatcmpl-1', system_fingerprint: 'fp_1', service_tier: 'default' };
  assert.deepEqual(conversation[2]?.served, { model: 'moving-1', ...rest });

  const found = (await validBody(service, '/models', modelsResponse)).models;
  const ways = found.map(({ signature, entry }) => `${signature} ${entry?.api} ${entry?.stream}`);
  assert.deepEqual(ways, ['moving chat false', 'steady chat false']);
  assert.deepEqual(
    found.map(({ served }) => served),
    [
      [servedBy('moving-1', '13', '15'), servedBy('moving-2', '16', '17')],
      [servedBy('steady-1', '13', '17')],
    ],
  );

  const reasonOf = async (window: string) => {
    const { body } = await service.get(`/comparison?models=moving,steady${window}`);
    return JSON.stringify(
      body.models.find(({ model }: { model: string }) => model === 'moving').unavailable,
    );
  };
  const change =
    /It was served by two models: moving-2 answered moving on 2025-10-16, and moving-1 moving on 2025-10-13; choose a window before or after the change/;
  assert.match(await reasonOf(''), change);
  assert.doesNotMatch(await reasonOf('&end_date=2025-10-15'), change);
});

/** Tokens of a million each way, prices beside 4 and 10 dollars, and what that costs. */
const costs = tableOf<[name: string, usage: string, prices: string, cost: string]>(`
  nothing of a cache                           | {}                        | {}                   | 14
  half read from it, at its price              | {"cachedTokens":500000}   | {"cached_input":0.4} | 12.2
  a quarter written, at 1.25 times the input   | {"cacheWriteTokens":250000} | {}                 | 14.25
  a quarter written, at its price              | {"cacheWriteTokens":250000} | {"cache_write":8}  | 15
  read and written                             | {"cachedTokens":500000,"cacheWriteTokens":250000} | {"cached_input":0.4,"cache_write":8} | 13.2
  more than there is                           | {"cachedTokens":900000,"cacheWriteTokens":900000} | {"cached_input":0,"cache_write":0} | 10
`);
test('the cost of a million tokens each way', () => {
  const million = { promptTokens: 1_000_000, completionTokens: 1_000_000 };
  const unknown = { cachedTokens: null, cacheWriteTokens: null, reasoningTokens: null };
  for (const [name, usage, prices, cost] of costs) {
    const all = { input: 4, output: 10, ...JSON.parse(prices) };
    const found = answerCost({ ...million, ...unknown, ...JSON.parse(usage) }, all) ?? 0;
    assert.ok(Math.abs(found - Number(cost)) < 1e-12, `${name}: ${found}`);
  }
});
