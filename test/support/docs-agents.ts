import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './folder.ts';
import { ledgerOf } from './ledger.ts';
import { startProdService } from './prod.ts';
import { assertReplays } from './replays.ts';

/** The agents of docs/guides/your-own-agent.md, as they are there. */

const page = readFileSync(new URL('../../docs/guides/your-own-agent.md', import.meta.url), 'utf8');
const programs = new Map(
  [...page.matchAll(/^`(\w+\.(?:py|mts))` [^]*?```(?:python|ts)\n([^]*?)```/gm)].map(
    ([, name = '', text = '']) => [name, text],
  ),
);

interface StartOptions {
  /** Those after the port. */
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  python?: string;
}

/** Starts one on a free port, until the test ends; resolves to the URL for an entry. */
export async function startDocsAgent(
  t: TestContext,
  name: string,
  { args = [], env = process.env, python = 'python3' }: StartOptions = {},
): Promise<string> {
  const text = programs.get(name);
  assert(text, `docs/guides/your-own-agent.md has ${name}`);
  assert.ok(text.trimEnd().split('\n').length <= 40, `${name} has at most 40 lines`);
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  const command = name.endsWith('.py') ? python : process.execPath;
  const child = spawn(command, [path, '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  t.after(() => child.kill());
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  t.after(() => said.includes('Traceback') && t.diagnostic(said.slice(0, 12_000)));
  const [port] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  assert.ok(Number(port) > 0, `${name} has no port: ${said}`);
  return `http://127.0.0.1:${Number(port)}/decide`;
}

/** What an agent has traded in a job over some dates. */
export async function tradeDays(t: TestContext, agent_url: string, dates: object) {
  const service = await startProdService(t, {
    models: [{ signature: 'm', api: 'agent', agent_url }],
  });
  const job = await service.runJob({ ...dates });
  assert.deepEqual([job.details[0].error, job.status, job.warnings], [null, 'completed', null]);
  await assertReplays(service.database);
  const { sessions } = (await service.get('/reasoning?include_full_conversation=true')).body;
  return { service, job, sessions, ledger: ledgerOf(service.database, 'm') };
}
