import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startDocsAgent, tradeDays } from '../../test/support/docs-agents.ts';
import { folderWith, pythonWith } from '../../test/support/foreign-tools.ts';
import {
  calls,
  type ModelRequest,
  type Reply,
  says,
  startModelServer,
  whereIs,
} from '../../test/support/model-server.ts';
import { BOUGHT } from '../../test/support/own-agents.ts';

/**
 * Agents that are programs, as they are in docs/guides/your-own-agent.md, trade a day through the Model Context
 * Protocol: those around a model with a model on loopback, those of the command line as programs
 * that read the same options and speak by the official client. All come from their registries.
 */

const LANGCHAIN = [
  'langchain==1.5.2',
  'langchain-openai==1.7.4',
  'langchain-mcp-adapters==0.3.2',
  'mcp==1.30.0',
];
const OPENAI_AGENTS = ['openai-agents==0.24.0', 'mcp==1.30.0'];
const CLIENT = '@modelcontextprotocol/client@2.4.0';
const STAND_IN = new URL('../fixtures/mcp/stand-in.mjs', import.meta.url);
const REFUSAL = 'Cannot buy 10000 AAPL at 110.00: cash is 9,670.00, enough for 87';

const DATES = { start_date: '2025-10-15', end_date: '2025-10-17' };
/** The ledger of three shares a day. */
const LEDGER = [
  ...BOUGHT,
  '2025-10-16 buy AAPL 3 111 => 9337 10006 4.5 AAPL:6',
  '2025-10-17 buy AAPL 3 112 => 9001 10013.5 7.5 AAPL:9',
];

/** What the log has of the calls of a day: tool, arguments, and the error of a refusal. */
const callsIn = ({ conversation }: { conversation: Record<string, string>[] }) =>
  conversation.flatMap(({ tool_name: name, tool_input: input = '', content = '' }) =>
    name ? [[name, JSON.parse(input), JSON.parse(content).error]] : [],
  );

const ORDERS = [
  ['buy', { symbol: 'AAPL', amount: 3 }, undefined],
  ['buy', { symbol: 'AAPL', amount: 10_000 }, REFUSAL],
];

/** A model that looks, buys, cannot buy more, and says why. */
const STEPS: [tool: string, args: unknown][] = [
  ['get_price', { symbol: 'AAPL' }],
  ['buy', { symbol: 'AAPL', amount: 3 }],
  ['buy', { symbol: 'AAPL', amount: 10_000 }],
];

/** Its answers; the OpenAI Agents SDK wants an id of its own for each call. */
function decide(request: ModelRequest): Reply {
  const { step } = whereIs(request);
  const call = STEPS[step - 1];
  if (call === undefined) return says('It is cheap.');
  return JSON.parse(JSON.stringify(calls(call)).replace('call_0', `call_${step}`));
}

for (const [name, packages] of Object.entries({
  'chain.py': LANGCHAIN,
  'team.py': OPENAI_AGENTS,
}))
  test(`${name} trades three days: its model looks, buys, reads a refusal and says why`, async (t) => {
    const python = pythonWith(t, packages);
    if (python === null) return;
    const model = await startModelServer(t, decide);
    const env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'key-of-mine', NO_PROXY: '*' };
    const url = await startDocsAgent(t, name, { args: ['scripted'], python, env });
    const { ledger, sessions, job } = await tradeDays(t, url, DATES);
    assert.deepEqual(ledger, LEDGER);
    assert.deepEqual(callsIn(sessions[0]), [
      ['get_price', { symbol: 'AAPL' }, undefined],
      ...ORDERS,
    ]);
    assert.equal(sessions[0].session_summary, 'It is cheap.');
    const [{ prompt_tokens, completion_tokens }] = job.details;
    assert.deepEqual([prompt_tokens, completion_tokens], [4_000, 400]);
    for (const { path, headers, body } of model.requests)
      assert.deepEqual(
        [path, headers.authorization, body.model, body.parallel_tool_calls],
        ['/v1/chat/completions', 'Bearer key-of-mine', 'scripted', false],
      );
    assert.match(JSON.stringify(model.requests[3]?.body.messages.at(-1)), /enough for 87/);
  });

/** Programs called `claude` and `codex`, in a folder for PATH. */
function standIns(t: TestContext): string | null {
  const folder = folderWith(t, [CLIENT]);
  if (folder === null) return null;
  copyFileSync(STAND_IN, join(folder, 'stand-in.mjs'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['claude', 'codex']) {
    const line = `exec '${process.execPath}' '${folder}/stand-in.mjs' ${name} "$@"`;
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  }
  return bin;
}

test('command.py starts a command-line agent for each day, which trades and says why', async (t) => {
  const bin = standIns(t);
  if (bin === null) return;
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
  for (const program of ['claude', 'codex']) {
    const url = await startDocsAgent(t, 'command.py', { args: [program], env });
    const { ledger, sessions, job } = await tradeDays(t, url, DATES);
    assert.deepEqual(ledger, LEDGER, program);
    assert.deepEqual(callsIn(sessions[0]), ORDERS);
    const said = `bought 3 on 2025-10-15; ${JSON.stringify({ error: REFUSAL })}`;
    assert.equal(sessions[0].session_summary.trim(), said);
    if (program === 'claude') assert.equal(job.details[0].cost_usd, 0.25);
  }
});
