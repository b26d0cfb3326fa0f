import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { crashed } from '../support/crashed.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';
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
const DAY = { start_date: '2025-11-10', end_date: '2025-11-10' };
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
  script: Script,
  messages: number,
): Promise<{ folder: string; jobId: string }> {
  const service = await serve(t, script);
  const { body } = await service.post('/simulate/trigger', DAY);
  const log = service.database.statement('SELECT count(*) AS count FROM reasoning_logs');
  await until(`${messages} messages`, () => Number(log.get()?.['count']) >= messages);
  await service.stop();
  return { folder: service.folder, jobId: body.job_id };
}

const logOf = ({ database }: TestService) =>
  rowsAsText(
    database,
    'SELECT role, substr(content, 1, 20) AS content FROM reasoning_logs ORDER BY session_id, message_index',
  );
const sessionsOf = ({ database }: TestService) =>
  rowsAsText(
    database,
    `SELECT concat_ws(' ', status, error, steps, total_messages) FROM trading_sessions ORDER BY session_id`,
  );

test('a model-day resumes where its reasoning log ends', async (t) => {
  const orders = [buy('AAPL', 10), buy('MSFT', 60)];
  const { folder, jobId } = await interrupt(t, { '*': [orders, wait] }, 4);
  const service = await serve(t, { '*': [orders, [buy('MSFT', 2)]] }, { folder });
  const status = await service.waitForJob(jobId);
  assert.equal(status.status, 'completed');
  assert.deepEqual(
    ledgerOf(service.database, 'model-a'),
    ledger(`
      2025-11-10 buy AAPL 10 100 => 9000 10010 10 AAPL:10
      2025-11-10 buy MSFT 2 200  => 8600 10012 12 AAPL:10 MSFT:2`),
  );
  assert.deepEqual(logOf(service), [
    'user {"date":"2025-11-10"',
    'assistant I trade.',
    'tool {"executed":"buy","s',
    'tool {"error":"Cannot buy',
    'assistant I trade.',
    'tool {"executed":"buy","s',
    'assistant Done.',
  ]);
  assert.deepEqual(sessionsOf(service), ['active 3 7']);
  assert.equal(status.details[0].steps, 3, 'no step was taken twice');
  assert.deepEqual(
    rowsAsText(service.database, 'SELECT tool_name, calls, refused FROM tool_usage'),
    ['buy 3 1'],
  );
});

const MISFIT = 'failed Set aside, because the reasoning log no longer matches:';
const books: Record<string, string> = {
  continued: `
    2025-11-10 buy AAPL 1 100 => 9900 10001 1 AAPL:1
    2025-11-10 buy AAPL 2 100 => 9700 10003 3 AAPL:3`,
  afresh: '2025-11-10 buy AAPL 5 100 => 9500 10005 5 AAPL:5',
  later: `
    2025-11-07 no_trade       => 5000 5000 -5000
    2025-11-10 buy AAPL 5 100 => 4500 5005 5 AAPL:5`,
};
/** An active day before, with half of the cash. */
const OF_ANOTHER_DAY = `
  INSERT INTO trading_sessions (session_id, job_id, date, model, status, initial_cash_e4, wording, started_at, completed_at)
    VALUES (9, 'other', '2025-11-07', 'model-a', 'active', 100000000, 1, '2025-11-07T12:00:00.000Z', '2025-11-07T12:00:00.000Z');
  INSERT INTO positions (session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4)
    VALUES (9, 1, 'no_trade', 50000000, 50000000, -50000000)`.replaceAll(/\s+/g, ' ');

/** What is changed of a day with one answer and its results; what comes of its sessions and books. */
const edits = tableOf<[name: string, sql: string, sessions: string, books: string]>(`
  an answer whose tool calls had not run yet is not requested again | DELETE FROM reasoning_logs WHERE role = 'tool' | failed asked again 1 4 | ${''}
  a day whose last answer was logged is completed without another request | INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp) VALUES (1, 4, 'assistant', 'Done.', 'now') | active 2 5 | continued
  prices that change before a session continues are not seen by it, nor by others of its date | UPDATE price_data SET open = open - 1 | active 2 5 | continued
  a log with another result is set aside, and the model-day starts over | UPDATE reasoning_logs SET content = '{"executed":"buy"}' WHERE message_index = 2 | ${MISFIT} buy in step 1 does not return what it did… active 2 4 | afresh
  so is one with another prompt | UPDATE reasoning_logs SET content = 'Good morning' WHERE role = 'user' | ${MISFIT} the prompt has changed… active 2 4 | afresh
  so is one with a lost result | UPDATE reasoning_logs SET role = 'system', tool_name = NULL WHERE message_index = 3 | ${MISFIT} step 1 has 1 results of 2 tool calls… active 2 4 | afresh
  so is one with calls that cannot be read | UPDATE reasoning_logs SET tool_calls = '[1]' WHERE role = 'assistant' | ${MISFIT} it holds tool calls that cannot be read… active 2 4 | afresh
  so is a session that started from another day | ${OF_ANOTHER_DAY} | ${MISFIT} the model-day starts from another day now…, active 0 0, active 2 4 | later
`);
test('a day with one answer and its results, after a crash', async (t) => {
  const orders = [buy('AAPL', 1), buy('AAPL', 2)];
  const { folder, jobId } = await interrupt(t, { '*': [orders, wait] }, 4);
  const again = [['fail', 'asked again']] as Script[string][0];
  for (const [name, sql, sessions, kept] of edits)
    await t.test(name, async (t) => {
      const options = { folder: crashed(folder, sql), isForged: true };
      const service = await serve(t, { '*': kept === '' ? [again] : [[buy('AAPL', 5)]] }, options);
      await service.waitForJob(jobId);
      assert.match(sessionsOf(service).join(', '), like(sessions));
      assert.deepEqual(ledgerOf(service.database, 'model-a'), ledger(books[kept] ?? ''));
    });
});
