import assert from 'node:assert/strict';
import * as v from 'valibot';
import { WORDING, type Wording } from '#agent/prompt.ts';
import type { CalendarDate } from '#time/calendar.ts';
import type { Bar } from '#database/prices.ts';
import { errorMessage } from '#domain/service-error.ts';
import { normaliseSymbol } from '#domain/symbols.ts';
import { asObject, type Json, repeatedName, tryParse } from '#json/json.ts';
import type { OrderTool } from '#domain/vocabulary.ts';
import type { Side } from '#database/decisions.ts';
import type { ToolCall, ToolDescription } from '#wire/protocol.ts';
import {
  describeIssue,
  quoteArgument,
  type ToolArguments,
  toolArguments,
  type ToolName,
} from './tool-arguments.ts';
import { calculate } from './calculate.ts';
import { runListDocuments, runReadDocument } from './document-tools.ts';
import { takeOrder } from './orders.ts';
import { rebalance } from './rebalance.ts';
import { toolParameters } from './tool-parameters.ts';
import type { ToolResult } from './tool-results.ts';
import {
  describePortfolio,
  isKnownSymbol,
  type Order,
  canonicalSymbol,
  type Reply,
  type TradingDay,
} from './trading-day.ts';

interface ToolRow<Arguments, Result = Json> {
  description: string;
  /** The description where the open is hidden, if it is another. */
  hidden?: string;
  /** What a day must have for the tool; when omitted, every day has it. */
  offeredIf?: keyof Extras;
  /**
   * Whether it queries an outside service, whose next reply may differ; a resumed session reuses
   * the first result.
   */
  isFromOutside?: true;
  /** The side of its orders, null where they have both; a tool that takes none has no side. */
  side?: Side | null;
  run(day: TradingDay, args: Arguments): Reply<Result> | Promise<Reply<Result>>;
}

/** What some days have and others do not. */
interface Extras {
  hasNews: boolean;
  hasNotes: boolean;
  hasDocuments: boolean;
}

/** Runs the tool with checked arguments. */
type Tool = ToolDescription & ToolRow<unknown>;

/**
 * The tools, as the model reads them and as the parent runs them. To add a tool, add a row here,
 * and its arguments.
 */
const tools: readonly Tool[] = [
  tool('buy', {
    description:
      "Buy whole shares at today's opening price. Refused when there is not enough cash.",
    hidden:
      'Place an order to buy whole shares at the next open. Refused when there is not enough cash at the previous close.',
    side: 'buy',
    run: (day, args) => takeOrder(day, 'buy', args),
  }),
  tool('sell', {
    description:
      "Sell whole shares that are held, at today's opening price. The proceeds can be used immediately.",
    hidden: 'Place an order to sell whole shares that are held, at the next open.',
    side: 'sell',
    run: (day, args) => takeOrder(day, 'sell', args),
  }),
  tool('rebalance', {
    description:
      "Trade to target shares of the portfolio's value at today's open: sells first, then buys, in whole shares; the rest stays cash.",
    hidden:
      "Place orders to reach target shares of the portfolio's value at previous closes: sells first, then buys, in whole shares.",
    side: null,
    run: rebalance,
  }),
  tool('get_price', {
    description:
      "The prices of one symbol: today's open, or an earlier date's open, high, low, close and volume.",
    hidden: 'The prices of one symbol on an earlier date: open, high, low, close and volume.',
    run: (day, args) => getPrice(day, args.symbol, args.date ?? day.market.date),
  }),
  tool('get_price_history', {
    description: "The last daily bars of one symbol, oldest first; today's has only its open.",
    hidden: 'The last daily bars of one symbol before today, oldest first.',
    run: (day, args) =>
      isKnownSymbol(day, args.symbol)
        ? {
            result: {
              symbol: args.symbol,
              bars: day.market.bars(args.symbol, args.days).map(knownFields),
            },
          }
        : unknownSymbol(args.symbol),
  }),
  tool('get_portfolio', {
    description: "Cash and holdings as they are now, valued at today's open.",
    hidden: 'Cash and holdings, valued at previous closes, and the orders placed so far.',
    run: (day) => ({ result: portfolioReport(day) }),
  }),
  tool('calculate', {
    description:
      'Arithmetic: numbers, + - * / % ^, parentheses, abs ceil floor max min round sqrt.',
    run: (_day, { expression }) => evaluate(expression),
  }),
  tool('search_news', {
    description:
      'News published before today, as date, title, URL and snippet. `undated` counts results omitted because their date is uncertain.',
    offeredIf: 'hasNews',
    isFromOutside: true,
    run: (day, { query }) => searchNews(day, query),
  }),
  tool('list_documents', {
    description: 'Documents published before this morning, the newest first, with excerpts.',
    offeredIf: 'hasDocuments',
    run: runListDocuments,
  }),
  tool('read_document', {
    description: 'The text of a document, 20,000 characters at a time; `left` counts the rest.',
    offeredIf: 'hasDocuments',
    run: runReadDocument,
  }),
  tool('write_note', {
    description:
      'Keep a note for your next trading day. It replaces the note before and is in the report of the next morning.',
    offeredIf: 'hasNotes',
    run: (_day, { text }) => ({
      result: { saved: true, characters: [...text].length },
      note: text,
    }),
  }),
];

/** What a day in one answer is asked for; some dialects send it as a tool. */
export const DECISION: ToolDescription = {
  name: 'trading_decision',
  description: 'The decision of the day: orders, or the weights of the whole portfolio.',
  parameters: toolParameters.trading_decision,
};

/** The tools as each version of the wording has them. */
const toolsByWording: Record<Wording, readonly Tool[]> = { 1: tools, 2: tools };

export function toolDescriptions(day: TradingDay): ToolDescription[] {
  return dayTools(day).map(({ name, description, hidden, parameters }) => ({
    name,
    description: (day.isOpenHidden && hidden) || description,
    parameters,
  }));
}

/** The names of the tools of a day; of those that are wanted, where an entry has a list. */
export function offeredToolNames(extras: Extras, wanted?: readonly string[] | null): string[] {
  return offeredTools(extras, wanted).map(({ name }) => name);
}

function dayTools({ news, note, documents, wording, offered }: TradingDay): Tool[] {
  const extras = {
    hasNews: news !== null,
    hasNotes: note !== undefined,
    hasDocuments: documents !== null,
  };
  return offeredTools(extras, offered, wording);
}

function offeredTools(
  extras: Extras,
  wanted: readonly string[] | null | undefined,
  wording: Wording = WORDING,
): Tool[] {
  const own = toolsByWording[wording].filter(({ name }) => wanted?.includes(name) ?? true);
  return own.filter(({ offeredIf }) => offeredIf === undefined || extras[offeredIf]);
}

/**
 * Whether a call queries an outside service on a day, so that its result can only be taken from the
 * record.
 */
export function isFromOutside(day: TradingDay, { name: called }: ToolCall): boolean {
  return dayTools(day).some((tool) => tool.name === called && tool.isFromOutside);
}

export function replyContent({ result, refusal }: Reply): string {
  return JSON.stringify(result ?? { error: refusal });
}

/**
 * What a refused call wanted to order, as far as it can be read; empty for a call of a tool that
 * takes no orders.
 */
export function refusedOrders({ name, arguments: args }: ToolCall, refusal: string): Order[] {
  const side = tools.find((tool) => tool.name === name)?.side;
  const { symbol, amount } = asObject(tryParse(args)) ?? {};
  const wanted = {
    symbol: typeof symbol === 'string' ? normaliseSymbol(symbol) : null,
    amount: Number.isFinite(amount) ? Number(amount) : null,
  };
  return side === undefined ? [] : [{ side, ...wanted, refusal }];
}

function portfolioReport(day: TradingDay): ToolResult<'get_portfolio'> {
  const { cash, holdings, portfolioValue } = describePortfolio(day);
  const { isOpenHidden } = day;
  const placed = day.placed.map(({ side, symbol, amount }) => ({ side, symbol, amount }));
  return { cash, holdings, portfolio_value: portfolioValue, ...(isOpenHidden && { placed }) };
}

/**
 * Runs one call of the model on the day, without changing the day. An error in the call is a
 * refusal, which the model reads.
 */
export function runTool(day: TradingDay, call: ToolCall): Reply | Promise<Reply> {
  const offered = dayTools(day);
  const tool = offered.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const names = offered.map(({ name }) => name).join(', ');
    return {
      refusal: `There is no tool named ${quoteArgument(call.name)}. The tools are ${names}.`,
      isMalformed: true,
    };
  }
  const input = tryParse(call.arguments === '' ? '{}' : call.arguments);
  if (input === undefined)
    return { refusal: `The arguments of ${tool.name} are not JSON.`, isMalformed: true };
  const repeated = repeatedName(call.arguments);
  if (repeated !== undefined)
    return {
      refusal: `${tool.name}: ${quoteArgument(repeated)} is named twice.`,
      isMalformed: true,
    };
  return tool.run(day, input);
}

function getPrice(
  day: TradingDay,
  symbol: string,
  date: CalendarDate,
): Reply<ToolResult<'get_price'>> {
  const today = day.market.date;
  if (date > today) return { refusal: `No prices are known after today, ${today}.` };
  if (day.isOpenHidden && date === today) return { refusal: "Today's open is not known yet." };
  if (!isKnownSymbol(day, symbol)) return unknownSymbol(symbol);
  const bar = day.market.bar(symbol, date);
  if (bar === null) return { refusal: `There is no price of ${symbol} on ${date}.` };
  return { result: { symbol, ...knownFields(bar) } };
}

function unknownSymbol(symbol: string): { refusal: string } {
  return { refusal: `${symbol} is not among the symbols that can be traded.` };
}

/** A bar without its symbol and its unknown fields. */
function knownFields({ symbol: _symbol, date, open, ...more }: Bar) {
  const known: Partial<Record<keyof typeof more, number>> = Object.fromEntries(
    Object.entries(more).filter(([, value]) => value !== null),
  );
  return { date, open, ...known };
}

function evaluate(expression: string): Reply<ToolResult<'calculate'>> {
  try {
    return { result: { result: calculate(expression) } };
  } catch (error) {
    return { refusal: `Cannot calculate: ${errorMessage(error)}.` };
  }
}

async function searchNews(
  { news }: TradingDay,
  query: string,
): Promise<Reply<ToolResult<'search_news'>>> {
  assert(news, 'a day without news does not offer the tool');
  const found = await news(query);
  return found.refusal === undefined ? { result: { ...found } } : found;
}

function withCanonicalSymbol<Arguments extends object>(
  day: TradingDay,
  args: Arguments,
): Arguments {
  const { symbol } = args as { symbol?: unknown };
  return typeof symbol === 'string' ? { ...args, symbol: canonicalSymbol(day, symbol) } : args;
}

/** A row of the table, which accepts only what the tool's own schema does. */
function tool<Name extends ToolName>(
  name: Name,
  row: ToolRow<ToolArguments<Name>, ToolResult<Name>> &
    (Name extends OrderTool ? { side: Side | null } : { side?: never }),
): Tool {
  return {
    ...row,
    name,
    parameters: toolParameters[name],
    run(day, input) {
      const args = v.safeParse(toolArguments[name], input);
      if (args.success) return row.run(day, withCanonicalSymbol(day, args.output));
      const sentences = new Set(args.issues.map((issue) => describeIssue(name, issue))); // 0.5 is neither whole nor at least 1
      return { refusal: [...sentences].join(' '), isMalformed: true };
    },
  };
}
