import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../../test/support/until.ts';

/**
 * Control groups of Linux, of version 1 and 2: a few tasks or a little memory for a program and its
 * children.
 */

export type Controller = 'pids' | 'memory';

export interface ControlGroup {
  /** Goes before a command that is to run in this group. */
  command: string[];
  /** The most that it has taken so far: tasks, or bytes; null where the system does not keep it. */
  peak(): number | null;
  /** How many processes the kernel has ended in it for want of memory. */
  killed(): number;
  /** Ends what runs in it and removes it. */
  remove(): Promise<void>;
}

const ROOT = '/sys/fs/cgroup';
/** Names of the files, in version 1 and 2. */
const FILES = {
  pids: { limit: ['pids.max', 'pids.max'], peak: ['pids.peak', 'pids.peak'] },
  memory: {
    limit: ['memory.limit_in_bytes', 'memory.max'],
    peak: ['memory.max_usage_in_bytes', 'memory.peak'],
  },
} as const;

/** Limits that nothing here reaches. */
const AMPLE = { pids: 10_000, memory: 1024 ** 3 };

let made = 0;

/**
 * Makes a group of its own, below the one that this process is in where that is possible. Null
 * where none can be made.
 */
export function createControlGroup(controller: Controller, limit: number): ControlGroup | null {
  for (const { parent, version } of placesFor(controller)) {
    const group = join(parent, `tss-test-${process.pid}-${(made += 1)}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      if (!existsSync(join(group, 'cgroup.procs')))
        throw new Error('is a folder of another file system');
      if (version === 2 && !existsSync(join(group, FILES[controller].limit[1])))
        writeFileSync(join(parent, 'cgroup.subtree_control'), `+${controller}`);
      writeFileSync(join(group, FILES[controller].limit[version - 1] as string), String(limit));
      if (spawnSync('sh', enter(group, ['true'])).status !== 0)
        throw new Error('cannot be entered');
      return open(group, FILES[controller].peak[version - 1] as string);
    } catch {
      rmdirSync(group);
    }
  }
  return null;
}

/** Why tests that need a group cannot run here, or false. */
export function noControlGroup(controller: Controller): string | false {
  const group = createControlGroup(controller, AMPLE[controller]);
  void group?.remove();
  return group === null ? `no control group (cgroup) for ${controller} can be made here` : false;
}

/** Where a group may be made: below the one of this process, and below each above it. */
function placesFor(controller: Controller): { parent: string; version: 1 | 2 }[] {
  if (!existsSync('/proc/self/cgroup')) return [];
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const version = controllers === '' ? 2 : 1;
    if (line === '' || (version === 1 && !controllers.split(',').includes(controller))) return [];
    const mount = version === 2 ? ROOT : join(ROOT, controller);
    return pathsUp(path).map((above) => ({ parent: join(mount, above), version }) as const);
  });
}

function pathsUp(path: string): string[] {
  return path === '/' || path.startsWith('/..') ? ['/'] : [path, ...pathsUp(dirname(path))];
}

function enter(group: string, command: readonly string[]): string[] {
  return ['-c', `echo $$ > '${join(group, 'cgroup.procs')}' && exec "$@"`, 'sh', ...command];
}

function open(group: string, peakFile: string): ControlGroup {
  const read = (name: string) =>
    existsSync(join(group, name)) ? readFileSync(join(group, name), 'utf8') : '';
  const members = () => read('cgroup.procs').split('\n').filter(Boolean).map(Number);
  return {
    command: ['sh', ...enter(group, [])],
    peak: () => Number(read(peakFile)) || null,
    killed: () =>
      Number(/^oom_kill (\d+)/m.exec(read('memory.oom_control') + read('memory.events'))?.[1] ?? 0),
    async remove() {
      await until('an empty control group', () => {
        for (const pid of members()) kill(pid);
        return members().length === 0;
      });
      await until('the end of the control group', () => isRemoved(group));
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}

/** A group can be removed once the last of its processes has been reaped. */
function isRemoved(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}
