import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ApiDialect, apiDialects } from '../../src/domain.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { type Step, replyTo } from '../support/dialect-servers.ts';
import { ledgerOf } from '../support/ledger.ts';
import { startModelServer } from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';

/**
 * LiteLLM's proxy, which nobody here wrote, serves one scripted model in the three dialects, whole
 * and streamed: the same day through the six ways. It comes from PyPI, and the test is skipped by
 * name where it cannot be had.
 */

const TOOL = 'litellm[proxy]==1.106.2';
const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
const STEPS: Step[] = [
  {
    text: 'I look first.',
    thought: '',
    calls: [
      ['get_price', { symbol: 'AAPL' }],
      ['get_portfolio', {}],
    ],
  },
  {
    text: '',
    thought: '',
    calls: [
      ['buy', { symbol: 'AAPL', amount: 3 }],
      ['buy', { symbol: 'MSFT', amount: 0.5 }],
    ],
  },
  { text: 'Done for today.', thought: '', calls: [] },
];
const prices = { input: 2, output: 10, cached_input: 0.2, cache_write: 2 };
const KEY = 'sk-of-the-proxy-0123';

/** The command of the proxy; null, with the test skipped, where it cannot be installed. */
function install(t: TestContext, folder: string): string | null {
  const known = process.env['LITELLM'];
  if (known !== undefined) return known;
  const steps = [
    ['python3', '-m', 'venv', join(folder, 'venv')],
    [join(folder, 'venv/bin/pip'), 'install', '-q', TOOL],
  ];
  for (const [command = '', ...args] of steps) {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000 });
    if (status === 0) continue;
    t.skip(`${TOOL} cannot be had: ${String(stderr).slice(-300)}`);
    return null;
  }
  return join(folder, 'venv/bin/litellm');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts the proxy in front of a provider, and ends it after the test. */
async function startProxy(
  t: TestContext,
  command: string,
  { folder, provider }: { folder: string; provider: string },
): Promise<string> {
  const port = await freePort();
  writeFileSync(
    join(folder, 'config.yaml'),
    JSON.stringify({
      model_list: [
        {
          model_name: 'scripted',
          litellm_params: { model: 'lm_studio/scripted', api_base: provider, api_key: 'none' },
        },
      ],
      general_settings: { master_key: KEY },
    }),
  );
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    NO_PROXY: '127.0.0.1',
  };
  const proxy: ChildProcess = spawn(
    command,
    ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port)],
    { cwd: folder, env },
  );
  let said = '';
  for (const stream of [proxy.stdout, proxy.stderr])
    stream?.on('data', (chunk) => (said = (said + chunk).slice(-2_000)));
  t.after(async () => {
    proxy.kill('SIGKILL');
    await once(proxy, 'close');
  });
  await until(
    'the proxy to listen',
    async () => {
      assert.equal(proxy.exitCode, null, said);
      return fetch(`http://127.0.0.1:${port}/health/liveliness`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    120_000,
  );
  return `http://127.0.0.1:${port}`;
}

test('the same day through six ways of LiteLLM: the same positions, conversation and costs', {
  timeout: 900_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const command = install(t, folder);
  if (command === null) return;
  const provider = await startModelServer(t, (request) =>
    request.method === 'GET'
      ? { body: { data: [] } }
      : replyTo(request, STEPS, { isStrict: false }),
  );
  const proxy = await startProxy(t, command, { folder, provider: provider.baseUrl });
  const run = async (api: ApiDialect, stream: boolean) => {
    const openai_base_url = api === 'messages' ? proxy : `${proxy}/v1`;
    const entry = {
      signature: 'm',
      basemodel: 'scripted',
      openai_base_url,
      openai_api_key: KEY,
      api,
      stream,
      price_per_million_tokens: prices,
    };
    const service = await startProdService(t, { agent: await realAgentHere(), models: [entry] });
    const { details, status } = await service.runJob(DAY);
    const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
    const conversation = sessions.flatMap((session: any) =>
      session.conversation.map(({ role, content, tool_name, tool_input }: any) => ({
        role,
        content,
        tool_name,
        tool_input,
      })),
    );
    if (status !== 'completed') t.diagnostic(`${api} ${stream}: ${details[0].error}`);
    const [{ error, steps, prompt_tokens, completion_tokens, cost_usd }] = details;
    return {
      status,
      error,
      steps,
      prompt_tokens,
      completion_tokens,
      cost_usd,
      ledger: ledgerOf(service.database, 'm'),
      conversation,
    };
  };
  const first = await run('chat', false);
  assert.equal(first.status, 'completed', String(first.error));
  assert.deepEqual(first.ledger, ['2025-10-15 buy AAPL 3 110 => 9670 10001.5 1.5 AAPL:3']);
  for (const api of apiDialects)
    for (const stream of [false, true])
      assert.deepEqual(await run(api, stream), first, `${api}, ${stream ? 'streamed' : 'whole'}`);
});
