import type { Configuration } from '../configuration.ts';
import type { Job } from '../database/jobs.ts';
import type { Crew } from './crew.ts';
import type { Life } from './life.ts';

/** The job that is being worked, with what all its model-days share. */
export interface ActiveJob {
  job: Job;
  universe: ReadonlySet<string>;
  /** The server's configuration as it is now; null when its file is missing or broken. */
  configuration: Configuration | null;
  /** Aborted when the job is stopped. */
  signal: AbortSignal;
  life: Life;
  crew: Crew;
}
