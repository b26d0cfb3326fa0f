import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { auditScripts } from '../support/replays.ts';
import { startTestService } from '../support/service.ts';

test('with trading costs orders fill worse than the open, cash pays the commission, and the metrics show it', async (t) => {
  const service = await startTestService(t, {
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: {
        stock_symbols: ['AAPL'],
        commission_per_trade: 1,
        commission_bps: 10,
        slippage_bps: 100,
      },
    },
    prices: `
      AAPL 2025-11-10 100 100
      AAPL 2025-11-11 200 200`,
    agent: scriptedAgent({
      'model-a 2025-11-10': [[['buy', { symbol: 'AAPL', amount: 10 }]]],
      'model-a 2025-11-11': [[['sell', { symbol: 'AAPL', amount: 10 }]]],
    }),
  });
  const { job_id: jobId } = await service.runJob({
    start_date: '2025-11-10',
    end_date: '2025-11-11',
  });
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 buy AAPL 10 101  => 8987.99 9987.99 -12.01 AAPL:10
      2025-11-11 sell AAPL 10 198 => 10965.01 10965.01 977.02`),
  );
  const { body } = await service.get(`/reasoning?job_id=${jobId}&include_full_conversation=true`);
  const [, , result] = body.sessions[0].conversation;
  assert.equal(JSON.parse(result.content).commission, 2.01);
  assert.deepEqual((await auditScripts(service)).problems.first, []);
  const performance = (await service.get('/performance')).body;
  assert.equal(performance.models[0].trading.commission, 4.99);
});
