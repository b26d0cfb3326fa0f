import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const PROGRAM = new URL('../dist/server.js', import.meta.url).pathname;

/** How a bench is run. */
export interface BenchOptions {
  /** The same build takes the place of each peer: every ratio should then be 1. */
  self: boolean;
}

/** One line of the report: a figure beside its peer, as a ratio, and what was aimed at. */
export interface Measurement {
  what: string;
  ours: string;
  peer: string;
  ratio: string;
  aim: string;
  met: boolean | null;
}

export interface Server {
  url: string;
  folder: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

const folders: string[] = [];
const children: ChildProcess[] = [];
process.on('exit', () => {
  children.forEach((child) => child.kill('SIGKILL'));
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/** Ends a process with the bench, also when the bench fails or is stopped. */
export function endWithBench<Child extends ChildProcess>(child: Child): Child {
  children.push(child);
  child.once('close', () => children.splice(children.indexOf(child), 1));
  return child;
}

/** A folder that is removed when the bench ends. */
export function benchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tss-bench-'));
  folders.push(folder);
  return folder;
}

/** Starts the built program in DEV mode in a folder of its own; `entry` is further fields of every model's entry, `flags` are Node's. */
export async function startServer(
  models: readonly string[],
  { folder = benchFolder(), env = {} as Record<string, string>, entry = {}, flags = [] as readonly string[] } = {},
): Promise<Server> {
  mkdirSync(join(folder, 'configs'), { recursive: true });
  writeFileSync(
    join(folder, 'configs/default_config.json'),
    JSON.stringify({ models: models.map((signature) => ({ signature, enabled: true, ...entry })) }),
  );
  const child = spawn(process.execPath, [...flags, PROGRAM], {
    cwd: folder,
    env: { DEPLOYMENT_MODE: 'DEV', API_PORT: '0', MAX_SIMULATION_DAYS: '3660', PRESERVE_DEV_DATA: 'true', ...env },
    stdio: ['ignore', 'ignore', 'pipe', flags.length > 0 ? 'ipc' : 'ignore'], // the turn probe has a channel
  });
  endWithBench(child);
  const port = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr?.on('data', (chunk) => {
      text += chunk;
      const match = /"message":"listening".*?"port":(\d+)/.exec(text);
      if (match) resolve(match[1] as string);
    });
    child.on('close', () => reject(new Error(`The server did not start: ${text}`)));
  });
  const stop = () => new Promise<void>((resolve) => child.once('close', () => resolve()).kill('SIGTERM'));
  return { url: `http://127.0.0.1:${port}`, folder, process: child, stop };
}

/** The headers of a request for a response that is not compressed, like those of the load generator. */
export const PLAIN = { 'accept-encoding': 'identity' };

export async function getJson(url: string): Promise<any> {
  return (await fetch(url, { headers: PLAIN })).json();
}

export async function triggerJob({ url }: Pick<Server, 'url'>, request: object): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify(request), headers: { 'content-type': 'application/json' } };
  const body = (await (await fetch(`${url}/simulate/trigger`, init)).json()) as { job_id?: string; detail?: string };
  if (body.job_id === undefined) throw new Error(body.detail);
  return body.job_id;
}

/** Runs a program to its end and resolves to its stdout. */
export function run(
  command: string,
  args: readonly string[],
  { cwd = process.cwd(), input = '' } = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = endWithBench(spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] }));
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.on('error', reject);
  child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}`))));
  child.stdin.on('error', () => {}); // a program that reads nothing may be gone already
  child.stdin.end(input);
  return promise;
}

/** The most memory that a process has had so far, in megabytes. */
export function peakMemoryMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** The memory of a process now, in megabytes: all that is resident, and its own share of it (PSS). */
export function memoryMb(pid: number): { resident: number; share: number } {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024;
  return { resident: field('Rss'), share: field('Pss') };
}

/** Memory is measured once: other work on the machine does not change it. */
export function memoryBelow(what: string, megabytes: number, aimMb?: number): Measurement {
  const aim = aimMb === undefined ? 'none' : `< ${aimMb} MB`;
  return { what, ours: `${megabytes.toFixed(1)} MB`, peer: '', ratio: '', aim, met: aimMb === undefined ? null : megabytes < aimMb };
}
