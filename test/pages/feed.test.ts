import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import {
  decisionsQuery,
  readFeedChoice,
  feedPath,
  searchQuery,
} from '../../src/features/pages/browser/pages/decision-feed.ts';
import { splitMatches, speaker } from '../../src/features/pages/browser/pages/conversation.ts';
import type { Script } from '../support/agents.ts';
import { button, decisionsAtATime, loaded, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { runJobHere } from '../support/job-here.ts';
import { lastWeekdays, wavyPrices } from '../support/market.ts';
import { startTestService, twoModels } from '../support/service.ts';
import { tableOf } from '../support/text-table.ts';

/** The page of decisions, and of words in conversations. */

test('the address of the feed has its filters, and its requests have those that they take', () => {
  for (const [search, path, decisions, messages] of tableOf<[string, string, string, string]>(`
                                          |                                | limit=100                            | limit=20
    ?kind=refusal&symbol=BRK-B&days=clean | ?kind=refusal&symbol=BRK-B     | kind=refusal&symbol=BRK-B&limit=100  | limit=20
    ?models=a%231,b&q=a+%26+b             | ?models=a%231,b&q=a%20%26%20b  | models=a%231,b&limit=100             | models=a%231,b&q=a%20%26%20b&limit=20`)) {
    const choice = readFeedChoice(search);
    assert.equal(feedPath(choice), `/decision-feed${path}`);
    const requests = [decisionsQuery(choice), searchQuery(choice)];
    assert.deepEqual(requests, [`?${decisions}`, `?${messages}`]);
    const older = readFeedChoice(`${search || '?'}&before=failure:1:%23`);
    const before = decisions.replace('limit', 'before=failure%3A1%3A%23&limit');
    assert.equal(decisionsQuery(older), `?${before}`);
  }
});

test('matches of a search are marked in characters, whatever their length', () => {
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
    const pieces = splitMatches(excerpt, matches);
    const marked = pieces.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text));
    assert.equal(marked.join(''), expected);
  }
});

test('only the first system message is an instruction to the model; later ones are notes on an answer', () => {
  const roles = ['system', 'user', 'assistant', 'system', 'tool'] as const;
  const said = roles.map((role, index) => speaker({ role, message_index: index }));
  const model = ['Instructions to the model', 'Message to the model', 'Model'];
  assert.deepEqual(said, [...model, 'Note by the service', 'Tool']);
});

test('a model-day is one card with its reason once, also where it comes in several parts', {
  skip: noBrowser,
}, async (t) => {
  const symbols = Array.from({ length: 26 }, (_none, index) => String.fromCharCode(65 + index));
  const [first, second] = lastWeekdays(2) as [string, string];
  const agent_config = { stock_symbols: symbols, initial_cash: 1_000_000 };
  const configuration = { ...twoModels, agent_config };
  const prices = wavyPrices(symbols, [first, second]);
  const service = await startTestService(t, { configuration, prices, pages: true });
  const order = (side: string, symbol: string, amount: number): [string, object] => {
    return [side, { symbol, amount }];
  };
  const all = symbols.map((symbol) => order('buy', symbol, 3));
  const less = [order('sell', 'A', 1), order('sell', 'B', 2)];
  const day: Script = {
    [`model-a ${first}`]: [[['say', 'All of them.'], ...all]],
    [`model-a ${second}`]: [
      [['say', 'Less of two.'], ...less],
      [['say', 'Too much.'], order('buy', 'C', 1_000_000)],
    ],
    '*': [[['say', 'I wait.']]],
  };
  const range = { start_date: first, end_date: second };
  await runJobHere(service, day, { ...range, models: ['model-a', 'model-b'] });
  const { page, open } = await visit(t, service.url, { provokes: [422] });
  await decisionsAtATime(page, 10);
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
  const reasons = await buys.locator('.reason').allInnerTexts();
  assert.deepEqual(reasons, ['All of them.'], 'the last orders are 20 messages after it');
  assert.equal(await buys.locator('summary').innerText(), 'All 26 orders');
  const bought = await buys.locator('tbody td:nth-child(3)').allInnerTexts();
  assert.deepEqual(bought, symbols, 'all at once, in the order in which they were bought');

  await open('/decision-feed?models=model-a,model-x%232,model-x%2310');
  assert.equal(await page.getByLabel('From', { exact: true }).isVisible(), false);
  await page.getByText('model-a, model-x#2, model-x#10, all dates').click();
  await page.locator('.choose').click();
  const runs = page.getByRole('group', { name: 'model-x', exact: true });
  const values = runs.getByRole('checkbox').evaluateAll((all) => all.map((one: any) => one.value));
  assert.deepEqual(await values, ['model-x#2', 'model-x#10']);
  await button(page, 'Untick all').click();
  await runs.getByRole('button', { name: 'model-x, all 2 runs' }).click();
  await button(page, 'Show these').click();
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
