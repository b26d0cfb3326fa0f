import assert from 'node:assert/strict';
import { before, type TestContext } from 'node:test';
import { readSettings } from '../../src/core/settings/settings.ts';
import { publishSite } from '../../src/features/publish/publish.ts';
import { routes } from '../../src/routes.ts';
import { button, loaded, region, test, type Visit, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { serveFolder } from '../support/file-server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { lastWeekdays, wavyPrices } from '../support/market.ts';
import { EVERYTHING } from '../support/published.ts';
import { builtPages, startTestService, type TestService } from '../support/service.ts';

/** Pages of a service with studies, and of one without. */

const SYMBOLS = ['AAPL', 'MSFT', 'NVDA'];
const dates = lastWeekdays(20);
const [firstDate = '', lastDate = ''] = [dates[0], dates.at(-1)];
const models = [{ signature: 'gpt', enabled: true, repeats: 2 }];
const configuration = {
  models: [...models, { signature: 'opus', enabled: false }],
  agent_config: { stock_symbols: SYMBOLS },
  studies: { shown: { models: ['gpt', 'opus'] }, 'hidden open': { open: 'hidden' }, unused: {} },
};

let service: TestService;
let jobOfShown = '';
before(async (t) => {
  if (noBrowser) return;
  const prices = wavyPrices(SYMBOLS, dates);
  service = await startTestService(t as TestContext, { configuration, prices, pages: true });
  const period = { start_date: firstDate, end_date: lastDate };
  await service.runJob(period);
  ({ job_id: jobOfShown } = await service.runJob({ ...period, study: 'shown' }));
  await service.runJob({ ...period, study: 'hidden open' });
});

/** The study in the address of the page, which may be behind a `#`. */
function studyOf({ page }: Visit): string | null {
  const { hash, search } = new URL(page.url());
  return new URLSearchParams(search || hash.replace(/^[^?]*/, '')).get('study');
}

/** The models of the leaderboard. */
async function ranked({ page }: Visit): Promise<string[]> {
  const names = await region(page, 'Leaderboard').locator('th a').allInnerTexts();
  return names.filter(Boolean).sort(); // without the runs, which are folded
}

test('pages open the newest study, keep it from link to link, and show another when the reader chooses it', async (t) => {
  const reader = await visit(t, service.url);
  const { page, open } = reader;
  await open('/');
  assert.equal(studyOf(reader), 'hidden open');
  assert.deepEqual(await ranked(reader), ['gpt@hidden open']);
  const colour = () => page.locator('th svg.swatch').first().getAttribute('class');
  const first = await colour();

  await page.locator('.folded summary').click();
  await page
    .locator('form.filters select[name=study] option[value=shown]')
    .waitFor({ state: 'attached' });
  await page.locator('form.filters select[name=study]').selectOption('shown');
  await button(page, 'Show').click();
  await page.waitForURL(/study=shown/);
  await loaded(page);
  assert.deepEqual(await ranked(reader), ['gpt@shown', 'opus@shown']);
  for (const name of ['Compare', 'Decisions', 'Jobs', 'Data', 'Overview']) {
    await page.getByRole('navigation', { name: 'Pages' }).getByText(name).click();
    await loaded(page);
    assert.equal(studyOf(reader), 'shown', name);
  }
  await open('/?study=');
  assert.deepEqual(await ranked(reader), ['gpt']);
  assert.equal(await colour(), first, 'the first of each study');
  await open('/job-list?study=shown');
  assert.deepEqual(await page.locator('table a').allInnerTexts(), [jobOfShown.slice(0, 8)]);
  await open(`/decision-feed?study=hidden+open`);
  const deciders = await page.locator('.feed .did a').allInnerTexts();
  assert.ok(deciders.length > 0 && deciders.every((name) => name.includes('@hidden open')));
});

test('the page of a job or of a model is in the study of that, whatever the address said', async (t) => {
  const reader = await visit(t, service.url);
  const { page, open } = reader;
  await open(`/jobs/${jobOfShown}?study=hidden+open`);
  assert.equal(studyOf(reader), 'shown');
  assert.match(await region(page, 'Terms').innerText(), /^Study\s+shown$/m);
  assert.match(await page.locator('.answer').innerText(), /gpt@shown/);
  for (const [path, study] of [
    ['/models/gpt@shown?run=2', 'shown'],
    ['/models/gpt@shown%232', 'shown'],
    ['/models/gpt?study=shown', ''],
    [`/model-days/gpt@shown%232/${lastDate}`, 'shown'],
  ] as const) {
    await open(path);
    assert.equal(studyOf(reader), study, path);
    assert.ok((await page.locator('.figures').count()) > 0, path);
  }
  await page.getByRole('link', { name: 'Compare' }).click();
  await loaded(page);
  assert.equal(studyOf(reader), 'shown', 'the links of the frame have it too');
});

test('models of two studies are chosen and compared without an edit of the address', async (t) => {
  const reader = await visit(t, service.url);
  const { page, open } = reader;
  await open('/compare?study=hidden+open');
  await page.locator('.folded summary').click();
  await page.locator('button.choose').click();
  for (const name of ['gpt@hidden open', 'gpt@'])
    await page.getByRole('checkbox', { name, exact: true }).check();
  await page
    .getByLabel('Against')
    .locator('option[value="gpt@shown"]')
    .waitFor({ state: 'attached' });
  await button(page, 'Show these').click();
  const way = page.getByRole('link', {
    name: 'Compare them although their studies differ in open',
  });
  await way.click();
  await page.waitForURL(/differ=open/);
  await loaded(page);
  const sentence =
    /^With the open (hidden|shown) gpt made .* with the open (hidden|shown) over 20 days/;
  assert.match(await page.locator('.answer').innerText(), sentence);
  assert.equal(await way.count(), 0);
});

test('the form of the overview starts a job in the study that it names', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/?study=shown');
  await page.locator('details.start summary').click();
  const form = page.locator('form.trigger');
  assert.equal(await form.locator('select[name=study]').inputValue(), 'shown');
  assert.deepEqual(
    await form
      .locator('input[name=models]')
      .evaluateAll((all) => all.map((box) => (box as HTMLInputElement).value)),
    ['gpt', 'opus'],
  );
  await form.getByText('not enabled').waitFor({ state: 'detached' });
  await form.locator('select[name=study]').selectOption('unused');
  await form.getByText('not enabled').waitFor();
  await form.getByText('gpt', { exact: true }).click();
  await form.locator('[name=end_date]').fill(lastDate);
  let asked: unknown;
  await page.route('**/simulate/trigger', (route) => {
    asked = route.request().postDataJSON();
    return route.fulfill({ json: { message: 'Created' } });
  });
  await button(page, 'Start job').click();
  await form.getByText('Created').waitFor();
  const { study, models: chosen } = asked as Record<string, unknown>;
  assert.deepEqual({ study, chosen }, { study: 'unused', chosen: ['gpt'] });
});

test('where neither file nor database knows a study, no page, request or form names one', async (t) => {
  const plain = await startTestService(t, { configuration: { models }, pages: true });
  const { page, open } = await visit(t, plain.url);
  const urls: string[] = [];
  page.on('request', (request) => void urls.push(request.url()));
  for (const path of ['/', '/compare', '/job-list', '/decision-feed', '/data']) {
    await open(path);
    urls.push(page.url());
    await page.evaluate(
      "document.querySelectorAll('.folded').forEach((fold) => (fold.open = true))",
    );
    await page.waitForLoadState('networkidle');
    const words = page.getByText(/stud(y|ies)/i).filter({ visible: true });
    assert.equal(await words.count(), 0, path);
  }
  assert.deepEqual(
    urls.filter((url) => url.includes('study')),
    [],
  );
});

test('a published folder has all studies to choose from, or the one that was named', async (t) => {
  const folder = temporaryFolder();
  const { databasePath: path } = service.settings;
  const from = { path, settings: readSettings({}), pages: await builtPages(), routes };
  const watched = { signal: new AbortController().signal, onProgress: () => {} };
  const publish = async (name: string, own: object) => {
    await publishSite({ ...from, folder: `${folder}/${name}` }, { ...EVERYTHING, ...own }, watched);
    return visit(t, await serveFolder(t, `${folder}/${name}`));
  };
  const all = await publish('all', {});
  const { page } = all;
  await all.open('#/');
  assert.equal(studyOf(all), 'hidden open');
  assert.deepEqual(await ranked(all), ['gpt@hidden open']);
  assert.equal(await page.locator('ul.jobs li').count(), 3);
  await page.locator('.folded summary').click();
  const choice = page.locator('form.filters select');
  await choice.locator('option[value=shown]').waitFor({ state: 'attached' });
  assert.equal(await choice.count(), 1);
  for (const [study, names] of [
    ['shown', ['gpt@shown', 'opus@shown']],
    ['', ['gpt']],
  ] as const) {
    await choice.locator(`option[value="${study}"]`).waitFor({ state: 'attached' });
    await choice.selectOption(study);
    await button(page, 'Show').click();
    await loaded(page);
    assert.equal(studyOf(all), study);
    assert.deepEqual(await ranked(all), names);
  }
  for (const path of [
    'compare',
    'job-list',
    'decision-feed',
    'models/gpt@shown',
    `jobs/${jobOfShown}`,
    `model-days/gpt@shown%232/${lastDate}`,
  ]) {
    await page.goto('about:blank');
    await all.open(`#/${path}`);
    assert.deepEqual(await page.locator('main .notice.bad').allInnerTexts(), [], path);
    assert.equal(studyOf(all), path.includes('/') ? 'shown' : 'hidden open', path);
  }
  await page.close();

  const one = await publish('one', { study: 'shown', models: ['gpt'] });
  await one.open('#/');
  assert.equal(studyOf(one), 'shown');
  assert.deepEqual(await ranked(one), ['gpt@shown']);
  await one.page.close();
  const plain = await publish('plain', { study: '' });
  await plain.open('#/');
  assert.equal(studyOf(plain), null);
  assert.deepEqual(await ranked(plain), ['gpt']);
  await assert.rejects(publish('none', { study: 'shwn' }), /no study 'shwn'; .*hidden open, shown/);
  await assert.rejects(
    publish('none', { models: ['gpt@shown#2'] }),
    /gpt@shown#2 is a run of gpt@shown; name that/,
  );
});
