import type { ChildProcess } from 'node:child_process';
import { errorMessage } from '#domain/service-error.ts';
import {
  createLineReader,
  type ChildMessage,
  decodeLine,
  encodeLine,
  MAX_LINE_BYTES,
  type Outcome,
  type PastMessage,
  type StartMessage,
  type ToolResults,
} from '#wire/protocol.ts';
import { scheduleSliced } from './turns.ts';

/**
 * The messages between the parent and one child: lines in order, the limits of what it may send,
 * one outcome.
 */

/**
 * Lines are handled one after another; a child that sends more than this many without waiting for
 * replies is stopped. While the parent is busy, requests may fail as often as a configuration
 * allows retries.
 */
const MAX_LINES_AHEAD = 128;
const MAX_BYTES_AHEAD = 2 * MAX_LINE_BYTES;

/**
 * Receives every message but the outcome; what it returns is sent back. When it throws, the channel
 * rejects with that error.
 */
export type MessageHandler = (
  message: Exclude<ChildMessage, { type: 'outcome' }>,
) => Promise<ToolResults | null>;

/** The machine, not the model, caused the child's end. */
export interface ChildLoss {
  status: 'lost';
  hasSentMessage: boolean;
  error: string;
}

/**
 * The command that starts children cannot be run at all: another try, or another model-day, would
 * end the same way.
 */
export interface StartFailure {
  status: 'cannot_start';
  error: string;
}

export type ProcessOutcome = Outcome | ChildLoss | StartFailure;

interface ChannelOptions {
  onMessage: MessageHandler;
  /**
   * Why the model-day fails when the first line is not a message, where a launcher may have written
   * it.
   */
  describeForeignLine?: (line: string) => string;
  /** Called once, when the outcome is certain; the child must then be ended with that signal. */
  onSettled: (signal: NodeJS.Signals) => void;
}

export type Channel = ReturnType<typeof openChannel>;

export function openChannel(
  { stdin, stdout }: Pick<ChildProcess, 'stdin' | 'stdout'>,
  { onMessage, describeForeignLine, onSettled }: ChannelOptions,
) {
  const { promise: outcome, resolve, reject } = Promise.withResolvers<ProcessOutcome>();
  outcome.catch(() => {}); // handled later, when the process has exited
  let isSettled = false;
  let hasSentMessage = false;
  const settle = (signal: NodeJS.Signals) => {
    if (!isSettled) onSettled(signal);
    isSettled = true;
  };
  const end = (result: ProcessOutcome, signal: NodeJS.Signals = 'SIGKILL') => {
    resolve(result);
    settle(signal);
  };
  const fail = (error: string, signal: NodeJS.Signals = 'SIGTERM') =>
    end({ status: 'failed', error }, signal);
  const send = (message: StartMessage | PastMessage | ToolResults) =>
    void stdin?.write(encodeLine(message));
  const handle = async (line: string) => {
    try {
      const message = decode(line);
      hasSentMessage = true;
      if (message.type === 'outcome') return end(message.result);
      const reply = await onMessage(message);
      if (reply !== null) send(reply);
    } catch (error) {
      if (error instanceof ProtocolViolation)
        return fail(
          hasSentMessage || !describeForeignLine ? error.message : describeForeignLine(line),
        );
      reject(error);
      settle('SIGKILL');
    }
  };
  const lines = createLineQueue(handle, { isOver: () => isSettled, fail });
  const takeChunk = createLineReader(lines.take, () =>
    fail(`The model process sent a line longer than ${MAX_LINE_BYTES} bytes`),
  );
  stdout?.on('data', takeChunk);
  stdin?.on('error', () => {}); // a child that has exited is noticed by its exit
  return {
    send,
    /** Settles the outcome, unless it is settled; the child gets the signal, KILL by default. */
    end,
    /** Settles the outcome as a failure; the child gets TERM by default. */
    fail,
    /** Settles the outcome as lost: the machine ended the child. */
    lose: (error: string) => end({ status: 'lost', hasSentMessage, error }),
    hasSentMessage: () => hasSentMessage,
    /** Whether nothing has come from the child, not even a line that waits for its turn. */
    isSilent: () => !hasSentMessage && !lines.isBusy(),
    /**
     * Resolves when every line so far has been handled, or when the outcome is certain without
     * them. Never rejects.
     */
    linesHandled: () => Promise.race([lines.handled(), outcome.catch(() => {})]),
    /** The only outcome: the first reason wins. Rejects only with what `onMessage` threw. */
    outcome,
  };
}

/** Handles lines one after another; the limits bound how many may wait. */
function createLineQueue(
  handle: (line: string) => Promise<void>,
  { isOver, fail }: { isOver: () => boolean; fail: (error: string) => void },
) {
  const ahead: string[] = [];
  let isBusy = false;
  let working: Promise<void> = Promise.resolve();
  const drainQueue = async () => {
    isBusy = true;
    for (let next = ahead.shift(); next !== undefined && !isOver(); next = ahead.shift())
      await scheduleSliced(() => (isOver() ? undefined : handle(next))); // it may be over when its turn comes
    isBusy = false;
  };
  return {
    take(line: string) {
      if (isOver()) return;
      ahead.push(line);
      const bytesAhead = ahead.reduce((sum, { length }) => sum + length, 0);
      if (ahead.length > MAX_LINES_AHEAD || bytesAhead > MAX_BYTES_AHEAD)
        fail('The model process broke the protocol: it did not wait for its replies');
      if (!isBusy) working = drainQueue();
    },
    isBusy: () => isBusy,
    /** Resolves when all lines taken so far have been handled. */
    handled: () => working,
  };
}

class ProtocolViolation extends Error {}

function decode(line: string): ChildMessage {
  try {
    checkLineBounds(line);
    return decodeLine(line);
  } catch (error) {
    throw new ProtocolViolation(`The model process broke the protocol: ${errorMessage(error)}`);
  }
}

/** The deepest message nests about ten levels, including what providers want sent back with it. */
const MAX_DEPTH = 64;
/**
 * The widest message has 128 tool calls of three fields, and what providers want sent back with
 * them.
 */
const MAX_VALUES = 20_000;

/**
 * Refuses a line of JSON with more levels or values than any message of a child has, before it is
 * parsed: parsing and checking megabytes of brackets takes a second or more, and this check a few
 * milliseconds at most. Throws an `Error`. Leaves it to the parser whether the line is JSON at all.
 */
export function checkLineBounds(line: string): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at];
    if (character === '"') at = findClosingQuote(line, at);
    else if (character === '[' || character === '{') {
      depth += 1;
      values += 1;
    } else if (character === ']' || character === '}') depth -= 1;
    else if (character === ',') values += 1;
    if (depth > MAX_DEPTH) throw new Error(`the line is nested more than ${MAX_DEPTH} levels deep`);
    if (values > MAX_VALUES) throw new Error(`the line holds more than ${MAX_VALUES} values`);
  }
}

/**
 * The position of the closing quote of the text that opens at `start`; the end of the line when
 * there is none.
 */
function findClosingQuote(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at += 1) {
    if (line[at] === '"') return at;
    if (line[at] === '\\') at += 1;
  }
  return line.length;
}
