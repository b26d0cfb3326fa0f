import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstMessages, type Wording } from '../../src/core/agent/prompt.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { hideOpen, openMarket } from '../../src/core/trading/market.ts';
import { runTool } from '../../src/core/trading/tools.ts';
import { createBrief } from '../../src/core/trading/trading-day.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import { createBooks, replayOf, setBars } from '../support/books.ts';
import { storePrices } from '../support/prices.ts';
import { tradingDay } from '../support/trading-day.ts';

/** What a model reads about a holding that has stopped trading. ORLY trades on 3 and 10 January only. */
const PRICES = `
  AAPL 2025-01-02 10 10
  ORLY 2025-01-02 50 50
  AAPL 2025-01-03 10 10
  ORLY 2025-01-03 50 51
  AAPL 2025-01-06 10 10
  AAPL 2025-01-07 10 10
  AAPL 2025-01-08 10 10
  AAPL 2025-01-10 10 10
  ORLY 2025-01-10 49 48
  AAPL 2025-01-13 10 10`;

function morning(date: string, terms: { isHidden?: boolean; wording?: Wording; held?: string[] }) {
  const { isHidden = false, held = ['ORLY'], ...rest } = terms;
  const database = openDatabase(':memory:');
  storePrices(database, PRICES);
  const market = openMarket(latestPrices(database), date, ['AAPL', 'ORLY', 'NEVER']);
  return tradingDay({
    market: isHidden ? hideOpen(market) : market,
    universe: new Set(['AAPL', 'ORLY', 'NEVER']),
    portfolio: { cash: fromDollars(1000), holdings: new Map(held.map((symbol) => [symbol, 2])) },
    isOpenHidden: isHidden,
    ...rest,
  });
}

const LAST = 'ORLY 2025-01-03';
const mornings: [name: string, date: string, Parameters<typeof morning>[1], expected: string][] = [
  ['it trades', '2025-01-03', {}, ''],
  ['the first morning', '2025-01-06', {}, ''],
  ['the second', '2025-01-07', {}, LAST],
  ['a later one', '2025-01-08', {}, LAST],
  ['it trades again', '2025-01-10', {}, ''],
  ['the first morning after', '2025-01-13', {}, ''],
  ['it is not held', '2025-01-07', { held: [] }, ''],
  ['another one is held', '2025-01-07', { held: ['AAPL'] }, ''],
  ['of two', '2025-01-07', { held: ['AAPL', 'ORLY'] }, LAST],
  ['an earlier wording', '2025-01-07', { wording: 1 }, ''],
  ['hidden: it traded on the day before', '2025-01-06', { isHidden: true }, ''],
  ['hidden: once not', '2025-01-07', { isHidden: true }, ''],
  ['hidden: twice not', '2025-01-08', { isHidden: true }, LAST],
  ['hidden: of today nothing is known', '2025-01-10', { isHidden: true }, LAST],
  ['hidden: it traded again', '2025-01-13', { isHidden: true }, ''],
];

test('what is held without a price for two sessions is in the morning report with its last close', () => {
  for (const [name, date, terms, expected] of mornings) {
    const brief = createBrief(morning(date, terms));
    const told = (brief.unpriced ?? []).map((one) => `${one.symbol} ${one.lastClose}`).join();
    assert.equal(told, expected, name);
    const report = String(firstMessages(brief)[1]?.content);
    const lines =
      /\n\nHeld without a price for two sessions or more:\n(ORLY: its last close is of 2025-01-03)\n/;
    assert.equal(lines.test(report), expected !== '', report);
  }
});

const orders: [tool: string, args: object, Parameters<typeof morning>[1], error: string][] = [
  [
    'sell',
    { symbol: 'ORLY', amount: 1 },
    {},
    'Cannot sell ORLY: it has no price on 2025-01-06; its last close is of 2025-01-03.',
  ],
  [
    'buy',
    { symbol: 'ORLY', amount: 1 },
    {},
    'Cannot buy ORLY: it has no price on 2025-01-06; its last close is of 2025-01-03.',
  ],
  ['buy', { symbol: 'NEVER', amount: 1 }, {}, 'Cannot buy NEVER: it has no price on 2025-01-06.'],
  [
    'rebalance',
    { weights: { ORLY: 0.5 } },
    {},
    'Cannot trade ORLY: it has no price on 2025-01-06; its last close is of 2025-01-03.',
  ],
  [
    'sell',
    { symbol: 'ORLY', amount: 1 },
    { wording: 1 },
    'Cannot sell ORLY: it has no price on 2025-01-06.',
  ],
  [
    'buy',
    { symbol: 'NEVER', amount: 1 },
    { isHidden: true },
    'Cannot buy NEVER: it has no previous close.',
  ],
];

test('the refusal of an order without a price today says when the symbol last closed', async () => {
  for (const [name, args, terms, error] of orders) {
    const day = morning('2025-01-06', terms);
    const { refusal, result } = await runTool(day, {
      id: '1',
      name,
      arguments: JSON.stringify(args),
    });
    const said = refusal ?? JSON.stringify(result);
    assert.ok(said === error || said.includes(error), said);
  }
});

for (const open of ['shown', 'hidden'])
  test(`with a ${open} open the days replay, and an order that did not fill says it too`, async () => {
    const books = createBooks(':memory:', { terms: { open } });
    setBars(books, PRICES);
    await books.day('2025-01-03', [['buy', 'ORLY', 2]]);
    for (const date of ['2025-01-06', '2025-01-07', '2025-01-08'])
      await books.day(date, [['sell', 'ORLY', 1]]);
    const last = await books.open('2025-01-10');
    const report = String(firstMessages(last.brief)[1]?.content);
    assert.equal(
      report.includes(
        'Did not sell 1 ORLY: it has no price on 2025-01-08; its last close is of 2025-01-03',
      ),
      open === 'hidden',
      report,
    );
    await books.complete(last);
    const { problems, same } = await replayOf(books.database);
    assert.deepEqual([problems, same], [[], '5 of 5']);
  });
