import { Writable } from 'node:stream';
import { commands } from '../../src/commands.ts';
import { explainFailure, runCommandLine } from '../../src/core/commands/command-line.ts';
import { type Ended, type RunOptions, RUNTIME_CONFIG } from './program.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
let isRunning = false;

/**
 * Runs a command of the program to its end like `runProgram`, but in this process, which takes a
 * fiftieth of the processor time: from its arguments, folder and variables to its exit code and
 * what it prints. Not for `serve` and `demo`, which run until a signal. One at a time, because a
 * process has one folder.
 */
export async function runInProcess(
  args: readonly string[],
  { cwd, env = {} }: RunOptions,
): Promise<Ended> {
  if (isRunning)
    throw new Error(
      `Cannot run ${args.join(' ')} in the test's process: another command is running`,
    );
  isRunning = true;
  const [stdout, stderr] = [collector(), collector()];
  const restore = pretend({
    cwd,
    env: { RUNTIME_CONFIG_PATH: RUNTIME_CONFIG, ...env },
    stdout,
    stderr,
  });
  try {
    const code = (await runCommandLine(args, commands).catch(explainFailure)) ?? null;
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    restore();
    isRunning = false;
  }
}

/** Makes this process look like one of its own to a command; returns what ends that. */
function pretend({
  cwd,
  env,
  ...streams
}: {
  cwd: string;
  env: NodeJS.ProcessEnv;
  stdout: Writable;
  stderr: Writable;
}) {
  const before = { cwd: process.cwd(), env: process.env };
  const own = Object.keys(streams).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const,
  );
  const listening = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const);
  process.chdir(cwd);
  process.env = env;
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true });
  return () => {
    process.chdir(before.cwd);
    process.env = before.env;
    for (const [name, descriptor] of own)
      Object.defineProperty(process, name, descriptor as PropertyDescriptor);
    for (const [signal, kept] of listening)
      for (const listener of process.listeners(signal))
        if (!kept.includes(listener)) process.off(signal, listener);
  };
}

/** A stream that is not a terminal and keeps what is written to it. */
function collector(): Writable & { text(): string } {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return Object.assign(stream, { text: () => Buffer.concat(pieces).toString() });
}
