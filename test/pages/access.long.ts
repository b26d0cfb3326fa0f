import assert from 'node:assert/strict';
import { test, visit } from '../support/browser.ts';
import { startTestService } from '../support/service.ts';

const TOKEN = 'correct-horse-battery';

test('a page asks for an access token, asks again when it is wrong, and keeps it for the tab', async (t) => {
  const service = await startTestService(t, { pages: true, settings: { apiToken: TOKEN } });
  const { page } = await visit(t, service.url, { provokes: [401] });
  await page.goto(service.url);
  const dialog = page.getByRole('dialog', { name: 'Access token' });
  await dialog.getByText('Missing access token').waitFor();
  assert.equal(await page.locator('dialog').count(), 1, 'one question for all requests');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape'); // the browser closes it at the second time
  await dialog.getByText('Missing access token').waitFor();
  await dialog.getByLabel('Token').fill(`“${TOKEN}”`);
  await page.keyboard.press('Enter');
  const message = 'document.querySelector("dialog input").validationMessage';
  assert.match(await page.evaluate<string>(message), /^A token never contains the sign “/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await dialog.getByText('Missing access token').waitFor();
  await dialog.getByLabel('Token').fill('wrong');
  await page.keyboard.press('Enter');
  await dialog.getByText('Unknown access token').waitFor();
  await dialog.getByLabel('Token').fill(TOKEN);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('No results yet').waitFor();
  await page.reload();
  await page.getByText('No results yet').waitFor();
  assert.equal(await page.locator('dialog').count(), 0);
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByText('There is nothing to compare').waitFor();
  assert.equal(await page.locator('section', { hasText: 'Left out' }).count(), 0);
  assert.equal(await page.evaluate('localStorage.getItem("access-token")'), null);
  for (const path of ['/', '/compare', '/decision-feed', '/job-list', '/jobs/1', '/models/a']) {
    for (const stored of [`“${TOKEN}”`, 'wrong']) {
      await page.evaluate(`sessionStorage.setItem('access-token', '${stored}')`);
      await page.goto(service.url + path);
      await dialog
        .getByText(stored === 'wrong' ? 'Unknown access token' : 'Missing access token')
        .waitFor();
    }
  }
});
