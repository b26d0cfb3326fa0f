import type { Clock } from '../basics/calendar.ts';
import type { Places, WorkerLimits } from '../children/places.ts';
import type { StartChild } from '../children/process.ts';
import type { AgentConfiguration, Configuration } from '../basics/configuration-schema.ts';
import { parseAgentConfiguration } from '../basics/configuration.ts';
import type { Database } from '../database/database.ts';
import { addWarnings, loadJob, type StoredJob, storeLeftOut } from '../database/jobs.ts';
import type { ModelDay } from '../database/sessions.ts';
import type { Entry } from '../basics/entry.ts';
import { tryParse } from '../basics/json.ts';
import type { Log } from '../basics/log.ts';
import { type Addition, additions, type RefusedAdditions } from '../wire/protocol.ts';
import { list } from '../basics/sentences.ts';
import type { Settings } from '../basics/settings.ts';
import type { Spending } from './cost-limits.ts';
import type { Lifetime } from './lifetime.ts';

/** The worker's dependencies. */
export interface WorkerContext {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  /** Environment variables, for keys that the configuration refers to but does not contain. */
  environment: NodeJS.ProcessEnv;
  /** The program of the child processes: the agent as JavaScript text. */
  agentProgram: string;
  /**
   * By MODEL_DAY_COMMAND, or `startConfined`; tests of jobs run the agent in their own process
   * instead.
   */
  startChild: StartChild;
  limits: WorkerLimits;
}

export interface Job extends Omit<StoredJob, 'agentConfig'> {
  agentConfig: AgentConfiguration;
}

export function openJob(database: Database, jobId: string): Job {
  const stored = loadJob(database, jobId);
  return { ...stored, agentConfig: parseAgentConfiguration(stored.agentConfig) };
}

interface KeyRefusals {
  inARow: number;
  /** The last one, in the provider's words. */
  error: string;
}

/**
 * What providers have refused of what the service adds to requests by itself: it is left out for
 * the rest of the run's job.
 */
type LeftOut = Map<string, ReadonlySet<Addition>>;

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
  lifetime: Lifetime;
  places: Places;
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
}

/** As it is stored with each run, which an earlier process may have begun. */
export function storedLeftOut({ runs }: Pick<Job, 'runs'>): LeftOut {
  return new Map(
    runs.map(({ model, leftOut }) => {
      const stored: unknown = tryParse(leftOut);
      return [
        model,
        new Set(additions.filter((addition) => Array.isArray(stored) && stored.includes(addition))),
      ];
    }),
  );
}

/**
 * Stores what a provider refused, and warns of it in the provider's words: once for all runs of an
 * entry.
 */
export async function noteRefused(
  { database }: Pick<WorkerContext, 'database'>,
  { leftOut, job, entries, signal }: Pick<ActiveJob, 'leftOut' | 'job' | 'entries' | 'signal'>,
  { model }: ModelDay,
  { additions: refused, reason }: RefusedAdditions,
): Promise<void> {
  const all = new Set([...(leftOut.get(model) ?? []), ...refused]);
  leftOut.set(model, all);
  const family = entries.get(model)?.signature ?? model;
  const warning = `'${family}' is asked without ${list(refused)}, which the service adds and the provider refuses: it ${reason}`;
  await database.write(
    () => {
      storeLeftOut(database, { jobId: job.jobId, model }, [...all]);
      addWarnings(database, job.jobId, [warning]);
    },
    { signal },
  );
}

/**
 * So many model-days of a run in a row with a refused key are enough: it will be refused on the
 * next one too.
 */
const MAX_IN_A_ROW = 2;

/**
 * Counts a model-day whose provider refused the key (401 or 403); any other end starts the count
 * again.
 */
export function noteKeyRefusal(
  { keyRefusals }: Pick<ActiveJob, 'keyRefusals'>,
  run: string,
  outcome: { status: string; isKeyRefused?: true | undefined; error?: string },
): void {
  const { isKeyRefused, error = '' } = outcome;
  if (isKeyRefused)
    keyRefusals.set(run, { inARow: (keyRefusals.get(run)?.inARow ?? 0) + 1, error });
  else keyRefusals.delete(run);
}

/**
 * Why a run is not asked any more in this job; null while it is. The count is kept in memory: a job
 * that continues after a restart asks again, and so does the next job.
 */
export function keyRefusalOf(
  { keyRefusals }: Pick<ActiveJob, 'keyRefusals'>,
  run: string,
): string | null {
  const refusals = keyRefusals.get(run);
  if (refusals === undefined || refusals.inARow < MAX_IN_A_ROW) return null;
  return `Not run: the provider refused the key on the previous ${MAX_IN_A_ROW} model-days. ${refusals.error}`;
}
