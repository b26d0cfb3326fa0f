import assert from 'node:assert/strict';
import { longDate } from '../../src/features/pages/browser/format.ts';
import { loaded, region, test, visit } from '../support/browser.ts';
import { DOCUMENT, firstDate, HOSTILE, pages, secondDate, service } from '../support/page-story.ts';
import { storeDocuments } from '../support/documents.ts';
import { publishedFrom } from '../support/published.ts';
import { recordDates } from '../support/track-records.ts';
import { openDatabase } from '../../src/core/database/database.ts';

test('a model-day links to the version of each document that it listed or read; its text stays text', async (t) => {
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
    `/documents/${DOCUMENT.id}?version=${DOCUMENT.published_at}`,
  );
  assert.equal(await page.locator('h1').innerText(), 'Document');
  const { id, kind, published_at: at, source, url } = DOCUMENT;
  const about = await page.locator('dl.entry dd').allInnerTexts();
  assert.deepEqual(about, [id, kind, at, '', source, url]);
  assert.equal(await region(page, HOSTILE).locator('.text').innerText(), DOCUMENT.text);
  assert.equal(await page.locator('main a').count(), 0, 'its URL is no link');
  const later = { ...DOCUMENT, published_at: '2020-01-03', text: 'Corrected.' };
  storeDocuments(service.database, [later]);
  await page.goBack();
  await links.last().waitFor();
  assert.equal(await links.last().innerText(), 'later version of 2020-01-03');
  assert.equal(await links.count(), 4, 'of one of the three');
  await links.nth(2).click();
  await loaded(page);
  assert.equal(await region(page, HOSTILE).locator('.text').innerText(), DOCUMENT.text);
  await open(`/documents/${encodeURIComponent(DOCUMENT.id)}?as_of=${firstDate}`);
  const heading = await page.locator('h1').innerText();
  assert.equal(heading, `Document as of ${longDate(firstDate)}`);
  assert.equal(await region(page, HOSTILE).locator('.text').innerText(), 'Corrected.');
  await open(`/model-days/model-a/${secondDate}`);
  assert.equal(await region(page, 'Documents').count(), 0);
});

test('a published folder names the documents of a model-day without links, or not at all', async (t) => {
  const { path, url, again } = await publishedFrom(t, { models: ['alpha'], days: 2 });
  const database = openDatabase(path);
  storeDocuments(database, [DOCUMENT, { ...DOCUMENT, published_at: '2020-01-03' }]);
  database
    .statement(
      'INSERT INTO document_sessions SELECT session_id, min(version) FROM trading_sessions, documents GROUP BY 1',
    )
    .run();
  database.close();
  const { page, open } = await visit(t, url);
  for (const withConversations of [true, false]) {
    await again({ withConversations });
    await page.goto('about:blank');
    await open(`#/model-days/alpha/${recordDates(1)[0]}`);
    const documents = region(page, 'Documents');
    const items = await documents.getByRole('listitem').allInnerTexts();
    const named = `${HOSTILE} (later version of 2020-01-03)`;
    assert.deepEqual(items, withConversations ? [named] : []);
    assert.equal(await documents.locator('a').count(), 0);
  }
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
    `10-K\t\t${early}\t${longDate('2020-01-03')}\t1`,
    `news\tAAPL\t${late}\t${late}\t2`,
  ]);
});
