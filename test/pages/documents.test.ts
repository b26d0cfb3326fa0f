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
  assert.deepEqual(await links.allInnerTexts(), ['two'.repeat(150), 'one'.repeat(150), HOSTILE]);
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
    const { conversation } = day.reasoning.sessions.at(-1);
    const other = { served: null, summary: null, timestamp: null };
    for (const role of ['assistant', 'tool']) {
      const content = JSON.stringify({ id: role, title: `By a ${role}` });
      conversation.push({ ...other, role, content });
    }
    await route.fulfill({ json: day });
  });
  await open(`#/model-days/alpha/${recordDates(1)[0]}`);
  const documents = region(page, 'Documents');
  assert.deepEqual(await documents.getByRole('listitem').allInnerTexts(), ['By a tool']);
  assert.equal(await documents.getByRole('link').count(), 0);
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
