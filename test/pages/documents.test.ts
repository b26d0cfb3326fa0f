import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { longDate } from '../../src/browser/format.ts';
import { loaded, region, test, visit } from '../support/browser.ts';
import { DOCUMENT, firstDate, HOSTILE, pages, secondDate, service } from '../support/page-story.ts';
import { publishedFrom } from '../support/published.ts';
import { recordDates } from '../support/track-records.ts';

test('a model-day links to each document that it listed or read, as of its morning; its text stays text', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open(pages.hostileDay);
  const links = region(page, 'Documents').getByRole('link');
  assert.deepEqual(await links.allInnerTexts(), ['Title of two', 'Title of one', HOSTILE]);
  await links.last().click();
  await loaded(page);
  await page.reload();
  await loaded(page);
  const { pathname, search } = new URL(page.url());
  assert.equal(
    decodeURIComponent(pathname) + search,
    `/documents/${DOCUMENT.id}?as_of=${firstDate}`,
  );
  const heading = await page.locator('h1').innerText();
  assert.equal(heading, `Document as of ${longDate(firstDate)}`);
  const { id, kind, published_at: at, source, url } = DOCUMENT;
  const about = await page.locator('dl.entry dd').allInnerTexts();
  assert.deepEqual(about, [id, kind, at, '', source, url]);
  assert.equal(await region(page, HOSTILE).locator('.text').innerText(), DOCUMENT.text);
  assert.equal(await page.locator('main a').count(), 0, 'its URL is no link');
  await page.goBack();
  await links.last().waitFor();
  await open(`/model-days/model-a/${secondDate}`);
  assert.equal(await region(page, 'Documents').count(), 0);
});

test('a published folder names the documents of a model-day without links', async (t) => {
  const { url } = await publishedFrom(t, { models: ['alpha'], days: 2 });
  const { page, open } = await visit(t, url);
  await page.route('**/model-days/**', async (route) => {
    const day = JSON.parse(String(gunzipSync(await (await route.fetch()).body())));
    const content = JSON.stringify({ id: 'x', title: 'What it read' });
    day.reasoning.sessions.at(-1).conversation.push({ role: 'tool', content });
    await route.fulfill({ json: day });
  });
  await open(`#/model-days/alpha/${recordDates(1)[0]}`);
  assert.equal(await region(page, 'Documents').getByText('What it read').count(), 1);
  assert.equal(await region(page, 'Documents').getByRole('link').count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Data' }).count(), 0);
});

test('the page of data has the coverage of prices and of documents', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/');
  await page.getByRole('link', { name: 'Data', exact: true }).click();
  await loaded(page);
  const rows = (name: string) => region(page, name).locator('tbody tr').allInnerTexts();
  const [bars] = (await service.get('/prices/coverage')).body.symbols;
  const days = `${longDate(bars.first_bar)}\t${longDate(bars.last_bar)}`;
  const prices = ['AAPL', 'MSFT', 'NVDA'].map((symbol) => `${symbol}\t${bars.source}\t${days}\t0`);
  assert.deepEqual(await rows('Prices'), prices);
  const [early, late] = [longDate(DOCUMENT.published_at), longDate('2025-01-02')];
  assert.deepEqual(await rows('Documents'), [
    `10-K\t\t${early}\t${early}\t1`,
    `news\tAAPL\t${late}\t${late}\t2`,
  ]);
});
