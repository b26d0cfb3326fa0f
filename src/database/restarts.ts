import { bySlices } from '../turns.ts';
import type { Database } from './database.ts';
import { endedModelDays, returnToPending } from './job-days.ts';
import { integer, query } from './rows.ts';

/**
 * More messages than running sessions have, so that the sum changes with every message and with
 * every model-day that ends.
 */
const ENDED_COUNTS = 1_000_000;
const NOTE_RESTART = query(
  `UPDATE jobs SET idle_restarts = iif(progress_mark = done, idle_restarts + life_counts, 0),
     progress_mark = done, life_counts = 0
   FROM (SELECT CAST(?2 AS INTEGER) * ${ENDED_COUNTS} + count(*) AS done
     FROM trading_sessions INDEXED BY one_running_session JOIN reasoning_logs USING (session_id) WHERE job_id = ?1 AND status = 'running')
   WHERE job_id = ?1 RETURNING idle_restarts`,
  [integer],
);

/**
 * Records that an unfinished job is resumed, and makes its running model-days pending again.
 * Resolves to how many restarts in a row had logged nothing and ended no model-day since the one
 * before. A process that lived too briefly to count (see `noteLife`) leaves that number unchanged.
 */
export async function noteRestart(database: Database, jobId: string): Promise<number> {
  await returnToPending(database, jobId);
  const ended = await bySlices(endedModelDays(database, jobId));
  return database.write(() => NOTE_RESTART.one(database, jobId, ended)[0]);
}

/**
 * Records whether this process, if it ended now, would count as a restart without progress; within
 * the caller's transaction.
 */
export function noteLife(database: Database, jobId: string, counts: boolean): void {
  database.statement('UPDATE jobs SET life_counts = ? WHERE job_id = ?').run(counts ? 1 : 0, jobId);
}
