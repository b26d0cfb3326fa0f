import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { childrenOf, descriptorsOf, isRunning } from '../../test/support/processes.ts';
import { until } from '../../test/support/until.ts';
import { ENGINE_PATH, engine } from './install.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/**
 * A whole Slurm on this machine, in a folder of its own: munge, one controller and several nodes.
 */

export const SLURM = {
  programs: ['slurmctld', 'slurmd', 'srun', 'munged'],
  packages: ['slurm-wlm', 'munge'],
};
/** After which a node that does not answer counts as failed; Slurm's own default is 300. */
const NODE_TIMEOUT_SECONDS = 10;
const NODE_PROCESSORS = 128;
const KILL_DAEMON_AFTER_MS = 20_000;

export interface Slurm {
  /** The variables that its commands need. */
  env: Record<string, string>;
  nodes: string[];
  run(command: string, ...args: string[]): string;
  /**
   * An allocation of all nodes that outlives its nodes; ended after the test. Resolves to the
   * variables that name it.
   */
  allocate(t: TestContext): Promise<Record<string, string>>;
  /** The running steps of an allocation, as `name node`. */
  steps(): string[];
  /** Kills the daemons of a node's steps, and not the node's own. */
  killSteps(node: string): void;
  /** Kills a node: its own daemon, the daemons of its steps and what they run. */
  killNode(node: string): Promise<void>;
  stopController(): Promise<void>;
  startController(): Promise<void>;
}

/** Starts a Slurm with that many nodes; ended after the test. */
export async function startSlurm(t: TestContext, count: number): Promise<Slurm> {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const nodes = Array.from({ length: count }, (_, index) => `w${index + 1}`);
  const daemons = new Map<string, ChildProcess>();
  const env = { SLURM_CONF: join(folder, 'slurm.conf') };
  const run = (command: string, ...args: string[]) => engine(command, args, env);
  const start = (name: string, command: string, args: readonly string[]) => {
    const output = openSync(join(folder, `${name}.out`), 'a');
    const stdio = ['ignore', output, output] as ('ignore' | number)[];
    daemons.set(name, spawn(command, args, { stdio, env: { PATH: ENGINE_PATH, ...env } }));
  };
  const stop = async (name: string, signal: NodeJS.Signals = 'SIGTERM') => {
    const daemon = daemons.get(name);
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const closed = new Promise((resolve) => daemon.once('exit', resolve));
    daemon.kill(signal);
    // Waits for the daemon's end; the timer only ends one that ignores TERM.
    const timer = setTimeout(() => daemon.kill('SIGKILL'), KILL_DAEMON_AFTER_MS);
    await closed;
    clearTimeout(timer);
  };
  const stateOf = (node: string) => attempt(() => run('sinfo', '-h', '-n', node, '-o', '%t'));
  const startNode = async (name: string) => {
    start(name, 'slurmd', ['-D', '-N', name]);
    await until(`node ${name} to be ready`, () => /^(idle|mix|alloc)$/.test(stateOf(name)));
  };
  const startController = async () => {
    start('slurmctld', 'slurmctld', ['-D']);
    await until('the controller', () => attempt(() => run('scontrol', 'ping')).includes('UP'));
  };
  const logOf = (node: string) => join(folder, `slurmd-${node}.log`);
  t.after(async () => {
    for (const name of [...nodes, 'slurmctld', 'munged']) await stop(name);
  });
  await startMunge(folder, start);
  writeFileSync(env.SLURM_CONF, await configurationOf(folder, nodes));
  await startController();
  for (const name of nodes) await startNode(name);
  return {
    env,
    nodes,
    run,
    steps: () =>
      run('squeue', '-h', '-s', '-o', '%j %N')
        .split('\n')
        .filter((line) => /^\S+ w\d+$/.test(line)),
    async allocate(test) {
      const name = `test-${randomBytes(4).toString('hex')}`;
      run('salloc', '-Q', '--no-shell', '--no-kill', `-N${count}`, `-n${count}`, '-J', name);
      const id = run('squeue', '-h', '-o', '%A', '-n', name);
      test.after(async () => {
        run('scancel', id);
        const state = () => run('squeue', '-h', '-j', id, '-t', 'all', '-o', '%T');
        await until('the allocation to end', () => state() !== 'RUNNING');
      });
      return { ...env, SLURM_JOB_ID: id };
    },
    killSteps: (node) => stepDaemons(logOf(node)).forEach((pid) => process.kill(pid, 'SIGKILL')),
    async killNode(node) {
      const steppers = stepDaemons(logOf(node));
      const tasks = steppers.flatMap(childrenOf);
      await stop(node, 'SIGKILL');
      for (const pid of [...steppers, ...tasks]) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    },
    stopController: () => stop('slurmctld'),
    startController,
  };
}

/** What a command prints; empty while it fails. */
function attempt(run: () => string): string {
  try {
    return run();
  } catch {
    return '';
  }
}

/** The processes that run the steps of a node: they have its log open. */
function stepDaemons(log: string): number[] {
  const pids = readdirSync('/proc').map(Number);
  return pids.filter((pid) => {
    try {
      const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
      return name === 'slurmstepd' && descriptorsOf(pid).includes(log);
    } catch {
      return false; // it has ended
    }
  });
}

async function startMunge(
  folder: string,
  start: (name: string, command: string, args: readonly string[]) => void,
) {
  const [own, shared] = [join(folder, 'munge'), join(folder, 'socket')];
  mkdirSync(own, { mode: 0o700 });
  mkdirSync(shared, { mode: 0o755 });
  writeFileSync(join(own, 'key'), randomBytes(1024), { mode: 0o400 });
  const socket = join(shared, 'munge');
  const files = [
    `--key-file=${own}/key`,
    `--pid-file=${own}/pid`,
    `--log-file=${own}/log`,
    `--seed-file=${own}/seed`,
  ];
  start('munged', 'munged', ['--foreground', `--socket=${socket}`, ...files]);
  await until('munge', () => existsSync(socket));
}

async function configurationOf(folder: string, nodes: readonly string[]): Promise<string> {
  const host = hostname().split('.')[0];
  const lines = await Promise.all(
    nodes.map(async (name) => {
      mkdirSync(join(folder, `spool-${name}`));
      const port = await freePort();
      return `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${port} CPUs=${NODE_PROCESSORS} RealMemory=1000`;
    }),
  );
  mkdirSync(join(folder, 'state'));
  return `ClusterName=test
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${await freePort()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/socket/munge
CredType=cred/munge
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool-%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd-%n.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=${NODE_TIMEOUT_SECONDS}
InactiveLimit=0
KillWait=2
MaxStepCount=1000000
${lines.join('\n')}
PartitionName=all Nodes=${nodes.join(',')} Default=YES MaxTime=INFINITE OverSubscribe=FORCE:64 State=UP
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
