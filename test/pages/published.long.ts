import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Publication } from '../../src/features/publish/site.ts';
import { loaded, test, type Visit, visit } from '../support/browser.ts';
import { chromiumPath } from '../support/chromium.ts';
import { serveFolder } from '../support/file-server.ts';
import { PUBLISHED_DAYS, PUBLISHED_MODELS, publishedFrom } from '../support/published.ts';
import { builtPages } from '../support/service.ts';
import { recordDates } from '../support/track-records.ts';
import { startTestView } from '../support/view.ts';

/** A published folder behind a plain file server: the pages without our server. */

/** What a reader sees of a page, without the controls that need a server. */
async function textOf(page: Page): Promise<string> {
  await page.evaluate(
    `for (const part of document.querySelectorAll('.folded, .choosing, nav[aria-label="Jobs by status"], p:has(> a[href*="kind=failure"])')) part.hidden = true`,
  );
  return page.locator('main').innerText();
}

test('every page of a published folder shows what the service shows, under any path; its decisions go back to the first day', async (t) => {
  const { path, folder } = await publishedFrom(t);
  const url = await serveFolder(t, folder, { isEncoded: true });
  const view = await startTestView(t, path, { pages: await builtPages() });
  const [date] = recordDates(1);
  const pages = ['/', '/?common=false', '/compare', '/models/alpha?run=2', '/job-list'];
  pages.push(`/models/${encodeURIComponent('BETA/5: x%')}`, `/model-days/alpha%232/${date}`);
  pages.push('/models/alpha', `/model-days/gamma/${date}`);
  const textsFrom = async (site: string) => {
    const { page, open } = await visit(t, site);
    const texts: string[] = [];
    for (const address of pages) {
      await page.goto('about:blank');
      await open(address);
      // The overview asks for one column when all else is there.
      if (/^\/(\?|$)/.test(address)) await page.waitForLoadState('networkidle');
      texts.push(`${address} ${await textOf(page)}`);
    }
    await page.close();
    return texts;
  };
  assert.deepEqual(await textsFrom(`${url}#`), await textsFrom(view.url));
  const { page, open } = await visit(t, url);
  await open('#/jobs/bench-0000');
  const { body } = await view.get('/comparison?job_id=bench-0000&looks=daily');
  assert.equal(await page.locator('.answer').innerText(), body.answer.sentence);

  await open('#/decision-feed');
  const dates = new Set<string>();
  let cards = 0;
  for (;;) {
    await loaded(page);
    for (const date of await page.locator('main h2').allInnerTexts()) dates.add(date);
    cards += await page.locator('.feed > li').count();
    const older = page.getByRole('link', { name: 'Older decisions' });
    if ((await older.count()) === 0) break;
    const address = page.url();
    await older.click();
    await page.waitForURL((url) => url.href !== address);
  }
  assert.deepEqual([dates.size, cards], [PUBLISHED_DAYS, PUBLISHED_DAYS * PUBLISHED_MODELS.length]);
});

/** What has no target in a folder, of all that the page refers to: files, and places on it. */
async function deadOn(page: Page, folder: string): Promise<string[]> {
  const targets: string[] = await page.evaluate(
    `[...document.querySelectorAll('a, [href], [src]')].map((one) => one.getAttribute('href') ?? one.getAttribute('src') ?? one.outerHTML)`,
  );
  const ids: string[] = await page.evaluate(
    `[...document.querySelectorAll('[id]')].map(({ id }) => id)`,
  );
  return targets.filter((target) => {
    if (target.startsWith('#/')) return false; // a page, which is opened
    if (target.startsWith('#')) return !ids.includes(target.slice(1));
    return /^[a-z]*:|^\//i.test(target) || !existsSync(join(folder, target));
  });
}

/** Follows all links from the first page; returns their addresses. */
async function follow({ page, open }: Visit, folder: string): Promise<Set<string>> {
  const seen = new Set(['#/']);
  for (const link of seen) {
    await open(link);
    assert.doesNotMatch(await page.locator('h1').innerText(), /not found/i, link);
    assert.equal(await page.getByRole('button', { name: /^(Discard|Cancel) job$/ }).count(), 0);
    assert.equal(await page.getByText('Its failed model-days').count(), 0);
    assert.deepEqual(await deadOn(page, folder), [], link);
    const notices = (await page.locator('main .notice').allInnerTexts()).join();
    assert.doesNotMatch(notices, /not responding|no session|no job|status \d/, link);
    const links: string[] = await page.evaluate(
      `[...document.querySelectorAll('a[href]:not(.skip)')].map((link) => link.getAttribute('href'))`,
    );
    for (const other of links) seen.add(other);
  }
  assert.ok([...seen].every((link) => link.startsWith('#/')));
  return seen;
}

/** What is published of two jobs → pages that links lead to. */
const parts: [own: Partial<Publication>, linked: string][] = [
  [{}, '#/jobs/bench-0000 #/compare #/decision-feed #/models/alpha?run=2'],
  [
    { jobId: 'bench-0001', withConversations: false },
    '#/job-list #/jobs/bench-0001 #/models/gamma',
  ],
  [{ models: ['alpha'], endDate: '2023-10-10' }, '#/compare #/models/alpha?run=2'],
];

test('no link in a folder is dead, and no request of its pages fails', async (t) => {
  const { folder, url, again } = await publishedFrom(t, { days: 13 });
  const reader = await visit(t, url);
  for (const [own, linked] of parts) {
    await again(own);
    await reader.page.goto('about:blank');
    const found = await follow(reader, folder);
    for (const page of linked.split(' ')) assert.ok(found.has(page), page);
  }
});

test('the picture of a site is made by Chromium', async (t) => {
  const own = { url: 'https://example.org/board/', chromium: chromiumPath };
  const { folder } = await publishedFrom(t, { own, days: 4, failures: 0 });
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  assert.ok(html.includes('og:image" content="https://example.org/board/preview.png"'));
  const png = readFileSync(join(folder, 'preview.png'));
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1200, 630]);
});
