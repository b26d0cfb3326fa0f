import { setImmediate } from 'node:timers/promises';
import type { Outcome, PastMessage, Start } from '../protocol.ts';
import { type MessageHandler, openChannel } from './channel.ts';
import { endProcess, readStderr, startProcess } from './process.ts';

export interface LaunchOptions {
  /** The child's program as JavaScript text. */
  program: string;
  timeoutMs: number;
  /** What an earlier process of this model-day heard and said. */
  past?: readonly PastMessage['message'][];
  /** Aborted on shutdown or cancellation; the child is then stopped and the outcome is a failure. */
  signal: AbortSignal;
  /** Takes every message but the outcome; what it returns is sent back. When it throws, the child is stopped. */
  onMessage: MessageHandler;
  /** Takes the end of what the child wrote to stderr, when it wrote anything. */
  onStderr?: (tail: string) => void;
}

/**
 * Runs one model-day in a child process of its own and resolves, when that process is gone, to exactly one outcome: the
 * first reason wins. Rejects only with what `onMessage` threw.
 */
export async function launch(start: Start, options: LaunchOptions): Promise<Outcome> {
  const { program, timeoutMs, signal, onMessage } = options;
  await turnToSpawn();
  const closed = Promise.withResolvers<void>();
  const child = startProcess(program, { isNetworked: start.model.kind === 'chat_completions' });
  const channel = openChannel(child, { onMessage, onSettled: (how) => endProcess(child, how) });
  const stderr = readStderr(child, channel.fail);
  child.on('error', (error) => channel.fail(`Cannot start the model process: ${error.message}`));
  child.on('close', (code, killedBy) => {
    channel.fail(`The model process ended without an outcome (${killedBy ?? `exit code ${code}`})`);
    closed.resolve();
  });
  const timer = setTimeout(
    () => channel.fail(`The model-day took longer than ${timeoutMs / 1000} seconds`),
    timeoutMs,
  );
  const abort = () => channel.fail(String(signal.reason));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  channel.send(start);
  for (const message of options.past ?? []) channel.send({ type: 'past_message', message });
  await closed.promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', abort);
  if (stderr() !== '') options.onStderr?.(stderr());
  return channel.outcome;
}

let lastTurn: Promise<void> = Promise.resolve();

/** Starting a process blocks for milliseconds; one per turn of the event loop, so that requests are answered between. */
function turnToSpawn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => setImmediate()));
}
