import assert from 'node:assert/strict';
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/folder.ts';
import { until } from '../../test/support/until.ts';
import { installTools } from '../engines/install.ts';
import { PODMAN, type Podman, preparePodman } from './podman.ts';

/** The image of the Dockerfile in podman, by the commands of docs/guides/deploy.md. */

const PAGE = readFileSync(new URL('../../docs/guides/deploy.md', import.meta.url), 'utf8');
const NAME = 'trading-simulation';
const TOKEN = 'token-of-the-test-of-containers';
const MODELS = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
const SYMBOLS = ['AAPL', 'MSFT', 'NVDA'];
const CONFIGURATION = {
  models: MODELS.map((signature) => ({ signature, enabled: true })),
  agent_config: { stock_symbols: SYMBOLS },
};
const DAY_MS = 86_400_000;
const USER = 65_532;

/** A job of some weeks that ends a week ago, so that the last session is still to do. */
const dateBefore = (days: number) =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
const JOB = { start_date: dateBefore(35), end_date: dateBefore(8) };
const weekdays = Array.from({ length: 28 }, (_, index) => dateBefore(35 - index)).filter(
  (date) => ![0, 6].includes(new Date(date).getUTCDay()),
);

/** The commands below a heading of the page: a script for each block. */
function scriptsBelow(heading: string): string[] {
  const section = PAGE.split(/^##+ (?=.)/m).find((text) => text.startsWith(`${heading}\n`));
  const scripts = [...(section ?? '').matchAll(/^```sh\n([^]*?)^```/gm)];
  assert.ok(scripts.length > 0, heading);
  return scripts.map(([, script = '']) => script);
}

interface Service {
  url: string;
  ask(path: string, body?: unknown): Promise<any>; // any: the assertions check the shape that they read
}

function serviceAt(port: number): Service {
  const url = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  return {
    url,
    async ask(path, body) {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      return (await fetch(`${url}${path}`, { headers, ...init })).json();
    },
  };
}

const untilServed = ({ url }: Service) =>
  until('the service to listen', () =>
    fetch(`${url}/health`).then(
      async (response) => ((await response.json()) as any).status === 'healthy',
      () => false,
    ),
  );

const untilEnded = ({ ask }: Service, id: string) =>
  until(
    'the end of the job',
    async () => {
      const status = await ask(`/simulate/status/${id}`);
      return status.completed_at !== null && status;
    },
    300_000,
  );

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** Active model-days of a database file, each with how often it is there. */
function modelDaysIn(file: string): Map<string, number> {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare(
      `SELECT model || ' ' || date AS day, count(*) AS times FROM trading_sessions
       WHERE status = 'active' GROUP BY day`,
    )
    .all();
  database.close();
  return new Map(rows.map(({ day, times }) => [String(day), Number(times)]));
}

const skip = process.env['TEST_CONTAINER'] !== '1' && 'part of npm run test:container';
test('the container', { skip }, async (t) => {
  const reason = installTools(PODMAN);
  assert.equal(reason, null, reason ?? '');
  const podman = preparePodman(t);
  const { clone, sh, trySh } = podman;
  const port = await freePort();
  const service = serviceAt(port);
  const [prepare = '', compose = '', run = '', health = ''] = scriptsBelow('In a container');
  const [trigger = '', imported = ''] = scriptsBelow('Run a command');
  const [importPrices = '', triggerImported = ''] = imported.split(/^(?=docker exec)/m);
  const [backup = '', restore = '', update = ''] = scriptsBelow('Back up, restore and update');
  const here = (script: string) => {
    assert.ok(script.includes('-p 127.0.0.1:8080:8080'), script);
    return script.replace('127.0.0.1:8080:8080', `127.0.0.1:${port}:8080`);
  };
  const [build = '', start = ''] = here(run).split(/^(?=docker run)/m);

  sh(prepare);
  const settings: Record<string, string | number> = {
    DEPLOYMENT_MODE: 'DEV',
    PRESERVE_DEV_DATA: 'true',
    API_TOKEN: TOKEN,
    API_PORT: port,
    // For a start outside of a container, where it names a file.
    RUNTIME_CONFIG_PATH: 'my-config.json',
  };
  const variables = readFileSync(join(clone, '.env'), 'utf8');
  const named = variables.replaceAll(/^([A-Z_]+)=.*$/gm, (line, name) =>
    name in settings ? `${name}=${settings[name]}` : line,
  );
  writeFileSync(join(clone, '.env'), named);
  const configuration = join(clone, 'user-configs/config.json');
  writeFileSync(configuration, JSON.stringify(CONFIGURATION));
  for (const path of [configuration, join(clone, 'user-configs')]) chownSync(path, 1000, 1000);

  const begin = performance.now();
  sh(build);
  t.diagnostic(`built in ${Math.round((performance.now() - begin) / 1000)} s`);
  const size = (image: string) =>
    Number(sh(`podman image inspect ${image} --format '{{.Size}}'`)) / 1e6;
  const [whole, base] = [NAME, 'stand-in-runtime'].map(size);
  t.diagnostic(`image of ${whole?.toFixed(1)} MB, ${base?.toFixed(1)} of them its base`);

  await t.test('a command follows the name of the image', () => {
    assert.match(sh(`docker run --rm ${NAME} --version`), /^\d+\.\d+\.\d+\n$/);
    assert.match(sh(`docker run --rm ${NAME} --help`), /Usage: trading-simulation-service /);
  });

  await t.test('it serves on 127.0.0.1 with the keys of .env, and becomes healthy', async () => {
    sh(start);
    await untilServed(service);
    assert.equal((await fetch(`${service.url}/models`)).status, 401, 'API_TOKEN of .env');
    assert.equal(sh(health), 'healthy\n');
    assert.equal(sh(`podman healthcheck run ${NAME}`), '');
    const state = sh(`podman inspect ${NAME} --format '{{.State.Health.Status}}'`);
    assert.equal(state, 'healthy\n');
  });

  await t.test('it has no rights, and can write only to its volume and /tmp', () => {
    const look = `const { readFileSync, writeFileSync } = require('node:fs');
      const [, rights] = /CapEff:\\t(\\w+)/.exec(readFileSync('/proc/self/status', 'utf8'));
      const [, privileges] = /NoNewPrivs:\\t(\\w+)/.exec(readFileSync('/proc/self/status', 'utf8'));
      const write = (path) => { try { writeFileSync(path, ''); return 'written'; } catch ({ code }) { return code; } };
      console.log(JSON.stringify([process.getuid(), process.getgid(), parseInt(rights, 16), privileges,
        ...['/app/server.js', '/app/new', '/new', '/app/user-configs/new', '/tmp/new', '/app/data/new'].map(write)]));`;
    const seen = sh(`docker exec ${NAME} /nodejs/bin/node -e '${look.replaceAll("'", '"')}'`);
    assert.deepEqual(JSON.parse(seen), [
      ...[USER, USER, 0, '1'],
      ...['EROFS', 'EROFS', 'EROFS', 'EROFS', 'written', 'written'],
    ]);
  });

  await t.test('stopped and started in mid-job, it loses and doubles no model-day', async (t) => {
    const { job_id: id } = await service.ask('/simulate/trigger', JOB);
    const path = `/simulate/status/${id}`;
    await until('some model-days', async () => (await service.ask(path)).progress.completed >= 5);
    sh(`docker stop ${NAME}`);
    assert.equal(sh(`podman inspect ${NAME} --format '{{.State.ExitCode}}'`), '0\n');
    const mount = sh("podman volume inspect trading-data --format '{{.Mountpoint}}'").trim();
    const file = join(mount, 'jobs_dev.db');
    const before = modelDaysIn(file).size;
    const all = MODELS.length * weekdays.length;
    assert.ok(before >= 5 && before < all, `${before} of ${all}`);
    t.diagnostic(`stopped after ${before} of ${all} model-days`);
    sh(`docker start ${NAME}`);
    await untilServed(service);
    const { status, progress } = await untilEnded(service, id);
    assert.deepEqual([status, progress.completed], ['completed', all]);
    const expected = MODELS.flatMap((model) => weekdays.map((date) => [`${model} ${date}`, 1]));
    assert.deepEqual([...modelDaysIn(file)].sort(), expected.sort());
    assert.match(sh(`docker exec ${NAME} trading-simulation-service check`), /\S/);
  });

  await t.test('trigger, import-prices and backup run as the page says', () => {
    const triggered = trySh(trigger);
    assert.equal(triggered.status, 0, triggered.stdout + triggered.stderr);
    assert.match(triggered.stderr, /^The last session is /m);
    const rows = ['date,symbol,open,high,low,close,volume', '2020-01-02,ACME,10,11,9,10.5,100'];
    writeFileSync(join(clone, 'my-prices.csv'), `${rows.join('\n')}\n`);
    const imported = trySh(importPrices);
    assert.equal(imported.status, 0, imported.stdout + imported.stderr);
    const ofDates = trySh(triggerImported);
    assert.equal(ofDates.status, 0, ofDates.stdout + ofDates.stderr);
    sh(backup);
    const name = join(clone, 'before.db');
    const copy = new DatabaseSync(name, { readOnly: true });
    const found = copy.prepare("SELECT close FROM price_data WHERE symbol = 'ACME'").all();
    copy.close();
    assert.deepEqual(
      found.map(({ close }) => close),
      [10.5],
    );
    assert.ok(modelDaysIn(name).size > MODELS.length * weekdays.length);
  });

  await t.test('restore puts the backup back, without the job after it', async () => {
    await untilServed(service);
    const { jobs: before } = await service.ask('/jobs');
    sh(triggerImported.replace('--watch', '--watch --replace'));
    await untilServed(service);
    assert.equal((await service.ask('/jobs')).count, before.length + 1);
    sh(restore);
    await untilServed(service);
    assert.deepEqual((await service.ask('/jobs')).jobs, before);
    sh(`docker rm -f ${NAME}`);
  });

  await t.test('it reads a file of tokens that only its user can read', async () => {
    const [line = ''] = /API_TOKENS_FILE=[^`]+/.exec(PAGE) ?? [];
    const [chown = ''] = /(?<=sudo )chown 65532 [^`]+/.exec(PAGE) ?? [];
    const [, file = ''] = line.split('=');
    writeFileSync(join(clone, file), 'token-that-reads read-only\n', { mode: 0o600 });
    sh(`${chown}; echo ${line} >> .env`);
    sh(start);
    await untilServed(service);
    const headers = { authorization: 'Bearer token-that-reads' };
    const statusOf = async (path: string, method = 'GET') =>
      (await fetch(`${service.url}${path}`, { headers, method })).status;
    assert.deepEqual(
      [await statusOf('/jobs'), await statusOf('/simulate/trigger', 'POST')],
      [200, 403],
    );
  });

  await t.test('a change of config.json is there after a restart', async () => {
    const [restart = ''] = /(?<=config\.json` needs `)[^`]+/.exec(PAGE) ?? [];
    const configured = async () =>
      (await service.ask('/models')).models
        .filter((model: any) => model.configured)
        .map(({ signature }: any) => signature);
    assert.deepEqual(await configured(), MODELS);
    const models = CONFIGURATION.models.slice(0, 2);
    writeFileSync(configuration, JSON.stringify({ ...CONFIGURATION, models }));
    sh(restart);
    await untilServed(service);
    assert.deepEqual(await configured(), MODELS.slice(0, 2));
    writeFileSync(configuration, JSON.stringify(CONFIGURATION));
    sh(`docker rm -f ${NAME}`);
  });

  await t.test('a folder of another user stops the start with the command that helps', async () => {
    const data = join(temporaryFolder(), 'data');
    mkdirSync(data);
    const own = (options: string) => start.replace('-v trading-data:', `${options} -v ${data}:`);
    const refused = trySh(own('--rm').replace(' -d ', ' ').replace('--restart unless-stopped', ''));
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^Cannot start: .*: chown -R 65532:65532 data$/m);
    chownSync(data, USER, USER);
    sh(own(''));
    await untilServed(service);
    assert.equal(statSync(join(data, 'jobs_dev.db')).uid, USER);
    sh(`docker rm -f ${NAME}`);
  });

  await t.test('128 MB of memory are enough for a job', async (t) => {
    sh(start.replace('-v trading-data:', '--memory 128m --memory-swap 128m -v small:'));
    await untilServed(service);
    const { job_id: id } = await service.ask('/simulate/trigger', JOB);
    const { status, progress } = await untilEnded(service, id);
    assert.deepEqual([status, progress.failed], ['completed', 0]);
    t.diagnostic(`at most ${peakMemory(podman)} MB of 128`);
    sh(`docker rm -f ${NAME}`);
  });

  await t.test('Compose starts the same service on the same volume, and updates it', async () => {
    sh(compose);
    await untilServed(service);
    const idOf = () => sh(`podman inspect ${NAME} --format '{{.Id}}'`);
    const before = idOf();
    const { jobs } = await service.ask('/jobs');
    assert.ok(jobs.length > 0, 'those of the container without Compose');
    assert.equal(sh(health), 'healthy\n');
    const ports = sh(`podman port ${NAME}`);
    assert.equal(ports, `8080/tcp -> 127.0.0.1:${port}\n`);
    assert.ok(update.startsWith('git pull\n'), update);
    sh(update.replace('git pull\n', ''));
    await untilServed(service);
    assert.notEqual(idOf(), before);
    assert.deepEqual((await service.ask('/jobs')).jobs, jobs);
    const [recreate = ''] = /(?<=\.env` needs\s`)[^`]+/.exec(PAGE) ?? [];
    sh(`echo MAX_SIMULATION_DAYS=7 >> .env; ${recreate}`);
    assert.match(sh(`podman inspect ${NAME} --format '{{.Config.Env}}'`), /MAX_SIMULATION_DAYS=7/);
    sh('docker compose down');
  });

  await t.test('podman starts the Deployment of examples/, and the command of its CronJob', () => {
    const read = (name: string) =>
      readFileSync(join(clone, 'examples/kubernetes', name), 'utf8').replace(
        /image: (?=trading-simulation$)/m,
        '$&localhost/',
      );
    // Podman would open the port of the container on this machine.
    const deployment = read('trading-simulation.yaml').replace(
      /^ +ports:\n.*\n +containerPort.*\n/m,
      '',
    );
    writeFileSync(join(clone, 'deployment.yaml'), deployment);
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME } };
    const data = { 'config.json': JSON.stringify(CONFIGURATION) };
    writeFileSync(join(clone, 'map.yaml'), JSON.stringify({ ...map, data }));
    const secret = { DEPLOYMENT_MODE: btoa('DEV'), API_TOKEN: btoa(TOKEN) };
    writeFileSync(join(clone, 'secret.json'), JSON.stringify(secret));
    sh(`podman secret create ${NAME} secret.json; podman volume rm -f trading-data`);
    sh('podman play kube --configmap map.yaml deployment.yaml');
    const name = `${NAME}-pod-0-${NAME}`;
    sh(`until podman exec ${name} trading-simulation-service healthcheck; do sleep 0.3; done`);
    const [, args = ''] = /^ +args: (\[.*\])$/m.exec(read('trading-live.yaml')) ?? [];
    const client = `--pod ${NAME}-pod-0 -e API_URL=http://127.0.0.1:8080 -e API_TOKEN=${TOKEN}`;
    sh(`podman run --rm ${client} ${NAME} ${JSON.parse(args).join(' ')}`);
    const log = sh(`podman logs ${name} 2>&1`);
    assert.match(log, /"mode":"DEV".*"accessTokens":1/);
    assert.match(log, /^Merged user-configs\/config\.json over /m);
    sh('podman play kube --down deployment.yaml; podman volume rm trading-data');
  });
});

/** The most memory that the container has used, in MB, in the first or second version of control groups. */
function peakMemory({ sh }: Podman): number {
  const files = ['memory/memory.max_usage_in_bytes', 'memory.peak'].map((name) =>
    JSON.stringify(`/sys/fs/cgroup/${name}`),
  );
  const read = `const { existsSync, readFileSync } = require("node:fs");
    const file = [${files.join(',')}].find((file) => existsSync(file));
    console.log(Number(readFileSync(file)) / 2 ** 20);`;
  return Math.round(Number(sh(`docker exec ${NAME} /nodejs/bin/node -e '${read}'`)));
}
