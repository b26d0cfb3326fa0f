import { messageOf } from '../basics/domain.ts';
import { secretHider } from '../basics/secrets.ts';
import { count } from '../basics/sentences.ts';
import { inShortTurn } from './turns.ts';
import { type PastMessage, secretsOf, type Start } from '../wire/protocol.ts';
import { type ProcessOutcome, type MessageHandler, openChannel } from './channel.ts';
import type { Network } from './confinement.ts';
import { describeForeign } from './launcher.ts';
import { isShortage, type Rights, type Started } from './process.ts';
import { watchChild } from './watch.ts';

/** A child that starts is never at rest for long, however slow its machine is. */
const QUIET_MS = 5_000;

interface LaunchOptions {
  /** The child's program as JavaScript text. */
  program: string;
  startChild: (program: string, rights: Rights) => Started;
  timeoutMs: number;
  /** What earlier processes of this model-day have left of that time. Default: all of it. */
  leftMs?: number;
  /** What the process may use in all, in megabytes; half of it is for its JavaScript heap. */
  memoryMb: number;
  /** How long it may do nothing at all before its first message. */
  quietMs?: number;
  /** The conversation of an earlier process of this model-day. */
  past?: readonly PastMessage['message'][];
  /**
   * Aborted on shutdown or cancellation; the child is then stopped and the outcome is a failure.
   */
  signal: AbortSignal;
  /**
   * Receives every message but the outcome; what it returns is sent back. When it throws, the child
   * is stopped.
   */
  onMessage: MessageHandler;
  /** Receives the end of what the child wrote to stderr, if it wrote anything. */
  onStderr?: (tail: string) => void;
}

/**
 * Runs one model-day in a separate child process. Once the process has exited, resolves to exactly
 * one outcome: the first reason wins. Rejects only with what `onMessage` threw.
 */
export function launch(
  start: Omit<Start, 'pastMessages'>,
  options: LaunchOptions,
): Promise<ProcessOutcome> {
  // The start of a process blocks for some milliseconds; requests come between any two.
  return inShortTurn(() => run(start, options));
}

/** Listens to the child in the turn in which it is started: a start error is an event of the next. */
async function run(
  start: Omit<Start, 'pastMessages'>,
  options: LaunchOptions,
): Promise<ProcessOutcome> {
  const started = startUnlessStopped(start, options);
  if ('status' in started) return started;
  const { timeoutMs, leftMs = timeoutMs, signal, onMessage, past = [] } = options;
  const { memoryMb, quietMs = QUIET_MS } = options;
  const { child, launcher } = started;
  const hide = secretHider(secretsOf(start.model));
  const channel = openChannel(child, {
    onMessage,
    ...(launcher && { describeForeign: (line) => describeForeign(launcher.name, hide(line)) }),
    onSettled: (how) => watched.end(how),
  });
  const watched = watchChild(started, { channel, memoryMb, quietMs, hide });
  const tooLong = () =>
    `The model-day took longer than ${count(timeoutMs / 1000, 'second')}${watched.said()}`;
  const timer = setTimeout(() => channel.fail(tooLong()), leftMs);
  const abort = () => channel.fail(String(signal.reason));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  channel.send({ ...start, pastMessages: past.length });
  for (const message of past) channel.send({ type: 'past_message', message });
  await watched.ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', abort);
  if (watched.stderr() !== '') options.onStderr?.(watched.stderr());
  return channel.outcome;
}

/**
 * A job may be stopped while its children wait for their turn to start. Some start errors are
 * thrown here, others are events of the child.
 */
function startUnlessStopped(
  { model }: Pick<Start, 'model'>,
  { program, startChild, memoryMb, signal }: LaunchOptions,
): Started | ProcessOutcome {
  if (signal.aborted) return { status: 'failed', error: String(signal.reason) };
  try {
    return startChild(program, { network: networkOf(model), heapMb: memoryMb / 2 });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return isShortage(error)
      ? { status: 'lost', hasSpoken: false, error: `it could not be started: ${messageOf(error)}` }
      : { status: 'failed', error: `Cannot start the model process: ${messageOf(error)}` };
  }
}

function networkOf(model: Start['model']): Network {
  if (model.kind !== 'provider') return 'none';
  return new URL(model.baseUrl).protocol === 'https:' ? 'https' : 'http';
}
