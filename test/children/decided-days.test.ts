import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { crashed, cutAfter } from '../support/crashed.ts';
import { ledgerOf } from '../support/ledger.ts';
import { type ModelRequest, type Reply, startModelServer } from '../support/model-server.ts';
import { PROD, startProdService } from '../support/prod.ts';
import { assertReplays } from '../support/replays.ts';
import { startTestService } from '../support/service.ts';

/** Days that end by a decision, wherever a crash cuts them: nothing is bought or paid for twice. */

const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
const BUY = { side: 'buy', symbol: 'AAPL', amount: 3 };
const BOUGHT = ['2025-10-15 buy AAPL 3 110 => 9670 10001.5 1.5 AAPL:3'];

async function cutEverywhere(
  t: TestContext,
  models: readonly object[],
  kept: readonly number[],
  look: (jobId: string, messages: number) => unknown,
): Promise<void> {
  const first = await startProdService(t, { models });
  const { job_id: jobId } = await first.runJob(DAY);
  assert.deepEqual(ledgerOf(first.database, 'm'), BOUGHT);
  await first.stop();
  for (const messages of kept) {
    const folder = crashed(first.folder, cutAfter(messages));
    const second = await startTestService(t, {
      configuration: null,
      folder,
      settings: PROD,
    });
    const { status, details } = await second.waitForJob(jobId);
    assert.deepEqual([status, details[0].error], ['completed', null], `${messages} messages`);
    assert.deepEqual(ledgerOf(second.database, 'm'), BOUGHT, `${messages} messages`);
    await assertReplays(second.database);
    look(jobId, messages);
    await second.stop();
  }
}

test('a day in one answer continues where its log ends: after an answer, its second chance, its orders', async (t) => {
  const texts = [
    'I buy.',
    JSON.stringify({ orders: [BUY, BUY].slice(1), reason: '', confidence: 1 }),
  ];
  let asked = 0;
  const server = await startModelServer(t, ({ body }: ModelRequest): Reply => {
    asked += 1;
    const content = texts[body.messages.length === 2 ? 0 : 1];
    return { body: { choices: [{ message: { content }, finish_reason: 'stop' }] } };
  });
  const models = [
    {
      ...{ signature: 'm', openai_base_url: server.baseUrl, openai_api_key: 'sk' },
      ...{ stream: false, decision: 'one_answer' },
    },
  ];
  const counts: number[] = [];
  // system, user, the answer, the second chance, the decision, its order
  await cutEverywhere(t, models, [2, 3, 4, 5, 6], () => {
    counts.push(asked);
    asked = 0;
  });
  // The first of them has the two requests of the day before it was cut.
  assert.deepEqual(counts, [2 + 2, 1, 1, 0, 0]);
});

test('a day of an agent begins again from its opening, with another token and the same key', async (t) => {
  let seen: ModelRequest[] = [];
  const server = await startModelServer(t, async (request): Promise<Reply> => {
    seen.push(request);
    const { url, token } = request.body.day;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ symbol: 'AAPL', days: 2 });
    await fetch(`${url}/day/tools/get_price_history`, { method: 'POST', headers, body });
    return { body: { orders: [BUY], reason: '' } };
  });
  const agent_url = `http://127.0.0.1:${server.port}/`;
  const tokens = new Set<string>();
  // the day, a call, its result, the decision, its order
  await cutEverywhere(
    t,
    [{ signature: 'm', api: 'agent', agent_url }],
    [1, 2, 3, 4, 5],
    (jobId) => {
      const [last] = seen.slice(-1);
      assert.equal(last?.headers['idempotency-key'], `${jobId}:m:2025-10-15`);
      assert.deepEqual(last?.body.portfolio, { cash: 10_000, holdings: [], value: 10_000 });
      tokens.add(last?.body.day.token);
      seen = [];
    },
  );
  assert.equal(tokens.size, 5);
});
