import * as v from 'valibot';
import type { CalendarDate } from '../calendar.ts';
import type { Bar } from '../database/prices.ts';
import type { ActionType } from '../domain.ts';
import { tryParse } from '../json.ts';
import { type Money, money, toDollars } from '../money.ts';
import type { ToolCall, ToolDescription } from '../protocol.ts';
import { type ToolArguments, type ToolName, describeIssue, shown, toolArguments } from './arguments.ts';
import { calculate } from './calculate.ts';
import type { Market } from './market.ts';
import type { NewsSearch } from './news.ts';
import { toolParameters } from './tool-parameters.ts';
import { NO_COSTS, type TradingCosts, commissionOn, fillPrice } from './trading-costs.ts';
import { type Execution, type Order, type Portfolio, buy, quantityOf, sell, valueOf } from './portfolio.ts';

/** One entry of the day's ledger: what was done, and the portfolio after it. */
export interface Action {
  actionType: ActionType;
  symbol: string;
  amount: number;
  price: Money | null;
  portfolio: Portfolio;
}

/** What the tools of one model-day work on. The portfolio is the running one: every call sees what the last one left. */
export interface TradingDay {
  readonly market: Market;
  readonly universe: ReadonlySet<string>;
  readonly actions: Action[];
  /** None when the service has no key for it. */
  readonly news?: NewsSearch | null;
  /** None when left out. */
  readonly costs?: TradingCosts;
  portfolio: Portfolio;
}

/** What a tool says to the model; a refusal changed nothing. */
type Reply = { answer: Record<string, unknown>; refusal?: never } | { refusal: string; answer?: never };

interface Row<Arguments> {
  description: string;
  /** Whether this day has the tool; every day when left out. */
  isOffered?(day: TradingDay): boolean;
  /** It asks the world outside, which may answer otherwise the next time; what it brought once is kept. */
  isFromOutside?: true;
  run(day: TradingDay, args: Arguments): Reply | Promise<Reply>;
}

type Tool = ToolDescription & Row<unknown> & { schema: v.GenericSchema };

/** The outcome of one call as the model reads it. */
export interface ToolResult {
  content: string;
  refused: boolean;
}

/** The tools, as the model reads them and as the parent runs them. A new tool is one more row, and its arguments. */
const tools: readonly Tool[] = [
  tool('buy', {
    description: "Buy whole shares at today's opening price. Refused when cash does not suffice.",
    run: (day, args) => trade(day, 'buy', args),
  }),
  tool('sell', {
    description: "Sell whole shares that are held, at today's opening price. The proceeds can be used at once.",
    run: (day, args) => trade(day, 'sell', args),
  }),
  tool('get_price', {
    description: "The prices of one symbol: today's open, or an earlier date's open, high, low, close and volume.",
    run: (day, args) => getPrice(day, args.symbol, args.date ?? day.market.date),
  }),
  tool('get_price_history', {
    description: "The last daily bars of one symbol, oldest first; today's has only its open.",
    run: (day, args) =>
      isKnown(day, args.symbol)
        ? { answer: { symbol: args.symbol, bars: day.market.bars(args.symbol, args.days).map(knownFields) } }
        : unknownSymbol(args.symbol),
  }),
  tool('get_portfolio', {
    description: "Cash and holdings as they are now, valued at today's open.",
    run: (day) => ({ answer: portfolioReport(day) }),
  }),
  tool('calculate', {
    description: 'Arithmetic: numbers, + - * / % ^, parentheses, abs ceil floor max min round sqrt.',
    run: (_day, { expression }) => evaluate(expression),
  }),
  tool('search_news', {
    description:
      'News published before today, as date, title, URL and snippet. `undated` counts what was left out for want of a certain date.',
    isOffered: ({ news }) => news != null,
    isFromOutside: true,
    run: (day, { query }) => searchNews(day, query),
  }),
];

/** The tools of a day as the model reads them. */
export function toolDescriptions(day: TradingDay): ToolDescription[] {
  return toolsOf(day).map(({ name, description, parameters }) => ({ name, description, parameters }));
}

function toolsOf(day: TradingDay): Tool[] {
  return tools.filter(({ isOffered }) => isOffered?.(day) ?? true);
}

/**
 * Runs one call of the model against the day. Whatever is wrong with the call is an answer for the model to read, and
 * leaves the day as it was. `recorded` is what the call brought before, when a journal is played again.
 */
export async function runTool(day: TradingDay, call: ToolCall, recorded?: string): Promise<ToolResult> {
  if (recorded !== undefined && tools.some(({ name, isFromOutside }) => name === call.name && isFromOutside))
    return { content: recorded, refused: 'error' in JSON.parse(recorded) };
  const reply = await replyTo(day, call);
  return { content: JSON.stringify(reply.answer ?? { error: reply.refusal }), refused: reply.refusal !== undefined };
}

/** Cash and holdings at today's open, in dollars: the same for the prompt and for `get_portfolio`. */
export function describePortfolio({ market, portfolio }: TradingDay) {
  const marks = new Map([...portfolio.holdings.keys()].map((symbol) => [symbol, market.mark(symbol)]));
  const holdings = [...portfolio.holdings]
    .map(([symbol, quantity]) => ({ symbol, quantity, price: toDollars(marks.get(symbol) as Money) }))
    .sort((one, other) => (one.symbol < other.symbol ? -1 : 1));
  return { cash: toDollars(portfolio.cash), holdings, portfolioValue: toDollars(valueOf(portfolio, marks)) };
}

function portfolioReport(day: TradingDay): Record<string, unknown> {
  const { cash, holdings, portfolioValue } = describePortfolio(day);
  return { cash, holdings, portfolio_value: portfolioValue };
}

function replyTo(day: TradingDay, call: ToolCall): Reply | Promise<Reply> {
  const offered = toolsOf(day);
  const tool = offered.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const names = offered.map(({ name }) => name).join(', ');
    return { refusal: `There is no tool named ${shown(call.name)}. The tools are ${names}.` };
  }
  const input = tryParse(call.arguments === '' ? '{}' : call.arguments);
  if (input === undefined) return { refusal: `The arguments of ${tool.name} are not JSON.` };
  const args = v.safeParse(tool.schema, input);
  if (!args.success) return { refusal: args.issues.map((issue) => describeIssue(tool.name, issue)).join(' ') };
  return tool.run(day, args.output);
}

function trade(
  day: TradingDay,
  actionType: 'buy' | 'sell',
  { symbol, amount }: { symbol: string; amount: number },
): Reply {
  if (actionType === 'buy' && !day.universe.has(symbol))
    return { refusal: `Cannot buy ${symbol}: it is not among the symbols that can be traded.` };
  if (actionType === 'sell' && quantityOf(day.portfolio, symbol) === 0)
    return { refusal: `Cannot sell ${symbol}: none is held.` };
  const { open } = day.market.quote(symbol);
  if (open === null) return { refusal: `Cannot ${actionType} ${symbol}: it has no price on ${day.market.date}.` };
  const costs = day.costs ?? NO_COSTS;
  const price = fillPrice(open, actionType, costs);
  const order: Order = { symbol, amount, price, costs };
  const execution: Execution = actionType === 'buy' ? buy(day.portfolio, order) : sell(day.portfolio, order);
  if (execution.refusal !== undefined) return execution;
  day.portfolio = execution.portfolio;
  day.actions.push({ actionType, symbol, amount, price, portfolio: execution.portfolio });
  const commission = commissionOn(money(amount * price), costs);
  return {
    answer: {
      executed: actionType,
      symbol,
      amount,
      price: toDollars(price),
      ...(commission > 0 && { commission: toDollars(commission) }),
      cash: toDollars(day.portfolio.cash),
      holding: quantityOf(day.portfolio, symbol),
    },
  };
}

function getPrice(day: TradingDay, symbol: string, date: CalendarDate): Reply {
  const today = day.market.date;
  if (date > today) return { refusal: `No prices are known after today, ${today}.` };
  if (!isKnown(day, symbol)) return unknownSymbol(symbol);
  const bar = day.market.bar(symbol, date);
  if (bar === null) return { refusal: `There is no price of ${symbol} on ${date}.` };
  return { answer: { symbol, ...knownFields(bar) } };
}

function isKnown(day: TradingDay, symbol: string): boolean {
  return day.universe.has(symbol) || quantityOf(day.portfolio, symbol) > 0;
}

function unknownSymbol(symbol: string): Reply {
  return { refusal: `${symbol} is not among the symbols that can be traded.` };
}

/** A bar without its symbol and without the fields that are not known. */
function knownFields({ symbol: _symbol, ...bar }: Bar): Record<string, unknown> {
  return Object.fromEntries(Object.entries(bar).filter(([, value]) => value !== null));
}

function evaluate(expression: string): Reply {
  try {
    return { answer: { result: calculate(expression) } };
  } catch (error) {
    return { refusal: `Cannot calculate: ${(error as Error).message}.` };
  }
}

async function searchNews({ news }: TradingDay, query: string): Promise<Reply> {
  const found = await (news as NewsSearch)(query); // a day without news does not offer the tool
  return found.refusal === undefined ? { answer: { ...found } } : { refusal: found.refusal };
}

/** A row of the table. `replyTo` gives each tool only what its own schema let through. */
function tool<Name extends ToolName>(name: Name, row: Row<ToolArguments<Name>>): Tool {
  return { name, parameters: toolParameters[name], schema: toolArguments[name], ...(row as unknown as Row<unknown>) };
}
