import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { obstacles } from '../support/axe.ts';
import { noFirefox, openFirefox } from '../support/firefox.ts';
import { isLong } from '../support/long.ts';
import { publishedFrom } from '../support/published.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { fillWithTrackRecords, recordDates } from '../support/track-records.ts';

/** Once the plots in the window are drawn. */
const DRAWN = `new Promise((resolve) => {
  const isMissing = (plot) => plot.checkVisibility() && plot.getBoundingClientRect().top < innerHeight && plot.querySelector('.drawn') === null;
  const look = () => [...document.querySelectorAll('.drawing')].some(isMissing) ? requestAnimationFrame(look) : resolve(true);
  look();
})`;

/** What a page shows wrong, beside what axe-core finds. */
const FAULTS = `[
  document.documentElement.scrollWidth > innerWidth && 'it is wider than its window',
  /undefined|NaN|\\[object|Invalid Date/.exec(document.querySelector('main').innerText)?.[0],
  document.querySelector('main .notice.bad')?.textContent,
].filter(Boolean)`;

const PAGES = ['/', '/compare', '/job-list', '/decision-feed', '/models/a', '/jobs/bench-0001'];
PAGES.push(`/model-days/a/${recordDates(1)[0]}`);
const RECORDS = { models: ['a', 'b', 'c'], days: 24, datesPerJob: 12 };

/** What is wrong with the pages at these URLs; the short form sees every second one on a phone, the others in a window. */
async function faultsOf(t: TestContext, urls: readonly string[]): Promise<string[]> {
  const tab = await openFirefox(t);
  const faults: string[] = [];
  await tab.open(urls[0] ?? '');
  for (const [theme, width] of [
    ['dark', 390],
    ['light', 1280],
  ] as const) {
    await tab.evaluate(`localStorage.setItem('theme', '${theme}')`);
    const chosen = urls.filter((_, place) => isLong || (place % 2 === 0) === (width === 390));
    for (const url of chosen) {
      await tab.setWidth(width);
      await tab.open(url);
      await tab.evaluate(DRAWN);
      const found = [
        ...(await tab.evaluate<string[]>(FAULTS)),
        ...(isLong || width === 390 ? await obstacles(tab) : []),
        ...tab.wrong(),
      ];
      faults.push(...found.map((fault) => `${url} ${theme} ${width}: ${fault}`));
    }
  }
  return faults;
}

test('every page is complete in Firefox, without errors and without obstacles, as light as dark', {
  skip: noFirefox,
}, async (t) => {
  const folder = temporaryFolder(t);
  fillWithTrackRecords(join(folder, 'jobs.db'), RECORDS);
  const settings = { preserveDevData: true };
  const service = await startTestService(t, { pages: true, settings, folder, isForged: true });
  const urls = [...PAGES, '/api'].map((path) => service.url + path);
  assert.deepEqual(await faultsOf(t, urls), []);
});

test('and so is every page of a published folder', { skip: noFirefox }, async (t) => {
  const { url: base } = await publishedFrom(t, { models: RECORDS.models, failures: 0 });
  // Another query makes it another document, that is loaded from its start.
  const urls = PAGES.map((page, place) => `${base}?${place}#${page}`);
  assert.deepEqual(await faultsOf(t, urls), []);
});
