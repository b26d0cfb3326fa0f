import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import {
  decisionsQuery,
  feedChoiceIn,
  feedPath,
  searchQuery,
} from '../../src/browser/pages/decision-feed.ts';
import { piecesOf, speakerOf } from '../../src/browser/pages/conversation.ts';
import type { Script } from '../support/agents.ts';
import { loaded, overflow, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { runJobHere } from '../support/job-here.ts';
import { lastWeekdays, wavyPrices } from '../support/market.ts';
import { startTestService, twoModels } from '../support/service.ts';
import { leftToLongForm } from '../support/long.ts';

/** The page of decisions, and of words in conversations. */

const addresses: [search: string, path: string, requests: [decisions: string, search: string]][] = [
  ['', '', ['limit=100', 'limit=20']],
  [
    '?kind=refusal&symbol=BRK-B&days=clean',
    '?kind=refusal&symbol=BRK-B',
    ['kind=refusal&symbol=BRK-B&limit=100', 'limit=20'],
  ],
  [
    '?models=a%231,b&q=a+%26+b',
    '?models=a%231,b&q=a%20%26%20b',
    ['models=a%231,b&limit=100', 'models=a%231,b&q=a%20%26%20b&limit=20'],
  ],
];
for (const [search, path, [decisions, messages]] of addresses) {
  test(`the address ${search || 'without filters'} and its requests`, () => {
    const choice = feedChoiceIn(search);
    assert.equal(feedPath(choice), `/decision-feed${path}`);
    assert.deepEqual(
      [decisionsQuery(choice), searchQuery(choice)],
      [`?${decisions}`, `?${messages}`],
    );
    const older = feedChoiceIn(`${search || '?'}&before=failure:1:%23`);
    assert.equal(
      decisionsQuery(older),
      `?${decisions.replace('limit', 'before=failure%3A1%3A%23&limit')}`,
    );
  });
}

const excerpts: [excerpt: string, matches: number[][], pieces: string][] = [
  ['no match', [], 'no match'],
  ['one two', [[0, 3]], '[one] two'],
  [
    '𠀀 two 🚀 three',
    [
      [2, 3],
      [8, 5],
    ],
    '𠀀 [two] 🚀 [three]',
  ],
  [
    '苹果',
    [
      [0, 1],
      [1, 1],
    ],
    '[苹][果]',
  ],
];
for (const [excerpt, matches, expected] of excerpts) {
  test(`matches in ${excerpt}`, () => {
    const pieces = piecesOf(excerpt, matches).map(({ text, isMatch }) =>
      isMatch ? `[${text}]` : text,
    );
    assert.equal(pieces.join(''), expected);
  });
}

const SYMBOLS = ['AAPL', 'MSFT'];
const dates = lastWeekdays(6);
const lastDate = dates.at(-1) as string;
const HOSTILE = '<img src=x onerror="alert(1)"> the market falls';
/** Six purchases, of which the last costs too much, each in a message of its own. */
const script: Script = {
  [`model-b ${lastDate}`]: [
    [
      ['say', HOSTILE],
      ['buy', { symbol: 'AAPL', amount: 1 }],
    ],
  ],
  [`model-b ${dates[0]}`]: [[['fail', 'The endpoint answered 500']]],
  '*': [1, 2, 3, 4, 5, 1_000_000].map((amount) => [
    ['say', `I want ${amount}.`],
    ['buy', { symbol: 'MSFT', amount }],
  ]),
};

test('only the first system message is an instruction to the model; later ones are notes on an answer', () => {
  const said = (['system', 'user', 'assistant', 'system', 'tool'] as const).map((role, index) =>
    speakerOf({ role, message_index: index }),
  );
  assert.deepEqual(said, [
    'Instructions to the model',
    'Message to the model',
    'Model',
    'Note by the service',
    'Tool',
  ]);
});

/** As if the page requested so many decisions at a time. */
async function withLimit(page: Page, limit: number): Promise<void> {
  await page.route('**/decisions?*', (route) =>
    route.continue({ url: route.request().url().replace('limit=100', `limit=${limit}`) }),
  );
}

function valuesOf(boxes: readonly object[]): string[] {
  return boxes.map((box) => String('value' in box && box.value));
}

test('a model-day is one card with its reason once, also where it comes in several parts', {
  skip: noBrowser,
}, async (t) => {
  const symbols = Array.from({ length: 26 }, (_none, index) => String.fromCharCode(65 + index));
  const [first, second] = lastWeekdays(2) as [string, string];
  const service = await startTestService(t, {
    configuration: {
      ...twoModels,
      agent_config: { stock_symbols: symbols, initial_cash: 1_000_000 },
    },
    prices: wavyPrices(symbols, [first, second]),
    pages: true,
  });
  const day: Script = {
    [`model-a ${first}`]: [
      [
        ['say', 'All of them.'],
        ...symbols.map((symbol): [string, object] => ['buy', { symbol, amount: 3 }]),
      ],
    ],
    [`model-a ${second}`]: [
      [
        ['say', 'Less of two.'],
        ['sell', { symbol: 'A', amount: 1 }],
        ['sell', { symbol: 'B', amount: 2 }],
      ],
      [
        ['say', 'Too much.'],
        ['buy', { symbol: 'C', amount: 1_000_000 }],
      ],
    ],
    '*': [[['say', 'I wait.']]],
  };
  const range = { start_date: first, end_date: second };
  await runJobHere(service, day, { ...range, models: ['model-a', 'model-b'] });
  const { page, open } = await visit(t, service.url, { provokes: [422] });
  await withLimit(page, 10);
  await open('/decision-feed');
  const cards = page.locator('.feed > li');
  const acts = (card: Locator) => card.locator('.did .act').allInnerTexts();
  const mixed = cards.nth(0);
  assert.deepEqual(await acts(mixed), ['Sold 2 symbols', 'Order refused: buy 1,000,000 C']);
  assert.deepEqual(await mixed.locator('.reason').allInnerTexts(), ['Less of two.', 'Too much.']);
  assert.match(
    await mixed.locator('table').innerText(),
    /Less of two\.\s+Sell\s+1\s+A\s+[\d.]+\s+Sell\s+2\s+B\s+[\d.]+\s+Too much\.\s+Buy\s+1,000,000\s+C\s+refused\s+Cannot buy/,
  );
  assert.deepEqual(await acts(cards.nth(1)), ['No trade']);
  assert.equal(await cards.nth(1).locator('table').count(), 0);

  assert.equal(await cards.count(), 2, 'the last model-day of a page may continue on the next one');
  await page.getByRole('link', { name: 'Older decisions' }).click();
  await page.getByRole('link', { name: 'Newest decisions' }).waitFor();
  const buys = cards.nth(0);
  await buys.locator('summary').click();
  assert.deepEqual(await acts(buys), ['Bought 26 symbols']);
  assert.deepEqual(
    await buys.locator('.reason').allInnerTexts(),
    ['All of them.'],
    'the last orders are more than 20 messages after it',
  );
  assert.equal(await buys.locator('summary').innerText(), 'All 26 orders');
  assert.deepEqual(
    await buys.locator('tbody td:nth-child(3)').allInnerTexts(),
    symbols,
    'all of them at once, in the order in which they were bought',
  );

  await open('/decision-feed?models=model-a,model-x%232,model-x%2310');
  assert.equal(await page.getByLabel('From', { exact: true }).isVisible(), false);
  await page.getByText('model-a, model-x#2, model-x#10, all dates').click();
  await page.locator('.choose').click();
  const runs = page.getByRole('group', { name: 'model-x', exact: true });
  assert.deepEqual(await runs.getByRole('checkbox').evaluateAll(valuesOf), [
    'model-x#2',
    'model-x#10',
  ]);
  await page.getByRole('button', { name: 'Untick all' }).click();
  await runs.getByRole('button', { name: 'model-x, all 2 runs' }).click();
  await page.getByRole('button', { name: 'Show these' }).click();
  await page.waitForURL('**/decision-feed?models=model-x%232,model-x%2310');

  await open('/decision-feed');
  await page.getByLabel('Symbol').fill('b');
  await page.getByLabel('Symbol').press('Enter');
  await page.waitForURL('**/decision-feed?symbol=b');
  await loaded(page);
  assert.equal(await cards.count(), 2);
  assert.match((await acts(cards.nth(0))).join(), /^Sold 2 B at [\d.]+$/);
  assert.match((await acts(cards.nth(1))).join(), /^Bought 3 B at [\d.]+$/);
});

test('decisions are filtered, continued and searched, and Back undoes each step', {
  skip: noBrowser || leftToLongForm,
}, async (t) => {
  const configuration = {
    ...twoModels,
    agent_config: { stock_symbols: SYMBOLS, initial_cash: 1_000_000 },
  };
  const service = await startTestService(t, {
    configuration,
    prices: wavyPrices(SYMBOLS, dates),
    pages: true,
  });
  const range = { start_date: dates[0] as string, end_date: lastDate };
  await runJobHere(service, script, { ...range, models: ['model-a', 'model-b'] });
  const reader = await visit(t, service.url, { viewport: { width: 360, height: 700 } });
  const { page } = reader;
  const items = page.locator('.feed > li');
  const address = () => page.evaluate<string>('location.pathname + location.search');
  const settled = async (count: number) => {
    await loaded(page);
    assert.equal(await items.count(), count);
  };

  await withLimit(page, 30);
  await reader.open('/decision-feed');
  await settled(5);
  assert.equal(await overflow(reader), 0);
  assert.equal(await items.nth(1).locator('.reason').textContent(), HOSTILE);
  assert.equal(await page.locator('.feed img').count(), 0);
  const older = page.getByRole('link', { name: 'Older decisions' });
  await older.click();
  await page.waitForURL('**/decision-feed?before=*');
  await settled(4);

  // Back finds the page again, at the same place.
  await items.last().scrollIntoViewIfNeeded();
  const scrolled = await page.evaluate<number>('scrollY');
  await items.last().getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: /^model-\w, / }).waitFor();
  await page.goBack();
  await settled(4);
  assert.equal(await page.evaluate<number>('scrollY'), scrolled);
  await older.click();
  await page.getByRole('link', { name: 'Newest decisions' }).waitFor();
  await settled(3);
  assert.equal(await older.count(), 0);

  const find = page.getByRole('button', { name: 'Find', exact: true });
  await page.getByLabel('Kind').selectOption('refusal');
  await find.click();
  assert.equal(await address(), '/decision-feed?kind=refusal');
  await settled(10);
  assert.equal(
    await items.first().locator('.act').textContent(),
    'Order refused: buy 1,000,000 MSFT',
  );
  assert.match((await items.first().locator('.detail').textContent()) ?? '', /^Cannot buy/);
  await page.getByLabel('Kind').selectOption('failure');
  await find.click();
  await settled(1);
  assert.equal(await items.first().locator('.detail').textContent(), 'The endpoint answered 500');
  await page.getByLabel('Symbol').fill('aapl');
  await page.getByLabel('Symbol').press('Enter');
  await page.getByText('No decisions match these filters.').waitFor();
  await page.getByLabel('Kind').selectOption('');
  await find.click();
  await settled(1);

  // What happens meanwhile is offered.
  await runJobHere(
    service,
    { '*': [[['buy', { symbol: 'AAPL', amount: 7 }]]] },
    { ...range, models: ['model-c'] },
  );
  await page.getByRole('button', { name: 'Show the latest' }).click();
  await settled(7);

  await page.getByLabel('Search in conversations').fill('FALLS "the" market');
  await find.click();
  await settled(1);
  assert.equal(await address(), '/decision-feed?symbol=aapl&q=FALLS%20%22the%22%20market');
  assert.deepEqual(await items.first().locator('mark').allTextContents(), [
    'the',
    'market',
    'falls',
  ]);
  assert.equal(await items.first().locator('.reason').textContent(), HOSTILE);
  await page.goBack();
  await settled(7);
  assert.match(
    (await items.first().locator('.act').textContent()) ?? '',
    /^Bought 1 AAPL at \d+\.\d\d$/,
  );
});
