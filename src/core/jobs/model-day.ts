import assert from 'node:assert/strict';
import { timestamp } from '#time/calendar.ts';
import type { ChildLoss, ProcessOutcome } from '#children/channel.ts';
import { launch } from '#children/launch.ts';
import { createMessageHandler } from '#children/child-messages.ts';
import { createTries, shortageWarning } from '#children/places.ts';
import { childNiceness } from '#children/process.ts';
import { addWarnings, readLeftOut } from '#database/job-queries.ts';
import { endModelDay, type ModelDay } from '#database/sessions.ts';
import { findStorageFault } from '#database/storage/faults.ts';
import { sha256 } from '#text/hash.ts';
import { runName } from '#domain/runs.ts';
import { ServiceError } from '#domain/service-error.ts';
import { visibleAscii } from '#network/http-values.ts';
import type { Entry } from '#settings/entry.ts';
import { firstMessages } from '#agent/prompt.ts';
import { asObject, tryParse } from '#json/json.ts';
import { logUnexpected } from '#process/log.ts';
import { TooLarge } from '#money/money.ts';
import { additions, type PastMessage, modelSecrets, type StartMessage } from '#wire/protocol.ts';
import { newsEnd, type NewsSearch, openNews } from '#trading/news.ts';
import { dayTerms } from '#trading/running-day.ts';
import { LogMismatch } from '#trading/reasoning-log.ts';
import { openSession, type TradingSession } from '#trading/session.ts';
import {
  type ActiveJob,
  type ActiveRun,
  type DayContext,
  isStopped,
  type DateContext,
  storeRefusedAdditions,
  type WorkerContext,
} from './active-job.ts';
import type { Database } from '#database/database.ts';
import { costOnDate, hasUnknownCost } from '#database/usage.ts';

/** A sum of costs is exact to a billionth of a dollar: what rounding adds to it is far less. */
const BILLIONTHS_PER_DOLLAR = 1e9;

/**
 * What a family has spent on a date and before it, in dollars; null below its limit. `spentBefore`
 * is summed up once a date: to sum up the whole job for each of its model-days would take longer the
 * larger it is.
 */
export function spentOverLimit(
  database: Database,
  {
    family,
    entry: { max_cost_usd: limit },
  }: { family: string; entry: Pick<Entry, 'max_cost_usd'> },
  { modelDay, spentBefore }: Pick<DayContext, 'modelDay' | 'spentBefore'>,
): number | null {
  const { jobId, date } = modelDay;
  if (limit === null) return null;
  const cost = (spentBefore.get(family) ?? 0) + costOnDate(database, { jobId, date, family });
  const spent = Math.round(cost * BILLIONTHS_PER_DOLLAR) / BILLIONTHS_PER_DOLLAR;
  return spent < limit ? null : spent;
}

/** Warns of an unenforceable limit as soon as the first model-day shows it. */
async function addUnknownCostWarning(
  job: ActiveJob,
  modelDay: ModelDay,
  entry: Entry,
): Promise<void> {
  const { database, settings } = job;
  const { signature, max_cost_usd: limit, kind, price_per_million_tokens: prices } = entry;
  if (limit === null || settings.deploymentMode === 'DEV') return; // DEV costs nothing
  if (!hasUnknownCost(database, modelDay)) return;
  const ofProvider =
    prices === null
      ? 'the provider reports no cost, and the entry has no price_per_million_tokens; set it, or cancel the job'
      : 'the provider reports no tokens';
  const lack = kind === 'agent' ? 'the agent reports no cost' : ofProvider;
  const warning = `max_cost_usd of '${signature}' has no effect, because its cost is unknown: ${lack}`;
  await database.write(() => addWarnings(database, job.jobId, [warning]), job);
}

/**
 * Runs one model-day to its end: completed with its positions, or failed with a reason. Whatever it
 * throws is its own failure: no other model-day, and not the job, ends with it. When the job is
 * stopped meanwhile, or the database cannot be used (then this rejects), the model-day stays as it
 * is, to be resumed where its reasoning log ends.
 */
export async function runModelDay(
  job: ActiveJob,
  dateContext: DateContext,
  modelDay: ModelDay,
): Promise<void> {
  const { database, clock } = job;
  const run = job.runs.get(modelDay.model) ?? assert.fail('a job has a run of each model-day');
  const { entry, model } = run;
  let error: string | null;
  try {
    error =
      findRefusal(job, run, { ...dateContext, modelDay }) ??
      ('error' in model
        ? model.error
        : await runWithRetries({
            ...dateContext,
            ...run,
            job,
            modelDay,
            model: resolveDayModel(job, modelDay, model),
          }));
  } catch (thrown) {
    if (job.signal.aborted || findStorageFault(thrown) !== null) throw thrown;
    error = failureReason(job, modelDay, thrown);
  }
  if (error !== null) {
    const end = { status: 'failed', error, completedAt: timestamp(clock()) } as const;
    await database.write(() => endModelDay(database, modelDay, end), job);
  }
  await addUnknownCostWarning(job, modelDay, entry);
}

/** After so many model-days of a run in a row the key will be refused on the next one too. */
const MAX_KEY_REFUSALS = 2;

function findRefusal(
  job: ActiveJob,
  run: ActiveRun,
  day: Pick<DayContext, 'modelDay' | 'spentBefore'>,
): string | null {
  const { entry, keyRefusals } = run;
  const { model: name } = day.modelDay;
  if (keyRefusals.length >= MAX_KEY_REFUSALS)
    return (
      `Not run: the provider rejected the API key on the previous ${MAX_KEY_REFUSALS} model-days; ` +
      `correct the key, then run these days again. ${keyRefusals.at(-1)}`
    );
  const spent = spentOverLimit(job.database, run, day);
  if (spent !== null)
    return (
      `Cost limit reached: this job has spent $${Number(spent.toPrecision(4))} on '${run.family}', ` +
      `and max_cost_usd is $${entry.max_cost_usd}`
    );
  return entry.tools.includes('search_news') && job.settings.jinaApiKey === null
    ? `Cannot run '${name}': it uses search_news, and JINA_API_KEY is no longer set`
    : null;
}

/** Model with the cache key of the model-day, which nothing else shares. */
function resolveDayModel(
  { database }: ActiveJob,
  { jobId, model: run, date }: ModelDay,
  model: StartMessage['model'],
): StartMessage['model'] {
  if (model.kind !== 'provider') return model;
  const refused = readLeftOut(database, { jobId, model: run });
  return {
    ...model,
    cacheKey: model.cacheKey && sha256(JSON.stringify([jobId, date, run])).toString('hex'),
    leftOut: additions.filter((one) => refused.includes(one)),
  };
}

/**
 * Attempts a model-day until it has ended or the job is stopped, each time in a place among the
 * children that run side by side; after a session that was set aside again, with an empty log.
 * Resolves to why it fails; null when its session has ended it.
 */
async function runWithRetries(day: DayContext): Promise<string | null> {
  const { job, modelDay } = day;
  const { database, log, places } = job;
  const tries = createTries(job.settings.modelDayTimeoutMs, job.limits);
  for (;;) {
    const leave = await places.join();
    let loss: ChildLoss | 'again' | null = 'again';
    try {
      while (loss === 'again' && !isStopped(job)) loss = await runAttempt(day, tries.begin());
    } finally {
      leave(typeof loss === 'object' && loss !== null);
    }
    if (loss === 'again' || loss === null) return null;
    const { hasSentMessage: hasSpoken, error: reason } = loss;
    const fields = { ...modelDay, hasSpoken, reason, sideBySide: places.size };
    log.warning('the machine ended a model process', fields);
    const error = tries.lose(loss);
    if (error !== null) return error;
    const warning = shortageWarning(loss);
    await database.write(() => addWarnings(database, job.jobId, [warning]), job);
    await tries.pause(job.signal);
  }
}

interface Attempt {
  session: TradingSession;
  /** The conversation of an earlier process. */
  past: PastMessage['message'][];
  leftMs: number;
  /** Aborted when the attempt is over, by what ends it. */
  over: AbortController;
}

/**
 * Opens a session, runs its child and ends the session with its outcome. Returns the loss when the
 * machine ended the child; `again` when the reasoning log no longer matches, and is set aside.
 */
async function runAttempt(day: DayContext, leftMs: number): Promise<ChildLoss | 'again' | null> {
  const { job, modelDay, market, universe, documents, entry, keyRefusals } = day;
  const { signal, log } = job;
  const over = new AbortController();
  signal.addEventListener('abort', () => over.abort(signal.reason), { signal: over.signal });
  const session = await openSession(job, modelDay, {
    ...dayTerms(job.agentConfig, entry, modelDay.model),
    market,
    universe,
    documents,
    tokenPrices: entry.price_per_million_tokens,
    news: entry.tools.includes('search_news') ? openDayNews(day, over.signal) : null,
    signal,
  });
  try {
    const past = await session.resume();
    if (entry.agent !== null && past.length > 0)
      throw new LogMismatch('the day of an agent begins again from its opening');
    const outcome = session.decided ?? (await runChild(day, { session, past, leftMs, over }));
    if (signal.aborted) return null;
    over.signal.throwIfAborted();
    if (outcome.status === 'lost') return outcome;
    if (outcome.status === 'failed' && outcome.isKeyRefused) keyRefusals.push(outcome.error);
    else keyRefusals.length = 0;
    const isStarted = outcome.status !== 'cannot_start';
    if (!isStarted) job.startFailure ??= outcome.error; // which ends the job
    await session.end(isStarted ? outcome : { status: 'failed', error: outcome.error });
    return null;
  } catch (error) {
    over.abort(error);
    if (!(error instanceof LogMismatch)) throw error;
    await session.archive(error);
    log.warning('session set aside', { ...modelDay, reason: error.message });
    return 'again';
  } finally {
    session.leave(); // also when the job was stopped: nothing more is written for it
    over.abort();
  }
}

async function runChild(day: DayContext, attempt: Attempt): Promise<ProcessOutcome> {
  const { job, modelDay, entry } = day;
  const { session, past, leftMs, over } = attempt;
  const { settings, log, lifetime, places } = job;
  const { brief, tools } = session;
  const agent = openAgentDay(day, attempt);
  const { model = day.model } = agent ?? {};
  const maxSteps = brief.decision === undefined ? job.agentConfig.max_steps : MAX_DECISION_ANSWERS;
  const start = {
    type: 'start',
    signature: runName(entry.signature, entry.run), // so that it draws the same in every study
    family: entry.signature,
    model,
    maxSteps,
    prompt: entry.prompt,
    brief,
    tools: agent === null ? tools : [], // it reaches them over HTTP
  } as const;
  const niceness = childNiceness(Math.min(places.size, job.runs.size));
  const childEnded = lifetime.childStarted();
  return launch(start, {
    past,
    program: job.agentProgram,
    startChild: (program, rights) => job.startChild(program, { ...rights, niceness }, modelDay),
    timeoutMs: settings.modelDayTimeoutMs,
    leftMs,
    memoryMb: settings.modelDayMemoryMb,
    signal: over.signal,
    onMessage: createMessageHandler(session, {
      answer: agent?.answer,
      log,
      maxSteps: agent === null ? maxSteps : Infinity,
      maxFailures: model.kind === 'provider' ? model.maxRetries + 1 + additions.length : 0,
      onRefused: (refused) => storeRefusedAdditions(day, refused),
    }),
    onStderr: (tail) => log.warning('model process wrote to stderr', { ...modelDay, tail }),
  }).finally(childEnded);
}

/** A model that is asked once has a second chance. */
const MAX_DECISION_ANSWERS = 2;

/**
 * Opens the tools of a session to its agent until the day is over, and adds to its request how it
 * reaches them; null without an agent.
 */
function openAgentDay(
  { job, modelDay: { jobId, model: run, date }, entry, model }: DayContext,
  { session, leftMs, over }: Attempt,
) {
  const { brief } = session;
  if (brief.decision?.by !== 'agent') return null;
  assert(model.kind === 'provider', 'an agent has an endpoint');
  const [message] = firstMessages(brief, entry.prompt);
  const { access, answer } = job.agentDays.open(session, {
    body: asObject(tryParse(message?.content ?? '')) ?? {},
    maxToolCalls: brief.decision.maxToolCalls,
    expiresAt: new Date(job.clock().getTime() + leftMs),
    secrets: modelSecrets(model),
    over,
  });
  return {
    answer,
    model: {
      ...model,
      parameters: { day: access },
      idempotencyKey: visibleAscii(`${jobId}:${run}:${date}`),
      secrets: [...(model.secrets ?? []), access.token],
    },
  };
}

/**
 * Why a model-day fails that threw, in words; a bug is logged, and the reason refers to the log.
 */
function failureReason({ log }: WorkerContext, modelDay: ModelDay, thrown: unknown): string {
  if (thrown instanceof ServiceError || thrown instanceof TooLarge) return thrown.message;
  return `Internal error (reference ${logUnexpected(log, thrown, { ...modelDay })})`;
}

/**
 * The news as of a model-day's morning, or null without a key. The key stays in this process; no
 * child gets it.
 */
function openDayNews({ job, modelDay }: DayContext, signal: AbortSignal): NewsSearch | null {
  const { settings, log, limits } = job;
  const { jinaApiKey: apiKey, jinaBaseUrl: baseUrl } = settings;
  if (apiKey === null) return null;
  const onFailure = (reason: string) => log.warning('news search failed', { ...modelDay, reason });
  const provider = { apiKey, baseUrl, timeoutMs: limits.newsSearchMs };
  const date = newsEnd(job.agentConfig.market, modelDay.date);
  return openNews(provider, { date, signal, onFailure });
}
