import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { obstacles } from '../support/axe.ts';
import { type Visit, loaded, overflow, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { isLong, leftToLongForm } from '../support/long.ts';
import { type TestService, startTestService, temporaryFolder } from '../support/service.ts';
import {
  type TrackRecords,
  fillWithTrackRecords,
  modelNames,
  recordDates,
} from '../support/track-records.ts';

/**
 * Every page over databases of every size: for eyes, keyboards, screen readers, small screens,
 * files and paper.
 */

const inBrowser = { skip: noBrowser };
const inLongForm = { skip: noBrowser || leftToLongForm };
/** Whatever is unfolded, a page stays this small. */
const MAX_ELEMENTS = 40_000;
const TOKEN = 'correct-horse-battery';

/** As long as a signature may be, in four scripts; the first has no place for a line break. */
const LONG_NAMES = ['claude_gpt_gemini_', 'نموذج التداول ', 'व्यापार मॉडल ', '交易模型'].map(
  (part) => part.repeat(200).slice(0, 199).trim().padEnd(200, '1'),
);

interface Form {
  width: number;
  colorScheme: 'light' | 'dark';
  isUnfolded: boolean;
}

const allForms = [360, 1440].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    [false, true].map((isUnfolded): Form => ({ width, colorScheme, isUnfolded })),
  ),
);

/** A service on such a database, or on an empty one. */
async function serviceOn(
  t: TestContext,
  records: TrackRecords | null,
  settings = {},
): Promise<TestService> {
  const options = { pages: true, settings: { preserveDevData: true, ...settings } };
  if (records === null) return startTestService(t, options);
  const folder = temporaryFolder(t);
  fillWithTrackRecords(join(folder, 'jobs.db'), records);
  return startTestService(t, { ...options, folder, isForged: true });
}

/** The paths of all pages; those of models only where there are some. */
function pagesOf(records: TrackRecords | null): string[] {
  const always = ['/', '/compare', '/job-list', '/decision-feed', '/api', '/nowhere'];
  if (records === null) return always;
  const [one, other] = records.models.map((model) => encodeURIComponent(model)) as [string, string];
  const [first] = recordDates(records.days) as [string];
  const own = [
    `/compare?models=${one},${other}`,
    `/models/${one}`,
    `/model-days/${one}/${first}`,
    '/jobs/bench-0000',
  ];
  return [...always, ...own];
}

async function unfold({ page }: Visit): Promise<void> {
  // What is made as a fold opens may have folds of its own.
  for (let depth = 0; depth < 3; depth += 1)
    await page.evaluate(
      "document.querySelectorAll('details:not([open])').forEach((fold) => (fold.open = true))",
    );
}

/**
 * Tables whose first column leaves no room for the figures, or is not there once the reader has
 * scrolled to the last.
 */
const BAD_TABLES = `[...document.querySelectorAll('.scroll')].flatMap((scroller) => {
  const head = scroller.querySelector('tbody tr > :first-child');
  if (head === null || !head.checkVisibility() || scroller.clientWidth === 0) return [];
  const name = scroller.getAttribute('aria-label') ?? scroller.firstElementChild.getAttribute('aria-label');
  const share = head.getBoundingClientRect().width / Math.min(scroller.clientWidth, innerWidth);
  scroller.scrollLeft = 100_000;
  const isGone = head.getBoundingClientRect().left < scroller.getBoundingClientRect().left - 1;
  scroller.scrollLeft = 0;
  const isAlone = head.parentElement.children.length === 1;
  return [!isAlone && share > 0.6 && name + ': its first column takes ' + share.toFixed(2), isGone && name + ': its first column is gone'];
}).filter(Boolean)`;

/** Tables with rows of different widths. */
const UNEVEN_TABLES = `[...document.querySelectorAll('table')].flatMap((table) => {
  const widths = new Set([...table.querySelectorAll('tbody tr')].map((row) => Math.round(row.getBoundingClientRect().width)));
  return widths.size > 1 ? [table.className + ' has rows of ' + [...widths] + ' pixels'] : [];
})`;

/** What is wrong with a page in a form, a line each. */
async function faultsOf(reader: Visit, path: string, form: Form): Promise<string[]> {
  await reader.page.setViewportSize({ width: form.width, height: 900 });
  await reader.page.emulateMedia({ colorScheme: form.colorScheme });
  await reader.open(path);
  if (form.isUnfolded) await unfold(reader);
  const [broken] =
    /undefined|NaN|\[object|Invalid Date/.exec(await reader.page.locator('main').innerText()) ?? [];
  const tooWide = await overflow(reader);
  const elements = await reader.page.evaluate<number>("document.querySelectorAll('*').length");
  const faults = [
    ...(await obstacles(reader.page)),
    ...(await reader.page.evaluate<string[]>(BAD_TABLES)),
    ...(await reader.page.evaluate<string[]>(UNEVEN_TABLES)),
    broken !== undefined && `it says ${broken}`,
    tooWide > 0 && `it is ${tooWide} pixels wider than its window`,
    elements > MAX_ELEMENTS && `it has ${elements} elements`,
  ].filter((fault) => fault !== false);
  return faults.map(
    (fault) =>
      `${path.slice(0, 60)} ${form.width} ${form.colorScheme} ${form.isUnfolded ? 'unfolded' : ''}: ${fault}`,
  );
}

/**
 * What paper would show cut off, or should not show: in CSS pixels, the page is as wide as A4 or
 * Letter inside its margins.
 */
const BAD_ON_PAPER = `(() => {
  const shown = [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility() && !element.closest('.unseen, .drawing'));
  const nameOf = (element) => element.localName + '.' + element.className + ' ' + element.textContent.slice(0, 40);
  const isWide = (element) => element.getBoundingClientRect().right > innerWidth + 1;
  const wide = shown.filter((element) => isWide(element) && !isWide(element.parentElement));
  const cut = shown.filter((element) => getComputedStyle(element).overflowX !== 'visible' && !element.matches('.legend *, svg *')
    && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0);
  const controls = shown.filter((element) => element.matches('form, input, select, textarea, button:not(.sort, .legend, .why), nav, .tip'));
  const hasText = (element) => [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '');
  const small = shown.filter((element) => hasText(element) && parseFloat(getComputedStyle(element).fontSize) < 8 * 96 / 72 - 0.01);
  const ground = getComputedStyle(document.querySelector('section') ?? document.body).backgroundColor;
  const empty = [...document.querySelectorAll('.drawing')].filter((drawing) => drawing.checkVisibility() && drawing.querySelector('.drawn') === null);
  return [
    ...wide.map((element) => 'too wide: ' + nameOf(element)),
    ...cut.map((element) => 'cut off: ' + nameOf(element)),
    ...small.map((element) => 'smaller than 8 points: ' + nameOf(element)),
    ...controls.map((element) => 'of no use: ' + nameOf(element)),
    ...empty.map((element) => 'not drawn: ' + nameOf(element)),
    ...(/rgb\\(255, 255, 255\\)|rgba\\(0, 0, 0, 0\\)/.test(ground) ? [] : ['not light: ' + ground]),
  ];
})()`;
const PAPER_WIDTHS = { A4: 703, Letter: 725 };

/**
 * What is wrong with a page on paper; as the browser prints: it says so, then lays the page out.
 */
async function faultsOnPaper(
  reader: Visit,
  path: string,
  format: keyof typeof PAPER_WIDTHS,
): Promise<string[]> {
  const { page } = reader;
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await reader.open(path);
  await unfold(reader);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await page.setViewportSize({ width: PAPER_WIDTHS[format], height: 900 });
  await page.emulateMedia({ media: 'print' });
  const widths = await page.evaluate<number[]>(
    "[...document.querySelectorAll('.drawn')].map((plot) => plot.clientWidth)",
  );
  const faults = await page.evaluate<string[]>(BAD_ON_PAPER);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await page.emulateMedia({ media: 'screen' });
  if (widths.some((width) => width > PAPER_WIDTHS[format]))
    faults.push(`plots are ${widths} pixels wide`);
  if (await page.evaluate("document.documentElement.matches('[data-paper], [data-theme]')"))
    faults.push('it stays as printed');
  return faults.map((fault) => `${path.slice(0, 60)} on ${format}: ${fault}`);
}

const few: TrackRecords = { models: LONG_NAMES, days: 24, datesPerJob: 12, failures: 0.05 };

let service: TestService;
before(async (t) => {
  if (!noBrowser) service = await serviceOn(t as TestContext, few);
});

test(
  'pages with names of 200 characters have no obstacles, show their figures, and fit on paper',
  inLongForm,
  async (t) => {
    const reader = await visit(t, service.url, { provokes: [404] });
    const pages = pagesOf(few);
    const shortForms = [
      '/',
      `/models/${encodeURIComponent(LONG_NAMES[1] as string)}`,
      '/compare',
      pages.at(-2) as string,
    ];
    const picked = shortForms.map(
      (path, index) => [path, allForms[[3, 4, 0, 7][index] as number] as Form] as const,
    );
    const visits = isLong
      ? allForms.flatMap((form) => pages.map((path) => [path, form] as const))
      : picked;
    const faults: string[] = [];
    for (const [path, form] of visits) faults.push(...(await faultsOf(reader, path, form)));
    for (const path of isLong ? pages : ['/'])
      faults.push(...(await faultsOnPaper(reader, path, 'A4')));
    assert.deepEqual(faults, []);
  },
);

/** What a button saves: its name and its content. */
async function saved(
  { page }: Visit,
  section: string,
  format: 'CSV' | 'SVG',
): Promise<{ name: string; content: Buffer }> {
  const button = page.locator(section).getByText(format, { exact: true });
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

test(
  'a table that is wider than its place has a shadow where more of it is',
  inBrowser,
  async (t) => {
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
  },
);

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

test(
  'the list of jobs is beside the leaderboard only where it leaves the table room',
  inBrowser,
  async (t) => {
    const reader = await visit(t, service.url, { viewport: { width: 1440, height: 900 } });
    await reader.open('/');
    for (const [width, isBeside] of [
      [1440, true],
      [1200, false],
    ] as const) {
      await reader.page.setViewportSize({ width, height: 900 });
      const [hidden, left = 0] = await reader.page.evaluate<number[]>(`(() => {
        const { scrollWidth, clientWidth } = document.querySelector('.scroll:has(.named)');
        return [scrollWidth - clientWidth, document.querySelector('aside').getBoundingClientRect().left];
      })()`);
      assert.deepEqual([hidden, left > width / 2], [0, isBeside], `${width} pixels`);
    }
  },
);

test(
  'a table is saved as CSV with all rows as shown, a plot as an SVG of what it shows',
  inBrowser,
  async (t) => {
    const reader = await visit(t, service.url, { viewport: { width: 1440, height: 900 } });
    const answer = reader.page.waitForResponse(/\/performance/);
    await reader.open('/');
    const board = await saved(reader, 'section:has(h2:text-is("Leaderboard"))', 'CSV');
    assert.equal(board.name, 'leaderboard-of-the-models.csv');
    const [head = '', ...rows] = board.content.toString().slice(1).trim().split('\r\n');
    const { models, benchmark } = (await (await answer).json()) as {
      models: { model: string; total_return: number }[];
      benchmark: { name: string; total_return: number };
    };
    const row = { model: `${benchmark.name} (benchmark)`, total_return: benchmark.total_return };
    const expected = [...models, row].sort((one, other) => other.total_return - one.total_return);
    assert.match(head, /^Model,Return,/);
    const named = rows.map((row) => row.split(',')).map(([model, gain]) => [model, gain]);
    assert.deepEqual(
      named,
      expected.map(({ model, total_return }) => [model, `${total_return}`]),
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
  },
);

test(
  "a model's page: a phone shows the months that have a return, and paper says of how many rows a table is",
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url, { viewport: { width: 360, height: 900 } });
    await open(`/models/${encodeURIComponent(LONG_NAMES[1] as string)}`);
    const months = page.locator('.months');
    const headings = months.locator('thead th:visible');
    assert.deepEqual(await headings.allInnerTexts(), ['Year', 'Oct', 'Nov', 'Total']);
    assert.deepEqual(
      await months
        .locator('.scroll')
        .evaluate((scroller) => scroller.scrollWidth - scroller.clientWidth),
      0,
    );
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
  },
);

test('on a phone the grid of a job opens at what failed', inBrowser, async (t) => {
  const service = await serviceOn(t, { models: ['alpha'], days: 60, failures: 0.03 });
  const reader = await visit(t, service.url, { viewport: { width: 390, height: 844 } });
  await reader.open('/jobs/bench-0000');
  const failed = reader.page.locator('.job-grid td.failed').first();
  const from = await failed.evaluate(({ offsetLeft }: any) => offsetLeft as number);
  assert.ok(from > 300, 'it is near the right edge, or beyond it');
  const { x = -1 } = (await failed.boundingBox()) ?? {};
  assert.ok(x > 130 && x < 260, `in the middle, not at ${x}`);
});

test(
  'a job of 250 models: warnings, grid, tables and what ran show a part at a time, a long legend scrolls and is whole in a picture',
  inLongForm,
  async (t) => {
    const service = await serviceOn(t, { models: modelNames(250), days: 2 });
    const warnings = Array.from(
      { length: 1_234 },
      (_, place) => `Model 'm-${place}' is not in the server configuration`,
    );
    service.database.statement('UPDATE jobs SET warnings = ?').run(JSON.stringify(warnings));
    const reader = await visit(t, service.url, { viewport: { width: 1440, height: 900 } });
    const { page } = reader;
    await reader.open('/jobs/bench-0000');
    assert.equal(await page.locator('.notes .notice:visible').count(), 10);
    await page.getByText('1,224 more warnings').click();
    assert.equal(await page.locator('.notes .notice:visible').count(), 1_234);
    await page.locator('.job summary', { hasText: 'Model-days' }).click();
    const grid = page.locator('.job-grid');
    const rows = async () => {
      const names = await grid.locator('tbody th').allInnerTexts();
      return [names.length, names[0], await grid.getByRole('status').innerText()];
    };
    assert.deepEqual(await rows(), [100, 'model-0', 'Models, page 1 of 3']);
    await grid.getByRole('button', { name: 'Previous models' }).click();
    for (let pages = 1; pages <= 3; pages += 1)
      await grid.getByRole('button', { name: 'Next models' }).click();
    assert.deepEqual(await rows(), [50, 'model-200', 'Models, page 3 of 3']);
    assert.equal(
      await grid.locator('td:is(.completed, .failed)').count(),
      100,
      'each page has the states of its model-days',
    );
    // The benchmark has a row of the leaderboard too.
    for (const [name, all] of Object.entries({ Leaderboard: 251, Cost: 250 })) {
      const table = page.locator(`section:has(h2:text-is("${name}"))`);
      assert.equal(await table.locator('tbody tr').count(), 200, name);
      await table.getByText(`Show ${all - 200} more of ${all}`).click();
      assert.equal(await table.locator('tbody tr').count(), all, name);
    }
    const ran = page.locator('h3:text-is("What ran") ~ details');
    assert.deepEqual(
      [await ran.count(), await ran.last().locator('> summary').innerText()],
      [21, '230 more'],
    );
    assert.equal(await ran.last().locator('> details').count(), 230);
    const legend = page.locator('.curves .legends');
    const [shown = 0, whole = 0] = await legend.evaluate((list) => [
      list.clientHeight,
      list.scrollHeight,
    ]);
    assert.ok(shown <= 270 && whole > 500, `${shown} of ${whole}`);
    const { content } = await saved(reader, '.curves', 'SVG');
    const names = await legend.locator('li').count();
    assert.ok(names > 200);
    assert.equal(content.toString().match(/<g transform/g)?.length, names, 'its whole legend');
    assert.equal(await legend.evaluate((list) => list.clientHeight), shown);
  },
);

const sizes: [name: string, records: TrackRecords | null][] = [
  ['6 models × 60 days', { models: modelNames(6), days: 60, failures: 0.03 }],
  ['20 models × 500 days', { models: modelNames(20), days: 500, datesPerJob: 20, failures: 0.01 }],
  ['100 jobs', { models: modelNames(6), days: 100, datesPerJob: 1, failures: 0.1 }],
  ['nothing', null],
];

for (const [name, records] of sizes)
  test(`every page in every form has no obstacles: ${name}`, inLongForm, async (t) => {
    const service = await serviceOn(t, records);
    const reader = await visit(t, service.url, { provokes: [404] });
    const faults: string[] = [];
    for (const form of allForms)
      for (const path of pagesOf(records)) faults.push(...(await faultsOf(reader, path, form)));
    for (const path of pagesOf(records))
      faults.push(...(await faultsOnPaper(reader, path, 'Letter')));
    assert.deepEqual(faults, []);
  });

test('every page asks for a token in a dialog without obstacles', inLongForm, async (t) => {
  const service = await serviceOn(t, few, { apiToken: TOKEN });
  for (const path of pagesOf(few).filter((each) => each !== '/nowhere')) {
    const reader = await visit(t, service.url, { provokes: [401] });
    await reader.page.goto(service.url + path);
    const dialog = reader.page.getByRole('dialog', { name: 'Access token' });
    await dialog.waitFor();
    assert.deepEqual(await obstacles(reader.page), [], path);
    await dialog.getByLabel('Token').fill(TOKEN);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await loaded(reader.page);
    assert.deepEqual(await obstacles(reader.page), [], path);
  }
});
