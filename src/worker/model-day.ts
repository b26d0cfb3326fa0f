import assert from 'node:assert/strict';
import { timestamp } from '../calendar.ts';
import { endModelDay, type ModelDay } from '../database/sessions.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { sha256 } from '../digest.ts';
import type { Entry } from '../entry.ts';
import type { Start } from '../protocol.ts';
import type { Market } from '../trading/market.ts';
import type { ActiveJob } from './active-job.ts';
import { attempt, type Attempted, OVER, reasonOf } from './attempt.ts';
import type { WorkerContext } from './context.ts';
import { COST_LIMIT_REACHED, isOverCostLimit, warnOfUnknownCost } from './cost-limits.ts';
import { resolveModel } from './endpoint.ts';
import { keyRefusalOf } from './key-refusals.ts';
import { createShortage } from './shortage.ts';

interface Next {
  modelDay: ModelDay;
  market: Market;
}

/**
 * Runs one model-day to its end: completed with its positions, or failed with a reason. Whatever it
 * throws is its own failure: no other model-day, and not the job, ends with it. When the job is
 * stopped meanwhile, or the database cannot be used (then this rejects), the model-day stays as it
 * is, to be resumed where its reasoning log ends.
 */
export async function runModelDay(
  context: WorkerContext,
  activeJob: ActiveJob,
  next: Next,
): Promise<void> {
  const { modelDay } = next;
  try {
    const error = await runUnlessRefused(context, activeJob, next);
    if (error !== null) return await fail(context, activeJob, { modelDay, error });
  } catch (thrown) {
    if (activeJob.signal.aborted || storageFaultOf(thrown) !== null) throw thrown;
    return await fail(context, activeJob, { modelDay, error: reasonOf(context, modelDay, thrown) });
  }
  await warnOfUnknownCost(context, activeJob, modelDay);
}

/** Resolves to why the model-day cannot run; null when it has ended, or was stopped. */
async function runUnlessRefused(
  context: WorkerContext,
  activeJob: ActiveJob,
  next: Next,
): Promise<string | null> {
  const resolved = resolve(context, activeJob, next.modelDay);
  if ('error' in resolved) return resolved.error;
  await attemptUntilOver(context, activeJob, {
    ...next,
    ...resolved,
    shortage: createShortage(context.limits),
  });
  return null;
}

/**
 * Fails a model-day that has no session, or whose session could not end itself: it ends with its
 * model-day.
 */
function fail(
  { database, clock }: WorkerContext,
  activeJob: ActiveJob,
  { modelDay, error }: { modelDay: ModelDay; error: string },
): Promise<void> {
  const end = { status: 'failed', error, completedAt: timestamp(clock()) } as const;
  return database.write(() => endModelDay(database, modelDay, end), activeJob);
}

/** What a run asks, and the source of its answers; an error when it cannot run. */
function resolve(
  context: WorkerContext,
  activeJob: ActiveJob,
  { model: name, date }: ModelDay,
): { entry: Entry; model: Start['model'] } | { error: string } {
  const entry = activeJob.entries.get(name);
  assert(entry, 'each run of a job has an entry');
  const refusal = keyRefusalOf(activeJob, name);
  if (refusal !== null) return { error: refusal };
  if (isOverCostLimit(activeJob, entry, date)) return { error: COST_LIMIT_REACHED };
  if (entry.tools.includes('search_news') && context.settings.jinaApiKey === null)
    return {
      error: `Model '${name}' was offered search_news, whose key JINA_API_KEY is no longer set`,
    };
  const sources = { ...context, ...activeJob, agentConfig: activeJob.job.agentConfig };
  const cacheKey = sha256(JSON.stringify([activeJob.job.jobId, date, name])).toString('hex');
  const model = resolveModel(entry, sources, {
    cacheKey,
    leftOut: [...(activeJob.leftOut.get(name) ?? [])],
  });
  return 'error' in model ? model : { entry, model };
}

/**
 * Attempts a model-day until it has ended, each time in a place among the children that run side by
 * side.
 */
async function attemptUntilOver(
  context: WorkerContext,
  activeJob: ActiveJob,
  attempted: Attempted,
): Promise<void> {
  const { crew, signal } = activeJob;
  for (;;) {
    await crew.join();
    let result = OVER;
    try {
      if (!signal.aborted && activeJob.cannotStart === null)
        result = await attempt(context, activeJob, attempted);
    } finally {
      crew.leave(result.lost === null ? 'well' : 'lost');
    }
    const { isOver, lost } = result;
    if (lost !== null) {
      const { hasSpoken, error: reason } = lost;
      const fields = { ...attempted.modelDay, hasSpoken, reason, sideBySide: crew.size };
      context.log.warning('the machine ended a model process', fields);
    }
    if (isOver) return;
    if (lost !== null) await attempted.shortage.pause(signal);
  }
}
