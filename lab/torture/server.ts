import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ask, followProgram, type Program } from '../../test/support/program.ts';
import { until } from '../../test/support/until.ts';
import type { TortureModels } from './models.ts';

/** The built service while it runs. */
export interface Server extends Program {
  url: string;
}

const environment = {
  ...{ API_PORT: '0', LOG_LEVEL: 'INFO', MAX_SIMULATION_DAYS: '30' },
  RUNTIME_CONFIG_PATH: 'runtime_config.json',
};

/** Runs a command of the program to its end. Rejects when it fails. */
export async function run(folder: string, args: readonly string[]): Promise<void> {
  const options = { cwd: folder, env: environment };
  const { code } = await followProgram(spawn(process.execPath, ['server.js', ...args], options))
    .ended;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

/**
 * Starts the service; `command` goes before it, such as one that enters a control group, and
 * `onLog` takes its log. Rejects with its log when it ends before it listens.
 */
export async function startServer(
  folder: string,
  { command = [] as readonly string[], onLog = (_text: string) => {} } = {},
): Promise<Server> {
  const [file = '', ...args] = [...command, process.execPath, 'server.js'];
  const child = spawn(file, args, { cwd: folder, env: environment });
  child.stderr.on('data', (chunk) => onLog(String(chunk)));
  const program = followProgram(child);
  const [, port] = await program.waitFor(/"message":"listening".*?"port":(\d+)/);
  return { ...program, url: `http://127.0.0.1:${port}` };
}

/** Creates a job; resolves to its id. */
export async function trigger({ url }: Server, request: object): Promise<string> {
  const { job_id: jobId, detail } = await ask(`${url}/simulate/trigger`, request);
  if (jobId === undefined)
    throw new Error(`The trigger refused ${JSON.stringify(request)}: ${detail}`);
  return jobId;
}

const statusOf = ({ url }: Server, jobId: string) => ask(`${url}/simulate/status/${jobId}`);

/**
 * Waits until a job has ended; it may have before this server's life. Its log says so, which takes
 * no processor time from the service, unlike asking it.
 */
export async function jobEnd(server: Server, jobId: string): Promise<unknown> {
  if ((await statusOf(server, jobId)).completed_at !== null) return;
  return server.waitFor(new RegExp(`"message":"job ended","jobId":"${jobId}"`));
}

/** Waits until a job has ended. Rejects unless it is completed. */
export async function untilEnd(server: Server, jobId: string): Promise<void> {
  await jobEnd(server, jobId);
  const { status, error, details } = await statusOf(server, jobId);
  if (status !== 'completed')
    throw new Error(`The job is ${status}: ${error} ${JSON.stringify(details)}`);
}

/**
 * Ends the service and waits until nothing of it is left. Resolves to how long its children
 * outlived it, in milliseconds; a child that stays is an error.
 */
export async function kill(
  server: Server,
  { signal, models }: { signal: NodeJS.Signals; models: TortureModels },
): Promise<number> {
  const { pid } = server.process as { pid: number };
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  server.process.kill(signal);
  await server.ended;
  const diedAt = performance.now();
  await until(
    `the children ${children.join(' ')} to end with their parent`,
    () => !children.some(isModelDay),
  );
  models.noteKill();
  return performance.now() - diedAt;
}

/** Whether a process is still there; another one may have its number by now. */
function isModelDay(pid: number): boolean {
  try {
    return /^(model-day|.*node)/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}
