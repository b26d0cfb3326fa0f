import assert from 'node:assert/strict';
import { US_RULES, withCosts } from '../support/market-rules.ts';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import {
  WORDING,
  type Wording,
  findWording,
  conversationTexts,
} from '../../src/core/agent/prompt.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { fromDollars, money } from '../../src/core/money/money.ts';
import type { Answer, Brief } from '../../src/core/wire/protocol.ts';
import { type Market, openMarket } from '../../src/core/trading/market.ts';
import { applyCorporateActions } from '../../src/core/trading/morning.ts';
import { DECISION, replyContent, runTool, toolDescriptions } from '../../src/core/trading/tools.ts';
import { type Decider, decide } from '../../src/core/trading/decision.ts';
import type { TradingDay } from '../../src/core/trading/trading-day.ts';
import type { Documents } from '../../src/core/trading/morning-documents.ts';
import { storeDocuments } from '../support/documents.ts';
import { nasdaq100 } from '../../src/core/settings/default-symbols.ts';
import { storePrices } from '../support/prices.ts';
import { tradingDay } from '../support/trading-day.ts';

/**
 * SHA-256 of everything below in the words of each version. Files out there were made with them:
 * rows are only ever added.
 */
const released: Record<Wording, string> = {
  1: 'e35ce5cf4fed17292b7f57a4e5e04b29340634b86031ad76e14fe65029e946f4',
  2: '089a2a8abea9e7abf5be540a422b046491480ede6581c352c4c800c47b3c2ac5',
};

const WHAT_TO_DO =
  'what a model reads has changed, so files of before would not replay: restore it, or add a version in src/core/agent/prompt.ts, ' +
  'keep the former functions for the version before, and add the hash of the new one here';

const brief: Brief = {
  date: '2025-01-07',
  cash: 9000.5,
  portfolioValue: 10_020.5,
  holdings: [],
  quotes: [{ symbol: 'AAPL', previousClose: null, open: 1.5 }],
  rules: US_RULES,
};
const holdings = new Map([['AAPL', 4]]);
const dividend = { symbol: 'AAPL', exDate: '2025-01-06', cash: 250_000 };
const { received } = applyCorporateActions(
  { cash: money(0), holdings },
  {
    dividends: [{ ...dividend, basis: 'as_paid', splits: '' }],
    splits: [],
    exchanges: [],
  },
  {} as Market,
);
const briefs: [Brief, prompt: string | null][] = [
  [brief, null],
  [{ ...brief, note: null, holdings: [{ symbol: 'AAPL', quantity: 10, price: 102 }] }, 'Be bold.'],
  [
    {
      ...brief,
      note: 'Sell AAPL\nsoon',
      dividends: received,
      rules: withCosts({ commission_per_trade: 1, commission_bps: 2.5, slippage_bps: 3 }),
    },
    null,
  ],
  [
    {
      ...brief,
      isOpenHidden: true,
      limits: { max_weight: 0.25, max_orders: 1, min_cash: 0.05 },
      unfilled: ['Did not sell 2 AAPL: it has no price on 2025-01-06'],
      left: ['GONE', 'TINY'],
    },
    null,
  ],
  [
    {
      ...brief,
      decision: {
        by: 'one_answer',
        dates: ['2025-01-03', '2025-01-06'],
        closes: [{ symbol: 'AAPL', closes: [null, 98] }],
      },
    },
    'Be bold.',
  ],
  [
    {
      ...brief,
      documents: Array.from({ length: 14 }, (_, index) => ({ kind: `k${index}`, documents: 2 })),
      decision: {
        ...{ by: 'one_answer', dates: [], closes: [] },
        titles: [{ date: '2025-01-06', kind: 'news', title: 'AAPL rises' }],
      },
    },
    null,
  ],
  [
    {
      ...brief,
      decision: {
        ...{ by: 'agent', signature: 'mine', run: 'mine-2', universe: ['AAPL'] },
        ...{ maxToolCalls: 7, seconds: 60 },
      },
    },
    'Be bold.',
  ],
];

/** Answers that are to be decisions, the first of their day. */
const answers: Pick<Answer, 'content' | 'fault'>[] = [
  { content: '{"orders":[{"side":"buy","symbol":"AAPL","amount":1}],"reason":"Cheap."}' },
  { content: '{"weights":{"AAPL":0.5},"reason":"Half.","confidence":1}' },
  { content: '{"done":true,"reason":"Done."}' },
  { content: 'I wait.' },
  { content: '[]' },
  { content: '{"orders":[{"side":"short","symbol":"AAPL","amount":0.5}],"confidence":2,"date":1}' },
  { content: '{"reason":""}' },
  { content: '{}', fault: 'cut_off' },
];
const DECIDERS: readonly Decider[] = [
  { by: 'one_answer' },
  { by: 'agent', signature: 'mine', run: 'mine', maxToolCalls: 7, seconds: 60 },
];

const order = (amount: unknown, symbol = 'AAPL') => ({ symbol, amount });
/** A call for every reply and every refusal. */
const calls: [tool: string, args: unknown][] = [
  ['buy', order(3)],
  ['buy', order(3, 'GONE')],
  ['buy', order(1, 'NONE')],
  ['buy', order(200)],
  ['buy', order(98)],
  ['buy', order(19_780, 'TINY')],
  ['buy', order(-1)],
  ['buy', order('x'.repeat(100))],
  ['buy', { symbol: 'AAPL' }],
  ['buy', { ...order(1), price: 1 }],
  ['buy', order(1, '')],
  ['buy', []],
  ['buy', '{'],
  ['sell', order(1)],
  ['sell', order(9, 'GONE')],
  ['sell', order(9)],
  ['sell', order(1, 'MSFT')],
  ['sell', order(1, 'TINY')],
  ['get_price', { symbol: 'AAPL' }],
  ['get_price', { symbol: 'AAPL', date: '2025-01-06' }],
  ['get_price', { symbol: 'AAPL', date: '2025-01-08' }],
  ['get_price', { symbol: 'AAPL', date: '2025-01-01' }],
  ['get_price', { symbol: 'AAPL', date: 'today' }],
  ['get_price', { symbol: 'X' }],
  ['get_price_history', { symbol: 'AAPL', days: 2 }],
  ['get_price_history', { symbol: 'AAPL', days: 101 }],
  ['get_price_history', { symbol: 'X', days: 1 }],
  ['get_portfolio', {}],
  ['get_portfolio', ''],
  ['calculate', { expression: '2 ^ 3 + max(1, 2)' }],
  ['calculate', { expression: '1 +' }],
  ['calculate', { expression: '(1' }],
  ['calculate', { expression: 'x' }],
  ['calculate', { expression: '1 / 0' }],
  ['calculate', { expression: 'max(1 2)' }],
  ['calculate', { expression: '1'.repeat(501) }],
  ['calculate', { expression: 5 }],
  ['search_news', { query: '' }],
  ['search_news', { query: 'x'.repeat(401) }],
  ['write_note', { text: 'é😀' }],
  ['write_note', { text: 'x'.repeat(4_001) }],
  ['rebalance', { weights: { aapl: 0.2, MSFT: 0.1 }, sell_rest: true }],
  ['rebalance', { weights: { NONE: 0.5, X: 0.5 } }],
  ['rebalance', { weights: { AAPL: 0.5, aapl: 0.5 } }],
  ['rebalance', { weights: { AAPL: 0.75, TINY: 0.75 } }],
  ['rebalance', { weights: [2] }],
  ['rebalance', { weights: { AAPL: 2 }, sell_rest: 1 }],
  ['list_documents', { query: 'rises', limit: '3' }],
  ['list_documents', { symbol: '', kind: 1, since: 'today', query: 'x'.repeat(401), limit: 21 }],
  ['read_document', { id: 'a', offset: 2 }],
  ['read_document', { id: 'none' }],
  ['read_document', { offset: -1 }],
  ['look_up', {}],
];

async function sample(wording: Wording): Promise<string> {
  const words = conversationTexts(wording);
  const unpriced = [{ symbol: 'GONE', lastClose: '2025-01-02' }];
  const known = wording < 2 ? briefs : [...briefs, [{ ...brief, unpriced }, null] as const];
  const openings = known.map(([day, prompt]) => words.firstMessages(day, prompt));
  const decisions = DECIDERS.flatMap((decider) =>
    answers.flatMap((answer) =>
      // What the service stores of it, no model reads.
      [true, false].map((isFirst) => ({
        ...decide(decider, answer, isFirst),
        isUnread: undefined,
      })),
    ),
  );
  const summaries = [
    words.summary({ content: 'Done.', note: null }),
    words.summary({ content: '', note: 'Cut off.' }),
    words.stepLimit(7),
  ];
  const news = async () => ({ results: [], undated: 0 });
  const limits = { max_weight: 0.04, max_orders: 5, min_cash: 0.97 };
  const days = [
    dayOf(wording, 9_900, {}),
    dayOf(wording, 0, { news, note: null }),
    dayOf(wording, 9_900, { limits }),
    dayOf(wording, 9_900, { limits, orders: 5 }),
    dayOf(wording, 9_900, { isOpenHidden: true }),
    dayOf(wording, 9_900, { documents: library() }),
  ];
  const replies = [];
  for (const day of days)
    for (const [name, args] of calls) {
      const text = typeof args === 'string' ? args : JSON.stringify(args);
      const reply = await runTool(day, { id: '1', name, arguments: text });
      const cash = reply.orders?.findLast(({ action }) => action)?.action?.cash;
      replies.push({ name, args, content: replyContent(reply), cash });
    }
  const tools = [...days.map(toolDescriptions), DECISION];
  return JSON.stringify(
    { openings, decisions, summaries, tools, replies, universe: nasdaq100 },
    null,
    1,
  );
}

function library(): Documents {
  const reader = openDatabase(':memory:');
  const text = 'AAPL rises.';
  storeDocuments(reader, [{ id: 'a', title: 'A title', text, symbols: ['AAPL'], source: 'Here' }]);
  const morning = { reader, date: '2025-01-07', write: null, symbols: ['AAPL'] };
  return { counts: [], hash: 0, shown: new Map(), morning };
}

function dayOf(wording: Wording, cash: number, extras: Partial<TradingDay>): TradingDay {
  const database = openDatabase(':memory:');
  storePrices(
    database,
    'AAPL 2025-01-06 96 98\nAAPL 2025-01-07 100 777\nAAPL 2025-01-08 888 999\nGONE 2025-01-06 50 51\nTINY 2025-01-07 0.5 0.5',
  );
  const universe = new Set(['AAPL', 'MSFT', 'NONE', 'TINY']);
  const rules = withCosts({ commission_per_trade: 2, slippage_bps: 10 });
  const portfolio = {
    cash: fromDollars(cash),
    holdings: new Map([
      ['AAPL', 4],
      ['GONE', 9],
      ['TINY', 1],
    ]),
  };
  return tradingDay({
    market: openMarket(latestPrices(database), '2025-01-07', [...universe]),
    universe,
    rules,
    portfolio,
    wording,
    ...extras,
  });
}

test('what models read is as it was released, in every version', async () => {
  for (const version of Object.keys(released)) {
    const wording = findWording(Number(version));
    assert.ok(wording !== undefined);
    assert.equal(hash('sha256', await sample(wording)), released[wording], WHAT_TO_DO);
  }
  assert.equal(
    Math.max(...Object.keys(released).map(Number)),
    WORDING,
    'the last version is what models read now',
  );
  assert.equal(findWording(WORDING + 1), undefined);
});
