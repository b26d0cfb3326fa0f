import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith } from '../../test/support/foreign-tools.ts';
import { installProgram, startServer } from '../../test/support/program.ts';

/**
 * The protocol's own conformance suite, its release and the one that knows 2026-07-28, against the
 * built service: the scenarios for servers with tools of their own choice. It comes from npm; where
 * it cannot be had, the test is skipped.
 */

const SUITES = { released: '0.1.16', newer: '0.2.0-alpha.12' };
type Suite = keyof typeof SUITES;
/**
 * How many checks of a scenario succeed, and which fail: those of prompts, resources and tools that
 * are not here. One scenario warns that there are no sessions.
 */
const SCENARIOS: [suite: Suite, scenario: string, succeeding: number, failing?: string[]][] = [
  ['released', 'server-initialize', 1],
  ['released', 'ping', 1],
  ['released', 'tools-list', 1],
  ['released', 'server-sse-multiple-streams', 0],
  ['released', 'dns-rebinding-protection', 2],
  ['newer', 'server-initialize', 2],
  ['newer', 'ping', 2],
  ['newer', 'tools-list', 3],
  ['newer', 'server-sse-multiple-streams', 0],
  ['newer', 'dns-rebinding-protection', 2],
  ['newer', 'http-header-validation', 14],
  [
    ...(['newer', 'server-stateless', 21] as const),
    [
      'HttpServerNoIndependentRequestsOnStream',
      'MissingCapabilityHttp400',
      'ServerNoLogWithoutLogLevel',
      'ServerRejectsUndeclaredCapability',
    ],
  ],
  [
    ...(['newer', 'caching', 4] as const),
    ['PromptsListCachingHints', 'ResourcesListCachingHints', 'ResourcesTemplatesListCachingHints'],
  ],
];

interface Check {
  name: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
}

test('the conformance suite of the protocol passes, but for what is not offered', async (t) => {
  const packages = Object.entries(SUITES).map(
    ([name, version]) => `${name}@npm:@modelcontextprotocol/conformance@${version}`,
  );
  const folder = folderWith(t, packages);
  if (folder === null) return;
  const env = { DEPLOYMENT_MODE: 'DEV' };
  const { url } = await startServer(t, { cwd: installProgram(), env });
  for (const [suite, scenario, succeeding, failing = []] of SCENARIOS)
    await t.test(`${SUITES[suite]}, ${scenario}`, () => {
      const program = join('node_modules', suite, 'dist/index.js');
      const out = `${suite}-${scenario}`;
      const args = [program, 'server', '--url', `${url}/mcp`, '--scenario', scenario];
      const said = spawnSync(process.execPath, [...args, '-o', out], {
        cwd: folder,
        encoding: 'utf8',
      });
      const [file] = globSync(join(folder, out, '**/checks.json'));
      assert.ok(file, said.stdout + said.stderr);
      const checks: Check[] = JSON.parse(readFileSync(file, 'utf8'));
      const named = (status: Check['status']) =>
        checks.flatMap((one) => (one.status === status ? [one.name] : [])).toSorted();
      assert.deepEqual(named('FAILURE'), failing, said.stdout);
      assert.equal(named('SUCCESS').length, succeeding, said.stdout);
    });
});
