import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './folder.ts';
import { ledgerOf } from './ledger.ts';
import { startProdService } from './prod.ts';
import { assertReplays } from './replays.ts';

/** The programs of the documents: those printed on a page, as they are there, and those in examples/. */

const ROOT = new URL('../..', import.meta.url);

/** The first block of Python on a page. */
export function pythonOn(page: string): string {
  const [, text] = /^```python\n([^]*?)^```/m.exec(readFileSync(new URL(page, ROOT), 'utf8')) ?? [];
  assert(text, `${page} has a program`);
  return text;
}

function textOf(name: string): string {
  if (name === 'flask_agent.py') return pythonOn('docs/guides/your-own-agent.md');
  return readFileSync(new URL(`examples/agents/${name}`, ROOT), 'utf8');
}

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
  const path = join(temporaryFolder(), name);
  writeFileSync(path, textOf(name));
  const command = name.endsWith('.py') ? python : process.execPath;
  const child = spawn(command, [path, '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  t.after(() => child.kill());
  let said = '';
  const listening = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
      // Flask writes a line with its URL, the others a line with only the port.
      const [, port] = /(?:http:\/\/127\.0\.0\.1:|^)(\d+)\r?\n/m.exec(said) ?? [];
      if (port !== undefined) listening.resolve(port);
    });
  child.once('close', () => listening.reject(new Error(`${name} has no port: ${said}`)));
  t.after(() => said.includes('Traceback') && t.diagnostic(said.slice(0, 12_000)));
  return `http://127.0.0.1:${await listening.promise}/decide`;
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
