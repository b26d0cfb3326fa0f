import { timestamp } from '../calendar.ts';
import type { Configuration } from '../configuration.ts';
import { storageFaultOf } from '../database/faults.ts';
import { type Job, addWarnings } from '../database/jobs.ts';
import { type ModelDay, endModelDay } from '../database/sessions.ts';
import { costInJob, hasUnknownCost } from '../database/usage.ts';
import { ServiceError } from '../domain.ts';
import { logUnexpected } from '../log.ts';
import { fromDollars } from '../money.ts';
import type { ChildMessage, Start, ToolResults } from '../protocol.ts';
import { JournalMisfit, checkPrompt, replayJournal, setAside } from '../trading/journal.ts';
import type { Market } from '../trading/market.ts';
import { type NewsSearch, openNews } from '../trading/news.ts';
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
import { tradingCostsOf } from '../trading/trading-costs.ts';
import type { WorkerContext } from './context.ts';
import { entryOf, resolveModel, tokenPricesOf } from './endpoint.ts';
import { launch } from './launch.ts';
import type { Life } from './life.ts';

export const COST_LIMIT_REACHED = 'Cost limit reached';

export interface JobRun {
  job: Job;
  universe: ReadonlySet<string>;
  /** The server's configuration as it is now; null when its file is missing or broken. */
  configuration: Configuration | null;
  signal: AbortSignal;
  life: Life;
}

/**
 * Runs one model-day to its one end: completed with its positions, or failed with a reason. When the job is stopped
 * meanwhile, or the database cannot be used (then this rejects), it is left as it is, to be taken up again where its journal
 * ends.
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
  for (let isOver = false; !isOver;) isOver = await attempt(context, run, { modelDay, market, model });
  warnOfUnknownCost(context, run, modelDay);
}

/** One attempt at a model-day; false when it went on with a journal that does not fit, and is to start over. */
async function attempt(
  context: WorkerContext,
  run: JobRun,
  { modelDay, market, model }: { modelDay: ModelDay; market: Market; model: Start['model'] },
): Promise<boolean> {
  const ending = new AbortController();
  const session = openSession(context, modelDay, {
    market,
    universe: run.universe,
    initialCash: fromDollars(run.job.agentConfig.initial_cash),
    tokenPrices: tokenPricesOf(modelDay.model, run.configuration),
    news: newsFor(context, modelDay, ending.signal),
    costs: tradingCostsOf(run.job.agentConfig),
  });
  try {
    await trade(context, run, { session, model });
    return true;
  } catch (error) {
    if (error instanceof JournalMisfit) {
      setAside(context, session, error);
      context.log.warning('journal set aside', { ...modelDay, reason: error.message });
      return false;
    }
    if (storageFaultOf(error) !== null) throw error; // no model's mistake, and nothing could be stored of it now
    const isKnown = error instanceof ServiceError;
    const reference = isKnown ? '' : logUnexpected(context.log, error, { ...modelDay });
    abortSession(context, session, isKnown ? error.message : `Internal error (reference ${reference})`);
    return true;
  } finally {
    session.hasEnded = true; // also when the job was stopped: nothing is written for it any more
    ending.abort();
  }
}

/** A limit that cannot be kept is told as soon as it shows. */
function warnOfUnknownCost({ database }: WorkerContext, run: JobRun, modelDay: ModelDay): void {
  const isPriced = entryOf(modelDay.model, run.configuration)?.price_per_million_tokens != null;
  if (!isPriced || costLimitOf(modelDay.model, run) === null || !hasUnknownCost(database, modelDay)) return;
  const warning = `The cost limit of '${modelDay.model}' cannot be kept: its provider does not say how many tokens it takes`;
  database.transaction(() => addWarnings(database, run.job.jobId, [warning]));
}

/** The news as of a model-day's morning, or null without a key. The key stays in this process; no child gets it. */
function newsFor({ settings, log }: WorkerContext, modelDay: ModelDay, signal: AbortSignal): NewsSearch | null {
  if (settings.jinaApiKey === null) return null;
  const onFailure = (reason: string) => log.warning('news search failed', { ...modelDay, reason });
  return openNews(
    { apiKey: settings.jinaApiKey, baseUrl: settings.jinaBaseUrl },
    { date: modelDay.date, signal, onFailure },
  );
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
  { job, signal, life }: JobRun,
  { session, model }: { session: Session; model: Start['model'] },
): Promise<void> {
  const { modelDay } = session;
  const maxSteps = job.agentConfig.max_steps;
  const brief = briefOf(session);
  const tools = toolDescriptions(session);
  const past = await replayJournal(context, session);
  const pastMessages = past.length;
  const start: Start = { type: 'start', signature: modelDay.model, model, maxSteps, brief, tools, pastMessages };
  const childEnded = life.childStarted();
  const outcome = await launch(start, {
    past,
    program: context.agentProgram,
    timeoutMs: context.settings.modelDayTimeoutMs,
    signal,
    onMessage: (message) => receive(context, session, { message, maxSteps }),
    onStderr: (tail) => context.log.warning('model process wrote to stderr', { ...modelDay, tail }),
  }).finally(childEnded);
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
      if (session.isPrompted) throw protocolError('it sent a second prompt');
      session.isPrompted = true;
      if (session.journal.length > 0) checkPrompt(session, message.messages);
      else logMessages(context, session, message.messages);
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
