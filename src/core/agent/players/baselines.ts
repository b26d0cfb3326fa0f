import type { BaselineStrategy } from '#domain/vocabulary.ts';
import { type Brief, MAX_TOOL_CALLS, type ToolCall } from '#wire/protocol.ts';
import { wholeLots } from '#domain/market-rules.ts';
import { type Model, type ModelAnswer, NO_TOKENS } from '#agent/model.ts';
import { minimumCost, type PlannedOrder, type Stock } from './equal-amounts.ts';
import {
  planEqualAmounts,
  type BaselineDay,
  planMissing,
  spendableCash,
  type ToolDialogue,
  tradableStocks,
  placeOrders,
  dollarUnits,
} from './place-orders.ts';
import {
  call,
  createRandom,
  decidingPrices,
  heldShares,
  sample,
  say,
  toolReplies,
  type ToolReply,
} from './simulated-model.ts';

/**
 * The baselines: rules that anyone can follow, for comparison with the models. A rule's orders
 * depend only on the signature, the date, the portfolio and the prices.
 */

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
/** Sessions before today that reach into the week before. */
const SESSIONS_OF_WEEK = 7;
/** Random: how many stocks it holds, and the chance that it sells each one on a day. */
const RANDOM_STOCKS = 5;
const RANDOM_SALE_CHANCE = 0.2;
const NOT_TODAY = 'I trade in the first session of a week, and hold what I have until then.';
const NOTHING_TO_RANK_BY = 'There are no earlier prices to rank by.';
const DAY_MS = 86_400_000;

const strategies: Record<BaselineStrategy, (brief: Brief, signature: string) => BaselineDay> = {
  'buy-and-hold': buyAndHold,
  'equal-weight': equalWeight,
  momentum,
  random: randomTrades,
  cash: (brief) => placeOrders(brief, [], { words: 'I hold cash.' }),
};

/**
 * Buys equal amounts of every stock with a price, over several days where it may place few orders a
 * day, and holds them.
 */
function* buyAndHold(brief: Brief): BaselineDay {
  const orders = planMissing(brief);
  if (orders.length === 0 && brief.holdings.length > 0) return 'I hold what I have.';
  const words = 'I buy equal amounts of all stocks with a price, and hold them from now on.';
  return yield* tradeAll(brief, orders, words);
}

/**
 * Restores equal amounts of every stock with a price in the first session of each week, and when it
 * holds nothing. On other days it buys what it lacks.
 */
function* equalWeight(brief: Brief): BaselineDay {
  const isFirst = brief.holdings.length === 0 || isWeekStart(brief, yield* pastSessions(brief));
  const orders = isFirst ? planEqualAmounts(brief) : planMissing(brief);
  if (orders.length === 0 && !isFirst) return NOT_TODAY;
  const words = 'I rebalance all stocks with a price to equal amounts.';
  return yield* tradeAll(brief, orders, words);
}

function* tradeAll(brief: Brief, orders: readonly PlannedOrder[], words: string): BaselineDay {
  return waitReason(brief) ?? (yield* placeOrders(brief, orders, { words, isOfAll: true }));
}

/**
 * In the first session of each week, and when it holds nothing, it ranks every stock with a price
 * by its return from the close of `MOMENTUM_BARS` bars ago to today's open, and moves into the best
 * tenth in equal amounts. Where it may place few orders a day, it continues in the rest of the week
 * by the ranking of its first session.
 */
function* momentum(brief: Brief): BaselineDay {
  const { date, holdings, isOpenHidden, limits } = brief;
  const isLimited = limits?.max_orders != null;
  const previous = yield* pastSessions(brief, isLimited ? SESSIONS_OF_WEEK : 1);
  if (holdings.length > 0 && !isLimited && !isWeekStart(brief, previous)) return NOT_TODAY;
  const waiting = waitReason(brief);
  if (waiting !== null) return waiting;
  if (previous === null) return NOTHING_TO_RANK_BY;
  const { symbol, dates } = previous;
  const week = dates.filter((day) => isLimited && weekNumber(day) === weekNumber(date));
  const [history] = yield {
    words: `Which session was ${MOMENTUM_BARS} bars ago?`,
    calls: [call('get_price_history', { symbol, days: MOMENTUM_BARS + 1 + week.length })],
  };
  const from = history?.bars?.[0]?.date ?? previous.date;
  const stocks = tradableStocks(brief);
  const pricesOn = (day: string) =>
    stocks.map((own) => call('get_price', { symbol: own.symbol, date: day }));
  const past = yield {
    words: `What has risen most since the close of ${from}?`,
    calls: pricesOn(from),
  };
  // What decided in the first session of the week: its open, or where that was hidden the close before.
  const first = week.length > 0 && dates.at(isOpenHidden ? -week.length - 1 : -week.length);
  const then = first ? yield { words: `And until ${first}?`, calls: pricesOn(first) } : null;
  const winners = selectWinners(stocks, past, (stock, index) => {
    const { open, close } = then?.[index] ?? {};
    return then === null ? stock.price : dollarUnits((isOpenHidden ? close : open) ?? 0);
  });
  if (winners.length === 0) return NOTHING_TO_RANK_BY;
  const held = heldShares(brief);
  const isLater = held.size > 0 && week.length > 0;
  const orders = planEqualAmounts(brief, winners).filter((order) => {
    const ended = order.side === 'sell' ? order.amount : undefined;
    return !isLater || ended === held.get(order.symbol); // it ends a holding, or begins one
  });
  const names = winners.map((own) => own.symbol).join(', ');
  const words = `I hold the stocks that have risen most since ${from}: ${names}.`;
  return yield* placeOrders(brief, orders, { words });
}

/**
 * Sells each of its stocks with a chance of one in five, then fills up to five with randomly drawn
 * others, each for an equal part of the cash. Seeded by signature and date.
 */
function* randomTrades(brief: Brief, signature: string): BaselineDay {
  const random = createRandom(JSON.stringify([signature, brief.date]));
  const stocks = tradableStocks(brief);
  const sold = stocks.filter(({ held }) => held > 0).filter(() => random() < RANDOM_SALE_CHANCE);
  const missing = RANDOM_STOCKS - (brief.holdings.length - sold.length);
  const cash = sold.reduce((sum, { price, held }) => sum + price * held, spendableCash(brief));
  const amount = cash / missing;
  const others = stocks.filter((stock) => stock.held === 0 && minimumCost(stock) <= amount);
  const drawn = missing > 0 ? sample(random, others, missing) : [];
  const orders: PlannedOrder[] = [
    ...sold.map(({ symbol, held }): PlannedOrder => ({ side: 'sell', symbol, amount: held })),
    ...drawn.map(({ symbol, price, board }): PlannedOrder => {
      return { side: 'buy', symbol, amount: wholeLots(board, Math.floor(amount / price)) };
    }),
  ];
  return yield* placeOrders(brief, orders, { words: 'I trade what the dice say.' });
}

/**
 * The date of the last session before today, a symbol that traded in it, and the dates of the last
 * sessions of that, so many where it has them; null when nothing has an earlier price.
 */
function* pastSessions(
  brief: Brief,
  most = 1,
): ToolDialogue<{ symbol: string; date: string; dates: string[] } | null> {
  const { date, quotes } = brief;
  const known = decidingPrices(brief).filter(
    ({ price }, index) => price !== null && quotes[index]?.previousClose != null,
  );
  const asked = known.slice(0, SYMBOLS_ASKED).map(({ symbol }) => symbol);
  if (asked.length === 0) return null;
  const replies = yield {
    words: 'When was the last session?',
    calls: asked.map((symbol) => call('get_price_history', { symbol, days: most + 1 })),
  };
  const sessions = replies.flatMap(({ symbol = '', bars = [] }) => {
    const dates = bars.map((bar) => bar.date).filter((day) => day < date);
    const last = dates.at(-1);
    return last === undefined ? [] : [{ symbol, date: last, dates }];
  });
  return sessions.sort((one, other) => other.date.localeCompare(one.date))[0] ?? null;
}

/** Whether today is the first session of its week; false when that is unknown. */
function isWeekStart({ date }: Brief, previous: { date: string } | null): boolean {
  return previous !== null && weekNumber(previous.date) !== weekNumber(date);
}

/** The number of a week, Monday to Sunday. Day 0, 1970-01-01, was a Thursday. */
function weekNumber(date: string): number {
  return Math.floor((Date.parse(date) / DAY_MS + 3) / 7);
}

/**
 * Why it waits: too few symbols have a price today for equal amounts of them to represent the
 * universe. Null where enough have.
 */
function waitReason(brief: Brief): string | null {
  const all = brief.quotes.length;
  const priced = decidingPrices(brief).filter(({ price }) => price !== null).length;
  if (priced >= all * LEAST_PRICED_SHARE) return null;
  const verb = priced === 1 ? 'has' : 'have';
  return `I wait: ${priced} of ${all} symbols ${verb} a price today, and I trade when at least half of them have one.`;
}

/**
 * The best tenth, at least one, of the stocks with a price and a known close at the time before;
 * ties are broken by name.
 */
function selectWinners(
  stocks: readonly Stock[],
  past: readonly ToolReply[],
  priceOf: (stock: Stock, index: number) => number,
): Stock[] {
  const ranked = stocks
    .flatMap((stock, index) => {
      const price = priceOf(stock, index);
      const close = past[index]?.close;
      return close === undefined || price === 0
        ? []
        : [{ stock, growth: price / dollarUnits(close) }];
    })
    .sort(
      (one, other) => other.growth - one.growth || (one.stock.symbol < other.stock.symbol ? -1 : 1),
    );
  return ranked.slice(0, Math.ceil(ranked.length * WINNERS_SHARE)).map(({ stock }) => stock);
}

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
