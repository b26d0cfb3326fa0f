import { findBoard, wholeLots } from '#domain/market-rules.ts';
import type { Brief, ToolCall } from '#wire/protocol.ts';
import type { ChatMessage, Model, ModelAnswer } from '#agent/model.ts';
import { hashText } from '#text/hash.ts';

/** What all rule-based models share: their answers, and how they read the tools' replies. */

/** The fields of the tools' replies that they read. Amounts of money are dollars. */
export interface ToolReply {
  error?: string;
  executed?: 'buy' | 'sell';
  /** Of an order that waits for the open. */
  placed?: 'buy' | 'sell';
  symbol?: string;
  amount?: number;
  price?: number;
  /** After an order; with those that wait for the open. */
  cash?: number;
  cash_left?: number;
  open?: number;
  close?: number;
  bars?: { date: string; open: number; close?: number }[];
}

/** Each symbol with the price by which orders are decided; null without one. */
export function decidingPrices({ quotes, isOpenHidden }: Brief) {
  return quotes.map(({ symbol, open, previousClose }) => {
    return { symbol, price: isOpenHidden ? previousClose : open };
  });
}

/** How many shares of each symbol are held. */
export function heldShares({ holdings }: Brief): Map<string, number> {
  return new Map(holdings.map(({ symbol, quantity }) => [symbol, quantity]));
}

/** An answer; without a tool call it ends the day. */
export function say(content: string, toolCalls: readonly ToolCall[] = []): ModelAnswer {
  const calls = toolCalls.map((one, index) => ({ ...one, id: `call_${index + 1}` }));
  return { content, toolCalls: calls, reasoning: null, usage: null, note: null };
}

/** A tool call; `say` gives it its id. */
export function call(name: string, args: Record<string, unknown>): ToolCall {
  return { id: '', name, arguments: JSON.stringify(args) };
}

export function toolReplies(messages: readonly ChatMessage[]): ToolReply[] {
  return messages.flatMap((message) =>
    message.role === 'tool' ? [JSON.parse(message.content) as ToolReply] : [],
  );
}

/** A source of numbers from 0 up to 1, the same for the same seed on every machine. */
export type Random = () => number;

/** The mulberry32 generator (public domain), seeded with the seed's hash. */
export function createRandom(seed: string): Random {
  let state = hashText(seed) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the items; the list must not be empty. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('Cannot pick from an empty list');
  return item;
}

export function sample<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  const rest = [...items];
  const chosen: Item[] = [];
  while (chosen.length < count && rest.length > 0)
    chosen.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return chosen;
}

/**
 * A model without a provider. It reads the same conversation and uses the same tools as a real one,
 * trades by a simple rule, and occasionally makes the mistakes that real models make. It is
 * deterministic for (signature, date, portfolio). The runs of an entry have one temperament, that
 * of their family, and draw independently. One whose name begins with `unreliable` fails on some
 * days, as models of overloaded providers do.
 */

/**
 * How a temperament trades: its preferred momentum (+1 buys what rose, -1 buys what fell, 0 spreads
 * evenly), how much of its cash it spends, how often it does nothing.
 */
export const temperaments = [
  { name: 'momentum', direction: 1, spending: 0.6, curiosity: 4, patience: 0.05 },
  { name: 'contrarian', direction: -1, spending: 0.4, curiosity: 4, patience: 0.15 },
  { name: 'diversifier', direction: 0, spending: 0.3, curiosity: 3, patience: 0.1 },
  { name: 'cautious', direction: 1, spending: 0.1, curiosity: 2, patience: 0.5 },
] as const;
type Temperament = (typeof temperaments)[number];

const HISTORY_DAYS = 6;
const HELD_SYMBOLS_WATCHED = 2;
const CARELESSNESS = 0.3;
const UNRELIABLE = /^unreliable/;
/** The chance that an unreliable model fails on a day. */
const FAILURES = 0.06;

/**
 * A move is the return of a symbol over its history up to the price that it decides by: 0.05 is
 * five percent up.
 */
type Move = { symbol: string; price: number; move: number };

export function chooseTemperament(family: string): Temperament {
  return pick(createRandom(`strategy of ${family}`), temperaments);
}

export function createSimulatedModel(
  { signature, family }: { signature: string; family: string },
  brief: Brief,
): Model {
  const temperament = chooseTemperament(family);
  const isUnreliable = UNRELIABLE.test(family);
  const seed = JSON.stringify([signature, brief.date, brief.cash, brief.holdings]);
  return async (conversation) => {
    const step = conversation.filter(({ role }) => role === 'assistant').length;
    if (step === 0 && isUnreliable && createRandom(`${signature} ${brief.date}`)() < FAILURES)
      throw new Error('The simulated provider is overloaded; it answers again on another day');
    const random = createRandom(`${seed} step ${step}`);
    if (step === 0) return research(brief, { temperament, random });
    if (step === 1) return order(brief, { temperament, random, moves: readMoves(conversation) });
    return step === 2 ? repairOrFinish(conversation) : finish(conversation);
  };
}

interface Mind {
  temperament: Temperament;
  random: Random;
}

function research(brief: Brief, { temperament, random }: Mind): ModelAnswer {
  const { holdings } = brief;
  const trader = `As a ${temperament.name} trader I`;
  if (random() < temperament.patience)
    return say(`${trader} see no reason to trade today. I keep what I have.`);
  const priced = decidingPrices(brief).flatMap(({ symbol, price }) =>
    price === null ? [] : symbol,
  );
  const held = holdings.map(({ symbol }) => symbol);
  const watched = new Set([
    ...sample(random, held, HELD_SYMBOLS_WATCHED),
    ...sample(random, priced, temperament.curiosity),
  ]);
  return say(`${trader} look at ${[...watched].join(', ')} first.`, [
    call('get_portfolio', {}),
    ...[...watched].map((symbol) => call('get_price_history', { symbol, days: HISTORY_DAYS })),
  ]);
}

function order(
  brief: Brief,
  { temperament, random, moves }: Mind & { moves: Move[] },
): ModelAnswer {
  const liked = (move: number) => (temperament.direction === 0 ? 1 : move * temperament.direction);
  const ranked = [...moves].sort((one, other) => liked(other.move) - liked(one.move));
  const held = heldShares(brief);
  const sales = ranked.flatMap(({ symbol, move }) => {
    const quantity = held.get(symbol);
    if (quantity === undefined || liked(move) >= 0) return [];
    const { step } = findBoard(brief.rules, symbol);
    const half = Math.ceil(quantity / 2 / step) * step;
    return [call('sell', { symbol, amount: Math.min(quantity, half) })];
  });
  const wanted = ranked.filter(({ move }) => liked(move) > 0).slice(0, 2);
  const budget = (brief.cash * temperament.spending) / Math.max(1, wanted.length);
  const purchases = wanted
    .map(({ symbol, price }) => ({
      symbol,
      amount: wholeLots(findBoard(brief.rules, symbol), Math.floor(budget / price)),
    }))
    .filter(({ amount }) => amount >= 1)
    .map((args) => call('buy', args));
  const calls = [...sales, ...purchases, ...mistakes(brief, random)];
  if (calls.length === 0) return say('Nothing I looked at is worth a trade today.');
  const reason = describeMoves(ranked, temperament);
  const notes =
    brief.note === undefined ? [] : [call('write_note', { text: `${brief.date}: ${reason}` })];
  return say(reason, [...calls, ...notes]);
}

function describeMoves(ranked: readonly Move[], { name }: Temperament): string {
  const list = ranked
    .map(({ symbol, move }) => `${symbol} ${(move * 100).toFixed(1)} %`)
    .join(', ');
  return `Moves over the last ${HISTORY_DAYS} bars: ${list}. I trade on them as a ${name} trader.`;
}

/** The mistakes of real models, which the tools must refuse. */
function mistakes(brief: Brief, random: Random): ToolCall[] {
  const { cash, quotes } = brief;
  if (random() >= CARELESSNESS) return [];
  const { symbol, price } = pick(random, decidingPrices(brief));
  const affordable = Math.floor(cash / (price ?? 1));
  const held = heldShares(brief);
  const unheld = quotes.find((quote) => !held.has(quote.symbol))?.symbol ?? 'CASH';
  const most = call('buy', { symbol, amount: Math.ceil(affordable * 0.9) + 1 });
  return pick(random, [
    [call('buy', { symbol, amount: affordable * 2 + 1 })],
    [call('buy', { symbol: `${symbol}X`, amount: 1 })],
    [call('sell', { symbol: unheld, amount: 5 })],
    [most, most],
    [call('buy', { symbol, amount: -5 })],
  ]);
}

/**
 * After refusals it checks what it still holds before ending the day; otherwise it ends the day
 * directly.
 */
function repairOrFinish(conversation: readonly ChatMessage[]): ModelAnswer {
  const refused = lastResults(conversation).filter((result) => 'error' in result);
  if (refused.length === 0) return finish(conversation);
  const were = refused.length === 1 ? 'was' : 'were';
  const why = refused.map(({ error }) => error).join(' ');
  const words = `${refused.length} of my orders ${were} refused: ${why} I check what I have now.`;
  return say(words, [call('get_portfolio', {})]);
}

function finish(conversation: readonly ChatMessage[]): ModelAnswer {
  const replies = toolReplies(conversation);
  const orders = replies.filter(({ placed }) => placed === 'buy' || placed === 'sell');
  if (orders.length > 0)
    return say(
      `Placed: ${orders.map(({ placed, amount, symbol }) => `${placed} ${amount} ${symbol}`).join(', ')}.`,
    );
  const trades = replies.filter(({ executed }) => executed !== undefined);
  if (trades.length === 0) return say('No order was executed today.');
  const list = trades.map(
    ({ executed, symbol, amount, price }) => `${executed} ${amount} ${symbol} at ${price}`,
  );
  return say(`Executed today: ${list.join(', ')}.`);
}

function readMoves(conversation: readonly ChatMessage[]): Move[] {
  return lastResults(conversation).flatMap(({ symbol, bars = [] }) => {
    const first = bars[0];
    const last = bars.at(-1);
    if (symbol === undefined || first === undefined || last === undefined || bars.length < 2)
      return [];
    const price = last.close ?? last.open; // today's bar has only its open
    return [{ symbol, price, move: price / (first.close ?? first.open) - 1 }];
  });
}

function lastResults(conversation: readonly ChatMessage[]): ToolReply[] {
  return toolReplies(
    conversation.slice(conversation.findLastIndex(({ role }) => role === 'assistant')),
  );
}
