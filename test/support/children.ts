import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { PassThrough } from 'node:stream';
import { createLineReader } from '../../src/protocol.ts';
import { isLong } from './long.ts';

/** What the program of a test's child works with: lines of JSON from and to the parent, and how it ends. */
export interface ChildPipe {
  receive(): Promise<any>;
  send(message: unknown): void;
  sleep(ms: number): Promise<void>;
  /** Ends the child immediately. */
  exit(code: number): Promise<never>;
  /** Ends the child as the kernel does it. */
  killed(): Promise<never>;
}

/** May use nothing but its pipe and its data, because it also runs as text in a process of its own. */
export type ChildProgram<Data> = (pipe: ChildPipe, data: Data) => Promise<void>;

/** The pipe of a process of its own, as text. Reads and writes block, so everything is done in order. */
const PROCESS_PIPE = `
  const { readSync, writeSync } = require('node:fs');
  const forever = () => new Promise(() => {});
  let text = '';
  const pipe = {
    async receive() {
      while (!text.includes('\\n')) {
        const chunk = Buffer.alloc(65536);
        const length = readSync(0, chunk);
        if (length === 0) process.exit(1);
        text += chunk.toString('utf8', 0, length);
      }
      const line = text.slice(0, text.indexOf('\\n'));
      text = text.slice(line.length + 1);
      return JSON.parse(line);
    },
    send: (message) => void writeSync(1, JSON.stringify(message) + '\\n'),
    async sleep(ms) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms); },
    exit(code) { process.exit(code); return forever(); },
    killed() { process.kill(process.pid, 9); return forever(); },
  };`;

/** A program as text that runs in a process of its own. */
export function asProcess<Data>(program: ChildProgram<Data>, data: Data): string {
  return `${PROCESS_PIPE}\n(${program.toString()})(pipe, ${JSON.stringify(data)});`;
}

/** The programs that run inside this process, by the number in their text. */
const insiders: ((pipe: ChildPipe) => Promise<void>)[] = [];

/**
 * A program as text which the worker starts like any other, but which runs inside the process of the tests and speaks over
 * streams in memory: a start takes less than a millisecond of processor time instead of some 40. `npm run test:long` runs it
 * in a process of its own. For tests of what the worker makes of what children say; those of processes use `asProcess`.
 */
export function asChild<Data>(program: ChildProgram<Data>, data: Data): string {
  if (isLong) return asProcess(program, data);
  const number = insiders.push((pipe) => program(pipe, data)) - 1;
  return `throw new Error('This is program ${number} inside the process of the tests')`;
}

if (!isLong) {
  const { spawn } = childProcess;
  const replacement = (command: string, args: readonly string[], options: SpawnOptions) => {
    const [, number] = /This is program (\d+) inside/.exec(args.at(-1) ?? '') ?? [];
    const program = number === undefined ? undefined : insiders[Number(number)];
    return program === undefined ? spawn(command, args, options) : startInside(program);
  };
  childProcess.spawn = replacement as typeof spawn;
  syncBuiltinESMExports();
}

/** A child without a process: ends with an exit code, or by a signal, after what it has sent was read. */
function startInside(program: (pipe: ChildPipe) => Promise<void>): ChildProcess {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const abort = new AbortController();
  const child = Object.assign(new EventEmitter(), {
    ...{ stdin, stdout, stderr, exitCode: null as number | null, signalCode: null as NodeJS.Signals | null },
    kill(signal: NodeJS.Signals) {
      end(null, signal);
      return true;
    },
  });
  const end = (code: number | null, signal: NodeJS.Signals | null): Promise<never> => {
    if (abort.signal.aborted) return forever();
    abort.abort();
    Object.assign(child, { exitCode: code, signalCode: signal });
    const close = () => setImmediate(() => child.emit('close', code, signal));
    if (stdout.destroyed) close();
    else stdout.once('close', close).end();
    return forever();
  };
  const pipe: ChildPipe = {
    receive: lineReader(stdin),
    send: (message) => void (stdout.writable && stdout.write(`${JSON.stringify(message)}\n`)),
    sleep: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        abort.signal.addEventListener('abort', () => clearTimeout(timer));
      }),
    exit: (code) => end(code, null),
    killed: () => end(null, 'SIGKILL'),
  };
  setImmediate(() => void program(pipe).then(() => end(0, null)));
  return child as unknown as ChildProcess;
}

const forever = () => new Promise<never>(() => {});

function lineReader(stdin: PassThrough): () => Promise<any> {
  const lines: string[] = [];
  let waiting: (() => void) | undefined;
  const take = (line: string) => {
    lines.push(line);
    waiting?.();
  };
  stdin.on('data', createLineReader(take, () => stdin.destroy()));
  return async () => {
    if (lines.length === 0) await new Promise<void>((resolve) => (waiting = resolve));
    return JSON.parse(lines.shift() as string);
  };
}
