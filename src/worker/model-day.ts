import { timestamp } from '../calendar.ts';
import type { Configuration } from '../configuration.ts';
import { storageFaultOf } from '../database/faults.ts';
import type { Job } from '../database/jobs.ts';
import { type ModelDay, endModelDay } from '../database/sessions.ts';
import { costInJob } from '../database/usage.ts';
import { ServiceError } from '../domain.ts';
import { logUnexpected } from '../log.ts';
import { fromDollars } from '../money.ts';
import type { ChildMessage, Start, ToolResults } from '../protocol.ts';
import type { Market } from '../trading/market.ts';
import {
  type Session,
  abortSession,
  briefOf,
  completeSession,
  countFailedRequest,
  logMessages,
  openSession,
  takeStep,
} from '../trading/session.ts';
import { toolDescriptions } from '../trading/tools.ts';
import type { WorkerContext } from './context.ts';
import { entryOf, resolveModel } from './endpoint.ts';
import { launch } from './launch.ts';

export const COST_LIMIT_REACHED = 'Cost limit reached';

export interface JobRun {
  job: Job;
  universe: ReadonlySet<string>;
  /** The server's configuration as it is now; null when its file is missing or broken. */
  configuration: Configuration | null;
  signal: AbortSignal;
}

/**
 * Runs one model-day to its one end: completed with its positions, or failed with a reason. When the job is stopped
 * meanwhile, or the database cannot be used (then this rejects), it is left as it is, to be taken up again.
 */
export async function runModelDay(
  context: WorkerContext,
  run: JobRun,
  { modelDay, market }: { modelDay: ModelDay; market: Market },
): Promise<void> {
  const { agentConfig } = run.job;
  const model = isOverCostLimit(context, run, modelDay.model)
    ? { error: COST_LIMIT_REACHED }
    : resolveModel(modelDay.model, { ...context, ...run, agentConfig });
  if ('error' in model) {
    const completedAt = timestamp(context.clock());
    return endModelDay(context.database, modelDay, { status: 'failed', error: model.error, completedAt });
  }
  const session = openSession(context, modelDay, {
    market,
    universe: run.universe,
    initialCash: fromDollars(agentConfig.initial_cash),
    tokenPrices: entryOf(modelDay.model, run.configuration)?.price_per_million_tokens ?? null,
  });
  try {
    await trade(context, run, { session, model });
  } catch (error) {
    if (storageFaultOf(error) !== null) throw error; // no model's mistake, and nothing could be stored of it now
    const isKnown = error instanceof ServiceError;
    const reference = isKnown ? '' : logUnexpected(context.log, error, { ...modelDay });
    abortSession(context, session, isKnown ? error.message : `Internal error (reference ${reference})`);
  }
}

/** The most a model may cost in one job, in dollars; null when nobody says. */
export function costLimitOf(model: string, { configuration, job }: JobRun): number | null {
  return entryOf(model, configuration)?.max_cost_usd ?? job.agentConfig.max_cost_usd;
}

function isOverCostLimit({ database }: WorkerContext, run: JobRun, model: string): boolean {
  const limit = costLimitOf(model, run);
  return limit !== null && costInJob(database, run.job.jobId, model) >= limit;
}

async function trade(
  context: WorkerContext,
  { job, signal }: JobRun,
  { session, model }: { session: Session; model: Start['model'] },
): Promise<void> {
  const { modelDay } = session;
  const maxSteps = job.agentConfig.max_steps;
  const brief = briefOf(session);
  const start: Start = { type: 'start', signature: modelDay.model, model, maxSteps, brief, tools: toolDescriptions };
  const outcome = await launch(start, {
    program: context.agentProgram,
    timeoutMs: context.settings.modelDayTimeoutMs,
    signal,
    onMessage: (message) => receive(context, session, { message, maxSteps }),
    onStderr: (tail) => context.log.warning('model process wrote to stderr', { ...modelDay, tail }),
  });
  if (signal.aborted) return;
  if (outcome.status === 'finished') completeSession(context, session, outcome.summary);
  else abortSession(context, session, outcome.error);
}

/** Takes one message of the child. Throws when it does not fit where the session stands. */
async function receive(
  context: WorkerContext,
  session: Session,
  { message, maxSteps }: { message: Exclude<ChildMessage, { type: 'outcome' }>; maxSteps: number },
): Promise<ToolResults | null> {
  switch (message.type) {
    case 'prompt':
      if (session.totalMessages > 0) throw protocolError('it sent a second prompt');
      logMessages(context, session, message.messages);
      return null;
    case 'failed_request':
      countFailedRequest(context, session);
      context.log.info('model request failed', { ...session.modelDay, reason: message.reason, waitMs: message.waitMs });
      return null;
    case 'answer': {
      if (session.steps >= maxSteps) throw protocolError(`it went on after ${maxSteps} steps`);
      const results = await takeStep(context, session, message);
      return results.results.length > 0 ? results : null;
    }
  }
}

function protocolError(what: string): ServiceError {
  return new ServiceError('unprocessable', `The model process broke the protocol: ${what}`);
}
