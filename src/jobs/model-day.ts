import assert from 'node:assert/strict';
import { timestamp } from '../basics/calendar.ts';
import type { Lost } from '../children/channel.ts';
import { launch } from '../children/launch.ts';
import { handleMessages } from '../children/child-messages.ts';
import { createTries, shortageWarning, type Tries } from '../children/places.ts';
import { childNiceness } from '../children/process.ts';
import { addWarnings, leftOutOf } from '../database/jobs.ts';
import { endModelDay, type ModelDay } from '../database/sessions.ts';
import { storageFaultOf } from '../database/storage/faults.ts';
import { sha256 } from '../basics/hash.ts';
import { ServiceError } from '../basics/domain.ts';
import { visibleAscii } from '../basics/http-values.ts';
import type { Entry } from '../basics/entry.ts';
import { firstMessages } from '../agent/prompt.ts';
import { asObject, tryParse } from '../basics/json.ts';
import { logUnexpected } from '../basics/log.ts';
import { TooLarge } from '../basics/money.ts';
import { additions, secretsOf, type Start } from '../wire/protocol.ts';
import type { Counted } from '../trading/documents.ts';
import type { Market } from '../trading/market.ts';
import { type NewsSearch, openNews } from '../trading/news.ts';
import { dayTermsOf } from '../trading/running-day.ts';
import { LogMismatch } from '../trading/reasoning-log.ts';
import { openSession, type Session } from '../trading/session.ts';
import {
  type ActiveJob,
  isStopped,
  keyRefusalOf,
  noteKeyRefusal,
  noteRefused,
  type WorkerContext,
} from './active-job.ts';
import { resolveModel } from './entries.ts';
import type { Database } from '../database/database.ts';
import { costOnDate, hasUnknownCost } from '../database/usage.ts';

/**
 * The cost limits of one job's models: whether a family has reached its limit, and why a limit
 * cannot be enforced.
 */

/** A sum of costs is exact to a billionth of a dollar: what rounding adds to it is far less. */
const PER_DOLLAR = 1e9;

/**
 * Whether a family has spent its limit on a date or before it. `spentBefore` is summed up once a
 * date: to sum up the whole job for each of its model-days would take longer the larger it is.
 */
export function isOverCostLimit(
  database: Database,
  { signature: family, max_cost_usd: limit }: Pick<Entry, 'signature' | 'max_cost_usd'>,
  { modelDay, spentBefore }: Pick<Next, 'modelDay' | 'spentBefore'>,
): boolean {
  const { jobId, date } = modelDay;
  if (limit === null) return false;
  const cost = (spentBefore.get(family) ?? 0) + costOnDate(database, { jobId, date, family });
  return Math.round(cost * PER_DOLLAR) / PER_DOLLAR >= limit;
}

/** Whether its answers may have a cost: agents report theirs, tokens need a price. */
function mayHaveCost({ kind, price_per_million_tokens: prices }: Entry): boolean {
  return kind === 'agent' || prices !== null;
}

/** A sentence for each limit that cannot be enforced because its model's tokens have no price. */
export function costWarnings({ entries }: Pick<ActiveJob, 'entries'>): string[] {
  const unpriced = [...entries.values()].filter(
    (entry) => entry.max_cost_usd !== null && !mayHaveCost(entry),
  );
  const families = new Set(unpriced.map(({ signature }) => signature));
  return [...families].map(
    (family) =>
      `The cost limit of '${family}' cannot be enforced: its entry has no price_per_million_tokens`,
  );
}

/** Warns of an unenforceable limit as soon as the first model-day shows it. */
async function warnOfUnknownCost(
  { database }: WorkerContext,
  { job, entries, signal }: ActiveJob,
  modelDay: ModelDay,
): Promise<void> {
  const entry = entries.get(modelDay.model);
  if (entry === undefined || entry.max_cost_usd === null || !mayHaveCost(entry)) return;
  if (!hasUnknownCost(database, modelDay)) return;
  const lack =
    entry.kind === 'agent'
      ? 'its agent does not report what it costs'
      : 'its provider does not report how many tokens it uses';
  const warning = `The cost limit of '${entry.signature}' cannot be enforced: ${lack}`;
  await database.write(() => addWarnings(database, job.jobId, [warning]), { signal });
}

interface Next {
  modelDay: ModelDay;
  market: Market;
  /** Those of its universe, as of its morning. */
  documents: Counted;
  /** What may be bought on its date. */
  universe: ReadonlySet<string>;
  /** What each family has cost on the dates before. */
  spentBefore: Map<string, number>;
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
  const { database, clock } = context;
  const { modelDay } = next;
  let error: string | null;
  try {
    error = await runToEnd(context, activeJob, next);
  } catch (thrown) {
    if (activeJob.signal.aborted || storageFaultOf(thrown) !== null) throw thrown;
    error = reasonOf(context, modelDay, thrown);
  }
  if (error !== null) {
    const end = { status: 'failed', error, completedAt: timestamp(clock()) } as const;
    await database.write(() => endModelDay(database, modelDay, end), activeJob);
  }
  await warnOfUnknownCost(context, activeJob, modelDay);
}

/** What a run asks, and the source of its answers; an error when it cannot run. */
function resolve(
  context: WorkerContext,
  activeJob: ActiveJob,
  next: Next,
): { entry: Entry; model: Start['model'] } | { error: string } {
  const { modelDay } = next;
  const { jobId, model: name, date } = modelDay;
  const entry = activeJob.entries.get(name);
  assert(entry, 'each run of a job has an entry');
  const refusal = keyRefusalOf(activeJob, name);
  if (refusal !== null) return { error: refusal };
  if (isOverCostLimit(context.database, entry, next)) return { error: 'Cost limit reached' };
  if (entry.tools.includes('search_news') && context.settings.jinaApiKey === null)
    return {
      error: `Model '${name}' was offered search_news, whose key JINA_API_KEY is no longer set`,
    };
  const sources = { ...context, ...activeJob, agentConfig: activeJob.job.agentConfig };
  const cacheKey = sha256(JSON.stringify([jobId, date, name])).toString('hex');
  const refused = leftOutOf(context.database, modelDay);
  const leftOut = additions.filter((one) => refused.includes(one));
  const model = resolveModel(entry, sources, { cacheKey, leftOut });
  return 'error' in model ? model : { entry, model };
}

/**
 * Attempts a model-day until it has ended or the job is stopped, each time in a place among the
 * children that run side by side. Resolves to why it fails; null when its session has ended it.
 */
async function runToEnd(
  context: WorkerContext,
  activeJob: ActiveJob,
  next: Next,
): Promise<string | null> {
  const { database, log, limits, settings } = context;
  const { places, signal, job } = activeJob;
  const { modelDay } = next;
  const resolved = resolve(context, activeJob, next);
  if ('error' in resolved) return resolved.error;
  const tries = createTries(settings.modelDayTimeoutMs, limits);
  for (;;) {
    const leave = await places.join();
    let lost: Lost | null = null;
    try {
      if (!isStopped(activeJob))
        lost = await attempt(context, activeJob, { ...next, ...resolved, tries });
    } finally {
      leave(lost !== null);
    }
    if (lost === null) return null;
    const { hasSpoken, error: reason } = lost;
    const fields = { ...modelDay, hasSpoken, reason, sideBySide: places.size };
    log.warning('the machine ended a model process', fields);
    const error = tries.lose(lost);
    if (error !== null) return error;
    const warning = shortageWarning(lost);
    await database.write(() => addWarnings(database, job.jobId, [warning]), activeJob);
    await tries.pause(signal);
  }
}

/** The model-day to attempt, and its model. */
interface Attempted extends Next {
  model: Start['model'];
  /** What ran. */
  entry: Entry;
  tries: Tries;
}

/**
 * One attempt; a reasoning log that no longer matches is set aside, and the model-day starts over.
 * Returns the loss when the machine ended the child, otherwise null.
 */
async function attempt(
  context: WorkerContext,
  activeJob: ActiveJob,
  attempted: Attempted,
): Promise<Lost | null> {
  const { modelDay, market, universe, documents, entry, tries } = attempted;
  const { job, signal } = activeJob;
  const leftMs = tries.begin();
  const over = new AbortController();
  signal.addEventListener('abort', () => over.abort(signal.reason), {
    signal: over.signal,
  });
  const options = {
    ...dayTermsOf(job.agentConfig, entry, modelDay.model),
    market,
    universe,
    tokenPrices: entry.price_per_million_tokens,
    documents,
    news: entry.tools.includes('search_news') ? newsFor(context, modelDay, over.signal) : null,
    signal,
  };
  const session = await openSession(context, modelDay, options);
  try {
    return await trade(context, activeJob, { ...attempted, session, leftMs, over });
  } catch (error) {
    over.abort(error);
    if (!(error instanceof LogMismatch)) throw error;
    await session.setAside(error);
    context.log.warning('session set aside', { ...modelDay, reason: error.message });
  } finally {
    session.leave(); // also when the job was stopped: nothing more is written for it
    over.abort();
  }
  return attempt(context, activeJob, attempted); // in a new session, whose log is empty
}

/** An attempt whose session is open. */
interface RunningDay {
  session: Session;
  leftMs: number;
  /** Aborted when the attempt is over, by what ends it. */
  over: AbortController;
}

/**
 * Runs the child of a session and ends the session with its outcome. Returns the loss when the
 * machine ended the child, otherwise null.
 */
async function trade(
  context: WorkerContext,
  activeJob: ActiveJob,
  running: Attempted & RunningDay,
): Promise<Lost | null> {
  const { session, model, entry, leftMs, over } = running;
  const { job, signal, lifetime, places } = activeJob;
  const { modelDay, brief, tools } = session;
  const { settings, log } = context;
  const past = await session.resume();
  if (entry.agent !== null && past.length > 0)
    throw new LogMismatch('the day of an agent begins again from its opening');
  if (session.decided !== null) {
    await session.end(session.decided);
    return null;
  }
  const agent = openAgentDay(context, running);
  const maxSteps = brief.decision === undefined ? job.agentConfig.max_steps : ANSWERS_OF_DECISION;
  const start = {
    type: 'start',
    signature: modelDay.model,
    family: entry.signature,
    model: agent === null ? model : withDay(model, modelDay, agent.access),
    maxSteps,
    prompt: entry.prompt,
    brief,
    tools: agent === null ? tools : [], // it reaches them over HTTP
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
    signal: over.signal,
    onMessage: handleMessages(session, {
      answer: agent?.answer,
      log,
      maxSteps: agent === null ? maxSteps : Infinity,
      maxFailures,
      onRefused: (refused) => noteRefused(context, activeJob, modelDay, refused),
    }),
    onStderr: (tail) => log.warning('model process wrote to stderr', { ...modelDay, tail }),
  }).finally(childEnded);
  if (signal.aborted) return null;
  over.signal.throwIfAborted();
  if (outcome.status === 'lost') return outcome;
  noteKeyRefusal(activeJob, modelDay.model, outcome);
  const isStarted = outcome.status !== 'cannot_start';
  if (!isStarted) activeJob.cannotStart ??= outcome.error; // which ends the job
  await session.end(isStarted ? outcome : { status: 'failed', error: outcome.error });
  return null;
}

/** A model that is asked once has a second chance. */
const ANSWERS_OF_DECISION = 2;

/** Opens the tools of a session to its agent, until the day is over; null without an agent. */
function openAgentDay(
  { agentDays, clock }: WorkerContext,
  { session, entry, model, leftMs, over }: Attempted & RunningDay,
) {
  const { brief } = session;
  if (brief.decision?.by !== 'agent') return null;
  const [message] = firstMessages(brief, entry.prompt);
  return agentDays.open(session, {
    body: asObject(tryParse(message?.content ?? '')) ?? {},
    maxToolCalls: brief.decision.maxToolCalls,
    expiresAt: new Date(clock().getTime() + leftMs),
    secrets: secretsOf(model),
    over,
  });
}

/** An agent's endpoint with what this model-day adds to the request. */
function withDay(
  model: Start['model'],
  { jobId, model: run, date }: ModelDay,
  access: { token: string },
): Start['model'] {
  assert(model.kind === 'provider', 'an agent has an endpoint');
  return {
    ...model,
    parameters: { day: access },
    idempotencyKey: visibleAscii(`${jobId}:${run}:${date}`),
    secrets: [...(model.secrets ?? []), access.token],
  };
}

/**
 * Why a model-day fails that threw, in words; a bug is logged, and the reason refers to the log.
 */
function reasonOf({ log }: WorkerContext, modelDay: ModelDay, thrown: unknown): string {
  if (thrown instanceof ServiceError || thrown instanceof TooLarge) return thrown.message;
  return `Internal error (reference ${logUnexpected(log, thrown, { ...modelDay })})`;
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
  const { jinaApiKey: apiKey, jinaBaseUrl: baseUrl } = settings;
  if (apiKey === null) return null;
  const onFailure = (reason: string) => log.warning('news search failed', { ...modelDay, reason });
  const provider = { apiKey, baseUrl, timeoutMs: limits.newsSearchMs };
  return openNews(provider, { date: modelDay.date, signal, onFailure });
}
