import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { newsEnd } from '../../src/core/trading/news.ts';
import { zonedInstant } from '../../src/core/time/calendar.ts';
import { type MarketRules, US } from '../../src/core/domain/market-rules.ts';
import { type Money, money } from '../../src/core/money/money.ts';
import type { Market } from '../../src/core/trading/market.ts';
import { takeOrder } from '../../src/core/trading/orders.ts';
import { rebalance } from '../../src/core/trading/rebalance.ts';
import type { TradingDay } from '../../src/core/trading/trading-day.ts';
import { tradingDay } from '../support/trading-day.ts';
import { tableOf } from '../support/text-table.ts';
import { US_RULES } from '../support/market-rules.ts';

/** Lots of 100, but of some symbols 200 or more in steps of one share. */
const LOTS: MarketRules = {
  ...US_RULES,
  ...{ currency: 'CNY', opens: '09:30', time_zone: 'Asia/Shanghai' },
  boards: [
    { symbols: '688*.SH', minimum: 200, step: 1, price_limit: null },
    { symbols: '*', minimum: 100, step: 100, price_limit: null },
  ],
};

/** A day on which every share costs one unit of the currency. */
function dayOf(cash: number, holdings: Record<string, number>): TradingDay {
  const quote = () => ({ open: money(10_000), previousDate: null, previousClose: null });
  // Only what orders read of a market.
  const market = {
    date: '2025-01-06',
    quote,
    knownMark: () => ({ price: money(10_000) }),
  } as unknown as Market; // unknown: orders and values ask a market for no more
  const universe = new Set(['600519.SH', '688981.SH']);
  const portfolio = {
    cash: money(cash * 10_000) as Money,
    holdings: new Map(Object.entries(holdings)),
  };
  return tradingDay({ market, universe, portfolio, rules: LOTS });
}

/** An order, what is held of it, and why it is refused; nothing where it is taken. */
const orders = tableOf<[order: string, held: string, refusal: string]>(`
  buy 100 600519.SH  | 0   |
  buy 150 600519.SH  | 0   | a purchase is of 100 shares or more, in steps of 100; 100 or 200 can be bought.
  buy 99 600519.SH   | 0   | a purchase is of 100 shares or more, in steps of 100; 100 can be bought.
  buy 201 688981.SH  | 0   |
  buy 100 688981.SH  | 0   | a purchase is of 200 shares or more, in steps of 1; 200 can be bought.
  sell 100 600519.SH | 130 |
  sell 130 600519.SH | 130 |
  sell 30 600519.SH  | 130 |
  sell 50 600519.SH  | 130 | a sale is of 100 shares or a multiple, with or without the odd 30; 30 or 100 can be sold.
  sell 20 600519.SH  | 130 | a sale is of 100 shares or a multiple, with or without the odd 30; 30 can be sold.
  sell 150 600519.SH | 300 | a sale is of 100 shares or a multiple; 100 or 200 can be sold.
  sell 150 600519.SH | 130 | a sale is of 100 shares or a multiple, with or without the odd 30; 130 can be sold.
  sell 250 600519.SH | 130 | a sale is of 100 shares or a multiple, with or without the odd 30; 130 can be sold.
  sell 7 688981.SH   | 150 |
  buy 900 600519.SH  | 700 |
  buy 1100 600519.SH | 0   | cash is 1,050.00, enough for 1000
  buy 1200 688981.SH | 0   | cash is 1,050.00, enough for 1050
`);
test('orders keep to the lots of their board; odd ones leave in one order', () => {
  for (const [order, held, refusal] of orders) {
    const [side = '', amount = '', symbol = ''] = order.split(' ');
    const day = dayOf(1_050, held === '0' ? {} : { [symbol]: Number(held) });
    const taken = takeOrder(day, side as 'buy', { symbol, amount: Number(amount) });
    assert.equal(
      taken.refusal?.split(': ')[1]?.replace(/\.$/, ''),
      refusal.replace(/\.$/, '') || undefined,
      order,
    );
  }
});

test('a limit says how many shares in whole lots can be bought', () => {
  const refusalOf = (symbol: string, max_weight: number) =>
    takeOrder({ ...dayOf(1_000, {}), limits: { max_weight } }, 'buy', { symbol, amount: 300 })
      .refusal ?? '';
  assert.match(refusalOf('600519.SH', 0.25), /at most 200 shares can be bought\.$/);
  assert.match(refusalOf('600519.SH', 0.09), /none can be bought\.$/);
  assert.match(refusalOf('688981.SH', 0.25), /at most 250 shares can be bought\.$/);
  assert.match(refusalOf('688981.SH', 0.19), /none can be bought\.$/);
  assert.equal(refusalOf('600519.SH', 0.3), '');
});

test('rebalance rounds its targets down to lots, and sells all of what is to go', () => {
  const told = (day: TradingDay, weights: Record<string, number>, sell_rest = false) =>
    (rebalance(day, { weights, sell_rest }).orders ?? []).map(
      ({ side, symbol, amount }) => `${side} ${amount} ${symbol}`,
    );
  assert.deepEqual(told(dayOf(1_000, {}), { '600519.SH': 0.55, '688981.SH': 0.4 }), [
    'buy 500 600519.SH',
    'buy 400 688981.SH',
  ]);
  assert.deepEqual(told(dayOf(1_000, {}), { '688981.SH': 0.15 }), []);
  assert.deepEqual(told(dayOf(0, { '600519.SH': 430 }), { '600519.SH': 0.5 }), [
    'sell 230 600519.SH',
  ]);
  assert.deepEqual(told(dayOf(700, { '600519.SH': 130 }), { '600519.SH': 0.4 }), [
    'buy 100 600519.SH',
  ]);
  assert.deepEqual(told(dayOf(0, { '600519.SH': 430 }), {}, true), ['sell 430 600519.SH']);
});

test('the prompt says the currency and the lots, where they are not dollars and single shares', () => {
  const quotes = ['600519.SH', '688981.SH'].map((symbol) => ({
    symbol,
    previousClose: 1,
    open: 1,
  }));
  const brief = { date: '2025-01-06', cash: 1, portfolioValue: 1, holdings: [], quotes };
  const told = (rules: MarketRules) =>
    firstMessages({
      ...brief,
      rules: { ...rules, costs: { ...rules.costs, commission_per_trade: 5 } },
    })
      .map(({ content }) => content)
      .join('\n')
      .split('\n')
      .filter((line) => /Purchases|Prices in|costs/.test(line));
  assert.deepEqual(told(LOTS), [
    '- Purchases of 600519.SH are for 100 shares or more, in steps of 100.',
    '- Purchases of 688981.SH are for 200 shares or more, in steps of 1.',
    'Trading costs: each order pays CNY 5.',
    'Prices in CNY (symbol, previous close, open today; - means no price):',
  ]);
  assert.deepEqual(told(US_RULES), [
    'Trading costs: each order pays $5.',
    'Prices in dollars (symbol, previous close, open today; - means no price):',
  ]);
});

/** A date, and when its session opens in UTC; in New York also on the days on which clocks change. */
const openings = tableOf<[zone: string, date: string, at: string]>(`
  America/New_York | 2025-03-07 | 2025-03-07T14:30:00.000Z
  America/New_York | 2025-03-10 | 2025-03-10T13:30:00.000Z
  America/New_York | 2025-11-03 | 2025-11-03T14:30:00.000Z
  Asia/Shanghai    | 2025-03-10 | 2025-03-10T01:30:00.000Z
  Asia/Kolkata     | 2025-03-10 | 2025-03-10T04:00:00.000Z
`);
test('a session opens by the clocks of its place', () => {
  for (const [zone, date, at] of openings)
    assert.equal(zonedInstant(zone, date, US.opens).toISOString(), at);
  // Shown never, and twice: the later instant.
  const shown = (date: string, time: string) =>
    zonedInstant('America/New_York', date, time).toISOString();
  assert.equal(shown('2025-03-09', '02:30'), '2025-03-09T07:30:00.000Z');
  assert.equal(shown('2025-11-02', '01:30'), '2025-11-02T06:30:00.000Z');
});

/** A zone, an open, and the date before which news is out at it on 10 March 2025. */
const ends = tableOf<[zone: string, opens: string, before: string]>(`
  America/New_York | 09:30 | 2025-03-10
  Asia/Shanghai    | 09:30 | 2025-03-10
  Asia/Tokyo       | 09:00 | 2025-03-10
  Australia/Sydney | 10:00 | 2025-03-09
  Pacific/Auckland | 10:00 | 2025-03-09
  America/New_York | 20:30 | 2025-03-10
`);
test('news that may be of after the open is not out on a morning', () => {
  for (const [time_zone, opens, before] of ends)
    assert.equal(newsEnd({ time_zone, opens }, '2025-03-10'), before, `${time_zone} ${opens}`);
});
