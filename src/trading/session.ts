import { type Clock, timestamp } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { type JournalMessage, markRunning, openJournal, setJournalAside } from '../database/journal.ts';
import { type Split, splitsBetween } from '../database/market.ts';
import {
  type ClosingState,
  type LogMessage,
  type ModelDay,
  type ToolUsageRow,
  appendMessages,
  commitSession,
  failSession,
  insertSession,
  latestActiveDayBefore,
} from '../database/sessions.ts';
import { type Usage, addUsage } from '../database/usage.ts';
import { tryParse } from '../json.ts';
import { type Money, money, toDollars } from '../money.ts';
import type { Answer, Brief, ToolCall, ToolResults } from '../protocol.ts';
import { type TokenPrices, costOf } from './cost.ts';
import { type Market, closingMark } from './market.ts';
import type { NewsSearch } from './news.ts';
import { type Portfolio, applySplit, quantityOf } from './portfolio.ts';
import { positionsOf } from './positions.ts';
import { type TradingCosts, describeCosts } from './trading-costs.ts';
import { type TradingDay, describePortfolio, runTool } from './tools.ts';

/** Tool names in `tool_usage` are the model's words; longer ones are cut. */
const MAX_TOOL_NAME_LENGTH = 100;
const UNKNOWN_TOKENS = { promptTokens: null, completionTokens: null, cachedTokens: null, reasoningTokens: null };

/** One model-day while it runs, as the parent sees it: the ledger in memory, the conversation in the database. */
export interface Session extends TradingDay {
  readonly modelDay: ModelDay;
  readonly news: NewsSearch | null;
  readonly costs: TradingCosts;
  readonly sessionId: number;
  /** What an earlier process of this model-day logged before it ended. */
  readonly journal: readonly JournalMessage[];
  /** The closing value of the day it started from, or the initial cash: what the daily profit is measured against. */
  readonly startValue: Money;
  readonly toolUsage: Map<string, ToolUsageRow>;
  /** What the model's tokens cost; null when nobody knows. */
  readonly tokenPrices: TokenPrices | null;
  steps: number;
  totalMessages: number;
  isPrompted: boolean;
  /** Set at its one end; what a slow tool brings later is thrown away. */
  hasEnded: boolean;
  /** Aborted when its job is stopped; then nothing more is written for it. */
  readonly signal: AbortSignal | undefined;
}

export interface SessionContext {
  database: Database;
  clock: Clock;
}

export interface SessionOptions {
  market: Market;
  universe: ReadonlySet<string>;
  initialCash: Money;
  tokenPrices: TokenPrices | null;
  news: NewsSearch | null;
  costs: TradingCosts;
  signal?: AbortSignal;
}

/**
 * Starts a model-day: from the closing portfolio of the model's latest earlier active day (or the initial cash), with
 * the splits since applied. When a process ended under it, its session is gone on with. The session's row is committed
 * when this resolves.
 */
export function openSession(context: SessionContext, modelDay: ModelDay, options: SessionOptions): Promise<Session> {
  return context.database.write(() => beginSession(context, modelDay, options), options);
}

function beginSession(
  { database, clock }: SessionContext,
  modelDay: ModelDay,
  { market, universe, initialCash, tokenPrices, news, costs, signal }: SessionOptions,
): Session {
  const past = latestActiveDayBefore(database, modelDay.model, modelDay.date);
  const { sessionId, journal } = claimSession({ database, clock }, modelDay, {
    startedFrom: past?.sessionId ?? null,
    initialCash,
  });
  const session: Session = {
    modelDay,
    sessionId,
    journal,
    startValue: past?.portfolioValue ?? initialCash,
    market,
    universe,
    news,
    costs,
    portfolio: past ? portfolioOf(past) : { cash: initialCash, holdings: new Map() },
    actions: [],
    toolUsage: new Map(),
    tokenPrices,
    steps: 0,
    totalMessages: 0,
    isPrompted: false,
    hasEnded: false,
    signal,
  };
  if (past)
    applySplits(
      session,
      splitsBetween(database, [...session.portfolio.holdings.keys()], { after: past.date, upTo: modelDay.date }),
    );
  return session;
}

/** The row of the session: the one that a process left running when it ended, unless that started from another day. */
function claimSession(
  { database, clock }: SessionContext,
  modelDay: ModelDay,
  { startedFrom, initialCash }: { startedFrom: number | null; initialCash: Money },
): { sessionId: number; journal: readonly JournalMessage[] } {
  const found = openJournal(database, modelDay);
  const now = timestamp(clock());
  if (found !== null && found.startedFrom === startedFrom) {
    markRunning(database, modelDay);
    return { sessionId: found.sessionId, journal: found.messages };
  }
  const error = 'Set aside, because the journal no longer fits: the day before it is another now';
  if (found !== null) setJournalAside(database, found.sessionId, { error, completedAt: now });
  return { sessionId: insertSession(database, modelDay, { startedFrom, initialCash, startedAt: now }), journal: [] };
}

/** What the model is told in the morning: the same cash, holdings and opens that its tools will use. */
export function briefOf(session: Session): Brief {
  const symbols = [...new Set([...session.universe, ...session.portfolio.holdings.keys()])].sort();
  const quotes = symbols.map((symbol) => {
    const { open, previousClose } = session.market.quote(symbol);
    return { symbol, previousClose: dollarsOrNull(previousClose), open: dollarsOrNull(open) };
  });
  return { date: session.modelDay.date, ...describePortfolio(session), quotes, costs: describeCosts(session.costs) };
}

/**
 * Writes messages to the reasoning log; they are committed when this resolves. Nothing is logged for a session that has
 * ended meanwhile, but what an answer cost is counted all the same.
 */
export async function logMessages(
  { database, clock }: SessionContext,
  session: Session,
  messages: readonly LogMessage[],
  usage?: Usage,
): Promise<void> {
  const logged = await database.write(() => {
    if (usage !== undefined) addUsage(database, session.modelDay, usage);
    if (session.hasEnded) return 0;
    const firstIndex = session.totalMessages;
    appendMessages(database, session.sessionId, { firstIndex, messages, timestamp: timestamp(clock()) });
    return messages.length;
  }, session);
  session.totalMessages += logged;
}

/**
 * Takes one answer of the model. The answer and what it cost are in the log before anything is done with it; then its
 * tool calls run one after another in their order, and their results are in the log before anybody can act on them.
 */
export async function takeStep(context: SessionContext, session: Session, answer: Answer): Promise<ToolResults> {
  session.steps += 1;
  await logAnswer(context, session, answer);
  const contents: string[] = [];
  for (const call of answer.toolCalls) {
    if (session.hasEnded) break; // while a slow tool was running
    contents.push(await runAndCount(session, call));
  }
  await logResults(context, session, { calls: answer.toolCalls, contents });
  const results = contents.map((content, index) => ({ id: (answer.toolCalls[index] as ToolCall).id, content }));
  return { type: 'tool_results', results };
}

/** Writes what tool calls brought to the reasoning log; nothing for a session that has ended meanwhile. */
export async function logResults(
  context: SessionContext,
  session: Session,
  { calls, contents }: { calls: readonly ToolCall[]; contents: readonly string[] },
): Promise<void> {
  if (contents.length === 0 || session.hasEnded) return;
  const messages = contents.map((content, index) => toolMessage(calls[index] as ToolCall, content));
  await logMessages(context, session, messages);
}

function logAnswer(
  context: SessionContext,
  session: Session,
  { content, toolCalls, reasoning, usage, note, carried }: Answer,
): Promise<void> {
  const calls = toolCalls.length > 0 ? { toolCalls: JSON.stringify(toolCalls) } : {};
  const back = carried ? { carried: JSON.stringify(carried) } : {};
  const messages: LogMessage[] = [{ role: 'assistant', content, summary: reasoning, ...calls, ...back }];
  if (note !== null) messages.push({ role: 'system', content: note });
  return logMessages(context, session, messages, {
    steps: 1,
    requests: 1,
    ...(usage ?? UNKNOWN_TOKENS),
    costUsd: costOf(usage, session.tokenPrices),
  });
}

/** Counts a request to the provider that brought no answer. */
export function countFailedRequest({ database }: SessionContext, { modelDay, signal }: Session): Promise<void> {
  const usage = { steps: 0, requests: 1, ...UNKNOWN_TOKENS, costUsd: null };
  return database.write(() => addUsage(database, modelDay, usage), { signal });
}

/** Ends a model-day well: marks its records at the session date's close and commits everything in one transaction. */
export function completeSession({ database, clock }: SessionContext, session: Session, summary: string): Promise<void> {
  session.hasEnded = true;
  const { modelDay, sessionId, steps, totalMessages } = session;
  const ended = { ...modelDay, sessionId, steps, totalMessages };
  return database.write(() => {
    const positions = positionsOf(session, (symbol) => closingMark(database, modelDay.date, symbol)); // as of the commit
    const toolUsage = [...session.toolUsage.values()];
    commitSession(database, ended, { positions, toolUsage, summary, completedAt: timestamp(clock()) });
  }, session);
}

/** Ends a model-day badly: its log stays, it leaves no position. */
export function abortSession({ database, clock }: SessionContext, session: Session, error: string): Promise<void> {
  session.hasEnded = true;
  const { modelDay, sessionId, steps, totalMessages } = session;
  const ended = { ...modelDay, sessionId, steps, totalMessages };
  return database.write(() => failSession(database, ended, { error, completedAt: timestamp(clock()) }), session);
}

/**
 * Applies splits in their order before the session begins. Fractions are paid at the session's mark, brought back to
 * the shares of that split where others follow it.
 */
function applySplits(session: Session, splits: readonly Split[]): void {
  splits.forEach(({ symbol, numerator, denominator }, index) => {
    if (quantityOf(session.portfolio, symbol) === 0) return;
    const later = splits.slice(index + 1).filter((split) => split.symbol === symbol);
    const ratio = later.reduce((product, split) => product * (split.numerator / split.denominator), 1);
    const price = money(Math.round(session.market.mark(symbol) * ratio));
    const { portfolio, added } = applySplit(session.portfolio, { symbol, numerator, denominator, price });
    session.portfolio = portfolio;
    session.actions.push({ actionType: 'split', symbol, amount: added, price, portfolio });
  });
}

function portfolioOf({ cash, holdings }: ClosingState): Portfolio {
  return { cash, holdings: new Map(holdings.map(({ symbol, quantity }) => [symbol, quantity])) };
}

/** Runs one tool call and counts it. `recorded` is what it brought before, when it is played again. */
export async function runAndCount(session: Session, call: ToolCall, recorded?: string): Promise<string> {
  const startedAt = performance.now();
  const { content, refused } = await runTool(session, call, recorded);
  // Half a character is stored as another one, and two names may not become one there.
  const toolName = call.name.slice(0, MAX_TOOL_NAME_LENGTH).toWellFormed();
  const usage = session.toolUsage.get(toolName) ?? { toolName, calls: 0, refused: 0, durationMs: 0 };
  usage.calls += 1;
  usage.refused += refused ? 1 : 0;
  usage.durationMs += performance.now() - startedAt;
  session.toolUsage.set(toolName, usage);
  return content;
}

function toolMessage(call: ToolCall, content: string): LogMessage {
  return { role: 'tool', content, toolName: call.name, toolInput: asJson(call.arguments) };
}

/** The arguments as JSON: as the model sent them when they are, else their text as a JSON string. */
function asJson(text: string): string {
  return tryParse(text) === undefined ? JSON.stringify(text) : text;
}

function dollarsOrNull(amount: Money | null): number | null {
  return amount === null ? null : toDollars(amount);
}
