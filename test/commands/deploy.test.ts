import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { commands } from '../../src/commands.ts';
import { temporaryFolder } from '../support/folder.ts';
import { followProgram, installProgram, isExecutable } from '../support/program.ts';
import { readYaml } from '../support/yaml.ts';

/**
 * The guide on deploying and the files of examples/ that it names. lab/container/ runs its commands of
 * containers.
 */

const ROOT = new URL('../..', import.meta.url).pathname;
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGE = textOf('docs/guides/deploy.md');
const DOCKERFILE = textOf('Dockerfile');
const KUBERNETES = 'examples/kubernetes';

const [, USER] = /^USER (\d+):/m.exec(DOCKERFILE) ?? [];
const listAfter = (word: string): string[] =>
  JSON.parse(new RegExp(`^${word}.* ?(\\[.*\\])$`, 'm').exec(DOCKERFILE)?.[1] ?? '');

/** The commands and options of the program in a text, after any of the words before them. */
function assertCommands(text: string, before: RegExp, least: number): void {
  const pattern = new RegExp(`(?:${before.source}) ([a-z][a-z-]+)((?: [^\\s\`|>#]+)*)`, 'gm');
  const found = [...text.matchAll(pattern)];
  assert.ok(found.length >= least, `${found.length} commands`);
  for (const [line, name = '', args = ''] of found) {
    const command = commands[name];
    assert.ok(command, line);
    const named = args.split(' ').filter((arg) => arg.startsWith('--'));
    const known = Object.keys(command.options ?? {}).map((option) => `--${option}`);
    assert.deepEqual(
      named.filter((option) => !known.includes(option)),
      [],
      line,
    );
  }
}

test('the commands, scripts and settings in docs/guides/deploy.md exist', () => {
  assertCommands(PAGE, /trading-simulation trading-simulation-service|^ {2}trading-simulation/, 4);
  const { scripts } = JSON.parse(textOf('package.json'));
  for (const [, script = ''] of PAGE.matchAll(/npm run ([\w:]+)/g))
    assert.ok(scripts[script], script);
  const settings = parseEnv(textOf('.env.example'));
  const ofNode = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS'];
  const named = [...PAGE.matchAll(/\b([A-Z]+_[A-Z_]+)\b/g)].map(([name]) => name);
  assert.ok(named.length > 5);
  assert.deepEqual(
    named.filter((name) => !(name in settings) && !ofNode.includes(name)),
    [],
  );
});

const manifests = readdirSync(join(ROOT, KUBERNETES)).flatMap((name) =>
  textOf(join(KUBERNETES, name)).split(/^---$/m).map(readManifest),
);
function readManifest(text: string): any {
  return readYaml(text); // any: the assertions below check the shape that they read
}
const ofKind = (kind: string) => manifests.find((manifest) => manifest.kind === kind);

test('what Kubernetes runs has no more rights than it needs', () => {
  const pods = [
    ofKind('Deployment').spec.template.spec,
    ofKind('CronJob').spec.jobTemplate.spec.template.spec,
  ];
  for (const { automountServiceAccountToken, securityContext, containers } of pods) {
    assert.equal(automountServiceAccountToken, false);
    assert.equal(String(securityContext.runAsUser), USER);
    assert.equal(containers.length, 1);
    assert.equal(containers[0].image, 'trading-simulation');
    assert.equal(containers[0].command, undefined, 'that of the image');
    assert.deepEqual(containers[0].securityContext, {
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    });
  }
});

test('the Deployment in examples/ runs the image as it is built, one at a time', () => {
  const { spec } = ofKind('Deployment');
  assert.deepEqual([spec.replicas, spec.strategy], [1, { type: 'Recreate' }]);
  const { containers, volumes, securityContext, terminationGracePeriodSeconds } =
    spec.template.spec;
  assert.ok(terminationGracePeriodSeconds > 10);
  assert.equal(String(securityContext.fsGroup), USER);
  const [{ env, envFrom, ports, readinessProbe, volumeMounts }] = containers;
  assert.deepEqual(
    Object.fromEntries(env.map(({ name, value }: any) => [name, value])),
    ofCompose(textOf('compose.yaml')),
  );
  assert.equal(envFrom[0].secretRef.name, 'trading-simulation');
  assert.equal(ports[0].containerPort, 8080);
  assert.deepEqual(readinessProbe.exec.command, listAfter('HEALTHCHECK'));
  const mounts = Object.fromEntries(
    volumeMounts.map(({ name, mountPath }: any) => [name, mountPath]),
  );
  assert.deepEqual(mounts, { data: '/app/data', 'user-configs': '/app/user-configs', tmp: '/tmp' });
  assert.deepEqual(
    volumes.map(({ name }: any) => name),
    Object.keys(mounts),
  );
  const claim = ofKind('PersistentVolumeClaim');
  assert.equal(volumes[0].persistentVolumeClaim.claimName, claim.metadata.name);
  assert.deepEqual(ofKind('Service').spec.selector, spec.template.metadata.labels);
});

/** The variables that compose.yaml sets in the container. */
function ofCompose(compose: string): Record<string, string> {
  const [, block = ''] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(compose) ?? [];
  const found = [...block.matchAll(/^ {6}([A-Z_]+): "?(.*?)"?$/gm)];
  return Object.fromEntries(found.map(([, name, value]) => [name, value]));
}

test('the CronJob in examples/ reaches the Service with the token of the Secret', () => {
  const [{ args, env }] = ofKind('CronJob').spec.jobTemplate.spec.template.spec.containers;
  assertCommands(`run ${args.join(' ')}`, /run/, 1);
  const [url, token] = env;
  const { metadata, spec: service } = ofKind('Service');
  assert.deepEqual(url, {
    name: 'API_URL',
    value: `http://${metadata.name}:${service.ports[0].port}`,
  });
  assert.equal(token.name, 'API_TOKEN');
  const { name, key } = token.valueFrom.secretKeyRef;
  assert.deepEqual([name, key], ['trading-simulation', 'API_TOKEN'], 'a line of .env');
});

const skip = isExecutable && 'the units run dist/server.js';
test('installed as docs/guides/deploy.md says, the units start the program', { skip }, async () => {
  const [, script = ''] = /^```sh\n(sudo [^]*?)^```/m.exec(PAGE) ?? [];
  const folder = temporaryFolder();
  const [clone, program, system, bin] = ['clone', 'opt', 'units', 'bin'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const path of [clone, system, bin]) mkdirSync(path);
  mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
  symlinkSync(process.execPath, join(clone, 'node_modules/.bin/node'));
  cpSync(installProgram(), join(clone, 'dist'), { recursive: true });
  cpSync(join(clone, 'dist/configs'), join(clone, 'configs'), { recursive: true });
  writeFileSync(join(clone, 'dist/server.js.map'), '{}');
  cpSync(join(ROOT, 'examples'), join(clone, 'examples'), { recursive: true });
  const settings = 'DEPLOYMENT_MODE=DEV\nAPI_PORT=0\nRUNTIME_CONFIG_PATH=my-config.json\n';
  writeFileSync(join(clone, '.env'), settings);
  writeFileSync(join(clone, 'my-config.json'), '{"models":[]}');
  for (const [name, text] of [
    ['sudo', 'exec "$@"'],
    ['useradd', `echo useradd "$@" >> ${folder}/asked`],
    ['systemctl', `echo systemctl "$@" >> ${folder}/asked`],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const here = script
    .replaceAll('/opt/trading-simulation', program)
    .replaceAll('/etc/systemd/system', system)
    .replaceAll('/usr/local/bin/node', join(folder, 'node'))
    .replaceAll('-o trading', `-o ${process.getuid?.()}`);
  const { status, stderr } = spawnSync('sh', ['-euc', here], {
    cwd: clone,
    env: { PATH: `${bin}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.equal(statSync(join(program, '.env')).mode & 0o777, 0o600);
  const asked = readFileSync(join(folder, 'asked'), 'utf8');
  const [, user = ''] = /^useradd --system (\w+)$/m.exec(asked) ?? [];
  const [, enabled = ''] = /^systemctl enable --now (.*)$/m.exec(asked) ?? [];
  const installed = readdirSync(system);
  for (const unit of enabled.split(' ')) assert.ok(installed.includes(unit), unit);
  for (const unit of installed.filter((name) => name.endsWith('.service'))) {
    const text = readFileSync(join(system, unit), 'utf8');
    assert.match(text, new RegExp(`^User=${user}$`, 'm'));
    assert.match(text, /^WorkingDirectory=\/opt\/trading-simulation$/m);
    const [, line = ''] = /^ExecStart=\/usr\/local\/bin\/node (.*)$/m.exec(text) ?? [];
    if (unit === 'trading-live.service') {
      assertCommands(line, /server\.js/, 1);
      continue;
    }
    const started = followProgram(
      spawn(join(folder, 'node'), line.split(' '), { cwd: program, env: {} }),
    );
    await started.waitFor(/"message":"listening".*"configuration":"my-config.json"/);
    started.process.kill('SIGTERM');
    assert.equal((await started.ended).code, 0);
  }
});
