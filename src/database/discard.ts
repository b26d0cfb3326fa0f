import type { Database } from './database.ts';
import { datesOfJob } from './model-days.ts';

/**
 * Discards an ended job within the caller's transaction; nothing is erased. Of each model-day the
 * newest generation counts whose job is not discarded. Returns how many were withdrawn, and for how
 * many of them an earlier one counts again.
 */
export function discard(database: Database, jobId: string) {
  const run = (sql: string, ...values: string[]) =>
    Number(database.statement(sql).run(jobId, ...values).changes);
  run(`UPDATE jobs SET status = 'discarded' WHERE job_id = ?`);
  let [withdrawn, restored] = [0, 0];
  // From the last date on, so that whatever looks for a day's latest earlier active one finds it at
  // once.
  for (const date of datesOfJob(database, jobId).reverse()) {
    withdrawn += run(WITHDRAW, date);
    restored += run(RESTORE, date);
  }
  run(RUNS);
  return { withdrawn, restored };
}

const WITHDRAW = `
  UPDATE trading_sessions SET status = 'superseded' WHERE job_id = ? AND date = ? AND status = 'active'`;

const RESTORE = `
  UPDATE trading_sessions SET status = 'active' WHERE status = 'superseded' AND session_id IN (
    SELECT (SELECT max(session_id) FROM trading_sessions AS other JOIN jobs USING (job_id)
      WHERE other.model = own.model AND other.date = own.date AND other.status IN ('active', 'superseded')
        AND jobs.status <> 'discarded')
    FROM trading_sessions AS own WHERE job_id = ? AND date = ?)`;

/** A discarded run has no active model-day, and whatever has one is active. */
const RUNS = `
  UPDATE simulation_runs SET status = iif(job_id = ?1, 'superseded', 'active')
  WHERE job_id = ?1 OR (job_id, model) IN (
    SELECT job_id, model FROM trading_sessions
    WHERE status = 'active' AND model IN (SELECT model FROM simulation_runs WHERE job_id = ?1))`;
