import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../test/support/until.ts';

/**
 * Makes a package of a small demo job by the built program: two simulated models, one of them
 * twice, and a baseline on 22 days with synthetic prices. The job continues from one before it, so
 * the package has openings.
 * `node lab/demo-package.ts FILE`; docs/demo-package.db was made with schema 1 and stays as it is
 * from the first release on, so that every later version shows that it can verify it.
 */

const CONFIGURATION = {
  models: [
    { signature: 'simulated-1', enabled: true, notes: true, repeats: 2 },
    { signature: 'simulated-2', enabled: true, prompt: 'Prefer shares that have fallen.' },
    { signature: 'buy-and-hold', enabled: true, basemodel: 'baseline/buy-and-hold' },
  ],
  agent_config: {
    stock_symbols: ['AAPL', 'COST', 'NVDA'],
    initial_cash: 10_000,
    commission_per_trade: 1,
    slippage_bps: 2,
  },
};
const JOBS = [
  { start_date: '2026-09-30', end_date: '2026-10-02' },
  { start_date: '2026-10-05', end_date: '2026-11-03' },
];

async function makePackage(target: string): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'tss-'));
  mkdirSync(join(cwd, 'configs'));
  copyFileSync(new URL('../dist/server.js', import.meta.url), join(cwd, 'server.js'));
  writeFileSync(join(cwd, 'configs/default_config.json'), JSON.stringify(CONFIGURATION));
  const env = {
    DEPLOYMENT_MODE: 'DEV',
    API_PORT: '0',
    RUNTIME_CONFIG_PATH: join(cwd, 'runtime_config.json'),
    LOG_LEVEL: 'INFO',
  };
  const server = spawn(process.execPath, ['server.js'], { cwd, env });
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk) => (output += chunk));
  const portIn = () =>
    /"port":(\d+)|:(\d{4,5})/
      .exec(output)
      ?.slice(1)
      .find((port) => port !== undefined);
  await until('the service listens', () => portIn() !== undefined);
  const url = `http://127.0.0.1:${portIn()}`;
  const ask = async (path: string, body?: object): Promise<Record<string, string>> => {
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    return (await fetch(url + path, body === undefined ? {} : request)).json() as Promise<
      Record<string, string>
    >;
  };
  let jobId = '';
  for (const job of JOBS) {
    jobId = String((await ask('/simulate/trigger', job))['job_id']);
    await until(
      'the job has ended',
      async () => (await ask(`/simulate/status/${jobId}`))['status'] === 'completed',
    );
  }
  const backup = spawn(process.execPath, ['server.js', 'backup', '--job', jobId, target], {
    cwd,
    env,
    stdio: 'inherit',
  });
  const [code] = await once(backup, 'exit');
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(cwd, { recursive: true });
  process.exitCode = Number(code);
}

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('Cannot make a package: name the file');
await makePackage(resolve(target));
