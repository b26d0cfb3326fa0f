import { DatabaseSync } from 'node:sqlite';
import { weekdays } from '../../src/basics/calendar.ts';
import { openDatabase, prepareOnce, type Reader } from '../../src/database/database.ts';
import { indexAnew } from '../../src/database/log-words.ts';
import { storedEntry } from './jobs.ts';

type Database = Pick<Reader, 'statement'>;

const FIRST = '2015-01-05';
const DATES_PER_JOB = 20;
/** In order, as holdings are stored. */
const SYMBOLS = 'AAPL,AMZN,AVGO,COST,GOOGL,META,MSFT,NVDA,TSLA'.split(',');
const OPEN_E4 = 10_000;
const CLOSE_E4 = 15_000;
const CASH_E4 = 100_000 * 10_000;
/** Every model-day is committed a second after the one before it on the same date. */
const COMMITTED_AT = `strftime('%Y-%m-%dT%H:%M:%fZ', '2025-02-01', session_id || ' seconds')`;

/** Sessions whose rows one statement inserts: bounds what SQLite sorts and keeps in memory. */
const SESSIONS_PER_STEP = 20_000;
/** Pages that were changed stay in memory up to this size, then go to the file. */
const CACHE_MB = 256;

interface Size {
  models: number;
  days: number;
  /**
   * How many positions each model-day has: all of them purchases on even days, and their sales on
   * odd ones.
   */
  positionsPerDay: number;
}

/**
 * In order. All models hold every symbol from the first of them to the second, from the third to
 * the fourth, and so on.
 */
function datesOf({ days }: Size): string[] {
  return weekdays(FIRST, '2100-01-01').slice(0, days);
}

/**
 * Fills a new database with model-days whose books add up. All models trade alike: purchases on one
 * day, symbol after symbol, their sales on the next, opens of 1 dollar and closes of 1.50. Without
 * a journal: after a crash the file is useless.
 */
export function fillWithModelDays(path: string, size: Size): void {
  openDatabase(path, { durability: 'process-end' }).close();
  const connection = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  connection.exec(
    'PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF',
  );
  connection.exec(`PRAGMA cache_size = ${-1024 * CACHE_MB}`);
  const dates = datesOf(size);
  const database = { statement: prepareOnce(connection) };
  connection.exec('BEGIN');
  insertPrices(database, dates);
  insertJobs(database, { dates, models: size.models });
  insertSessions(database, size);
  describeActions(database, size.positionsPerDay);
  insertPositions(database, size);
  insertEvidence(database, size);
  indexAnew({ path, close() {}, ...database });
  connection.exec('COMMIT; PRAGMA journal_mode = WAL');
  connection.close();
}

function insertPrices(database: Database, dates: readonly string[]): void {
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, close, source, written)
       SELECT symbol.value, day.value, ${OPEN_E4} / 10000.0, ${CLOSE_E4} / 10000.0, 'csv', 1
       FROM json_each(?) AS symbol, json_each(?) AS day`,
    )
    .run(JSON.stringify(SYMBOLS), JSON.stringify(dates));
  database.statement('UPDATE price_writes SET number = 1').run();
}

function insertJobs(
  database: Database,
  { dates, models }: { dates: readonly string[]; models: number },
): void {
  for (let first = 0; first < dates.length; first += DATES_PER_JOB) {
    const own = dates.slice(first, first + DATES_PER_JOB);
    const jobId = `bench-${String(first / DATES_PER_JOB).padStart(4, '0')}`;
    const createdAt = new Date(Date.parse('2025-02-01') + first * 1_000).toISOString();
    database
      .statement(
        `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode,
           created_at, completed_at)
         VALUES (?, 'completed', ?, ?, ?, 0, json_object('initial_cash', ${CASH_E4 / 10_000}, 'stock_symbols', json(?)), 'PROD', ?, ?)`,
      )
      .run(
        jobId,
        own[0] as string,
        own.at(-1) as string,
        JSON.stringify(own),
        JSON.stringify(SYMBOLS),
        createdAt,
        createdAt,
      );
    database
      .statement(
        `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family)
         SELECT ?, 'model-' || value, value, ?, ?, json_set(?, '$.signature', 'model-' || value), 'model-' || value FROM ${series(models)}`,
      )
      .run(jobId, own[0] as string, createdAt, storedEntry(''));
    database
      .statement(
        `INSERT INTO job_details (job_id, date, model, status, started_at, completed_at, prompt_tokens, completion_tokens, cost_usd)
         SELECT job_id, day.value, model, 'completed', created_at, created_at, 20000, 1000, 0.05
         FROM simulation_runs, json_each(?) AS day WHERE job_id = ?`,
      )
      .run(JSON.stringify(own), jobId);
  }
}

/**
 * In the order of dates and then models, so that the day before a model's day is `models` rows
 * earlier.
 */
function insertSessions(database: Database, { models, positionsPerDay }: Size): void {
  database
    .statement(
      `INSERT INTO trading_sessions (session_id, job_id, date, model, status, started_from_session_id, initial_cash_e4,
         session_summary, steps, total_messages, wording, morning_write, commit_write, started_at, completed_at)
       SELECT session_id, job_id, date, model, 'active', iif(session_id > ?1, session_id - ?1, NULL),
         iif(session_id > ?1, NULL, ${CASH_E4}), 'done', 1, 1, 1, 1, 1, ${COMMITTED_AT}, ${COMMITTED_AT}
       FROM (SELECT row_number() OVER (ORDER BY date, model_index) AS session_id, job_id, date, model
         FROM job_details JOIN simulation_runs USING (job_id, model))`,
    )
    .run(models);
  database
    .statement(
      `INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp)
       SELECT session_id, 0, 'assistant', 'I traded as I do every day.', completed_at FROM trading_sessions`,
    )
    .run();
  database
    .statement(
      `INSERT INTO tool_usage SELECT session_id, iif(${buysOf(models)}, 'buy', 'sell'), ${positionsPerDay}, 0, 1 FROM trading_sessions`,
    )
    .run();
}

/** SQL: whether a session's day is one of purchases. */
function buysOf(models: number): string {
  return `((session_id - 1) / ${models} % 2 = 0)`;
}

/**
 * What a day of purchases and a day of sales look like, action by action: every session repeats one
 * of the two.
 */
function describeActions(database: Database, perDay: number): void {
  const execute = (sql: string) => database.statement(sql).run();
  execute(
    'CREATE TEMP TABLE actions (buys INTEGER, action_id INTEGER, symbol TEXT, shares INTEGER, PRIMARY KEY (buys, action_id)) WITHOUT ROWID',
  );
  execute(
    `INSERT INTO actions SELECT buys.value, action.value + 1,
       json_extract('${JSON.stringify(SYMBOLS)}', '$[' || (action.value % ${SYMBOLS.length}) || ']'),
       iif(buys.value, action.value + 1, ${perDay} - action.value - 1)
     FROM json_each('[0,1]') AS buys, ${series(perDay)} AS action`,
  );
  execute(
    `CREATE TEMP TABLE held (buys INTEGER, action_id INTEGER, symbol TEXT, quantity INTEGER,
       PRIMARY KEY (buys, action_id, symbol)) WITHOUT ROWID`,
  );
  execute(
    `INSERT INTO held SELECT * FROM (
       SELECT own.buys, own.action_id, symbol.value, (
         SELECT count(*) FROM actions AS other WHERE other.buys = own.buys AND other.symbol = symbol.value
           AND iif(own.buys, other.action_id <= own.action_id, other.action_id > own.action_id)) AS quantity
       FROM actions AS own, json_each('${JSON.stringify(SYMBOLS)}') AS symbol) WHERE quantity > 0`,
  );
}

function insertPositions(database: Database, { models, days, positionsPerDay }: Size): void {
  const gain = CLOSE_E4 - OPEN_E4;
  const before = `iif(buys, 0, ${positionsPerDay})`;
  const positions = database.statement(
    `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4,
       daily_profit_e4, daily_return_pct)
     SELECT session_id, action_id, iif(buys, 'buy', 'sell'), symbol, 1, ${OPEN_E4}, ${CASH_E4} - shares * ${OPEN_E4},
       ${CASH_E4} + shares * ${gain}, (shares - ${before}) * ${gain},
       round((shares - ${before}) * ${gain} * 100.0 / (${CASH_E4} + ${before} * ${gain}), 4)
     FROM trading_sessions CROSS JOIN actions ON buys = ${buysOf(models)} WHERE session_id BETWEEN ? AND ?`,
  );
  const holdings = database.statement(
    `INSERT INTO holdings SELECT session_id, held.symbol, quantity
     FROM trading_sessions CROSS JOIN held ON buys = ${buysOf(models)} AND held.action_id = ${positionsPerDay}
     WHERE session_id BETWEEN ? AND ?`,
  );
  for (let first = 1; first <= models * days; first += SESSIONS_PER_STEP) {
    const last = Math.min(models * days, first + SESSIONS_PER_STEP - 1);
    positions.run(first, last);
    holdings.run(first, last);
  }
}

/** A day trades whatever it held in the morning. */
function insertEvidence(database: Database, { models, days }: Size): void {
  const evidence = database.statement(
    `INSERT INTO session_prices (session_id, symbol, date, held_since, open_e4, open_date, close_e4, close_date)
     SELECT own.session_id, used.symbol, own.date, iif(used.buys, NULL, past.date), ${OPEN_E4}, own.date, ${CLOSE_E4}, own.date
     FROM trading_sessions AS own LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id
       CROSS JOIN (SELECT DISTINCT buys, symbol FROM actions) AS used
         ON used.buys = ${buysOf(models).replace('session_id', 'own.session_id')}
     WHERE own.session_id BETWEEN ? AND ?`,
  );
  for (let first = 1; first <= models * days; first += SESSIONS_PER_STEP)
    evidence.run(first, first + SESSIONS_PER_STEP - 1);
}

/** SQL: the numbers from 0, in a column `value`. */
function series(count: number): string {
  return `(WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers LIMIT ${count}) SELECT value FROM numbers)`;
}
