import assert from 'node:assert/strict';
import { money, longDate } from '../../src/features/pages/browser/format.ts';
import { button, region, test, visit } from '../support/browser.ts';
import {
  comparedModel,
  comparedPair,
  comparisonAnswer,
  modelWithout,
} from '../support/comparison-answer.ts';
import {
  dates,
  firstDate,
  HOSTILE,
  HOSTILE_MODEL,
  lastDate,
  pages,
  secondDate,
  service,
  thirdDate,
} from '../support/page-story.ts';
import { builtPages } from '../support/service.ts';
import { startTestView } from '../support/view.ts';

/** What takes a browser longer, over twelve days. */

test('a plot shows values on hover, hides lines, and has a logarithmic scale', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/');
  const { x, y, width, height } = (await page.locator('.curves .drawing').boundingBox())!;
  const tip = page.locator('.curves .tip');
  const dateAt = async (share: number) => {
    await page.mouse.move(x + width * share, y + height / 2);
    return tip.locator('p').innerText();
  };
  assert.match(await dateAt(0.001), /^Start$/);
  const { models } = (await service.get('/performance?common=true')).body;
  const { start_value: start, curve } = models.find(({ model }: any) => model === 'model-a');
  assert.match(await dateAt(0.999), new RegExp(` ${Number(lastDate.slice(8))} `));
  const value = money(start * curve.at(-1).growth);
  assert.match(await tip.innerText(), new RegExp(`model-a\\s+${value}`));

  await page
    .locator('.curves')
    .getByRole('button', { name: /^model-a/ })
    .click();
  await dateAt(0.5);
  assert.doesNotMatch(await tip.innerText(), /model-a/);
  await button(page, 'Log scale').click();
  assert.equal(await page.locator('[data-action=log]').getAttribute('aria-pressed'), 'true');
  assert.match(await dateAt(0.001), /^Start$/);
});

test('results are shown although models and jobs do not arrive', async (t) => {
  const { page } = await visit(t, service.url);
  const held: (() => Promise<void>)[] = [];
  for (const path of ['**/models', '**/jobs?*'])
    await page.route(path, (route) => void held.push(() => route.continue()));
  await page.goto(service.url);
  await region(page, 'Leaderboard').waitFor();
  assert.equal(held.length, 2);
  for (const release of held) await release();
  await page.getByRole('link', { name: 'All jobs' }).waitFor();
});

test('the leaderboard sorts by any figure in both directions, and marks models that cannot be compared', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/');
  const board = region(page, 'Leaderboard');
  const names = () => board.locator('tbody th').allInnerTexts();
  const byReturn = await names();
  const caveat = board.locator('.caveat');
  await board.getByRole('link', { name: 'Each model’s own days' }).click();
  await board.getByText('Each model is measured over all its own days.').waitFor();
  const marked = ['not comparable: missing days, never traded · 1 failed day'];
  assert.deepEqual(await caveat.allInnerTexts(), marked);
  assert.match(
    (await caveat.getAttribute('title')) ?? '',
    /^It completed 11 model-days in its period; model-a completed 12\. It never traded: 1 order was refused or malformed\. 1 model-day failed/,
  );
  await page.goBack();
  await board.getByText('Ranked over the 10 days').waitFor();
  await button(page, 'Return').click();
  assert.deepEqual(await names(), byReturn.toReversed());
  await button(page, 'Trades').click();
  assert.equal((await names())[0], 'model-a');
  assert.equal(await page.locator('th[aria-sort]').innerText(), 'Trades');
});

test('the keyboard is enough to skip to the content, read a plot, and open a model-day from the grid', async (t) => {
  const { page, open } = await visit(t, service.url);
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  await open('/');
  await page.locator('.curves').waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Skip to content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate('document.activeElement.id'), 'main');
  const isOnPlot = () => page.evaluate('document.activeElement.matches(".drawing")');
  for (let presses = 0; !(await isOnPlot()); presses += 1) {
    assert.ok(presses < 40, 'the tab key does not reach the plot');
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('End');
  const spoken = await page.locator('.curves [role=status]').innerText();
  assert.match(spoken, new RegExp(` ${Number(lastDate.slice(8))} .*model-a `));
  await page.keyboard.press('Escape');
  await open(pages['job'] as string);
  await page.locator('.job-grid td[tabindex="0"]').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/model-days/model-a/${secondDate}`);
  assert.match(await focused(), /^model-a, /);
});

test('the theme is the system’s or the one the switch was set to, which is remembered', async (t) => {
  const { page, open } = await visit(t, service.url, { colorScheme: 'dark' });
  const ground = () =>
    page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
  await open('/');
  const dark = await ground();
  await page.locator('[data-action=theme]').click();
  const light = await ground();
  assert.notEqual(light, dark);
  await page.reload();
  assert.equal(await ground(), light);
  await page.locator('[data-action=theme]').click();
  assert.equal(await ground(), dark);
});

test('times are in the reader’s time zone, and in UTC on hover', async (t) => {
  const { page, open } = await visit(t, service.url, { timezoneId: 'Asia/Tokyo' });
  await open(pages['job'] as string);
  const time = page.locator('time').first();
  const stamp = (await time.getAttribute('datetime')) as string;
  assert.equal(await time.getAttribute('title'), `${stamp.slice(0, 19).replace('T', ' ')} UTC`);
  const hour = new Date(Date.parse(stamp) + 9 * 3_600_000).toISOString().slice(11, 19);
  assert.ok((await time.innerText()).endsWith(hour));
});

test('the API page lists every operation, its parameters and how curl asks it', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/api');
  const { paths } = (await service.get('/openapi.json')).body;
  await page.locator('.operation').first().waitFor();
  const operations = Object.values(paths).flatMap((methods) => Object.keys(methods as object));
  assert.equal(await page.locator('.operation').count(), operations.length);
  const jobs = page.locator('#getJobs');
  await jobs.locator('> summary').click();
  assert.match(await jobs.getByRole('row', { name: /^status query/ }).innerText(), /status/);
  assert.equal(await jobs.locator('pre').innerText(), `curl '${service.url}/jobs'`);
  const trigger = page.locator('#postSimulateTrigger');
  await trigger.locator('summary').click();
  const curl = /^curl -X POST '.*\/simulate\/trigger' .*-d '\{"start_date":/s;
  assert.match(await trigger.locator('pre').innerText(), curl);
  const tool = page.locator('#postDayTools');
  await tool.locator('summary').click();
  assert.match(await tool.locator('pre').innerText(), /-d '\{\}'$/);
});

test('a view says which file it shows, starts no job and asks for nothing that it refuses', async (t) => {
  const { databasePath } = service.settings;
  const view = await startTestView(t, databasePath, { pages: await builtPages() });
  const { page, open } = await visit(t, view.url);
  for (const [name, path] of Object.entries(pages)) {
    await open(path);
    await page.getByText('Viewing jobs.db. Nothing here changes it.').waitFor();
    const starting = page.getByRole('button', { name: /^(start job|cancel)/i });
    assert.equal(await starting.count(), 0, name);
  }
  const posts = page.locator('.operation', { has: page.getByText('POST', { exact: true }) });
  assert.match((await posts.allInnerTexts()).join(), /^POST\s+\/mcp\s[^]*$/, 'the page of the API');
  assert.equal(await posts.count(), 1);
  await open('/');
  const warning = page.getByRole('region', { name: 'Development mode' });
  await warning.getByText('Nothing here is a real result.').waitFor();
  await page
    .getByRole('row', { name: /model-a/ })
    .first()
    .waitFor();
  assert.equal(await page.getByText('Start a job').count(), 0);
});

test('the form that starts a job shows half a row at the end of a long list of models, so that one sees that there are more', async (t) => {
  const { page, open } = await visit(t, service.url);
  await page.route('**/models', async (route) => {
    const body = await (await route.fetch()).json();
    const models = Array.from({ length: 30 }, (_none, order) => {
      return { ...body.models[0], signature: `model-${order}`, family: `model-${order}`, order };
    });
    await route.fulfill({ json: { ...body, models } });
  });
  await open('/');
  await page.getByText('Start a job').click();
  const row = await page.waitForSelector('.trigger .choices .check');
  const rows = row.evaluate((own) => (own.parentElement?.clientHeight ?? 0) / own.clientHeight);
  assert.equal(await rows, 7.5);
});

test('a path without a page shows the way back', async (t) => {
  const { page, open } = await visit(t, service.url, { provokes: [404, 405] });
  await open('/simulate/trigger');
  await open('/no/such/page');
  assert.match(await page.title(), /Page not found/);
  assert.match(await page.locator('main').innerText(), /There is no page at \/no\/such\/page\./);
  await page.locator('main').getByRole('link', { name: 'API reference' }).click();
  await page.locator('.operation').first().waitFor();
  await open('/docs');
  assert.equal(new URL(page.url()).pathname, '/api');
});

/**
 * What the service may say of these models; the hostile one has a return on all days but the
 * second.
 */
const comparison = comparisonAnswer(
  [
    comparedModel('model-a', [0.03]),
    comparedModel(HOSTILE_MODEL, [0.02], { probability_best: 0.3, days_before_cutoff: 3 }),
    comparedModel('model-b', [-0.01], { interval: { low: -0.9876, high: 52.3456 } }),
    modelWithout('stale', HOSTILE),
    modelWithout('older', 'Stale'),
  ],
  dates.length - 1,
  { left_out: [{ date: secondDate, runs: [HOSTILE_MODEL], reason: HOSTILE }] },
);

test('the page of comparisons shows a line per model, its runs and the benchmark, and what is left out', async (t) => {
  const { page, open } = await visit(t, service.url);
  await page.route('**/comparison*', (route) => route.fulfill({ json: comparison }));
  await open('/?days=clean');
  await page
    .locator('main')
    .getByRole('link', { name: /^Compare the models/ })
    .click();
  await page.locator('.forest').waitFor();
  assert.equal(new URL(page.url()).search, '?days=clean');
  assert.equal(
    await page.locator('.folded > summary').innerText(),
    'Every entry with 20 days, all dates, after the knowledge cutoff, 95 % intervalsChange',
  );
  const ways = await page
    .locator('main a[href^="/models/"]')
    .evaluateAll((links) => links.map((link) => new URL(String(link)).search));
  assert.deepEqual(new Set(ways), new Set(['?days=clean']), 'the filters go along');
  const names = await page.locator('.forest tbody th a').allInnerTexts();
  assert.deepEqual(names, ['model-a', HOSTILE_MODEL, 'model-b']);
  for (const [mark, count] of Object.entries({ reach: 9, run: 3, mean: 3, against: 3 }))
    assert.equal(await page.locator(`.forest tbody .${mark}`).count(), count, mark);
  const hostile = await page.locator('.forest tbody tr').nth(1).innerText();
  assert.match(hostile, /# 3 of 11 days up to its cutoff.*\+2\.00 %.*30 %/s);
  await region(page, 'Left out')
    .getByText(/stale: <\/pre><img/)
    .waitFor();
  for (const words of [
    'Every return on this page is over the same 11 days from Wed 4 Jun 2025 to Mon 20 Oct 2025. 1 other day is left out.',
    'Each model ran once, so the intervals leave out how much it varies from run to run.',
    'The intervals hold however often you look. Sorted by',
  ])
    await page.getByText(words).waitFor();
  await page.getByText('Figures of each model, and its decisions on one day').click();
  await page.getByText('These figures cover other days than the returns above').waitFor();
});

test('the choice is in the address, works with Back, and stays when the service refuses it', async (t) => {
  const { page, open } = await visit(t, service.url, { provokes: [422] });
  const asked: string[] = [];
  await page.route('**/comparison*', (route) => {
    const { search } = new URL(route.request().url());
    asked.push(search);
    if (search.includes('confidence'))
      return route.fulfill({ status: 422, json: { detail: 'confidence: expected less' } });
    return route.fulfill({ json: comparison });
  });
  await open('/compare?against=model-b');
  await page.locator('.folded > summary').click();
  assert.equal(await page.getByLabel('Against').inputValue(), 'model-b');
  await page.locator('.choose').click();
  await page.getByRole('checkbox', { name: 'model-a', exact: true }).check();
  await button(page, 'Show these').click();
  await page.waitForURL('**/compare?models=model-a&against=model-b');
  await page.getByLabel('From', { exact: true }).fill(firstDate);
  await page.keyboard.press('Enter');
  const query = `?models=model-a&start_date=${firstDate}&against=model-b`;
  await page.waitForURL(`**/compare${query}`);
  await page.locator('.forest').waitFor();
  assert.equal(await page.evaluate('document.activeElement?.name'), 'start_date');
  assert.equal(await page.locator('.choose').innerText(), 'model-a');
  await page.getByLabel('Confidence').selectOption('0.99');
  await button(page, 'Show').click();
  await page.getByText('confidence: expected less').waitFor();
  assert.equal(await page.getByLabel('Confidence').inputValue(), '0.99');
  await page.goBack();
  await page.locator('.forest').waitFor();
  assert.equal(new URL(page.url()).search, query);
  const chosen = ['?models=model-a&against=model-b', query, `${query}&confidence=0.99`, query];
  assert.deepEqual(asked, [
    '?against=model-b&looks=daily',
    ...chosen.map((search) => `${search}&curves=true&looks=daily`),
  ]);
});

test('a table has all pairs, how they differ and whether by more than chance; five are shown at first; a curve opens its day', async (t) => {
  const { page, open } = await visit(t, service.url);
  const pairs = [
    comparedPair('model-a', 'model-b', 0.25, {
      shown: true,
      p_value_holm: 0.0004,
      sentence: HOSTILE,
      curve: dates.map((date, index) => ({ date, difference: index / 100 })),
    }),
  ];
  const models = comparison.models.filter(({ model }) => model.startsWith('model-'));
  const rows = page.locator('table:has(caption:text-is("Pairs")) tbody tr');
  const answer = (json: object) => page.route('**/comparison*', (route) => route.fulfill({ json }));
  await answer({ ...comparison, models, pairs });
  await open('/compare');
  assert.deepEqual(await rows.locator('> *').allInnerTexts(), [
    ...['model-a over model-b', HOSTILE, 'more than chance', '<0.001', '0.42'],
  ]);
  await page.locator('.drawing').first().focus();
  for (const key of ['Home', 'ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  await page.waitForURL(`**/compare?date=${firstDate}`);
  const many = Array.from({ length: 8 }, (_none, index) => comparedModel(`m${index}`, [0.01]));
  await answer(comparisonAnswer(many, 30));
  await open('/compare');
  assert.equal(await rows.count(), 5);
  await page.getByText('Show 23 more of 28').click();
  assert.equal(await rows.count(), 28);
  await page.getByText('Choose 2 to 4 models in the filters').waitFor();
});

test('curves mark a knowledge cutoff with a line, and say it in words', async (t) => {
  const { page, open } = await visit(t, service.url);
  const cutoffs = async (path: string) => {
    await open(path);
    await page.locator('.drawn').first().waitFor();
    return page.locator('.drawn').first().locator('.cutoff').count();
  };
  assert.deepEqual([await cutoffs('/'), await cutoffs('/models/model-a')], [0, 0]);
  assert.equal(await page.getByText('Knowledge cutoff: ').count(), 0);
  await page.route('**/performance*', async (route) => {
    if (route.request().url().includes('format=csv')) return route.continue();
    const body = await (await route.fetch()).json();
    for (const one of body.models) if (one.model === 'model-a') one.knowledge_cutoff = thirdDate;
    await route.fulfill({ json: body });
  });
  assert.deepEqual([await cutoffs('/'), await cutoffs('/models/model-a')], [1, 1]);
  const words = `Knowledge cutoff: ${longDate(thirdDate)} (model-a). A model may remember days on or before it.`;
  await page.getByText(words).waitFor();
});
