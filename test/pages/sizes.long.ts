import assert from 'node:assert/strict';
import { loaded, overflow, saved, test, type Visit, visit } from '../support/browser.ts';
import { obstacles } from '../support/axe.ts';
import { longNamed, startOnRecords } from '../support/on-records.ts';
import { modelNames, recordDates, type TrackRecords } from '../support/track-records.ts';

/**
 * Every page over databases of every size: for eyes, keyboards, screen readers, small screens,
 * files and paper.
 */

/** Whatever is unfolded, a page stays this small. */
const MAX_ELEMENTS = 40_000;
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

const sizes: [name: string, records: TrackRecords | null][] = [
  ['names of 200 characters', longNamed],
  ['6 models × 60 days', { models: modelNames(6), days: 60, failures: 0.03 }],
  ['20 models × 500 days', { models: modelNames(20), days: 500, datesPerJob: 20, failures: 0.01 }],
  ['100 jobs', { models: modelNames(6), days: 100, datesPerJob: 1, failures: 0.1 }],
  ['nothing', null],
];

for (const [name, records] of sizes)
  test(`every page in every form has no obstacles: ${name}`, async (t) => {
    const service = await startOnRecords(t, records);
    const reader = await visit(t, service.url, { provokes: [404] });
    const faults: string[] = [];
    for (const form of allForms)
      for (const path of pagesOf(records)) faults.push(...(await faultsOf(reader, path, form)));
    for (const path of pagesOf(records))
      faults.push(...(await faultsOnPaper(reader, path, records === longNamed ? 'A4' : 'Letter')));
    assert.deepEqual(faults, []);
  });

test('on a phone the grid of a job opens at what failed', async (t) => {
  const service = await startOnRecords(t, { models: ['alpha'], days: 60, failures: 0.03 });
  const { page, open } = await visit(t, service.url, { viewport: { width: 390, height: 844 } });
  await open('/jobs/bench-0000');
  const failed = page.locator('.job-grid td.failed').first();
  const from = await failed.evaluate(({ offsetLeft }: any) => offsetLeft as number);
  assert.ok(from > 300, 'it is near the right edge, or beyond it');
  const { x = -1 } = (await failed.boundingBox()) ?? {};
  assert.ok(x > 130 && x < 260, `in the middle, not at ${x}`);
});

test('a job of 250 models: warnings, grid, tables and what ran show a part at a time, a long legend scrolls and is whole in a picture', async (t) => {
  const service = await startOnRecords(t, { models: modelNames(250), days: 2 });
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
  const ended = await grid.locator('td:is(.completed, .failed)').count();
  assert.equal(ended, 100, 'each page has the states of its model-days');
  // The benchmark has a row of the leaderboard too.
  for (const [name, all, sorted] of [
    ['Leaderboard', 251, 'Return'],
    ['Cost', 250, 'Model cost'],
  ] as const) {
    const table = page.locator(`section:has(h2:text-is("${name}"))`);
    assert.equal(await table.locator('th[aria-sort=descending]').innerText(), sorted);
    assert.equal(await table.locator('tbody tr').count(), 200, name);
    await table.getByText(`Show ${all - 200} more of ${all}`).click();
    assert.equal(await table.locator('tbody tr').count(), all, name);
  }
  const ran = page.locator('h3:text-is("What ran") ~ details');
  assert.equal(await ran.count(), 21);
  assert.equal(await ran.last().locator('> summary').innerText(), '230 more');
  assert.equal(await ran.last().locator('> details').count(), 230);
  const legend = page.locator('.curves .legends');
  const shown = await legend.evaluate((list) => list.clientHeight);
  const whole = await legend.evaluate((list) => list.scrollHeight);
  assert.ok(shown <= 270 && whole > 500, `${shown} of ${whole}`);
  const { content } = await saved(reader, '.curves', 'SVG');
  const names = await legend.locator('li').count();
  assert.ok(names > 200);
  assert.equal(content.toString().match(/<g transform/g)?.length, names, 'its whole legend');
  assert.equal(await legend.evaluate((list) => list.clientHeight), shown);
});

const TOKEN = 'correct-horse-battery';

test('every page asks for a token in a dialog without obstacles', async (t) => {
  const service = await startOnRecords(t, longNamed, { apiToken: TOKEN });
  for (const path of pagesOf(longNamed).filter((each) => each !== '/nowhere')) {
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
