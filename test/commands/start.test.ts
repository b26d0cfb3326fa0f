import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { startOnDisk, noDisk } from '../support/disk.ts';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  ask,
  installProgram,
  runProgram,
  RUNTIME_CONFIG,
  smallConfiguration,
  startServer,
  waitForJob,
} from '../support/program.ts';

const STRANGER = 54_321;
const notRoot = process.geteuid?.() === 0 ? false : 'only root can give files to another user';
const REQUEST = { start_date: '2025-01-02', end_date: '2025-01-02' };
const REASON = /belongs to user 54321.*chown/;

// At the trigger and at the start, before anything is erased.
test('a configuration or prompt of another user is refused', { skip: notRoot }, async (t) => {
  const cwd = installProgram();
  const shared = join(cwd, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  const [config, prompt] = [join(shared, 'config.json'), join(shared, 'prompt.txt')];
  writeFileSync(prompt, 'Be bold.');
  const [first, ...others] = smallConfiguration.models;
  const models = [{ ...first, prompt_file: 'prompt.txt' }, ...others];
  writeFileSync(config, JSON.stringify({ ...smallConfiguration, models }));
  const env = { DEPLOYMENT_MODE: 'DEV', RUNTIME_CONFIG_PATH: config };
  const server = await startServer(t, { cwd, env });
  const trigger = () => ask(`${server.url}/simulate/trigger`, REQUEST);
  await waitForJob(server.url, (await trigger()).job_id);
  for (const path of [config, prompt]) {
    chownSync(path, STRANGER, STRANGER);
    assert.match((await trigger()).detail, REASON);
    chownSync(path, 0, 0);
  }
  server.process.kill('SIGTERM');
  await server.ended;
  const database = readFileSync(join(cwd, 'data/jobs_dev.db'));
  for (const path of [config, prompt]) {
    chownSync(path, STRANGER, STRANGER);
    const { code, stderr } = await runProgram([], { cwd, env: { ...env, API_PORT: '0' } });
    assert.equal(code, 1);
    assert.match(stderr, /^Cannot start: Cannot (use|read) the server configuration/);
    assert.match(stderr, REASON);
    chownSync(path, 0, 0);
  }
  assert.deepEqual(readFileSync(join(cwd, 'data/jobs_dev.db')), database);
});

test('a start with a broken configuration succeeds with a warning; placeholders and unknown keys are logged once, and every trigger warns of the keys', async (t) => {
  const cwd = installProgram();
  const config = join(cwd, 'configs/default_config.json');
  writeFileSync(config, '{"models": [');
  const server = await startServer(t, { cwd, env: { DEPLOYMENT_MODE: 'DEV' } });
  const trigger = async () => ask(`${server.url}/simulate/trigger`, REQUEST);
  assert.match((await trigger()).detail, /it is not JSON \(line 1 column 13\)$/);
  const [first, ...others] = smallConfiguration.models;
  const openai_api_key = 'YOUR_OPENAI_API_KEY,you can write them in .env file';
  const models = [{ ...first, openai_api_key }, ...others];
  const agent_cfg = { max_cost_usd: 1 };
  writeFileSync(config, JSON.stringify({ ...smallConfiguration, agent_cfg, models }));
  const unknown =
    'Unknown keys in the configuration are ignored: agent_cfg (did you mean "agent_config"?)';
  for (const request of [REQUEST, { ...REQUEST, replace_existing: true }]) {
    const { job_id, warnings } = await ask(`${server.url}/simulate/trigger`, request);
    assert.deepEqual(warnings, [unknown]);
    assert.ok((await waitForJob(server.url, job_id)).warnings.includes(unknown));
  }
  server.process.kill('SIGTERM');
  const { stderr } = await server.ended;
  const logged = stderr.split('\n').filter((line) => line.includes('"level":"WARNING"'));
  const linesWith = (words: string) => logged.filter((line) => line.includes(words));
  const placeholders = linesWith('placeholders in the configuration are ignored');
  assert.match(placeholders.join('\n'), /^.*"fields":"models\['model-a'\]\.openai_api_key".*$/);
  assert.equal(linesWith(JSON.stringify(unknown)).length, 1);
  assert.equal(linesWith('default_config.json: it is not JSON (line 1 column 13)').length, 1);
  const missing = `RUNTIME_CONFIG_PATH names ${RUNTIME_CONFIG}, and there is no such file: the configuration is configs/default_config.json`;
  assert.equal(linesWith(missing).length, 1);
  assert.doesNotMatch(stderr, /you can write them/);
});

// In a name space with its own /tmp, which holds nothing else.
test('a configuration that every folder shares, misspelt names and placeholders are warnings at the start', {
  skip: noDisk || (process.execPath.startsWith('/tmp/') && 'Node itself is in /tmp here'),
}, async (t) => {
  const cwd = installProgram();
  const [first] = smallConfiguration.models;
  const models = [{ ...first, openai_api_key_env: 'OPENAI_API_KEY_2' }];
  const config = join(cwd, 'configs/default_config.json');
  writeFileSync(config, JSON.stringify({ ...smallConfiguration, models }));
  const names = ['DEPLOYMENT_MOD=DEV', 'api_port=1', 'OPENAI_API_KEY_2=your_key_here'];
  writeFileSync(join(cwd, '.env'), names.join('\n'));
  const merge = `${process.execPath} server.js merge-config`;
  const before = `mount --bind . /mnt && mount -t tmpfs tmpfs /tmp && cd /mnt && ${merge}`;
  const { waitFor } = startOnDisk(t, ['serve'], { cwd, env: { API_PORT: '0' }, kb: 64, before });
  const shared = '/tmp/runtime_config.json';
  const note =
    '. The service reads this file whichever folder it starts in; to prevent that, delete the file or set RUNTIME_CONFIG_PATH to another path';
  await waitFor(new RegExp(`copied .* to ${shared}${RegExp.escape(note)}\n`));
  const said = [
    `The configuration is ${shared}${note}`,
    'Unknown names in .env are ignored: DEPLOYMENT_MOD (did you mean "DEPLOYMENT_MODE"?), api_port (did you mean "API_PORT"?)',
    'Placeholders are not used as keys; enter the key, or leave the value empty: OPENAI_API_KEY_2',
  ];
  await waitFor(/"listening"/);
  for (const sentence of said)
    await waitFor(new RegExp(RegExp.escape(`"WARNING","message":${JSON.stringify(sentence)}`)));
});

test('a port that is taken is refused with the name of its setting', async (t) => {
  const occupant = createServer().listen(0);
  t.after(() => occupant.close());
  const port = String((occupant.address() as { port: number }).port);
  const cwd = installProgram();
  const { code, stderr } = await runProgram([], { cwd, env: { API_PORT: port } });
  assert.equal(code, 1);
  const reason = `^Cannot listen on port ${port}: .*EADDRINUSE.*; set API_PORT to use another$`;
  assert.match(stderr, new RegExp(reason, 'm'));
});
