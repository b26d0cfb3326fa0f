import { weekdays } from '../../src/core/time/calendar.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { endJob } from '../../src/core/database/job-queries.ts';
import { insertTestJob } from './jobs.ts';

const FIRST = '2015-01-05';
const DATES_PER_JOB = 20;
const AT = '2025-02-01T00:00:00.000Z';

/**
 * Fills a new database with jobs `bench-0000`, ... of twenty dates, of `model-0`, ..., whose every
 * model-day said a sentence and has so many positions.
 */
export function fillWithModelDays(
  path: string,
  { models, days, positionsPerDay }: { models: number; days: number; positionsPerDay: number },
): void {
  const database = openDatabase(path, { durability: 'process-end' });
  const all = weekdays(FIRST, '2100-01-01').slice(0, days);
  const execute = (sql: string, ...values: number[]) => database.statement(sql).run(...values);
  database.transaction(() => {
    for (let first = 0; first < days; first += DATES_PER_JOB) {
      const dates = all.slice(first, first + DATES_PER_JOB);
      const [startDate, endDate] = [dates[0] as string, dates.at(-1) as string];
      const jobId = `bench-${String(first / DATES_PER_JOB).padStart(4, '0')}`;
      const runs = Array.from({ length: models }, (_, place) => ({
        ...{ model: `model-${place}`, startDate },
      }));
      const others = { replaceExisting: false, agentConfig: {}, createdAt: AT, warnings: [] };
      insertTestJob(database, { jobId, startDate, endDate, dates, runs, ...others });
      endJob(database, jobId, { status: 'completed', error: null, at: AT });
    }
    execute(
      `UPDATE job_details SET status = 'completed', error = NULL, started_at = '${AT}', completed_at = '${AT}'`,
    );
    execute(`
      INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, session_summary, steps, total_messages,
        wording, started_at, completed_at)
      SELECT job_id, date, model, 'active', 1000000, 'done', 1, 1, 1, '${AT}', '${AT}'
      FROM job_details JOIN simulation_runs USING (job_id, model) ORDER BY date, model_index`);
    execute(`
      INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp)
      SELECT session_id, 0, 'assistant', 'I traded as I do every day.', completed_at FROM trading_sessions`);
    for (let action = 1; action <= positionsPerDay; action += 1)
      execute(
        `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4,
           daily_profit_e4)
         SELECT session_id, ?, 'buy', 'AAPL', 1, 10000, 1000000, 1000000, 0 FROM trading_sessions`,
        action,
      );
    execute(
      `INSERT INTO holdings (session_id, symbol, quantity) SELECT session_id, 'AAPL', ? FROM trading_sessions`,
      positionsPerDay,
    );
  });
  database.close();
}
