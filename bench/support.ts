import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Programs, folders and requests of the bench. Everything that it starts ends with it. */

export const PROGRAM = new URL('../dist/server.js', import.meta.url).pathname;

export interface Server {
  url: string;
  pid: number;
  process: ChildProcess;
  folder: string;
  stop(): Promise<void>;
}

const POLL_MS = 50;
const folders: string[] = [];
const children = new Set<ChildProcess>();
let isGuarded = false;

/** Not called on import: tests import this file. */
function guardEnd(): void {
  if (isGuarded) return;
  isGuarded = true;
  process.on('exit', () => {
    children.forEach((child) => child.kill('SIGKILL'));
    folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(1));
}

/** Ends a process with the bench, also when the bench fails or is stopped. */
export function endWithBench<Child extends ChildProcess>(child: Child): Child {
  guardEnd();
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

/** A folder that is removed when the bench ends. */
export function benchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tss-bench-'));
  guardEnd();
  folders.push(folder);
  return folder;
}

/** The process id of a child; throws if it could not be started. */
export function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`Cannot start ${spawnfile}`);
  return pid;
}

export interface ServerOptions {
  models?: readonly string[];
  folder?: string;
  env?: Record<string, string>;
  /** Further fields of every model's entry. */
  entry?: object;
  agentConfig?: object;
  /** A module that is loaded before the program, and has a channel to the bench. */
  probe?: string;
}

/** Starts a build, by default in DEV mode and in a folder of its own. */
export async function startServer(build: string, options: ServerOptions = {}): Promise<Server> {
  const { models = ['model-0'], folder = benchFolder(), env = {}, probe } = options;
  mkdirSync(join(folder, 'configs'), { recursive: true });
  const configuration = {
    models: models.map((signature) => ({ signature, enabled: true, ...options.entry })),
    agent_config: options.agentConfig,
  };
  writeFileSync(join(folder, 'configs/default_config.json'), JSON.stringify(configuration));
  const child = spawn(process.execPath, [...(probe ? ['--import', probe] : []), build], {
    cwd: folder,
    env: {
      DEPLOYMENT_MODE: 'DEV',
      API_PORT: '0',
      MAX_SIMULATION_DAYS: '3660',
      PRESERVE_DEV_DATA: 'true',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe', probe ? 'ipc' : 'ignore'],
  });
  const url = `http://127.0.0.1:${await listeningPort(endWithBench(child))}`;
  return { url, pid: pidOf(child), process: child, folder, stop: () => end(child) };
}

/** Once its log names the port; the rest of its log is read and discarded. */
async function listeningPort(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const look = (chunk: Buffer) => {
    text += chunk;
    const [, port] = /"message":"listening".*?"port":(\d+)/.exec(text) ?? [];
    if (port !== undefined) resolve(port);
  };
  child.stderr?.on('data', look);
  child.once('error', reject).once('close', () => reject(new Error(`Cannot start: ${text}`)));
  const port = await promise;
  child.stderr?.off('data', look).resume();
  return port;
}

/** Ends a process with SIGTERM; resolves when it has ended. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/**
 * Requests a response that is not compressed, and reads it to its end. Rejects unless it succeeds.
 */
export async function ask(
  url: string,
  body?: object,
): Promise<{ ms: number; headers: Headers; body: Buffer }> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    headers: { 'accept-encoding': 'identity', 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const read = Buffer.from(await response.arrayBuffer());
  const ms = performance.now() - startedAt;
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${read.toString('utf8')}`);
  return { ms, headers: response.headers, body: read };
}

export async function askJson<Json>(url: string, body?: object): Promise<Json> {
  return JSON.parse((await ask(url, body)).body.toString()) as Json;
}

/** Creates a job; resolves to the URL of its status. */
export async function triggerJob({ url }: { url: string }, request: object): Promise<string> {
  const job = await askJson<{ job_id: string }>(`${url}/simulate/trigger`, request);
  return `${url}/simulate/status/${job.job_id}`;
}

/** What the bench reads of a job's status. */
export interface JobStatus {
  job_id: string;
  status: string;
  completed_at: string | null;
  details: { started_at: string | null }[];
}

/** Asks for a job's status until the job has ended. Rejects unless it is completed. */
export async function untilCompleted(statusUrl: string): Promise<JobStatus> {
  for (;;) {
    const job = await askJson<JobStatus>(statusUrl);
    if (job.status === 'completed') return job;
    if (job.completed_at !== null) throw new Error(`The job is ${job.status}: see ${statusUrl}`);
    await sleep(POLL_MS);
  }
}
