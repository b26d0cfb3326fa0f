import childProcess, { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { PassThrough, finished } from 'node:stream';
import { compileFunction } from 'node:vm';
import { isLong } from './long.ts';

/**
 * Agents that run in the process of the test, in a thirtieth of the processor time of a process: for tests of jobs, which do not
 * depend on where an agent runs. Everything but the process itself is as always: the lines, the replies, and how an agent is
 * ended. In `npm run test:long` each is a process.
 */

const MARK = '/* runs in the process of the test */';
const CONFINED = /\}\)\("none", ("(?:[^"\\]|\\.)*")\)$/;

/** The program, marked to run in this process; it must await what it reads, and return a promise of its end. */
export function agentHere(program: string): string {
  if (isLong) return program;
  catchStarts();
  return MARK + program;
}

let isCatching = false;

/** From now on the start of a process that would run a marked program runs it here; all others start as ever. */
function catchStarts(): void {
  if (isCatching) return;
  isCatching = true;
  const { spawn } = childProcess;
  const spawnOrRun = (...parameters: Parameters<typeof spawn>) => {
    const text = parameters[1]?.at(-1);
    const [, program] = (text?.includes(MARK) && CONFINED.exec(text)) || [];
    return program === undefined ? spawn(...parameters) : run(JSON.parse(program));
  };
  Object.assign(childProcess, { spawn: spawnOrRun });
  syncBuiltinESMExports();
}

/** A child without a process: its streams, its end, and the few functions that its program has from Node. */
function run(program: string): ChildProcess {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const timers: NodeJS.Timeout[] = [];
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = (exitCode: number | null, signalCode: NodeJS.Signals | null) => {
    if (hasEnded()) return false;
    Object.assign(child, { exitCode, signalCode });
    timers.forEach(clearTimeout);
    stdout.end();
    finished(stdout, () => child.emit('close', exitCode, signalCode));
    return true;
  };
  const kill = (signal: NodeJS.Signals = 'SIGTERM') => end(null, signal);
  const child: ChildProcess = Object.assign(new ChildProcess(), { stdin, stdout, stderr, kill, exitCode: null, signalCode: null });
  const files = {
    async readSync(_stdin: 0, chunk: Buffer): Promise<number> {
      while (stdin.readableLength === 0) await once(stdin, 'readable');
      return stdin.read(Math.min(stdin.readableLength, chunk.length)).copy(chunk);
    },
    writeSync: (_stdout: 1, text: string) => void (hasEnded() || stdout.write(text)),
  };
  const host = { pid: 0, kill: () => kill('SIGKILL'), exit: (code: number) => end(code, null) };
  const pause = (next: () => void, ms: number) => void timers.push(setTimeout(next, ms));
  const start = compileFunction(program, ['require', 'process', 'setTimeout']);
  setImmediate(() => start(() => files, host, pause).then(() => end(0, null), () => end(1, null)));
  return child;
}
