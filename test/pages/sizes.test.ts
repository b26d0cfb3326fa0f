import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { obstacles } from '../support/axe.ts';
import { type Visit, loaded, overflow, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { isLong, leftToLongForm } from '../support/long.ts';
import { type TestService, startTestService, temporaryFolder } from '../support/service.ts';
import { type TrackRecords, fillWithTrackRecords, modelNames, recordDates } from '../support/track-records.ts';

/** Every page over databases of every size: for eyes, keyboards, screen readers, small screens, files and paper. */

const inBrowser = { skip: noBrowser };
const inLongForm = { skip: noBrowser || leftToLongForm };
/** Whatever is unfolded, a page stays this small. */
const MAX_ELEMENTS = 40_000;
const TOKEN = 'correct-horse-battery';

/** As long as a signature may be, in four scripts; the first has no place for a line break. */
const LONG_NAMES = ['claude_gpt_gemini_', 'نموذج التداول ', 'व्यापार मॉडल ', '交易模型'].map((part) =>
  part.repeat(200).slice(0, 199).trim().padEnd(200, '1'),
);

interface Form {
  width: number;
  colorScheme: 'light' | 'dark';
  isUnfolded: boolean;
}

const allForms = [360, 1440].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((colorScheme) => [false, true].map((isUnfolded): Form => ({ width, colorScheme, isUnfolded }))),
);

/** A service on such a database, or on an empty one. */
async function serviceOn(t: TestContext, records: TrackRecords | null, settings = {}): Promise<TestService> {
  const options = { pages: true, settings: { preserveDevData: true, ...settings } };
  if (records === null) return startTestService(t, options);
  const folder = temporaryFolder(t);
  fillWithTrackRecords(join(folder, 'jobs.db'), records);
  return startTestService(t, { ...options, folder });
}

/** The paths of all pages; those of models only where there are some. */
function pagesOf(records: TrackRecords | null): string[] {
  const always = ['/', '/compare', '/job-list', '/decision-feed', '/api', '/nowhere'];
  if (records === null) return always;
  const [one, other] = records.models.map((model) => encodeURIComponent(model)) as [string, string];
  const [first] = recordDates(records.days) as [string];
  const own = [`/compare?models=${one},${other}`, `/models/${one}`, `/model-days/${one}/${first}`, '/jobs/bench-0000'];
  return [...always, ...own];
}

async function unfold({ page }: Visit): Promise<void> {
  // What is made as a fold opens may have folds of its own.
  for (let depth = 0; depth < 3; depth += 1)
    await page.evaluate("document.querySelectorAll('details:not([open])').forEach((fold) => (fold.open = true))");
  for (const closed of await page.locator('.pairs > button[aria-pressed=false]').all()) await closed.click();
}

/** Tables whose first column leaves no room for the figures, or is not there once the reader has scrolled to the last. */
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

async function checkPage(reader: Visit, path: string, form: Form): Promise<void> {
  const what = `${path.slice(0, 40)} ${JSON.stringify(form)}`;
  await reader.page.setViewportSize({ width: form.width, height: 900 });
  await reader.page.emulateMedia({ colorScheme: form.colorScheme });
  await reader.open(path);
  if (form.isUnfolded) await unfold(reader);
  assert.doesNotMatch(await reader.page.locator('main').innerText(), /undefined|NaN|\[object|Invalid Date/, what);
  assert.deepEqual(await obstacles(reader.page), [], what);
  assert.equal(await overflow(reader), 0, `${what} is wider than its window`);
  assert.deepEqual(await reader.page.evaluate(BAD_TABLES), [], what);
  const elements = await reader.page.evaluate<number>("document.querySelectorAll('*').length");
  assert.ok(elements < MAX_ELEMENTS, `${what} has ${elements} elements`);
}

const few: TrackRecords = { models: LONG_NAMES, days: 24, datesPerJob: 12, failures: 0.05 };

test('pages with names of 200 characters have no obstacles and show their figures', inBrowser, async (t) => {
  const service = await serviceOn(t, few);
  const reader = await visit(t, service.url, { provokes: [404] });
  const pages = pagesOf(few);
  const shortForms = ['/', `/models/${encodeURIComponent(LONG_NAMES[1] as string)}`, '/compare', pages.at(-2) as string];
  const picked = shortForms.map((path, index) => [path, allForms[[3, 4, 0, 7][index] as number] as Form] as const);
  const visits = isLong ? allForms.flatMap((form) => pages.map((path) => [path, form] as const)) : picked;
  for (const [path, form] of visits) await checkPage(reader, path, form);
});

const sizes: [name: string, records: TrackRecords | null][] = [
  ['6 models × 60 days', { models: modelNames(6), days: 60, failures: 0.02 }],
  ['20 models × 500 days', { models: modelNames(20), days: 500, datesPerJob: 20, failures: 0.01 }],
  ['100 jobs', { models: modelNames(6), days: 100, datesPerJob: 1, failures: 0.1 }],
  ['nothing', null],
];

for (const [name, records] of sizes)
  test(`every page in every form has no obstacles: ${name}`, inLongForm, async (t) => {
    const service = await serviceOn(t, records);
    const reader = await visit(t, service.url, { provokes: [404] });
    for (const form of allForms) for (const path of pagesOf(records)) await checkPage(reader, path, form);
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
