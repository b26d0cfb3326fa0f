import { join } from 'node:path';
import { type Database, openDatabase } from '../src/database/database.ts';
import { type Client, startClient } from './client.ts';
import { ITSELF, measure } from './figure.ts';
import { startHelper } from './helper.ts';
import { series } from './large-database.ts';
import { memoryBelow, peakMemoryMb } from './memory.ts';
import { inTurn } from './paired.ts';
import { type BenchOptions, type Measurement, benchFolder, pidOf, startServer } from './support.ts';

const BOUNDS = { minPairs: 6, maxMs: 30_000 };
const AIMS = [{ below: 1 }];
const RECORDS = 100_000;
const MEMORY_AIM_MB = 150;

/**
 * GET /results of 100,000 records, against a program that reads the same rows and makes one text of
 * them; and its memory.
 */
export async function* measureResults({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const folder = benchFolder();
  const path = join(folder, 'data/jobs_dev.db');
  fillWithRecords(path);
  const server = await startServer(['model-0'], { folder });
  const client = startClient();
  const reader = startHelper('./read-and-stringify.ts');
  for (const format of ['json', 'csv'] as const) {
    const ours = () => millisecondsOfDownload(client, `${server.url}/results?format=${format}`);
    const peer = async () => ((await reader.ask({ path, format })) as { ms: number }).ms;
    const what = `/results of ${RECORDS.toLocaleString('en-US')} records as ${format.toUpperCase()}`;
    const common = {
      what,
      unit: 'ms',
      peer: self ? ITSELF : 'read all, then make one text',
      aims: AIMS,
      bounds: BOUNDS,
    };
    yield await measure({ ...common, take: inTurn(ours, self ? ours : peer) });
  }
  yield memoryBelow(
    'peak memory of the process after these responses',
    peakMemoryMb(pidOf(server.process)),
    MEMORY_AIM_MB,
  );
  client.stop();
  reader.stop();
  await server.stop();
}

async function millisecondsOfDownload({ download }: Client, url: string): Promise<number> {
  const { seconds, isWhole } = await download(url);
  if (!isWhole) throw new Error(`${url} was cut`);
  return seconds * 1000;
}

/** 50,000 model-days of two records, each with three holdings. */
function fillWithRecords(path: string): void {
  const database = openDatabase(path, { durability: 'process-end' });
  database.transaction(() => insertRecords(database));
  database.close();
}

function insertRecords(database: Database): void {
  const insert = (sql: string) => database.statement(sql).run();
  insert(`INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, completed_at)
    VALUES ('bench', 'completed', '2020-01-01', '2022-12-31', '[]', 0, '{}', 't', 't')`);
  insert(`INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at)
    SELECT 'bench', 'model-' || value, value, '2020-01-01', 't' FROM ${series(50)}`);
  insert(`INSERT INTO job_details (job_id, date, model, status, started_at, completed_at)
    SELECT 'bench', date('2020-01-01', day.value || ' days'), 'model-' || model.value, 'completed', 't', 't'
    FROM ${series(1000)} AS day, ${series(50)} AS model`);
  insert(`INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, started_at, completed_at)
    SELECT job_id, date, model, 'active', 100000000, 't', 't' FROM job_details`);
  insert(`INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4,
      daily_profit_e4, daily_return_pct, created_at)
    SELECT session_id, action.value + 1, 'buy', 'AAPL', 3, 1234567, 51234567, 101234567, 1234567, 1.2346, '2025-01-01T00:00:00.000Z'
    FROM trading_sessions, ${series(2)} AS action`);
  insert(
    `INSERT INTO holdings SELECT position_id, symbol.value, 12 FROM positions, json_each('["AAPL","MSFT","NVDA"]') AS symbol`,
  );
}
