import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeFileSync } from 'node:fs';
import { startTestService } from '../support/service.ts';
import { replayOf } from '../support/books.ts';
import { rowsAsText } from '../support/tables.ts';

/** Whole jobs of simulated models and baselines, with children, whose open is hidden. */

const TERMS = { open: 'hidden', limits: { max_weight: 0.4, min_cash: 0.05, max_orders: 6 } };
const SYMBOLS = ['AAPL', 'MSFT', 'NVDA', 'KO'];
const rule = (signature: string) => ({
  signature,
  basemodel: `baseline/${signature}`,
  enabled: true,
});
const CONFIGURATION = {
  models: [
    { signature: 'alpha', enabled: true, notes: true },
    { signature: 'few', enabled: true, tools: ['buy', 'sell', 'get_price_history'] },
    ...['buy-and-hold', 'equal-weight', 'momentum', 'random'].map(rule),
  ],
  agent_config: { ...TERMS, stock_symbols: SYMBOLS, commission_per_trade: 1, slippage_bps: 10 },
};

test('a job with a hidden open and limits: terms, records, what was offered, and its replay', async (t) => {
  const service = await startTestService(t, { configuration: CONFIGURATION });
  const job = await service.runJob({ start_date: '2025-01-06', end_date: '2025-01-07' });
  assert.equal(job.status, 'completed');
  const { terms, entries } = job;
  assert.deepEqual([terms.open, terms.limits], [TERMS.open, TERMS.limits]);
  const offered = entries.find(({ family }: { family: string }) => family === 'few');
  assert.deepEqual(offered.entry.tools, ['buy', 'sell', 'get_price_history']);
  const { database } = service;
  const count = (sql: string) => Number(rowsAsText(database, `SELECT count(*) FROM ${sql}`)[0]);
  const days = 12;
  assert.equal(count(`reasoning_logs WHERE tool_name = 'fills' AND tool_input IS NULL`), days);
  assert.ok(count(`positions WHERE action_type = 'buy'`) > days / 2);
  assert.equal(count(`reasoning_logs WHERE content LIKE '%"executed"%'`), 0);
  assert.ok(count(`decisions WHERE kind = 'refusal' AND detail LIKE '%the limit is 40 %'`) > 0);
  // At the previous close no holding is above the limit after its purchase; opens move it little.
  const weights = rowsAsText(
    database,
    `SELECT max(amount * price_e4 * 1.0 / portfolio_value_e4) FROM positions WHERE action_type = 'buy'`,
  );
  assert.ok(Number(weights[0]) < 0.5, weights[0]);
  const refused = rowsAsText(
    database,
    `SELECT DISTINCT content FROM reasoning_logs JOIN trading_sessions USING (session_id)
     WHERE model = 'few' AND tool_name = 'get_portfolio'`,
  );
  assert.deepEqual(refused, [
    '{"error":"There is no tool named \\"get_portfolio\\". The tools are buy, sell, get_price_history."}',
  ]);
  const replayed = await replayOf(database);
  assert.deepEqual([replayed.same, replayed.problems], [`${days} of ${days}`, []]);
  const { models } = (await service.get('/performance')).body;
  assert.deepEqual(
    models.flatMap((own: any) => own.incomparable.map(({ kind }: any) => kind)),
    [],
  );
});

test('models that see the open, or have other limits, are not comparable with those that do not', async (t) => {
  const models = [rule('buy-and-hold'), rule('momentum')];
  const agent_config = { stock_symbols: SYMBOLS };
  const service = await startTestService(t, { configuration: { models, agent_config } });
  const day = { start_date: '2025-01-06', end_date: '2025-01-06' };
  await service.runJob({ ...day, models: ['buy-and-hold'] });
  const later = { ...agent_config, open: 'hidden', limits: { max_orders: 9 } };
  const text = JSON.stringify({ models, agent_config: later });
  writeFileSync(service.settings.configurationPath, text);
  await service.runJob({ ...day, models: ['momentum'] });
  const { body } = await service.get('/performance');
  const reasons = body.incomparable.map(({ kind, reason }: any) => `${kind}: ${reason}`);
  const least = 'Its open is not that of buy-and-hold: hidden against shown';
  assert.ok(reasons.includes(`open: ${least}`), reasons.join());
  const limits =
    'Its limits on orders are not those of buy-and-hold: at most 9 orders a day against none';
  assert.ok(reasons.includes(`limits: ${limits}`), reasons.join());
});
