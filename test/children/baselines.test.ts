import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { baselineStrategies } from '../../src/core/domain/vocabulary.ts';
import { crashed, cutAfter } from '../support/crashed.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { isLong } from '../support/long.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

const configuration = {
  models: baselineStrategies.map((strategy) => ({
    signature: `our-${strategy}`,
    basemodel: `baseline/${strategy}`,
    enabled: true,
  })),
  agent_config: { stock_symbols: ['AAPL', 'MSFT', 'NVDA'], max_cost_usd: 1 },
};
/** Thursday to Tuesday; the Wednesday before is known, and NVDA does not trade on the Thursday. */
const PRICES = `
  AAPL 2025-11-05 100 100
  MSFT 2025-11-05 200 200
  NVDA 2025-11-05 50 50
  AAPL 2025-11-06 110 100
  MSFT 2025-11-06 200 210
  AAPL 2025-11-07 100 100
  MSFT 2025-11-07 210 210
  NVDA 2025-11-07 50 50
  AAPL 2025-11-10 100 100
  MSFT 2025-11-10 210 210
  NVDA 2025-11-10 100 100
  AAPL 2025-11-11 100 100
  MSFT 2025-11-11 210 210
  NVDA 2025-11-11 100 100`;
const WEEK = { start_date: '2025-11-06', end_date: '2025-11-11' };
const THURSDAY = { ...WEEK, end_date: WEEK.start_date };

const ledgers = {
  'our-buy-and-hold': `
    2025-11-06 buy AAPL 45 110  => 5050 9550 -450 AAPL:45
    2025-11-06 buy MSFT 25 200  => 50   9800 -200 AAPL:45 MSFT:25
    2025-11-07 no_trade         => 50   9800 0    AAPL:45 MSFT:25
    2025-11-10 no_trade         => 50   9800 0    AAPL:45 MSFT:25
    2025-11-11 no_trade         => 50   9800 0    AAPL:45 MSFT:25`,
  'our-equal-weight': `
    2025-11-06 buy AAPL 45 110  => 5050 9550 -450 AAPL:45
    2025-11-06 buy MSFT 25 200  => 50   9800 -200 AAPL:45 MSFT:25
    2025-11-07 no_trade         => 50   9800 0    AAPL:45 MSFT:25
    2025-11-10 sell AAPL 12 100 => 1250 9800 0    AAPL:33 MSFT:25
    2025-11-10 sell MSFT 9 210  => 3140 9800 0    AAPL:33 MSFT:16
    2025-11-10 buy NVDA 31 100  => 40   9800 0    AAPL:33 MSFT:16 NVDA:31
    2025-11-11 no_trade         => 40   9800 0    AAPL:33 MSFT:16 NVDA:31`,
  'our-momentum': `
    2025-11-06 buy AAPL 90 110   => 100  9100  -900 AAPL:90
    2025-11-07 no_trade          => 100  9100  0    AAPL:90
    2025-11-10 sell AAPL 90 100  => 9100 9100  0
    2025-11-10 buy NVDA 91 100   => 0    9100  0    NVDA:91
    2025-11-11 no_trade          => 0    9100  0    NVDA:91`,
};

const serve = async (t: TestContext, options: TestServiceOptions = {}) =>
  startTestService(t, {
    configuration,
    ...(options.folder === undefined && { prices: PRICES }),
    ...options,
  });

test('baselines trade by their rules in PROD, without a key and at no cost', async (t) => {
  const settings = { deploymentMode: 'PROD', openaiApiKey: null } as const;
  const service = await serve(t, { settings });
  const { status, warnings, details } = await service.runJob(WEEK);
  assert.equal(status, 'completed', JSON.stringify(details));
  for (const [model, text] of Object.entries(ledgers))
    assert.deepEqual(ledgerOf(service.database, model), ledger(text), model);
  assert.match(ledgerOf(service.database, 'our-random').join(), /2025-11-06 buy (AAPL|MSFT) /);
  const told = warnings?.filter((warning: string) => warning.includes('cost')) ?? [];
  assert.deepEqual(told, [], 'a cost limit has nothing to say about them');
  for (const { cost_usd, prompt_tokens, steps } of details)
    assert.deepEqual([cost_usd, prompt_tokens, steps > 0], [0, 0, true]);
  const path = '/reasoning?model=our-momentum&date=2025-11-06&include_full_conversation=true';
  const [{ conversation, session_summary }] = (await service.get(path)).body.sessions;
  assert.match(conversation[1].content, /Today's date: 2025-11-06/);
  assert.match(
    session_summary,
    /most since 2025-11-05: AAPL\. Bought 1, sold 0, 0 orders refused\./,
  );
});

const parts: [terms: object, why: string][] = [
  [
    { initial_cash: 300 },
    'with this much cash, one share of each of the others costs more than an equal slice of the portfolio',
  ],
  [{ limits: { max_orders: 1 } }, 'max_orders is 1'],
  [
    { initial_cash: 3000, limits: { max_orders: 1, max_weight: 0.05, min_cash: 0.5 } },
    'max_weight is 0.05',
  ],
];
test('a baseline that holds a part of its universe is marked, with what keeps it from the rest', async (t) => {
  for (const [terms, why] of parts) {
    const agent_config = { ...configuration.agent_config, ...terms };
    const service = await serve(t, { configuration: { ...configuration, agent_config } });
    await service.runJob(THURSDAY);
    const { incomparable } = (await service.get('/performance')).body;
    const { sessions } = (await service.get('/reasoning')).body;
    const models = ['our-buy-and-hold', 'our-equal-weight'];
    const part = `holds 1 of 2 symbols: ${why}`;
    assert.deepEqual(
      incomparable,
      models.map((model) => ({ model, kind: 'part_of_universe', reason: `It ${part}` })),
    );
    for (const { model, session_summary: said } of sessions)
      if (models.includes(model)) assert.ok(said.endsWith(`It ${part}.`), said);
  }
});

const logOf = ({ database }: TestService) =>
  database.statement('SELECT message_index, role, tool_name, content FROM reasoning_logs').all();

test('a baseline continues wherever a crash cut its day, as its entry was stored, and repeats no call', async (t) => {
  const first = await serve(t);
  const { job_id: jobId } = await first.runJob({ ...THURSDAY, models: ['our-momentum'] });
  const log = logOf(first);
  assert.equal(
    log.map(({ role, tool_name }) => tool_name ?? role).join(' '),
    'system user assistant get_price_history get_price_history assistant get_price_history ' +
      'assistant get_price get_price assistant buy assistant',
  );
  await first.stop();
  const path = first.settings.configurationPath;
  const changes: [messages: number, change: () => void][] = [
    ...(isLong ? [2, 3, 5, 6, 8, 11, 13] : [3, 8]).map((messages): [number, () => void] => [
      messages,
      () => {},
    ]),
    [2, () => writeFileSync(path, '{')],
    [2, () => rmSync(path)],
  ];
  for (const [messages, change] of changes) {
    change();
    const folder = crashed(first.folder, cutAfter(messages));
    const second = await serve(t, { configuration: null, folder });
    const { status, details } = await second.waitForJob(jobId);
    assert.deepEqual([status, details[0].error], ['completed', null], `${messages} messages`);
    assert.deepEqual(logOf(second), log);
    const [bought] = ledger(ledgers['our-momentum']);
    assert.deepEqual(ledgerOf(second.database, 'our-momentum'), [bought]);
    await second.stop();
  }
});
