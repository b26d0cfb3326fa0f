import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103
  MSFT 2025-11-10 200 201
  MSFT 2025-11-11 202 203`;
const configuration = {
  models: [{ signature: 'model-a', enabled: true }],
  agent_config: { stock_symbols: ['AAPL', 'MSFT'], max_steps: 5 },
};
const buy = (symbol: string, amount: number): [string, unknown] => ['buy', { symbol, amount }];
const wait: [string, unknown][] = [['wait', 60_000]];

const serve = (
  t: TestContext,
  script: Script,
  { folder, isForged = false }: { folder?: string; isForged?: boolean } = {},
) =>
  startTestService(t, {
    configuration,
    agent: scriptedAgent(script),
    isForged,
    ...(folder === undefined ? { prices: PRICES } : { folder }),
  });

/**
 * Starts a job, waits until so many messages of its one model-day are logged, and stops the service
 * under it.
 */
async function interrupt(
  t: TestContext,
  { script, messages }: { script: Script; messages: number },
): Promise<{ folder: string; jobId: string }> {
  const service = await serve(t, script);
  const { body } = await service.post('/simulate/trigger', {
    start_date: '2025-11-10',
    end_date: '2025-11-10',
  });
  const log = service.database.statement('SELECT count(*) AS count FROM reasoning_logs');
  await until(`${messages} messages`, () => Number(log.get()?.['count']) >= messages);
  await service.stop();
  return { folder: service.folder, jobId: body.job_id };
}

/** Changes the database while no service runs on it. */
function edit(folder: string, sql: string): void {
  const database = new DatabaseSync(`${folder}/jobs.db`);
  database.exec(sql);
  database.close();
}

function logOf({ database }: TestService): string[] {
  return database
    .statement(
      'SELECT session_id, role, substr(content, 1, 20) AS content FROM reasoning_logs ORDER BY session_id, message_index',
    )
    .all()
    .map((row) => `${row['session_id']} ${row['role']} ${row['content']}`);
}

const sessionsOf = ({ database }: TestService) =>
  database
    .statement(
      'SELECT status, error, steps, total_messages FROM trading_sessions ORDER BY session_id',
    )
    .all()
    .map((row) =>
      Object.values(row)
        .filter((value) => value !== null)
        .join(' '),
    );

test('a model-day resumes where its reasoning log ends', async (t) => {
  const day = 'model-a 2025-11-10';
  const { folder, jobId } = await interrupt(t, {
    script: { [day]: [[buy('AAPL', 10), buy('MSFT', 60)], wait] },
    messages: 4,
  });
  const script = { [day]: [[buy('AAPL', 10), buy('MSFT', 60)], [buy('MSFT', 2)]] };
  const service = await serve(t, script, { folder });
  const status = await service.waitForJob(jobId);
  assert.equal(status.status, 'completed');
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 buy AAPL 10 100 => 9000 10010 10 AAPL:10
      2025-11-10 buy MSFT 2 200  => 8600 10012 12 AAPL:10 MSFT:2`),
  );
  assert.deepEqual(logOf(service), [
    '1 user {"date":"2025-11-10"',
    '1 assistant I trade.',
    '1 tool {"executed":"buy","s',
    '1 tool {"error":"Cannot buy',
    '1 assistant I trade.',
    '1 tool {"executed":"buy","s',
    '1 assistant Done.',
  ]);
  assert.deepEqual(sessionsOf(service), ['active 3 7']);
  assert.equal(status.details[0].steps, 3, 'no step was taken twice');
  const usage = service.database
    .statement('SELECT tool_name, calls, refused FROM tool_usage')
    .all();
  assert.deepEqual(
    usage.map((row) => Object.values(row).join(' ')),
    ['buy 3 1'],
  );
});

test('an answer whose tool calls had not run yet is not requested again', async (t) => {
  const day = 'model-a 2025-11-10';
  const interrupted = await interrupt(t, {
    script: { [day]: [[buy('AAPL', 10)], wait] },
    messages: 3,
  });
  edit(interrupted.folder, `DELETE FROM reasoning_logs WHERE role = 'tool'`);
  const later = await serve(
    t,
    { [day]: [[['fail', 'it was asked again']]] },
    { folder: interrupted.folder },
  );
  await later.waitForJob(interrupted.jobId);
  assert.deepEqual(sessionsOf(later), ['failed it was asked again 1 3']);
  assert.deepEqual(logOf(later).slice(1), ['1 assistant I trade.', '1 tool {"executed":"buy","s']);
});

test('a day whose last answer was logged is completed without another request', async (t) => {
  const { folder, jobId } = await interrupt(t, {
    script: { '*': [[buy('AAPL', 1)], wait] },
    messages: 3,
  });
  edit(
    folder,
    `INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp) VALUES (1, 3, 'assistant', 'Done.', 'now')`,
  );
  const service = await serve(t, { '*': [[buy('AAPL', 1)]] }, { folder });
  const status = await service.waitForJob(jobId);
  assert.deepEqual([status.status, status.details[0].steps], ['completed', 1]);
  assert.deepEqual(sessionsOf(service), ['active 2 4']);
});

const misfits: [name: string, sql: string, reason: RegExp][] = [
  [
    'another result',
    `UPDATE reasoning_logs SET content = '{"executed":"buy"}' WHERE message_index = 2`,
    /buy in step 1 does not return what it did/,
  ],
  [
    'a prompt that changed',
    `UPDATE reasoning_logs SET content = 'Good morning' WHERE role = 'user'`,
    /the prompt has changed/,
  ],
  [
    'a lost result',
    `UPDATE reasoning_logs SET role = 'system', tool_name = NULL WHERE message_index = 3`,
    /step 1 has 1 results of 2 tool calls/,
  ],
  [
    'calls that cannot be read',
    `UPDATE reasoning_logs SET tool_calls = '[1]' WHERE role = 'assistant'`,
    /tool calls that cannot be read/,
  ],
];
for (const [name, sql, reason] of misfits) {
  test(`a reasoning log with ${name}: the session is set aside, and the model-day starts over`, async (t) => {
    const script = { '*': [[buy('AAPL', 1), buy('AAPL', 2)], wait] };
    const { folder, jobId } = await interrupt(t, { script, messages: 4 });
    edit(folder, sql);
    const service = await serve(t, { '*': [[buy('AAPL', 5)]] }, { folder, isForged: true });
    assert.equal((await service.waitForJob(jobId)).status, 'completed');
    const [aside, active] = sessionsOf(service);
    assert.match(aside ?? '', /^failed Set aside, because the reasoning log no longer matches: /);
    assert.match(aside ?? '', reason);
    assert.equal(active, 'active 2 4');
    assert.match(ledgerOf(service.database, 'model-a').join(), /^2025-11-10 buy AAPL 5 /);
  });
}

test('prices that change before a session continues are not seen by it, nor by others of its date', async (t) => {
  const script = { '*': [[buy('AAPL', 1)], wait] };
  const { folder, jobId } = await interrupt(t, { script, messages: 3 });
  edit(
    folder,
    `UPDATE price_data SET open = 99 WHERE symbol = 'AAPL';
     UPDATE price_data SET open = 199 WHERE symbol = 'MSFT'`,
  );
  const service = await serve(t, { '*': [[buy('AAPL', 5)]] }, { folder });
  assert.equal((await service.waitForJob(jobId)).status, 'completed');
  const sessions = sessionsOf(service);
  assert.equal(sessions.length, 1, sessions.join('; '));
  assert.match(ledgerOf(service.database, 'model-a').join(), /^2025-11-10 buy AAPL 1 100 /);
});

test('a session that started from another day is set aside', async (t) => {
  const { folder, jobId } = await interrupt(t, {
    script: { '*': [[buy('AAPL', 1)], wait] },
    messages: 3,
  });
  edit(
    folder,
    `
    PRAGMA foreign_keys = OFF;
    INSERT INTO trading_sessions (session_id, job_id, date, model, status, initial_cash_e4, wording, started_at, completed_at)
      VALUES (9, 'other', '2025-11-07', 'model-a', 'active', 100000000, 1, '2025-11-07T12:00:00.000Z', '2025-11-07T12:00:00.000Z');
    INSERT INTO positions (session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4)
      VALUES (9, 1, 'no_trade', 50000000, 50000000, -50000000)`,
  );
  const service = await serve(t, { '*': [[buy('AAPL', 1)]] }, { folder, isForged: true });
  await service.waitForJob(jobId);
  assert.match(
    sessionsOf(service)[0] ?? '',
    /no longer matches: the model-day starts from another day now/,
  );
  assert.equal(
    ledgerOf(service.database, 'model-a').at(-1),
    '2025-11-10 buy AAPL 1 100 => 4900 5001 1 AAPL:1',
  );
});
