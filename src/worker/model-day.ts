import { timestamp } from '../calendar.ts';
import { type ModelDay, endModelDay } from '../database/sessions.ts';
import type { Entry } from '../entry.ts';
import type { Start } from '../protocol.ts';
import type { Market } from '../trading/market.ts';
import type { ActiveJob } from './active-job.ts';
import { type Attempted, OVER, attempt } from './attempt.ts';
import type { WorkerContext } from './context.ts';
import { COST_LIMIT_REACHED, isOverCostLimit, warnOfUnknownCost } from './cost-limits.ts';
import { resolveModel } from './endpoint.ts';
import { keyRefusalOf } from './key-refusals.ts';
import { createShortage } from './shortage.ts';

/**
 * Runs one model-day to its end: completed with its positions, or failed with a reason. When the job is stopped meanwhile, or
 * the database cannot be used (then this rejects), the model-day stays as it is, to be resumed where its reasoning log ends.
 */
export async function runModelDay(
  context: WorkerContext,
  activeJob: ActiveJob,
  { modelDay, market }: { modelDay: ModelDay; market: Market },
): Promise<void> {
  const resolved = resolve(context, activeJob, modelDay);
  if ('error' in resolved) {
    const completedAt = timestamp(context.clock());
    const end = { status: 'failed', error: resolved.error, completedAt } as const;
    return context.database.write(() => endModelDay(context.database, modelDay, end), activeJob);
  }
  const shortage = createShortage(context.limits);
  await attemptUntilOver(context, activeJob, { modelDay, market, ...resolved, shortage });
  await warnOfUnknownCost(context, activeJob, modelDay);
}

/** What a run asks, and the source of its answers; an error when it cannot run. */
function resolve(
  context: WorkerContext,
  activeJob: ActiveJob,
  { model: name, date }: ModelDay,
): { entry: Entry; model: Start['model'] } | { error: string } {
  const entry = activeJob.entries.get(name);
  if (entry === undefined) return { error: `The server configuration, which defines '${name}', is missing or broken` };
  const refusal = keyRefusalOf(activeJob, name);
  if (refusal !== null) return { error: refusal };
  if (isOverCostLimit(activeJob, entry, date)) return { error: COST_LIMIT_REACHED };
  if (entry.tools.includes('search_news') && context.settings.jinaApiKey === null)
    return { error: `Model '${name}' was offered search_news, whose key JINA_API_KEY is no longer set` };
  const model = resolveModel(entry, { ...context, ...activeJob, agentConfig: activeJob.job.agentConfig });
  return 'error' in model ? model : { entry, model };
}

/** Attempts a model-day until it has ended, each time in a place among the children that run side by side. */
async function attemptUntilOver(context: WorkerContext, activeJob: ActiveJob, attempted: Attempted): Promise<void> {
  const { crew, signal } = activeJob;
  for (;;) {
    await crew.join();
    let result = OVER;
    try {
      if (!signal.aborted && activeJob.cannotStart === null) result = await attempt(context, activeJob, attempted);
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
