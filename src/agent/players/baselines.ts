import { type BaselineStrategy, holdsPart } from '../../basics/domain.ts';
import { type Brief, MAX_TOOL_CALLS, type ToolCall } from '../../wire/protocol.ts';
import { boardOf, wholeLots } from '../../basics/market-rules.ts';
import type { Model, ModelAnswer } from '../model.ts';
import { equalAmounts, type Order, type Stock } from './equal-amounts.ts';
import {
  call,
  createRandom,
  pricesIn,
  sample,
  say,
  toolReplies,
  type ToolReply,
} from './simulated-model.ts';

/**
 * The baselines: rules that anyone can follow, for comparison with the models. A rule's orders
 * depend only on the signature, the date, the portfolio and the prices.
 */

/** A part of a day as a conversation: yields words and tool calls, and receives their results. */
type Step<Result> = Generator<{ words: string; calls: ToolCall[] }, Result, ToolReply[]>;
/** The whole of it returns its summary. */
type Play = Step<string>;

/**
 * Momentum: the return over this many bars, about three months (Jegadeesh and Titman 1993), or as
 * many as there are.
 */
const MOMENTUM_BARS = 63;
/** Momentum holds the best tenth, like their winners' portfolio. */
const WINNERS_SHARE = 0.1;
/**
 * Equal amounts are bought only on days on which at least this fraction of the universe has a
 * price.
 */
const LEAST_PRICED_SHARE = 0.5;
/**
 * How many symbols are checked for the date of the last session, because one may have had a day
 * without trading.
 */
const SYMBOLS_ASKED = 3;
/** Random: how many stocks it holds, and the chance that it sells each one on a day. */
const RANDOM_STOCKS = 5;
const RANDOM_SALE_CHANCE = 0.2;
/**
 * A refused purchase is retried with this fraction of the available cash, to leave room for trading
 * costs.
 */
const SECOND_TRY_SHARE = 0.98;
/** How many shares a limit allows, in the sentence of its refusal. */
const ALLOWED = /at most (\d+) shares? can be bought/;
const NOT_TODAY = 'I trade in the first session of a week, and hold what I have until then.';
const NOTHING_TO_RANK_BY = 'There are no earlier prices to rank by.';
const UNITS_PER_DOLLAR = 10_000;
const DAY_MS = 86_400_000;

const strategies: Record<BaselineStrategy, (brief: Brief, signature: string) => Play> = {
  'buy-and-hold': buyAndHold,
  'equal-weight': equalWeight,
  momentum,
  random: randomTrades,
  cash: (brief) => trade(brief, [], 'I hold cash.'),
};

/**
 * When it holds nothing, it buys equal amounts of every stock with a price, and never trades again.
 */
function* buyAndHold(brief: Brief): Play {
  if (brief.holdings.length > 0) return 'I hold what I have.';
  const words = 'I buy equal amounts of all stocks with a price, and hold them from now on.';
  return waitingFor(brief) ?? (yield* tradeAll(brief, words));
}

/**
 * Restores equal amounts of every stock with a price in the first session of each week, and when it
 * holds nothing.
 */
function* equalWeight(brief: Brief): Play {
  if (brief.holdings.length > 0 && !isFirstOfWeek(brief, yield* previousSession(brief)))
    return NOT_TODAY;
  const words = 'I rebalance all stocks with a price to equal amounts.';
  return waitingFor(brief) ?? (yield* tradeAll(brief, words));
}

/**
 * Moves into equal amounts of every stock with a price, and says when it cannot hold all of them.
 */
function* tradeAll(brief: Brief, words: string): Play {
  const stocks = stocksOf(brief);
  const orders = equalAmounts(stocks, { cash: units(brief.cash), wanted: namesOf(stocks) });
  const summary = yield* trade(brief, orders, words);
  const bought = new Set(orders.filter(({ side }) => side === 'buy').map(({ symbol }) => symbol));
  const kept = stocks.filter(({ symbol, held }) => held > 0 || bought.has(symbol)).length;
  return kept === stocks.length ? summary : `${summary} It ${holdsPart(kept, stocks.length)}.`;
}

/**
 * In the first session of each week, and when it holds nothing, it ranks every stock with a price
 * by its return from the close of `MOMENTUM_BARS` bars ago to today's open, and moves into the best
 * tenth in equal amounts.
 */
function* momentum(brief: Brief): Play {
  const previous = yield* previousSession(brief);
  if (brief.holdings.length > 0 && !isFirstOfWeek(brief, previous)) return NOT_TODAY;
  const waiting = waitingFor(brief);
  if (waiting !== null) return waiting;
  if (previous === null) return NOTHING_TO_RANK_BY;
  const [history] = yield {
    words: `Which session was ${MOMENTUM_BARS} bars ago?`,
    calls: [call('get_price_history', { symbol: previous.symbol, days: MOMENTUM_BARS + 1 })],
  };
  const from = history?.bars?.[0]?.date ?? previous.date;
  const stocks = stocksOf(brief);
  const past = yield {
    words: `What has risen most since the close of ${from}?`,
    calls: stocks.map(({ symbol }) => call('get_price', { symbol, date: from })),
  };
  const winners = bestOf(stocks, past);
  if (winners.length === 0) return NOTHING_TO_RANK_BY;
  const orders = equalAmounts(stocks, { cash: units(brief.cash), wanted: namesOf(winners) });
  const names = winners.map(({ symbol }) => symbol).join(', ');
  const words = `I hold the stocks that have risen most since ${from}: ${names}.`;
  return yield* trade(brief, orders, words);
}

/**
 * Sells each of its stocks with a chance of one in five, then fills up to five with randomly drawn
 * others, each for an equal part of the cash. Seeded by signature and date.
 */
function* randomTrades(brief: Brief, signature: string): Play {
  const random = createRandom(JSON.stringify([signature, brief.date]));
  const stocks = stocksOf(brief);
  const sold = stocks.filter(({ held }) => held > 0).filter(() => random() < RANDOM_SALE_CHANCE);
  const missing = RANDOM_STOCKS - (brief.holdings.length - sold.length);
  const cash = sold.reduce((sum, { price, held }) => sum + price * held, units(brief.cash));
  const amount = cash / missing;
  const others = stocks.filter(
    ({ price, held, board }) => held === 0 && price * board.minimum <= amount,
  );
  const drawn = missing > 0 ? sample(random, others, missing) : [];
  const orders: Order[] = [
    ...sold.map(({ symbol, held }): Order => ({ side: 'sell', symbol, amount: held })),
    ...drawn.map(({ symbol, price, board }): Order => {
      return { side: 'buy', symbol, amount: wholeLots(board, Math.floor(amount / price)) };
    }),
  ];
  return yield* trade(brief, orders, 'I trade what the dice say.');
}

/**
 * Places the orders, retries with less those that were refused for lack of cash, and returns a
 * summary.
 */
function* trade(brief: Brief, orders: readonly Order[], words: string): Play {
  if (orders.length === 0) return `${words} There is nothing to trade today.`;
  const replies = yield { words, calls: orders.map(orderCall) };
  const smaller = secondTry(brief, orders, replies);
  const again = 'I retry the refused purchases with less.';
  if (smaller.length > 0) replies.push(...(yield { words: again, calls: smaller.map(orderCall) }));
  const executed = (side: string) =>
    replies.filter((reply) => (reply.executed ?? reply.placed) === side).length;
  const refused = orders.length + smaller.length - executed('buy') - executed('sell');
  return `${words} Bought ${executed('buy')}, sold ${executed('sell')}, ${refused} orders refused.`;
}

/**
 * The refused purchases, reduced to what the available cash allows; without those that it does not
 * allow at all.
 */
function secondTry(brief: Brief, orders: readonly Order[], replies: readonly ToolReply[]): Order[] {
  const prices = new Map(stocksOf(brief).map(({ symbol, price }) => [symbol, price]));
  const last = replies.findLast(({ cash, cash_left }) => (cash ?? cash_left) !== undefined);
  let cash = units(last?.cash ?? last?.cash_left ?? brief.cash) * SECOND_TRY_SHARE;
  return orders.flatMap((order, index) => {
    const price = prices.get(order.symbol);
    if (order.side === 'sell' || price === undefined || replies[index]?.error === undefined)
      return [];
    const allowed = ALLOWED.exec(replies[index].error)?.[1] ?? (brief.limits ? 0 : Infinity);
    const most = Math.min(order.amount - 1, Math.floor(cash / price), Number(allowed));
    const amount = wholeLots(boardOf(brief.rules, order.symbol), most);
    if (amount < 1) return [];
    cash -= amount * price;
    return [{ ...order, amount }];
  });
}

function orderCall({ side, symbol, amount }: Order): ToolCall {
  return call(side, { symbol, amount });
}

/**
 * Every stock with a price today, and how much of it is held. Holdings outside the universe can be
 * sold, but not bought.
 */
function stocksOf(brief: Brief): Stock[] {
  const held = new Map(brief.holdings.map(({ symbol, quantity }) => [symbol, quantity]));
  return pricesIn(brief).flatMap(({ symbol, price }) =>
    price === null
      ? []
      : [
          {
            ...{ symbol, price: units(price), held: held.get(symbol) ?? 0 },
            board: boardOf(brief.rules, symbol),
          },
        ],
  );
}

/**
 * The date of the last session before today, and a symbol that traded in it; null when nothing has
 * an earlier price.
 */
function* previousSession(brief: Brief): Step<{ symbol: string; date: string } | null> {
  const { date, quotes } = brief;
  const known = pricesIn(brief).filter(
    ({ price }, index) => price !== null && quotes[index]?.previousClose != null,
  );
  const asked = known.slice(0, SYMBOLS_ASKED).map(({ symbol }) => symbol);
  if (asked.length === 0) return null;
  const replies = yield {
    words: 'When was the last session?',
    calls: asked.map((symbol) => call('get_price_history', { symbol, days: 2 })),
  };
  const sessions = replies.flatMap(({ symbol = '', bars = [] }) =>
    bars.filter((bar) => bar.date < date).map((bar) => ({ symbol, date: bar.date })),
  );
  return sessions.sort((one, other) => other.date.localeCompare(one.date))[0] ?? null;
}

/** Whether today is the first session of its week; false when that is unknown. */
function isFirstOfWeek({ date }: Brief, previous: { date: string } | null): boolean {
  return previous !== null && weekOf(previous.date) !== weekOf(date);
}

/** The number of a week, Monday to Sunday. Day 0, 1970-01-01, was a Thursday. */
function weekOf(date: string): number {
  return Math.floor((Date.parse(date) / DAY_MS + 3) / 7);
}

/**
 * Why it waits: too few symbols have a price today for equal amounts of them to represent the
 * universe. Null where enough have.
 */
function waitingFor(brief: Brief): string | null {
  const all = brief.quotes.length;
  const priced = pricesIn(brief).filter(({ price }) => price !== null).length;
  if (priced >= all * LEAST_PRICED_SHARE) return null;
  const verb = priced === 1 ? 'has' : 'have';
  return `I wait: ${priced} of ${all} symbols ${verb} a price today, and I trade when at least half of them have one.`;
}

/**
 * The best tenth, at least one, of the stocks with a known price at that time; ties are broken by
 * name.
 */
function bestOf(stocks: readonly Stock[], past: readonly ToolReply[]): Stock[] {
  const ranked = stocks
    .flatMap((stock, index) => {
      const close = past[index]?.close;
      return close === undefined ? [] : [{ stock, growth: stock.price / units(close) }];
    })
    .sort(
      (one, other) => other.growth - one.growth || (one.stock.symbol < other.stock.symbol ? -1 : 1),
    );
  return ranked.slice(0, Math.ceil(ranked.length * WINNERS_SHARE)).map(({ stock }) => stock);
}

function namesOf(stocks: readonly Stock[]): Set<string> {
  return new Set(stocks.map(({ symbol }) => symbol));
}

/** Dollars in 1/10000. */
function units(dollars: number): number {
  return Math.round(dollars * UNITS_PER_DOLLAR);
}

/** No provider is involved, so there are no tokens to count or pay for. */
const NO_TOKENS = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/**
 * A rule that trades in a model's place, through the same conversation and tools. It keeps no state
 * between two answers: each time, it replays its day from the start against the tools' replies so
 * far, so it can continue any conversation. Calls that exceed the limit of one answer are spread
 * over several.
 */
export function createBaselineModel(
  strategy: BaselineStrategy,
  { signature, brief }: { signature: string; brief: Brief },
): Model {
  return async (conversation) => {
    const replies = toolReplies(conversation);
    const play = strategies[strategy](brief, signature);
    let heard = 0;
    let turn = play.next([]);
    while (turn.done !== true) {
      const { words, calls } = turn.value;
      const answered = replies.slice(heard, heard + calls.length);
      if (answered.length < calls.length) return speak(words, calls.slice(answered.length));
      heard += calls.length;
      turn = play.next(answered);
    }
    return speak(turn.value);
  };
}

function speak(words: string, calls: readonly ToolCall[] = []): ModelAnswer {
  return { ...say(words, calls.slice(0, MAX_TOOL_CALLS)), usage: NO_TOKENS };
}
