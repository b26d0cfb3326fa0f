import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '../basics/settings.ts';

/**
 * What model-days side by side take from the machine, measured, and whether it has that much. Only
 * Linux tells; elsewhere, and where a limit cannot be read, there is no warning.
 */

/**
 * Of a child that waits for a provider by HTTPS, which takes the most; of the service, with as many
 * children.
 */
const CHILD_MEMORY_MB = 14;
const SERVICE_MEMORY_MB = 150;
/** Of the service: one per standard stream of a child; its files, and clients. */
const CHILD_DESCRIPTORS = 3;
const SERVICE_DESCRIPTORS = 200;
/** Processes and their threads; of a child that calls a provider. */
const CHILD_TASKS = 5;
const SERVICE_TASKS = 9;

const ROOT_USER = 0;
const BYTES_PER_MB = 1024 * 1024;

interface Limited {
  /** How much there is for the service and its children; how much they need each. */
  available: number;
  service: number;
  child: number;
  describe: (needed: string, available: string) => string;
}

/**
 * One sentence for each of memory, open files and tasks that does not suffice for so many
 * model-days side by side, with what they take and how many there is enough for. `root` is the
 * folder in which the system shows itself; `memory` is in bytes.
 */
export function capacityWarnings(
  {
    maxParallelModels: most,
    modelDayCommand,
  }: Pick<Settings, 'maxParallelModels' | 'modelDayCommand'>,
  { root = '/', userId = process.getuid?.() ?? ROOT_USER, memory = process.availableMemory() } = {},
): string[] {
  // What MODEL_DAY_COMMAND runs may take its memory and tasks on another machine.
  const ofChildren = modelDayCommand === null ? [memoryOf(memory), tasksOf(root, userId)] : [];
  return [...ofChildren, descriptorsOf(root)].flatMap(({ available, service, child, describe }) => {
    const needed = service + most * child;
    if (available >= needed) return [];
    const enoughFor = Math.max(0, Math.floor((available - service) / child));
    const words = describe(needed.toLocaleString('en'), Math.floor(available).toLocaleString('en'));
    const other = enoughFor > 0 ? `, or set MAX_PARALLEL_MODELS to ${enoughFor} or less` : '';
    return [`Cannot run ${most} model-days side by side (MAX_PARALLEL_MODELS): ${words}${other}`];
  });
}

function memoryOf(bytes: number): Limited {
  return {
    available: bytes / BYTES_PER_MB,
    service: SERVICE_MEMORY_MB,
    child: CHILD_MEMORY_MB,
    describe: (needed, available) =>
      `they need about ${needed} MB of memory, and ${available} MB are available; give the machine or its control group more`,
  };
}

function descriptorsOf(root: string): Limited {
  return {
    available: processLimit(root, 'Max open files'),
    service: SERVICE_DESCRIPTORS,
    child: CHILD_DESCRIPTORS,
    describe: (needed, available) =>
      `the service needs ${needed} open files, and may have ${available}; ` +
      'raise that limit (ulimit -Hn, LimitNOFILE of systemd, --ulimit nofile of Docker)',
  };
}

function tasksOf(root: string, userId: number): Limited {
  const ofUser = userId === ROOT_USER ? Infinity : processLimit(root, 'Max processes'); // which does not bind root
  const left = controlGroups(root).map(
    (group) => count(group, 'pids.max') - count(group, 'pids.current') + SERVICE_TASKS,
  );
  return {
    available: Math.min(ofUser, ...left.filter((tasks) => !Number.isNaN(tasks))),
    service: SERVICE_TASKS,
    child: CHILD_TASKS,
    describe: (needed, available) =>
      `they need ${needed} tasks (processes and threads), and may have ${available}; ` +
      'raise that limit (pids.max of the control group, TasksMax of systemd, --pids-limit of Docker, ulimit -u)',
  };
}

/**
 * The soft limit of this process, which Node has raised to the hard one; infinite when there is
 * none.
 */
function processLimit(root: string, name: string): number {
  return numberIn(read(join(root, 'proc/self/limits')), new RegExp(`^${name} +(\\d+) `, 'm'));
}

/**
 * The folders of this process's control groups, of version 1 and 2, and of those that contain them.
 * A container may show its group as the root of all.
 */
function controlGroups(root: string): string[] {
  const lines = read(join(root, 'proc/self/cgroup')).matchAll(/^\d+:([^:]*):(\/.*)$/gm);
  const mounts = [...lines].flatMap(([, controllers = '', path = '/']) => {
    const names =
      controllers === ''
        ? ['', 'unified']
        : controllers.split(',').filter((name) => name === 'pids');
    return names.map((name) => ({ mount: join(root, 'sys/fs/cgroup', name), path }));
  });
  return mounts.flatMap(({ mount, path }) => pathsUpFrom(path).map((part) => join(mount, part)));
}

/** `/a/b`, `/a` and `/`. */
function pathsUpFrom(path: string): string[] {
  return path === '/' ? ['/'] : [path, ...pathsUpFrom(dirname(path))];
}

/** The number in a file; infinite without a limit ("max"), NaN without the file. */
function count(folder: string, name: string): number {
  const text = read(join(folder, name)).trim();
  return text === 'max' ? Infinity : Number(text || NaN);
}

/** Infinite when the text does not have it. */
function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? Infinity);
}

/** Empty when it cannot be read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
