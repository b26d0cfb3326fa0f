import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ledgerOf } from '../support/ledger.ts';
import {
  answers,
  calls,
  type Reply,
  says,
  startModelServer,
  usage,
} from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { assertReplays } from '../support/replays.ts';

/** What becomes of answers that decide nothing, by the real child. */

const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
const IDLE = ['2025-10-15 no_trade => 10000 10000 0'];
const BUY: [name: string, args: object] = ['buy', { symbol: 'AAPL', amount: 2 }];
const { tool_calls } = (calls(BUY, BUY).body as any).choices[0].message; // any: a body is unchecked JSON
const WRITTEN = '<tool_call>{"name":"buy","arguments":{"symbol":"AAPL","amount":2}}</tool_call>';

/** What each model says first on its day; the second answer is "Done." */
const first: Record<string, Reply> = {
  cut: answers({ content: null, tool_calls }, 'length'),
  filtered: answers({ content: null, tool_calls }, 'content_filter'),
  refused: answers({ content: 'I cannot help with that.' }, 'refusal'),
  sound: calls(BUY),
  written: says(WRITTEN),
};
const figures = [
  // model, trades, refused orders, malformed calls, refused answers
  ['cut', 0, 0, 2, 0],
  ['filtered', 0, 0, 2, 1],
  ['refused', 0, 0, 0, 1],
  ['sound', 1, 0, 0, 0],
  ['written', 0, 0, 1, 0],
];

test('an answer that was cut off, refused, or has its orders as text executes nothing, and is counted', async (t) => {
  const server = await startModelServer(t, ({ body }) =>
    body.messages.length === 2 ? (first[body.model] ?? 'never') : says('Done.'),
  );
  const models = Object.keys(first).map((name) => ({
    ...{ signature: name, basemodel: name, stream: false },
    ...{ openai_base_url: server.baseUrl, openai_api_key: 'sk' },
  }));
  const service = await startProdService(t, { models });
  const job = await service.runJob(DAY);
  assert.equal(job.status, 'completed');
  await assertReplays(service.database);
  for (const name of Object.keys(first).filter((one) => one !== 'sound'))
    assert.deepEqual(ledgerOf(service.database, name), IDLE, name);
  assert.deepEqual(job.warning_codes, ['refused_answers', 'refused_answers', 'written_calls']);
  assert.match(job.warnings[0], /^'filtered' refused to answer, .* 1 time;/);
  assert.match(job.warnings[2], /^'written' wrote orders as text in 1 answer, .*parser/);

  const performance = (await service.get('/performance')).body;
  assert.deepEqual(
    performance.models.map(({ model, trading: own }: any) => [
      ...[model, own.trades, own.refused_orders, own.malformed_calls, own.refused_answers],
    ]),
    figures,
  );
  assert.deepEqual(
    performance.incomparable.map(({ model, kind }: any) => [model, kind]),
    ['cut', 'filtered', 'written'].map((model) => [model, 'never_traded']),
  );

  const { decisions } = (await service.get('/decisions?kind=malformed')).body;
  assert.deepEqual(
    decisions.map(({ model, detail }: any) => [model, detail.split(':')[0]]).sort(),
    ['cut', 'cut', 'filtered', 'filtered', 'written'].map((model) => [
      model,
      model === 'written' ? 'Orders written as text are not executed' : 'Not executed',
    ]),
  );
  const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
  const faults = sessions.map(({ model, conversation }: any) => [
    model,
    ...conversation.flatMap(({ fault }: any) => fault ?? []),
  ]);
  assert.deepEqual(faults.sort(), [
    ['cut', 'cut_off'],
    ['filtered', 'refused'],
    ['refused', 'refused'],
    ['sound'],
    ['written', 'written_call'],
  ]);
  const told = server.requests.filter(
    ({ body }) => body.model === 'cut' && body.messages.length > 2,
  );
  assert.match(
    told[0]?.body.messages.at(-1).content,
    /^\{"error":"Not executed: your answer was cut off/,
  );
});

test('one answer a day that is a refusal has its second chance', async (t) => {
  const decision = JSON.stringify({
    orders: [{ side: 'buy', symbol: 'AAPL', amount: 2 }],
    reason: 'Cheap.',
  });
  const server = await startModelServer(t, [answers({ content: decision }, 'content_filter')]);
  const model = { signature: 'm', openai_base_url: server.baseUrl, openai_api_key: 'sk' };
  const models = [{ ...model, stream: false, decision: 'one_answer' }];
  const service = await startProdService(t, { models });
  const job = await service.runJob(DAY);
  await assertReplays(service.database);
  assert.deepEqual(ledgerOf(service.database, 'm'), IDLE);
  assert.deepEqual([job.status, server.requests.length], ['completed', 2]);
  assert.deepEqual(job.warning_codes, ['unread', 'refused_answers']);
});

test('a provider whose answers are none fails the day, in its words, with what it cost', async (t) => {
  const server = await startModelServer(t, [answers({ content: 'I will now ' }, 'network_error')]);
  const model = { signature: 'm', openai_base_url: server.baseUrl, openai_api_key: 'sk' };
  const agentConfig = { max_retries: 1 };
  const service = await startProdService(t, {
    models: [{ ...model, stream: false }],
    agentConfig,
  });
  const job = await service.runJob(DAY);
  assert.equal(job.status, 'failed');
  assert.equal(
    job.details[0].error,
    'The model provider ended its answer with the reason "network_error": I will now (after 2 tries)',
  );
  const row = service.database.statement('SELECT prompt_tokens FROM job_details').all();
  assert.deepEqual(
    row.map((one: any) => Object.values(one)),
    [[2 * usage.prompt_tokens]],
  );
});
