import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { serialize } from 'node:v8';
import fc from 'fast-check';
import { type Money, money } from '../../src/core/money/money.ts';
import type { Market } from '../../src/core/trading/market.ts';
import type { TradingCosts } from '../../src/core/domain/market-rules.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { US_RULES, withCosts } from '../support/market-rules.ts';
import { buildPositions } from '../../src/core/trading/commit.ts';
import { startTradingDay, callTool } from '../../src/core/trading/running-day.ts';
import { computeDayStart } from '../../src/core/trading/start.ts';
import { replyContent, runTool } from '../../src/core/trading/tools.ts';
import type { TradingDay } from '../../src/core/trading/trading-day.ts';
import { inLongForm, runs } from '../support/long.ts';
import { tradingDay } from '../support/trading-day.ts';
import { tableOf } from '../support/text-table.ts';

const DATE = '2025-01-06';
const DOLLAR = 10_000;

interface Held {
  cash: number;
  holdings?: Record<string, number>;
  /** In units of money; null where a symbol has no price today, and 7 dollars is its last close. */
  opens: Record<string, number | null>;
  universe?: string[];
  costs?: Partial<TradingCosts>;
  limits?: NonNullable<TradingDay['limits']>;
  isOpenHidden?: boolean;
}

function dayOf({ cash, holdings = {}, opens, universe, costs, ...more }: Held) {
  const openOf = (symbol: string) => opens[symbol] ?? null;
  const market = {
    date: DATE,
    prices: latestPrices(openDatabase(':memory:')),
    quote: (symbol: string) => {
      const price = openOf(symbol) as Money | null;
      return { open: more.isOpenHidden ? null : price, previousDate: null, previousClose: price };
    },
    knownMark: (symbol: string) => ({ price: money(openOf(symbol) ?? 7 * DOLLAR) }),
  } as unknown as Market; // unknown: orders and values ask a market for no more
  return tradingDay({
    market,
    universe: new Set(universe ?? Object.keys(opens)),
    portfolio: { cash: money(cash), holdings: new Map(Object.entries(holdings)) },
    rules: withCosts(costs),
    ...more,
  });
}

async function rebalanced(held: Held, args: unknown) {
  const call = { id: '1', name: 'rebalance', arguments: JSON.stringify(args) };
  const reply = await runTool(dayOf(held), call);
  const { orders = [], error, ...rest } = JSON.parse(replyContent(reply));
  const told = orders.map(
    (one: any) =>
      one.error ?? `${one.executed ?? `placed ${one.placed}`} ${one.amount} ${one.symbol}`,
  );
  const actions = (reply.orders ?? []).flatMap(({ action }) => action ?? []);
  return { reply, actions, rest, told: error === undefined ? told : [error] };
}

/** AAPL costs 100 dollars and BOND 30; what is held is in dollars and shares, where it is not 0. */
const cases = tableOf<[what: string, held: string, more: string, args: string, told: string]>(`
  a weight is the decimal as written       | CASH 10000     | {"opens":{"AAPL":1}} | {"weights":{"AAPL":0.29}} | buy 2900 AAPL
  a weight in the form of an exponent      | CASH 10000000  | {"opens":{"AAPL":1}} | {"weights":{"AAPL":1e-7}} | buy 1 AAPL
  a symbol in small letters                | CASH 900       |          | {"weights":{"aapl":1}} | buy 9 AAPL
  two spellings of one symbol              | CASH 1         |          | {"weights":{"AAPL":0.5,"aapl":0.5}} | Cannot rebalance: AAPL is named twice.
  a symbol that cannot be traded: nothing is | CASH 1       |          | {"weights":{"AAPL":0.5,"NVDA":0.5}} | Cannot rebalance: "NVDA" is not among the symbols that can be traded.
  more than the whole                      | CASH 1         |          | {"weights":{"AAPL":0.75,"BOND":0.5}} | rebalance: weights must add up to at most 1, and add up to 1.25.
  a weight that is none                    | CASH 1         |          | {"weights":{"AAPL":"50 %"}} | rebalance: weights.AAPL must be a number from 0 to 1, got "50 %".
  a list of weights                        | CASH 1         |          | {"weights":[1]} | rebalance: weights must be an object with a share of the portfolio for each symbol.
  no weights                               | CASH 1         |          | {} | rebalance: weights is missing.
  an empty object                          | CASH 1, AAPL 2 |          | {"weights":{}} |
  an empty object that sells the rest      | BOND 2, AAPL 1 |          | {"weights":{},"sell_rest":true} | sell 1 AAPL, sell 2 BOND
  sales first, then the greatest lack in dollars | C 1000   | {"opens":{"AAPL":100,"BOND":30,"C":1}} | {"weights":{"AAPL":0.3,"BOND":0.6,"C":0}} | sell 1000 C, buy 20 BOND, buy 3 AAPL
  as many as the cash pays for             | CASH 1000      | {"fee":50} | {"weights":{"AAPL":0.5,"BOND":0.5}} | buy 5 AAPL, buy 13 BOND
  a held symbol without a price counts at its last close, and is not traded | CASH 93, GONE 1 | {"opens":{"AAPL":1,"GONE":null}} | {"weights":{"AAPL":0.5},"sell_rest":true} | Cannot trade GONE: it has no price on 2025-01-06., buy 50 AAPL
  a held symbol outside of the universe is sold | BOND 4    | {"universe":["AAPL"]} | {"weights":{"BOND":0.5}} | sell 2 BOND
  and not bought                           | CASH 300, BOND 1 | {"universe":["AAPL"]} | {"weights":{"BOND":1}} | Cannot buy BOND: it is not among the symbols that can be traded.
  and not bought, though the cash does not pay for one share | CASH 5, AAPL 1, BOND 1 | {"universe":["AAPL"]} | {"weights":{"BOND":1}} | Cannot buy BOND: it is not among the symbols that can be traded.
  a name that every object has             | CASH 1, AAPL 1 |          | {"weights":{"constructor":0.5},"sell_rest":true} | Cannot rebalance: "constructor" is not among the symbols that can be traded.
  the name of a prototype                  | CASH 1, AAPL 1 |          | {"weights":{"AAPL":0.2,"__proto__":0.5}} | Cannot rebalance: "__proto__" is not among the symbols that can be traded.
  a weight of such a name                  | CASH 1         |          | {"weights":{"__proto__":"1"}} | rebalance: weights.__proto__ must be a number from 0 to 1, got "1".
  cash is named                            | CASH 1000      |          | {"weights":{"AAPL":0.5,"Cash":0.5}} | buy 5 AAPL
  cash counts in the sum                   | CASH 1         |          | {"weights":{"AAPL":0.75,"CASH":0.5}} | rebalance: weights must add up to at most 1, and add up to 1.25.
  cash is named twice                      | CASH 1         |          | {"weights":{"CASH":0.5,"cash":0.5}} | Cannot rebalance: CASH is named twice.
  a symbol with the name of cash           | CASH 1000      | {"opens":{"CASH":10}} | {"weights":{"CASH":0.5}} | buy 50 CASH
  a sum that is rounded is divided by itself, exactly | CASH 30000 | {"opens":{"A":1,"B":1,"C":1}} | {"weights":{"A":0.33333334,"B":0.33333334,"C":0.33333334}} | buy 10000 A, buy 10000 B, buy 10000 C
  with the cash in it                      | CASH 3000002   | {"opens":{"A":1}} | {"weights":{"A":0.6000004,"CASH":0.4000002}} | buy 1800001 A
  a sum at the very limit                  | CASH 1000000   | {"opens":{"AAPL":1,"BOND":1}} | {"weights":{"AAPL":0.2,"BOND":0.500001,"CASH":0.3}} | buy 500000 BOND, buy 199999 AAPL
  one weight slightly above 1              | CASH 1000      |          | {"weights":{"AAPL":1.0000001}} | buy 10 AAPL
  a sum above 1 by more                    | CASH 1         |          | {"weights":{"AAPL":0.5,"BOND":0.50001}} | rebalance: weights must add up to at most 1, and add up to 1.00001.
  a weight that is 0 but for rounding      | CASH 1000, BOND 1 |       | {"weights":{"AAPL":0.5,"BOND":-1e-17}} | sell 1 BOND, buy 5 AAPL
  a negative weight                        | CASH 1         |          | {"weights":{"BOND":-1e-9}} | rebalance: weights.BOND must be a number from 0 to 1, got -1e-9.
  the other spelling of a class of shares  | CASH 100, BRK.B 1 | {"opens":{"BRK.B":10,"BF-B":10}} | {"weights":{"brk-b":0,"BF.B":0.5}} | sell 1 BRK.B, buy 5 BF-B
  both spellings                           | CASH 1         | {"opens":{"BRK.B":1}} | {"weights":{"BRK-B":0.2,"BRK.B":0.2}} | Cannot rebalance: BRK.B is named twice.
  two symbols that are spelled so          | CASH 10        | {"opens":{"BRK.B":1,"BRK-B":1}} | {"weights":{"BRK-B":0.2,"BRK.B":0.3}} | buy 3 BRK.B, buy 2 BRK-B
  a share above the largest weight is cut to it, and the rest trades | CASH 1000 | {"limits":{"max_weight":0.5}} | {"weights":{"AAPL":0.7,"BOND":0.3}} | buy 5 AAPL, buy 10 BOND, cut AAPL: at most 50 % of the portfolio in one symbol
  after the sales too, with costs          | CASH 100, BOND 30 | {"limits":{"max_weight":0.5},"fee":1} | {"weights":{"AAPL":0.7,"BOND":0.3}} | sell 20 BOND, buy 4 AAPL, cut AAPL: at most 50 % of the portfolio in one symbol
  exactly the largest weight is not cut    | CASH 1000      | {"limits":{"max_weight":0.5}} | {"weights":{"AAPL":0.5}} | buy 5 AAPL
  what has grown past it is kept           | CASH 400, AAPL 6 | {"limits":{"max_weight":0.5}} | {"weights":{"AAPL":0.8}} | cut AAPL: at most 50 % of the portfolio in one symbol
  the least cash is kept back              | CASH 1000      | {"limits":{"min_cash":0.2}} | {"weights":{"AAPL":0.6,"BOND":0.4}} | buy 6 AAPL, buy 6 BOND
  an order beyond their number is refused  | CASH 1000      | {"limits":{"max_orders":1}} | {"weights":{"AAPL":0.5,"BOND":0.3}} | buy 5 AAPL, This is order 2, and the limit is 1 a day.
  with a hidden open, orders are placed    | BOND 10        | {"isOpenHidden":true} | {"weights":{"AAPL":0.5},"sell_rest":true} | placed sell 10 BOND, placed buy 1 AAPL
`);
for (const [what, held, more, args, told] of cases)
  test(`a rebalance: ${what}`, async () => {
    const { opens = { AAPL: 100, BOND: 30 }, fee = 0, ...others } = JSON.parse(more || '{}');
    const amounts = held.split(', ').map((one): [string, number] => {
      const [symbol = '', amount] = one.split(' ');
      return [symbol, Number(amount)];
    });
    const { CASH: cash = 0, ...holdings } = Object.fromEntries(amounts);
    const inUnits = Object.entries(opens as Record<string, number | null>).map(
      ([symbol, dollars]) => [symbol, dollars && dollars * DOLLAR],
    );
    const day = { cash: cash * DOLLAR, holdings, opens: Object.fromEntries(inUnits), ...others };
    const costs = { commission_per_trade: fee };
    const found = await rebalanced({ ...day, costs }, JSON.parse(args));
    const { cut } = found.rest;
    assert.equal([...found.told, ...(cut ? [`cut ${cut}`] : [])].join(', '), told);
  });

test('the result of a rebalance is that of its orders', async () => {
  const opens = { AAPL: 100 * DOLLAR, BOND: 30 * DOLLAR };
  const weights = { AAPL: 0.5, BOND: 0.1 };
  const { reply, actions, rest } = await rebalanced({ cash: 1_000 * DOLLAR, opens }, { weights });
  assert.deepEqual(JSON.parse(replyContent(reply)).orders[0], {
    executed: 'buy',
    symbol: 'AAPL',
    amount: 5,
    price: 100,
    cash: 500,
    holding: 5,
  });
  assert.deepEqual([actions.length, rest], [2, { cash: 410 }]);
});

/** A day of the ledger, whose symbols have one price; and a call of rebalance on it. */
function playOf(symbols: readonly string[], limits: TradingDay['limits'] = null) {
  const opens = Object.fromEntries(symbols.map((symbol) => [symbol, 10 * DOLLAR]));
  const day = dayOf({ cash: 100_000 * DOLLAR, opens });
  const start = computeDayStart(null, {
    ...day,
    initialCash: day.portfolio.cash,
    paysDividends: true,
  });
  const play = startTradingDay({ ...day, rules: US_RULES, news: null, limits }, start);
  const rebalance = async (weights: object): Promise<any> => {
    const args = JSON.stringify({ weights, sell_rest: true });
    return JSON.parse(
      (await callTool(play, { id: '1', name: 'rebalance', arguments: args }, { index: 0 })).content,
    );
  };
  return { play, rebalance };
}

const HUNDRED = Array.from({ length: 100 }, (_, index) => `S${index}`);
const equal = (share: number) => Object.fromEntries(HUNDRED.map((symbol) => [symbol, share / 100]));

test('a day takes 10,000 orders, and keeps of each what is committed, however much is held', async () => {
  const { play, rebalance } = playOf(HUNDRED);
  for (let call = 0; call < 99; call += 1) await rebalance(equal(call % 2 === 0 ? 0.9 : 0.5));
  const forty = Object.entries(equal(0.5)).slice(0, 40);
  await rebalance({ ...equal(0.9), ...Object.fromEntries(forty) });
  const { orders } = await rebalance({});
  assert.equal(play.actions.length, 10_000);
  const errors = orders.flatMap(({ error }: { error?: string }) => error ?? []);
  assert.deepEqual([...new Set(errors)], ['This is order 10001, and the limit is 10000 a day.']);
  assert.ok(serialize(play.actions).byteLength / play.actions.length < 150);
  assert.deepEqual(await rebalance({ S0: 0.1 }), { error: errors[0] });
  const { portfolio } = play;
  const marks = new Map(HUNDRED.map((symbol) => [symbol, money(11 * DOLLAR)]));
  const startValue = money(100_000 * DOLLAR);
  const rows = buildPositions({ actions: play.actions, portfolio, startValue }, marks);
  const [first, last] = [rows[0], rows.at(-1)];
  assert.deepEqual(
    [first?.actionId, first?.portfolioValue, first?.holdings],
    [1, 100_000 * DOLLAR + Number(first?.amount) * DOLLAR, null],
  );
  assert.deepEqual([last?.actionId, last?.holdings], [10_000, play.portfolio.holdings]);
});

test('refused orders of rebalances count to these 10,000', async () => {
  const { play, rebalance } = playOf(HUNDRED, { max_orders: 1 });
  for (let call = 0; call < 101; call += 1) await rebalance(equal(0.9));
  assert.equal(play.refused, 9_999);
  assert.deepEqual(await rebalance(equal(0.9)), {
    error: 'This is order 10001, and the limit is 10000 a day.',
  });
});

test('a day of 1,000 rebalances over 1,000 symbols, its commit included, takes a bounded memory', {
  ...inLongForm,
}, () => {
  const program = join(import.meta.dirname, '../fixtures/thousand-symbols.ts');
  const args = ['--max-old-space-size=120', program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.deepEqual([stdout.trim(), stderr.includes('heap')], ['10000 990', false]);
});

const SYMBOLS = ['AA', 'BB', 'CC', 'DD'];

test('property: a rebalance is what its definition says', async () => {
  const perSymbol = <Value>(one: fc.Arbitrary<Value>) => fc.tuple(one, one, one, one);
  const scenario = fc.record({
    cash: fc.integer({ min: 0, max: 50_000 * DOLLAR }),
    held: perSymbol(fc.integer({ min: 0, max: 200 })),
    opens: perSymbol(fc.integer({ min: 1 * DOLLAR, max: 900 * DOLLAR })),
    /** In thousandths; undefined: not named. */
    weights: perSymbol(fc.option(fc.integer({ min: 0, max: 250 }), { nil: undefined })),
    sellsRest: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ cash, held, opens, weights, sellsRest }) => {
      const holdings = Object.fromEntries(
        SYMBOLS.flatMap((symbol, index) => (held[index] ? [[symbol, held[index]]] : [])),
      );
      const named = SYMBOLS.flatMap((symbol, index) =>
        weights[index] === undefined ? [] : [[symbol, weights[index] / 1000] as const],
      );
      const prices = Object.fromEntries(SYMBOLS.map((symbol, index) => [symbol, opens[index]!]));
      const { told, actions } = await rebalanced(
        { cash, holdings, opens: prices },
        { weights: Object.fromEntries(named), ...(sellsRest && { sell_rest: true }) },
      );
      // The definition, in whole units of money.
      const value = SYMBOLS.reduce(
        (sum, symbol, index) => sum + held[index]! * prices[symbol]!,
        cash,
      );
      let left = cash;
      const expected: string[] = [];
      const lacks: { symbol: string; lack: number; dollars: number }[] = [];
      SYMBOLS.forEach((symbol, index) => {
        const weight = weights[index] ?? (sellsRest ? 0 : undefined);
        if (weight === undefined) return;
        const target = Number((BigInt(weight) * BigInt(value)) / (1000n * BigInt(prices[symbol]!)));
        const lack = target - held[index]!;
        if (lack < 0) {
          expected.push(`sell ${-lack} ${symbol}`);
          left -= lack * prices[symbol]!;
        } else if (lack > 0) lacks.push({ symbol, lack, dollars: lack * prices[symbol]! });
      });
      lacks.sort((one, other) => other.dollars - one.dollars);
      for (const { symbol, lack } of lacks) {
        const shares = Math.min(lack, Math.floor(left / prices[symbol]!));
        if (shares === 0) continue;
        expected.push(`buy ${shares} ${symbol}`);
        left -= shares * prices[symbol]!;
      }
      assert.deepEqual(told, expected);
      assert.equal(actions.at(-1)?.cash ?? cash, left);
    }),
    { numRuns: runs(150, 10_000) },
  );
});

/** Prices and weights of three days, and what bt holds after each (lab/oracles/rebalance.py). */
const days = tableOf<[prices: string, weights: string, held: string]>(`
  101.25 48.2 250 12.35  | 0.25 0.25 0.25 0.2 | 24 51 10 161
  103.5 47.1 244.4 12.9  | 0.1 0.5 0.15 0.25  | 9 106 6 194
  99.75 51.3 261.9 11.8  | 0.4 0 0.35 0.25    | 41 0 13 218
`).map((row) => row.map((cell) => cell.split(' ').map(Number)) as [number[], number[], number[]]);

test('target weights over three days are those of bt, but for a share that it rounds up', async () => {
  let cash = 10_000 * DOLLAR;
  let holdings: Record<string, number> = {};
  for (const [prices, weights, held] of days) {
    const byName = (values: number[]) =>
      Object.fromEntries(SYMBOLS.map((symbol, index) => [symbol, values[index]!]));
    const opens = byName(prices.map((price) => Math.round(price * DOLLAR)));
    const args = { weights: byName(weights), sell_rest: true };
    const { reply } = await rebalanced({ cash, holdings, opens }, args);
    const after = reply.portfolio!;
    ({ cash } = after);
    holdings = Object.fromEntries(after.holdings);
    const differences = SYMBOLS.map((symbol, index) => (holdings[symbol] ?? 0) - held[index]!);
    assert.ok(
      differences.every((difference) => Math.abs(difference) <= 1),
      differences.join(),
    );
  }
});
