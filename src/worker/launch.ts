import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import {
  type ChildMessage,
  MAX_LINE_BYTES,
  type Outcome,
  type PastMessage,
  type Start,
  type ToolResults,
  childMessageSchema,
  createLineReader,
  decodeLine,
  encodeLine,
} from '../protocol.ts';

/** Between TERM and KILL. A child holds nothing that could be lost, so it gets little time. */
const KILL_AFTER_MS = 1_000;
/** The heap of a child; a model-day's conversation is a few megabytes. */
const CHILD_MEMORY_MB = 256;
const CHILD_NICENESS = 10;
/**
 * Lines are handled one after another; a child that sends more than these without waiting for answers is stopped. While
 * the parent is at something else, a request may well fail as often as a configuration lets it be tried.
 */
const MAX_LINES_AHEAD = 128;
const MAX_BYTES_AHEAD = 2 * MAX_LINE_BYTES;
/** The end of a child's stderr that is kept for the log. */
const STDERR_TAIL_LENGTH = 4_000;
/** Node 26 on; before that the permission model lets every process reach the network. */
const CAN_RESTRICT_NETWORK = process.allowedNodeEnvironmentFlags.has('--allow-net');
/** All that a child inherits: how to reach the network, whom to trust there, and the time zone. */
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

export interface LaunchOptions {
  /** The child's program as JavaScript text. */
  program: string;
  timeoutMs: number;
  /** What an earlier process of this model-day heard and said. */
  past?: readonly PastMessage['message'][];
  /** Aborted on shutdown or cancellation; the child is then stopped and the outcome is a failure. */
  signal: AbortSignal;
  /** Takes every message but the outcome; what it returns is sent back. When it throws, the child is stopped. */
  onMessage: (message: Exclude<ChildMessage, { type: 'outcome' }>) => Promise<ToolResults | null>;
  /** Takes the end of what the child wrote to stderr, when it wrote anything. */
  onStderr?: (tail: string) => void;
}

/**
 * Runs one model-day in a child process of its own and resolves, when that process is gone, to exactly one outcome: the
 * first reason wins. Rejects only with what `onMessage` threw.
 */
export async function launch(start: Start, options: LaunchOptions): Promise<Outcome> {
  await turnToSpawn();
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const child = spawnChild(options.program, { isNetworked: start.model.kind === 'chat_completions' });
  let settled: (() => void) | undefined;
  const settle = (finish: () => void, signal: NodeJS.Signals) => {
    if (settled !== undefined) return;
    settled = finish;
    stop(child, signal);
  };
  const fail = (error: string) => settle(() => resolve({ status: 'failed', error }), 'SIGTERM');
  const handle = async (line: string) => {
    const message = decodeOrFail(line, fail);
    if (message?.type === 'outcome') return settle(() => resolve(message.result), 'SIGKILL');
    if (message === undefined) return;
    try {
      const reply = await options.onMessage(message);
      if (reply !== null) child.stdin?.write(encodeLine(reply));
    } catch (error) {
      settle(() => reject(error), 'SIGKILL');
    }
  };
  const ahead: string[] = [];
  let isBusy = false;
  const take = async (line: string) => {
    if (settled !== undefined) return;
    ahead.push(line);
    const bytesAhead = ahead.reduce((sum, { length }) => sum + length, 0);
    if (ahead.length > MAX_LINES_AHEAD || bytesAhead > MAX_BYTES_AHEAD)
      fail('The model process broke the protocol: it did not wait for its answers');
    if (isBusy) return;
    isBusy = true;
    for (let next = ahead.shift(); next !== undefined && settled === undefined; next = ahead.shift())
      await handle(next);
    isBusy = false;
  };

  const timer = setTimeout(
    () => fail(`The model-day took longer than ${options.timeoutMs / 1000} seconds`),
    options.timeoutMs,
  );
  const abort = () => fail(String(options.signal.reason));
  options.signal.addEventListener('abort', abort, { once: true });
  if (options.signal.aborted) abort();
  const readStderr = tailOf(child);
  child.stdout?.on(
    'data',
    createLineReader(
      (line) => void take(line),
      () => fail(`The model process sent a line longer than ${MAX_LINE_BYTES} bytes`),
    ),
  );
  child.stdin?.on('error', () => {}); // a child that is gone shows in its exit
  child.on('error', (error) => fail(`Cannot start the model process: ${error.message}`));
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', abort);
    if (readStderr() !== '') options.onStderr?.(readStderr());
    settled ??= () =>
      resolve({
        status: 'failed',
        error: `The model process ended without an outcome (${signal ?? `exit code ${code}`})`,
      });
    settled();
  });
  child.stdin?.write(encodeLine(start));
  for (const message of options.past ?? []) child.stdin?.write(encodeLine({ type: 'past_message', message }));
  return promise;
}

let lastTurn: Promise<void> = Promise.resolve();

/** Starting a process blocks for milliseconds; one per turn of the event loop, so that requests are answered between. */
function turnToSpawn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => setImmediate()));
}

/**
 * The program goes in by `--eval`: the child then starts as fast as an empty one whatever the size of the service, and
 * may read no file at all, not even its own.
 */
function spawnChild(program: string, { isNetworked }: { isNetworked: boolean }): ChildProcess {
  const flags = ['--permission', '--no-experimental-sqlite', `--max-old-space-size=${CHILD_MEMORY_MB}`];
  if (isNetworked && CAN_RESTRICT_NETWORK) flags.push('--allow-net', '--disable-warning=ExperimentalWarning');
  const args = [...flags, '--input-type=commonjs', '--eval', program];
  const inherited = INHERITED_VARIABLES.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  const child = spawn(process.execPath, args, { stdio: 'pipe', env: Object.fromEntries(inherited) });
  yieldToParent(child);
  return child;
}

/** When the processors are busy, the answers to clients come before the work of children. */
function yieldToParent({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, CHILD_NICENESS);
  } catch {
    // Some systems do not allow it, and a child may have ended already.
  }
}

function decodeOrFail(line: string, fail: (error: string) => void): ChildMessage | undefined {
  try {
    return decodeLine(childMessageSchema, line);
  } catch (error) {
    fail(`The model process broke the protocol: ${(error as Error).message}`);
    return undefined;
  }
}

/** Ends the child; with TERM first, KILL follows when that was not enough. Nothing more of it is read. */
function stop(child: ChildProcess, signal: NodeJS.Signals): void {
  child.kill(signal);
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (signal === 'SIGKILL') return;
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  child.once('close', () => clearTimeout(timer));
}

function tailOf(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-STDERR_TAIL_LENGTH);
  });
  return () => tail;
}
