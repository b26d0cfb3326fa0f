import type { Clock } from '#time/calendar.ts';
import type { Places, WorkerLimits } from '#children/places.ts';
import type { StartChild } from '#children/process.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import type { Database } from '#database/database.ts';
import { addLeftOut, addWarnings } from '#database/job-queries.ts';
import type { ModelDay } from '#database/sessions.ts';
import type { Entry } from '#settings/entry.ts';
import type { Log } from '#process/log.ts';
import type { RefusedAdditions, StartMessage } from '#wire/protocol.ts';
import { list } from '#text/sentences.ts';
import type { Settings } from '#settings/settings.ts';
import type { AgentDays } from '#trading/agent-days.ts';
import type { OfferedDocuments } from '#trading/morning-documents.ts';
import type { Market } from '#trading/market.ts';
import { markLongLived } from '#database/model-days.ts';
import { errorMessage } from '#domain/service-error.ts';
import { type EventLoop, eventLoop } from '#time/event-loop.ts';

/**
 * Keeps a mark in the database that says whether this process, if it ended now without progress,
 * would count as an idle restart: it has run for `minLifetimeMs`, or a child of the job has
 * been running for `minChildLifetimeMs`. Written while the process lives, because SIGKILL leaves no
 * time to write at the end.
 */
export function watchLifetime(
  { database, log, limits }: { database: Database; log: Log; limits: WorkerLimits },
  jobId: string,
  { signal, loop = eventLoop }: { signal: AbortSignal; loop?: Pick<EventLoop, 'now' | 'after'> },
) {
  let longLifetimes = 0;
  const storeMark = () => {
    const work = () => markLongLived(database, jobId, longLifetimes > 0);
    database.write(work, { signal }).catch((error: unknown) => {
      if (signal.aborted) return;
      // A storage fault stops the job by itself; failing to store the mark loses nothing.
      log.warning('cannot record how long the process has run', {
        jobId,
        error: errorMessage(error),
      });
    });
  };
  const begin = (afterMs: number) => {
    let isLong = false;
    const cancel = loop.after(afterMs, () => {
      isLong = true;
      longLifetimes += 1;
      storeMark();
    });
    return () => {
      cancel();
      if (!isLong || signal.aborted) return; // when the process ends, its children are ended first
      longLifetimes -= 1;
      storeMark();
    };
  };
  // The loop's time counts from the start of the process.
  const stop = begin(Math.max(0, limits.minLifetimeMs - loop.now()));
  return {
    /** Called when a child of the job starts; the function it returns, when that child has exited. */
    childStarted: () => begin(limits.minChildLifetimeMs),
    stop,
  };
}

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
  /** The days of agents, which may call their tools over HTTP. */
  agentDays: AgentDays;
  limits: WorkerLimits;
}

/** What a run asks, and of whom: resolved once for all its model-days. */
export interface ActiveRun {
  family: string;
  startDate: string;
  entry: Entry;
  /** `error`: why it cannot be asked. */
  model: StartMessage['model'] | { error: string };
  /**
   * The errors of its last model-days in this job, in the provider's words, if that refused the key
   * (401 or 403). Kept in memory: a job that continues after a restart asks again, and so does the
   * next job.
   */
  keyRefusals: string[];
}

/** The job being worked on, and everything that all its model-days share. */
export interface ActiveJob extends WorkerContext {
  jobId: string;
  agentConfig: AgentConfiguration;
  /** Runs by name. */
  runs: ReadonlyMap<string, ActiveRun>;
  /** Aborted when the job is stopped. */
  signal: AbortSignal;
  lifetime: ReturnType<typeof watchLifetime>;
  places: Places;
  /** Why no child can be started, once one could not: the job then ends. */
  startFailure: string | null;
}

export interface DateContext {
  market: Market;
  /** What may be bought on its date. */
  universe: ReadonlySet<string>;
  /** Documents of its universe, as of its morning. */
  documents: OfferedDocuments;
  /** What each family has cost on the dates before. */
  spentBefore: Map<string, number>;
}

/** One model-day that is run, and all that it needs: made once. */
export interface DayContext extends DateContext, ActiveRun {
  job: ActiveJob;
  modelDay: ModelDay;
  model: StartMessage['model'];
}

export function isStopped({ signal, startFailure }: ActiveJob): boolean {
  return signal.aborted || startFailure !== null;
}

/**
 * Stores what a provider refused of what the service adds to requests by itself, which is left out
 * for the rest of the run's job, and warns of it in the provider's words: once for all runs of an
 * entry.
 */
export async function storeRefusedAdditions(
  { job, modelDay, entry }: DayContext,
  { additions: refused, reason }: RefusedAdditions,
): Promise<void> {
  const { database } = job;
  const warning =
    `The provider of '${entry.signature}' rejected ${list(refused)}, which the service adds; ` +
    `requests are now sent without it. The provider ${reason}`;
  await database.write(() => {
    addLeftOut(database, modelDay, refused);
    addWarnings(database, job.jobId, [warning]);
  }, job);
}
