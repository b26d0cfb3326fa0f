import { weekdays } from '../src/calendar.ts';
import { type Database, openDatabase } from '../src/database/database.ts';

const FIRST = '2015-01-05';
const DATES_PER_JOB = 20;
const PRICES = 'AAPL,AMZN,GOOGL,MSFT,NVDA'.split(',');
const OPEN_E4 = 10_000;
const CLOSE_E4 = 15_000;
const CASH_E4 = 100_000 * 10_000;
const PRICES_AT = '2014-01-01T00:00:00.000Z';
/** Every model-day is committed a second after the one before it on the same date. */
const COMMITTED_AT = `strftime('%Y-%m-%dT%H:%M:%fZ', '2025-02-01', session_id || ' seconds')`;

/** How many positions each model-day has: all of them purchases on even days, and their sales on odd ones. */
export const POSITIONS_PER_DAY = 2;

export interface Size {
  models: number;
  days: number;
}

/** A million positions: 500,000 model-days. */
export const MILLION: Size = { models: 200, days: 2_500 };

/**
 * Fills a database with model-days whose books add up, in bulk: a million positions in some seconds. All models trade
 * alike: POSITIONS_PER_DAY purchases on one day, their sales on the next, opens of 1 dollar and closes of 1.50.
 */
export function fillWithModelDays(path: string, { models, days }: Size): void {
  const database = openDatabase(path, { durability: 'process-end', cacheMb: 256 });
  const dates = weekdays(FIRST, '2100-01-01').slice(0, days);
  database.transaction(() => {
    insertPrices(database, dates);
    insertJobs(database, { dates, models });
    insertSessions(database, models);
    insertPositions(database);
    insertEvidence(database);
  });
  database.close();
}

function insertPrices(database: Database, dates: readonly string[]): void {
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, close, source, recorded_at)
       SELECT symbol.value, day.value, ${OPEN_E4} / 10000.0, ${CLOSE_E4} / 10000.0, 'csv', '${PRICES_AT}'
       FROM json_each(?) AS symbol, json_each(?) AS day`,
    )
    .run(JSON.stringify(PRICES), JSON.stringify(dates));
}

function insertJobs(database: Database, { dates, models }: { dates: readonly string[]; models: number }): void {
  for (let first = 0; first < dates.length; first += DATES_PER_JOB) {
    const own = dates.slice(first, first + DATES_PER_JOB);
    const jobId = `bench-${String(first / DATES_PER_JOB).padStart(4, '0')}`;
    const createdAt = new Date(Date.parse('2025-02-01') + first * 1_000).toISOString();
    database
      .statement(
        `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, completed_at)
         VALUES (?, 'completed', ?, ?, ?, 0, json_object('initial_cash', ${CASH_E4 / 10_000}, 'stock_symbols', json(?)), ?, ?)`,
      )
      .run(jobId, own[0] as string, own.at(-1) as string, JSON.stringify(own), JSON.stringify(PRICES), createdAt, createdAt);
    database
      .statement(
        `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at)
         SELECT ?, 'model-' || value, value, ?, ? FROM ${series(models)}`,
      )
      .run(jobId, own[0] as string, createdAt);
    database
      .statement(
        `INSERT INTO job_details (job_id, date, model, status, started_at, completed_at, prompt_tokens, completion_tokens, cost_usd)
         SELECT job_id, day.value, model, 'completed', created_at, created_at, 20000, 1000, 0.05
         FROM simulation_runs, json_each(?) AS day WHERE job_id = ?`,
      )
      .run(JSON.stringify(own), jobId);
  }
}

/** In the order of dates and then models, so that the day before a model's day is \`models\` rows earlier. */
function insertSessions(database: Database, models: number): void {
  database
    .statement(
      `INSERT INTO trading_sessions (session_id, job_id, date, model, status, started_from_session_id, initial_cash_e4,
         session_summary, steps, total_messages, started_at, completed_at)
       SELECT session_id, job_id, date, model, 'active', iif(session_id > ?1, session_id - ?1, NULL),
         iif(session_id > ?1, NULL, ${CASH_E4}), 'done', 1, 1, ${COMMITTED_AT}, ${COMMITTED_AT}
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
      `INSERT INTO tool_usage SELECT session_id, iif((session_id - 1) / ?1 % 2, 'sell', 'buy'), ${POSITIONS_PER_DAY}, 0, 1
       FROM trading_sessions`,
    )
    .run(models);
}

/** After action N of a day it holds N shares, or with sales as many fewer than the day began with. */
function insertPositions(database: Database): void {
  const [bought, before] = ['iif(buys, action_id, per_day - action_id)', 'iif(buys, 0, per_day)'];
  database
    .statement(
      `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4,
         daily_profit_e4, daily_return_pct, created_at)
       SELECT session_id, action_id, iif(buys, 'buy', 'sell'), json_extract(?1, '$[' || ((action_id - 1) % 5) || ']'), 1,
         ${OPEN_E4}, ${CASH_E4} - ${bought} * ${OPEN_E4}, ${CASH_E4} + ${bought} * ${CLOSE_E4 - OPEN_E4}, profit,
         round(profit * 100.0 / (${CASH_E4} + ${before} * ${CLOSE_E4 - OPEN_E4}), 6), completed_at
       FROM (SELECT *, (${bought} - ${before}) * ${CLOSE_E4 - OPEN_E4} AS profit
         FROM (SELECT session_id, completed_at, tool_name = 'buy' AS buys, action.value + 1 AS action_id, calls AS per_day
           FROM trading_sessions JOIN tool_usage USING (session_id), ${series(POSITIONS_PER_DAY)} AS action))
       ORDER BY session_id, action_id`,
    )
    .run(JSON.stringify(PRICES));
  database
    .statement(
      `INSERT INTO holdings
       SELECT position_id, symbol.value, 1 FROM positions JOIN json_each(?1) AS symbol
         ON iif(action_type = 'buy', symbol.key < action_id, symbol.key >= action_id AND symbol.key < ${POSITIONS_PER_DAY})
       ORDER BY position_id, symbol.value`,
    )
    .run(JSON.stringify(PRICES));
}

/** A day trades whatever it held in the morning. */
function insertEvidence(database: Database): void {
  database
    .statement(
      `INSERT INTO session_prices (session_id, symbol, date, held_since, open_e4, open_date, close_e4, close_date)
       SELECT DISTINCT own.session_id, symbol, own.date, iif(action_type = 'sell', past.date, NULL), ${OPEN_E4}, own.date,
         ${CLOSE_E4}, own.date
       FROM positions JOIN trading_sessions AS own USING (session_id)
         LEFT JOIN trading_sessions AS past ON past.session_id = own.started_from_session_id`,
    )
    .run();
}

function series(count: number): string {
  return `(WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers LIMIT ${count}) SELECT value FROM numbers)`;
}
