import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/folder.ts';
import { ENGINE_PATH } from '../engines/install.ts';

/**
 * A podman with images, containers and volumes of its own, and stand-ins for the base images of the
 * Dockerfile, which may be out of reach: they are made from the files of this machine.
 */

const ROOT = new URL('../..', import.meta.url).pathname;
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const BUILD_TOOLS = ['sh', 'env', 'mkdir', 'cp', 'chmod', 'test'];

export const PODMAN = {
  programs: ['podman', 'buildah', 'runc', 'podman-compose', 'iptables', 'catatonit'],
  packages: [
    'podman',
    'buildah',
    'runc',
    'podman-compose',
    'iptables',
    'catatonit',
    'containernetworking-plugins',
  ],
};

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Podman {
  /** A copy of the repository without what git ignores; commands run in it. */
  clone: string;
  /** Runs a shell script, in which `docker` is podman. Throws with its output if it fails. */
  sh(script: string): string;
  /** The same, for one that may fail. */
  trySh(script: string): Ended;
}

/** Prepares podman and the stand-ins; after the test nothing of them is left. */
export function preparePodman(t: TestContext): Podman {
  const folder = temporaryFolder();
  const clone = join(folder, 'clone');
  copyRepository(clone);
  const env = {
    ...process.env,
    PATH: `${writeCommands(folder)}:${ENGINE_PATH}`,
    ...writeConfiguration(folder),
  };
  const trySh = (script: string): Ended => {
    const ended = spawnSync('bash', ['-eu', '-o', 'pipefail', '-c', script], {
      cwd: clone,
      env,
      encoding: 'utf8',
    });
    return { ...ended, stderr: withoutSystemd(ended.stderr) };
  };
  const sh = (script: string) => {
    const { status, stdout, stderr } = trySh(script);
    if (status !== 0) throw new Error(`${script}: exit code ${status}: ${stdout}${stderr}`);
    return stdout;
  };
  t.after(() => {
    trySh('podman pod rm --all --force; podman secret rm --all');
    for (const what of ['container rm', 'volume rm', 'rmi']) trySh(`podman ${what} --all --force`);
    trySh(
      'podman network ls -q --filter label=io.podman.compose.project | xargs -r podman network rm',
    );
    trySh(`umount ${join(folder, 'storage/overlay')}`);
  });
  buildStandIn(join(folder, 'build'), { sh, files: BUILD_TOOLS.map(find), tag: 'build' });
  buildStandIn(join(folder, 'runtime'), { sh, files: [], tag: 'runtime' });
  return { clone, sh, trySh };
}

/** Where no systemd runs, podman complains that it cannot start the timer of a health check. */
function withoutSystemd(text: string): string {
  return text.replaceAll(/^time=.*systemd connection.*\n/gm, '');
}

function copyRepository(clone: string): void {
  const ignored = ['.git', 'node_modules', 'dist', 'data', 'user-configs', '.env'];
  cpSync(ROOT, clone, {
    recursive: true,
    filter: (path) =>
      dirname(path) !== dirname(join(ROOT, 'x')) || !ignored.includes(basename(path)),
  });
}

/**
 * The commands `docker` and `podman` of the scripts: podman with the stand-ins as base images. What
 * npm needs to reach a registry here is mounted while it builds, so no image contains it.
 */
function writeCommands(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const npmrc = join(folder, 'npmrc');
  const own = join(process.env['HOME'] ?? '/', '.npmrc');
  const { stdout: registry } = spawnSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
  });
  const settings = existsSync(own) ? readFileSync(own, 'utf8') : '';
  writeFileSync(npmrc, `${settings}\nregistry=${registry}`, { mode: 0o600 });
  const build = [
    'build --format docker --isolation chroot --network host',
    `--volume ${npmrc}:/root/.npmrc:ro`,
    '--build-arg BUILD_IMAGE=stand-in-build --build-arg RUNTIME_IMAGE=stand-in-runtime',
  ].join(' ');
  writeCommand(
    join(bin, 'podman'),
    `[ "$1" != build ] || { shift; set -- ${build} "$@"; }\nexec /usr/bin/podman "$@"`,
  );
  writeCommand(
    join(bin, 'docker'),
    `[ "$1" != compose ] || { shift; exec podman-compose "$@"; }\nexec podman "$@"`,
  );
  return bin;
}

function writeCommand(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** The variables that name a configuration of podman, which keeps everything in the folder. */
function writeConfiguration(folder: string): NodeJS.ProcessEnv {
  const containers = join(folder, 'containers.conf');
  const storage = join(folder, 'storage.conf');
  writeFileSync(
    containers,
    `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${join(folder, 'tmp')}"
[network]
network_config_dir = "${join(folder, 'networks')}"
`,
  );
  writeFileSync(
    storage,
    `[storage]
driver = "overlay"
graphroot = "${join(folder, 'storage')}"
runroot = "${join(folder, 'run')}"
`,
  );
  return { CONTAINERS_CONF: containers, CONTAINERS_STORAGE_CONF: storage };
}

/** An image of programs of this machine with their libraries, and Node as both base images have it. */
function buildStandIn(
  root: string,
  { sh, files, tag }: { sh: Podman['sh']; files: string[]; tag: string },
): void {
  const isBuild = files.length > 0;
  for (const file of files) copyProgram(root, file, `/bin/${basename(file)}`);
  copyProgram(root, process.execPath, isBuild ? '/usr/local/bin/node' : '/nodejs/bin/node');
  if (existsSync(AUTHORITIES)) copyInto(root, AUTHORITIES, AUTHORITIES);
  if (isBuild) copyNpm(root);
  if (isBuild) symlinkSync('../bin', join(root, 'usr/bin')); // npm names /usr/bin/env
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
  const user = 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin';
  mkdirSync(join(root, 'etc'), { recursive: true });
  writeFileSync(join(root, 'etc/passwd'), `root:x:0:0:root:/root:/sbin/nologin\n${user}\n`);
  const lines = isBuild
    ? [`ENV PATH=/usr/local/bin:/bin HOME=/root NODE_EXTRA_CA_CERTS=${AUTHORITIES}`]
    : ['USER 65532', 'ENTRYPOINT ["/nodejs/bin/node"]'];
  const dockerfile = `${root}.Dockerfile`;
  writeFileSync(dockerfile, ['FROM scratch', 'COPY . /', ...lines, ''].join('\n'));
  sh(`buildah bud --isolation chroot --format docker -f ${dockerfile} -t stand-in-${tag} ${root}`);
}

function find(program: string): string {
  return spawnSync('which', [program], {
    env: { PATH: ENGINE_PATH },
    encoding: 'utf8',
  }).stdout.trim();
}

function copyInto(root: string, from: string, to: string): void {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(realpathSync(from), join(root, to));
}

/** Copies a program, and the libraries that it is linked to. */
function copyProgram(root: string, from: string, to: string): void {
  copyInto(root, from, to);
  const { stdout } = spawnSync('ldd', [from], { encoding: 'utf8' });
  for (const [library] of stdout.matchAll(/\/\S+/g))
    if (library !== `${from}:`) copyInto(root, library, library);
}

/** The npm of this machine. */
function copyNpm(root: string): void {
  const { stdout } = spawnSync('which', ['npm'], { encoding: 'utf8' });
  const program = realpathSync(stdout.trim()); // in the folder bin/ of the package
  const to = '/usr/local/lib/node_modules/npm';
  cpSync(dirname(dirname(program)), join(root, to), { recursive: true });
  symlinkSync(`${to}/bin/npm-cli.js`, join(root, 'usr/local/bin/npm'));
}
