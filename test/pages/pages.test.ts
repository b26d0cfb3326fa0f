import assert from 'node:assert/strict';
import { matchPage, pagePaths } from '../../src/features/pages/paths.ts';
import { obstacles } from '../support/axe.ts';
import { layoutShift, loaded, overflow, test, visit } from '../support/browser.ts';
import { comparedModel, comparedPair, comparisonAnswer } from '../support/comparison-answer.ts';
import { isLong } from '../support/long.ts';
import {
  dates,
  HOSTILE,
  HOSTILE_MODEL,
  pages,
  secondDate,
  service,
} from '../support/page-story.ts';

/** Two models side by side, as the service may speak of them. */
const twoCompared = {
  ...comparisonAnswer(
    [comparedModel('model-a', [0.03]), comparedModel(HOSTILE_MODEL, [0.02])],
    dates.length - 1,
    {
      left_out: [{ date: secondDate, runs: [HOSTILE_MODEL], reason: HOSTILE }],
      left_out_models: [HOSTILE_MODEL],
    },
  ),
  pairs: [
    comparedPair('model-a', HOSTILE_MODEL, 0.01, {
      sentence: HOSTILE,
      curve: dates.map((date, index) => ({ date, difference: index / 100 })),
    }),
  ],
};
/** What a text of a model would make if it were markup. */
const MADE_BY_MODELS =
  'img, main script, [onerror], a[href^="javascript"], [style*="url"], iframe, object, embed';
/**
 * The narrowest that pages must fit (WCAG 2.2, 1.4.10): a small phone, or a wider one with large
 * text.
 */
const PHONE = { width: 320, height: 640 };
/** The share of the window that may move while a page loads; search engines call 0.1 good. */
const MAX_SHIFT = 0.05;
const words: Record<string, RegExp> = {
  model: /● dividend[^]*Holdings now[^]*All figures[^]*What the model was asked/,
  hostileModel:
    /1 order was refused or malformed\.\s+1 model-day failed and has not been completed since\./,
  job: /(Portfolio value|Growth of)[^]*Leaderboard[^]*Left out[^]*Terms/,
};

test('every page says DEV, has no broken value, runs nothing that a model wrote, fits on a phone, and has no obstacles', async (t) => {
  const reader = await visit(t, service.url, { viewport: PHONE });
  const { page } = reader;
  await page.route('**/comparison*', (route) => route.fulfill({ json: twoCompared }));
  for (const [name, path] of Object.entries(pages)) {
    await reader.open(path);
    await page.locator('.dev').waitFor();
    if (name === 'compare') await page.locator('main .side .act.malformed').waitFor();
    const text = await page.locator('body').innerText();
    assert.match(text, words[name] ?? /./, name);
    assert.doesNotMatch(text, /undefined|NaN|\[object|Invalid Date/, name);
    assert.match(await page.title(), /^DEV · .+ · Trading Simulation$/, name);
    assert.equal(await overflow(reader), 0, `${name} is wider than a phone`);
    const shift = await layoutShift(reader);
    assert.ok(shift < MAX_SHIFT, `${name} moved by ${shift}`);
    assert.equal(await page.evaluate('window.pwned'), undefined, name);
    assert.equal(await page.locator(MADE_BY_MODELS).count(), 0, name);
    assert.deepEqual(await obstacles(page), [], name);
  }
});

test('every link, followed with the keyboard, gives the focus to the heading of its page', async (t) => {
  const { page, open } = await visit(t, service.url);
  const links = page.locator(':is(header, main) a');
  const [walked, reached] = [new Set<string>(), new Set<string>()];
  /** Follows a link that leads on, and says where; null when there is none. */
  const followOne = async (here: string) => {
    const hrefs = await links.evaluateAll((all) =>
      all.map((link) => (link.checkVisibility() ? link.getAttribute('href') : null)),
    );
    for (const [index, href] of hrefs.entries()) {
      const target = matchPage(href?.replace(/\?.*/, '') ?? '')?.page;
      const way = isLong ? `${here} ${target}` : `${target}`;
      if (target === undefined || href === null || href === here || walked.has(way)) continue;
      walked.add(way);
      reached.add(target);
      await links.nth(index).press('Enter');
      await loaded(page);
      const isFocused = await page.evaluate('document.activeElement.matches("main h1")');
      assert.ok(isFocused, `${here} ${href}`);
      return href;
    }
    return null;
  };
  for (const path of Object.values(pages)) {
    if (!isLong && reached.size === pagePaths.length) break;
    await open(path);
    for (let here = path; ; ) {
      const next = await followOne(here);
      if (next === null) break;
      // The long form follows every link from every page; the short form continues from the page that a link opened.
      if (isLong) await open(path);
      else here = next;
    }
  }
  assert.deepEqual(reached, new Set(pagePaths));
});
