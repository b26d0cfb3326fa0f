import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ledgerOf } from '../support/ledger.ts';
import { inLongForm, leftToLongForm } from '../support/long.ts';
import { startModelServer } from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { assertReplays } from '../support/replays.ts';
import { temporaryFolder } from '../support/folder.ts';

/** The agents of docs/agents.md, as they stand there, trade whole jobs. */

const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
const programs = [...page.matchAll(/^`(\w+\.(?:py|mts))` [^]*?```(?:python|ts)\n([^]*?)```/gm)].map(
  ([, name = '', text = '']) => ({ name, text }),
);
const hasPython = spawnSync('python3', ['--version']).status === 0;
const DATES = { start_date: '2025-10-13', end_date: '2025-10-17' };

/** Starts one on a free port; it ends with the test. */
async function start(t: TestContext, name: string, args: string[] = []): Promise<string> {
  const found = programs.find((program) => program.name === name);
  assert(found, `docs/agents.md has ${name}`);
  assert.ok(found.text.trimEnd().split('\n').length <= 40, `${name} has at most 40 lines`);
  const path = join(temporaryFolder(), name);
  writeFileSync(path, found.text);
  const command = name.endsWith('.py') ? 'python3' : process.execPath;
  const child: ChildProcess = spawn(command, [path, '0', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => child.kill());
  assert(child.stdout);
  const [port] = await once(child.stdout, 'data');
  return `http://127.0.0.1:${Number(port)}/decide`;
}

async function trade(t: TestContext, agent_url: string): Promise<string[]> {
  const service = await startProdService(t, {
    models: [{ signature: 'm', api: 'agent', agent_url }],
  });
  const job = await service.runJob(DATES);
  assert.deepEqual([job.status, job.warnings], ['completed', null]);
  await assertReplays(service.database);
  return ledgerOf(service.database, 'm').map((line) => line.split(' =>')[0] ?? '');
}

test('rule.py trades a week', { skip: !hasPython }, async (t) => {
  const ledger = await trade(t, await start(t, 'rule.py'));
  assert.equal(ledger[0], '2025-10-13 buy AAPL 83 108');
  assert.equal(ledger.length, 5);
});

test('looks.mts trades a week through the tools of its days', inLongForm, async (t) => {
  const ledger = await trade(t, await start(t, 'looks.mts'));
  assert.match(ledger[0] ?? '', /^2025-10-13 buy AAPL 46 108$/);
});

test('arena.py asks another agent, symbol by symbol', {
  skip: !hasPython || leftToLongForm,
}, async (t) => {
  const arena = await startModelServer(t, ({ body: { date, symbol } }) => {
    const action = symbol[0] === 'MSFT' ? 'HOLD' : date < '2025-10-15' ? 'BUY' : 'SELL';
    return { body: { recommended_action: action } };
  });
  const url = await start(t, 'arena.py', [`http://127.0.0.1:${arena.port}`]);
  const ledger = await trade(t, url);
  assert.deepEqual(
    ledger.filter((line) => !line.includes('no_trade')),
    ['2025-10-13 buy AAPL 46 108', '2025-10-15 sell AAPL 46 110'],
  );
  assert.equal(arena.requests[0]?.path, '/trading_action/');
});
