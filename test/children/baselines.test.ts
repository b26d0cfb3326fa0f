import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { baselineStrategies } from '../../src/basics/domain.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { runs } from '../support/long.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

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

for (const deploymentMode of (['PROD', 'DEV'] as const).slice(0, runs(1, 2))) {
  test(`baselines trade by their rules in ${deploymentMode}, without a key and at no cost`, async (t) => {
    const service = await startTestService(t, {
      agent: await realAgentHere(),
      configuration,
      prices: PRICES,
      settings: { deploymentMode, openaiApiKey: null },
    });
    const status = await service.runJob(WEEK);
    assert.deepEqual(
      [status.status, status.progress.completed],
      ['completed', 20],
      JSON.stringify(status),
    );
    for (const [model, text] of Object.entries(ledgers))
      assert.deepEqual(ledgerOf(service.database, model), ledger(text), model);
    assert.match(
      ledgerOf(service.database, 'our-random').join('\n'),
      /2025-11-06 buy (AAPL|MSFT) /,
    );
    const warnings = status.warnings?.filter((warning: string) => warning.includes('cost'));
    assert.deepEqual(warnings ?? [], [], 'a cost limit has nothing to say about them');
    for (const { cost_usd, prompt_tokens, steps } of status.details)
      assert.deepEqual([cost_usd, prompt_tokens, steps > 0], [0, 0, true]);
  });
}

test('a baseline that holds a part of its universe is marked', async (t) => {
  const agent_config = { ...configuration.agent_config, initial_cash: 300 };
  const service = await startTestService(t, {
    agent: await realAgentHere(),
    configuration: { ...configuration, agent_config },
    prices: PRICES,
  });
  await service.runJob({ start_date: '2025-11-06', end_date: '2025-11-06' });
  const { body } = await service.get('/performance');
  const reason = 'It holds 1 of 2 symbols: a share of the others costs more than its part';
  assert.deepEqual(
    body.incomparable,
    ['our-buy-and-hold', 'our-equal-weight'].map((model) => ({
      model,
      kind: 'part_of_universe',
      reason,
    })),
  );
});

test('the day of a baseline can be read like any conversation', async (t) => {
  const service = await startTestService(t, {
    agent: await realAgentHere(),
    configuration,
    prices: PRICES,
  });
  await service.runJob({ ...WEEK, end_date: WEEK.start_date });
  const { body } = await service.get(
    '/reasoning?model=our-momentum&include_full_conversation=true',
  );
  const roles = body.sessions[0].conversation.map(({ role, tool_name }: any) => tool_name ?? role);
  const lookups = [
    'assistant',
    'get_price_history',
    'get_price_history',
    'assistant',
    'get_price_history',
  ];
  assert.deepEqual(roles, [
    ...[
      'system',
      'user',
      ...lookups,
      'assistant',
      'get_price',
      'get_price',
      'assistant',
      'buy',
      'assistant',
    ],
  ]);
  assert.match(body.sessions[0].conversation[1].content, /Today's date: 2025-11-06/);
  assert.match(
    body.sessions[0].session_summary,
    /most since 2025-11-05: AAPL\. Bought 1, sold 0, 0 orders refused\./,
  );
});

interface Finished {
  database: Buffer;
  jobId: string;
  log: unknown[];
}

let finished: Promise<Finished> | undefined;

/** A finished day of momentum, made once: the database that each of the next tests begins with. */
async function finishDay(t: TestContext): Promise<Finished> {
  const service = await startTestService(t, {
    agent: await realAgentHere(),
    configuration,
    prices: PRICES,
  });
  const { job_id: jobId } = await service.runJob({
    ...WEEK,
    end_date: WEEK.start_date,
    models: ['our-momentum'],
  });
  const log = logOf(service);
  await service.stop();
  return { database: readFileSync(service.settings.databasePath), jobId, log };
}

for (const messages of [2, 3, 5, 6, 8, 11, 13]) {
  test(`a baseline continues after a crash behind ${messages} messages, and repeats no call`, async (t) => {
    const { database, jobId, log } = await (finished ??= finishDay(t));
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'jobs.db'), database);
    cutAfter(join(folder, 'jobs.db'), messages);
    const second = await startTestService(t, {
      agent: await realAgentHere(),
      configuration,
      folder,
    });
    assert.equal((await second.waitForJob(jobId)).status, 'completed');
    assert.deepEqual(logOf(second), log);
    assert.deepEqual(
      ledgerOf(second.database, 'our-momentum'),
      ledger(ledgers['our-momentum']).slice(0, 1),
    );
  });
}

function logOf({
  database,
}: {
  database: { statement(sql: string): { all(): unknown[] } };
}): unknown[] {
  return database
    .statement('SELECT session_id, message_index, role, content FROM reasoning_logs')
    .all();
}

/** Brings the one model-day of a database back to where so many messages of it were logged. */
function cutAfter(path: string, messages: number): void {
  const database = new DatabaseSync(path);
  database.exec(`
    DELETE FROM holdings; DELETE FROM positions; DELETE FROM tool_usage; DELETE FROM session_prices;
    DELETE FROM decisions;
    DELETE FROM reasoning_logs WHERE message_index >= ${messages};
    UPDATE trading_sessions SET status = 'running', completed_at = NULL, error = NULL, session_summary = NULL;
    UPDATE job_details SET status = 'running', completed_at = NULL, error = NULL;
    UPDATE jobs SET status = 'running', completed_at = NULL`);
  database.close();
}

test('an unknown baseline is an error of the configuration that names its place', async (t) => {
  const models = [
    { signature: 'a', enabled: true },
    { signature: 'b', basemodel: 'baseline/hodl', enabled: true },
  ];
  const service = await startTestService(t, {
    agent: await realAgentHere(),
    configuration: { models },
    prices: PRICES,
  });
  const { status, body } = await service.post('/simulate/trigger', WEEK);
  assert.equal(status, 500);
  assert.match(
    body.detail,
    /config\.json: models\[1\]\.basemodel: must be one of baseline\/buy-and-hold, baseline\/equal/,
  );
});

test('without a configuration, or with a broken one, a baseline trades as its entry was stored', async (t) => {
  const slow = { ...configuration, models: configuration.models.slice(0, 1) };
  const first = await startTestService(t, {
    agent: await realAgentHere(),
    configuration: slow,
    prices: PRICES,
  });
  const { job_id } = await first.runJob({ ...WEEK, end_date: WEEK.start_date });
  const stored = ledgerOf(first.database, 'our-buy-and-hold');
  await first.stop();
  const path = `${first.folder}/jobs.db`;
  const restart = async () => {
    cutAfter(path, 2);
    const second = await startTestService(t, {
      agent: await realAgentHere(),
      configuration: null,
      folder: first.folder,
    });
    const { status, details } = await second.waitForJob(job_id);
    const made = ledgerOf(second.database, 'our-buy-and-hold');
    await second.stop();
    return [status, details[0].error, made];
  };
  rmSync(first.settings.configurationPath);
  assert.deepEqual(await restart(), ['completed', null, stored]);
  writeFileSync(first.settings.configurationPath, '{');
  assert.deepEqual(await restart(), ['completed', null, stored]);
});
