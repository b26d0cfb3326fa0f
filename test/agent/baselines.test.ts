import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBaselineModel } from '../../src/agent/players/baselines.ts';
import type { ChatMessage } from '../../src/agent/model.ts';
import { firstMessages } from '../../src/agent/prompt.ts';
import { addDays, isWeekday } from '../../src/basics/calendar.ts';
import { openDatabase } from '../../src/database/database.ts';
import { pricesNow } from '../../src/database/price-writes.ts';
import { storeBars } from '../../src/database/prices.ts';
import { baselineStrategies, type BaselineStrategy } from '../../src/basics/domain.ts';
import { fromDollars } from '../../src/basics/money.ts';
import { type Brief, MAX_TOOL_CALLS } from '../../src/wire/protocol.ts';
import { syntheticBars } from '../../src/prices/synthetic.ts';
import { openMarket } from '../../src/trading/market.ts';
import { describePortfolio } from '../../src/trading/trading-day.ts';
import { readPrices } from '../support/prices.ts';
import { callTool, type LedgerDay } from '../support/trading-day.ts';
import { inLongForm } from '../support/long.ts';

const MOST_STEPS = 30;

/** A morning as the parent has it, with this cash and these holdings (`A:3 B:1`). */
function morning(
  prices: string | ReturnType<typeof openDatabase>,
  date: string,
  { cash = 10_000, held = '' } = {},
) {
  const database = typeof prices === 'string' ? openDatabase(':memory:') : prices;
  if (typeof prices === 'string') storeBars(database, readPrices(prices), { source: 'csv' });
  const symbols = database
    .statement('SELECT DISTINCT symbol FROM price_data ORDER BY symbol')
    .all();
  const universe = new Set(symbols.map(({ symbol }) => symbol as string));
  const holdings = held.split(' ').filter((part) => part !== '');
  const day: LedgerDay = {
    market: openMarket(pricesNow(database), date, [...universe]),
    universe,
    actions: [],
    portfolio: {
      cash: fromDollars(cash),
      holdings: new Map(
        holdings.map((part) => [part.split(':')[0] as string, Number(part.split(':')[1])]),
      ),
    },
  };
  return day;
}

function briefOf(day: LedgerDay): Brief {
  const quotes = [...day.universe].map((symbol) => {
    const { open, previousClose } = day.market.quote(symbol);
    return {
      symbol,
      open: open && open / 10_000,
      previousClose: previousClose && previousClose / 10_000,
    };
  });
  return { date: day.market.date, ...describePortfolio(day), quotes, costs: null };
}

/**
 * Runs a baseline over a day through the real tools; for each answer a new one, which knows only
 * the conversation.
 */
async function play(
  strategy: BaselineStrategy,
  day: LedgerDay,
  { signature = 'yardstick', brief = briefOf(day) } = {},
): Promise<ChatMessage[]> {
  const conversation: ChatMessage[] = firstMessages(brief);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const { content, toolCalls } = await createBaselineModel(strategy, { signature, brief })(
      conversation,
    );
    assert.ok(toolCalls.length <= MAX_TOOL_CALLS);
    conversation.push({ role: 'assistant', content, toolCalls });
    if (toolCalls.length === 0) return conversation;
    for (const call of toolCalls)
      conversation.push({
        role: 'tool',
        id: call.id,
        content: (await callTool(day, call)).content,
      });
  }
  throw new Error('It does not end its day');
}

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

const cases: [
  name: string,
  strategy: BaselineStrategy,
  date: string,
  options: { cash?: number; held?: string },
  orders: string[],
][] = [
  [
    'buys equal amounts on its first day',
    'buy-and-hold',
    '2025-11-06',
    {},
    ['buy A 50', 'buy B 100'],
  ],
  [
    'leaves out what has no price',
    'buy-and-hold',
    '2025-11-10',
    { cash: 480 },
    ['buy A 2', 'buy B 6'],
  ],
  ['never trades again', 'buy-and-hold', '2025-11-10', { held: 'A:1' }, []],
  ['waits while nothing has a price', 'buy-and-hold', '2025-11-11', {}, []],
  ['waits while nothing can be paid', 'buy-and-hold', '2025-11-10', { cash: 39.99 }, []],
  [
    'buys equal amounts on its first day',
    'equal-weight',
    '2025-11-07',
    {},
    ['buy A 33', 'buy B 67', 'buy C 167'],
  ],
  ['rests within the week', 'equal-weight', '2025-11-07', { held: 'A:1' }, []],
  [
    'brings back equal amounts',
    'equal-weight',
    '2025-11-10',
    { cash: 0, held: 'A:4 B:3' },
    ['sell A 1', 'buy B 3'],
  ],
  ['keeps what has no price', 'equal-weight', '2025-11-10', { cash: 0, held: 'A:1 B:3 C:9' }, []],
  ['has nothing to rank by on the first of days', 'momentum', '2025-11-06', {}, []],
  ['buys the best tenth', 'momentum', '2025-11-10', {}, ['buy A 83']],
  [
    'goes over to the best tenth',
    'momentum',
    '2025-11-10',
    { cash: 0, held: 'B:9 C:9' },
    ['sell B 9', 'buy A 3'],
  ],
  ['starts within the week when it holds nothing', 'momentum', '2025-11-07', {}, ['buy A 100']],
  ['rests within the week', 'momentum', '2025-11-07', { held: 'B:1' }, []],
  ['waits while nothing has a price', 'momentum', '2025-11-11', { held: 'B:1' }, []],
  ['waits while nothing has a price', 'random', '2025-11-11', {}, []],
  ['waits while nothing can be paid', 'random', '2025-11-10', { cash: 39.99 }, []],
  [
    'holds all there is when that is less than five',
    'random',
    '2025-11-10',
    { cash: 500 },
    ['buy B 2'],
  ],
];
for (const [name, strategy, date, options, orders] of cases) {
  test(`${strategy} on ${date}: ${name}`, async () => {
    const day = morning(PRICES, date, options);
    const conversation = await play(strategy, day);
    assert.deepEqual(ordersOf(day), orders);
    assert.deepEqual(refusalsIn(conversation), []);
    assert.equal(conversation.at(-1)?.role, 'assistant');
  });
}

const database = openDatabase(':memory:');
const SYMBOLS = Array.from({ length: 101 }, (_, index) => `S${index}`);
const DAYS = Array.from({ length: 130 }, (_, index) => addDays('2025-06-02', index)).filter(
  isWeekday,
);
for (const symbol of SYMBOLS)
  storeBars(database, syntheticBars(symbol, DAYS, '2030-01-01'), {
    source: 'synthetic',
  });

/** The days that momentum looks at: 63 bars before the first of them. */
const MOMENTUM_DAYS = 64;

/** Six weeks, each day from the portfolio of the one before. */
async function playOn(strategy: BaselineStrategy, signature = 'yardstick') {
  let day = morning(database, DAYS.at(-30) as string, { cash: 1_000_000 });
  const orders: string[][] = [];
  const conversations: ChatMessage[][] = [];
  for (const date of DAYS.slice(-30)) {
    day = { ...day, market: openMarket(pricesNow(database), date, SYMBOLS), actions: [] };
    conversations.push(await play(strategy, day, { signature }));
    orders.push(ordersOf(day));
  }
  return { day, orders, conversations };
}

/** What every strategy does under the usual signature; played once. */
const played = new Map<BaselineStrategy, ReturnType<typeof playOn>>();
function playedOn(strategy: BaselineStrategy): ReturnType<typeof playOn> {
  const one = played.get(strategy) ?? playOn(strategy);
  played.set(strategy, one);
  return one;
}

/**
 * How many days of the six weeks have trades, and how many stocks are held in the end, at least and
 * at most.
 */
const habits: [BaselineStrategy, days: [number, number], held: [number, number]][] = [
  ['buy-and-hold', [1, 1], [101, 101]],
  ['equal-weight', [6, 7], [101, 101]],
  ['momentum', [3, 7], [11, 12]],
  ['random', [15, 30], [5, 5]],
];
for (const [strategy, days, held] of habits) {
  test(`${strategy} over six weeks: its habits, no order refused, most of the cash at work`, async () => {
    const { day, orders, conversations } = await playedOn(strategy);
    const tradingDays = orders.filter((list) => list.length > 0).length;
    assert.ok(tradingDays >= days[0] && tradingDays <= days[1], `trades on ${tradingDays} days`);
    const { size } = day.portfolio.holdings;
    assert.ok(size >= held[0] && size <= held[1], `holds ${size}`);
    const { cash, portfolioValue } = describePortfolio(day);
    assert.ok(cash / portfolioValue < 0.1, `${cash} of ${portfolioValue} in cash`);
    const refused = refusalsIn(conversations.flat());
    assert.deepEqual(refused, []);
  });
}

test(
  'the same signature, date, portfolio and prices give the same conversation; dice depend on the signature',
  inLongForm,
  async () => {
    for (const strategy of baselineStrategies) {
      const [one, again, other] = [
        await playedOn(strategy),
        await playOn(strategy),
        await playOn(strategy, 'other'),
      ];
      assert.deepEqual(one.conversations, again.conversations);
      if (strategy === 'random') assert.notDeepEqual(one.orders, other.orders);
      else assert.deepEqual(one.conversations, other.conversations);
    }
  },
);

test('ten thousand dollars over a hundred stocks: most of it is at work', async () => {
  const day = morning(database, DAYS[0] as string);
  await play('buy-and-hold', day);
  const { cash, holdings } = describePortfolio(day);
  assert.ok(cash < 100 && holdings.length > 40, `${cash} left, ${holdings.length} stocks`);
});

/**
 * So many symbols have a price on a Monday, of so many; the first two had one the Friday before.
 */
const thin: [
  strategy: BaselineStrategy,
  priced: number,
  all: number,
  options: { cash?: number; held?: string },
  bought: number,
][] = [
  ['buy-and-hold', 1, 9, {}, 0],
  ['buy-and-hold', 4, 9, {}, 0],
  ['buy-and-hold', 4, 8, {}, 4],
  ['equal-weight', 1, 9, {}, 0],
  ['equal-weight', 4, 9, { held: 'T0:1' }, 0],
  ['equal-weight', 4, 8, { held: 'T0:1' }, 4],
  ['momentum', 1, 9, {}, 0],
  ['momentum', 4, 9, { held: 'T1:1' }, 0],
  ['momentum', 4, 8, {}, 1],
];
for (const [strategy, priced, all, options, bought] of thin) {
  const morningOf = `${options.held ? 'a later' : 'the first'} day with prices of ${priced} of ${all} symbols`;
  test(`${strategy} ${bought === 0 ? 'waits' : 'trades'} on ${morningOf}`, async () => {
    const symbols = Array.from({ length: all }, (_, index) => `T${index}`);
    const rows = symbols.flatMap((symbol, index) => [
      ...(index < 2 ? [`${symbol} 2025-11-07 100 100`] : []),
      ...(index < priced ? [`${symbol} 2025-11-10 ${101 - index} -`] : []),
      `${symbol} 2025-11-11 100 -`,
    ]);
    const day = morning(rows.join('\n'), '2025-11-10', options);
    const conversation = await play(strategy, day);
    assert.equal(ordersOf(day).filter((order) => order.startsWith('buy')).length, bought);
    const words = `I wait: ${priced} of ${all} symbols ${priced === 1 ? 'has' : 'have'} a price today`;
    assert.equal(String(conversation.at(-1)?.content).startsWith(words), bought === 0);
  });
}

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
  const summaries = async (cash: number, held = '') => {
    const spoken = await Promise.all(
      (['buy-and-hold', 'equal-weight', 'momentum', 'cash'] as const).map((strategy) =>
        play(strategy, morning(PRICES, '2025-11-10', { cash, held })),
      ),
    );
    return spoken.map((conversation) => conversation.at(-1)?.content ?? '');
  };
  const part = 'It holds 1 of 2 symbols: a share of the others costs more than its part.';
  const saysPart = (own: readonly string[]) => own.map((summary) => summary.endsWith(part));
  assert.deepEqual(saysPart(await summaries(200)), [true, true, false, false]);
  assert.deepEqual(saysPart(await summaries(10_000)), [false, false, false, false]);
  const [, rebalanced] = await summaries(0, 'A:1 B:1');
  assert.equal(rebalanced?.endsWith('its part.'), false, 'what is kept counts');
});

test('a universe too large for one answer is bought over several', async () => {
  const wide = openDatabase(':memory:');
  const symbols = Array.from({ length: 300 }, (_, index) => `W${index}`);
  for (const symbol of symbols)
    storeBars(wide, syntheticBars(symbol, DAYS.slice(-MOMENTUM_DAYS), '2030-01-01'), {
      source: 'synthetic',
    });
  for (const strategy of baselineStrategies) {
    const day = morning(wide, DAYS.at(-1) as string, { cash: 1_000_000 });
    const conversation = await play(strategy, day);
    assert.deepEqual(refusalsIn(conversation), []);
    const bought = day.actions.length;
    assert.equal(
      bought,
      { 'buy-and-hold': 300, 'equal-weight': 300, momentum: 30, random: 5, cash: 0 }[strategy],
    );
  }
});

test('a purchase refused for lack of cash is retried once with less', async () => {
  const day = morning(PRICES, '2025-11-06', { cash: 1000 });
  const brief = { ...briefOf(day), cash: 1_100 }; // as if trading had costs that it does not know of
  const conversation = await play('buy-and-hold', day, { brief });
  assert.equal(refusalsIn(conversation).length, 1);
  assert.deepEqual(ordersOf(day), ['buy A 5', 'buy B 9']);
  assert.match(String(conversation.at(-1)?.content), /Bought 2, sold 0, 1 orders refused\.$/);
});
