import { type BuiltPages, createPages } from '../../src/features/pages/built-pages.ts';
import type { Application } from '../../src/core/http/application.ts';
import { routes } from '../../src/routes.ts';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { buildAgent, buildPages } from '../../build.mjs';
import type { Clock } from '../../src/core/time/calendar.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { readAccessTokens } from '../../src/core/http/access.ts';
import { type HttpLimits, httpLimits } from '../../src/core/http/limits.ts';
import { createLog, type Log, type LogLevel } from '../../src/core/process/log.ts';
import { type Service, startService } from '../../src/core/service.ts';
import { readSettings, type Settings } from '../../src/core/settings/settings.ts';
import { type WorkerLimits, workerLimits } from '../../src/core/children/places.ts';
import { realAgentHere, type TestAgent } from './agent-here.ts';
import { temporaryFolder } from './folder.ts';
import { isReplayed } from './long.ts';
import { storePrices } from './prices.ts';
import { assertReplays } from './replays.ts';
import { until } from './until.ts';

/** "Today" of most tests: a Monday. */
export const TODAY = '2025-12-01';

export interface TestServiceOptions {
  settings?: Partial<Settings>;
  /** The content of the configuration file, else `fewStocks`; null for none. */
  configuration?: unknown;
  /** What runs a model-day; else the real agent, in this process but in the long form. */
  agent?: TestAgent;
  /** Variables that the configuration may name; else those of this process. */
  environment?: NodeJS.ProcessEnv;
  /** Whether it serves the pages; they are built once per test file. */
  pages?: boolean;
  clock?: Clock;
  /** A table of prices (see prices.ts) that is stored before the service starts. */
  prices?: string;
  /** A folder of an earlier service, to start again on its database. */
  folder?: string;
  /** Limits that a test can reach. */
  httpLimits?: Partial<HttpLimits>;
  limits?: Partial<WorkerLimits>;
  /** Whether the test changes what model-days left behind, so that they need not replay. */
  isForged?: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: any;
}

export interface TestService {
  url: string;
  folder: string;
  settings: Settings;
  clock: Clock;
  /** A connection of the test's own, as other programs have it. */
  database: CommandDatabase;
  logLines: { level: LogLevel; message: string; [field: string]: unknown }[];
  get(path: string): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  /** Triggers a job and waits for its end; resolves to its last status. */
  runJob(request: Record<string, unknown>): Promise<any>;
  waitForJob(jobId: string, patienceMs?: number): Promise<any>;
  stop(): Promise<void>;
}

export const twoModels = {
  models: [
    { signature: 'model-a', enabled: true },
    { signature: 'model-b', enabled: true },
    { signature: 'model-off', enabled: false },
  ],
};

/** `twoModels` with a small universe: prices for it are soon made. */
export const fewStocks = { ...twoModels, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } };

/** Real time, counted from noon of a chosen day. */
export function clockFrom(date: string): Clock {
  const start = Date.parse(`${date}T12:00:00Z`) - performance.now();
  return () => new Date(start + performance.now());
}

let builtAgent: Promise<string> | undefined;

/** The real agent, as the build makes it. */
export function realAgent(): Promise<string> {
  return (builtAgent ??= buildAgent());
}

let pages: ReturnType<typeof buildPages> | undefined;

/** The files of the pages, built once. */
export function builtPages(): ReturnType<typeof buildPages> {
  return (pages ??= buildPages());
}

/** The pages as a server sends them, from their built files. */
export const pagesOf =
  (built: BuiltPages): Application['createPages'] =>
  (mode) =>
    createPages(built, mode);

let template: string | undefined;

/**
 * A new database at a path: copied from one that was made before, because its schema takes longer
 * to make than to copy.
 */
export function copyTemplate(path: string): void {
  if (template === undefined) {
    template = join(temporaryFolder('tss-template-'), 'jobs.db');
    openDatabase(template).close();
  }
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(template, path);
}

let haveTestsEnded = false;
after(() => void (haveTestsEnded = true));

/**
 * Stops what a `before` has started when no test matches `--test-name-pattern`: the runner does not
 * wait for it then, and would never stop it.
 */
export async function stopUnlessTested(what: string, stop: () => unknown): Promise<void> {
  if (!haveTestsEnded) return;
  await stop();
  throw new Error(`Cannot start ${what}: all tests have ended`);
}

/** A whole service in this process: its own folder, database and free port. */
export async function startTestService(
  t: TestContext,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const folder = options.folder ?? temporaryFolder();
  const settings: Settings = {
    ...readSettings({ DEPLOYMENT_MODE: 'DEV', API_PORT: '0' }),
    databasePath: join(folder, 'jobs.db'),
    agentDataPath: join(folder, 'agent_data'),
    configurationPath: join(folder, 'config.json'),
    ...options.settings,
  };
  const configuration = options.configuration === undefined ? fewStocks : options.configuration;
  if (configuration !== null)
    writeFileSync(settings.configurationPath, JSON.stringify(configuration));
  if (options.folder === undefined) copyTemplate(settings.databasePath);
  const database = openDatabase(settings.databasePath, { durability: 'process-end' });
  if (options.prices) storePrices(database, options.prices);
  const { log, lines } = recordingLog();
  const clock = options.clock ?? clockFrom(TODAY);
  const service = await startService({
    settings,
    log,
    clock,
    ...(options.agent ?? (await realAgentHere())),
    ...(options.environment !== undefined && { environment: options.environment }),
    accessTokens: readAccessTokens(settings),
    httpLimits: { ...httpLimits, ...options.httpLimits },
    limits: { ...workerLimits, ...options.limits },
    routes,
    createPages: pagesOf(options.pages ? await builtPages() : {}),
  });
  const started = wrap(t, {
    service,
    folder,
    settings,
    clock,
    database,
    lines,
    isForged: options.isForged ?? false,
  });
  await stopUnlessTested('a test service', started.stop);
  return started;
}

function wrap(
  t: TestContext,
  parts: {
    service: Service;
    folder: string;
    settings: Settings;
    clock: Clock;
    database: CommandDatabase;
    lines: TestService['logLines'];
    isForged: boolean;
  },
): TestService {
  const { service, folder, settings, clock, database, lines, isForged } = parts;
  const url = `http://127.0.0.1:${service.port}`;
  let stopped: Promise<void> | undefined;
  const end = async () => {
    await service.stop();
    try {
      if (isReplayed && !isForged) await assertReplays(database);
    } finally {
      database.close();
    }
  };
  const stop = () => (stopped ??= end());
  t.after(stop);
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url + path, init);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const get = (path: string) => ask(path);
  const post = (path: string, body: unknown) =>
    ask(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  const waitForJob = async (jobId: string, patienceMs?: number) => {
    const job = database.statement('SELECT completed_at FROM jobs WHERE job_id = ?');
    await until(`job ${jobId} to end`, () => job.get(jobId)?.['completed_at'] !== null, patienceMs);
    return withoutDividends((await get(`/simulate/status/${jobId}`)).body);
  };
  const runJob = async (request: Record<string, unknown>) => {
    const { status, body } = await post('/simulate/trigger', request);
    if (status !== 200) throw new Error(`The trigger answered ${status}: ${body.detail}`);
    return waitForJob(body.job_id);
  };
  return {
    url,
    folder,
    settings,
    clock,
    database,
    logLines: lines,
    get,
    post,
    runJob,
    waitForJob,
    stop,
  };
}

/** A job without the warning of unknown dividends: the prices of most tests have none. */
function withoutDividends(job: Record<string, any>) {
  const codes: (string | null)[] = job['warning_codes'] ?? [];
  const isKept = (_: unknown, place: number) => codes[place] !== 'unknown_dividends';
  const kept = (all: unknown[] | null) => {
    const others = all?.filter(isKept) ?? [];
    return others.length === 0 ? null : others;
  };
  return { ...job, warnings: kept(job['warnings']), warning_codes: kept(codes) };
}

function recordingLog(): { log: Log; lines: TestService['logLines'] } {
  const lines: TestService['logLines'] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { log: createLog({ level: 'DEBUG', json: true, write, clock: () => new Date() }), lines };
}
