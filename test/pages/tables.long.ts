import assert from 'node:assert/strict';
import { type TestContext, before } from 'node:test';
import type { Page } from 'playwright-core';
import type { Performance } from '../../src/features/pages/responses.ts';
import { saved, test, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { LONG_NAMES, longNamed, startOnRecords } from '../support/on-records.ts';
import type { TestService } from '../support/service.ts';

/** Tables and plots with much in them: on small screens, in files and on paper. */

let service: TestService;
before(async (t) => {
  if (!noBrowser) service = await startOnRecords(t as TestContext, longNamed);
});

test('a table that is wider than its place has a shadow where more of it is', async (t) => {
  const { page, open } = await visit(t, service.url, { viewport: { width: 700, height: 900 } });
  await open('/job-list');
  await page.evaluate(`(() => {
    const place = Object.assign(document.createElement('div'), { className: 'scroll', id: 'place' });
    place.append(document.createElement('p'));
    document.querySelector('section').prepend(place);
  })()`);
  const place = page.locator('#place');
  const edge = async (width: number, scrolled = 0) => {
    await page.evaluate(
      `place.firstChild.style.cssText = 'width: ${width}px; height: 60px'; place.scrollLeft = ${scrolled}`,
    );
    return (await colourAtEdge(page, await place.screenshot()))[0] as number;
  };
  assert.equal(await edge(100), 255);
  assert.ok((await edge(2_000)) < 230);
  assert.equal(await edge(2_000, 2_000), 255, 'the end is in view');
});

/** The colour one pixel inside the right edge of a picture, half way down. */
function colourAtEdge(page: Page, picture: Buffer): Promise<number[]> {
  return page.evaluate<number[]>(`(async () => {
    const image = Object.assign(new Image(), { src: 'data:image/png;base64,${picture.toString('base64')}' });
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const ink = canvas.getContext('2d');
    ink.drawImage(image, 0, 0);
    return [...ink.getImageData(image.width - 2, Math.floor(image.height / 2), 1, 1).data.slice(0, 3)];
  })()`);
}

test('the list of jobs is beside the leaderboard only where it leaves the table room', async (t) => {
  const reader = await visit(t, service.url, { viewport: { width: 1440, height: 900 } });
  await reader.open('/');
  for (const width of [1440, 1200]) {
    await reader.page.setViewportSize({ width, height: 900 });
    const [hidden, left = 0] = await reader.page.evaluate<number[]>(`(() => {
      const { scrollWidth, clientWidth } = document.querySelector('.scroll:has(.named)');
      return [scrollWidth - clientWidth, document.querySelector('aside').getBoundingClientRect().left];
    })()`);
    assert.deepEqual([hidden, left > width / 2], [0, width === 1440], `${width} pixels`);
  }
});

test('a table is saved as CSV with all rows as shown, a plot as an SVG of what it shows', async (t) => {
  const reader = await visit(t, service.url, { viewport: { width: 1440, height: 900 } });
  const answer = reader.page.waitForResponse(/\/performance/);
  await reader.open('/');
  const board = await saved(reader, 'section:has(h2:text-is("Leaderboard"))', 'CSV');
  assert.equal(board.name, 'leaderboard-of-the-models.csv');
  const [head = '', ...rows] = board.content.toString().slice(1).trim().split('\r\n');
  const { models, benchmark }: Performance = await (await answer).json();
  const row = { model: `${benchmark.name} (benchmark)`, total_return: benchmark.total_return };
  const expected = [...models, row].sort(
    (one, other) => Number(other.total_return) - Number(one.total_return),
  );
  assert.match(head, /^Model,Return,/);
  assert.deepEqual(
    rows.map((row) => row.split(',', 2).join()),
    expected.map(({ model, total_return }) => `${model},${total_return}`),
  );

  const plot = await saved(reader, '.curves', 'SVG');
  assert.match(plot.name, /^\S+-of-4-models-by-date\.svg$/);
  const drawing = plot.content.toString();
  assert.match(drawing, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  assert.match(drawing, /by date<\/text>/, 'its title');
  assert.doesNotMatch(drawing, /class=|var\(/, 'it needs no style sheet');
  // Alone in a browser it has every line's colour.
  const colours = await reader.page.evaluate<Record<string, number>>(`(async () => {
  const image = Object.assign(new Image(), { src: 'data:image/svg+xml;base64,${plot.content.toString('base64')}' });
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  const ink = canvas.getContext('2d');
  ink.drawImage(image, 0, 0);
  const counts = {};
  const { data } = ink.getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < data.length; at += 4) counts[data.slice(at, at + 4)] = (counts[data.slice(at, at + 4)] ?? 0) + 1;
  return counts;
})()`);
  const looks = await reader.page.evaluate<
    string[]
  >(`[...document.querySelectorAll('.legend .swatch')].map((swatch) => {
  const [red, green, blue] = getComputedStyle(swatch).color.match(/\\d+/g);
  return red + ',' + green + ',' + blue + ',255';
})`);
  assert.ok(
    looks.length === 5 && looks.every((look) => (colours[look] ?? 0) > 20),
    `${JSON.stringify(looks)} are in the picture`,
  );
  assert.ok((colours['255,255,255,255'] ?? 0) > 100_000, 'on the ground of the page');
});

test('twelve months and the total of a year are in view and whole, with two digits and three', async (t) => {
  for (const width of [1440, 390]) {
    const { page, open } = await visit(t, service.url, { viewport: { width, height: 900 } });
    await open(`/models/${encodeURIComponent(LONG_NAMES[1] as string)}`);
    const place = (await page.locator('.months .scroll').boundingBox()) ?? assert.fail();
    for (const words of ['+1.13', '−12.34', '+123.45']) {
      await page.evaluate(
        `for (const one of document.querySelectorAll('.months td:not(.total)')) one.textContent = '${words.slice(0, 6)}'`,
      );
      const total = page.locator('.months .total').first();
      await total.evaluate((own, text) => void (own.textContent = text), words);
      assert.ok(await total.evaluate((own) => own.scrollWidth <= own.clientWidth), words);
      const { x, width: own } = (await total.boundingBox()) ?? assert.fail();
      assert.ok(x >= place.x && x + own <= place.x + place.width + 1, `${words} at ${width}`);
      const months = page.locator('.months tbody tr:first-child td:not(.total):visible');
      assert.equal(await months.count(), width === 1440 ? 12 : 2);
      const last = (await months.last().boundingBox()) ?? assert.fail();
      assert.ok(last.x + last.width <= x, `${words} at ${width}: December is whole`);
    }
  }
});

test("a model's page: a phone shows the months that have a return, and paper says of how many rows a table is", async (t) => {
  const { page, open } = await visit(t, service.url, { viewport: { width: 360, height: 900 } });
  await open(`/models/${encodeURIComponent(LONG_NAMES[1] as string)}`);
  const months = page.locator('.months');
  const headings = months.locator('thead th:visible');
  assert.deepEqual(await headings.allInnerTexts(), ['Year', 'Oct', 'Nov', 'Total']);
  const scroller = months.locator('.scroll');
  assert.equal(await scroller.evaluate((own) => own.scrollWidth - own.clientWidth), 0);
  const rows = page.locator('.on-paper:not([hidden])');
  assert.equal(await rows.filter({ visible: true }).count(), 0);
  await page.emulateMedia({ media: 'print' });
  const rest = await page.locator('.exports > .ghost:not([hidden])').allTextContents();
  assert.ok(rest.length > 0, `${rest}`);
  const shown = await rows.filter({ visible: true }).allInnerTexts();
  assert.deepEqual(
    shown.map((text) => /^\d+ of (\d+) rows$/.exec(text)?.[1]),
    rest.map((text) => /\d+$/.exec(text)?.[0]),
  );
});
