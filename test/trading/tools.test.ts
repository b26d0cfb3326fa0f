import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { toolResponse } from '../../src/core/api/day.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import { openMarket } from '../../src/core/trading/market.ts';
import type { NewsSearch } from '../../src/core/trading/news.ts';
import type { ToolName } from '../../src/core/trading/tool-arguments.ts';
import { toolRefusal, toolResults } from '../../src/core/trading/tool-results.ts';
import { storeDocuments } from '../support/documents.ts';
import { withCosts } from '../support/market-rules.ts';
import { storePrices } from '../support/prices.ts';
import { tableOf } from '../support/text-table.ts';
import { callTool, type LedgerDay, tradingDay } from '../support/trading-day.ts';

const DATE = '2025-01-07';

/** Only read. */
const database = openDatabase(':memory:');
storePrices(
  database,
  `AAPL 2025-01-03 90 95
   AAPL 2025-01-06 96 98
   AAPL 2025-01-07 100 777
   AAPL 2025-01-08 888 999
   MSFT 2025-01-06 200 201
   MSFT 2025-01-07 210 777
   GONE 2025-01-06 50 51`,
);

function openDay({ cash = 10_000, holdings = {} as Record<string, number> } = {}): LedgerDay {
  const universe = new Set(['AAPL', 'MSFT', 'NONE']);
  const parts = {
    market: openMarket(latestPrices(database), DATE, [...universe]),
    universe,
    portfolio: { cash: fromDollars(cash), holdings: new Map(Object.entries(holdings)) },
  };
  return { ...tradingDay(parts), actions: [] };
}

async function call(day: LedgerDay, name: string, args: unknown) {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  const { content } = await callTool(day, { id: '1', name, arguments: text });
  return JSON.parse(content);
}

const BOUGHT = '{"executed":"buy","symbol":"AAPL","amount":3,"price":100,"cash":9700,"holding":3}';
const TODAY = `"date":"${DATE}","open":100`;
const BEFORE = '"date":"2025-01-06","open":96,"high":98,"low":96,"close":98,"volume":1000';
const PORTFOLIO =
  '{"cash":10000,"holdings":[{"symbol":"GONE","quantity":1,"price":51},{"symbol":"MSFT","quantity":5,"price":210}],"portfolio_value":11101}';
const answers = tableOf<[tool: string, args: string, answer: string]>(`
  buy               | {"symbol":"AAPL","amount":3}           | ${BOUGHT}
  buy               | {"symbol":" aapl ","amount":"3"}       | ${BOUGHT}
  sell              | {"symbol":"MSFT","amount":2}           | {"executed":"sell","symbol":"MSFT","amount":2,"price":210,"cash":10420,"holding":3}
  get_price         | {"symbol":"AAPL"}                      | {"symbol":"AAPL",${TODAY}}
  get_price         | {"symbol":"AAPL","date":"${DATE}"}     | {"symbol":"AAPL",${TODAY}}
  get_price         | {"symbol":"AAPL","date":null}          | {"symbol":"AAPL",${TODAY}}
  get_price         | {"symbol":"AAPL","date":"2025-01-06"}  | {"symbol":"AAPL",${BEFORE}}
  get_price_history | {"symbol":"AAPL","days":2}             | {"symbol":"AAPL","bars":[{${BEFORE}},{${TODAY}}]}
  get_portfolio     | {}                                     | ${PORTFOLIO}
  get_portfolio     |                                        | ${PORTFOLIO}
  calculate         | {"expression":"floor(9700 / 210)"}     | {"result":46}
`);
for (const [tool, args, answer] of answers) {
  test(`${tool} ${args}`, async () => {
    const found = await call(openDay({ holdings: { MSFT: 5, GONE: 1 } }), tool, args);
    assert.deepEqual(found, JSON.parse(answer));
  });
}

const order = (symbol: unknown, amount: unknown, more = {}) => ({ symbol, amount, ...more });
/** JSON that can be read, but not written again. */
const DEEP = '['.repeat(8_000) + ']'.repeat(8_000);
const refusals: [tool: string, args: unknown, error: RegExp][] = [
  ['buy', order('AAPL', 101), /Cannot buy 101 AAPL at 100\.00: cash is 10,000\.00, enough for 100/],
  ['buy', order('AAPL', -50), /buy: amount must be a whole number .* got -50/],
  ['sell', order('MSFT', -500), /sell: amount must be a whole number .* got -500/],
  ['buy', order('AAPL', 0.5), /^buy: amount must be a whole number from 1 to \d+, got 0\.5\.$/],
  ['buy', order('AAPL', '1.5'), /whole number/],
  ['buy', order('AAPL', 0), /whole number/],
  ['buy', order('AAPL', 1e300), /whole number/],
  ['buy', order('TSLA', 1), /Cannot buy TSLA: it is not among/],
  ['buy', order('GONE', 1), /Cannot buy GONE: it is not among/],
  ['buy', order('NONE', 1), /Cannot buy NONE: it has no price on 2025-01-07\.$/],
  [
    'sell',
    order('GONE', 1),
    /Cannot sell GONE: it has no price on 2025-01-07; its last close is of 2025-01-0\d\.$/,
  ],
  ['sell', order('AAPL', 1), /Cannot sell AAPL: none is held/],
  ['sell', order('MSFT', 6), /Cannot sell 6 MSFT: 5 are held/],
  // What the parent alone decides: the price, who trades, and when.
  ['buy', order('AAPL', 1, { price: 1 }), /buy takes no argument "price"/],
  ['buy', order('AAPL', 1, { signature: 'other' }), /takes no argument "signature"/],
  ['sell', order('MSFT', 1, { date: '2025-01-08' }), /takes no argument "date"/],
  ['buy', { symbol: 'AAPL' }, /buy: amount is missing/],
  ['buy', order('../../etc/passwd', 1), /symbol must be a ticker symbol/],
  ['get_price', { symbol: 5 }, /symbol must be a ticker symbol/],
  ['get_price', { symbol: 'AAPL', date: '2025-01-08' }, /^No prices are known after today, 2025-/],
  ['get_price', { symbol: 'AAPL', date: '2025-01-05' }, /There is no price of AAPL on 2025-01-05/],
  ['get_price', { symbol: 'AAPL', date: '2025-1-6' }, /date must be a date YYYY-MM-DD, got "2025-/],
  ['get_price_history', { symbol: 'TSLA', days: 5 }, /TSLA is not among/],
  ['get_price_history', { symbol: 'AAPL', days: 101 }, /days must be a whole number from 1 to 100/],
  ['calculate', { expression: '1/0' }, /Cannot calculate: the result is not a finite number/],
  [
    'short_sell',
    { symbol: 'AAPL' },
    /There is no tool named "short_sell"\. The tools are buy, sel/,
  ],
  ['buy', '{symbol: AAPL}', /The arguments of buy are not JSON/],
  ['buy', '{"symbol":"AAPL","amount":1,"amount":10}', /^buy: "amount" is named twice\.$/],
  ['buy', '{"symbol":"AAPL","amount":1,"constructor":1}', /buy takes no argument "constructor"/],
  ['buy', '[1]', /buy: symbol is missing|must be an object/],
  ['buy', `{"symbol":"AAPL","amount":${DEEP}}`, /whole number .*, got deeply nested JSON\.$/],
  ['buy', '"AAPL"', /The arguments of buy must be an object/],
  ['constructor', {}, /There is no tool named "constructor"/],
];
for (const [tool, args, error] of refusals) {
  test(`${tool} refuses ${JSON.stringify(args).slice(0, 80)}, and nothing changes`, async () => {
    const day = openDay({ holdings: { MSFT: 5, GONE: 1 } });
    const before = day.portfolio;
    assert.match((await call(day, tool, args)).error, error);
    assert.equal(day.portfolio, before);
    assert.deepEqual(day.actions, []);
  });
}

test('two buys of 9,000 with 10,000 in cash: the second sees what the first left', async () => {
  const day = openDay();
  assert.equal((await call(day, 'buy', { symbol: 'AAPL', amount: 90 })).executed, 'buy');
  assert.match((await call(day, 'buy', { symbol: 'AAPL', amount: 90 })).error, /cash is 1,000\.00/);
  assert.equal(day.actions.length, 1);
});

test('no reply contains a price from the future', async () => {
  const day = openDay({ holdings: { AAPL: 1 } });
  const replies = [
    await call(day, 'get_price_history', { symbol: 'AAPL', days: 100 }),
    await call(day, 'get_portfolio', {}),
    await call(day, 'buy', { symbol: 'MSFT', amount: 1 }),
  ];
  assert.doesNotMatch(JSON.stringify(replies), /777|888|999|2025-01-08/);
});

test('a refusal of absurd length is bounded', async () => {
  const absurd = 'x'.repeat(1_000_000);
  const day = openDay();
  for (const refused of [
    await call(day, absurd, {}),
    await call(day, 'buy', { symbol: 'AAPL', amount: absurd }),
  ])
    assert.ok(JSON.stringify(refused).length < 500);
});

const ITEM = {
  date: '2025-01-06',
  title: 'Apple',
  url: 'https://news.example/a',
  snippet: 'It sells.',
};
/** A day whose news finds one thing, and what it was asked for. */
function openDayWithNews() {
  const asked: string[] = [];
  const news: NewsSearch = async (query) => {
    asked.push(query);
    return query === 'down'
      ? { refusal: 'The news search failed: so it goes.' }
      : { results: [ITEM], undated: 2 };
  };
  return { asked, day: { ...openDay(), news } };
}

test('search_news: its results, and how many had no date; a failed search is a refusal', async () => {
  const { asked, day } = openDayWithNews();
  const found = { results: [ITEM], undated: 2 };
  assert.deepEqual(await call(day, 'search_news', { query: ' Apple\n\u0000 sales\ud83d ' }), found);
  await call(day, 'search_news', { query: `  ${'x'.repeat(400)}  ` });
  const failed = await callTool(day, {
    id: '1',
    name: 'search_news',
    arguments: '{"query":"down"}',
  });
  assert.deepEqual(JSON.parse(failed.content), { error: 'The news search failed: so it goes.' });
  assert.equal(failed.reply.refusal !== undefined, true);
  assert.deepEqual(asked, ['Apple sales', 'x'.repeat(400), 'down']);
});

/** A call for each kind of reply, on a day with everything; with the open shown, then hidden. */
const repliesOf = tableOf<[tool: string, args: string]>(`
  buy               | {"symbol":"AAPL","amount":3}
  buy               | {"symbol":"AAPL","amount":3000}
  sell              | {"symbol":"MSFT","amount":1}
  rebalance         | {"weights":{"AAPL":0.5,"NONE":0.2,"MSFT":0}}
  rebalance         | {"weights":{"X":1}}
  get_price         | {"symbol":"AAPL"}
  get_price         | {"symbol":"AAPL","date":"2025-01-06"}
  get_price_history | {"symbol":"AAPL","days":3}
  get_portfolio     | {}
  calculate         | {"expression":"1/3"}
  search_news       | {"query":"Apple"}
  list_documents    | {}
  read_document     | {"id":"a"}
  write_note        | {"text":"x"}
`);
test('a reply has the fields that are described, and no others', async () => {
  const reader = openDatabase(':memory:');
  storeDocuments(reader, [{ id: 'a', symbols: ['AAPL'] }]);
  const morning = { reader, date: DATE, write: null, symbols: ['AAPL'] };
  const documents = { counts: [], hash: 0, shown: new Map(), morning };
  const rules = withCosts({ commission_per_trade: 1 });
  const seen = new Set<string | undefined>();
  for (const isOpenHidden of [false, true])
    for (const [tool, args] of repliesOf) {
      const { news } = openDayWithNews().day;
      const day = openDay({ holdings: { MSFT: 5 } });
      const reply = await call(
        { ...day, news, documents, note: null, isOpenHidden, rules },
        tool,
        args,
      );
      const kinds = toolResponse.options.filter((kind) => v.is(kind, reply));
      const kind = kinds.find((one) => isDeepStrictEqual(v.parse(one, reply), reply));
      assert.ok(kind, `${tool}: ${JSON.stringify(reply)}`);
      const own = toolResults[tool as ToolName] as v.GenericSchema;
      assert.ok(kind === toolRefusal || v.is(own, reply), `${tool}: ${JSON.stringify(reply)}`);
      seen.add(v.getTitle(kind));
    }
  assert.deepEqual([...seen].sort(), toolResponse.options.map((kind) => v.getTitle(kind)).sort());
});

const badQueries: [args: unknown, error: RegExp][] = [
  [{ query: '' }, /query must be text of 1 to 400 characters/],
  [{ query: ' \n\u0007 ' }, /query must be text of 1 to 400 characters/],
  [{ query: 'x'.repeat(401) }, /query must be text of 1 to 400 characters/],
  [{ query: ['a'] }, /query must be text/],
  [{}, /query is missing/],
  [{ query: 'a', date: '2025-12-31' }, /takes no argument "date"/],
];
test('a search for anything else than 1 to 400 characters is refused, without a request', async () => {
  const { asked, day } = openDayWithNews();
  for (const [args, error] of badQueries)
    assert.match((await call(day, 'search_news', args)).error, error);
  assert.deepEqual(asked, []);
});

const ALWAYS = 'buy sell rebalance get_price get_price_history get_portfolio calculate'.split(' ');
test('a day without news has no such tool', async () => {
  for (const day of [openDay(), { ...openDay(), news: null }]) {
    const { error } = await call(day, 'search_news', { query: 'Apple' });
    const names = ALWAYS.join(', ');
    assert.equal(error, `There is no tool named "search_news". The tools are ${names}.`);
  }
});
