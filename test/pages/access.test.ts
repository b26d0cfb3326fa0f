import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenProblem } from '../../src/browser/api.ts';
import { visit } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startTestService } from '../support/service.ts';
import { leftToLongForm } from '../support/long.ts';

test('a token that no header can carry is refused in words, before it is sent', () => {
  const rows: [text: string, problem: RegExp][] = [
    ['correct-horse_battery.!~', /^$/],
    ['', /^$/],
    ['“secret”', /^A token never contains the sign “\. /],
    ['a—b', /the sign —/],
    ['two words', /a blank/],
    ['non\u00a0breaking', /a blank/],
    ['ключ', /the sign к/],
    ['zero\u200bwidth', /^A token never contains /],
    ['a💰', /the sign 💰/],
  ];
  for (const [text, problem] of rows) assert.match(tokenProblem(text), problem, text);
});

const TOKEN = 'correct-horse-battery';
const inLongForm = { skip: noBrowser || leftToLongForm };

test(
  'a page asks for an access token, asks again when it is wrong, and keeps it for the tab',
  inLongForm,
  async (t) => {
    const service = await startTestService(t, { pages: true, settings: { apiToken: TOKEN } });
    const { page } = await visit(t, service.url, { provokes: [401] });
    await page.goto(service.url);
    const dialog = page.getByRole('dialog', { name: 'Access token' });
    await dialog.getByText('this request has none').waitFor();
    assert.equal(await page.locator('dialog').count(), 1, 'one question for all requests');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape'); // the browser closes it at the second time
    await dialog.getByText('this request has none').waitFor();
    await dialog.getByLabel('Token').fill(`“${TOKEN}”`);
    await page.keyboard.press('Enter');
    assert.match(
      await page.evaluate<string>('document.querySelector("dialog input").validationMessage'),
      /^A token never contains the sign “/,
    );
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await dialog.getByText('this request has none').waitFor();
    await dialog.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText("this request's is unknown").waitFor();
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
          .getByText(stored === 'wrong' ? 'is unknown' : 'this request has none')
          .waitFor();
      }
    }
  },
);
