import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { isRunning } from '../../test/support/processes.ts';
import { until } from '../../test/support/until.ts';
import { ENGINE_PATH, engine } from './install.ts';
import type { Held } from './jobs.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/**
 * Two network namespaces that stand for two machines, with an ssh server of our own in the second.
 */

export const SSH = {
  programs: ['ssh', 'sshd', 'ssh-keygen', 'ip'],
  packages: ['openssh-server', 'openssh-client', 'iproute2'],
};
const PORT = 2222;
const PROVIDER = new URL('provider-there.ts', import.meta.url).pathname;

export interface TwoMachines {
  /**
   * Goes before the words of a command of ssh: it runs on the first machine, with the keys and the
   * options of `Host worker1`.
   */
  ssh: string[];
  /** Cuts or restores the cable between the two. */
  setLink(state: 'up' | 'down'): void;
  /** The processes on the second machine that are at a model-day. */
  modelProcesses(model?: string): number[];
  /** A provider on the second machine. */
  startProvider(test: TestContext): Promise<Held>;
}

/** `options`: lines for `Host worker1`, as docs/guides/many-machines.md has them. Ended after the test. */
export async function startTwoMachines(t: TestContext, options: string): Promise<TwoMachines> {
  const folder = temporaryFolder();
  const [here, there] = [`tss-a-${process.pid}`, `tss-b-${process.pid}`];
  const [hereEnd, thereEnd] = [`va${process.pid}`, `vb${process.pid}`];
  const ip = (...args: string[]) => engine('ip', args);
  const pidsOf = (name: string) =>
    ip('netns', 'pids', name).split('\n').filter(Boolean).map(Number);
  for (const name of [here, there]) {
    ip('netns', 'add', name);
    t.after(() => {
      for (const pid of pidsOf(name)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
      ip('netns', 'del', name);
    });
  }
  ip(
    ...`link add ${hereEnd} netns ${here} type veth peer name ${thereEnd} netns ${there}`.split(
      ' ',
    ),
  );
  ip('-n', here, 'addr', 'add', '10.77.0.1/30', 'dev', hereEnd);
  ip('-n', there, 'addr', 'add', '10.77.0.2/30', 'dev', thereEnd);
  for (const name of [here, there]) ip('-n', name, 'link', 'set', 'lo', 'up');
  ip('-n', here, 'link', 'set', hereEnd, 'up');
  ip('-n', there, 'link', 'set', thereEnd, 'up');
  const config = configure(folder, options);
  mkdirSync('/run/sshd', { recursive: true });
  const log = openSync(join(folder, 'sshd.log'), 'a');
  const sshd = ['/usr/sbin/sshd', '-D', '-e', '-f', join(folder, 'sshd_config')];
  const env = { PATH: ENGINE_PATH };
  spawn('ip', ['netns', 'exec', there, ...sshd], { env, stdio: ['ignore', log, log] });
  const ssh = ['netns', 'exec', here, 'ssh', '-F', config];
  await until('the ssh server', () => {
    try {
      return ip(...ssh, 'worker1', 'echo ready') === 'ready';
    } catch {
      return false;
    }
  });
  const startProvider = async (test: TestContext) => {
    const provider = spawn('ip', ['netns', 'exec', there, process.execPath, PROVIDER], {
      ...{ env, stdio: ['ignore', 'pipe', 'inherit'] },
    });
    test.after(() => provider.kill('SIGKILL'));
    const [port] = await once(provider.stdout, 'data');
    return {
      baseUrl: `http://127.0.0.1:${String(port).trim()}/v1`,
      release: () => void provider.kill('SIGUSR2'),
    };
  };
  const modelProcesses = (model = '') =>
    pidsOf(there).filter((pid) => new RegExp(`^model-day \\S+ ${model}`).test(commandLine(pid)));
  return {
    ssh: ['ip', ...ssh],
    modelProcesses,
    startProvider,
    setLink: (state) => void ip('-n', here, 'link', 'set', hereEnd, state),
  };
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

/** Keys and configuration of both ends, in a folder of their own. */
function configure(folder: string, options: string): string {
  const path = (name: string) => join(folder, name);
  for (const name of ['host', 'user'])
    engine('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)]);
  copyFileSync(path('user.pub'), path('authorized_keys'));
  writeFileSync(
    path('known_hosts'),
    `[10.77.0.2]:${PORT} ${readFileSync(path('host.pub'), 'utf8')}`,
  );
  writeFileSync(
    path('sshd_config'),
    `Port ${PORT}
ListenAddress 10.77.0.2
HostKey ${path('host')}
AuthorizedKeysFile ${path('authorized_keys')}
PidFile ${path('sshd.pid')}
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxSessions 100
MaxStartups 100
`,
  );
  const own = `  HostName 10.77.0.2\n  Port ${PORT}\n  User root\n  IdentityFile ${path('user')}\n  IdentitiesOnly yes\n`;
  const known = `  UserKnownHostsFile ${path('known_hosts')}\n  StrictHostKeyChecking yes\n`;
  writeFileSync(
    path('config'),
    options.replace('~/.ssh', folder).replace(/^Host worker1\n/, (line) => line + own + known),
  );
  return path('config');
}
