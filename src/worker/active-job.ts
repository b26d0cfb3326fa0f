import type { AgentConfiguration, Configuration } from '../configuration-schema.ts';
import { parseAgentConfiguration } from '../configuration.ts';
import type { Database } from '../database/database.ts';
import { loadJob, type StoredJob } from '../database/jobs.ts';
import type { Entry } from '../entry.ts';
import type { Addition } from '../protocol.ts';
import type { Crew } from './crew.ts';
import type { Life } from './life.ts';
import type { Spending } from './spending.ts';

export interface Job extends Omit<StoredJob, 'agentConfig'> {
  agentConfig: AgentConfiguration;
}

export function openJob(database: Database, jobId: string): Job {
  const stored = loadJob(database, jobId);
  return { ...stored, agentConfig: parseAgentConfiguration(stored.agentConfig) };
}

export interface KeyRefusals {
  inARow: number;
  /** The last one, in the provider's words. */
  error: string;
}

/**
 * What providers have refused of what the service adds to requests by itself: it is left out for
 * the rest of the run's job.
 */
export type LeftOut = Map<string, ReadonlySet<Addition>>;

/** The job being worked on, and everything that all its model-days share. */
export interface ActiveJob {
  job: Job;
  universe: ReadonlySet<string>;
  /** What ran, by the name of the run; a run without one cannot be run. */
  entries: ReadonlyMap<string, Entry>;
  /**
   * The server's configuration as it is now, for keys and what was cut from URLs; null when its
   * file is missing or broken.
   */
  configuration: Configuration | null;
  /** Aborted when the job is stopped. */
  signal: AbortSignal;
  life: Life;
  crew: Crew;
  spending: Spending;
  /** What each run's provider has refused of what the service adds to requests. */
  leftOut: LeftOut;
  /**
   * The runs whose last model-days in this job ended because the provider refused the key, with how
   * many in a row and why.
   */
  keyRefusals: Map<string, KeyRefusals>;
  /** Why no child can be started, once one could not: the job then ends. */
  cannotStart: string | null;
  /** Whether a child of the job has sent a line. */
  hasStarted: boolean;
}
