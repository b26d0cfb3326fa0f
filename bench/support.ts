import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const PROGRAM = new URL('../dist/server.js', import.meta.url).pathname;

/** How a bench is run. */
export interface BenchOptions {
  /** The same build takes the place of each peer: every ratio should then be 1. */
  self: boolean;
}

/**
 * One figure of the report: beside its peer, as a ratio, and what was aimed at. What does not apply
 * is left out.
 */
export interface Measurement {
  what: string;
  ours: string;
  peer?: string;
  ratio?: string;
  aims?: readonly Verdict[];
}

/** What was aimed at, with the figure that counts for it, and whether it was met. */
export interface Verdict {
  aim: string;
  isMet: boolean;
}

export interface Server {
  url: string;
  folder: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

const POLL_MS = 50;
const folders: string[] = [];
const children: ChildProcess[] = [];
let isGuarded = false;

/**
 * Ends the children and removes the folders when this process ends, by a signal too. Not called on
 * import: tests import this file.
 */
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
  children.push(child);
  child.once('close', () => children.splice(children.indexOf(child), 1));
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
  folder?: string;
  env?: Record<string, string>;
  /** Further fields of every model's entry. */
  entry?: object;
  /** Further keys of the configuration. */
  configuration?: object;
  /** A module that is loaded before the program, and has a channel to the bench. */
  probe?: string;
}

/** Starts the built program in DEV mode in a folder of its own. */
export async function startServer(
  models: readonly string[],
  { folder = benchFolder(), env = {}, entry = {}, configuration = {}, probe }: ServerOptions = {},
): Promise<Server> {
  mkdirSync(join(folder, 'configs'), { recursive: true });
  writeFileSync(
    join(folder, 'configs/default_config.json'),
    JSON.stringify({
      models: models.map((signature) => ({ signature, enabled: true, ...entry })),
      ...configuration,
    }),
  );
  const child = spawn(
    process.execPath,
    [...(probe === undefined ? [] : ['--import', probe]), PROGRAM],
    {
      cwd: folder,
      env: {
        DEPLOYMENT_MODE: 'DEV',
        API_PORT: '0',
        MAX_SIMULATION_DAYS: '3660',
        PRESERVE_DEV_DATA: 'true',
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe', probe === undefined ? 'ignore' : 'ipc'],
    },
  );
  const url = await listeningUrl(endWithBench(child));
  return { url, folder, process: child, stop: () => end(child) };
}

/**
 * The URL of a program that has been started, once its log says that it listens. The rest of its
 * log is read and discarded.
 */
export async function listeningUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const look = (chunk: Buffer) => {
    text += chunk;
    const [, port] = /"message":"listening".*?"port":(\d+)/.exec(text) ?? [];
    if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
  };
  child.stderr?.on('data', look);
  child
    .once('error', reject)
    .once('close', () => reject(new Error(`The server did not start: ${text}`)));
  const url = await promise;
  child.stderr?.off('data', look).resume(); // a thousand children log much; to look through it would delay what the bench measures
  return url;
}

/** Ends a process with SIGTERM; resolves when it has ended. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/**
 * The headers of a request for a response that is not compressed, like those of the load generator.
 */
export const PLAIN = { 'accept-encoding': 'identity' };

/** A POST request with a body in JSON. */
export function post(body: object): RequestInit {
  return {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { ...PLAIN, 'content-type': 'application/json' },
  };
}

export async function triggerJob({ url }: Pick<Server, 'url'>, request: object): Promise<string> {
  const body = (await (await fetch(`${url}/simulate/trigger`, post(request))).json()) as {
    job_id?: string;
    detail?: string;
  };
  if (body.job_id === undefined) throw new Error(body.detail);
  return body.job_id;
}

/** What the bench reads of a job's status. */
export interface JobStatus {
  status: string;
  completed_at: string | null;
  details: { started_at: string | null }[];
}

/** Rejects if the response is not a status. */
export async function getStatus(url: string): Promise<JobStatus> {
  const response = await fetch(url, { headers: PLAIN });
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as JobStatus;
}

const hasEnded = ({ completed_at: completedAt }: JobStatus) => completedAt !== null;

/** Asks for a job's status until it is reached, by default the end of the job. */
export async function untilStatus(
  statusUrl: string,
  isReached: (status: JobStatus) => boolean = hasEnded,
): Promise<JobStatus> {
  for (;;) {
    const status = await getStatus(statusUrl);
    if (isReached(status)) return status;
    await sleep(POLL_MS);
  }
}

/** Runs a program to its end. Rejects unless it ends with 0. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd = process.cwd() } = {},
): Promise<void> {
  const [code] = await once(
    endWithBench(spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })),
    'close',
  );
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}
