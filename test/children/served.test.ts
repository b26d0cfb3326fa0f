import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelsResponse } from '../../src/api/models.ts';
import { reasoningResponse } from '../../src/api/reasoning.ts';
import { costOf } from '../../src/trading/answer-cost.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { calls, says, startModelServer, whereIs } from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
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
  const service = await startProdService(t, { agent: await realAgentHere(), models });
  assert.equal((await service.runJob(RANGE)).status, 'completed');

  const path = '/reasoning?model=moving&date=2025-10-13&include_full_conversation=true';
  const [session] = (await validBody(service, path, reasoningResponse)).sessions;
  const served = session?.conversation?.map((message) => [message.role, message.served]);
  const said = {
    ...{ model: 'moving-1', id: 'chatcmpl-1', system_fingerprint: 'fp_1' },
    service_tier: 'default',
  };
  assert.deepEqual(served, [
    ...[['system', null] as const, ['user', null] as const],
    ...[['assistant', said] as const, ['tool', null] as const, ['assistant', said] as const],
  ]);

  const found = (await validBody(service, '/models', modelsResponse)).models;
  assert.deepEqual(
    found.map(({ signature, served, entry }) => [signature, served, entry?.api, entry?.stream]),
    [
      [
        'moving',
        [servedBy('moving-1', '13', '15'), servedBy('moving-2', '16', '17')],
        'chat',
        false,
      ],
      ['steady', [servedBy('steady-1', '13', '17')], 'chat', false],
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
const costs: [name: string, usage: object, prices: object, cost: number][] = [
  ['nothing of a cache', {}, {}, 14],
  ['half read from it, at its price', { cachedTokens: 500_000 }, { cached_input: 0.4 }, 12.2],
  ['a quarter written, at 1.25 times the input', { cacheWriteTokens: 250_000 }, {}, 14.25],
  ['a quarter written, at its price', { cacheWriteTokens: 250_000 }, { cache_write: 8 }, 15],
  [
    'read and written',
    { cachedTokens: 500_000, cacheWriteTokens: 250_000 },
    { cached_input: 0.4, cache_write: 8 },
    13.2,
  ],
  [
    'more than there is',
    { cachedTokens: 900_000, cacheWriteTokens: 900_000 },
    { cached_input: 0, cache_write: 0 },
    10,
  ],
];
test('the cost of a million tokens each way', () => {
  const million = { promptTokens: 1_000_000, completionTokens: 1_000_000 };
  const unknown = { cachedTokens: null, cacheWriteTokens: null, reasoningTokens: null };
  for (const [name, usage, prices, cost] of costs) {
    const all = { input: 4, output: 10, ...prices };
    const found = costOf({ ...million, ...unknown, ...usage }, all) ?? 0;
    assert.ok(Math.abs(found - cost) < 1e-12, `${name}: ${found}`);
  }
});
