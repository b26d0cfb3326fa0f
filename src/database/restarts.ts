import type { Database } from './database.ts';
import { returnToPending } from './job-days.ts';
import { integer, query } from './rows.ts';

const NOTE_RESTART = query(
  `UPDATE jobs SET idle_restarts = iif(progress_mark = done, idle_restarts + life_counts, 0),
     progress_mark = done, life_counts = 0
   FROM (SELECT (SELECT count(*) FROM reasoning_logs JOIN trading_sessions USING (session_id) WHERE job_id = ?1)
     + (SELECT count(*) FROM job_details WHERE job_id = ?1 AND completed_at IS NOT NULL) AS done)
   WHERE job_id = ?1 RETURNING idle_restarts`,
  [integer],
);

/**
 * Records that an unfinished job is resumed, and makes its running model-days pending again. Returns how many restarts in a
 * row had logged nothing and ended no model-day since the one before. A process that lived too briefly to count (see
 * `noteLife`) leaves that number unchanged. Within the caller's transaction.
 */
export function noteRestart(database: Database, jobId: string): number {
  returnToPending(database, jobId);
  return NOTE_RESTART.one(database, jobId)[0];
}

/** Records whether this process, if it ended now, would count as a restart without progress; within the caller's transaction. */
export function noteLife(database: Database, jobId: string, counts: boolean): void {
  database.statement('UPDATE jobs SET life_counts = ? WHERE job_id = ?').run(counts ? 1 : 0, jobId);
}
