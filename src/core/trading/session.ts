import { addWarnings } from '#database/job-queries.ts';
import { setImmediate as nextRound } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { WORDING } from '#agent/prompt.ts';
import { timestamp } from '#time/calendar.ts';
import { closingMarks } from '#database/evidence.ts';
import {
  appendMessages,
  commitSession,
  endModelDay,
  type LogMessage,
  type ModelDay,
  archiveSession,
} from '#database/sessions.ts';
import { numberedWrite } from '#database/price-writes.ts';
import { addUsage, type Usage } from '#database/usage.ts';
import type {
  Answer,
  Outcome,
  PastMessage,
  TokenUsage,
  ToolCall,
  ToolMessage,
  ToolResults,
} from '#wire/protocol.ts';
import { cutText } from '#text/text.ts';
import { type OpenedSession, beginSession, type SessionContext, type StartTerms } from './start.ts';
import { gatherEvidence, buildPositions } from './commit.ts';
import { answerCost, type TokenPrices } from './answer-cost.ts';
import { decide } from './decision.ts';
import {
  startTradingDay,
  callTool,
  computeDayEnd,
  enterAnswer,
  knownMarket,
  MAX_TOOL_NAME_LENGTH,
  type RunningDay,
  type DayTerms,
} from './running-day.ts';
import type { Action } from './portfolio.ts';
import {
  answerMessages,
  FILLS_MESSAGE,
  messagesBeforeAnswer,
  LogMismatch,
  type RecordedStep,
  resultMessage,
  readSteps,
} from './reasoning-log.ts';
import { DECISION, toolDescriptions } from './tools.ts';
import { createBrief, describePortfolio } from './trading-day.ts';

const UNKNOWN_TOKENS = {
  promptTokens: null,
  completionTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
};

/** What a call of an agent has used, which is made without asking it: its report may say that later. */
const NO_USAGE: TokenUsage = { ...UNKNOWN_TOKENS, cacheWriteTokens: null };
const EMPTY_ANSWER = {
  type: 'answer',
  content: '',
  reasoning: null,
  note: null,
  usage: NO_USAGE,
} as const;

/**
 * A running model-day in the parent: the ledger in memory, the conversation in the database.
 * Everything that can happen to it is a method; nothing else changes it. What a method writes is
 * committed when it resolves.
 */
export type TradingSession = Awaited<ReturnType<typeof openSession>>;

type Prompt = readonly Pick<LogMessage, 'role' | 'content'>[];

interface SessionOptions extends DayTerms, StartTerms {
  tokenPrices: TokenPrices;
  /** Aborted when the job is stopped; after that nothing more is written for the session. */
  signal?: AbortSignal;
}

interface SessionState extends SessionContext, SessionOptions, OpenedSession {
  readonly modelDay: ModelDay;
  readonly day: RunningDay;
  steps: number;
  messageCount: number;
  hasEnded: boolean;
  decided: Outcome | null;
  /** Resolved once the prompt is logged, or the session has ended. */
  readonly prompted: PromiseWithResolvers<void>;
}

/**
 * Starts a model-day, or resumes the session that an ended process left running. Its row is
 * committed when this resolves.
 */
export async function openSession(
  context: SessionContext,
  modelDay: ModelDay,
  options: SessionOptions,
) {
  const state = await context.database.write(
    () => createState(context, modelDay, options),
    options,
  );
  return {
    modelDay,
    brief: createBrief(state.day),
    tools: state.day.decider?.by === 'one_answer' ? [DECISION] : toolDescriptions(state.day),
    actions: state.day.actions as readonly Action[],
    /** Answers so far, replayed ones included. */
    get steps() {
      return state.steps;
    },
    /** How a decision has ended the day, if one has. */
    get decided() {
      return state.decided;
    },
    /**
     * Replays what an earlier process of this model-day logged. Returns the conversation so far,
     * for the child to continue from; empty for a new session. Rejects with a `LogMismatch` when a
     * result differs from the log.
     */
    resume: () => replayLog(state),
    /**
     * Logs the prompt; a resumed session rejects with a `LogMismatch` when its prompt has changed.
     */
    prompt: (messages: Prompt) => takePrompt(state, messages),
    /**
     * Takes one answer of the model. The answer and its cost are logged before anything is done
     * with it; then its tool calls run one after another in order, and their results are logged
     * before they are returned.
     */
    answer: (answer: Answer) => takeAnswer(state, answer),
    portfolio() {
      const { portfolioValue: value, ...rest } = describePortfolio(state.day);
      return { ...rest, value };
    },
    /**
     * Runs one call of an agent, which makes it over HTTP before its answer, and perhaps before its
     * prompt has come over the pipe: then it waits. Null once the session has ended.
     */
    async call(call: ToolCall) {
      await state.prompted.promise;
      if (state.hasEnded) return null;
      const { results } = await takeAnswer(state, { ...EMPTY_ANSWER, toolCalls: [call] });
      return state.hasEnded ? null : (results[0]?.content ?? null);
    },
    /**
     * Counts a request that the provider did not answer, with the tokens that it reports all the
     * same.
     */
    countFailedRequest: (usage: TokenUsage | null) => countFailedRequest(state, usage),
    /**
     * Ends the model-day. Finished: its positions are marked at the session date's close, and
     * everything is committed in one transaction. Failed: its log is kept, and it has no positions.
     */
    end: (outcome: Outcome) => endSession(state, () => writeEnd(state, outcome)),
    /**
     * Ends the session because its log cannot be resumed; the model-day then starts over with a new
     * session.
     */
    archive: ({ reason: error }: LogMismatch) =>
      endSession(state, () => {
        const completedAt = timestamp(context.clock());
        archiveSession(context.database, state.sessionId, { error, completedAt });
      }),
    /**
     * Leaves the session as it is, to be resumed later. Results of slow tools that arrive later are
     * dropped.
     */
    leave: () => markEnded(state),
  };
}

function createState(
  context: SessionContext,
  modelDay: ModelDay,
  options: SessionOptions,
): SessionState {
  const market = knownMarket(options);
  const opened = beginSession(context, modelDay, { ...options, market });
  return {
    ...context,
    ...options,
    ...opened,
    modelDay,
    day: startTradingDay(options, opened),
    steps: 0,
    messageCount: messagesBeforeAnswer(opened.log).length,
    hasEnded: false,
    decided: null,
    prompted: Promise.withResolvers(),
  };
}

async function replayLog(state: SessionState): Promise<PastMessage['message'][]> {
  const past: PastMessage['message'][] = [];
  for (const step of readSteps(state.log)) {
    const { content, toolCalls, note, carried } = step.answer;
    const { results, again } = await takeAnswer(state, step.answer, step);
    past.push({ role: 'assistant', content, toolCalls, note, carried }, ...results);
    if (again !== undefined) past.push({ role: 'user', content: again });
  }
  return past;
}

async function takePrompt(state: SessionState, prompt: Prompt): Promise<void> {
  if (state.log.length === 0) {
    await appendLog(state, prompt);
    return state.prompted.resolve();
  }
  const logged = messagesBeforeAnswer(state.log).map(({ role, content }) => ({ role, content }));
  if (!isDeepStrictEqual(logged, prompt)) throw new LogMismatch('the prompt has changed');
  state.prompted.resolve();
}

/**
 * Runs one step, live or, with `recorded`, replayed: replay compares with the log instead of
 * writing to it.
 */
async function takeAnswer(
  state: SessionState,
  said: Answer,
  recorded?: RecordedStep,
): Promise<ToolResults> {
  state.steps += 1;
  const decided = decide(state.day.decider, said, state.steps === 1);
  const { again, end: outcome = null } = decided ?? {};
  const answer = recorded === undefined && decided ? { ...said, toolCalls: decided.calls } : said;
  enterAnswer(state.day, answer, state.messageCount);
  await appendLog(state, answerMessages(answer), requestUsage(state, answer.usage, 1));
  const results: ToolMessage[] = [];
  const messages: LogMessage[] = [];
  for (const [index, call] of answer.toolCalls.entries()) {
    if (index > 0) await nextRound(); // other requests are answered between calls
    if (state.hasEnded) break; // while a slow tool was running
    const before = recorded?.results[index];
    const at = { index: state.messageCount + index, recorded: before, fault: answer.fault };
    const result = await callTool(state.day, call, at);
    if (before !== undefined && result.content !== before)
      throw new LogMismatch(
        `${cutText(call.name, MAX_TOOL_NAME_LENGTH)} in step ${state.steps} does not return what it did`,
      );
    results.push(result);
    messages.push(resultMessage(call, result));
  }
  if (again !== undefined) messages.push({ role: 'user', content: again });
  if (messages.length > 0 && !state.hasEnded) await appendLog(state, messages);
  if (decided !== null) {
    state.day.confidence = decided.confidence;
    state.day.isUnread = decided.isUnread ?? false;
    state.decided = outcome;
  }
  return {
    type: 'tool_results',
    // The calls that carry out a decision are not those of its child.
    results: decided ? [] : results,
    ...(again !== undefined && { again }),
    ...(outcome !== null && { end: outcome }),
  };
}

/**
 * Appends to the reasoning log, and counts, what an earlier process has not. Nothing is logged
 * after the end, but the cost of an answer is still counted.
 */
async function appendLog(
  state: SessionState,
  messages: readonly LogMessage[],
  usage?: Usage,
): Promise<void> {
  const { database, clock, sessionId, modelDay } = state;
  if (state.messageCount < state.log.length) return void (state.messageCount += messages.length);
  const logged = await database.write(() => {
    if (usage !== undefined) addUsage(database, modelDay, usage);
    if (state.hasEnded) return 0;
    const firstIndex = state.messageCount;
    appendMessages(database, sessionId, { firstIndex, messages, timestamp: timestamp(clock()) });
    return messages.length;
  }, state);
  state.messageCount += logged;
}

/**
 * What one request adds: an answer is a step, and so is a call that an agent makes without a
 * request.
 */
function requestUsage({ tokenPrices }: SessionState, used: TokenUsage | null, steps: 0 | 1): Usage {
  const costUsd = answerCost(used, tokenPrices);
  return { steps, requests: used === NO_USAGE ? 0 : 1, ...(used ?? UNKNOWN_TOKENS), costUsd };
}

function countFailedRequest(state: SessionState, used: TokenUsage | null): Promise<void> {
  const { database, modelDay } = state;
  const usage = requestUsage(state, used, 0);
  return database.write(() => addUsage(database, modelDay, usage), state);
}

/** The only way in which a session ends, in one transaction. */
function endSession(state: SessionState, write: () => void): Promise<void> {
  markEnded(state);
  return state.database.write(write, state);
}

function markEnded(state: SessionState): void {
  state.hasEnded = true;
  state.prompted.resolve();
}

function writeEnd(state: SessionState, outcome: Outcome): void {
  const { database, modelDay, sessionId, steps, messageCount: firstIndex, day } = state;
  const completedAt = timestamp(state.clock());
  if (outcome.status === 'failed')
    return endModelDay(database, modelDay, { ...outcome, completedAt });
  const commitWrite = numberedWrite(database);
  const atCommit = { reader: database, write: commitWrite };
  const { actions, portfolio, decisions, unfilled, fills } = computeDayEnd(day);
  const messages: LogMessage[] =
    fills === null ? [] : [{ role: 'tool', toolName: FILLS_MESSAGE, content: fills }];
  appendMessages(database, sessionId, { firstIndex, messages, timestamp: completedAt });
  const totalMessages = firstIndex + messages.length;
  const evidence = gatherEvidence(atCommit, { ...state, actions, portfolio });
  const positions = buildPositions({ ...state, actions, portfolio }, closingMarks(evidence));
  commitSession(
    database,
    { ...modelDay, sessionId, steps, totalMessages },
    {
      positions,
      decisions,
      evidence,
      toolUsage: [...day.toolUsage.values()],
      summary: outcome.summary,
      note: day.currentNote,
      confidence: day.confidence,
      isUnread: day.isUnread,
      documents: day.documents,
      unfilled,
      wording: WORDING,
      commitWrite,
      completedAt,
    },
  );
  addWarnings(database, modelDay.jobId, day.lost); // once for all models, which hold them together
}
