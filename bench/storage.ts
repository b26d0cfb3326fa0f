import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { addDays } from '../src/calendar.ts';
import { type Database, openDatabase } from '../src/database/database.ts';
import { ITSELF, measure } from './figure.ts';
import { inTurn } from './paired.ts';
import { type BenchOptions, type Measurement, PROGRAM, benchFolder, memoryBelow, peakMemoryMb, run, startServer } from './support.ts';

const BASELINE = new URL('./read-and-stringify.ts', import.meta.url).pathname;
const SQLITE_SHELL = '/usr/bin/sqlite3';
const IMPORTS = { warmUpMs: 0, minPairs: 6, maxMs: 100_000 };
const RESPONSES = { minPairs: 6, maxMs: 30_000 };
const IMPORT_AIM = { atLeast: 0.8 };
const SYMBOLS = 1_000;
const DAYS = 500;
const RECORDS = 100_000;
const MEMORY_AIM_MB = 150;

/** Rows per second of import-prices, against the sqlite3 shell's own .import of the same rows into a like table. */
export async function* measureImport({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const folder = benchFolder();
  writePrices(join(folder, 'prices.csv'));
  let round = 0;
  const ours = async () => {
    const cwd = join(folder, `round-${(round += 1)}`);
    mkdirSync(cwd);
    const rate = await rowsPerSecond(() => run(process.execPath, [PROGRAM, 'import-prices', '../prices.csv'], { cwd }));
    rmSync(cwd, { recursive: true });
    return rate;
  };
  const shell = async () => {
    const columns = 'symbol TEXT, date TEXT, open REAL, high REAL, low REAL, close REAL, volume REAL';
    const script = [
      'PRAGMA journal_mode = WAL;',
      `CREATE TABLE prices (${columns}, PRIMARY KEY (symbol, date)) WITHOUT ROWID;`,
      '.import --csv --skip 1 prices.csv prices',
    ].join('\n');
    const name = `shell-${(round += 1)}.db`;
    const rate = await rowsPerSecond(() => run(SQLITE_SHELL, [name], { cwd: folder, input: script }));
    rmSync(join(folder, name));
    return rate;
  };
  const what = `import of ${(SYMBOLS * DAYS).toLocaleString('en-US')} rows of CSV`;
  if (!self && !existsSync(SQLITE_SHELL)) {
    const ratio = `not measured: there is no ${SQLITE_SHELL}`;
    yield { what, ours: `${(await ours()).toFixed(0)} rows per second`, peer: '', ratio, aim: 'none', met: null };
    return;
  }
  const peer = self ? ITSELF : 'sqlite3 .import';
  yield await measure({ what, unit: 'rows per second', peer, take: inTurn(ours, self ? ours : shell), aim: IMPORT_AIM, bounds: IMPORTS });
}

function writePrices(path: string): void {
  const rowOf = (index: number) =>
    `S${index % SYMBOLS},${addDays('2023-01-01', Math.floor(index / SYMBOLS))},101.25,102.5,99.75,100.5,1234567`;
  const rows = Array.from({ length: SYMBOLS * DAYS }, (_, index) => rowOf(index));
  writeFileSync(path, `symbol,date,open,high,low,close,volume\n${rows.join('\n')}\n`);
}

async function rowsPerSecond(work: () => Promise<unknown>): Promise<number> {
  return ((SYMBOLS * DAYS) / (await millisecondsFor(work))) * 1000;
}

async function millisecondsFor(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** GET /results of 100,000 records, against a program that reads the same rows and stringifies them; and its memory. */
export async function* measureResults({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const folder = benchFolder();
  const path = join(folder, 'data/jobs_dev.db');
  fillWithRecords(path);
  const server = await startServer(['model-0'], { folder });
  const peer = self ? ITSELF : 'read, then stringify';
  for (const [name, query] of [['JSON', ''], ['CSV', '?format=csv']] as const) {
    const ours = () => millisecondsFor(() => download(`${server.url}/results${query}`));
    const readAndStringify = async () => Number(await run(process.execPath, [BASELINE, path])) * 1000;
    const what = `/results of ${RECORDS.toLocaleString('en-US')} records as ${name}`;
    yield await measure({ what, unit: 'ms', peer, take: inTurn(ours, self ? ours : readAndStringify), aim: { below: 1 }, bounds: RESPONSES });
  }
  yield memoryBelow('peak memory of the process after these responses', peakMemoryMb(server.process.pid as number), MEMORY_AIM_MB);
  await server.stop();
}

/** Reads a response to its end without keeping it. */
function download(url: string): Promise<void> {
  return new Promise((resolve, reject) =>
    get(url, (response) => response.on('end', resolve).resume()).on('error', reject),
  );
}

/** 50,000 model-days of two records, each with three holdings. */
function fillWithRecords(path: string): void {
  const database = openDatabase(path, { durability: 'process-end' });
  database.transaction(() => insertRecords(database));
  database.close();
}

function insertRecords(database: Database): void {
  const insert = (sql: string) => database.statement(sql).run();
  insert(
    `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, completed_at) VALUES ('bench', 'completed', '2020-01-01', '2022-12-31', '[]', 0, '{}', 't', 't')`,
  );
  insert(`INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at)
    SELECT 'bench', 'model-' || value, value, '2020-01-01', 't' FROM ${series(50)}`);
  insert(`INSERT INTO job_details (job_id, date, model, status, started_at, completed_at)
    SELECT 'bench', date('2020-01-01', day.value || ' days'), 'model-' || model.value, 'completed', 't', 't' FROM ${series(1000)} AS day, ${series(50)} AS model`);
  insert(`INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, started_at, completed_at)
    SELECT job_id, date, model, 'active', 100000000, 't', 't' FROM job_details`);
  insert(`INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct, created_at)
    SELECT session_id, action.value + 1, 'buy', 'AAPL', 3, 1234567, 51234567, 101234567, 1234567, 1.2346, '2025-01-01T00:00:00.000Z' FROM trading_sessions, ${series(2)} AS action`);
  insert(
    `INSERT INTO holdings SELECT position_id, symbol.value, 12 FROM positions, json_each('["AAPL","MSFT","NVDA"]') AS symbol`,
  );
}

function series(count: number): string {
  return `(WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers LIMIT ${count}) SELECT value FROM numbers)`;
}
