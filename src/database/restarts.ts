import type { Database } from './database.ts';
import { returnToPending } from './jobs.ts';
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
 * Notes that an unfinished job is taken up again; what ran is pending again. Returns how many restarts in a row found
 * that nothing had been logged and no model-day had ended since the one before. A life of the process that was too short
 * to count (see `noteLife`) leaves that number as it is. Within the caller's transaction.
 */
export function noteRestart(database: Database, jobId: string): number {
  returnToPending(database, jobId);
  return NOTE_RESTART.one(database, jobId)[0];
}

/** Notes whether the life of this process counts as a restart without progress if it ends now; within the caller's transaction. */
export function noteLife(database: Database, jobId: string, counts: boolean): void {
  database.statement('UPDATE jobs SET life_counts = ? WHERE job_id = ?').run(counts ? 1 : 0, jobId);
}
