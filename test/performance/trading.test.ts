import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerDay } from '../../src/features/performance/queries.ts';
import { fromDollars, money, toDollars } from '../../src/core/money/money.ts';
import {
  holdingDays,
  openPositions,
  measureTrading,
} from '../../src/features/performance/trading.ts';
import { sumMoney, sumProfit, tripProfit } from '../../src/features/performance/lots.ts';
import { rowsOf } from '../support/prices.ts';

/** What some days traded, with the sums over all symbols. */
function measure(ledger: LedgerDay[], chosen: number[]) {
  const found = measureTrading(ledger, new Set(chosen));
  const symbols = [...found.symbols.values()];
  const realised = sumMoney(symbols.map((own) => own.realised));
  return {
    ...found,
    trades: symbols.reduce((sum, { trades }) => sum + trades, 0),
    fractionProfit: money(realised - sumProfit(found.roundTrips)),
  };
}

/**
 * Ledgers as text, below their names: `DAY buy SYMBOL AMOUNT PRICE`, `sell ...`, `split SYMBOL ADDED
 * PRICE`, each with the change of the cash where it is not shares times price; behind `=>` the round
 * trips it closes as `QUANTITY@HOLDING_DAYS:PROFIT`; then what is left.
 */
const LEDGERS = `
  # one round trip
    03 buy  AAPL 10 100
    06 sell AAPL 10 110      => 10@3:100
  # the oldest shares are sold first, lot by lot
    03 buy  AAPL 3 100
    04 buy  AAPL 7 110
    05 sell AAPL 5 120       => 3@2:60 2@1:20
    06 sell AAPL 5 90        => 5@2:-100
  # bought and sold within a day
    03 buy  AAPL 2 100
    03 sell AAPL 1 100       => 1@0:0
    left: AAPL 1 since 03 cost 100
  # symbols have lots of their own
    03 buy  AAPL 1 100
    03 buy  MSFT 1 200
    04 sell MSFT 1 210       => 1@1:10
    left: AAPL 1 since 03 cost 100
  # what is sold wholly and bought again starts anew
    03 buy  AAPL 1 100
    04 sell AAPL 1 90        => 1@1:-10
    05 buy  AAPL 1 80
    left: AAPL 1 since 05 cost 80
  # commission is part of what was paid and of what was got
    03 buy  AAPL 10 100 -1005
    06 sell AAPL 4 110  435  => 4@3:33
    07 sell AAPL 6 110  655  => 6@4:52
  # what cannot be divided evenly adds up
    03 buy  AAPL 3 33.3333 -100
    04 sell AAPL 1 33.3333   => 1@1:0
    05 sell AAPL 1 33.3333   => 1@2:-0.0001
    06 sell AAPL 1 33.3333   => 1@3:0
  # a split divides the cost among more shares
    03 buy   AAPL 2 300
    04 split AAPL 28 20 0
    05 sell  AAPL 15 21      => 15@2:15
    left: AAPL 15 since 03 cost 300
  # the fraction that a split leaves, half of a new share, is sold with a ninth of what the oldest lot cost
    03 buy   AAPL 3 60
    04 buy   AAPL 4 60
    05 split AAPL 3 40 20    => fraction 0
    06 sell  AAPL 4 45       => 4@3:20
    06 sell  AAPL 6 45       => 6@2:30
  # a reverse split pays its fraction, a quarter of a share that cost a fifth of the lot
    03 buy   AAPL 10 10
    04 split AAPL -9 120 30  => fraction 10
    05 sell  AAPL 1 120      => 1@2:40
  # a reverse split that leaves no share is a sale of all
    03 buy   AAPL 5 10
    04 split AAPL -5 90 45   => fraction -5
  # so it is when a share is worth nothing any more
    03 buy   AAPL 5 10
    04 split AAPL -5 0 0     => fraction -50
  # a lot that a reverse split leaves nothing of leaves its cost to the next
    03 buy   AAPL 3 10
    04 buy   AAPL 17 10
    05 split AAPL -18 100 0
    left: AAPL 2 since 04 cost 200`;

test('round trips, fractions and open lots of ledgers', () => {
  for (const entry of LEDGERS.split('# ').slice(1)) {
    const [name, ...lines] = entry.trim().split('\n');
    const left = lines.find((line) => line.includes('left: '))?.replace(/ *left: /, '') ?? '';
    const text = lines.filter((line) => !line.includes('left: ')).join('\n');
    const ledger = ledgerFrom(text);
    const sessions = ledger.map(({ sessionId }) => sessionId);
    const { roundTrips, fractionProfit, book } = measure(ledger, sessions);
    const expected = [...text.matchAll(/=> (.*)/g)].flatMap(([, own = '']) => own.split(' '));
    const trips = roundTrips.map(
      (trip) => `${trip.quantity}@${holdingDays(trip)}:${toDollars(tripProfit(trip))}`,
    );
    const isTrip = (word: string) => word.includes('@');
    assert.deepEqual(trips, expected.filter(isTrip), name);
    const [, fraction = '0'] = expected.filter((word) => !isTrip(word));
    assert.equal(toDollars(fractionProfit), Number(fraction), name);
    const held = openPositions(book, () => money(0)).map(
      ({ symbol, quantity, since, cost }) =>
        `${symbol} ${quantity} since ${since.slice(-2)} cost ${toDollars(cost)}`,
    );
    assert.equal(held.join(), left, name);
  }
});

/** A day per date, each started from the one before it. */
function ledgerFrom(text: string): LedgerDay[] {
  const days: LedgerDay[] = [];
  let cash = fromDollars(10_000);
  for (const [day = '', type, symbol = '', amount, price, change] of rowsOf(
    text.replaceAll(/=>.*/g, ''),
  )) {
    const date = `2025-11-${day}`;
    const shares = Number(amount);
    const flow =
      change === undefined ? (type === 'buy' ? -1 : 1) * shares * Number(price) : Number(change);
    cash = money(cash + fromDollars(flow));
    if (days.at(-1)?.date !== date) days.push(emptyDay(days.length + 1, date));
    days.at(-1)?.actions.push({
      actionType: type as 'buy',
      symbol,
      amount: shares,
      price: fromDollars(Number(price)),
      cash,
    });
    (days.at(-1) as LedgerDay).cash = cash;
  }
  return days;
}

function emptyDay(sessionId: number, date: string): LedgerDay {
  const startedFrom = sessionId === 1 ? null : sessionId - 1;
  const initialCash = startedFrom === null ? fromDollars(10_000) : null;
  const nothing = { cash: money(0), value: money(0), profit: money(0) };
  return { sessionId, date, startedFrom, initialCash, actions: [], ...nothing };
}

test('trades, their sums and their commission', () => {
  const ledger = ledgerFrom(`
    03 buy   AAPL 10 100 -1005
    04 split AAPL 10 50 0
    05 sell  AAPL 5 60 297.5`);
  const { trades, bought, sold, commission } = measure(ledger, [1, 2, 3]);
  assert.deepEqual([trades, ...[bought, sold, commission].map(toDollars)], [2, 1000, 300, 7.5]);
});

test('dividends are received on their days, and are neither trades nor part of a round trip', () => {
  const ledger = ledgerFrom(`
    03 buy      AAPL 10 100
    04 dividend AAPL 10 0.1235 1.2346
    05 dividend AAPL 10 0.1 1
    05 split    AAPL 10 50 0
    05 dividend AAPL 20 0.5 10
    05 sell     AAPL 20 60`);
  const found = measure(ledger, [2, 3]);
  const { trades, bought, sold, commission, fractionProfit, dividends, roundTrips } = found;
  const received = [...dividends].map(([session, cash]) => `${session} ${toDollars(cash)}`);
  assert.deepEqual(received, ['2 1.2346', '3 11']);
  const sums = [bought, sold, commission, fractionProfit].map(toDollars);
  assert.deepEqual([trades, ...sums], [1, 0, 1200, 0, 0]);
  assert.deepEqual(roundTrips.map(tripProfit).map(toDollars), [200]);
});

test('only the trades of the chosen days count, with lots that earlier days bought', () => {
  const ledger = ledgerFrom(`
    03 buy  AAPL 10 100
    04 sell AAPL 2 110
    05 sell AAPL 3 120
    06 sell AAPL 1 130`);
  const { trades, roundTrips, book } = measure(ledger, [2, 4]);
  assert.deepEqual([trades, roundTrips.map(tripProfit).map(toDollars)], [2, [20, 30]]);
  assert.equal(openPositions(book, () => null)[0]?.quantity, 4);
});

test('lots follow the day that a session started from, not the one before it', () => {
  const [first, second, third] = ledgerFrom(`
    03 buy  AAPL 10 100
    04 sell AAPL 3 110
    05 sell AAPL 4 120`) as [LedgerDay, LedgerDay, LedgerDay];
  // The day of the 4th was filled in after the 5th had run from the 3rd.
  const stale = {
    ...third,
    startedFrom: first.sessionId,
    actions: [{ ...third.actions[0]!, cash: fromDollars(9_480) }],
  };
  const { roundTrips, book } = measureTrading([first, second, stale], new Set([1, 2, 3]));
  assert.deepEqual(roundTrips.map(tripProfit).map(toDollars), [30, 80]);
  const [held] = openPositions(book, () => fromDollars(50));
  assert.deepEqual([held?.quantity, held?.value], [6, fromDollars(300)]);
});

test('a ledger that sells shares it never bought is a bug, reported with its date', () => {
  assert.throws(
    () => measureTrading(ledgerFrom('03 sell AAPL 1 100'), new Set([1])),
    /Cannot sell 1 AAPL on 2025-11-03: the ledger bought fewer/,
  );
});
