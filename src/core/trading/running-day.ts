import assert from 'node:assert/strict';
import { WORDING, type Wording } from '#agent/prompt.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import type { AnswerFault } from '#domain/vocabulary.ts';
import type { Entry } from '#settings/entry.ts';
import { membersOn } from '#settings/members.ts';
import { cutWords, type DecisionRow, NO_TRADE } from '#database/decisions.ts';
import type { ToolUsageRow } from '#database/sessions.ts';
import type { Answer, ToolCall, ToolMessage } from '#wire/protocol.ts';
import { hideOpen, type Market, withMarks } from './market.ts';
import { resolveDecider } from './decision.ts';
import { type OfferedDocuments, openDocuments } from './morning-documents.ts';
import type { NewsResult, NewsSearch } from './news.ts';
import { fillOrders, orderTerms, describeUnfilled } from './orders.ts';
import { fromDollars, toDollars } from '#money/money.ts';
import { type Action, assertSoundPortfolio, type Portfolio } from './portfolio.ts';
import type { DayStart } from './start.ts';
import { replyContent, isFromOutside, refusedOrders, runTool } from './tools.ts';
import type { Order, OrderTerms, PlacedOrder, Reply, TradingDay } from './trading-day.ts';

/** Tool names in `tool_usage` are the model's words; longer ones are cut. */
export const MAX_TOOL_NAME_LENGTH = 100;

/**
 * A day as it is played: what its tools see, and what their calls have made of it. Live, and again
 * from its record.
 */
export interface RunningDay extends TradingDay {
  readonly actions: Action[];
  /** What became of the orders so far; not of those that wait. */
  readonly decisions: DecisionRow[];
  readonly toolUsage: Map<string, ToolUsageRow>;
  /** How sure its decision is, 0 to 1; null where it does not say. */
  confidence: number | null;
  /** Whether it has ended although no answer was a decision. */
  isUnread: boolean;
  /** The note as it is now, whether the model may read it or not. */
  currentNote: string | null;
  /** With the opens of the session date, at which orders fill. */
  readonly fillMarket: Market;
  readonly placed: (PlacedOrder & { message_index: number })[];
  portfolio: Portfolio;
  expected: Portfolio;
  refused: number;
}

export interface DayTerms
  extends OrderTerms,
    Pick<TradingDay, 'market' | 'universe' | 'offered' | 'decider'> {
  /** Today's when left out. */
  wording?: Wording;
  news: NewsSearch | null;
  /** Whether the model may keep a note; its note is carried on in any case. */
  hasNotes?: boolean;
  /** None without. */
  documents?: OfferedDocuments | null;
}

/** What a job and an entry say of every day of a run, live and when it is played again. */
export function dayTerms(agentConfig: AgentConfiguration, entry: Entry, run: string) {
  return {
    ...orderTerms(agentConfig),
    initialCash: fromDollars(agentConfig.initial_cash),
    paysDividends: agentConfig.dividends,
    offered: entry.tools,
    hasNotes: entry.notes,
    decider: resolveDecider(entry, run),
  };
}

export function knownMarket({
  market,
  isOpenHidden,
}: Pick<DayTerms, 'market' | 'isOpenHidden'>): Market {
  return isOpenHidden ? hideOpen(market) : market;
}

/** A day in the morning: splits applied, dividends paid, holdings exchanged, nothing called yet. */
export function startTradingDay(terms: DayTerms, start: DayStart): RunningDay {
  const { startDate, startPortfolio, morning } = start;
  const { market, universe, offered, hasNotes, rules, members = [], documents = null } = terms;
  const held = startPortfolio.holdings.keys();
  const before = startDate === null ? [] : membersOn(members, startDate);
  const actions: Action[] = [...morning.actions];
  const decisions: DecisionRow[] = [];
  const placed: RunningDay['placed'] = [];
  const play: RunningDay = {
    wording: WORDING,
    ...terms,
    ...morning,
    market: terms.isOpenHidden ? withMarks(knownMarket(terms), morning.stated) : knownMarket(terms),
    fillMarket: market,
    documents: documents && openDocuments(documents, { market, universe, held, offered, rules }),
    confidence: null,
    isUnread: false,
    actions,
    decisions,
    placed,
    expected: morning.portfolio,
    refused: 0,
    bought(symbol) {
      const bought = actions.filter((own) => own.actionType === 'buy' && own.symbol === symbol);
      return bought.reduce((sum, own) => sum + own.amount, morning.arrived.get(symbol) ?? 0);
    },
    get orders() {
      return decisions.filter(isTrade).length + placed.length;
    },
    unfilled: start.startUnfilled,
    left: before.filter((symbol) => !universe.has(symbol)),
    get note() {
      return hasNotes ? play.currentNote : undefined;
    },
    currentNote: start.startNote,
    toolUsage: new Map(),
  };
  assertSoundPortfolio(play.portfolio);
  return play;
}

const isTrade = ({ action_id: action }: DecisionRow) => action !== null;

export interface DayEnd {
  actions: readonly Action[];
  portfolio: Portfolio;
  decisions: readonly DecisionRow[];
  unfilled: string[];
  /** The last message of its conversation: what became of the orders; null with a shown open. */
  fills: string | null;
}

/** Fills the orders that wait, and changes nothing: a commit that is repeated has the same end. */
export function computeDayEnd({
  actions: before,
  decisions: taken,
  portfolio: start,
  placed,
  fillMarket: market,
  rules,
  isOpenHidden,
  wording,
}: RunningDay): DayEnd {
  const { fills: filled, portfolio } = fillOrders(start, placed, { market, rules, wording });
  assertSoundPortfolio(portfolio);
  const end = { actions: [...before], decisions: [...taken], placed: [] };
  for (const { order, action, unfilled } of filled) {
    if (action) enterOrder(end, { ...order, action }, order.message_index);
    if (unfilled)
      enterOrder(end, { ...order, refusal: describeUnfilled(unfilled) }, order.message_index);
  }
  const { actions, decisions } = end;
  if (!decisions.some(isTrade)) decisions.push(NO_TRADE);
  const fills = actions.slice(before.length).map(({ actionType: side, symbol, amount, price }) => {
    return { side, symbol, amount, price: toDollars(price ?? assert.fail('an order has a price')) };
  });
  const unfilled = filled.flatMap((one) => one.unfilled ?? []);
  return {
    actions,
    portfolio,
    decisions,
    unfilled: unfilled.map(describeUnfilled),
    fills: isOpenHidden ? JSON.stringify({ fills, unfilled }) : null,
  };
}

/** Enters an order in the day: its trade in the ledger too. */
function enterOrder(
  { actions, decisions, placed }: Pick<RunningDay, 'actions' | 'decisions' | 'placed'>,
  order: Order,
  message_index: number,
): void {
  const { side, symbol, amount, action, refusal } = order;
  const decision = { ...NO_TRADE, message_index, side, symbol };
  if (action) decisions.push({ ...decision, action_id: actions.push(action) });
  else if (refusal === undefined) placed.push({ ...order, message_index });
  else decisions.push({ ...decision, amount, detail: cutWords(refusal) });
}

/** Why the calls of an answer with a fault are not executed, as its model reads it. */
const NOT_EXECUTED: Partial<Record<AnswerFault, string>> = {
  cut_off:
    'Not executed: your answer was cut off before its end, and half of an answer decides nothing. Answer more briefly.',
  refused: 'Not executed: your answer counts as a refusal.',
};

/**
 * Enters an answer in the day: one with orders written as text is a malformed call. `index` is that
 * of its message in the log; the note on it follows.
 */
export function enterAnswer(
  { decisions }: Pick<RunningDay, 'decisions'>,
  { fault }: Pick<Answer, 'fault'>,
  index: number,
): void {
  if (fault !== 'written_call') return;
  const detail = 'Orders written as text are not executed: only tool calls are.';
  decisions.push({ ...NO_TRADE, message_index: index + 1, tool: '', detail });
}

interface CallPlace {
  /** Index of the result's message in the log. */
  index: number;
  /** What that message said before. */
  recorded?: string | undefined;
  /** Fault of the answer that holds the call. */
  fault?: Answer['fault'];
}

/**
 * Runs one tool call, and enters what it did in the day. Returns the message with its result.
 */
export async function callTool(
  play: RunningDay,
  call: ToolCall,
  { index, recorded, fault }: CallPlace,
): Promise<ToolMessage> {
  const startedAt = performance.now();
  // Half a character would be stored as another one, which could make two names the same.
  const toolName = call.name.slice(0, MAX_TOOL_NAME_LENGTH).toWellFormed();
  const isKnown = recorded !== undefined && isFromOutside(play, call);
  const day = isKnown ? { ...play, news: async () => readNews(recorded) } : play;
  const notRun = fault && NOT_EXECUTED[fault];
  const reply: Reply = notRun ? { refusal: notRun, isMalformed: true } : await runTool(day, call);
  const { refusal, isMalformed, orders = [], portfolio, note } = reply;
  if (isMalformed) {
    const detail = cutWords(refusal);
    play.decisions.push({ ...NO_TRADE, message_index: index, tool: toolName, detail });
  } else if (refusal !== undefined)
    for (const order of refusedOrders(call, refusal)) enterOrder(play, order, index);
  for (const order of orders) enterOrder(play, order, index);
  play.refused += orders.filter((order) => order.refusal !== undefined).length;
  if (portfolio !== undefined) {
    assertSoundPortfolio(portfolio);
    play.expected = portfolio;
    if (!play.isOpenHidden) play.portfolio = portfolio;
  }
  if (note !== undefined) play.currentNote = note === '' ? null : note;
  const usage = play.toolUsage.get(toolName) ?? { toolName, calls: 0, refused: 0, durationMs: 0 };
  usage.calls += 1;
  usage.refused += refusal === undefined ? 0 : 1;
  usage.durationMs += performance.now() - startedAt;
  play.toolUsage.set(toolName, usage);
  return { role: 'tool', id: call.id, content: replyContent(reply), isMalformed };
}

/** A result of a news search as the record has it. */
function readNews(content: string): NewsResult {
  const result = JSON.parse(content);
  return 'error' in result ? { refusal: result.error } : result;
}
