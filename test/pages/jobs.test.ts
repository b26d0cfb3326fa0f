import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { scriptedAgent } from '../support/agents.ts';
import { type Visit, visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { leftToLongForm } from '../support/long.ts';
import { lastWeekdays, wavyPrices } from '../support/market.ts';
import { type TestServiceOptions, startTestService, twoModels } from '../support/service.ts';

const SYMBOLS = ['AAPL', 'MSFT'];
const dates = lastWeekdays(3);
const [firstDate, lastDate] = [dates[0] as string, dates.at(-1) as string];
const inBrowser = { skip: noBrowser };
const inLongForm = { skip: noBrowser || leftToLongForm };

function start(t: TestContext, options: TestServiceOptions = {}) {
  const configuration = { ...twoModels, agent_config: { stock_symbols: SYMBOLS } };
  return startTestService(t, { configuration, prices: wavyPrices(SYMBOLS, dates), pages: true, ...options });
}

async function fillAndStart({ page }: Visit, from: string, to: string): Promise<void> {
  await page.getByLabel('First date').fill(from);
  await page.getByLabel('Last date').fill(to);
  await page.getByRole('button', { name: 'Start job' }).click();
}

test(
  'an empty database shows a newcomer what to do; the form starts a job, and the page follows it to its end',
  inBrowser,
  async (t) => {
    const service = await start(t);
    const reader = await visit(t, service.url);
    const { page } = reader;
    await reader.open('/');
    await page.getByText('No results yet').waitFor();
    await fillAndStart(reader, firstDate, lastDate);
    await page.getByText('Simulation job created for 3 dates, 2 models').waitFor();
    await page.locator('.job .state', { hasText: 'Completed' }).waitFor();
    assert.equal(await page.locator('.job-grid td.completed').count(), 6);
    await page.getByRole('region', { name: 'Leaderboard', exact: true }).waitFor();
    assert.equal(await page.locator('.legend', { hasText: 'model-' }).count(), 2);
    assert.equal(await page.locator('.job progress').isVisible(), false);
  },
);

test("the form shows the server's own words and sends the choices", inLongForm, async (t) => {
  const configuration = { ...twoModels, agent_config: { stock_symbols: SYMBOLS }, universes: { small: ['AAPL'] } };
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
  const service = await start(t, { agentProgram: scriptedAgent({ '*': [[['wait', 60_000]]] }) });
  const reader = await visit(t, service.url);
  const { page } = reader;
  await reader.open('/');
  await fillAndStart(reader, firstDate, lastDate);
  await page.locator('.job-grid td.running').first().waitFor();
  await page.getByRole('button', { name: 'Cancel job' }).click();
  await page.getByRole('button', { name: 'Let it run' }).click();
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
    await page.getByRole('button', { name: 'model-a', exact: true }).click();
    await page.getByRole('button', { name: 'Drawdown', exact: true }).click();
    await fillAndStart(reader, lastDate, lastDate);
    await page.getByRole('link', { name: 'model-b', exact: true }).focus();
    const board = page.getByRole('region', { name: 'Leaderboard', exact: true });
    const days = board.locator('tbody tr td:nth-last-child(2)');
    await days.filter({ hasText: /^3$/ }).first().waitFor();
    assert.deepEqual(await days.allInnerTexts(), ['3', '3']);
    assert.equal(await page.locator('th[aria-sort]').innerText(), 'Drawdown');
    assert.equal(await page.locator('.legend[aria-pressed=false]').innerText(), 'model-a');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'model-b');
  },
);

test('a running model-day is followed to its end, even without a new message', inLongForm, async (t) => {
  const agentProgram = scriptedAgent({ '*': [[['get_portfolio', {}]], [['wait', 60_000]]] });
  const service = await start(t, { agentProgram });
  const { page, open } = await visit(t, service.url);
  const { body } = await service.post('/simulate/trigger', { end_date: lastDate, models: ['model-a'] });
  await open(`/jobs/${body.job_id}`);
  await page.locator('.job-grid td.running').click();
  await page.getByText('This session is running.').waitFor();
  await page.locator('.thread .call').waitFor();
  await service.post(`/simulate/cancel/${body.job_id}`, {});
  await page.getByText('This session failed: it has no results.').waitFor();
  await page.getByText('Cancelled', { exact: true }).waitFor();
});

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
