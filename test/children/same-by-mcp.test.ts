import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Database } from '../../src/core/database/database.ts';
import { bearer, mcp, MODERN, modern, request } from '../support/mcp.ts';
import { run } from '../support/own-agents.ts';
import { TABLE_NAMES } from '../support/tables.ts';

/** An agent of the user's that trades by the tools of its day, over HTTP or MCP, leaves the same records. */

interface Called {
  status: number;
  /** What a model would read. */
  text: string;
}
type Day = Record<'url' | 'mcp_url' | 'token', string>;
type Way = (day: Day, tool: string, args: object) => Promise<Called>;

const byRest: Way = async ({ url, token }, tool, args) => {
  const response = await fetch(`${url}/day/tools/${encodeURIComponent(tool)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token) },
    body: JSON.stringify(args),
  });
  return { status: response.status, text: await response.text() };
};

/** By a tools/call; `isError` is for what has an `error`, and nothing else. */
const byMcp =
  (requestOf: (params: { name: string; arguments: object }) => ReturnType<typeof modern>): Way =>
  async ({ url, mcp_url, token }, tool, args) => {
    assert.equal(mcp_url, `${url}/mcp`);
    const { body: sent, headers } = requestOf({ name: tool, arguments: args });
    const answer = await mcp(url, { ...sent, id: tool }, { ...headers, ...bearer(token) });
    const { id, result } = answer.body;
    assert.equal(id, tool);
    const [{ type, text }, ...others] = result.content;
    assert.deepEqual([type, others, result.isError], ['text', [], 'error' in JSON.parse(text)]);
    return { status: answer.status, text };
  };

const OLDER = '2025-11-25';
const ways: Record<string, Way> = {
  [OLDER]: byMcp((params) => ({
    body: request('tools/call', params),
    headers: { 'mcp-protocol-version': OLDER },
  })),
  [MODERN]: byMcp((params) => modern('tools/call', params)),
};

/** What an agent calls on each day, in turn: what is carried out, refused, unknown, wrong, hidden. */
const CALLS: [tool: string, args: object][] = [
  ['get_portfolio', {}],
  ['get_price_history', { symbol: 'AAPL', days: 3 }],
  ['buy', { symbol: 'AAPL', amount: 3 }],
  ['buy', { symbol: 'AAPL', amount: 10_000 }],
  ['sell', { symbol: 'MSFT', amount: 1 }],
  ['sell', { symbol: 'AAPL' }],
  ['buy', { symbol: 'AAPL', amount: '2', note: 'é\u0000\u2028"' }],
  ['short', { symbol: 'AAPL' }],
  ['ü %2F/../buy', {}],
  ['get_price', { symbol: 'AAPL', date: '2025-12-24' }],
  ['calculate', { expression: 'own-key + 1' }],
  ['rebalance', { weights: { MSFT: 0.4, AAPL: 0.1 } }],
  ['calculate', { nested: JSON.parse('['.repeat(100) + ']'.repeat(100)) }],
  ['calculate', { expression: '1/3' }],
  ['calculate', { expression: '2/3' }],
];
const DATES = { start_date: '2025-10-15', end_date: '2025-10-17' };

/** Every row of every table, without ids, times and ports. */
function recordsOf(database: Database): string[] {
  const isLeftOut = (column: string) => /^(job_id|timestamp|.*_at|duration_.*)$/.test(column);
  return database
    .statement(TABLE_NAMES)
    .all()
    .flatMap(({ name }) =>
      database
        .statement(`SELECT * FROM "${name}"`)
        .all()
        .map((row) => {
          const kept = Object.entries(row).filter(([column]) => !isLeftOut(column));
          return `${name} ${JSON.stringify(kept)}`.replaceAll(/127\.0\.0\.1:\d+/g, 'here');
        }),
    );
}

async function trade(t: TestContext, call: Way) {
  const replies: Called[] = [];
  const { service, job } = await run(
    t,
    async ({ body }) => {
      for (const [tool, args] of CALLS) replies.push(await call(body.day, tool, args));
      const done = { done: true, reason: 'As always.', usage: { cost_usd: 0.25 } };
      return { body: done };
    },
    { dates: DATES, entry: { max_tool_calls: CALLS.length - 1 } },
  );
  assert.equal(job.status, 'completed');
  return { replies, records: recordsOf(service.database) };
}

test('the same agent by REST and by MCP reads the same bytes and leaves the same records', async (t) => {
  const expected = await trade(t, byRest);
  const texts = expected.replies.map(({ text }) => text);
  assert.equal(texts.length, 3 * CALLS.length);
  assert.match(texts.at(-1) ?? '', /^{"error":"This is call 15, and the limit is 14 a day/);
  for (const table of ['positions', 'decisions', 'reasoning_logs', 'tool_usage'])
    assert.ok(expected.records.filter((line) => line.startsWith(`${table} `)).length > 3, table);
  for (const [revision, call] of Object.entries(ways))
    assert.deepEqual(await trade(t, call), expected, revision);
});
