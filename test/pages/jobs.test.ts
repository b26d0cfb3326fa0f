import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { parseAgentConfiguration } from '../../src/basics/configuration.ts';
import { longDate } from '../../src/browser/format.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { layoutShift, loaded, type Visit, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { insertTestJob } from '../support/jobs.ts';
import { leftToLongForm } from '../support/long.ts';
import { lastWeekdays, wavyPrices } from '../support/market.ts';
import { PROD } from '../support/prod.ts';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
  twoModels,
} from '../support/service.ts';

const SYMBOLS = ['AAPL', 'MSFT'];
const dates = lastWeekdays(3);
const [firstDate, lastDate] = [dates[0] as string, dates.at(-1) as string];
const inBrowser = { skip: noBrowser };
const inLongForm = { skip: noBrowser || leftToLongForm };

function start(t: TestContext, options: TestServiceOptions = {}) {
  const configuration = { ...twoModels, agent_config: { stock_symbols: SYMBOLS } };
  return startTestService(t, {
    configuration,
    prices: wavyPrices(SYMBOLS, dates),
    pages: true,
    ...options,
  });
}

async function fillAndStart({ page }: Visit, from: string, to: string): Promise<void> {
  await page.getByLabel('First date').fill(from);
  await page.getByLabel('Last date').fill(to);
  await page.getByRole('button', { name: 'Start job' }).click();
}

test(
  'an empty database shows a newcomer what to do; the form starts a job, and the page follows it to its end, though first requests fail',
  inBrowser,
  async (t) => {
    const service = await start(t, { agent: scriptedAgent({}) });
    const reader = await visit(t, service.url, { provokes: [503] });
    const { page } = reader;
    await reader.open('/');
    await page.getByText('No results yet').waitFor();
    await failFirst(page, '**/simulate/status/*');
    await failFirst(
      page,
      '**/performance?*',
      () =>
        service.database.statement('SELECT 1 FROM jobs WHERE completed_at IS NOT NULL').get() ===
        undefined,
    );
    await fillAndStart(reader, firstDate, lastDate);
    await page.getByText('Simulation job created for 3 dates, 2 models').waitFor();
    await page.locator('.job .state', { hasText: 'Completed' }).waitFor();
    assert.equal(await page.locator('.job-grid td.completed').count(), 6);
    await page.getByRole('region', { name: 'Leaderboard', exact: true }).waitFor();
    assert.equal(await page.locator('.legend', { hasText: 'model-' }).count(), 2);
    assert.equal(await page.locator('.job progress').isVisible(), false);
  },
);

test('a name that was only misspelt is not offered afterwards', inBrowser, async (t) => {
  const service = await start(t, { agent: scriptedAgent({}), settings: PROD });
  await service.runJob({ start_date: firstDate, end_date: firstDate, models: ['modl-a'] });
  const reader = await visit(t, service.url);
  const { page } = reader;
  await reader.open('/');
  const choices = page.locator('div.choices input');
  await choices.first().waitFor({ state: 'attached' });
  assert.deepEqual(
    await choices.evaluateAll((boxes) => boxes.map((box) => box.getAttribute('value'))),
    ['model-a', 'model-b', 'model-off'],
  );
  await reader.open('/decision-feed');
  const offered = page.locator('.choosing label', { hasText: /^mod/ });
  assert.deepEqual(await offered.allTextContents(), []);
});

/**
 * The first response to such a request is a failure; and so are all before it, as long as
 * `isEarly`.
 */
async function failFirst(page: Visit['page'], path: string, isEarly = () => false): Promise<void> {
  let isOver = false;
  await page.route(path, async (route) => {
    if (isOver) return route.continue();
    isOver = !isEarly();
    await route.fulfill({ status: 503, json: { detail: 'Not now' } });
  });
}

/**
 * Finished jobs of one model-day each, an hour apart, before any that the test starts; every fifth
 * has failed.
 */
function insertOldJobs(database: TestService['database'], count: number): void {
  for (let index = 0; index < count; index += 1) {
    const at = new Date(Date.UTC(2020, 0, 1, index)).toISOString();
    const range = {
      startDate: firstDate,
      endDate: firstDate,
      dates: [firstDate],
      runs: [{ model: 'model-a', startDate: firstDate }],
    };
    const agentConfig = parseAgentConfiguration('{}');
    const jobId = `old-${String(index).padStart(3, '0')}`;
    database.transaction(() =>
      insertTestJob(database, {
        ...range,
        jobId,
        replaceExisting: false,
        agentConfig,
        createdAt: at,
        warnings: [],
      }),
    );
    const status = index % 5 === 0 ? 'failed' : 'completed';
    database
      .statement('UPDATE jobs SET status = ?, started_at = ?2, completed_at = ?2 WHERE job_id = ?3')
      .run(status, at, jobId);
  }
}

test(
  'a hundred jobs are read page by page, with page and status in the address; a job shows its own results',
  inLongForm,
  async (t) => {
    const service = await start(t, {
      agent: scriptedAgent({ [`model-b ${lastDate}`]: [[['fail', 'No answer today']]] }),
    });
    insertOldJobs(service.database, 100);
    const { job_id: jobId } = await service.runJob({ start_date: firstDate, end_date: lastDate });
    const { page, open } = await visit(t, service.url);
    const rows = page.locator('table tbody tr');
    const until = (search: string) =>
      page.waitForURL(`**/job-list${search}`).then(() => loaded(page));
    await open('/job-list');
    assert.match(
      await rows.first().innerText(),
      new RegExp(`^${jobId.slice(0, 8)}\\s+Partly completed[^]*5 of 6 run, 1 failed`),
    );
    assert.equal(await rows.count(), 25);
    const seen = new Set(await rows.allInnerTexts());
    for (let before = 76; before > 0; before -= 25) {
      await page.getByRole('link', { name: 'Older jobs' }).click();
      await until(`?before=old-${String(before).padStart(3, '0')}`);
      for (const text of await rows.allInnerTexts()) seen.add(text);
    }
    assert.equal(await rows.count(), 1, 'the oldest of 101 is on the fifth page');
    assert.equal(seen.size, 101);
    assert.equal(await page.getByRole('link', { name: 'Older jobs' }).count(), 0);
    await page.goBack();
    await until('?before=old-026');
    await page.getByRole('link', { name: 'Failed', exact: true }).click();
    await until('?status=failed');
    assert.equal(await rows.count(), 20);
    assert.deepEqual(
      new Set(await page.locator('table .state').allInnerTexts()),
      new Set(['Failed']),
    );
    await page.goBack();
    await until('?before=old-026');
    await page.reload();
    await loaded(page);
    assert.match(await rows.first().innerText(), /^old-025/);
    await page.getByRole('link', { name: 'Newest jobs' }).click();
    await until('');
    await rows.first().getByRole('link').click();
    await page.waitForURL(`**/jobs/${jobId}`);
    await page.locator('.curves').waitFor();
    const board = page.getByRole('region', { name: 'Leaderboard', exact: true });
    await board.getByText(/^Ranked over the 2 days/).waitFor();
    const ranking = board.getByRole('link', { name: 'On the overview' });
    assert.equal(await ranking.getAttribute('href'), `/?job_id=${jobId}`);
    const leftOut = page.getByRole('region', { name: 'Left out', exact: true });
    assert.match(
      await leftOut.locator('tbody').innerText(),
      new RegExp(
        `^failed\\s+.*No answer today.*\\s1\\s+${longDate(lastDate).replaceAll(' ', '.')}\\s+model-b$`,
      ),
    );
    assert.match(
      await page.getByRole('region', { name: 'Terms', exact: true }).innerText(),
      /Initial cash\s+\$10,000\.00/,
    );
  },
);

test("the form shows the server's own words and sends the choices", inLongForm, async (t) => {
  const configuration = {
    ...twoModels,
    agent_config: { stock_symbols: SYMBOLS },
    universes: { small: ['AAPL'] },
  };
  const service = await start(t, { configuration });
  const reader = await visit(t, service.url, { provokes: [400, 422] });
  const { page } = reader;
  await reader.open('/');
  await fillAndStart(reader, firstDate, '');
  await page.getByText('end_date: end_date is required and cannot be null or empty').waitFor();
  await fillAndStart(reader, lastDate, firstDate);
  await page.getByText(/Invalid date range/i).waitFor();
  await page.getByLabel('Other models').fill('model-b, someone');
  await page.getByLabel('Replace existing results').check();
  await page.getByLabel('Universe').selectOption('small');
  await fillAndStart(reader, lastDate, lastDate);
  await page.getByText('created for 1 dates, 2 models').waitFor();
  const job = service.database
    .statement(
      'SELECT replace_existing AS replaces, universe, models.names FROM jobs, (SELECT group_concat(model) AS names FROM simulation_runs) AS models',
    )
    .get();
  assert.deepEqual({ ...job }, { replaces: 1, universe: 'small', names: 'model-b,someone' });
});

test('a job is cancelled only after confirmation', inLongForm, async (t) => {
  const service = await start(t, { agent: scriptedAgent({ '*': [[['wait', 60_000]]] }) });
  const reader = await visit(t, service.url);
  const { page } = reader;
  await reader.open('/');
  await fillAndStart(reader, firstDate, lastDate);
  await page.locator('.job-grid td.running').first().waitFor();
  await page.getByRole('button', { name: 'Cancel job' }).click();
  await page.getByRole('button', { name: 'Keep it running' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.locator('.job .state').first().innerText(), 'Running');
  await page.getByRole('button', { name: 'Cancel job' }).click();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cancel job' }).click();
  await page.getByRole('button', { name: 'Cancel the job' }).click();
  await page.locator('.job .state', { hasText: 'Cancelled' }).waitFor();
  assert.equal(await page.locator('.job-grid td.running').count(), 0);
});

test(
  'when figures change on the screen, the sorting, the hidden line and the focus stay as the reader chose',
  inLongForm,
  async (t) => {
    const service = await start(t);
    await service.runJob({ start_date: firstDate, end_date: dates[1] });
    const reader = await visit(t, service.url);
    const { page } = reader;
    await reader.open('/');
    await page.locator('.legend', { hasText: 'model-a' }).click();
    await page.getByRole('button', { name: 'Drawdown', exact: true }).click();
    await page.getByText('Start a job').click();
    await fillAndStart(reader, lastDate, lastDate);
    await page.getByRole('link', { name: 'model-b', exact: true }).focus();
    const board = page.getByRole('region', { name: 'Leaderboard', exact: true });
    await board.getByText(/^Ranked over the 3 days/).waitFor();
    assert.equal(await page.locator('th[aria-sort]').innerText(), 'Drawdown');
    assert.match(await page.locator('.legend[aria-pressed=false]').innerText(), /^model-a/);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'model-b');
  },
);

test(
  "a job's page follows it in place: curves and board appear while it runs, and what it left out at its end",
  inBrowser,
  async (t) => {
    const agent = scriptedAgent({ [`model-a ${dates[1]}`]: [[['wait', 60_000]]] });
    const service = await start(t, { agent });
    const { body } = await service.post('/simulate/trigger', {
      start_date: firstDate,
      end_date: lastDate,
    });
    const { page, open } = await visit(t, service.url);
    await open(`/jobs/${body.job_id}`);
    const board = page.getByRole('region', { name: 'Leaderboard', exact: true });
    await board.waitFor();
    assert.equal(await page.locator('.job .state').first().innerText(), 'Running');
    const leftOut = page.getByRole('region', { name: 'Left out', exact: true });
    assert.match(await leftOut.innerText(), /Nothing so far/);
    await service.post(`/simulate/cancel/${body.job_id}`, {});
    await leftOut.getByText('Cancelled').waitFor();
    await board.getByText(/^Ranked over the 1 day /).waitFor();
  },
);

test(
  'a running model-day is followed to its end, even without a new message, and though its results fail at first',
  inLongForm,
  async (t) => {
    const agent = scriptedAgent({ '*': [[['get_portfolio', {}]], [['wait', 60_000]]] });
    const service = await start(t, { agent });
    const { page, open } = await visit(t, service.url, { provokes: [503] });
    const { body } = await service.post('/simulate/trigger', {
      end_date: lastDate,
      models: ['model-a'],
    });
    await open(`/jobs/${body.job_id}`);
    await page.locator('.job-grid td.running').click();
    await page.getByText('This session is running.').waitFor();
    await page.locator('.thread .call').waitFor();
    await failFirst(page, '**/results?*');
    await service.post(`/simulate/cancel/${body.job_id}`, {});
    await page.getByText('This session failed: it has no results.').waitFor();
    await page.getByText('Cancelled', { exact: true }).waitFor();
  },
);

test('a page notices that the server has stopped, and that it is back', inLongForm, async (t) => {
  const service = await start(t);
  const { page, open } = await visit(t, service.url);
  await open('/');
  await service.stop();
  await page.getByText('The server is not responding').waitFor();
  await start(t, {
    folder: service.folder,
    settings: { ...service.settings, apiPort: Number(new URL(service.url).port) },
  });
  await page.getByText('The server is not responding').waitFor({ state: 'hidden' });
});

const WRONG_KEY = 'The model responded with status 401: Incorrect API key';

test(
  'the failure of a job comes first, with its cause, until a later one ends well; its models have a page of their failures',
  inBrowser,
  async (t) => {
    const failing = { 'model-a': WRONG_KEY, 'model-b': WRONG_KEY };
    const script: Script = Object.fromEntries(
      Object.entries(failing).flatMap(([model, words]) =>
        dates.map((date) => [`${model} ${date}`, [[['fail', words]]]]),
      ),
    );
    const service = await start(t, { agent: scriptedAgent(script) });
    const { job_id: jobId } = await service.runJob({ start_date: firstDate, end_date: lastDate });
    const reader = await visit(t, service.url);
    const { page, open } = reader;
    const words = `6 of 6 model-days failed: ${WRONG_KEY}`;
    await open('/');
    const notice = page.locator('.trouble');
    assert.equal(await notice.innerText(), `Job ${jobId.slice(0, 8)}: ${words}`);
    assert.ok((await layoutShift(reader)) < 0.01);
    assert.equal(await page.getByText('No results yet').count(), 0);
    await notice.getByRole('link').click();
    await page.waitForURL(`**/jobs/${jobId}`);
    await loaded(page);
    assert.match(await page.locator('.job').innerText(), /0 of 6 run, 6 failed/);
    assert.doesNotMatch(await page.locator('main').innerText(), /100 %|at least \$/);
    const rows = page.getByRole('region', { name: 'Left out', exact: true }).locator('tbody tr');
    assert.deepEqual(
      [await rows.count(), await rows.first().locator('td.number').innerText()],
      [1, '6'],
    );
    await page.setViewportSize({ width: 390, height: 800 });
    await open('/job-list');
    assert.ok((await notice.innerText()).endsWith(words));
    const card = '.job-list tbody tr';
    assert.match(await page.locator(card).innerText(), /0 of 6 run, 6 failed/);
    assert.ok(
      await page.evaluate(`document.querySelector('${card}').scrollWidth <= innerWidth`),
      'a job is a card on a phone',
    );
    await open('/models/model-a');
    await page.getByRole('link', { name: 'Its failed model-days, each with its cause' }).click();
    await page.waitForURL('**/decision-feed?models=model-a&kind=failure');
    await loaded(page);
    assert.equal(await page.getByText(WRONG_KEY).count(), 3);
    const { job_id: ended } = await service.runJob({ end_date: lastDate, models: ['model-c'] });
    await open('/');
    assert.equal(await notice.count(), 0);
    await open(`/jobs/${ended}`);
    const discard = page.getByRole('button', { name: 'Discard job' });
    await discard.click();
    await page.getByText('Nothing is erased, but this cannot be undone.').waitFor();
    await page.getByRole('button', { name: 'Keep it' }).click();
    assert.equal((await service.get(`/simulate/status/${ended}`)).body.status, 'completed');
    await discard.click();
    await page.getByRole('button', { name: 'Discard the job' }).click();
    await page.getByText('This job was discarded: its model-days no longer count.').waitFor();
    assert.equal(await page.locator('.job .state').first().innerText(), 'Discarded');
    assert.equal(await discard.isVisible(), false);
    await open('/');
    assert.ok((await notice.innerText()).endsWith(words), 'a discarded job has not ended well');
  },
);

/** Such requests fail, until the function that it returns is called. */
async function failUntilTold(page: Visit['page'], path: string): Promise<() => Promise<void>> {
  await page.route(path, (route) => route.fulfill({ status: 503, json: { detail: 'Not now' } }));
  return async () => {
    await page.unroute(path);
    await tryNow(page);
  };
}

/** Ends the wait before a page tries again. */
function tryNow(page: Visit['page']): Promise<void> {
  return page.evaluate('document.dispatchEvent(new Event("pollsoon"))');
}

test(
  'a page whose first request fails says so, and tries again by itself until it is complete',
  inBrowser,
  async (t) => {
    const service = await start(t);
    const { job_id: jobId } = await service.runJob({ end_date: lastDate, models: ['model-a'] });
    const { page, open } = await visit(t, service.url, { provokes: [503] });
    const rows: [path: string, request: string, complete: string][] = [
      ['/', '**/jobs?limit=8', '.jobs li'],
      ['/', '**/performance?*', '.curves'],
      ['/job-list', '**/jobs?*', '.job-list tbody tr'],
      [`/jobs/${jobId}`, '**/simulate/status/*', '.job .state.completed'],
      [`/jobs/${jobId}`, '**/performance?*', '.curves'],
      ['/models/model-a', '**/models', 'main h2'],
      ['/decision-feed', '**/decisions?*', 'main :is(li, tbody tr)'],
      ['/compare', '**/comparison*', 'main .stack > :is(p, section)'],
    ];
    for (const [path, request, complete] of rows) {
      const respond = await failUntilTold(page, request);
      await open(path);
      await page.getByText('Not now').first().waitFor();
      await respond();
      await page.locator(complete).first().waitFor();
      await page.getByText('Not now').first().waitFor({ state: 'hidden' });
    }
  },
);

test(
  'a panel whose status cannot be requested says so, and so does a page that no longer follows its job',
  inBrowser,
  async (t) => {
    const service = await start(t, { agent: scriptedAgent({ '*': [[['wait', 60_000]]] }) });
    const reader = await visit(t, service.url, { provokes: [503] });
    const { page, open } = reader;
    await open('/');
    const respond = await failUntilTold(page, '**/simulate/status/*');
    await fillAndStart(reader, lastDate, lastDate);
    await page.locator('.job .notice', { hasText: 'Not now' }).waitFor();
    const lost = page.locator('.lost', { hasText: 'Not now This page may be out of date' });
    await lost.waitFor();
    await respond();
    await page.locator('.job .state', { hasText: 'Running' }).waitFor();
    assert.equal(await page.locator('.job .notice').count(), 0);
    await lost.waitFor({ state: 'hidden' });
    await failUntilTold(page, '**/simulate/status/*');
    await tryNow(page);
    await lost.waitFor();
    await page.getByRole('link', { name: 'API', exact: true }).click();
    await loaded(page);
    assert.equal(await lost.isVisible(), false, 'another page has nothing to do with it');
    const [{ job_id: jobId }] = (await service.get('/jobs')).body.jobs;
    await service.post(`/simulate/cancel/${jobId}`, {});
    await service.waitForJob(jobId);
  },
);
