import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { type MarketTerms, namedMarkets } from '../../src/core/domain/market-rules.ts';
import { fromDollars, toDollars } from '../../src/core/money/money.ts';
import { limitWarnings } from '../../src/core/prices/warnings.ts';
import { takeOrder } from '../../src/core/trading/orders.ts';
import { commissionOn } from '../../src/core/trading/portfolio.ts';
import type { TradingSession } from '../../src/core/trading/session.ts';
import type { TradingDay } from '../../src/core/trading/trading-day.ts';
import { type Books, callIn, createBooks, replayOf, setBars, tell } from '../support/books.ts';
import { rowsAsText } from '../support/tables.ts';
import { assertLike, tableOf } from '../support/text-table.ts';
import { tradingDay } from '../support/trading-day.ts';
import { NO_COSTS, US_RULES } from '../support/market-rules.ts';

/** Lots, limits and dates of sale, in the market `cn`. */

const CN = { ...US_RULES, ...namedMarkets.cn };
const MAOTAI = '600519.SH';
const STAR = '688981.SH';
const universe = new Set([MAOTAI, STAR, '689009.SH', '300750.SZ', '430047.BJ']);

function booksOf(terms: object = {}): Books {
  const usual = { market: 'cn', stock_symbols: [...universe], initial_cash: 1_000_000 };
  return createBooks(':memory:', { terms: { ...usual, ...terms } });
}

async function replyTo(session: TradingSession, order: string): Promise<any> {
  const [name = '', symbol, amount] = order.split(' ');
  const { results } = await callIn(session, name, { symbol, amount: Number(amount) });
  return JSON.parse(results[0]?.content ?? '');
}

const refusalOf = async (session: TradingSession, order: string): Promise<string> =>
  (await replyTo(session, order)).error ?? '';

/**
 * The close before, what happens in the morning, the open, and whether a purchase or a sale is
 * refused at it.
 */
const opens = tableOf<[symbol: string, close: string, news: string, open: string, no: string]>(`
  ${MAOTAI}  | 10    |         | 11    | buy
  ${MAOTAI}  | 10    |         | 11.5  | buy
  ${MAOTAI}  | 10    |         | 10.99 |
  ${MAOTAI}  | 10    |         | 9.01  |
  ${MAOTAI}  | 10    |         | 9     | sell
  ${MAOTAI}  | 10.05 |         | 11.06 | buy
  ${MAOTAI}  | 10.05 |         | 11.05 |
  ${MAOTAI}  | 10.05 |         | 9.05  | sell
  ${MAOTAI}  | 10.05 |         | 9.06  |
  ${MAOTAI}  | 10.01 | 2:1     | 5.51  | buy
  ${MAOTAI}  | 10.01 | 2:1     | 5.5   |
  ${MAOTAI}  | 13    | 0.3     | 13.97 | buy
  ${MAOTAI}  | 13    | 0.3     | 13.96 |
  ${MAOTAI}  | 13    | 0.3 13:10 | 10.75 | buy
  ${MAOTAI}  | 13    | 0.3 13:10 | 10.74 |
  ${MAOTAI}  | 13    | 0.3 13:10 | 8.79  | sell
  ${MAOTAI}  | 13    | 0.3 13:10 | 8.8   |
  ${STAR}    | 10    |         | 11    |
  ${STAR}    | 10    |         | 12    | buy
  689009.SH  | 10    |         | 12    | buy
  300750.SZ  | 10    |         | 8.01  |
  300750.SZ  | 10    |         | 8     | sell
  430047.BJ  | 10    |         | 12.99 |
  430047.BJ  | 10    |         | 13    | buy
`);
test('at an open at its limit no share can be bought, or none be sold; the raw open counts', async () => {
  for (const [symbol, close, news, open, no] of opens) {
    const books = booksOf({ slippage_bps: 50 });
    setBars(books, `${symbol} 2025-01-03 ${close} ${close}\n${symbol} 2025-01-06 ${open} ${open}`);
    const told = news.split(' ').flatMap((what) => what && `${symbol} 2025-01-06 ${what}`);
    tell(books, told.join(', '));
    const first = await books.open('2025-01-03', 'model-a', { universe });
    assert.equal(await refusalOf(first, `buy ${symbol} 1000`), '', 'without a close before');
    await books.complete(first);
    const session = await books.open('2025-01-06', 'model-a', { universe });
    const row = [symbol, close, news, open].join(' ');
    for (const [side, words] of [
      ['sell', 'it opened at its lower limit, no one buys'],
      ['buy', 'it opened at its upper limit, no one sells'],
    ] as const) {
      const refusal = no === side ? `Cannot ${side} ${symbol}: ${words}.` : '';
      assert.equal(await refusalOf(session, `${side} ${symbol} 100`), refusal, `${side}: ${row}`);
    }
    await books.complete(session);
    assert.deepEqual((await replayOf(books.database)).problems, [], row);
  }
});

test('prices that are adjusted for splits have no limit: no prompt names one, and a job warns', async () => {
  const books = booksOf();
  setBars(books, `${MAOTAI} 2025-01-03 10 10\n${MAOTAI} 2025-01-06 20 20`, 'yahoo');
  setBars(books, `${STAR} 2025-01-03 10 10\n${STAR} 2025-01-06 10 10`);
  const session = await books.open('2025-01-06', 'model-a', { universe: new Set([MAOTAI, STAR]) });
  const linesOf = ({ brief }: TradingSession) =>
    firstMessages(brief).flatMap(({ content }) =>
      content.split('\n').filter((line) => /prices are|limit/.test(line)),
    );
  assert.deepEqual(linesOf(session), [
    "- A day's prices are without a limit, those of 688981.SH within 20 % of the close before.",
    '  At an open at the upper limit no one sells, at the lower one no one buys.',
  ]);
  const free = await books.open('2025-01-06', 'model-b', { universe: new Set([MAOTAI]) });
  assert.deepEqual(linesOf(free), []);
  assert.equal(await refusalOf(session, `buy ${MAOTAI} 100`), '');
  const terms = { stock_symbols: [MAOTAI, STAR] };
  const warningsIn = (market: MarketTerms) => limitWarnings(books.database, { ...terms, market });
  assertLike(warningsIn(CN), ['1 of 2 symbols has no price limit…: 600519.SH. …--as raw)']);
  assert.deepEqual(warningsIn(US_RULES), []);
});

test('what was bought on a date cannot be sold on it; odd shares of a split leave in one order', async () => {
  const books = booksOf();
  setBars(
    books,
    `${MAOTAI} 2025-01-03 13 13\n${MAOTAI} 2025-01-06 10 10\n${MAOTAI} 2025-01-07 10 10`,
  );
  tell(books, `${MAOTAI} 2025-01-06 13:10`);
  await books.complete(await books.open('2025-01-03', 'model-a', { universe }), [
    ['buy', MAOTAI, 100],
  ]);
  const session = await books.open('2025-01-06', 'model-a', { universe });
  const orders = tableOf<[order: string, refusal: string]>(`
    buy ${MAOTAI} 200  |
    sell ${MAOTAI} 330 | Cannot sell 330 600519.SH: 200 of the 330 held were bought today, and cannot be sold before the next session; at most 130 can be sold.
    sell ${MAOTAI} 200 | Cannot sell 200 600519.SH: 200 of the 330 held were bought today, and cannot be sold before the next session; at most 130 can be sold.
    sell ${MAOTAI} 30  |
    sell ${MAOTAI} 100 |
    sell ${MAOTAI} 100 | Cannot sell 100 600519.SH: 200 of the 200 held were bought today, and cannot be sold before the next session; none can be sold.
  `);
  for (const [order, refusal] of orders)
    assert.equal(await refusalOf(session, order), refusal, order);
  await books.complete(session);
  const next = await books.open('2025-01-07', 'model-a', { universe });
  assert.equal(await refusalOf(next, `sell ${MAOTAI} 200`), '');
  await books.complete(next);
  const { same, problems } = await replayOf(books.database);
  assert.deepEqual([same, problems], ['3 of 3', []]);
});

test('with a hidden open, orders together sell no more than was held before', async () => {
  const old = '300750.SZ';
  const books = booksOf({ open: 'hidden' });
  const both = (day: string) => `${old} 2025-01-${day} 13 13\n${MAOTAI} 2025-01-${day} 13 13\n`;
  setBars(books, both('02') + both('03') + both('06'));
  books.setExchange(old, '2025-01-06', MAOTAI, [2, 1]);
  await books.complete(await books.open('2025-01-03', 'model-a', { universe }), [
    ['buy', old, 200],
    ['buy', MAOTAI, 100],
  ]);
  const session = await books.open('2025-01-06', 'model-a', { universe });
  assert.equal(await refusalOf(session, `sell ${MAOTAI} 100`), '');
  assert.equal(
    await refusalOf(session, `sell ${MAOTAI} 100`),
    `Cannot sell 100 ${MAOTAI}: 400 of the 500 held were bought or received today, and cannot be sold before the next session; none can be sold.`,
  );
  await books.complete(session);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('what left on the morning on which it came, or was only renamed, was not received', async () => {
  const [old, other] = ['300750.SZ', '689009.SH'];
  const books = booksOf();
  for (const symbol of [old, MAOTAI, other, STAR])
    setBars(books, `${symbol} 2025-01-03 10 10\n${symbol} 2025-01-06 10 10`);
  books.setExchange(old, '2025-01-06', MAOTAI, [2, 1]);
  books.setExchange(MAOTAI, '2025-01-06', other, [1, 1]);
  books.setExchange('430047.BJ', '2025-01-06', STAR, [1, 1]);
  setBars(books, '430047.BJ 2025-01-03 10 10');
  await books.complete(await books.open('2025-01-03', 'model-a', { universe }), [
    ['buy', old, 100],
    ['buy', '430047.BJ', 100],
  ]);
  const session = await books.open('2025-01-06', 'model-a', { universe });
  const late = 'today, and cannot be sold before the next session';
  const orders = tableOf<[order: string, refusal: string]>(`
    sell ${other} 200  | Cannot sell 200 ${other}: 200 of the 200 held were bought or received ${late}; none can be sold.
    buy ${MAOTAI} 100  |
    sell ${MAOTAI} 100 | Cannot sell 100 ${MAOTAI}: 100 of the 100 held were bought ${late}; none can be sold.
    buy ${STAR} 200    |
    sell ${STAR} 200   | Cannot sell 200 ${STAR}: 200 of the 300 held were bought ${late}; at most 100 can be sold.
    sell ${STAR} 100   |
  `);
  for (const [order, refusal] of orders)
    assert.equal(await refusalOf(session, order), refusal, order);
  await books.complete(session);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('American shares can be sold on the day on which they were bought', async () => {
  const books = createBooks();
  setBars(books, 'AAPL 2025-01-03 10 10');
  const session = await books.open('2025-01-03');
  assert.equal(await refusalOf(session, 'buy AAPL 7'), '');
  assert.equal(await refusalOf(session, 'sell AAPL 5'), '');
});

test('with a hidden open an order fills in whole lots, and not at a limit', async () => {
  const books = booksOf({ open: 'hidden', initial_cash: 3_000 });
  setBars(
    books,
    `${MAOTAI} 2025-01-03 10 10
     ${MAOTAI} 2025-01-06 10.5 10
     ${MAOTAI} 2025-01-07 9 9
     ${STAR} 2025-01-03 5 5
     ${STAR} 2025-01-06 6 6`,
  );
  const day = await books.open('2025-01-06', 'model-a', { universe });
  assert.equal(await refusalOf(day, `buy ${MAOTAI} 200`), '');
  assert.equal(await refusalOf(day, `buy ${STAR} 100`), '');
  assert.match(await refusalOf(day, `buy ${STAR} 150`), /100 or 200 can be bought\.$/);
  await books.complete(day);
  const unfilled = () =>
    rowsAsText(books.database, "SELECT detail FROM decisions WHERE detail LIKE 'Did not%'");
  assert.deepEqual(unfilled().slice(-1), [
    'Did not buy 100 688981.SH: it opened at its upper limit, no one sells',
  ]);
  const next = await books.open('2025-01-07', 'model-a', { universe });
  assert.equal(await refusalOf(next, `sell ${MAOTAI} 200`), '');
  await books.complete(next);
  assert.deepEqual(unfilled().slice(-1), [
    'Did not sell 200 600519.SH: it opened at its lower limit, no one buys',
  ]);
  assert.deepEqual((await replayOf(books.database)).problems, []);
  const poor = booksOf({ open: 'hidden', initial_cash: 2_050 });
  setBars(poor, `${MAOTAI} 2025-01-03 10 10\n${MAOTAI} 2025-01-06 10.5 10`);
  const session = await poor.open('2025-01-06', 'model-a', { universe });
  assert.equal(await refusalOf(session, `buy ${MAOTAI} 200`), '');
  await poor.complete(session);
  assert.deepEqual(rowsAsText(poor.database, 'SELECT amount, cash_e4 FROM positions'), [
    '100 10000000',
  ]);
});

/** An order of one answer, what is held, what is traded, and how it is said. */
const cuts = tableOf<[order: string, held: string, traded: string, cut: string]>(`
  buy 100  | 0   | 100 |
  buy 150  | 0   | 100 | 150 were ordered; 100 are whole lots
  buy 50   | 0   |     |
  sell 150 | 300 | 100 | 150 were ordered; 100 are whole lots
  sell 50  | 130 | 30  | 50 were ordered; 30 are whole lots
  sell 130 | 130 | 130 |
  sell 20  | 130 |     |
`);
test('an order of one answer becomes whole lots, and says so; one below a lot is refused', () => {
  for (const [order, held, traded, cut] of cuts) {
    const [side = '', amount = ''] = order.split(' ');
    const market = {
      date: '2025-01-06',
      quote: () => ({ open: fromDollars(1), previousDate: null, previousClose: null }),
    } as unknown as TradingDay['market']; // unknown: an order asks a market for no more
    const rules = { ...CN, boards: [{ symbols: '*', minimum: 100, step: 100, price_limit: null }] };
    const holdings = new Map(held === '0' ? [] : [[MAOTAI, Number(held)]]);
    const portfolio = { cash: fromDollars(1_000), holdings };
    const day = tradingDay({ market, universe, portfolio, rules, decider: { by: 'one_answer' } });
    const { result, refusal } = takeOrder(day, side as 'buy', {
      symbol: MAOTAI,
      amount: Number(amount),
    });
    assert.deepEqual([`${result?.amount ?? ''}`, result?.cut ?? ''], [traded, cut], order);
    assert.equal(refusal === undefined, traded !== '', order);
    const several = takeOrder({ ...day, decider: null }, side as 'buy', {
      symbol: MAOTAI,
      amount: Number(amount),
    });
    assert.equal(several.refusal === undefined, amount === traded, order);
  }
});

/** Costs: per trade, basis points, the least and the tax; what is traded, and what both sides pay. */
const costs = tableOf<[costs: string, traded: string, buys: string, sells: string]>(`
  0 2.5 5 5     | 1000      | 5      | 5.5
  0 2.5 5 5     | 100000    | 25     | 75
  0 2.5 5 5     | 20000     | 5      | 15
  1 2.5 5 0     | 20000     | 6      | 6
  0 0 5 0       | 1         | 5      | 5
  0 0 0 5       | 1000      | 0      | 0.5
  0 1 0 1       | 0.01      | 0.0001 | 0.0002
  0 0.3333 0 0.3333 | 10    | 0.0004 | 0.0008
`);
test('a commission has a least sum, and a sale pays a tax besides, each part rounded up', () => {
  for (const [own, traded, ...paid] of costs) {
    const [perTrade = 0, bps = 0, least = 0, tax = 0] = own.split(' ').map(Number);
    const commission = { commission_per_trade: perTrade, commission_bps: bps };
    const all = { ...NO_COSTS, ...commission, min_commission: least, sell_tax_bps: tax };
    const pays = (side: 'buy' | 'sell') =>
      `${toDollars(commissionOn(fromDollars(Number(traded)), side, all))}`;
    assert.deepEqual([pays('buy'), pays('sell')], paid, `${own} on ${traded}`);
  }
});

test('the ledger pays both: cash after a purchase and a sale', async () => {
  const books = booksOf({ commission_bps: 2.5, min_commission: 5, sell_tax_bps: 5 });
  setBars(books, `${MAOTAI} 2025-01-03 100 100\n${MAOTAI} 2025-01-06 100 100`);
  await books.complete(await books.open('2025-01-03', 'model-a', { universe }), [
    ['buy', MAOTAI, 100],
  ]);
  const session = await books.open('2025-01-06', 'model-a', { universe });
  const sold = await replyTo(session, `sell ${MAOTAI} 100`);
  assert.deepEqual([sold.commission, sold.cash], [10, 999_985]);
  await books.complete(session);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('the prompt says money, lots, limits and when what was bought can be sold', async () => {
  const linesOf = async (terms: object, decision = false) => {
    const books = booksOf({ ...terms, sell_tax_bps: 5, min_commission: 5, commission_bps: 2.5 });
    setBars(books, `${MAOTAI} 2025-01-03 100 100\n${STAR} 2025-01-03 50 50`);
    const { brief } = await books.open('2025-01-06', 'model-a', {
      universe: new Set([MAOTAI, STAR]),
    });
    const oneAnswer = { decision: { by: 'one_answer' as const, dates: [], closes: [] } };
    return firstMessages({ ...brief, ...(decision && oneAnswer) })
      .map(({ content }) => content)
      .join('\n')
      .split('\n')
      .filter((line) =>
        /CNY|Purchases|sale |bought on|limit|prices are|There are no tools/.test(line),
      );
  };
  const lots = [
    '- All amounts of money are in CNY.',
    '- Purchases are for 100 shares or more, in steps of 100.',
    '- A sale is a multiple of the same steps, with or without all that is held beyond them.',
  ];
  const sameDay = '- What was bought on a day cannot be sold on that day.';
  const limits = [
    "- A day's prices are within 10 % of the close before, those of 688981.SH within 20 % of the close before.",
    '  At an open at the upper limit no one sells, at the lower one no one buys.',
  ];
  const costly =
    'Trading costs: each order pays 2.5 basis points of its value, at least CNY 5. A sale also pays 5 basis points of its value in tax.';
  const prices = 'Prices in CNY (symbol, previous close, open today; - means no price):';
  const hidden = 'Prices in CNY (symbol, previous close; - means no price):';
  const only =
    '- There are no tools, and this is the only question of the day. Answer with one JSON object and nothing else, either';
  assert.deepEqual(await linesOf({}), [...lots, sameDay, ...limits, costly, prices]);
  assert.deepEqual(await linesOf({ open: 'hidden' }), [...lots, ...limits, costly, hidden]);
  assert.deepEqual(await linesOf({}, true), [...lots, sameDay, ...limits, only, costly, prices]);
});
