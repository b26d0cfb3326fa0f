import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { Script } from '../support/agents.ts';
import { button, decisionsAtATime, loaded, overflow, test, visit } from '../support/browser.ts';
import { runJobHere } from '../support/job-here.ts';
import { lastWeekdays, wavyPrices } from '../support/market.ts';
import { startTestService, twoModels } from '../support/service.ts';

const SYMBOLS = ['AAPL', 'MSFT'];
const dates = lastWeekdays(6);
const lastDate = dates.at(-1) as string;
const HOSTILE = '<img src=x onerror="alert(1)"> the market falls';
const oneShare: [string, object] = ['buy', { symbol: 'AAPL', amount: 1 }];
/** Six purchases, of which the last costs too much, each in a message of its own. */
const script: Script = {
  [`model-b ${lastDate}`]: [[['say', HOSTILE], oneShare]],
  [`model-b ${dates[0]}`]: [[['fail', 'The endpoint answered 500']]],
  '*': [1, 2, 3, 4, 5, 1_000_000].map((amount) => [
    ['say', `I want ${amount}.`],
    ['buy', { symbol: 'MSFT', amount }],
  ]),
};

test('decisions are filtered, continued and searched, and Back undoes each step', async (t) => {
  const agent_config = { stock_symbols: SYMBOLS, initial_cash: 1_000_000 };
  const configuration = { ...twoModels, agent_config };
  const prices = wavyPrices(SYMBOLS, dates);
  const service = await startTestService(t, { configuration, prices, pages: true });
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

  await decisionsAtATime(page, 30);
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

  const find = button(page, 'Find');
  await page.getByLabel('Kind').selectOption('refusal');
  await find.click();
  assert.equal(await address(), '/decision-feed?kind=refusal');
  await settled(10);
  const newest = (part: string) => items.first().locator(part).innerText();
  assert.equal(await newest('.act'), 'Order refused: buy 1,000,000 MSFT');
  assert.match(await newest('.detail'), /^Cannot buy/);
  await page.getByLabel('Kind').selectOption('failure');
  await find.click();
  await settled(1);
  assert.equal(await newest('.detail'), 'The endpoint answered 500');
  await page.getByLabel('Symbol').fill('aapl');
  await page.getByLabel('Symbol').press('Enter');
  await page.getByText('No decisions match these filters.').waitFor();
  await page.getByLabel('Kind').selectOption('');
  await find.click();
  await settled(1);

  // What happens meanwhile is offered.
  await runJobHere(service, { '*': [[oneShare]] }, { ...range, models: ['model-c'] });
  await button(page, 'Show the latest').click();
  await settled(7);

  await page.getByLabel('Search in conversations').fill('FALLS "the" market');
  await find.click();
  await settled(1);
  assert.equal(await address(), '/decision-feed?symbol=aapl&q=FALLS%20%22the%22%20market');
  const marked = await items.first().locator('mark').allTextContents();
  assert.deepEqual(marked, ['the', 'market', 'falls']);
  assert.equal(await newest('.reason'), HOSTILE);
  await page.goBack();
  await settled(7);
  assert.match(await newest('.act'), /^Bought 1 AAPL at \d+\.\d\d$/);
});

test('a model-day is one card with its reason once, also where it comes in several parts', async (t) => {
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
