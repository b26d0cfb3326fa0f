import { storageFaultOf } from '../database/storage/faults.ts';
import { addWarnings } from '../database/jobs.ts';
import type { ModelDay } from '../database/sessions.ts';
import { ServiceError } from '../domain.ts';
import type { Entry } from '../entry.ts';
import { logUnexpected } from '../log.ts';
import { fromDollars, TooLarge } from '../money.ts';
import { additions, type Start } from '../protocol.ts';
import type { Market } from '../trading/market.ts';
import { type NewsSearch, openNews } from '../trading/news.ts';
import { LogMismatch } from '../trading/reasoning-log.ts';
import { openSession, type Session } from '../trading/session.ts';
import { tradingCostsOf } from '../trading/trading-costs.ts';
import type { ActiveJob } from './active-job.ts';
import type { Lost } from './channel.ts';
import { handleMessages } from './child-messages.ts';
import type { WorkerContext } from './context.ts';
import { noteKeyRefusal } from './key-refusals.ts';
import { launch } from './launch.ts';
import { noteRefused } from './left-out.ts';
import { inTurn } from './pacing.ts';
import { childNiceness } from './process.ts';
import { type Shortage, shortageWarning } from './shortage.ts';

/** The model-day to attempt, and its model. */
export interface Attempted {
  modelDay: ModelDay;
  market: Market;
  model: Start['model'];
  /** What ran. */
  entry: Entry;
  shortage: Shortage;
}

/** The result of one attempt. */
export interface AttemptResult {
  /** Whether the model-day has ended; otherwise it is attempted again. */
  isOver: boolean;
  /** Set when the machine caused the child's end. */
  lost: Lost | null;
}

export const OVER: AttemptResult = { isOver: true, lost: null };

/**
 * One attempt. The model-day has not ended if its reasoning log no longer matches, or if its child
 * was lost and may be restarted.
 */
export async function attempt(
  context: WorkerContext,
  activeJob: ActiveJob,
  { modelDay, market, model, entry, shortage }: Attempted,
): Promise<AttemptResult> {
  const { job, universe, signal } = activeJob;
  const over = new AbortController();
  const options = {
    market,
    universe,
    initialCash: fromDollars(job.agentConfig.initial_cash),
    paysDividends: job.agentConfig.dividends,
    tokenPrices: entry.price_per_million_tokens,
    news: entry.tools.includes('search_news') ? newsFor(context, modelDay, over.signal) : null,
    costs: tradingCostsOf(job.agentConfig),
    hasNotes: entry.notes,
    signal,
  };
  const session = await inTurn(() => openSession(context, modelDay, options));
  try {
    const lost = await trade(context, activeJob, { session, model, entry, tries: shortage.tries });
    return lost === null ? OVER : await takeLoss(context, activeJob, { session, lost, shortage });
  } catch (error) {
    if (signal.aborted) return OVER;
    return await endBroken(context, session, error);
  } finally {
    session.leave(); // also when the job was stopped: nothing more is written for it
    over.abort();
  }
}

/**
 * Runs the child of a session and ends the session with its outcome. Returns the loss when the
 * machine ended the child, otherwise null.
 */
async function trade(
  context: WorkerContext,
  activeJob: ActiveJob,
  {
    session,
    model,
    entry,
    tries,
  }: Pick<Attempted, 'model' | 'entry'> & { session: Session; tries: number },
): Promise<Lost | null> {
  const { job, signal, life, crew } = activeJob;
  const { modelDay, brief, tools } = session;
  const { settings, log } = context;
  const maxSteps = job.agentConfig.max_steps;
  const past = await session.resume();
  const names = { signature: modelDay.model, family: entry.signature };
  const start = {
    type: 'start',
    ...names,
    model,
    maxSteps,
    prompt: entry.prompt,
    brief,
    tools,
  } as const;
  const maxFailures = model.kind === 'provider' ? model.maxRetries + 1 + additions.length : 0;
  const niceness = childNiceness(Math.min(crew.size, job.runs.length));
  const childEnded = life.childStarted();
  const outcome = await launch(start, {
    past,
    program: context.agentProgram,
    startChild: (program, rights) => context.startChild(program, { ...rights, niceness }, modelDay),
    timeoutMs: settings.modelDayTimeoutMs,
    patienceMs: crew.patienceMs(tries),
    onStart(ms) {
      activeJob.hasStarted = true;
      crew.noteStart(ms);
    },
    memoryMb: settings.modelDayMemoryMb,
    signal,
    onMessage: handleMessages(session, {
      ...{ log, maxSteps, maxFailures },
      onRefused: (refused) => noteRefused(context, activeJob, modelDay, refused),
    }),
    onStderr: (tail) => log.warning('model process wrote to stderr', { ...modelDay, tail }),
  }).finally(childEnded);
  if (signal.aborted) return null;
  if (outcome.status === 'lost') return outcome;
  noteKeyRefusal(activeJob, modelDay.model, outcome);
  if (outcome.status !== 'cannot_start') await session.end(outcome);
  else await giveUpStarting(activeJob, session, outcome.error);
  return null;
}

/**
 * The machine ended a child: the model-day is attempted again with a warning, or fails after too
 * many losses.
 */
async function takeLoss(
  { database }: WorkerContext,
  activeJob: ActiveJob,
  { session, lost, shortage }: { session: Session; lost: Lost; shortage: Shortage },
): Promise<AttemptResult> {
  const error = shortage.note(lost);
  const isLauncherBroken = lost.launcher !== undefined && !activeJob.hasStarted;
  if (error !== null && isLauncherBroken) await giveUpStarting(activeJob, session, error);
  else if (error !== null) await session.end({ status: 'failed', error });
  else
    await database.write(
      () => addWarnings(database, activeJob.job.jobId, [shortageWarning(lost)]),
      activeJob,
    );
  return { isOver: error !== null, lost };
}

/** No child can be started: the model-day fails with the reason, which ends the job. */
async function giveUpStarting(
  activeJob: ActiveJob,
  session: Session,
  error: string,
): Promise<void> {
  activeJob.cannotStart ??= error;
  await session.end({ status: 'failed', error });
}

/** Ends a session after an error. Rejects with a storage fault, which cannot be recorded now. */
async function endBroken(
  context: WorkerContext,
  session: Session,
  thrown: unknown,
): Promise<AttemptResult> {
  const { modelDay } = session;
  const { log } = context;
  if (thrown instanceof LogMismatch) {
    await session.setAside(thrown);
    log.warning('session set aside', { ...modelDay, reason: thrown.message });
    return { isOver: false, lost: null };
  }
  if (storageFaultOf(thrown) !== null) throw thrown;
  await session.end({ status: 'failed', error: reasonOf(context, modelDay, thrown) });
  return OVER;
}

/**
 * Why a model-day fails that threw, in words; a bug is logged, and the reason refers to the log.
 */
export function reasonOf(
  { log }: Pick<WorkerContext, 'log'>,
  modelDay: ModelDay,
  thrown: unknown,
): string {
  const isKnown = thrown instanceof ServiceError || thrown instanceof TooLarge;
  return isKnown
    ? thrown.message
    : `Internal error (reference ${logUnexpected(log, thrown, { ...modelDay })})`;
}

/**
 * The news as of a model-day's morning, or null without a key. The key stays in this process; no
 * child gets it.
 */
function newsFor(
  { settings, log, limits }: WorkerContext,
  modelDay: ModelDay,
  signal: AbortSignal,
): NewsSearch | null {
  if (settings.jinaApiKey === null) return null;
  const onFailure = (reason: string) => log.warning('news search failed', { ...modelDay, reason });
  return openNews(
    { apiKey: settings.jinaApiKey, baseUrl: settings.jinaBaseUrl, timeoutMs: limits.newsSearchMs },
    { date: modelDay.date, signal, onFailure },
  );
}
