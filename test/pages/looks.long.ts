import assert from 'node:assert/strict';
import { test, visit } from '../support/browser.ts';
import { startOnRecords } from '../support/on-records.ts';

const NAMES = ['zeta', 'alpha', 'mid'];
test('a model has one colour on every page, from the first drawing on', async (t) => {
  const service = await startOnRecords(t, { models: NAMES, days: 24, datesPerJob: 12 });
  const { page, open } = await visit(t, service.url);
  let answered = 0;
  // The order arrives last, so that a page that did not wait would draw without it.
  await page.route('**/models', async (route) => {
    if (route.request().resourceType() !== 'fetch') return route.continue();
    while (answered === 0) await page.waitForResponse(() => true);
    await route.continue();
  });
  page.on('response', (response) => {
    if (/performance|comparison|results|decisions|status/.test(response.url())) answered += 1;
  });
  for (const path of ['/', '/compare', '/decision-feed', '/jobs/bench-0001']) {
    answered = 0;
    await open(path);
    const shown = await page.evaluate<[string, string][]>(
      `[...document.querySelectorAll('.swatch[class*="series-"]')].map((swatch) =>
        [swatch.parentElement.textContent.trim(), swatch.getAttribute('class').split(' ')[1]])`,
    );
    const wrong = shown.filter(([name, colour]) => {
      const place = NAMES.findIndex((each) => name.includes(each));
      return !name.includes(' over ') && place !== -1 && colour !== `series-${place}`;
    });
    assert.deepEqual(wrong, [], path);
    if (path !== '/compare') assert.ok(shown.length > 0, path);
  }
});
