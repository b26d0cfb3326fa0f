import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { layoutShift, test, visit } from '../support/browser.ts';
import { temporaryFolder } from '../support/folder.ts';
import { builtPages } from '../support/service.ts';
import { fillWithTrackRecords, modelNames, type TrackRecords } from '../support/track-records.ts';
import { startTestView } from '../support/view.ts';

/** One figure, one set of days: whichever page a reader looks at, an entry has one return. */

const MODELS = ['alpha', 'alpha#2', 'beta', 'gamma'];
const PERCENT = /[+−]?\d+\.\d\d %/;

/** Every return on a page, by the name of its entry. */
const collect: Record<string, (page: Page) => Promise<[name: string, words: string][]>> = {
  sentence: async (page) => {
    const words = (await page.locator('.answer').innerText()).replaceAll('\u00a0', ' ');
    const [, name = '', own = ''] = /(\S+) (?:leads|came closest) with (\S+ %)/.exec(words) ?? [];
    const [, its = ''] = /made (\S+ %) over/.exec(words) ?? [];
    return [
      [name, own],
      ['QQQ (benchmark)', its],
    ];
  },
  curves: (page) => pairsIn(page, '.curves .legend', 'span', 'b'),
  leaderboard: (page) =>
    pairsIn(page, 'table:has(caption:text("Leaderboard")) tbody tr', 'th a, th .name', 'td'),
  forest: (page) => pairsIn(page, '.forest tbody tr', 'th a', 'td.number'),
  sides: async (page) => {
    const table = page.locator('table:has(caption:text("Figures side by side"))');
    const asked = page.waitForRequest(/\/performance/); // not before the reader opens it
    await page.getByText('Figures of each model, and its decisions on one day').click();
    await asked;
    await table.waitFor();
    const names = await table.locator('thead th').allInnerTexts();
    const row = table.locator('tbody tr', { has: page.getByText('Return', { exact: true }) });
    const own = await row.locator('td').allInnerTexts();
    return own.map((words, place) => [(names[place + 1] ?? '').trim(), words.trim()]);
  },
};

async function pairsIn(page: Page, rows: string, name: string, figure: string) {
  const found: [string, string][] = [];
  for (const row of await page.locator(rows).all())
    found.push([
      (await row.locator(name).first().innerText()).trim(),
      (await row.locator(figure).first().innerText()).trim(),
    ]);
  return found;
}

async function viewOf(t: TestContext, records: TrackRecords) {
  const path = join(temporaryFolder(), 'jobs.db');
  fillWithTrackRecords(path, records);
  return startTestView(t, path, { pages: await builtPages() });
}

const pages: [path: string, parts: (keyof typeof collect)[]][] = [
  ['/', ['sentence', 'curves', 'leaderboard']],
  ['/compare', ['sentence', 'forest', 'sides']],
  ['/jobs/bench-0000', ['sentence', 'curves', 'leaderboard']],
];

test('an entry has one return on the overview, the comparison and the page of its job', async (t) => {
  const view = await viewOf(t, { models: MODELS, days: 40, failures: 0.03 });
  const { page, open } = await visit(t, view.url);
  const returns = new Map<string, Map<string, string[]>>();
  for (const [address, parts] of pages) {
    await open(address);
    for (const part of parts)
      for (const [name, words] of (await collect[part]?.(page)) ?? []) {
        assert.match(words, PERCENT, `${part} of ${address}`);
        const own = returns.get(name) ?? new Map<string, string[]>();
        returns.set(name, own.set(words, [...(own.get(words) ?? []), `${part} of ${address}`]));
      }
  }
  assert.deepEqual([...returns.keys()].sort(), ['QQQ (benchmark)', 'alpha', 'beta', 'gamma']);
  for (const [name, values] of returns)
    assert.equal(values.size, 1, `${name}: ${JSON.stringify([...values])}`);
  const { body } = await view.get('/performance?by=entry&common=true');
  assert.ok(body.common.left_out_days.length > 0, 'some days do not count');
  assert.ok(body.models.every((model: any) => model.total_return !== 0));
});

test('of the tabs of an entry the one that is shown is the current one; of a run without results none', async (t) => {
  const view = await viewOf(t, { models: MODELS, days: 5 });
  const { page, open } = await visit(t, view.url);
  await page.route('**/models', async (route) => {
    const body = await (await route.fetch()).json();
    const alpha = body.models.find((model: any) => model.signature === 'alpha');
    body.models.push({ ...alpha, signature: 'alpha#3', completed_model_days: 0, last_job: null });
    await route.fulfill({ json: body });
  });
  const current: [query: string, tabs: string[]][] = [
    ['', ['All runs']],
    ['?run=2', ['#2']],
    ['?run=3', []],
  ];
  for (const [query, tabs] of current) {
    await open(`/models/alpha${query}`);
    const shown = page.locator('nav.tabs [aria-current]');
    assert.deepEqual(await shown.allInnerTexts(), tabs, query);
    assert.equal(await page.locator('nav.tabs a').count(), 3);
  }
});

test('the first screen of the overview has the answer, the curves with their names and returns, and five rows', async (t) => {
  const view = await viewOf(t, { models: modelNames(6), days: 30 });
  const viewport = { width: 1440, height: 900 };
  const reader = await visit(t, view.url, { viewport });
  await reader.open('/');
  const { page } = reader;
  await page.locator('.ends.placed').waitFor({ state: 'attached' });
  assert.ok((await layoutShift(reader)) < 0.05, 'nothing moves when the curves are drawn');
  const ends = (selector: string) =>
    page
      .locator(`${selector}:visible`)
      .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().bottom));
  const onScreen = async (selector: string) =>
    (await ends(selector)).filter((end) => end <= viewport.height).length;
  assert.equal(await onScreen('.answer'), 1);
  assert.equal(await onScreen('.curves .drawing'), 1);
  const names = await ends('.curves .ends > li');
  assert.equal(names.length, 7, 'six models and the benchmark');
  const sorted = names.toSorted((one, other) => one - other);
  assert.ok(
    sorted.every((end, row) => row === 0 || end - (sorted[row - 1] ?? 0) >= 23),
    `${sorted}`,
  );
  assert.ok((await onScreen('tbody tr')) >= 5);
  await page.waitForLoadState('networkidle'); // no request is left when the view stops
});
