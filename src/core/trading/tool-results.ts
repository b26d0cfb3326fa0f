import * as v from 'valibot';
import { sides } from '#database/decisions.ts';
import type { ToolName } from './tool-arguments.ts';

/**
 * What each tool answers, as the interface description has it. The tools are typed by these
 * schemas, so that what is described is what they make.
 */

const shape = <const Entries extends v.ObjectEntries>(title: string, entries: Entries) =>
  v.pipe(v.object(entries), v.title(title));

const [text, number] = [v.string(), v.number()];
const perhaps = v.optional(number);
const side = v.picklist(sides);
const ordered = { symbol: text, amount: number };

const executed = shape('ExecutedOrder', {
  executed: side,
  ...ordered,
  cut: v.optional(text),
  price: number,
  commission: perhaps,
  cash: number,
  holding: number,
});
/** With a hidden open, as what follows with `placed` or `cash_left`. */
const placed = shape('PlacedOrder', {
  placed: side,
  ...ordered,
  cut: v.optional(text),
  at_previous_close: number,
  cash_left: number,
});
const order = v.union([executed, placed]);
/** What a rebalance leaves out. */
const refused = shape('RefusedOrder', {
  error: text,
  symbol: text,
  side: v.optional(side),
  amount: perhaps,
});
const bar = {
  date: text,
  open: number,
  high: perhaps,
  low: perhaps,
  close: perhaps,
  volume: perhaps,
};
const document = { id: text, kind: text, symbols: v.array(text), title: text };

export const toolResults = {
  buy: order,
  sell: order,
  rebalance: shape('RebalanceResult', {
    orders: v.array(v.union([executed, placed, refused])),
    cut: v.optional(text),
    cash: perhaps,
    cash_left: perhaps,
  }),
  get_price: shape('PriceResult', { symbol: text, ...bar }),
  get_price_history: shape('PriceHistory', { symbol: text, bars: v.array(shape('PriceBar', bar)) }),
  get_portfolio: shape('PortfolioResult', {
    cash: number,
    holdings: v.array(shape('ToolHolding', { symbol: text, quantity: number, price: number })),
    portfolio_value: number,
    placed: v.optional(v.array(shape('WaitingOrder', { side, ...ordered }))),
  }),
  calculate: shape('Calculation', { result: number }),
  search_news: shape('NewsFound', {
    results: v.array(shape('NewsItem', { date: text, title: text, url: text, snippet: text })),
    undated: number,
  }),
  list_documents: shape('DocumentList', {
    documents: v.array(shape('ListedDocument', { ...document, date: text, excerpt: text })),
  }),
  read_document: shape('DocumentPart', {
    ...document,
    source: v.nullable(text),
    published_at: text,
    characters: number,
    offset: number,
    text,
    left: number,
  }),
  write_note: shape('NoteSaved', { saved: v.boolean(), characters: number }),
} satisfies Record<ToolName, v.GenericSchema>;

/** Refusal of any tool: one sentence. */
export const toolRefusal = shape('ToolRefusal', { error: text });

export type ToolResult<Name extends ToolName> = v.InferOutput<(typeof toolResults)[Name]>;
