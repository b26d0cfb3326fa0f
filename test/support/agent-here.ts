import { ChildProcess } from 'node:child_process';
import http from 'node:http';
import { PassThrough, finished } from 'node:stream';
import timers from 'node:timers/promises';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import { buildAgent } from '../../build.mjs';
import type { WorkerContext } from '../../src/core/jobs/active-job.ts';
import { type StartChild, startConfined } from '../../src/core/children/process.ts';
import { isLong } from './long.ts';

/**
 * Agents that run in the process of the test, in a thirtieth of the processor time of a process:
 * for tests of jobs, which do not depend on where an agent runs. Everything but the process itself
 * is as always: the lines, the replies, and how an agent is ended. In `npm run test:long` each is a
 * process.
 */

/** What runs a model-day in a test: a program, and how it is started. */
export type TestAgent = Pick<WorkerContext, 'agentProgram' | 'startChild'>;

/** A program that runs in processes, as it does in the service. */
export function inProcesses(agentProgram: string): TestAgent {
  return { agentProgram, startChild: startConfined };
}

/**
 * A program that runs in this process: it has to read its lines by the `read` of `node:fs`, which
 * does not block.
 */
export function agentHere(agentProgram: string): TestAgent {
  return isLong ? inProcesses(agentProgram) : { agentProgram, startChild: startHere };
}

let built: Promise<string> | undefined;

/** The real agent, with a pipe that does not block. */
export async function realAgentHere(): Promise<TestAgent> {
  return agentHere(await (built ??= isLong ? buildAgent() : buildAgentHere()));
}

async function buildAgentHere(): Promise<string> {
  const path = (name: string) => new URL(name, import.meta.url).pathname;
  const { outputFiles } = await build({
    entryPoints: [path('../../src/core/agent/agent.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    plugins: [
      {
        name: 'pipe',
        setup: ({ onResolve }) =>
          onResolve({ filter: /\/pipe\.ts$/ }, () => ({ path: path('pipe-here.ts') })),
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
}

/**
 * Starts a child without a process: its streams and its end. As a confined program does, it gets
 * few modules, `node:http` only with an endpoint, and a small `process`.
 */
const startHere: StartChild = (program, { network }) => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const ending = new AbortController();
  const { signal } = ending;
  const end = (exitCode: number | null, signalCode: NodeJS.Signals | null) => {
    if (signal.aborted) return false;
    Object.assign(child, { exitCode, signalCode });
    ending.abort();
    stdout.end();
    finished(stdout, () => child.emit('close', exitCode, signalCode));
    return true;
  };
  const kill = (name: NodeJS.Signals = 'SIGTERM') => end(null, name);
  const child: ChildProcess = Object.assign(new ChildProcess(), {
    stdin,
    stdout,
    stderr,
    kill,
    exitCode: null,
    signalCode: null,
  });
  const modules: Record<string, unknown> = {
    'node:fs': pipesOf({ stdin, stdout }, signal),
    ...(network === 'http' && {
      'node:http': httpUntil(signal),
      'node:timers/promises': timersUntil(signal),
    }),
  };
  const provide = (name: string) => modules[name];
  const small = {
    pid: 0,
    env: {},
    getBuiltinModule: provide,
    kill: () => kill('SIGKILL'),
    exit: (code: number) => end(code, null),
  };
  // The program's own waits, as `setTimeout` would be in its process; no test waits for them.
  const waits = [setTimeout, setInterval].map((wait) => (next: () => void, ms: number) => {
    const timer = wait(next, ms);
    signal.addEventListener('abort', () => clearTimeout(timer));
    return timer;
  });
  const run = async () => compiled(program)(provide, small, ...waits);
  setImmediate(() => run().catch(() => end(1, null)));
  return { child, launcher: null };
};

/** A program as a function of what it would find in a process. */
type Program = (
  require: (name: string) => unknown,
  process: object,
  ...waits: ((next: () => void, ms: number) => NodeJS.Timeout)[]
) => unknown;

const PARAMETERS = ['require', 'process', 'setTimeout', 'setInterval'];
let last: { text: string; program: Program } | undefined;

/** Compiled once, however many model-days run the same program one after another. */
function compiled(text: string): Program {
  if (last?.text !== text)
    last = {
      text,
      program: compileFunction(text, PARAMETERS) as Program,
    };
  return last.program;
}

/** `node:fs` for a program that has only its pipes. */
function pipesOf(
  { stdin, stdout }: { stdin: PassThrough; stdout: PassThrough },
  signal: AbortSignal,
): object {
  return {
    read(_stdin: 0, chunk: Buffer, done: (error: null, length: number) => void): void {
      const take = () => {
        if (signal.aborted) return;
        const bytes: Buffer | null = stdin.read(Math.min(stdin.readableLength, chunk.length));
        done(null, bytes?.copy(chunk) ?? 0);
      };
      if (stdin.readableLength > 0) setImmediate(take);
      else stdin.once('readable', take);
    },
    writeSync: (_stdout: 1, text: string) => void (signal.aborted || stdout.write(text)),
  };
}

function timersUntil(signal: AbortSignal): object {
  return { setTimeout: (ms: number) => timers.setTimeout(ms, undefined, { signal }) };
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
