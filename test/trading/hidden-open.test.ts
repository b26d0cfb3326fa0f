import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { weekdays } from '../../src/core/time/calendar.ts';
import { createNormals } from '../../src/features/statistics/random.ts';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import type { TradingSession } from '../../src/core/trading/session.ts';
import { type Books, callIn, createBooks, replayOf, setBars, tell } from '../support/books.ts';
import { inLongForm, runs } from '../support/long.ts';
import { rowsAsText } from '../support/tables.ts';
import { tableOf } from '../support/text-table.ts';

const HIDDEN = { open: 'hidden' };
const PRICES = `
  AAPL 2025-01-03 100 102
  AAPL 2025-01-06 110 112
  AAPL 2025-01-07 90 95
  MSFT 2025-01-03 200 198
  MSFT 2025-01-07 210 211
  ORLY 2025-01-03 30 33
  ORLY 2025-01-06 31 32
  ORLY 2025-01-07 34 35`;

function booksOf(terms: object = {}, prices = PRICES): Books {
  const books = createBooks(':memory:', { terms: { ...HIDDEN, ...terms } });
  setBars(books, prices);
  return books;
}

async function replyOf(session: TradingSession, name: string, args: object): Promise<any> {
  return JSON.parse((await callIn(session, name, args)).results[0]?.content ?? '');
}

/** An order in words, and what is replied to it in short. */
async function place(session: TradingSession, order: string): Promise<string> {
  const [name = '', symbol, amount] = order.split(' ');
  const reply = await replyOf(session, name, { symbol, amount: Number(amount) });
  return reply.error ?? `placed at ${reply.at_previous_close}, ${reply.cash_left} left`;
}

/** Places orders, a line each, with the replies to them. */
async function placeAll(session: TradingSession, orders: string): Promise<void> {
  for (const [order = '', reply] of tableOf(orders))
    assert.equal(await place(session, order), reply);
}

/** The fills at the end of a day, then what did not fill as ordered. */
function fillsIn({ database }: Books, date: string): string[] {
  const [text = ''] = rowsAsText(
    database,
    `SELECT content FROM reasoning_logs JOIN trading_sessions USING (session_id)
     WHERE date = '${date}' AND status = 'active' AND message_index = total_messages - 1 AND tool_name = 'fills'`,
  );
  const { fills, unfilled } = JSON.parse(text);
  const inWords = ({ side, symbol, amount, filled, price, reason }: any) =>
    `${side} ${filled === undefined ? '' : `${filled} of `}${amount} ${symbol} at ${price}${reason ? `: ${reason}` : ''}`;
  return [...fills, ...unfilled].map(inWords);
}

const decisionsIn = ({ database }: Books) =>
  rowsAsText(
    database,
    `SELECT date, place, coalesce(kind, '-'), coalesce(own.symbol, '-'), coalesce(detail, '-')
     FROM decisions AS own JOIN trading_sessions USING (session_id) ORDER BY date, place DESC`,
  );

test('BRK-B is BRK.B where that is the symbol, in an order and in what becomes of it', async () => {
  const stock_symbols = ['BRK.B'];
  const books = booksOf({ stock_symbols }, 'BRK.B 2025-01-06 50 51\nBRK.B 2025-01-07 52 53');
  const session = await books.open('2025-01-07', 'model-a', { universe: new Set(stock_symbols) });
  assert.equal(await place(session, 'buy BRK-B 2'), 'placed at 51, 9898 left');
  assert.equal(
    (await replyOf(session, 'get_price_history', { symbol: 'brk-b', days: 1 })).symbol,
    'BRK.B',
  );
  await books.complete(session);
  const decisions = 'SELECT side, symbol, action_id, detail FROM decisions';
  assert.deepEqual(rowsAsText(books.database, decisions), ['buy BRK.B 1 -']);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('with a hidden open a model reads only previous closes, and knows when its orders fill', async () => {
  const session = await booksOf().open('2025-01-06');
  const [system, user] = firstMessages(session.brief).map(({ content }) => content);
  assert.match(String(system), /They fill at the next open, which is not known yet/);
  assert.doesNotMatch(
    String(system) + String(user),
    /opening price|open today|today's open|prices of the\smorning/,
  );
  assert.match(String(user), /Portfolio value at previous closes: 10000/);
  assert.match(
    String(user),
    /\(symbol, previous close; - means no price\):\nAAPL 102\nMSFT 198\nORLY 33$/,
  );
  assert.deepEqual(await replyOf(session, 'get_price', { symbol: 'AAPL' }), {
    error: "Today's open is not known yet.",
  });
  assert.deepEqual(await replyOf(session, 'get_price_history', { symbol: 'AAPL', days: 5 }), {
    symbol: 'AAPL',
    bars: [{ date: '2025-01-03', open: 100, high: 102, low: 100, close: 102, volume: 1000 }],
  });
  assert.ok(session.tools.every(({ description }) => !description.includes("today's open")));
});

test('orders are placed by the previous close, and fill when the day ends: sales first, then purchases', async () => {
  const books = booksOf({ commission_per_trade: 1 });
  const first = await books.open('2025-01-03');
  assert.equal(await place(first, 'buy AAPL 1'), 'Cannot buy AAPL: it has no previous close.');
  await books.complete(first);
  assert.deepEqual(fillsIn(books, '2025-01-03'), []);

  const day = await books.open('2025-01-06');
  await placeAll(
    day,
    `buy AAPL 50  | placed at 102, 4899 left
     sell AAPL 1  | Cannot sell AAPL: none is held.
     buy ORLY 148 | placed at 33, 14 left
     buy MSFT 1   | Cannot buy 1 MSFT at 198.00: cash is 14.00, enough for 0`,
  );
  const { placed } = await replyOf(day, 'get_portfolio', {});
  assert.deepEqual(
    placed.map((order: object) => Object.values(order).join(' ')),
    ['buy AAPL 50', 'buy ORLY 148'],
  );
  await books.complete(day);
  // 50 · 110 and a commission leave 4499; (4499 − 1) / 31 pays for 145 shares.
  assert.deepEqual(fillsIn(books, '2025-01-06'), [
    'buy 50 AAPL at 110',
    'buy 145 ORLY at 31',
    'buy 145 of 148 ORLY at 31: not enough cash',
  ]);
  const next = await books.open('2025-01-07');
  const report = String(firstMessages(next.brief)[1]?.content);
  assert.ok(report.split('\n').includes('Bought 145 of 148 ORLY at 31: not enough cash'), report);
  // A sale that is placed later fills first, and its proceeds pay for the purchase.
  await placeAll(
    next,
    `buy MSFT 1   | Cannot buy 1 MSFT at 198.00: cash is 3.00, enough for 0
     sell AAPL 30 | placed at 112, 3362 left
     sell AAPL 21 | Cannot sell 21 AAPL: 50 are held, 30 of them in orders already
     buy MSFT 15  | placed at 198, 391 left`,
  );
  await books.complete(next);
  assert.deepEqual(fillsIn(books, '2025-01-07').slice(0, 2), [
    'sell 30 AAPL at 90',
    'buy 12 MSFT at 210',
  ]);
  assert.deepEqual(decisionsIn(books).slice(2), [
    '2025-01-06 5 refusal AAPL Cannot sell AAPL: none is held.',
    '2025-01-06 4 refusal MSFT Cannot buy 1 MSFT at 198.00: cash is 14.00, enough for 0',
    '2025-01-06 3 trade AAPL -',
    '2025-01-06 2 trade ORLY -',
    '2025-01-06 1 refusal ORLY Bought 145 of 148 ORLY at 31: not enough cash',
    '2025-01-07 5 refusal MSFT Cannot buy 1 MSFT at 198.00: cash is 3.00, enough for 0',
    '2025-01-07 4 refusal AAPL Cannot sell 21 AAPL: 50 are held, 30 of them in orders already',
    '2025-01-07 3 trade AAPL -',
    '2025-01-07 2 trade MSFT -',
    '2025-01-07 1 refusal MSFT Bought 12 of 15 MSFT at 210: not enough cash',
  ]);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('a purchase that cash does not cover fills by one share, where it pays for one', async () => {
  const books = booksOf({ initial_cash: 210 });
  const day = await books.open('2025-01-06');
  await placeAll(day, 'buy AAPL 2 | placed at 102, 6 left');
  await books.complete(day);
  const next = await books.open('2025-01-07');
  const report = String(firstMessages(next.brief)[1]?.content).split('\n');
  assert.ok(report.includes('Bought 1 of 2 AAPL at 110: not enough cash'), report.join('\n'));
});

test('what has no open does not fill, and a day that fails fills nothing', async () => {
  const books = booksOf();
  const failed = await books.open('2025-01-06');
  await place(failed, 'buy AAPL 1');
  await failed.end({ status: 'failed', error: 'broken' });
  assert.deepEqual(rowsAsText(books.database, 'SELECT * FROM positions'), []);
  const day = await books.open('2025-01-06');
  await place(day, 'buy MSFT 5');
  await books.complete(day);
  assert.deepEqual(fillsIn(books, '2025-01-06'), [
    'buy 0 of 5 MSFT at null: it has no price on 2025-01-06; its last close is of 2025-01-03',
  ]);
  assert.deepEqual(decisionsIn(books), [
    '2025-01-06 2 refusal MSFT Did not buy 5 MSFT: it has no price on 2025-01-06; its last close is of 2025-01-03',
    '2025-01-06 1 no_trade - -',
  ]);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('splits and dividends of the morning are known, and a fraction is paid at the previous close', async () => {
  const books = booksOf({}, `${PRICES}\nORLY 2025-01-08 11 12`);
  await books.day('2025-01-06', [['buy', 'ORLY', 7]]);
  tell(books, 'ORLY 2025-01-08 3:2, ORLY 2025-01-07 0.5');
  const day = await books.open('2025-01-08');
  // 7 shares at 31 in cash, then 3.5 of dividends and half a share at 35 / 1.5.
  assert.equal(day.brief.cash, 10_000 - 7 * 31 + 3.5 + 11.6667);
  assert.deepEqual(day.brief.holdings, [{ symbol: 'ORLY', quantity: 10, price: 23.3333 }]);
  await books.complete(day);
  assert.deepEqual((await replayOf(books.database)).problems, []);
});

test('a day that is interrupted at any message places its orders again from its log, and fills them once', async () => {
  const calls = [
    ['buy', { symbol: 'AAPL', amount: 10 }],
    ['buy', { symbol: 'ORLY', amount: 100 }],
    ['get_portfolio', {}],
  ] as const;
  for (let kept = 0; kept <= calls.length; kept += 1) {
    const books = booksOf();
    const session = await books.open('2025-01-06');
    for (const [name, args] of calls.slice(0, kept)) await callIn(session, name, args);
    session.leave();
    const again = await books.reopen(session.modelDay);
    await again.resume();
    for (const [name, args] of calls.slice(kept)) await callIn(again, name, args);
    await books.complete(again);
    assert.deepEqual(
      rowsAsText(books.database, 'SELECT action_type, symbol, amount FROM positions'),
      ['buy AAPL 10', 'buy ORLY 100'],
    );
    assert.deepEqual((await replayOf(books.database)).problems, []);
  }
});

/** All that crosses to the model of one day, whose prices on the session date are multiplied. */
async function readOf(terms: object, factor: number): Promise<string> {
  const books = booksOf(
    terms,
    PRICES.replace(
      /(2025-01-06) (\d+) (\d+)/g,
      (_all, date, open, close) => `${date} ${Number(open) * factor} ${Number(close) * factor}`,
    ),
  );
  await books.day('2025-01-03', []);
  const session = await books.open('2025-01-06');
  const read = [JSON.stringify([firstMessages(session.brief), session.tools])];
  for (const [name, args] of [
    ['get_price', { symbol: 'AAPL' }],
    ['get_price', { symbol: 'AAPL', date: '2025-01-03' }],
    ['get_price_history', { symbol: 'ORLY', days: 10 }],
    ['buy', { symbol: 'AAPL', amount: 20 }],
    ['buy', { symbol: 'ORLY', amount: 400 }],
    ['get_portfolio', {}],
  ] as const)
    read.push(JSON.stringify((await callIn(session, name, args)).results));
  await books.complete(session);
  return read.join('\n');
}

test('no price of the session date changes a byte that a model reads; with a shown open it does', async () => {
  const factor = fc.integer({ min: 1, max: 50 }).filter((one) => one !== 10);
  await fc.assert(
    fc.asyncProperty(factor, async (one) => {
      assert.equal(await readOf({}, one / 10), await readOf({}, 1));
      assert.notEqual(
        await readOf({ open: 'shown' }, one / 10),
        await readOf({ open: 'shown' }, 1),
      );
    }),
    { numRuns: runs(4, 300) },
  );
});

/** Orders by an oracle: fills in whole units of money, as the specification says. */
test('fills are those of an oracle outside the program, to the cent', async () => {
  const order = fc.record({
    name: fc.constantFrom('buy', 'sell'),
    symbol: fc.constantFrom('AAPL', 'MSFT', 'ORLY'),
    amount: fc.integer({ min: 1, max: 60 }),
  });
  const costs = { commission_per_trade: 1.5, commission_bps: 10, slippage_bps: 20 };
  const opens: Record<string, number> = { AAPL: 900_000, MSFT: 2_100_000, ORLY: 340_000 };
  const arbitrary = fc.record({
    before: fc.array(order, { maxLength: 4 }),
    orders: fc.array(order, { maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ before, orders }) => {
      const books = booksOf(costs);
      const first = await books.open('2025-01-06');
      for (const { name, symbol, amount } of before) await callIn(first, name, { symbol, amount });
      await books.complete(first);
      const day = await books.open('2025-01-07');
      const held = new Map(day.brief.holdings.map(({ symbol, quantity }) => [symbol, quantity]));
      let cash = fromDollars(day.brief.cash) as number;
      const placed: typeof orders = [];
      for (const one of orders)
        if ((await place(day, Object.values(one).join(' '))).startsWith('placed')) placed.push(one);
      await books.complete(day);
      const up = (amount: number, bps: number) => Math.ceil((amount * bps) / 10_000);
      const expected: string[] = [];
      for (const side of ['sell', 'buy'])
        for (const { name, symbol, amount } of placed) {
          if (name !== side) continue;
          const open = opens[symbol] ?? NaN;
          const price = side === 'buy' ? open + up(open, 20) : open - up(open, 20);
          const costOf = (shares: number) => 15_000 + up(shares * price, 10);
          let shares = amount;
          if (side === 'buy')
            while (shares > 0 && shares * price + costOf(shares) > cash) shares -= 1;
          if (shares === 0) continue;
          cash += (side === 'buy' ? -1 : 1) * shares * price - costOf(shares);
          held.set(symbol, (held.get(symbol) ?? 0) + (side === 'buy' ? shares : -shares));
          expected.push(`${side} ${symbol} ${shares} ${price} ${cash}`);
        }
      assert.deepEqual(
        rowsAsText(
          books.database,
          `SELECT action_type, symbol, amount, price_e4, cash_e4 FROM positions JOIN trading_sessions USING (session_id)
           WHERE date = '2025-01-07' AND action_type <> 'no_trade' ORDER BY action_id`,
        ),
        expected,
      );
      assert.deepEqual((await replayOf(books.database)).problems, []);
    }),
    { numRuns: runs(20, 2_000) },
  );
});

const DRAWN = ['AAPL', 'MSFT'];

/** Dates, with an open and a close of each symbol that are drawn. */
function drawnDays(count: number) {
  const normal = createNormals('fills of a hidden open');
  const closes = new Map(DRAWN.map((symbol) => [symbol, 100]));
  return weekdays('2025-01-06', '2025-12-31')
    .slice(0, count)
    .map((date) => {
      const bars = DRAWN.map((symbol) => {
        const open = Number(((closes.get(symbol) ?? 0) * (1 + 0.01 * normal())).toFixed(2));
        const close = Number((open * (1 + 0.01 * normal())).toFixed(2));
        closes.set(symbol, close);
        return { symbol, open, close };
      });
      return { date, bars };
    });
}

/** Every day sells what the day before bought, and spends all cash by previous closes. */
async function sameOrders(open: 'shown' | 'hidden') {
  const days = drawnDays(61);
  const rows = days.flatMap(({ date, bars }) =>
    bars.map((bar) => `${bar.symbol} ${date} ${bar.open} ${bar.close}`),
  );
  const books = booksOf({ open }, rows.join('\n'));
  let refused = 0;
  for (const [index, { date }] of days.entries()) {
    const closes = new Map(days[index - 1]?.bars.map(({ symbol, close }) => [symbol, close]));
    const session = await books.open(date);
    const { cash, holdings } = session.brief;
    for (const { symbol, quantity: amount } of holdings)
      await replyOf(session, 'sell', { symbol, amount });
    const symbol = DRAWN[index % 2] ?? '';
    const value = holdings.reduce(
      (sum, held) => sum + held.quantity * (closes.get(held.symbol) ?? 0),
      cash,
    );
    const amount = Math.floor(value / (closes.get(symbol) ?? Infinity));
    if (amount > 0 && (await replyOf(session, 'buy', { symbol, amount })).error !== undefined)
      refused += 1;
    await books.complete(session);
  }
  const one = (sql: string) => Number(rowsAsText(books.database, sql)[0]);
  const part = one(`SELECT count(*) FROM decisions WHERE detail LIKE 'Bought %'`);
  const value = one('SELECT portfolio_value_e4 FROM positions ORDER BY position_id DESC LIMIT 1');
  return { refused, part, return: value / 1e8 - 1 };
}

test(
  'what a hidden open changes over the same orders, as docs/explain/what-can-mislead.md says it',
  inLongForm,
  async () => {
    const [shown, hidden] = [await sameOrders('shown'), await sameOrders('hidden')];
    const page = readFileSync(
      new URL('../../docs/explain/what-can-mislead.md', import.meta.url),
      'utf8',
    );
    const percent = (fraction: number) =>
      `${fraction < 0 ? '−' : '+'}${Math.abs(fraction * 100).toFixed(2)} %`;
    assert.deepEqual([shown.part, hidden.refused], [0, 0]);
    for (const words of [
      `refuses ${shown.refused} of 60`,
      `fills ${hidden.part} of them in part`,
      percent(shown.return),
      percent(hidden.return),
    ])
      assert.ok(page.includes(words), `${words}: ${JSON.stringify({ shown, hidden })}`);
  },
);
