import { type ChildProcess, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { buildExecutable } from '../../build-executable.mjs';
import { errorCode } from '../../src/core/domain/service-error.ts';
import { isStopped, noProc } from './processes.ts';
import { stopUnlessTested } from './service.ts';
import { until } from './until.ts';
import { temporaryFolder } from './folder.ts';

/**
 * Each program has its own: the machine's may belong to another user. Relative to the working
 * directory.
 */
export const RUNTIME_CONFIG = 'runtime_config.json';
const DIST = new URL('../../dist/', import.meta.url).pathname;
export const EXECUTABLE = join(DIST, 'trading-simulation-service');
/**
 * Whether the tests install and run the executable, without Node (`npm run test:executable`), and
 * not the built file.
 */
export const isExecutable = process.env['TEST_EXECUTABLE'] === '1';
/** The installed file. */
export const PROGRAM_FILE = isExecutable ? 'trading-simulation-service' : 'server.js';

export const smallConfiguration = {
  models: [
    { signature: 'model-a', enabled: true },
    { signature: 'model-b', enabled: true },
  ],
  agent_config: { stock_symbols: ['AAPL', 'MSFT', 'NVDA'] },
};

/**
 * An empty folder with the built program and a configuration, and nothing else: no package.json, no
 * node_modules.
 */
export function installProgram(configuration: unknown = smallConfiguration): string {
  const built = join(DIST, PROGRAM_FILE);
  if (!existsSync(built))
    throw new Error(
      `dist/${PROGRAM_FILE} is missing: run "npm run build${isExecutable ? ':executable' : ''}" first`,
    );
  const folder = temporaryFolder();
  if (isExecutable) linkOrCopy(built, join(folder, PROGRAM_FILE));
  else copyFileSync(built, join(folder, PROGRAM_FILE));
  mkdirSync(join(folder, 'configs'));
  writeFileSync(join(folder, 'configs/default_config.json'), JSON.stringify(configuration));
  return folder;
}

/** The executable is larger than 100 MB; it is copied only to another file system. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    copyFileSync(from, to);
  }
}

/** Puts another program in the place of the agent inside an installed program. */
export function replaceAgent(folder: string, agent: string): void {
  const text = readFileSync(join(DIST, 'server.js'), 'utf8');
  const packed = [...text.matchAll(/[A-Za-z0-9+/]{1000,}=*/g)].map(([base64]) => base64);
  const isAgent = (base64: string) =>
    brotliDecompressSync(Buffer.from(base64, 'base64')).includes('failed_request');
  const [current, ...others] = packed.filter(isAgent);
  if (current === undefined || others.length > 0)
    throw new Error('Cannot replace the agent in dist/server.js: it is not there exactly once');
  const from = isExecutable ? join(folder, 'build') : folder;
  mkdirSync(from, { recursive: true });
  writeFileSync(
    join(from, 'server.js'),
    text.replace(current, brotliCompressSync(agent).toString('base64')),
  );
  if (!isExecutable) return;
  buildExecutable({ from, to: join(folder, PROGRAM_FILE) });
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
  /** In a process group of its own, as a shell starts it. */
  detached?: boolean;
  /** Options of Node. */
  flags?: readonly string[];
}

/** Runs a command of the program to its end. */
export function runProgram(args: readonly string[], options: RunOptions): Promise<Ended> {
  return startProgram(args, options).ended;
}

export interface Program {
  process: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves when stdout or stderr has a match; rejects when the program ends without one. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
}

/** The words before the program's own arguments, in the folder where it is installed. */
function commandOf(flags: readonly string[]): [file: string, ...words: string[]] {
  if (!isExecutable) return [process.execPath, ...flags, PROGRAM_FILE];
  return [
    `./${PROGRAM_FILE}`,
    ...(flags.length === 0 ? [] : [`--node-options=${flags.join(' ')}`]),
  ];
}

/**
 * Starts the program in a folder, with an environment of only the given variables; the executable
 * without a Node in its PATH.
 */
export function startProgram(
  args: readonly string[],
  { cwd, env = {}, detached = false, flags = [] }: RunOptions,
): Program {
  const variables = {
    ...(isExecutable && { PATH: join(cwd, 'no-programs') }),
    RUNTIME_CONFIG_PATH: RUNTIME_CONFIG,
  };
  const [file, ...words] = commandOf(flags);
  return followProgram(
    spawn(file, [...words, ...args], { cwd, env: { ...variables, ...env }, detached }),
  );
}

/** Collects what a child process writes, until it ends. */
export function followProgram(child: ChildProcess): Program {
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  const check = () => waiting.forEach((look) => look());
  child.stdout?.on('data', (chunk) => ((stdout += chunk), check()));
  child.stderr?.on('data', (chunk) => ((stderr += chunk), check()));
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
  const waitFor = (pattern: RegExp) => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const match = pattern.exec(stderr) ?? pattern.exec(stdout);
      if (match === null) return;
      waiting.delete(look);
      resolve(match);
    };
    waiting.add(look);
    look();
    void ended.then(() =>
      reject(new Error(`The program ended without ${pattern}:\n${stdout}${stderr}`)),
    );
    return promise;
  };
  return { process: child, ended, waitFor };
}

/** A server on a free port; killed after the test when it still runs. */
export async function startServer(
  t: TestContext,
  options: RunOptions,
): Promise<Program & { url: string }> {
  const program = startProgram([], { ...options, env: { API_PORT: '0', ...options.env } });
  t.after(() => program.process.kill('SIGKILL'));
  const [, port] = await program.waitFor(/"message":"listening".*?"port":(\d+)/);
  await stopUnlessTested('a server', () => program.process.kill('SIGKILL'));
  return { ...program, url: `http://127.0.0.1:${port}` };
}

/**
 * Makes a process stand still while the work is done: it keeps its locks, and neither writes nor
 * answers.
 */
export async function whileStopped(
  { process: child }: Program,
  work: () => Promise<void>,
): Promise<void> {
  child.kill('SIGSTOP');
  try {
    if (noProc === false)
      await until('the process to stand still', () => isStopped(Number(child.pid)));
    await work();
  } finally {
    child.kill('SIGCONT');
  }
}

export async function ask(url: string, body?: unknown): Promise<any> {
  const init =
    body === undefined
      ? {}
      : {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        };
  return (await fetch(url, init)).json();
}

/** Asks until the answer is as it should be, and resolves to it. */
export function untilAnswer(url: string, isDone: (body: any) => boolean): Promise<any> {
  let last: unknown;
  return until(
    () => `${url} to answer otherwise than ${JSON.stringify(last).slice(0, 2_000)}`,
    async () => isDone((last = await ask(url))) && last,
  );
}

/** Waits for the end of a job, or until its status is as it should be. */
export function waitForJob(
  url: string,
  jobId: string,
  isDone = (status: any): boolean => status.completed_at !== null,
): Promise<any> {
  return untilAnswer(`${url}/simulate/status/${jobId}`, isDone);
}
