import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { obstacles } from '../support/axe.ts';
import { type FirefoxTab, noFirefox, openFirefox } from '../support/firefox.ts';
import { isLong } from '../support/long.ts';
import { publishedFrom } from '../support/published.ts';
import { startTestService } from '../support/service.ts';
import { recordDates } from '../support/track-records.ts';

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
const PHONE = 390;
type Form = readonly [theme: string, width: number];

/** What is wrong with the pages at these URLs in one theme and width. */
async function faultsOf(tab: FirefoxTab, urls: readonly string[], form: Form): Promise<string[]> {
  const [theme, width] = form;
  await tab.open(urls[0] ?? '');
  await tab.evaluate(`localStorage.setItem('theme', '${theme}')`);
  const faults: string[] = [];
  for (const url of urls) {
    await tab.setWidth(width);
    await tab.open(url);
    await tab.evaluate(DRAWN);
    const found = [
      ...(await tab.evaluate<string[]>(FAULTS)),
      ...(isLong || width === PHONE ? await obstacles(tab) : []),
      ...tab.wrong(),
    ];
    faults.push(...found.map((fault) => `${url} ${form}: ${fault}`));
  }
  return faults;
}

test('every page is complete in Firefox, without errors and without obstacles, as light as dark, and so it is in a published folder', {
  skip: noFirefox,
}, async (t) => {
  const { path, url: base } = await publishedFrom(t, { models: ['a', 'b', 'c'], failures: 0 });
  const settings = { preserveDevData: true };
  const folder = dirname(path);
  const service = await startTestService(t, { pages: true, settings, folder, isForged: true });
  const served = [...PAGES, '/api'].map((page) => service.url + page);
  // Another query makes it another document, that is loaded from its start.
  const published = PAGES.map((page, place) => `${base}?${place}#${page}`);
  const tab = await openFirefox(t);
  for (const form of [
    ['dark', PHONE],
    ['light', 1280],
  ] as const) {
    // The short form sees every second page on a phone, the others in a window, and few of a folder.
    const isSeen = (_: string, place: number) =>
      isLong || (place % 2 === 0) === (form[1] === PHONE);
    assert.deepEqual(await faultsOf(tab, served.filter(isSeen), form), []);
    const some = isLong ? published : [form[1] === PHONE ? published[0] : published.at(-1)];
    assert.deepEqual(await faultsOf(tab, some as string[], form), []);
  }
});
