import { type Clock, timestamp } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { type Split, splitsBetween } from '../database/market.ts';
import {
  type ClosingState,
  type LogMessage,
  type ModelDay,
  type PositionRow,
  type ToolUsageRow,
  appendMessages,
  commitSession,
  failSession,
  insertSession,
  latestActiveDayBefore,
} from '../database/sessions.ts';
import { type Usage, addUsage } from '../database/usage.ts';
import { type Money, money, toDollars } from '../money.ts';
import type { Answer, Brief, ToolCall, ToolResults } from '../protocol.ts';
import { type TokenPrices, costOf } from './cost.ts';
import { type Market, closingMark } from './market.ts';
import { type Portfolio, applySplit, quantityOf, valueOf } from './portfolio.ts';
import { type Action, type TradingDay, describePortfolio, runTool } from './tools.ts';

/** Tool names in `tool_usage` are the model's words; longer ones are cut. */
const MAX_TOOL_NAME_LENGTH = 100;

/** One model-day while it runs, as the parent sees it: the ledger in memory, the conversation in the database. */
export interface Session extends TradingDay {
  readonly modelDay: ModelDay;
  readonly sessionId: number;
  /** The closing value of the day it started from, or the initial cash: what the daily profit is measured against. */
  readonly startValue: Money;
  readonly toolUsage: Map<string, ToolUsageRow>;
  /** What the model's tokens cost; null when nobody knows. */
  readonly tokenPrices: TokenPrices | null;
  steps: number;
  totalMessages: number;
  /** Set at its one end; what a slow tool brings later is thrown away. */
  hasEnded: boolean;
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
}

/**
 * Starts a model-day: from the closing portfolio of the model's latest earlier active day (or the initial cash), with
 * the splits since applied. The session's row is committed when this returns.
 */
export function openSession(
  { database, clock }: SessionContext,
  modelDay: ModelDay,
  { market, universe, initialCash, tokenPrices }: SessionOptions,
): Session {
  const past = latestActiveDayBefore(database, modelDay.model, modelDay.date);
  const startedAt = timestamp(clock());
  const sessionId = insertSession(database, modelDay, { startedFrom: past?.sessionId ?? null, initialCash, startedAt });
  const session: Session = {
    modelDay,
    sessionId,
    startValue: past?.portfolioValue ?? initialCash,
    market,
    universe,
    portfolio: past ? portfolioOf(past) : { cash: initialCash, holdings: new Map() },
    actions: [],
    toolUsage: new Map(),
    tokenPrices,
    steps: 0,
    totalMessages: 0,
    hasEnded: false,
  };
  if (past)
    applySplits(
      session,
      splitsBetween(database, [...session.portfolio.holdings.keys()], { after: past.date, upTo: modelDay.date }),
    );
  return session;
}

/** What the model is told in the morning: the same cash, holdings and opens that its tools will use. */
export function briefOf(session: Session): Brief {
  const symbols = [...new Set([...session.universe, ...session.portfolio.holdings.keys()])].sort();
  const quotes = symbols.map((symbol) => {
    const { open, previousClose } = session.market.quote(symbol);
    return { symbol, previousClose: dollarsOrNull(previousClose), open: dollarsOrNull(open) };
  });
  return { date: session.modelDay.date, ...describePortfolio(session), quotes };
}

/** Writes messages to the reasoning log; they are committed when this returns. */
export function logMessages(
  context: SessionContext,
  session: Session,
  messages: readonly LogMessage[],
  usage?: Usage,
): void {
  const { database, clock } = context;
  const firstIndex = session.totalMessages;
  database.transaction(() => {
    appendMessages(database, session.sessionId, { firstIndex, messages, timestamp: timestamp(clock()) });
    if (usage !== undefined) addUsage(database, session.modelDay, usage);
  });
  session.totalMessages += messages.length;
}

/**
 * Takes one answer of the model. The answer and what it cost are in the log before anything is done with it; then its
 * tool calls run one after another in their order, and their results are in the log before anybody can act on them.
 */
export async function takeStep(context: SessionContext, session: Session, answer: Answer): Promise<ToolResults> {
  session.steps += 1;
  logAnswer(context, session, answer);
  const results: { call: ToolCall; content: string }[] = [];
  for (const call of answer.toolCalls) results.push({ call, content: await runAndCount(session, call) });
  if (results.length > 0 && !session.hasEnded) {
    const messages = results.map(({ call, content }) => toolMessage(call, content));
    logMessages(context, session, messages);
  }
  return { type: 'tool_results', results: results.map(({ call, content }) => ({ id: call.id, content })) };
}

function logAnswer(
  context: SessionContext,
  session: Session,
  { content, toolCalls, reasoning, usage, note }: Answer,
): void {
  const calls = toolCalls.length > 0 ? { toolCalls: JSON.stringify(toolCalls) } : {};
  const messages: LogMessage[] = [{ role: 'assistant', content, summary: reasoning, ...calls }];
  if (note !== null) messages.push({ role: 'system', content: note });
  logMessages(context, session, messages, {
    steps: 1,
    requests: 1,
    ...(usage ?? { promptTokens: null, completionTokens: null, cachedTokens: null, reasoningTokens: null }),
    costUsd: costOf(usage, session.tokenPrices),
  });
}

/** Counts a request to the provider that brought no answer. */
export function countFailedRequest({ database }: SessionContext, { modelDay }: Session): void {
  const nothing = {
    promptTokens: null,
    completionTokens: null,
    cachedTokens: null,
    reasoningTokens: null,
    costUsd: null,
  };
  addUsage(database, modelDay, { steps: 0, requests: 1, ...nothing });
}

/** Ends a model-day well: marks its records at the session date's close and commits everything in one transaction. */
export function completeSession({ database, clock }: SessionContext, session: Session, summary: string): void {
  session.hasEnded = true;
  const { modelDay, sessionId, steps, totalMessages } = session;
  commitSession(database, { ...modelDay, sessionId, steps, totalMessages }, () => ({
    positions: positionsOf(session, (symbol) => closingMark(database, modelDay.date, symbol)),
    toolUsage: [...session.toolUsage.values()],
    summary,
    completedAt: timestamp(clock()),
  }));
}

/** Ends a model-day badly: its log stays, it leaves no position. */
export function abortSession({ database, clock }: SessionContext, session: Session, error: string): void {
  session.hasEnded = true;
  const { modelDay, sessionId, steps, totalMessages } = session;
  failSession(database, { ...modelDay, sessionId, steps, totalMessages }, { error, completedAt: timestamp(clock()) });
}

/** The day's ledger as rows: every action, or one `no_trade` record when nothing was bought or sold. */
function positionsOf(session: Session, closeOf: (symbol: string) => Money): PositionRow[] {
  const ledger: (Omit<Action, 'actionType' | 'symbol' | 'amount'> &
    Pick<PositionRow, 'actionType' | 'symbol' | 'amount'>)[] = [...session.actions];
  if (ledger.every(({ actionType }) => actionType === 'split')) {
    ledger.push({ actionType: 'no_trade', symbol: null, amount: null, price: null, portfolio: session.portfolio });
  }
  const symbols = new Set(ledger.flatMap(({ portfolio }) => [...portfolio.holdings.keys()]));
  const marks = new Map([...symbols].map((symbol) => [symbol, closeOf(symbol)]));
  return ledger.map(({ portfolio, ...action }, index) => {
    const portfolioValue = valueOf(portfolio, marks);
    const dailyProfit = money(portfolioValue - session.startValue);
    return {
      ...action,
      actionId: index + 1,
      cash: portfolio.cash,
      holdings: portfolio.holdings,
      portfolioValue,
      dailyProfit,
      dailyReturnPct: session.startValue === 0 ? null : percent(dailyProfit / session.startValue),
    };
  });
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

async function runAndCount(session: Session, call: ToolCall): Promise<string> {
  const startedAt = performance.now();
  const { content, refused } = await runTool(session, call);
  const toolName = call.name.slice(0, MAX_TOOL_NAME_LENGTH);
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
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

/** In percent with at most four decimals. */
export function percent(ratio: number): number {
  return Math.round(ratio * 1_000_000) / 10_000;
}

function dollarsOrNull(amount: Money | null): number | null {
  return amount === null ? null : toDollars(amount);
}
