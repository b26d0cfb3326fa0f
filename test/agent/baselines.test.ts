import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBaselineModel } from '../../src/core/agent/players/baselines.ts';
import type { ChatMessage } from '../../src/core/agent/model.ts';
import { addDays, weekdays } from '../../src/core/time/calendar.ts';
import {
  type CommandDatabase as Database,
  openDatabase,
} from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { storeBars } from '../../src/core/database/prices.ts';
import type { Limits } from '../../src/core/settings/configuration-schema.ts';
import { baselineStrategies, type BaselineStrategy } from '../../src/core/domain/vocabulary.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import { syntheticBars } from '../../src/core/prices/synthetic.ts';
import { openMarket } from '../../src/core/trading/market.ts';
import { knownMarket } from '../../src/core/trading/running-day.ts';
import { describePortfolio } from '../../src/core/trading/trading-day.ts';
import { briefOf, playDay } from '../support/play-day.ts';
import { readPrices } from '../support/prices.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';
import { isLong } from '../support/long.ts';
import { type LedgerDay, tradingDay } from '../support/trading-day.ts';

/** A morning as the parent has it, with this cash and these holdings (`A:3 B:1`). */
function morning(
  prices: string | Database,
  date: string,
  { cash = 10_000, held = '', limits = null as Limits | null, isOpenHidden = false } = {},
) {
  const database = typeof prices === 'string' ? openDatabase(':memory:') : prices;
  if (typeof prices === 'string') storeBars(database, readPrices(prices), { source: 'csv' });
  const universe = new Set(
    rowsAsText(database, 'SELECT DISTINCT symbol FROM price_data ORDER BY symbol'),
  );
  const holdings = held.split(' ').filter(Boolean);
  const market = openMarket(latestPrices(database), date, [...universe]);
  const parts = {
    market: knownMarket({ market, isOpenHidden }),
    isOpenHidden,
    universe,
    limits,
    portfolio: {
      cash: fromDollars(cash),
      holdings: new Map(
        holdings.map((part) => [part.split(':')[0] as string, Number(part.split(':')[1])]),
      ),
    },
  };
  const day: LedgerDay = { ...tradingDay(parts), actions: [] };
  return day;
}

/** Runs a baseline over a day. */
const play = (
  strategy: BaselineStrategy,
  day: LedgerDay,
  { signature = 'yardstick', brief = briefOf(day) } = {},
) => playDay(day, brief, () => createBaselineModel(strategy, { signature, brief }));

const ordersOf = (day: LedgerDay) =>
  day.actions.map(({ actionType, symbol, amount }) => `${actionType} ${symbol} ${amount}`);
/** Orders that were refused; that a symbol has no price on some date is only an answer. */
const refusalsIn = (conversation: readonly ChatMessage[]) =>
  conversation.filter(({ role, content }) => role === 'tool' && /^{"error":"Cannot/.test(content));

/** Monday 10 November 2025 and the Friday and Thursday before. */
const PRICES = `
  A 2025-11-06 100 100
  A 2025-11-07 100 110
  A 2025-11-10 120 -
  B 2025-11-06 50 50
  B 2025-11-07 50 50
  B 2025-11-10 40 -
  C 2025-11-07 20 20`;

/** Strategy, date, cash, what is held, the orders, and what they show. */
const cases = tableOf<[BaselineStrategy, string, string, string, string, string]>(`
  buy-and-hold | 2025-11-06 | 10000 |         | buy A 50, buy B 100             | buys equal amounts on its first day
  buy-and-hold | 2025-11-10 | 480   |         | buy A 2, buy B 6                | leaves out what has no price
  buy-and-hold | 2025-11-10 | 90    | A:1     |                                 | holds when cash pays less than half a part
  buy-and-hold | 2025-11-10 | 10000 | A:1     | buy B 127                       | buys what it lacks while there is cash
  buy-and-hold | 2025-11-11 | 10000 |         |                                 | waits while nothing has a price
  buy-and-hold | 2025-11-10 | 39.99 |         |                                 | waits while nothing can be paid
  equal-weight | 2025-11-07 | 10000 |         | buy A 33, buy B 67, buy C 167   | buys equal amounts on its first day
  equal-weight | 2025-11-07 | 15    | A:1 B:2 |                                 | rests within the week
  equal-weight | 2025-11-07 | 100   | A:1 B:2 | buy C 5                         | buys what it lacks within the week
  equal-weight | 2025-11-10 | 0     | A:4 B:3 | sell A 1, buy B 3               | brings back equal amounts
  equal-weight | 2025-11-10 | 0     | A:1 B:3 C:9 |                             | keeps what has no price
  momentum     | 2025-11-06 | 10000 |         |                                 | has nothing to rank by on the first of days
  momentum     | 2025-11-10 | 10000 |         | buy A 83                        | buys the best tenth
  momentum     | 2025-11-10 | 0     | B:9 C:9 | sell B 9, buy A 3               | goes over to the best tenth
  momentum     | 2025-11-07 | 10000 |         | buy A 100                       | starts within the week when it holds nothing
  momentum     | 2025-11-07 | 10000 | B:1     |                                 | rests within the week
  momentum     | 2025-11-11 | 10000 | B:1     |                                 | waits while nothing has a price
  random       | 2025-11-11 | 10000 |         |                                 | waits while nothing has a price
  random       | 2025-11-10 | 39.99 |         |                                 | waits while nothing can be paid
  random       | 2025-11-10 | 500   |         | buy B 2                         | holds all there is when that is less than five
`);
for (const [strategy, date, cash, held, orders, name] of cases) {
  test(`${strategy} on ${date}: ${name}`, async () => {
    const day = morning(PRICES, date, { cash: Number(cash), held });
    const conversation = await play(strategy, day);
    assert.equal(ordersOf(day).join(', '), orders);
    assert.deepEqual(refusalsIn(conversation), []);
    assert.equal(conversation.at(-1)?.role, 'assistant');
  });
}

const database = openDatabase(':memory:');
const SYMBOLS = Array.from({ length: 101 }, (_, index) => `S${index}`);
/** The days that momentum looks at: 63 bars before the last of them. */
const MOMENTUM_DAYS = 64;
const DAYS = weekdays('2025-06-02', addDays('2025-06-02', 129));
const storeSynthetic = (into: Database, symbols: readonly string[], days: readonly string[]) => {
  for (const symbol of symbols)
    storeBars(into, syntheticBars(symbol, days, '2030-01-01'), { source: 'synthetic' });
};
storeSynthetic(database, SYMBOLS, DAYS.slice(-MOMENTUM_DAYS));

// Dice depend on the signature.
test('the same signature, date and prices: the same conversation', async () => {
  const playAs = (strategy: BaselineStrategy, signature: string) =>
    play(strategy, morning(database, DAYS.at(-1) as string, { cash: 1_000_000 }), { signature });
  for (const strategy of baselineStrategies) {
    const [one, again] = [await playAs(strategy, 'one'), await playAs(strategy, 'one')];
    const other = await playAs(strategy, 'other');
    assert.deepEqual(one, again);
    if (strategy === 'random') assert.notDeepEqual(one, other);
    else assert.deepEqual(one, other);
  }
});

test('ten thousand dollars over a hundred stocks: most of it is at work', async () => {
  const day = morning(database, DAYS.at(-1) as string);
  await play('buy-and-hold', day);
  const { cash, holdings } = describePortfolio(day);
  assert.ok(cash < 100 && holdings.length > 40, `${cash} left, ${holdings.length} stocks`);
});

/**
 * So many symbols have a price on a Monday, of so many; the first two had one the Friday before.
 */
const thin = tableOf<
  [BaselineStrategy, priced: string, all: string, held: string, bought: string]
>(`
  buy-and-hold | 1 | 9 |      | 0
  buy-and-hold | 4 | 9 |      | 0
  buy-and-hold | 4 | 8 |      | 4
  equal-weight | 1 | 9 |      | 0
  equal-weight | 4 | 9 | T0:1 | 0
  equal-weight | 4 | 8 | T0:1 | 4
  momentum     | 1 | 9 |      | 0
  momentum     | 4 | 9 | T1:1 | 0
  momentum     | 4 | 8 |      | 1
`);
test('a baseline waits on a day on which less than half of the symbols have a price', async () => {
  for (const [strategy, priced, all, held, bought] of thin) {
    const rows = Array.from({ length: Number(all) }, (_, index) => [
      ...(index < 2 ? [`T${index} 2025-11-07 100 100`] : []),
      ...(index < Number(priced) ? [`T${index} 2025-11-10 ${101 - index} -`] : []),
      `T${index} 2025-11-11 100 -`,
    ]);
    const day = morning(rows.flat().join('\n'), '2025-11-10', { held });
    const conversation = await play(strategy, day);
    const buys = ordersOf(day).filter((order) => order.startsWith('buy')).length;
    assert.equal(buys, Number(bought), strategy);
    const words = `I wait: ${priced} of ${all} symbols ${priced === '1' ? 'has' : 'have'} a price today`;
    assert.equal(String(conversation.at(-1)?.content).startsWith(words), bought === '0');
  }
});

test('momentum ranks by the return since the close of exactly 63 bars ago', async () => {
  const dates = DAYS.slice(0, 70);
  const today = dates.length - 1;
  const barsAgo = [1, 5, 21, 62, 63, 64];
  // Each symbol was cheap on only one day: from that day on it has risen most.
  const rows = barsAgo.flatMap((cheap) =>
    dates.map((date, index) => `AGO${cheap} ${date} 100 ${index === today - cheap ? 50 : 100}`),
  );
  const day = morning(rows.join('\n'), dates[today] as string);
  await play('momentum', day);
  assert.deepEqual(ordersOf(day), ['buy AGO63 100']);
});

test('a baseline of the whole universe says when a share of some symbols costs more than its part', async () => {
  const part = /It holds 1 of 2 symbols: .* costs more .*\.$/;
  const saysPart = async (strategy: BaselineStrategy, cash: number, held = '') => {
    const conversation = await play(strategy, morning(PRICES, '2025-11-10', { cash, held }));
    return part.test(String(conversation.at(-1)?.content));
  };
  for (const strategy of ['buy-and-hold', 'equal-weight', 'momentum', 'cash'] as const) {
    const isOfAll = strategy === 'buy-and-hold' || strategy === 'equal-weight';
    assert.equal(await saysPart(strategy, 200), isOfAll, strategy);
    assert.equal(await saysPart(strategy, 10_000), false, strategy);
  }
  assert.equal(await saysPart('equal-weight', 0, 'A:1 B:1'), false, 'what is kept counts');
});

test('a universe too large for one answer is bought over several, with most of the cash', async () => {
  const wide = openDatabase(':memory:');
  const symbols = Array.from({ length: 150 }, (_, index) => `W${index}`);
  storeSynthetic(wide, symbols, DAYS.slice(-MOMENTUM_DAYS));
  const bought = { 'buy-and-hold': 150, 'equal-weight': 150, momentum: 15, random: 5, cash: 0 };
  for (const strategy of baselineStrategies) {
    const day = morning(wide, DAYS.at(-1) as string, { cash: 1_000_000 });
    assert.deepEqual(refusalsIn(await play(strategy, day)), []);
    assert.equal(day.actions.length, bought[strategy], strategy);
    const { cash, portfolioValue } = describePortfolio(day);
    assert.ok(strategy === 'cash' || cash / portfolioValue < 0.1, `${cash} of ${portfolioValue}`);
  }
});

test('a purchase refused for lack of cash is retried once with less', async () => {
  const day = morning(PRICES, '2025-11-06', { cash: 1000 });
  const brief = { ...briefOf(day), cash: 1_100, portfolioValue: 1_100 }; // as if trading had costs that it does not know of
  const conversation = await play('buy-and-hold', day, { brief });
  assert.equal(refusalsIn(conversation).length, 1);
  assert.deepEqual(ordersOf(day), ['buy A 5', 'buy B 9']);
  assert.match(String(conversation.at(-1)?.content), /Bought 2, sold 0, 1 order refused\.$/);
});

/** Plays days one after another, each from what the one before it left; the days as they ended. */
async function playDays(
  strategy: BaselineStrategy,
  dates: readonly string[],
  {
    isOpenHidden = false,
    cash = 1_000_000,
    ...limits
  }: Limits & { isOpenHidden?: boolean; cash?: number },
) {
  const days: LedgerDay[] = [];
  const summaries: string[] = [];
  for (const date of dates) {
    const day = morning(database, date, { cash, limits, isOpenHidden });
    day.portfolio = days.at(-1)?.portfolio ?? day.portfolio;
    const conversation = await play(strategy, day);
    if (strategy === 'buy-and-hold') assert.deepEqual(refusalsIn(conversation), [], date);
    days.push(day);
    summaries.push(String(conversation.at(-1)?.content));
  }
  return { days, summaries };
}

test('with few orders a day, buy-and-hold buys on until it holds all, in equal amounts, then holds', async () => {
  const dates = DAYS.slice(-15);
  const { days, summaries } = await playDays('buy-and-hold', dates, { max_orders: 8 });
  const held = days.map(({ portfolio }) => portfolio.holdings.size);
  assert.deepEqual(held.slice(0, 14), [8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 101, 101]);
  const [first, , , , , , , , , , , , last, rest] = summaries;
  assert.match(first ?? '', / It holds 8 of 101 symbols: max_orders is 8\.$/);
  assert.match(last ?? '', /Bought 5, sold 0, 0 orders refused\.$/);
  assert.equal(rest, 'I hold what I have.');
  const { cash, portfolioValue, holdings } = describePortfolio(days.at(-1) as LedgerDay);
  assert.ok(cash / portfolioValue < 0.02, `${cash} of ${portfolioValue}`);
  const weights = holdings.map(({ quantity, price }) => (101 * quantity * price) / portfolioValue);
  assert.ok(Math.min(...weights) > 0.6 && Math.max(...weights) < 1.6, `${weights}`);
});

test('with few orders a day it comes to hold what it would without, also where most symbols cost more than their part', async () => {
  const dates = DAYS.slice(-15);
  for (const strategy of ['buy-and-hold', 'equal-weight'] as const)
    for (const cash of [10_000, 30_000]) {
      const all = await playDays(strategy, dates.slice(0, 1), { cash });
      const few = await playDays(strategy, dates, { cash, max_orders: 8 });
      const [whole, last] = [all.days[0], few.days.at(-1)].map((day) => day?.portfolio);
      assert.ok(Math.abs((last?.holdings.size ?? 0) - (whole?.holdings.size ?? 0)) < 3);
      assert.ok(Number(last?.cash) / 1e4 < 0.02 * cash, `${strategy}: ${last?.cash} left`);
    }
});

/** By day of a job with these limits: how many of three symbols it holds in the end, and why. */
const reasons: [cash: number, limits: Limits[], ends: string[]][] = [
  [
    3000,
    [{ max_orders: 1, max_weight: 0.05, min_cash: 0.5 }],
    ['It holds 1 of 3 symbols: max_weight is 0.05.'],
  ],
  [
    400,
    [{ max_orders: 1 }, { max_orders: 1 }],
    ['It holds 1 of 3 symbols: max_orders is 1.', 'It holds 2 of 3 symbols: … costs more than …'],
  ],
  [
    3000,
    [{ max_orders: 1 }, { max_orders: 1 }, {}, {}],
    ['max_orders is 1.', 'max_orders is 1.', 'Bought 1, sold 0, 0 orders refused.', 'have.'],
  ],
  [500, [{ min_cash: 0.5 }], ['It holds 1 of 3 symbols: min_cash is 0.5.']],
];
test('a summary names what keeps it from more now', async () => {
  const market = ['A 100', 'B 190', 'C 190'].flatMap((own) =>
    DAYS.slice(0, 4).map((date) => `${own[0]} ${date} ${own.slice(2)} ${own.slice(2)}`),
  );
  for (const [cash, limits, ends] of reasons) {
    let portfolio: LedgerDay['portfolio'] | undefined;
    for (const [index, own] of limits.entries()) {
      const day = morning(market.join('\n'), DAYS[index] ?? '', { cash, limits: own });
      day.portfolio = portfolio ?? day.portfolio;
      const said = String((await play('buy-and-hold', day)).at(-1)?.content);
      assert.match(said, like(`…${ends[index]}`), `${cash}, day ${index}`);
      portfolio = day.portfolio;
    }
  }
});

test('equal-weight and momentum continue after the first session of a week, and rest once they hold what they mean to', async () => {
  const dates = DAYS.slice(-25);
  const weekly = await playDays('equal-weight', dates, { max_orders: 30 });
  const held = weekly.days.map(({ portfolio }) => portfolio.holdings.size);
  assert.deepEqual(held.slice(0, 4), [30, 60, 90, 101]);
  const isFirst = (index: number) => new Date(dates[index] ?? '').getUTCDay() === 1;
  for (const [index, { actions }] of weekly.days.entries())
    if (index > 3) assert.equal(actions.length > 0, isFirst(index), dates[index]);
  // In the last session of each week it holds what it would without the limit.
  for (const isOpenHidden of isLong ? [false, true] : [true]) {
    const few = await playDays('momentum', dates, { max_orders: 4, isOpenHidden });
    const all = await playDays('momentum', dates, { isOpenHidden });
    const namesOf = ({ days }: typeof few, index: number) =>
      [...(days[index]?.portfolio.holdings.keys() ?? [])].sort();
    const fridays = dates.flatMap((_, index) => (isFirst(index + 1) && index > 4 ? index : []));
    assert.equal(fridays.length, 4);
    for (const index of fridays)
      assert.deepEqual(namesOf(few, index), namesOf(all, index), `${dates[index]} ${isOpenHidden}`);
    const orders = few.days.map(({ actions }) => actions.length);
    assert.ok(Math.max(...orders) <= 4 && orders.includes(0), `${orders}`);
  }
});

test('baselines keep within the least cash and the largest weight, and name the limit', async () => {
  const date = DAYS.at(-1) as string;
  for (const strategy of ['buy-and-hold', 'equal-weight', 'momentum', 'random'] as const) {
    const limits = { min_cash: 0.3, max_weight: 0.005 };
    const day = morning(database, date, { cash: 1_000_000, limits });
    await play(strategy, day);
    const { cash, portfolioValue } = describePortfolio(day);
    assert.ok(cash >= 0.3 * portfolioValue, strategy);
    assert.ok(day.actions.length > 0, strategy);
  }
  const limited = (limits: Limits) => morning(PRICES, '2025-11-10', { cash: 300, limits });
  const says = async (limits: Limits) =>
    String((await play('buy-and-hold', limited(limits))).at(-1)?.content);
  const part = (why: string) => new RegExp(`It holds 1 of 2 symbols: ${why}\\.$`);
  assert.match(await says({ max_weight: 0.3 }), part('max_weight is 0.3'));
  assert.match(await says({ min_cash: 0.5 }), part('min_cash is 0.5'));
  assert.match(await says({ max_orders: 1 }), part('max_orders is 1'));
});
