import { WORDING } from '../agent/prompt.ts';
import { timestamp } from '../basics/calendar.ts';
import { storeShown } from '../database/documents.ts';
import { marksIn } from '../database/evidence.ts';
import {
  appendMessages,
  commitSession,
  endModelDay,
  type LogMessage,
  type ModelDay,
  setAside,
} from '../database/sessions.ts';
import { numberedWrite } from '../database/price-writes.ts';
import { addUsage, type Usage } from '../database/usage.ts';
import type { Money } from '../basics/money.ts';
import type {
  Answer,
  Brief,
  Outcome,
  PastMessage,
  TokenUsage,
  ToolCall,
  ToolDescription,
  ToolResults,
} from '../wire/protocol.ts';
import { cutText } from '../basics/text.ts';
import {
  type Beginning,
  beginSession,
  type SessionContext,
  gatherEvidence,
  positionsOf,
} from './start.ts';
import type { Market } from './market.ts';
import type { NewsSearch } from './news.ts';
import {
  beginPlay,
  callTool,
  endOfDay,
  knownMarket,
  MAX_TOOL_NAME_LENGTH,
  type Play,
} from './running-day.ts';
import type { OrderTerms } from './orders.ts';
import type { Action } from './portfolio.ts';
import {
  answerMessages,
  FILLS,
  firstMessagesIn,
  LogMismatch,
  type RecordedStep,
  resultMessage,
  stepsIn,
} from './reasoning-log.ts';
import { toolDescriptions } from './tools.ts';
import { briefOf } from './trading-day.ts';

/**
 * Dollars per million tokens. Cached input costs the same as input unless it has a price of its
 * own.
 */
interface TokenPrices {
  input: number;
  output: number;
  cached_input?: number | null | undefined;
  /**
   * What is written to a provider's cache; 1.25 times the input if left out, as Anthropic charges.
   */
  cache_write?: number | null | undefined;
}

const CACHE_WRITE_FACTOR = 1.25;

/** The cost of one answer, in dollars; null when its tokens or the prices are unknown. */
export function costOf(usage: TokenUsage | null, prices: TokenPrices | null): number | null {
  if (
    usage === null ||
    prices === null ||
    usage.promptTokens === null ||
    usage.completionTokens === null
  )
    return null;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached);
  const ofCache =
    cached * (prices.cached_input ?? prices.input) +
    written * (prices.cache_write ?? prices.input * CACHE_WRITE_FACTOR);
  const input = (usage.promptTokens - cached - written) * prices.input + ofCache;
  return (input + usage.completionTokens * prices.output) / 1_000_000;
}

const UNKNOWN_TOKENS = {
  promptTokens: null,
  completionTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
};

/**
 * A running model-day in the parent: the ledger in memory, the conversation in the database.
 * Everything that can happen to it is a method; nothing else changes it. What a method writes is
 * committed when it resolves.
 */
export interface Session {
  readonly modelDay: ModelDay;
  /** What the model reads in the morning. */
  readonly brief: Brief;
  readonly tools: ToolDescription[];
  /** The ledger so far. */
  readonly actions: readonly Action[];
  /** Answers so far, replayed ones included. */
  readonly steps: number;
  /**
   * Replays what an earlier process of this model-day logged. Returns the conversation so far, for
   * the child to continue from; empty for a new session. Rejects with a `LogMismatch` when a result
   * differs from the log.
   */
  resume(): Promise<PastMessage['message'][]>;
  /**
   * Logs the prompt; a resumed session rejects with a `LogMismatch` when its prompt has changed.
   */
  prompt(messages: Prompt): Promise<void>;
  /**
   * Takes one answer of the model. The answer and its cost are logged before anything is done with
   * it; then its tool calls run one after another in order, and their results are logged before
   * they are returned.
   */
  answer(answer: Answer): Promise<ToolResults>;
  /**
   * Counts a request that the provider did not answer, with the tokens that it reports all the
   * same.
   */
  countFailedRequest(usage?: TokenUsage | null): Promise<void>;
  /**
   * Ends the model-day. Finished: its positions are marked at the session date's close, and
   * everything is committed in one transaction. Failed: its log is kept, and it has no positions.
   */
  end(outcome: Outcome): Promise<void>;
  /**
   * Ends the session because its log cannot be resumed; the model-day then starts over with a new
   * session.
   */
  setAside(mismatch: LogMismatch): Promise<void>;
  /**
   * Leaves the session as it is, to be resumed later. Results of slow tools that arrive later are
   * dropped.
   */
  leave(): void;
}

type Prompt = readonly Pick<LogMessage, 'role' | 'content'>[];

interface SessionOptions extends OrderTerms {
  market: Market;
  universe: ReadonlySet<string>;
  initialCash: Money;
  /** Whether dividends of what it holds are paid. */
  paysDividends: boolean;
  /** What the model's tokens cost; null when unknown. */
  tokenPrices: TokenPrices | null;
  news: NewsSearch | null;
  /** The names of the tools that the entry is offered; all when left out. */
  offered?: readonly string[];
  /** Whether the model may keep a note; its note is carried on in any case. */
  hasNotes?: boolean;
  /** Aborted when the job is stopped; after that nothing more is written for the session. */
  signal?: AbortSignal;
}

/** The state of a session, private to this file. */
interface State extends SessionContext, SessionOptions, Beginning {
  readonly modelDay: ModelDay;
  readonly play: Play;
  steps: number;
  messageCount: number;
  hasEnded: boolean;
}

/**
 * Starts a model-day, or resumes the session that an ended process left running. Its row is
 * committed when this resolves.
 */
export async function openSession(
  context: SessionContext,
  modelDay: ModelDay,
  options: SessionOptions,
): Promise<Session> {
  const state = await context.database.write(() => begin(context, modelDay, options), options);
  return {
    modelDay,
    brief: briefOf(state.play),
    tools: toolDescriptions(state.play),
    actions: state.play.actions,
    get steps() {
      return state.steps;
    },
    resume: () => replay(state),
    prompt: (messages) => takePrompt(state, messages),
    answer: (answer) => takeAnswer(state, answer),
    countFailedRequest: (usage = null) => countFailedRequest(state, usage),
    end: (outcome) => end(state, () => writeEnd(state, outcome)),
    setAside: (mismatch) => end(state, () => writeSetAside(state, mismatch)),
    leave: () => void (state.hasEnded = true),
  };
}

function begin(context: SessionContext, modelDay: ModelDay, options: SessionOptions): State {
  const market = knownMarket(options);
  const beginning = beginSession(context, modelDay, { ...options, market });
  return {
    ...context,
    ...options,
    ...beginning,
    modelDay,
    play: beginPlay(options, beginning),
    steps: 0,
    messageCount: beginning.log.length,
    hasEnded: false,
  };
}

async function replay(state: State): Promise<PastMessage['message'][]> {
  const past: PastMessage['message'][] = [];
  for (const step of stepsIn(state.log)) {
    const { content, toolCalls, note, carried } = step.answer;
    const { results } = await takeAnswer(state, step.answer, step);
    const heard = results.map((result) => ({ role: 'tool', ...result }) as const);
    past.push({ role: 'assistant', content, toolCalls, note, carried }, ...heard);
  }
  return past;
}

async function takePrompt(state: State, prompt: Prompt): Promise<void> {
  if (state.log.length === 0) return log(state, prompt);
  const logged = firstMessagesIn(state.log);
  const isSame =
    logged.length === prompt.length &&
    prompt.every(
      ({ role, content }, index) =>
        logged[index]?.role === role && logged[index].content === content,
    );
  if (!isSame) throw new LogMismatch('the prompt has changed');
}

/**
 * Runs one step, live or, with `recorded`, replayed: replay compares with the log instead of
 * writing to it.
 */
async function takeAnswer(
  state: State,
  answer: Answer,
  recorded?: RecordedStep,
): Promise<ToolResults> {
  state.steps += 1;
  if (recorded === undefined)
    await log(state, answerMessages(answer), usageOf(answer, state.tokenPrices));
  const returned: { call: ToolCall; content: string; isMalformed?: true }[] = [];
  for (const [index, call] of answer.toolCalls.entries()) {
    if (state.hasEnded) break; // while a slow tool was running
    const before = recorded?.results?.[index];
    const result = await callTool(state.play, call, before);
    if (before !== undefined && result.content !== before)
      throw new LogMismatch(
        `${cutText(call.name, MAX_TOOL_NAME_LENGTH)} in step ${state.steps} does not return what it did`,
      );
    returned.push({ call, ...result });
  }
  const isLogged = recorded !== undefined && recorded.results !== null;
  if (!isLogged && returned.length > 0 && !state.hasEnded)
    await log(
      state,
      returned.map(({ call, content }) => resultMessage(call, content)),
    );
  return {
    type: 'tool_results',
    results: returned.map(({ call: { id }, ...result }) => ({ id, ...result })),
  };
}

/**
 * Appends to the reasoning log. Nothing is logged after the end, but the cost of an answer is still
 * counted.
 */
async function log(state: State, messages: readonly LogMessage[], usage?: Usage): Promise<void> {
  const { database, clock, sessionId, modelDay } = state;
  const logged = await database.write(() => {
    if (usage !== undefined) addUsage(database, modelDay, usage);
    if (state.hasEnded) return 0;
    const firstIndex = state.messageCount;
    appendMessages(database, sessionId, { firstIndex, messages, timestamp: timestamp(clock()) });
    if (state.play.documents) storeShown(database, sessionId, state.play.documents);
    return messages.length;
  }, state);
  state.messageCount += logged;
}

function usageOf({ usage }: Answer, prices: TokenPrices | null): Usage {
  return { steps: 1, requests: 1, ...(usage ?? UNKNOWN_TOKENS), costUsd: costOf(usage, prices) };
}

function countFailedRequest(
  { database, modelDay, signal, tokenPrices }: State,
  used: TokenUsage | null,
): Promise<void> {
  const usage = {
    steps: 0,
    requests: 1,
    ...(used ?? UNKNOWN_TOKENS),
    costUsd: costOf(used, tokenPrices),
  };
  return database.write(() => addUsage(database, modelDay, usage), { signal });
}

/** The only way in which a session ends, in one transaction. */
function end(state: State, write: () => void): Promise<void> {
  state.hasEnded = true;
  return state.database.write(write, state);
}

function writeEnd(state: State, outcome: Outcome): void {
  const { database, modelDay, sessionId, steps, messageCount: firstIndex, play } = state;
  const completedAt = timestamp(state.clock());
  if (outcome.status === 'failed')
    return endModelDay(database, modelDay, { ...outcome, completedAt });
  const commitWrite = numberedWrite(database);
  const prices = { reader: database, write: commitWrite };
  const { actions, portfolio, unfilled, fills } = endOfDay(play);
  const messages: LogMessage[] =
    fills === null ? [] : [{ role: 'tool', toolName: FILLS, content: fills }];
  appendMessages(database, sessionId, { firstIndex, messages, timestamp: completedAt });
  const totalMessages = firstIndex + messages.length;
  const evidence = gatherEvidence(prices, { ...state, actions });
  const positions = positionsOf({ ...state, actions, portfolio }, marksIn(evidence));
  const toolUsage = [...play.toolUsage.values()];
  const { summary } = outcome;
  commitSession(
    database,
    { ...modelDay, sessionId, steps, totalMessages },
    {
      positions,
      evidence,
      toolUsage,
      summary,
      note: play.ownNote,
      unfilled,
      wording: WORDING,
      commitWrite,
      completedAt,
    },
  );
}

function writeSetAside(
  { database, sessionId, clock }: State,
  { reason: error }: LogMismatch,
): void {
  setAside(database, sessionId, { error, completedAt: timestamp(clock()) });
}
