import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, weekdays } from '../../src/calendar.ts';
import { requireProc } from '../support/processes.ts';
import { type ActionRecord, findErrors } from '../support/recompute.ts';
import { type TortureModels, startModels } from './models.ts';

/**
 * Kills the built service at random moments while it runs jobs on models that answer over HTTP, starts it again each
 * time, and looks at what is left: `npm run torture -- [kills] [seed]`, at least 200 kills by default; a short form is
 * part of `npm test`.
 */

const PROGRAM = new URL('../../dist/server.js', import.meta.url).pathname;
const MODELS = ['alpha', 'beta', 'gamma'];
const SYMBOLS = ['AAPL', 'MSFT', 'NVDA', 'ORLY'];
const FIRST_DATE = '2015-01-01';
const LAST_DATE = '2025-10-31';
const INITIAL_CASH = 1_000_000;
/** The service lives this long at least and at most before it is killed; its start alone takes some eighty. */
const LEAST_LIFE_MS = 60;
const MOST_LIFE_MS = 700;
/** The share of ends that are a polite SIGTERM; these are not counted among the kills. */
const POLITE_SHARE = 0.2;
/** Children of a dead parent end by themselves within this time. */
const ORPHAN_LIMIT_MS = 1_000;
const START_TIMEOUT_MS = 20_000;

export interface TortureReport {
  /** SIGKILL. */
  kills: number;
  /** SIGTERM, beside these. */
  stops: number;
  seed: number;
  jobs: number;
  modelDays: number;
  /** Requests that the model server saw, and those of them that repeated a step in flight at a kill. */
  requests: number;
  repeated: number;
  records: number;
  seconds: number;
}

/** Throws when anything is lost, doubled or left behind. */
export async function torture({
  kills,
  seed,
  orphanLimitMs = ORPHAN_LIMIT_MS,
}: {
  kills: number;
  seed: number;
  /** More than the default where other work keeps the processors busy. */
  orphanLimitMs?: number;
}): Promise<TortureReport> {
  const startedAt = performance.now();
  const random = randomNumbers(seed);
  const models = await startModels({ seed, symbols: SYMBOLS });
  const folder = install(models.url, random);
  let server: Server | undefined;
  try {
    await run(folder, ['import-prices', 'prices.jsonl']);
    let killed = 0;
    let stopped = 0;
    let jobs = 0;
    let start = FIRST_DATE;
    for (; killed < kills; jobs += 1) {
      const request = { start_date: start, end_date: addDays(start, 11) };
      start = addDays(start, random() < 0.3 ? 7 : 14); // some jobs overlap with what is done already
      models.beginJob();
      server ??= await startServer(folder);
      const jobId = await trigger(server, request);
      while (server !== undefined && killed < kills) {
        const life = LEAST_LIFE_MS + random() * (MOST_LIFE_MS - LEAST_LIFE_MS);
        if (await endsWithin(server, jobId, life)) break;
        const signal = random() < POLITE_SHARE ? 'SIGTERM' : 'SIGKILL';
        if (signal === 'SIGKILL') killed += 1;
        else stopped += 1;
        await kill(server, { signal, models, orphanLimitMs });
        server = await startServer(folder);
      }
      await untilEnd(server, jobId);
    }
    const records = await readRecords(server as Server);
    const modelDays = check({ folder, records });
    await (server as Server).stop();
    await run(folder, ['check']); // the service's own audit, beside the independent bookkeeper's
    const { requests, repeated } = models.check();
    const seconds = (performance.now() - startedAt) / 1000;
    return {
      kills: killed,
      stops: stopped,
      seed,
      jobs,
      modelDays,
      requests,
      repeated,
      records: records.length,
      seconds,
    };
  } finally {
    server?.process.kill('SIGKILL');
    models.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A small generator (mulberry32), so that a run can be repeated from its seed. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function install(modelsUrl: string, random: () => number): string {
  if (!existsSync(PROGRAM)) throw new Error('dist/server.js is missing: run "npm run build" first');
  const folder = mkdtempSync(join(tmpdir(), 'tss-torture-'));
  copyFileSync(PROGRAM, join(folder, 'server.js'));
  mkdirSync(join(folder, 'configs'));
  const configuration = {
    models: MODELS.map((signature) => ({
      signature,
      enabled: true,
      openai_base_url: modelsUrl,
      openai_api_key: 'key',
    })),
    agent_config: { stock_symbols: SYMBOLS, initial_cash: INITIAL_CASH, max_steps: 6, base_delay: 0.01 },
  };
  writeFileSync(join(folder, 'configs/default_config.json'), JSON.stringify(configuration));
  writeFileSync(join(folder, 'prices.jsonl'), SYMBOLS.map((symbol) => seriesOf(symbol, random)).join('\n'));
  return folder;
}

function seriesOf(symbol: string, random: () => number): string {
  let price = 50 + 200 * random();
  const days = weekdays(FIRST_DATE, LAST_DATE).map((date) => {
    const open = (price *= 0.97 + 0.06 * random());
    const close = (price *= 0.98 + 0.04 * random());
    return [date, { '1. buy price': open.toFixed(4), '4. sell price': close.toFixed(4) }];
  });
  return JSON.stringify({ 'Meta Data': { '2. Symbol': symbol }, 'Time Series (Daily)': Object.fromEntries(days) });
}

interface Server {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

const environment = {
  API_PORT: '0',
  LOG_LEVEL: 'INFO',
  MAX_SIMULATION_DAYS: '30',
  RUNTIME_CONFIG_PATH: 'runtime_config.json',
};

function run(folder: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['server.js', ...args], { cwd: folder, env: environment, stdio: 'ignore' });
  return new Promise((resolve, reject) =>
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${args.join(' ')} ended with ${code}`)))),
  );
}

function startServer(folder: string): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const child = spawn(process.execPath, ['server.js'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const ended = new Promise<void>((end) => child.on('close', () => end()));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-20_000);
    const port = /"message":"listening".*?"port":(\d+)/.exec(log)?.[1];
    if (port === undefined) return;
    clearTimeout(timer);
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    resolve({ url: `http://127.0.0.1:${port}`, process: child, stop });
  });
  void ended.then(() => reject(new Error(`The service did not start: ${log}`)));
  return promise;
}

/** Ends the service and waits until nothing of it is left; a child that outlives it for long is an error. */
async function kill(
  server: Server,
  { signal, models, orphanLimitMs }: { signal: NodeJS.Signals; models: TortureModels; orphanLimitMs: number },
): Promise<void> {
  const { pid } = server.process as { pid: number };
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const ended = new Promise((resolve) => server.process.once('close', resolve));
  server.process.kill(signal);
  await ended;
  const diedAt = performance.now();
  while (children.some(isModelDay)) {
    if (performance.now() - diedAt > orphanLimitMs)
      throw new Error(`A child outlives its parent: ${children.join(' ')}`);
    await sleep(5);
  }
  models.noteKill();
}

/** Whether a process is still there; another one may have its number by now. */
function isModelDay(pid: number): boolean {
  try {
    return /^(model-day|.*node)/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}

async function ask(url: string, body?: unknown): Promise<any> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return (await fetch(url, body === undefined ? {} : init)).json();
}

async function trigger({ url }: Server, request: object): Promise<string> {
  const { job_id: jobId, detail } = await ask(`${url}/simulate/trigger`, request);
  if (jobId === undefined) throw new Error(`The trigger refused ${JSON.stringify(request)}: ${detail}`);
  return jobId;
}

async function endsWithin({ url }: Server, jobId: string, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    if ((await ask(`${url}/simulate/status/${jobId}`)).completed_at !== null) return true;
    await sleep(Math.min(20, Math.max(0, deadline - performance.now())));
  }
  return false;
}

async function untilEnd({ url }: Server, jobId: string): Promise<void> {
  for (;;) {
    const { status, completed_at: completedAt, error, details } = await ask(`${url}/simulate/status/${jobId}`);
    if (completedAt === null) await sleep(20);
    else if (status === 'completed') return;
    else throw new Error(`The job is ${status}: ${error} ${JSON.stringify(details)}`);
  }
}

async function readRecords({ url }: Server): Promise<ActionRecord[]> {
  return (await ask(`${url}/results`)).results;
}

/** What must be true of the database whatever happened. Returns the number of completed model-days. */
function check({ folder, records }: { folder: string; records: readonly ActionRecord[] }): number {
  const errors = findErrors(records, readFileSync(join(folder, 'prices.jsonl'), 'utf8'), INITIAL_CASH);
  const database = new DatabaseSync(join(folder, 'data/jobs.db'), { readOnly: true });
  const one = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0];
  if (one('PRAGMA integrity_check') !== 'ok') errors.push('integrity_check is not ok');
  if (database.prepare('PRAGMA foreign_key_check').all().length > 0) errors.push('foreign_key_check is not empty');
  const modelDays = Number(
    one(`SELECT count(*) FROM (SELECT DISTINCT date, model FROM job_details WHERE status = 'completed')`),
  );
  const active = one(`SELECT count(*) FROM trading_sessions WHERE status = 'active'`);
  if (active !== modelDays) errors.push(`${active} active sessions for ${modelDays} completed model-days`);
  const others = one(`SELECT count(*) FROM trading_sessions WHERE status <> 'active'`);
  if (others !== 0) errors.push(`${others} sessions are not active`);
  const unfinished = one(`SELECT count(*) FROM job_details WHERE status NOT IN ('completed', 'skipped')`);
  if (unfinished !== 0) errors.push(`${unfinished} model-days are neither completed nor skipped`);
  database.close();
  if (errors.length > 0) throw new Error(errors.slice(0, 20).join('\n'));
  return modelDays;
}

if (import.meta.main) {
  requireProc('the torture');
  const [kills = '200', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
  console.log(`${kills} kills, seed ${seed}`);
  void torture({ kills: Number(kills), seed: Number(seed) }).then((report) => console.log(report));
}
