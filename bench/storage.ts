import { existsSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { addDays } from '../src/calendar.ts';
import { type Database, openDatabase } from '../src/database/database.ts';
import { type Measurement, benchFolder, inTurn, peakMemoryMb, run, startServer } from './support.ts';

const PROGRAM = new URL('../dist/server.js', import.meta.url).pathname;
const BASELINE = new URL('./read-and-stringify.ts', import.meta.url).pathname;
const SQLITE_SHELL = '/usr/bin/sqlite3';
const ROUNDS = 3;
const SYMBOLS = 1_000;
const DAYS = 500;
const RECORDS = 100_000;
const MEMORY_AIM_MB = 150;

/** Rows per second of import-prices, against the sqlite3 shell's own .import of the same rows into a like table. */
export async function measureImport(): Promise<Measurement> {
  const what = `import, rows per second (${(SYMBOLS * DAYS).toLocaleString('en-US')} rows of CSV)`;
  const folder = benchFolder();
  const rows = Array.from(
    { length: SYMBOLS * DAYS },
    (_, index) =>
      `S${index % SYMBOLS},${addDays('2023-01-01', Math.floor(index / SYMBOLS))},101.25,102.5,99.75,100.5,1234567`,
  );
  writeFileSync(join(folder, 'prices.csv'), `symbol,date,open,high,low,close,volume\n${rows.join('\n')}\n`);
  let round = 0;
  const ours = async () => {
    const cwd = join(folder, `round-${(round += 1)}`);
    await run('mkdir', [cwd]);
    return rowsPerSecond(() => run(process.execPath, [PROGRAM, 'import-prices', '../prices.csv'], { cwd }));
  };
  const shell = async () => {
    const columns = 'symbol TEXT, date TEXT, open REAL, high REAL, low REAL, close REAL, volume REAL';
    const script = [
      'PRAGMA journal_mode = WAL;',
      `CREATE TABLE prices (${columns}, PRIMARY KEY (symbol, date)) WITHOUT ROWID;`,
      '.import --csv --skip 1 prices.csv prices',
    ].join('\n');
    return rowsPerSecond(() => run(SQLITE_SHELL, [`shell-${round}.db`], { cwd: folder, input: script }));
  };
  if (!existsSync(SQLITE_SHELL))
    return { what, ours: (await ours()).toFixed(0), peer: 'no sqlite3 shell here', ratio: '', aim: 'none', met: null };
  const figures = await inTurn(ROUNDS, ours, shell);
  return {
    what,
    ours: figures.ours.toFixed(0),
    peer: `${figures.peer.toFixed(0)} (sqlite3 .import)`,
    ratio: figures.ratio.toFixed(2),
    aim: 'none',
    met: null,
  };
}

async function rowsPerSecond(work: () => Promise<unknown>): Promise<number> {
  return (SYMBOLS * DAYS) / (await secondsOf(work));
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

/** GET /results of 100,000 records, against a program that reads the same rows and stringifies them; and its memory. */
export async function measureResults(): Promise<Measurement[]> {
  const folder = benchFolder();
  const path = join(folder, 'data/jobs_dev.db');
  fillWithRecords(path);
  const server = await startServer(['model-0'], { folder });
  const ours = () => secondsOf(() => download(`${server.url}/results`));
  const peer = () => run(process.execPath, [BASELINE, path]).then(Number);
  const figures = await inTurn(ROUNDS, ours, peer);
  const asCsv = await inTurn(ROUNDS, () => secondsOf(() => download(`${server.url}/results?format=csv`)), peer);
  const peak = peakMemoryMb(server.process.pid as number);
  await server.stop();
  return [
    {
      what: `/results of ${RECORDS.toLocaleString('en-US')} records, seconds`,
      ours: figures.ours.toFixed(2),
      peer: `${figures.peer.toFixed(2)} (read, then stringify)`,
      ratio: figures.ratio.toFixed(2),
      aim: '< 1',
      met: figures.ratio < 1,
    },
    {
      what: `/results of ${RECORDS.toLocaleString('en-US')} records as CSV, seconds`,
      ours: asCsv.ours.toFixed(2),
      peer: `${asCsv.peer.toFixed(2)} (read, then stringify)`,
      ratio: asCsv.ratio.toFixed(2),
      aim: '< 1',
      met: asCsv.ratio < 1,
    },
    {
      what: 'peak memory of the process after these answers',
      ours: `${peak.toFixed(0)} MB`,
      peer: '',
      ratio: '',
      aim: `< ${MEMORY_AIM_MB} MB`,
      met: peak < MEMORY_AIM_MB,
    },
  ];
}

/** Reads an answer to its end without keeping it. */
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
