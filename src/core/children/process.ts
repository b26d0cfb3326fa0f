import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { ModelDay } from '#database/sessions.ts';
import { errorCode } from '#domain/service-error.ts';
import type { Hide } from '#text/secrets.ts';
import { type Host, nodeCommand } from '#process/own-node.ts';
import { confine, type Network } from './confinement.ts';

/**
 * The process of a model-day: its command, flags, environment and niceness, and how it is ended.
 */

/** The time between TERM and KILL. A child holds nothing that could be lost, so it is short. */
const KILL_AFTER_MS = 1_000;
/**
 * V8's threads beside the main one. Its default of four would double the tasks of a child, and
 * containers may limit tasks.
 */
const CHILD_V8_THREADS = 1;
/** Niceness of a child among few: the service takes precedence, and so do other programs. */
const CHILD_NICENESS = 10;
/**
 * Of children when there may be many. Beside other programs that keep all processors busy, it
 * leaves them next to no processor time.
 */
const NICENESS_OF_MANY = 19;
const MANY_CHILDREN = 100;
/**
 * The highest value: when memory is short, the kernel kills a child, whose model-day is resumed,
 * and not the service.
 */
const CHILD_OOM_SCORE_ADJ = 1000;
/** The end of a child's stderr that is kept for the log. */
const STDERR_TAIL_LENGTH = 4_000;
const MAX_STDERR_BYTES = 1024 * 1024;
/** From Node 26; before that the permission model lets every process reach the network. */
export const CAN_RESTRICT_NETWORK = Number.parseInt(process.versions.node, 10) >= 26;
/**
 * The variables that a child inherits: how to reach the network, which certificates to trust, and
 * the time zone.
 */
const INHERITED_VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'TZ',
];

/**
 * What a child may use: the network, the size of its JavaScript heap, and its share of the
 * processors.
 */
export interface ChildRights {
  network: Network;
  heapMb: number;
  /** Default: `CHILD_NICENESS`. */
  niceness?: number;
  /** What runs a child on this machine; tests name it. */
  host?: Host;
}

/**
 * A child that was started: the process of a model-day itself, or of the launcher that runs it
 * somewhere else.
 */
export interface StartedChild {
  child: ChildProcess;
  /** Null when the child is the model-day's own process. */
  launcher: Launcher | null;
}

/**
 * How the worker starts a child: from its program, as JavaScript text, for one model-day. May throw
 * what `spawn` throws; other start errors are events of the child.
 */
export type StartChild = (program: string, rights: ChildRights, modelDay: ModelDay) => StartedChild;

/**
 * The niceness of a child when so many may run side by side. The system divides the processors
 * among all processes that want to run: a thousand children at 10 leave the service too little for
 * its requests.
 */
export function childNiceness(sideBySide: number): number {
  return sideBySide > MANY_CHILDREN ? NICENESS_OF_MANY : CHILD_NICENESS;
}

/**
 * The service's way without MODEL_DAY_COMMAND: a process of its own, whose program is confined
 * before it runs.
 */
export function startConfined(program: string, rights: ChildRights): StartedChild {
  return { child: startProcess(confine(program, rights.network), rights), launcher: null };
}

/** The flags with which Node runs a child, here or behind a launcher. */
export function childFlags({ network, heapMb }: ChildRights): string[] {
  const flags = [
    '--permission',
    '--no-experimental-sqlite',
    `--max-old-space-size=${Math.floor(heapMb)}`,
    `--v8-pool-size=${CHILD_V8_THREADS}`,
  ];
  if (network !== 'none' && CAN_RESTRICT_NETWORK)
    flags.push('--allow-net', '--disable-warning=ExperimentalWarning');
  return flags;
}

/**
 * Starts a child that runs a program, given as JavaScript text. The program is passed as text: the
 * child then starts as fast as an empty one, whatever the size of the service, and may read no file
 * at all, not even its own.
 */
export function startProcess(program: string, rights: ChildRights): ChildProcess {
  const { file, args } = nodeCommand(childFlags(rights), program, rights.host);
  const inherited = INHERITED_VARIABLES.map((name) => [name, process.env[name]]); // undefined is none
  const child = spawn(file, args, { stdio: 'pipe', env: Object.fromEntries(inherited) });
  yieldToParent(child, rights.niceness);
  return child;
}

/** Errors of a start for which the machine lacks processes, memory or open files. */
const SHORTAGES: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);

/**
 * Whether the machine lacked something when a process was started, so that another try may succeed.
 */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.has(String(errorCode(error)));
}

/** When processors or memory are short, the service takes precedence over its children. */
function yieldToParent({ pid }: ChildProcess, niceness = CHILD_NICENESS): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, niceness);
  } catch {
    // Some systems do not allow it, and a child may have exited already.
  }
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(CHILD_OOM_SCORE_ADJ));
  } catch {
    // Only on Linux.
  }
}

/**
 * Ends a child on this machine; after TERM, KILL follows if that was not enough. Nothing more is
 * read from it.
 */
export function endProcess(child: ChildProcess, signal: NodeJS.Signals): void {
  closeOutput(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  if (signal === 'SIGKILL') return;
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  child.once('close', () => clearTimeout(timer));
}

/**
 * Reads what the child writes to stderr; the function returned gives the end of it so far. Calls
 * `onTooMuch` when the child has written an unreasonable amount. Secrets are hidden before anything
 * is cut off.
 */
export function readStderr(
  child: ChildProcess,
  onTooMuch: (error: string) => void,
  hide: Hide,
): () => string {
  let tail = '';
  let bytes = 0;
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = hide(tail + chunk.toString()).slice(-STDERR_TAIL_LENGTH);
    bytes += chunk.length;
    if (bytes > MAX_STDERR_BYTES)
      onTooMuch(`The model process wrote more than ${MAX_STDERR_BYTES} bytes to stderr`);
  });
  return () => tail;
}

/**
 * A launcher: the command of MODEL_DAY_COMMAND, which runs a model-day somewhere else and carries
 * its stdin and stdout.
 */
interface Launcher {
  /** What errors call it: its program without the folder. */
  name: string;
  times: LauncherTimes;
}

/**
 * How long a launcher may take to end. Together they stay below the time in which the service shuts
 * down (`core/commands/serve.ts`).
 */
export type LauncherTimes = typeof launcherTimes;

/** The times of the service; tests have shorter ones. */
export const launcherTimes = {
  /**
   * From the end of its stdin to TERM. The child exits at the end of stdin, and the launcher cleans
   * up behind it.
   */
  termAfterMs: 3_000,
  killAfterMs: 3_000,
  /**
   * From KILL until nothing is expected of it any more: a process that waits in the kernel cannot
   * be killed.
   */
  giveUpAfterMs: 2_000,
  /**
   * From its exit to the end of its output, which a process that it left in the background can hold
   * open.
   */
  drainMs: 1_000,
};

/**
 * Ends a launcher, after a success too: closes its stdin, then sends TERM, then KILL. Its output is
 * read until it exits, because a launcher that may not write any more would die before it has
 * cleaned up. Calls `onGivenUp` when not even KILL ends it.
 */
export function endLauncher(
  child: ChildProcess,
  times: LauncherTimes,
  onGivenUp: () => void,
): void {
  if (child.exitCode !== null || child.signalCode !== null) return closeOutput(child);
  child.stdin?.destroy(); // what the launcher has not read yet must not delay the end
  const killAfterMs = times.termAfterMs + times.killAfterMs;
  const giveUp = () => (closeOutput(child), onGivenUp());
  const timers = [
    setTimeout(() => child.kill('SIGTERM'), times.termAfterMs),
    setTimeout(() => child.kill('SIGKILL'), killAfterMs),
    setTimeout(giveUp, killAfterMs + times.giveUpAfterMs),
  ];
  child.once('exit', () => {
    timers.forEach(clearTimeout);
    closeOutput(child);
  });
}

/**
 * Bounds the time from a launcher's exit to the end of its output, whose last lines may be the
 * outcome. The function returned ends the watch.
 */
export function boundOutput(child: ChildProcess, { times }: Launcher): () => void {
  let timer: NodeJS.Timeout | undefined;
  child.once('exit', () => {
    timer = setTimeout(() => closeOutput(child), times.drainMs);
  });
  return () => clearTimeout(timer);
}

function closeOutput({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}
