import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { weekdays } from '../src/core/time/calendar.ts';
import { startDocsAgent } from './support/docs-agents.ts';
import { ask, installProgram, runProgram, startServer } from './support/program.ts';

/** The configuration and the command of docs/guides/your-own-agent.md run an agent in PROD on imported prices. */

const page = readFileSync(new URL('../docs/guides/your-own-agent.md', import.meta.url), 'utf8');
const find = (pattern: RegExp): string => pattern.exec(page)?.[1] ?? assert.fail(`${pattern}`);
const skip = spawnSync('python3', ['--version']).status !== 0 && 'there is no python3';

test('an agent of docs/guides/your-own-agent.md trades with its configuration and its command', {
  skip,
}, async (t) => {
  const json = find(/^```json\n([^]*?)^```/m);
  const words = find(/^npx trading-simulation-service (trigger .*)$/m).split(' ');
  const agentUrl = await startDocsAgent(t, 'rule.py');
  const cwd = installProgram(JSON.parse(json.replace(/http:[^"]*/, agentUrl)));
  const rows = weekdays('2025-10-06', '2025-10-17').flatMap((date, day) =>
    ['AAPL', 'MSFT'].map((symbol) => `${symbol},${date},${100 + day},${100 + day}`),
  );
  writeFileSync(join(cwd, 'prices.csv'), ['symbol,date,open,close', ...rows, ''].join('\n'));
  const imported = await runProgram(['import-prices', 'prices.csv', '--as', 'raw'], { cwd });
  assert.equal(imported.code, 0, imported.stderr);
  const { url } = await startServer(t, { cwd, env: { DEPLOYMENT_MODE: 'PROD' } });
  const ended = await runProgram([...words, '--url', url], { cwd });
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);
  const { results } = await ask(`${url}/results?model=my-agent`);
  assert.deepEqual(
    results.slice(0, 2).map(({ action_type: type, symbol }: any) => `${type} ${symbol}`),
    ['buy AAPL', 'buy MSFT'],
  );
});
