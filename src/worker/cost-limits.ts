import { addWarnings } from '../database/jobs.ts';
import type { ModelDay } from '../database/sessions.ts';
import { costInJob, hasUnknownCost } from '../database/usage.ts';
import type { ActiveJob } from './active-job.ts';
import type { WorkerContext } from './context.ts';
import { entryOf, tokenPricesOf } from './endpoint.ts';

/** The cost limits of one job's models: whether a model has reached its limit, and why a limit cannot be enforced. */

export const COST_LIMIT_REACHED = 'Cost limit reached';

export function isOverCostLimit({ database }: WorkerContext, activeJob: ActiveJob, model: string): boolean {
  const limit = costLimitOf(model, activeJob);
  return limit !== null && costInJob(database, activeJob.job.jobId, model) >= limit;
}

/** A sentence for each limit that cannot be enforced because its model's tokens have no price. */
export function costWarnings(activeJob: ActiveJob): string[] {
  const models = activeJob.job.runs.map(({ model }) => model);
  const unpriced = models.filter(
    (model) => costLimitOf(model, activeJob) !== null && tokenPricesOf(model, activeJob.configuration) === null,
  );
  return unpriced.map(
    (model) => `The cost limit of '${model}' cannot be enforced: its entry has no price_per_million_tokens`,
  );
}

/** Warns of an unenforceable limit as soon as the first model-day shows it. */
export async function warnOfUnknownCost(
  { database }: WorkerContext,
  activeJob: ActiveJob,
  modelDay: ModelDay,
): Promise<void> {
  const { model } = modelDay;
  const isPriced = entryOf(model, activeJob.configuration)?.price_per_million_tokens != null;
  if (!isPriced || costLimitOf(model, activeJob) === null || !hasUnknownCost(database, modelDay)) return;
  const warning = `The cost limit of '${model}' cannot be enforced: its provider does not report how many tokens it uses`;
  await database.write(() => addWarnings(database, activeJob.job.jobId, [warning]), activeJob);
}

/** The most a model may cost in one job, in dollars; null without a limit. */
function costLimitOf(model: string, { configuration, job }: ActiveJob): number | null {
  return entryOf(model, configuration)?.max_cost_usd ?? job.agentConfig.max_cost_usd;
}
