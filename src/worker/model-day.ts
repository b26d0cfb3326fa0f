import { timestamp } from '../calendar.ts';
import type { Configuration } from '../configuration.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { type Job, addWarnings } from '../database/jobs.ts';
import { type ModelDay, endModelDay } from '../database/sessions.ts';
import { costInJob, hasUnknownCost } from '../database/usage.ts';
import { ServiceError } from '../domain.ts';
import { logUnexpected } from '../log.ts';
import { fromDollars } from '../money.ts';
import type { ChildMessage, FailedRequest, Start, ToolResults } from '../protocol.ts';
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
import type { Lost } from './channel.ts';
import type { WorkerContext } from './context.ts';
import type { Crew } from './crew.ts';
import { entryOf, resolveModel, tokenPricesOf } from './endpoint.ts';
import { launch } from './launch.ts';
import type { Life } from './life.ts';
import { type Shortage, createShortage, shortageWarning } from './shortage.ts';

/** Reasons of failed requests that are logged of one model-day; all are counted. */
const MAX_LOGGED_FAILURES = 100;

export const COST_LIMIT_REACHED = 'Cost limit reached';
const OVER: Attempt = { isOver: true, lost: null };

export interface JobRun {
  job: Job;
  universe: ReadonlySet<string>;
  /** The server's configuration as it is now; null when its file is missing or broken. */
  configuration: Configuration | null;
  signal: AbortSignal;
  life: Life;
  crew: Crew;
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
    const end = { status: 'failed', error: model.error, completedAt } as const;
    return context.database.write(() => endModelDay(context.database, modelDay, end), run);
  }
  await attemptUntilOver(context, run, { modelDay, market, model });
  await warnOfUnknownCost(context, run, modelDay);
}

interface Attempted {
  modelDay: ModelDay;
  market: Market;
  model: Start['model'];
}

/** What one attempt came to. */
interface Attempt {
  /** Otherwise the model-day is to be attempted again. */
  isOver: boolean;
  /** Set when the machine took the child. */
  lost: Lost | null;
}

/** Attempts a model-day until it is over, each time in a place of its own among those that run side by side. */
async function attemptUntilOver(context: WorkerContext, run: JobRun, attempted: Attempted): Promise<void> {
  const shortage = createShortage(context.limits);
  for (;;) {
    await run.crew.join();
    let result = OVER;
    try {
      if (!run.signal.aborted) result = await attempt(context, run, { ...attempted, shortage });
    } finally {
      run.crew.leave(result.lost === null ? 'well' : 'lost');
    }
    if (result.lost !== null) logLoss(context, run, { ...attempted, lost: result.lost });
    if (result.isOver) return;
    if (result.lost !== null) await shortage.pause(run.signal);
  }
}

function logLoss(
  { log }: WorkerContext,
  { crew }: JobRun,
  { modelDay, lost }: { modelDay: ModelDay; lost: Lost },
): void {
  const { hasSpoken, error: reason } = lost;
  log.warning('the machine took a model process', { ...modelDay, hasSpoken, reason, sideBySide: crew.size });
}

/** One attempt. It is not over when its journal does not fit, or when its child was lost and may be started again. */
async function attempt(
  context: WorkerContext,
  run: JobRun,
  { modelDay, market, model, shortage }: Attempted & { shortage: Shortage },
): Promise<Attempt> {
  const ending = new AbortController();
  const session = await openSession(context, modelDay, {
    market,
    universe: run.universe,
    initialCash: fromDollars(run.job.agentConfig.initial_cash),
    tokenPrices: tokenPricesOf(modelDay.model, run.configuration),
    news: newsFor(context, modelDay, ending.signal),
    costs: tradingCostsOf(run.job.agentConfig),
    signal: run.signal,
  });
  try {
    const lost = await trade(context, run, { session, model, tries: shortage.tries });
    return lost === null ? OVER : await takeLoss(context, run, { session, lost, shortage });
  } catch (error) {
    if (run.signal.aborted) return OVER;
    if (error instanceof JournalMisfit) {
      await setAside(context, session, error);
      context.log.warning('journal set aside', { ...modelDay, reason: error.message });
      return { isOver: false, lost: null };
    }
    if (storageFaultOf(error) !== null) throw error; // no model's mistake, and nothing could be stored of it now
    const isKnown = error instanceof ServiceError;
    const reference = isKnown ? '' : logUnexpected(context.log, error, { ...modelDay });
    await abortSession(context, session, isKnown ? error.message : `Internal error (reference ${reference})`);
    return OVER;
  } finally {
    session.hasEnded = true; // also when the job was stopped: nothing is written for it any more
    ending.abort();
  }
}

/** The machine took a child: the model-day is tried again, and the job says so, or fails when that happened too often. */
async function takeLoss(
  context: WorkerContext,
  run: JobRun,
  { session, lost, shortage }: { session: Session; lost: Lost; shortage: Shortage },
): Promise<Attempt> {
  const { database } = context;
  const reason = shortage.note(lost);
  if (reason !== null) await abortSession(context, session, reason);
  else await database.write(() => addWarnings(database, run.job.jobId, [shortageWarning(lost)]), run);
  return { isOver: reason !== null, lost };
}

/** A limit that cannot be kept is told as soon as it shows. */
async function warnOfUnknownCost({ database }: WorkerContext, run: JobRun, modelDay: ModelDay): Promise<void> {
  const isPriced = entryOf(modelDay.model, run.configuration)?.price_per_million_tokens != null;
  if (!isPriced || costLimitOf(modelDay.model, run) === null || !hasUnknownCost(database, modelDay)) return;
  const warning = `The cost limit of '${modelDay.model}' cannot be kept: its provider does not say how many tokens it takes`;
  await database.write(() => addWarnings(database, run.job.jobId, [warning]), run);
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

/** Runs the child of a session and takes what it comes to. Returns the loss when the machine took the child, else null. */
async function trade(
  context: WorkerContext,
  { job, signal, life, crew }: JobRun,
  { session, model, tries }: { session: Session; model: Start['model']; tries: number },
): Promise<Lost | null> {
  const { modelDay } = session;
  const maxSteps = job.agentConfig.max_steps;
  const brief = briefOf(session);
  const tools = toolDescriptions(session);
  const past = await replayJournal(context, session);
  const pastMessages = past.length;
  const start: Start = { type: 'start', signature: modelDay.model, model, maxSteps, brief, tools, pastMessages };
  const childEnded = life.childStarted();
  const failures = { sinceAnswer: 0, logged: 0, most: model.kind === 'chat_completions' ? model.maxRetries + 1 : 0 };
  const ending = await launch(start, {
    past,
    program: context.agentProgram,
    timeoutMs: context.settings.modelDayTimeoutMs,
    patienceMs: crew.patienceMs(tries),
    onStart: crew.noteStart,
    memoryMb: context.settings.modelDayMemoryMb,
    signal,
    onMessage: (message) => receive(context, session, { message, maxSteps, failures }),
    onStderr: (tail) => context.log.warning('model process wrote to stderr', { ...modelDay, tail }),
  }).finally(childEnded);
  if (signal.aborted) return null;
  if (ending.status === 'lost') return ending;
  if (ending.status === 'finished') await completeSession(context, session, ending.summary);
  else await abortSession(context, session, ending.error);
  return null;
}

/** Requests of one child that failed: how many since its last answer, how many reasons are logged, how many there may be. */
interface Failures {
  sinceAnswer: number;
  logged: number;
  readonly most: number;
}

/** Takes one message of the child. Throws when it does not fit where the session stands. */
async function receive(
  context: WorkerContext,
  session: Session,
  {
    message,
    maxSteps,
    failures,
  }: { message: Exclude<ChildMessage, { type: 'outcome' }>; maxSteps: number; failures: Failures },
): Promise<ToolResults | null> {
  switch (message.type) {
    case 'prompt':
      if (session.isPrompted) throw protocolError('it sent a second prompt');
      session.isPrompted = true;
      if (session.journal.length > 0) checkPrompt(session, message.messages);
      else await logMessages(context, session, message.messages);
      return null;
    case 'failed_request':
      await countFailure(context, session, { message, failures });
      return null;
    case 'answer': {
      if (session.steps >= maxSteps) throw protocolError(`it continued after ${maxSteps} steps`);
      failures.sinceAnswer = 0;
      const results = await takeStep(context, session, message);
      return results.results.length > 0 ? results : null;
    }
  }
}

async function countFailure(
  context: WorkerContext,
  session: Session,
  { message: { reason, waitMs }, failures }: { message: FailedRequest; failures: Failures },
): Promise<void> {
  failures.sinceAnswer += 1;
  if (failures.sinceAnswer > failures.most)
    throw protocolError(
      `it reported ${failures.sinceAnswer} failed requests in one step, ${failures.most} are possible`,
    );
  await countFailedRequest(context, session);
  failures.logged += 1;
  if (failures.logged > MAX_LOGGED_FAILURES) return;
  const more = failures.logged === MAX_LOGGED_FAILURES ? { note: 'further ones of this model-day are not logged' } : {};
  context.log.info('model request failed', { ...session.modelDay, reason, waitMs, ...more });
}

function protocolError(what: string): ServiceError {
  return new ServiceError('protocol_violation', `The model process broke the protocol: ${what}`);
}
