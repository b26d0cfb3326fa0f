import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { startDocsAgent, tradeDays } from '../support/docs-agents.ts';
import { inLongForm, leftToLongForm } from '../support/long.ts';
import { startModelServer } from '../support/model-server.ts';

/** The agents of examples/agents/ that need no packages trade whole jobs. */

const hasPython = spawnSync('python3', ['--version']).status === 0;
const DATES = { start_date: '2025-10-13', end_date: '2025-10-17' };

async function trade(t: TestContext, agentUrl: string): Promise<string[]> {
  const { ledger } = await tradeDays(t, agentUrl, DATES);
  return ledger.map((line) => line.split(' =>')[0] ?? '');
}

test('rule.py trades a week', { skip: !hasPython }, async (t) => {
  const ledger = await trade(t, await startDocsAgent(t, 'rule.py'));
  assert.equal(ledger[0], '2025-10-13 buy AAPL 83 108');
  assert.equal(ledger.length, 5);
});

test('momentum.mts trades a week through the tools of its days', inLongForm, async (t) => {
  const ledger = await trade(t, await startDocsAgent(t, 'momentum.mts'));
  assert.match(ledger[0] ?? '', /^2025-10-13 buy AAPL 46 108$/);
});

test('market_arena.py asks another agent, symbol by symbol', {
  skip: !hasPython || leftToLongForm,
}, async (t) => {
  const arena = await startModelServer(t, ({ body: { date, symbol } }) => {
    const action = symbol[0] === 'MSFT' ? 'HOLD' : date < '2025-10-15' ? 'BUY' : 'SELL';
    return { body: { recommended_action: action } };
  });
  const url = await startDocsAgent(t, 'market_arena.py', {
    args: [`http://127.0.0.1:${arena.port}`],
  });
  const ledger = await trade(t, url);
  assert.deepEqual(
    ledger.filter((line) => !line.includes('no_trade')),
    ['2025-10-13 buy AAPL 46 108', '2025-10-15 sell AAPL 46 110'],
  );
  assert.equal(arena.requests[0]?.path, '/trading_action/');
});
