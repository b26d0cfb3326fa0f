import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { scriptedAgent } from '../support/agents.ts';
import { button, layoutShift, loaded, region, test, visit } from '../support/browser.ts';
import {
  fillAndStart,
  firstDate,
  lastDate,
  secondDate,
  startWithPages,
} from '../support/page-jobs.ts';
import { PROD } from '../support/prod.ts';

test("a job's page follows it in place: curves and board appear while it runs, and what it left out at its end", async (t) => {
  const agent = scriptedAgent({ [`model-a ${secondDate}`]: [[['wait', 60_000]]] });
  const service = await startWithPages(t, { agent });
  const range = { start_date: firstDate, end_date: lastDate };
  const { body } = await service.post('/simulate/trigger', range);
  const { page, open } = await visit(t, service.url);
  await open(`/jobs/${body.job_id}`);
  const board = region(page, 'Leaderboard');
  await board.waitFor();
  assert.equal(await page.locator('.job .state').first().innerText(), 'Running');
  const leftOut = region(page, 'Left out');
  assert.match(await leftOut.innerText(), /Nothing so far/);
  await service.post(`/simulate/cancel/${body.job_id}`, {});
  await leftOut.getByText('Cancelled').waitFor();
  await board.getByText(/^Ranked over the 1 day /).waitFor();
  await page.waitForLoadState('networkidle'); // no request is left when the service stops
});

const WRONG_KEY = 'The model responded with status 401: Incorrect API key';

test('the failure of a job comes first, with its cause, until a later one ends well; its models have a page of their failures', async (t) => {
  const service = await startWithPages(t, {
    agent: scriptedAgent({ '*': [[['fail', WRONG_KEY]]], [`model-c ${lastDate}`]: [] }),
  });
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
  const numbers = region(page, 'Left out').locator('tbody tr td.number');
  assert.deepEqual(await numbers.allInnerTexts(), ['6'], 'one row for one cause');
  await page.setViewportSize({ width: 390, height: 800 });
  await open('/job-list');
  assert.ok((await notice.innerText()).endsWith(words));
  const card = '.job-list tbody tr';
  assert.match(await page.locator(card).innerText(), /0 of 6 run, 6 failed/);
  const isCard = `document.querySelector('${card}').scrollWidth <= innerWidth`;
  assert.ok(await page.evaluate(isCard), 'a job is a card on a phone');
  await open('/models/model-a');
  await page.getByRole('link', { name: 'Its failed model-days, each with its cause' }).click();
  await page.waitForURL('**/decision-feed?models=model-a&kind=failure');
  await loaded(page);
  assert.equal(await page.getByText(WRONG_KEY).count(), 3);
  const { job_id: ended } = await service.runJob({ end_date: lastDate, models: ['model-c'] });
  await open('/');
  assert.equal(await notice.count(), 0);
  await open(`/jobs/${ended}`);
  const discard = button(page, 'Discard job');
  await discard.click();
  await page.getByText('The data is kept, but you cannot undo this.').waitFor();
  await button(page, 'Keep it').click();
  assert.equal((await service.get(`/simulate/status/${ended}`)).body.status, 'completed');
  await discard.click();
  await button(page, 'Discard the job').click();
  await page.getByText('This job was discarded').waitFor();
  assert.equal(await page.locator('.job .state').first().innerText(), 'Discarded');
  assert.equal(await discard.isVisible(), false);
  await open('/');
  assert.ok((await notice.innerText()).endsWith(words), 'a discarded job has not ended well');
});

/** Such requests fail, until the function that it returns is called. */
async function failUntilTold(page: Page, path: string): Promise<() => Promise<void>> {
  await page.route(path, (route) => route.fulfill({ status: 503, json: { detail: 'Not now' } }));
  return async () => {
    await page.unroute(path);
    await tryNow(page);
  };
}

/** Ends the wait before a page tries again. */
function tryNow(page: Page): Promise<void> {
  return page.evaluate('document.dispatchEvent(new Event("pollsoon"))');
}

test('a name that was only misspelt is not offered afterwards', async (t) => {
  const service = await startWithPages(t, { agent: scriptedAgent({}), settings: PROD });
  await service.runJob({ start_date: firstDate, end_date: firstDate, models: ['modl-a'] });
  const { page, open } = await visit(t, service.url);
  await open('/');
  const choices = page.locator('div.choices input');
  await choices.first().waitFor({ state: 'attached' });
  const names = await choices.evaluateAll((boxes) => boxes.map((box) => box.getAttribute('value')));
  assert.deepEqual(names, ['model-a', 'model-b', 'model-off']);
  await open('/decision-feed');
  const offered = page.locator('.choosing label', { hasText: /^mod/ });
  assert.doesNotMatch((await offered.allTextContents()).join(), /modl-a/);
});

test('a page whose first request fails says so, and tries again by itself until it is complete', async (t) => {
  const service = await startWithPages(t, { agent: scriptedAgent({}) });
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
});

test('a panel whose status cannot be requested says so, and so does a page that no longer follows its job', async (t) => {
  const service = await startWithPages(t, { agent: scriptedAgent({ '*': [[['wait', 60_000]]] }) });
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
});
