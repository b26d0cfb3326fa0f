import { scriptedAgent } from '../support/agents.ts';
import { region, test, visit } from '../support/browser.ts';
import assert from 'node:assert/strict';
import {
  failFirst,
  fillAndStart,
  firstDate,
  lastDate,
  startWithPages,
} from '../support/page-jobs.ts';

test('an empty database shows a newcomer what to do; the form starts a job, and the page follows it to its end, though first requests fail', async (t) => {
  const service = await startWithPages(t, { agent: scriptedAgent({}) });
  const reader = await visit(t, service.url, { provokes: [503] });
  const { page } = reader;
  await reader.open('/');
  await page.getByText('No results yet').waitFor();
  await failFirst(page, '**/simulate/status/*');
  const ended = service.database.statement('SELECT 1 FROM jobs WHERE completed_at IS NOT NULL');
  await failFirst(page, '**/performance?*', () => ended.get() === undefined);
  await fillAndStart(reader, firstDate, lastDate);
  await page.getByText('Simulation job created for 3 dates, 2 models').waitFor();
  await page.locator('.job .state', { hasText: 'Completed' }).waitFor();
  assert.equal(await page.locator('.job-grid td.completed').count(), 6);
  await region(page, 'Leaderboard').waitFor();
  assert.equal(await page.locator('.legend', { hasText: 'model-' }).count(), 2);
  assert.equal(await page.locator('.job progress').isVisible(), false);
});
