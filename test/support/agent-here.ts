import childProcess, { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { PassThrough, finished } from 'node:stream';
import timers from 'node:timers/promises';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import { isLong } from './long.ts';
import { realAgent } from './service.ts';

/**
 * Agents that run in the process of the test, in a thirtieth of the processor time of a process: for tests of jobs, which do not
 * depend on where an agent runs. Everything but the process itself is as always: the lines, the replies, and how an agent is
 * ended. In `npm run test:long` each is a process.
 */

const MARK = '/* runs in the process of the test */';
const CONFINED = /\}\)\("(?:none|http)", (?="\/\* runs in )/;

/** The program, marked to run in this process; it must await what it reads. */
export function agentHere(program: string): string {
  if (isLong) return program;
  catchStarts();
  return MARK + program;
}

let built: Promise<string> | undefined;

/** The real agent, with a pipe that does not block. */
export async function realAgentHere(): Promise<string> {
  return agentHere(await (isLong ? realAgent() : (built ??= buildAgentHere())));
}

async function buildAgentHere(): Promise<string> {
  const path = (name: string) => new URL(name, import.meta.url).pathname;
  const { outputFiles } = await build({
    entryPoints: [path('../../src/agent/agent.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    plugins: [{ name: 'pipe', setup: ({ onResolve }) => onResolve({ filter: /\/pipe\.ts$/ }, () => ({ path: path('pipe-here.ts') })) }],
  });
  return outputFiles[0]?.text ?? '';
}

let isCatching = false;

/** From now on the start of a process that would run a marked program runs it here; all others start as ever. */
function catchStarts(): void {
  if (isCatching) return;
  isCatching = true;
  const { spawn } = childProcess;
  const spawnOrRun = (...parameters: Parameters<typeof spawn>) => {
    const text = parameters[1]?.at(-1) ?? '';
    const confined = text.includes(MARK) ? CONFINED.exec(text) : null;
    if (confined === null) return spawn(...parameters);
    return run(JSON.parse(text.slice(confined.index + confined[0].length, -1)));
  };
  Object.assign(childProcess, { spawn: spawnOrRun });
  syncBuiltinESMExports();
}

/** A child without a process: its streams and its end. */
function run(program: string): ChildProcess {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const ending = new AbortController();
  const end = (exitCode: number | null, signalCode: NodeJS.Signals | null) => {
    if (ending.signal.aborted) return false;
    Object.assign(child, { exitCode, signalCode });
    ending.abort();
    stdout.end();
    finished(stdout, () => child.emit('close', exitCode, signalCode));
    return true;
  };
  const kill = (signal: NodeJS.Signals = 'SIGTERM') => end(null, signal);
  const child: ChildProcess = Object.assign(new ChildProcess(), { stdin, stdout, stderr, kill, exitCode: null, signalCode: null });
  const modules: Record<string, unknown> = {
    'node:fs': {
      async readSync(_stdin: 0, chunk: Buffer): Promise<number> {
        while (stdin.readableLength === 0) await once(stdin, 'readable', { signal: ending.signal });
        return stdin.read(Math.min(stdin.readableLength, chunk.length)).copy(chunk);
      },
      writeSync: (_stdout: 1, text: string) => void (ending.signal.aborted || stdout.write(text)),
    },
    'node:http': httpUntil(ending.signal),
    'node:timers/promises': {
      setTimeout: (ms: number) => timers.setTimeout(ms, undefined, { signal: ending.signal }),
    },
  };
  const provide = (name: string) => modules[name];
  const own = { pid: 0, env: {}, getBuiltinModule: provide, kill: () => kill('SIGKILL'), exit: (code: number) => end(code, null) };
  const pause = (next: () => void, ms: number) => {
    const timer = setTimeout(next, ms);
    ending.signal.addEventListener('abort', () => clearTimeout(timer));
    return timer;
  };
  const crash = () => void end(1, null);
  setImmediate(() => Promise.resolve(compiled(program)(provide, own, pause)).catch(crash));
  return child;
}

let last: { program: string; start: (...host: unknown[]) => unknown } | undefined;

/** Compiled once, however many model-days run the same program one after another. */
function compiled(program: string): (...host: unknown[]) => unknown {
  if (last?.program !== program) last = { program, start: compileFunction(program, ['require', 'process', 'setTimeout']) as never };
  return last.start;
}

/** `node:http`, whose connections are cut when the agent ends, as those of a process are. */
function httpUntil(signal: AbortSignal): object {
  const request = (...parameters: Parameters<typeof http.request>) => {
    signal.throwIfAborted();
    return http.request(...parameters);
  };
  function Agent(options: http.AgentOptions): http.Agent {
    const agent = new http.Agent(options);
    signal.addEventListener('abort', () => agent.destroy());
    return agent;
  }
  return { request, Agent };
}
