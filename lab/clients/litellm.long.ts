import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type ApiDialect, apiDialects } from '../../src/core/domain/vocabulary.ts';
import { realAgentHere } from '../../test/support/agent-here.ts';
import type { Step } from '../../test/support/dialect-servers.ts';
import { canInstall, run } from '../../test/support/foreign-tools.ts';
import { ledgerOf } from '../../test/support/ledger.ts';
import { calls } from '../../test/support/model-server.ts';
import { startProdService } from '../../test/support/prod.ts';
import { until } from '../../test/support/until.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/**
 * LiteLLM's proxy is independent of this project. It serves one scripted model in each of the three
 * dialects, as a whole response and as a stream. The test runs the same day in all six ways and
 * compares the results. The proxy is installed from PyPI; where that is not possible, the test is
 * skipped, and the message names the package.
 */

const TOOL = 'litellm[proxy]==1.106.2';
const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
const order = (symbol: string, amount: number): [string, object] => ['buy', { symbol, amount }];
const lookups: [string, object][] = [
  ['get_price', { symbol: 'AAPL' }],
  ['get_portfolio', {}],
];
const STEPS: Step[] = [
  { text: 'I look first.', thought: 'AAPL looks cheap → buy?', calls: lookups },
  { text: '', thought: 'Buy.', calls: [order('AAPL', 3), order('MSFT', 0.5)] },
  { text: 'Done for today.', thought: 'Enough.', calls: [] },
];
const prices = { input: 2, output: 10, cached_input: 0.2, cache_write: 2 };
const KEY = 'sk-of-the-proxy-0123';
const HANDLER = new URL('../fixtures/litellm/handler.py', import.meta.url);
/** pip downloads and unpacks about a hundred packages, on whatever line there is. */
const INSTALL_MS = 300_000;
/**
 * The proxy imports all its providers before it listens: seconds on idle cores, much more on busy
 * ones.
 */
const START_MS = 120_000;
/**
 * Six model-days take a second or two each; on busy cores a minute would still be a sign of life.
 */
const DAYS_MS = 180_000;
/** Each of the two steps of the installation and the start may take its longest. */
const TEST_MS = 2 * INSTALL_MS + START_MS + DAYS_MS;

const [BOUGHT] = (calls(order('AAPL', 3)).body as any).choices[0].message.tool_calls; // any: a body is unchecked JSON
/**
 * First answers of models behind the proxy, by their name. For ends that OpenAI does not know the
 * proxy has words of its own, so those do not pass.
 */
const FAULTY: Record<string, { message: object; finish_reason: string }> = {
  cut: {
    message: { content: null, tool_calls: [{ ...BOUGHT, index: 0 }] },
    finish_reason: 'length',
  },
  filtered: { message: { content: 'I will not.' }, finish_reason: 'content_filter' },
  empty: { message: { content: '' }, finish_reason: 'stop' },
  written: {
    message: { content: '<function=buy><parameter=symbol>AAPL</parameter></function>' },
    finish_reason: 'stop',
  },
};
/** What becomes of them: that of the day, malformed calls, refused answers. */
const fates: Record<string, [status: string, malformed: number, refused: number]> = {
  cut: ['completed', 1, 0],
  filtered: ['completed', 0, 1],
  empty: ['failed', 0, 0],
  written: ['completed', 1, 0],
};

/** The failures of a provider behind the proxy are what they are, in each dialect. */
async function assertFailuresPass(t: TestContext, proxy: string): Promise<void> {
  for (const api of apiDialects) {
    const openai_base_url = api === 'messages' ? proxy : `${proxy}/v1`;
    const models = Object.keys(FAULTY).map((name) => {
      const provider = { basemodel: name, openai_base_url, openai_api_key: KEY };
      return { signature: name, ...provider, api, stream: false };
    });
    const agentConfig = { max_retries: 0 };
    const service = await startProdService(t, {
      agent: await realAgentHere(),
      models,
      agentConfig,
    });
    const { details } = await service.runJob(DAY);
    const performance = (await service.get('/performance')).body;
    const found = details.map(({ model, status, error }: any) => {
      const trading = performance.models.find((one: any) => one.model === model)?.trading;
      if (error) t.diagnostic(`${api} ${model}: ${error}`);
      return [model, [status, trading?.malformed_calls ?? 0, trading?.refused_answers ?? 0]];
    });
    assert.deepEqual(Object.fromEntries(found), fates, api);
    for (const name of Object.keys(FAULTY).filter((one) => one !== 'empty'))
      assert.deepEqual(ledgerOf(service.database, name), ['2025-10-15 no_trade => 10000 10000 0']);
  }
}

/** The command of the proxy; null, with the test skipped, where it cannot be installed. */
function proxyIn(t: TestContext, folder: string): string | null {
  const known = process.env['LITELLM'];
  if (known !== undefined) return known;
  const limits = { cwd: folder, timeout: INSTALL_MS };
  const install = () => {
    run('python3', ['-m', 'venv', 'venv'], limits);
    run(join(folder, 'venv/bin/pip'), ['install', '-q', TOOL], limits);
  };
  return canInstall(t, TOOL, install) ? join(folder, 'venv/bin/litellm') : null;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts the proxy with the scripted models in it, and ends it after the test. */
async function startProxy(t: TestContext, command: string, folder: string): Promise<string> {
  copyFileSync(HANDLER, join(folder, 'handler.py'));
  writeFileSync(join(folder, 'steps.json'), JSON.stringify(STEPS));
  writeFileSync(join(folder, 'faulty.json'), JSON.stringify(FAULTY));
  const port = await freePort();
  writeFileSync(
    join(folder, 'config.yaml'),
    JSON.stringify({
      model_list: ['scripted', ...Object.keys(FAULTY)].map((name) => ({
        model_name: name,
        litellm_params: { model: `handmade/${name}` },
      })),
      litellm_settings: {
        custom_provider_map: [{ provider: 'handmade', custom_handler: 'handler.scripted' }],
      },
      general_settings: { master_key: KEY },
    }),
  );
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    NO_PROXY: '127.0.0.1',
  };
  const args = ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port)];
  const proxy: ChildProcess = spawn(command, args, { cwd: folder, env });
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
    START_MS,
  );
  return `http://127.0.0.1:${port}`;
}

test('the same day through six ways of LiteLLM: the same positions, conversation and costs', {
  timeout: TEST_MS,
}, async (t) => {
  const folder = temporaryFolder();
  const command = proxyIn(t, folder);
  if (command === null) return;
  const proxy = await startProxy(t, command, folder);
  await assertFailuresPass(t, proxy);
  const runDay = async (api: ApiDialect, stream: boolean) => {
    const openai_base_url = api === 'messages' ? proxy : `${proxy}/v1`;
    const provider = { basemodel: 'scripted', openai_base_url, openai_api_key: KEY };
    const entry = { signature: 'm', ...provider, api, stream, price_per_million_tokens: prices };
    const service = await startProdService(t, { agent: await realAgentHere(), models: [entry] });
    const { details, status } = await service.runJob(DAY);
    const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
    const conversation = sessions.flatMap((session: any) =>
      session.conversation.map(({ role, content, summary, tool_name, tool_input }: any) => {
        return [role, content, summary, tool_name, tool_input];
      }),
    );
    const [{ error, steps, prompt_tokens, completion_tokens, cost_usd }] = details;
    if (status !== 'completed') t.diagnostic(`${api} ${stream}: ${error}`);
    const ledger = ledgerOf(service.database, 'm');
    const figures = { steps, prompt_tokens, completion_tokens, cost_usd };
    return { status, error, ledger, conversation, ...figures };
  };
  const first = await runDay('chat', false);
  assert.equal(first.status, 'completed', String(first.error));
  const thoughts = first.conversation.flatMap(([role, , summary]: string[]) =>
    role === 'assistant' ? [summary] : [],
  );
  const scripted = STEPS.map(({ thought }) => thought);
  assert.deepEqual(thoughts, scripted);
  assert.deepEqual(first.ledger, ['2025-10-15 buy AAPL 3 110 => 9670 10001.5 1.5 AAPL:3']);
  for (const api of apiDialects)
    for (const stream of [false, true])
      assert.deepEqual(
        await runDay(api, stream),
        first,
        `${api}, ${stream ? 'streamed' : 'whole'}`,
      );
});
