import { WORDING } from '../agent/prompt.ts';
import type { AgentConfiguration } from '../basics/configuration-schema.ts';
import type { Entry } from '../basics/entry.ts';
import { membersOn } from '../basics/members.ts';
import type { ToolUsageRow } from '../database/sessions.ts';
import type { ToolCall } from '../wire/protocol.ts';
import { beforeOpen, type Market } from './market.ts';
import { deciderOf } from './decision.ts';
import { type Counted, openDocuments } from './documents.ts';
import type { NewsSearch } from './news.ts';
import { fillOrders, orderTermsOf, unfilledInWords } from './orders.ts';
import { fromDollars, toDollars } from '../basics/money.ts';
import { type Action, assertSound, type Portfolio } from './portfolio.ts';
import type { Start } from './start.ts';
import { runTool, type ToolResult } from './tools.ts';
import type { OrderTerms, Placed, TradingDay } from './trading-day.ts';

/** Tool names in `tool_usage` are the model's words; longer ones are cut. */
export const MAX_TOOL_NAME_LENGTH = 100;

/**
 * A day as it is played: what its tools see, and what their calls have made of it. Live, and again
 * from its record.
 */
export interface Play extends TradingDay {
  /** The ledger so far. */
  readonly actions: Action[];
  /** By the name of the tool. */
  readonly toolUsage: Map<string, ToolUsageRow>;
  /** How sure its decision is, 0 to 1; null where it does not say. */
  confidence: number | null;
  /** Whether it has ended although no answer was a decision. */
  isUnread: boolean;
  /** The note as it is now, whether the model may read it or not. */
  ownNote: string | null;
  /** With the opens of the session date, at which orders fill. */
  readonly exchange: Market;
  readonly placed: Placed[];
  portfolio: Portfolio;
  expected: Portfolio;
  refused: number;
}

export interface Terms
  extends OrderTerms,
    Pick<TradingDay, 'market' | 'universe' | 'offered' | 'wording' | 'decider'> {
  news: NewsSearch | null;
  /** Whether the model may keep a note; its note is carried on in any case. */
  hasNotes?: boolean;
  /** None without. */
  documents?: Counted | null;
}

/** What a job and an entry say of every day of a run, live and when it is played again. */
export function dayTermsOf(agentConfig: AgentConfiguration, entry: Entry, run: string) {
  return {
    ...orderTermsOf(agentConfig),
    initialCash: fromDollars(agentConfig.initial_cash),
    paysDividends: agentConfig.dividends,
    offered: entry.tools,
    hasNotes: entry.notes,
    decider: deciderOf(entry, run),
  };
}

/** A market as the models of a day know it. */
export function knownMarket({
  market,
  isOpenHidden,
}: Pick<Terms, 'market' | 'isOpenHidden'>): Market {
  return isOpenHidden ? beforeOpen(market) : market;
}

/** A day in the morning: splits applied, dividends paid, nothing called yet. */
export function beginPlay(terms: Terms, start: Start): Play {
  const { startDate, startPortfolio, morning } = start;
  const { market, universe, offered, hasNotes, members = [], documents = null } = terms;
  const held = startPortfolio.holdings.keys();
  const before = startDate === null ? [] : membersOn(members, startDate);
  const actions: Action[] = [...morning.actions];
  const placed: Placed[] = [];
  const play: Play = {
    wording: WORDING,
    ...terms,
    market: knownMarket(terms),
    exchange: market,
    documents: documents && openDocuments(documents, { market, universe, held, offered }),
    confidence: null,
    isUnread: false,
    actions,
    placed,
    portfolio: morning.portfolio,
    expected: morning.portfolio,
    refused: 0,
    get orders() {
      const executed = actions.filter(({ actionType: type }) => type === 'buy' || type === 'sell');
      return executed.length + placed.length;
    },
    unfilled: start.startUnfilled,
    left: before.filter((symbol) => !universe.has(symbol)),
    received: morning.received,
    get note() {
      return hasNotes ? play.ownNote : undefined;
    },
    ownNote: start.startNote,
    toolUsage: new Map(),
  };
  assertSound(play.portfolio);
  return play;
}

/** What a day ends with. */
export interface DayEnd {
  actions: readonly Action[];
  portfolio: Portfolio;
  /** What did not fill, a sentence each. */
  unfilled: string[];
  /** The last message of its conversation: what became of the orders; null with a shown open. */
  fills: string | null;
}

/** Fills the orders that wait, and changes nothing: a commit that is repeated has the same end. */
export function endOfDay({
  actions: before,
  portfolio,
  placed,
  exchange,
  costs,
  isOpenHidden,
}: Play): DayEnd {
  if (!isOpenHidden || costs === undefined)
    return { actions: before, portfolio, unfilled: [], fills: null };
  const filled = fillOrders(portfolio, placed, { market: exchange, costs });
  const { actions, unfilled } = filled;
  assertSound(filled.portfolio);
  const fills = actions.map(({ actionType: side, symbol, amount, price }) => {
    return { side, symbol, amount, price: toDollars(price) };
  });
  return {
    actions: [...before, ...actions],
    portfolio: filled.portfolio,
    unfilled: unfilled.map(unfilledInWords),
    fills: JSON.stringify({ fills, unfilled }),
  };
}

/**
 * Runs one tool call, enters its action in the ledger and counts it. `recorded` is the result it
 * returned before.
 */
export async function callTool(
  play: Play,
  call: ToolCall,
  recorded?: string,
): Promise<Pick<ToolResult, 'content' | 'isMalformed'>> {
  const startedAt = performance.now();
  const result = await runTool(play, call, recorded);
  const { content, isRefused, isMalformed, actions, portfolio, note, placed, refused = 0 } = result;
  play.refused += refused;
  if (portfolio !== undefined) {
    assertSound(portfolio);
    play.actions.push(...actions);
    play.portfolio = play.expected = portfolio;
  }
  if (placed !== undefined) {
    play.placed.push(...placed.orders);
    play.expected = placed.expected;
  }
  if (note !== undefined) play.ownNote = note === '' ? null : note;
  // Half a character would be stored as another one, which could make two names the same.
  const toolName = call.name.slice(0, MAX_TOOL_NAME_LENGTH).toWellFormed();
  const usage = play.toolUsage.get(toolName) ?? { toolName, calls: 0, refused: 0, durationMs: 0 };
  usage.calls += 1;
  usage.refused += isRefused ? 1 : 0;
  usage.durationMs += performance.now() - startedAt;
  play.toolUsage.set(toolName, usage);
  return { content, ...(isMalformed && { isMalformed }) };
}
