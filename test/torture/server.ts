import { type ChildProcess, spawn } from 'node:child_process';
import type { ActionRecord } from '../support/recompute.ts';
import { until } from '../support/until.ts';

/** The built service while it runs. */
export interface Server {
  url: string;
  process: ChildProcess;
  /** Resolves when its log says that a job has ended; rejects when the service ends before that. */
  jobEnd(jobId: string): Promise<void>;
  stop(): Promise<void>;
}

const environment = {
  API_PORT: '0',
  LOG_LEVEL: 'INFO',
  MAX_SIMULATION_DAYS: '30',
  RUNTIME_CONFIG_PATH: 'runtime_config.json',
};

/** Runs a command of the program to its end. Rejects when it fails. */
export function run(folder: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['server.js', ...args], {
    cwd: folder,
    env: environment,
    stdio: 'ignore',
  });
  return new Promise((resolve, reject) =>
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${args.join(' ')} ended with ${code}`)),
    ),
  );
}

/**
 * Starts the service; `command` goes before it, such as one that enters a control group, and
 * `onLog` takes its log.
 */
export function startServer(
  folder: string,
  {
    command = [],
    onLog = () => {},
  }: { command?: readonly string[]; onLog?: (text: string) => void } = {},
): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const [file = '', ...args] = [...command, process.execPath, 'server.js'];
  const child = spawn(file, args, {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const jobs = watchJobs();
  const ended = new Promise<void>((end) => child.on('close', () => end()));
  let isStarting = true;
  until('the service to listen', () => !isStarting).catch(() => child.kill('SIGKILL'));
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-20_000);
    onLog(String(chunk));
    jobs.read(log);
    const port = /"message":"listening".*?"port":(\d+)/.exec(log)?.[1];
    if (port === undefined) return;
    isStarting = false;
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    resolve({ url: `http://127.0.0.1:${port}`, process: child, jobEnd: jobs.jobEnd, stop });
  });
  void ended.then(() => {
    isStarting = false;
    reject(new Error(`The service did not start: ${log}`));
    jobs.giveUp(new Error(`The service ended before its job: ${log}`));
  });
  return promise;
}

/**
 * The ends of jobs in a log that grows: waiting for these takes no processor time from the service,
 * unlike asking it.
 */
function watchJobs() {
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (jobId: string) => {
    const known = ends.get(jobId) ?? Promise.withResolvers<void>();
    ends.set(jobId, known);
    return known;
  };
  return {
    read(log: string) {
      for (const [, jobId = ''] of log.matchAll(/"message":"job ended","jobId":"([^"]+)"/g))
        endOf(jobId).resolve();
    },
    jobEnd: (jobId: string): Promise<void> => endOf(jobId).promise,
    giveUp(reason: Error) {
      for (const end of ends.values()) end.reject(reason);
    },
  };
}

/** GETs, or POSTs a body; resolves to the answer's JSON. */
export async function ask(url: string, body?: unknown): Promise<any> {
  const init = {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  };
  return (await fetch(url, body === undefined ? {} : init)).json();
}

/** Creates a job; resolves to its id. */
export async function trigger({ url }: Server, request: object): Promise<string> {
  const { job_id: jobId, detail } = await ask(`${url}/simulate/trigger`, request);
  if (jobId === undefined)
    throw new Error(`The trigger refused ${JSON.stringify(request)}: ${detail}`);
  return jobId;
}

/**
 * Waits until a job has ended; it may have before this server's life. Rejects unless it is
 * completed.
 */
export async function untilEnd({ url, jobEnd }: Server, jobId: string): Promise<void> {
  const statusOf = () => ask(`${url}/simulate/status/${jobId}`);
  if ((await statusOf()).completed_at === null) await jobEnd(jobId);
  const { status, error, details } = await statusOf();
  if (status !== 'completed')
    throw new Error(`The job is ${status}: ${error} ${JSON.stringify(details)}`);
}

export async function readRecords({ url }: Server): Promise<ActionRecord[]> {
  return (await ask(`${url}/results`)).results;
}
