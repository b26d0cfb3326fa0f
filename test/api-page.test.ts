import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pagePaths } from '../src/features/pages/paths.ts';
import { run } from './support/foreign-tools.ts';
import { temporaryFolder } from './support/folder.ts';
import { ask, installProgram, startServer, waitForJob } from './support/program.ts';

/** The commands and pages of docs/reference/api.md. */

const text = readFileSync(new URL('../docs/reference/api.md', import.meta.url), 'utf8');
const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
const commands = blocks.join('').match(/^curl (?:.*\\\n)*.*$/gm) ?? [];
const skip = spawnSync('curl', ['--version']).status !== 0 && 'there is no curl';

const models = ['gpt-5', 'claude', 'buy-and-hold'];
const CONFIGURATION = {
  models: models.map((signature) => ({
    signature,
    enabled: true,
    ...(signature === 'buy-and-hold' && { basemodel: 'baseline/buy-and-hold' }),
  })),
  agent_config: { stock_symbols: ['AAPL', 'NVDA'] },
};

test('the curl commands of docs/reference/api.md are requests that the service carries out', {
  skip,
}, async (t) => {
  const [trigger = '', ...others] = commands;
  assert.match(trigger, /trigger/);
  assert.ok(others.length > 10);
  const folder = temporaryFolder();
  const env = { DEPLOYMENT_MODE: 'DEV' };
  const { url } = await startServer(t, { cwd: installProgram(CONFIGURATION), env });
  const runCommand = (command: string) => {
    const here = command
      .replace('localhost:8080', url)
      .replace(/^curl/, 'curl -sS --fail-with-body');
    return run('sh', ['-c', here], { cwd: folder });
  };
  const { job_id: jobId, total_model_days: days } = JSON.parse(runCommand(trigger));
  assert.ok(text.includes(`"total_model_days":${days},`));
  assert.equal(JSON.parse(runCommand(trigger)).job_id, jobId, 'the same request again');
  await waitForJob(url, jobId);
  const more = {
    start_date: '2025-09-15',
    end_date: '2025-10-10',
    models: ['claude', 'buy-and-hold'],
  };
  const second = await ask(`${url}/simulate/trigger`, more);
  const isCancel = (command: string) => command.includes('/cancel/');
  for (const command of others.filter(isCancel))
    runCommand(command.replace('JOB-ID', second.job_id));
  await waitForJob(url, second.job_id);
  const isDiscard = (command: string) => command.includes('DELETE');
  for (const command of others.filter((own) => !isCancel(own) && !isDiscard(own)))
    runCommand(command.replace('JOB-ID', jobId));
  for (const name of ['results', 'figures']) assert.ok(existsSync(join(folder, `${name}.csv`)));
  for (const command of others.filter(isDiscard)) runCommand(command.replace('JOB-ID', jobId));
});

test('docs/reference/api.md names every page', () => {
  const section = text.split('\n## Pages\n')[1] ?? '';
  const paths = section
    .split('\n')
    .filter((line) => line.startsWith('- `/'))
    .flatMap((line) =>
      [...(line.split(':')[0]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, path = '']) => path),
    );
  assert.deepEqual(paths.sort(), [...pagePaths].sort());
});
