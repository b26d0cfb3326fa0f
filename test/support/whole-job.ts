import type { Database } from '../../src/database/database.ts';
import { addModelDays } from '../../src/database/job-days.ts';
import { type NewJob, insertJob } from '../../src/database/jobs.ts';

/**
 * Inserts a job with all its model-days within the caller's transaction; the service adds those of
 * a large job when it runs.
 */
export function insertWholeJob(database: Database, job: NewJob): void {
  insertJob(database, job);
  addModelDays(database, job.jobId, { from: job.startDate, to: job.endDate });
}
