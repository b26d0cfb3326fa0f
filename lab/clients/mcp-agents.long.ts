import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startDemoView } from '../../test/support/demo-view.ts';
import { pythonOn, startDocsAgent, tradeDays } from '../../test/support/docs-agents.ts';
import { temporaryFolder } from '../../test/support/folder.ts';
import { folderWith, pythonWith, runAsync } from '../../test/support/foreign-tools.ts';
import {
  calls,
  type ModelRequest,
  type Reply,
  says,
  startModelServer,
  whereIs,
} from '../../test/support/model-server.ts';
import { BOUGHT } from '../../test/support/own-agents.ts';
import { followProgram } from '../../test/support/program.ts';

/**
 * The agents of docs/guides/your-own-agent.md and examples/agents/ that need packages trade days, most through the
 * Model Context Protocol: those around a model with a model on loopback, those of the command line as programs that
 * read the same options and speak by the official client. All packages come from their registries.
 */

const LANGCHAIN = [
  'flask==3.1.3',
  'langchain==1.5.2',
  'langchain-openai==1.7.4',
  'langchain-mcp-adapters==0.3.2',
  'mcp==1.30.0',
];
const FLASK = ['flask==3.1.3', 'requests==2.34.2'];
const OPENAI_AGENTS = ['openai-agents==0.24.0', 'mcp==1.30.0'];
const BRIDGE = 'mcp-remote@0.15.1';
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
  'langchain_agent.py': LANGCHAIN,
  'openai_agents.py': OPENAI_AGENTS,
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

test('flask_agent.py trades a week: it reads prices, and holds the symbol that rose most', async (t) => {
  const python = pythonWith(t, FLASK);
  if (python === null) return;
  const env = { NO_PROXY: '*' };
  const { ledger, sessions } = await tradeDays(
    t,
    await startDocsAgent(t, 'flask_agent.py', { python, env }),
    { start_date: '2025-10-13', end_date: '2025-10-17' },
  );
  assert.match(ledger[0] ?? '', /^2025-10-13 buy AAPL 46 108 /);
  assert.match(sessions[0].session_summary, /^AAPL changed most over the last closes: \+\d+\.\d%$/);
});

/** A model that compares the models, and quotes the sentence. */
function quoteComparison({ body }: ModelRequest): Reply {
  const last = body.messages.at(-1);
  if (last.role !== 'tool') return calls(['comparison', {}]);
  return says(/[\w-]+ leads with [^"\\]*/.exec(JSON.stringify(last.content))?.[0] ?? 'nothing');
}

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const ASK = textOf('examples/ask_openai_agents.py');
for (const [name, packages, text] of [
  ['docs/guides/model-context-protocol.md', LANGCHAIN, null],
  ['examples/ask_openai_agents.py', OPENAI_AGENTS, ASK],
] as const)
  test(`the program of ${name} lets a model read the results of the service`, async (t) => {
    const python = pythonWith(t, packages);
    if (python === null) return;
    const url = await startDemoView(t);
    const model = await startModelServer(t, quoteComparison);
    const own = { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'key-of-mine', NO_PROXY: '*' };
    const path = join(temporaryFolder(), 'ask.py');
    writeFileSync(path, (text ?? pythonOn(name)).replace('http://127.0.0.1:8080', url));
    const args = [path, 'scripted', 'Which model leads?'];
    const stdout = await runAsync(python, args, { cwd: temporaryFolder(), env: own });
    assert.match(stdout, /^simulated-2 leads with \+10\.06 % over 22 days/);
    const offered = model.requests[0]?.body.tools.map(({ function: { name: tool } }: any) => tool);
    assert.ok(offered.includes('performance') && !offered.includes('start_job'));
  });

test('the commands of docs/guides/model-context-protocol.md add the service to Claude Code and Codex', async (t) => {
  const folder = folderWith(t, ['@anthropic-ai/claude-code@2.1.197', '@openai/codex@0.171.0']);
  if (folder === null) return;
  const bin = join(folder, 'node_modules/.bin');
  // npm ran no scripts, which put the program there.
  const [claude = ''] = globSync('node_modules/@anthropic-ai/claude-code-*/claude', {
    cwd: folder,
  });
  rmSync(join(bin, 'claude'));
  symlinkSync(join(folder, claude), join(bin, 'claude'));
  const API_TOKEN = 'token-of-an-assistant';
  const url = await startDemoView(t, { API_TOKEN });
  const page = textOf('docs/guides/model-context-protocol.md');
  const lines = page.match(/^(?:claude|codex) mcp add .*$/gm) ?? [];
  assert.equal(lines.length, 2);
  const PATH = `${bin}${delimiter}${process.env['PATH']}`;
  const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };
  const env = { PATH, HOME: folder, API_TOKEN, NO_PROXY: '*', ...quiet };
  for (const line of [...lines, 'claude mcp list', 'codex mcp list']) {
    const own = line.replace('http://127.0.0.1:8080', url);
    const stdout = await runAsync('sh', ['-c', own], { cwd: folder, env });
    if (line === 'claude mcp list') assert.match(stdout, /^trading: .*Connected$/m);
    if (line === 'codex mcp list') assert.match(stdout, /^trading .*API_TOKEN/m);
  }
});

test('the command of docs/guides/model-context-protocol.md for Claude Desktop leads to the tools', async (t) => {
  const folder = folderWith(t, [BRIDGE]);
  if (folder === null) return;
  const url = await startDemoView(t, { API_TOKEN: 'TOKEN' });
  const text = textOf('docs/guides/model-context-protocol.md');
  const [server = ''] = /^"trading": [^]*?(?=^```)/m.exec(text) ?? [];
  const { args, env } = JSON.parse(`{${server}}`).trading;
  const [program, ...words] = args.map((word: string) =>
    word.replace('http://127.0.0.1:8080', url),
  );
  const bridge = spawn(join(folder, 'node_modules/.bin', program), words, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, NO_PROXY: '*', ...env },
  });
  t.after(() => bridge.kill());
  const { waitFor } = followProgram(bridge);
  const send = (message: object) =>
    bridge.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'desktop', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  send({ id: 1, method: 'initialize', params });
  await waitFor(/"id":1/);
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/list' });
  const [listed] = await waitFor(/^.*"id":2.*$/m);
  assert.ok(JSON.parse(listed).result.tools.some(({ name }: any) => name === 'comparison'));
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

test('command_line.py starts a command-line agent for each day, which trades and says why', async (t) => {
  const bin = standIns(t);
  if (bin === null) return;
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
  for (const program of ['claude', 'codex']) {
    const url = await startDocsAgent(t, 'command_line.py', { args: [program], env });
    const { ledger, sessions, job } = await tradeDays(t, url, DATES);
    assert.deepEqual(ledger, LEDGER, program);
    assert.deepEqual(callsIn(sessions[0]), ORDERS);
    const said = `bought 3 on 2025-10-15; ${JSON.stringify({ error: REFUSAL })}`;
    assert.equal(sessions[0].session_summary.trim(), said);
    if (program === 'claude') assert.equal(job.details[0].cost_usd, 0.25);
  }
});
