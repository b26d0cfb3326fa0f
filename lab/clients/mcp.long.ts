import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { folderWith, pythonWith, run } from '../../test/support/foreign-tools.ts';
import { installProgram, startServer } from '../../test/support/program.ts';

/**
 * The official clients of the Model Context Protocol, and those of two makers of agents, use the
 * tools of the built service. They come from their registries; where they cannot be had, their test
 * is skipped by name.
 */

const NPM = ['@modelcontextprotocol/sdk@1.32.2', '@modelcontextprotocol/client@2.4.0'];
const PYTHON = ['mcp==1.30.0', 'langchain-mcp-adapters==0.3.2', 'openai-agents==0.24.0'];
const fixture = (name: string) => new URL(`../fixtures/mcp/${name}`, import.meta.url).pathname;
const TOKEN = 'token-of-the-programs';
const [OLDER, MODERN] = ['2025-11-25', '2026-07-28'];
/** A client, how it speaks, the revision that both agree on, and its words for a wrong token. */
const clients: [name: string, mode: string, revision: string | null, refused: RegExp][] = [
  ['sdk', 'legacy', OLDER, /Unknown access token/],
  ['client', 'auto', MODERN, /requires authorization \(HTTP 401\)/],
  ['client', 'legacy', OLDER, /Unknown access token/],
  ['client', MODERN, MODERN, /requires authorization \(HTTP 401\)/],
];
const libraries: [name: string, revision: string | null, unknown: RegExp, refused: RegExp][] = [
  ['mcp', OLDER, /^There is no tool short\b/, /401 Unauthorized/],
  ['langchain', null, /^'short'$/, /401 Unauthorized/],
  ['agents', null, /^There is no tool short\b/, /HTTP error 401/],
];
const READING = [
  ...['job_status', 'list_jobs', 'results', 'performance', 'comparison', 'decisions'],
  ...['reasoning', 'models', 'price_coverage'],
];
const CHANGING = ['start_job', 'cancel_job'];

/** The built service with a token. */
async function startWithToken(t: TestContext): Promise<string> {
  const env = { DEPLOYMENT_MODE: 'DEV', API_TOKEN: TOKEN };
  return (await startServer(t, { cwd: installProgram(), env })).url;
}

interface Seen {
  revision: string | null;
  tools: string[];
  text: string;
  structured: { models?: unknown[] };
  missing: string;
  wrong: string;
  unknown: string;
  refused: string;
}

interface Expected {
  revision: string | null;
  unknown: RegExp;
  refused: RegExp;
}

function check(seen: Seen, { revision, unknown, refused }: Expected): void {
  assert.equal(seen.revision, revision);
  assert.deepEqual(seen.tools.toSorted(), [...READING, ...CHANGING].toSorted());
  assert.deepEqual(JSON.parse(seen.text), seen.structured);
  assert.equal(seen.structured.models?.length, 2);
  assert.equal(seen.missing, 'Job no-job not found');
  assert.match(seen.wrong, /^start_date: /);
  assert.match(seen.unknown, unknown);
  assert.match(seen.refused, refused);
}

test('the official clients for TypeScript list the tools, call them and read refusals, in each generation', async (t) => {
  const folder = folderWith(t, NPM);
  if (folder === null) return;
  const url = await startWithToken(t);
  for (const [library, mode, revision, refused] of clients)
    await t.test(`${library}, ${mode}`, () => {
      const args = [fixture('client.mjs'), library, mode, `${url}/mcp`, TOKEN];
      const seen = JSON.parse(run(process.execPath, args, { cwd: folder }));
      check(seen, { revision, unknown: /There is no tool short\b/, refused });
    });
});

test('the official client for Python, LangChain and the OpenAI Agents SDK do so too', async (t) => {
  const python = pythonWith(t, PYTHON);
  if (python === null) return;
  const url = await startWithToken(t);
  for (const [library, revision, unknown, refused] of libraries)
    await t.test(library, () => {
      const args = [fixture('client.py'), library, `${url}/mcp`, TOKEN];
      check(JSON.parse(run(python, args, { cwd: '/' })), { revision, unknown, refused });
    });
});
