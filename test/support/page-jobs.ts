import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { button, type Visit } from './browser.ts';
import { lastWeekdays, wavyPrices } from './market.ts';
import { startTestService, twoModels, type TestServiceOptions } from './service.ts';

/** For the tests of pages that follow jobs: two models over three days. */

const SYMBOLS = ['AAPL', 'MSFT'];
export const jobDates = lastWeekdays(3);
export const [firstDate, secondDate, lastDate] = jobDates as [string, string, string];
export const twoStocks = { ...twoModels, agent_config: { stock_symbols: SYMBOLS } };

export function startWithPages(t: TestContext, options: TestServiceOptions = {}) {
  const prices = wavyPrices(SYMBOLS, jobDates);
  return startTestService(t, { configuration: twoStocks, prices, pages: true, ...options });
}

export async function fillAndStart({ page }: Visit, from: string, to: string): Promise<void> {
  await page.getByLabel('First date').fill(from);
  await page.getByLabel('Last date').fill(to);
  await button(page, 'Start job').click();
}

/**
 * The first response to such a request is a failure; and so are all before it, as long as
 * `isEarly`.
 */
export async function failFirst(page: Page, path: string, isEarly = () => false): Promise<void> {
  let isOver = false;
  await page.route(path, async (route) => {
    if (isOver) return route.continue();
    isOver = !isEarly();
    await route.fulfill({ status: 503, json: { detail: 'Not now' } });
  });
}
