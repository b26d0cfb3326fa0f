import assert from 'node:assert/strict';
import { parseAgentConfiguration } from '../../src/core/settings/configuration.ts';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { longDate } from '../../src/features/pages/browser/format.ts';
import { scriptedAgent } from '../support/agents.ts';
import { button, loaded, region, test, visit } from '../support/browser.ts';
import { insertTestJob } from '../support/jobs.ts';
import {
  failFirst,
  fillAndStart,
  firstDate,
  lastDate,
  secondDate,
  startWithPages,
  twoStocks,
} from '../support/page-jobs.ts';

/**
 * Finished jobs of one model-day each, an hour apart, before any that the test starts; every fifth
 * has failed.
 */
function insertOldJobs(database: CommandDatabase, count: number): void {
  const agentConfig = parseAgentConfiguration('{}');
  const ended = database.statement(
    'UPDATE jobs SET status = ?, started_at = ?2, completed_at = ?2 WHERE job_id = ?3',
  );
  for (let index = 0; index < count; index += 1) {
    const createdAt = new Date(Date.UTC(2020, 0, 1, index)).toISOString();
    const jobId = `old-${String(index).padStart(3, '0')}`;
    const job = {
      jobId,
      createdAt,
      agentConfig,
      warnings: [],
      replaceExisting: false,
      startDate: firstDate,
      endDate: firstDate,
      dates: [firstDate],
      runs: [{ model: 'model-a', startDate: firstDate }],
    };
    database.transaction(() => insertTestJob(database, job));
    ended.run(index % 5 === 0 ? 'failed' : 'completed', createdAt, jobId);
  }
}

test('a hundred jobs are read page by page, with page and status in the address; a job shows its own results', async (t) => {
  const service = await startWithPages(t, {
    agent: scriptedAgent({ [`model-b ${lastDate}`]: [[['fail', 'No answer today']]] }),
  });
  insertOldJobs(service.database, 100);
  const { job_id: jobId } = await service.runJob({ start_date: firstDate, end_date: lastDate });
  const { page, open } = await visit(t, service.url);
  const rows = page.locator('table tbody tr');
  const until = (search: string) =>
    page.waitForURL(`**/job-list${search}`).then(() => loaded(page));
  await open('/job-list');
  const newest = new RegExp(`^${jobId.slice(0, 8)}\\s+Partly completed[^]*5 of 6 run, 1 failed`);
  assert.match(await rows.first().innerText(), newest);
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
  const states = await page.locator('table .state').allInnerTexts();
  assert.deepEqual(new Set(states), new Set(['Failed']));
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
  const board = region(page, 'Leaderboard');
  await board.getByText(/^Ranked over the 2 days/).waitFor();
  const ranking = board.getByRole('link', { name: 'On the overview' });
  assert.equal(await ranking.getAttribute('href'), `/?job_id=${jobId}`);
  const leftOut = await region(page, 'Left out').locator('tbody').innerText();
  const date = longDate(lastDate).replaceAll(' ', '.');
  assert.match(leftOut, new RegExp(`^failed\\s+.*No answer today.*\\s1\\s+${date}\\s+model-b$`));
  assert.match(await region(page, 'Terms').innerText(), /Initial cash\s+\$10,000\.00/);
});

test("the form shows the server's own words and sends the choices", async (t) => {
  const configuration = { ...twoStocks, universes: { small: ['AAPL'] } };
  const service = await startWithPages(t, { configuration });
  const reader = await visit(t, service.url, { provokes: [400, 422] });
  const { page } = reader;
  await reader.open('/');
  await fillAndStart(reader, firstDate, '');
  await page.getByText('end_date is required and cannot be null or empty').waitFor();
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

test('a job is cancelled only after confirmation', async (t) => {
  const service = await startWithPages(t, { agent: scriptedAgent({ '*': [[['wait', 60_000]]] }) });
  const reader = await visit(t, service.url);
  const { page } = reader;
  await reader.open('/');
  await fillAndStart(reader, firstDate, lastDate);
  await page.locator('.job-grid td.running').first().waitFor();
  await button(page, 'Cancel job').click();
  await button(page, 'Keep it running').click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.locator('.job .state').first().innerText(), 'Running');
  await button(page, 'Cancel job').click();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await button(page, 'Cancel job').click();
  await button(page, 'Cancel the job').click();
  await page.locator('.job .state', { hasText: 'Cancelled' }).waitFor();
  assert.equal(await page.locator('.job-grid td.running').count(), 0);
});

test('when figures change on the screen, the sorting, the hidden line and the focus stay as the reader chose', async (t) => {
  const service = await startWithPages(t);
  await service.runJob({ start_date: firstDate, end_date: secondDate });
  const reader = await visit(t, service.url);
  const { page } = reader;
  await reader.open('/');
  await page.locator('.legend', { hasText: 'model-a' }).click();
  await button(page, 'Drawdown').click();
  await page.getByText('Start a job').click();
  await fillAndStart(reader, lastDate, lastDate);
  await page.getByRole('link', { name: 'model-b', exact: true }).focus();
  const board = region(page, 'Leaderboard');
  await board.getByText(/^Ranked over the 3 days/).waitFor();
  assert.equal(await page.locator('th[aria-sort]').innerText(), 'Drawdown');
  assert.match(await page.locator('.legend[aria-pressed=false]').innerText(), /^model-a/);
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'model-b');
});

test('a running model-day is followed to its end, even without a new message, and though its results fail at first', async (t) => {
  const agent = scriptedAgent({ '*': [[['get_portfolio', {}]], [['wait', 60_000]]] });
  const service = await startWithPages(t, { agent });
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
});

test('a page notices that the server has stopped, and that it is back', async (t) => {
  const service = await startWithPages(t);
  const { page, open } = await visit(t, service.url);
  await open('/');
  await service.stop();
  await page.getByText('The server is not responding').waitFor();
  await startWithPages(t, {
    folder: service.folder,
    settings: { ...service.settings, apiPort: Number(new URL(service.url).port) },
  });
  await page.getByText('The server is not responding').waitFor({ state: 'hidden' });
});
