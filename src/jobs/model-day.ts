import assert from 'node:assert/strict';
import { timestamp } from '../basics/calendar.ts';
import type { Lost } from '../children/channel.ts';
import { launch } from '../children/launch.ts';
import { handleMessages } from '../children/child-messages.ts';
import { createTries, shortageWarning, type Tries } from '../children/places.ts';
import { childNiceness } from '../children/process.ts';
import { addWarnings } from '../database/jobs.ts';
import { endModelDay, type ModelDay } from '../database/sessions.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { sha256 } from '../basics/hash.ts';
import { ServiceError } from '../basics/domain.ts';
import type { Entry } from '../basics/entry.ts';
import { logUnexpected } from '../basics/log.ts';
import { fromDollars, TooLarge } from '../basics/money.ts';
import { additions, type Start } from '../wire/protocol.ts';
import type { Market } from '../trading/market.ts';
import { type NewsSearch, openNews } from '../trading/news.ts';
import { tradingCostsOf } from '../trading/portfolio.ts';
import { LogMismatch } from '../trading/reasoning-log.ts';
import { openSession, type Session } from '../trading/session.ts';
import {
  type ActiveJob,
  keyRefusalOf,
  noteKeyRefusal,
  noteRefused,
  type WorkerContext,
} from './active-job.ts';
import { COST_LIMIT_REACHED, isOverCostLimit, warnOfUnknownCost } from './cost-limits.ts';
import { resolveModel } from './endpoint.ts';

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
    tries: createTries(context.settings.modelDayTimeoutMs, context.limits),
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
  const { places, signal } = activeJob;
  for (;;) {
    const leave = await places.join();
    let result = OVER;
    try {
      if (!signal.aborted && activeJob.cannotStart === null)
        result = await attempt(context, activeJob, attempted);
    } finally {
      leave(result.lost !== null);
    }
    const { isOver, lost } = result;
    if (lost !== null) {
      const { hasSpoken, error: reason } = lost;
      const fields = { ...attempted.modelDay, hasSpoken, reason, sideBySide: places.size };
      context.log.warning('the machine ended a model process', fields);
    }
    if (isOver) return;
    if (lost !== null) await attempted.tries.pause(signal);
  }
}

/** The model-day to attempt, and its model. */
interface Attempted {
  modelDay: ModelDay;
  market: Market;
  model: Start['model'];
  /** What ran. */
  entry: Entry;
  tries: Tries;
}

/** The result of one attempt. */
interface AttemptResult {
  /** Whether the model-day has ended; otherwise it is attempted again. */
  isOver: boolean;
  /** Set when the machine caused the child's end. */
  lost: Lost | null;
}

const OVER: AttemptResult = { isOver: true, lost: null };

/**
 * One attempt. The model-day has not ended if its reasoning log no longer matches, or if its child
 * was lost and may be restarted.
 */
async function attempt(
  context: WorkerContext,
  activeJob: ActiveJob,
  { modelDay, market, model, entry, tries }: Attempted,
): Promise<AttemptResult> {
  const { job, universe, signal } = activeJob;
  const leftMs = tries.begin();
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
  const session = await openSession(context, modelDay, options);
  try {
    const lost = await trade(context, activeJob, { session, model, entry, leftMs });
    return lost === null ? OVER : await takeLoss(context, activeJob, { session, lost, tries });
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
    leftMs,
  }: Pick<Attempted, 'model' | 'entry'> & { session: Session; leftMs: number },
): Promise<Lost | null> {
  const { job, signal, lifetime, places } = activeJob;
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
  const niceness = childNiceness(Math.min(places.size, job.runs.length));
  const childEnded = lifetime.childStarted();
  const outcome = await launch(start, {
    past,
    program: context.agentProgram,
    startChild: (program, rights) => context.startChild(program, { ...rights, niceness }, modelDay),
    timeoutMs: settings.modelDayTimeoutMs,
    leftMs,
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
  { session, lost, tries }: { session: Session; lost: Lost; tries: Tries },
): Promise<AttemptResult> {
  const error = tries.lose(lost);
  if (error !== null) await session.end({ status: 'failed', error });
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
function reasonOf(
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
