import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { obstacles } from '../support/axe.ts';
import { noFirefox, openFirefox } from '../support/firefox.ts';
import { isLong } from '../support/long.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { fillWithTrackRecords, recordDates } from '../support/track-records.ts';

/** Once the plots in the window are drawn. */
const DRAWN = `new Promise((resolve) => {
  const isMissing = (plot) => plot.checkVisibility() && plot.getBoundingClientRect().top < innerHeight && plot.querySelector('canvas') === null;
  const look = () => [...document.querySelectorAll('.canvas')].some(isMissing) ? requestAnimationFrame(look) : resolve(true);
  look();
})`;

/** What a page shows wrong, beside what axe-core finds. */
const FAULTS = `[
  document.documentElement.scrollWidth > innerWidth && 'it is wider than its window',
  /undefined|NaN|\\[object|Invalid Date/.exec(document.querySelector('main').innerText)?.[0],
  document.querySelector('main .notice.bad')?.textContent,
].filter(Boolean)`;

test('every page is complete in Firefox, without errors and without obstacles, as light as dark', {
  skip: noFirefox,
}, async (t) => {
  const folder = temporaryFolder(t);
  const models = ['a', 'b', 'c'];
  fillWithTrackRecords(join(folder, 'jobs.db'), { models, days: 24, datesPerJob: 12 });
  const settings = { preserveDevData: true };
  const service = await startTestService(t, { pages: true, settings, folder, isForged: true });
  const tab = await openFirefox(t);
  const pages = ['/', '/compare', '/job-list', '/decision-feed', '/api'];
  pages.push('/models/a', `/model-days/a/${recordDates(1)[0]}`, '/jobs/bench-0001');
  const faults: string[] = [];
  const look = async (path: string, theme: string, width: number) => {
    await tab.setWidth(width);
    await tab.open(service.url + path);
    await tab.evaluate(DRAWN);
    const found = [
      ...(await tab.evaluate<string[]>(FAULTS)),
      ...(isLong || width === 390 ? await obstacles(tab) : []),
      ...tab.wrong(),
    ];
    faults.push(...found.map((fault) => `${path} ${theme} ${width}: ${fault}`));
  };
  await tab.open(`${service.url}/api`);
  for (const [theme, width] of [
    ['dark', 390],
    ['light', 1280],
  ] as const) {
    await tab.evaluate(`localStorage.setItem('theme', '${theme}')`);
    // The short form sees every second page on a phone, the others in a window.
    const chosen = pages.filter((_, place) => isLong || (place % 2 === 0) === (width === 390));
    for (const path of chosen) await look(path, theme, width);
  }
  assert.deepEqual(faults, []);
});
