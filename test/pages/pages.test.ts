import assert from 'node:assert/strict';
import { importRows, row } from '../support/documents.ts';
import { before, test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { change, longDate, profit, unbrokenDate } from '../../src/browser/format.ts';
import { storeDividends } from '../../src/database/splits-and-dividends.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { scriptedAgent } from '../support/agents.ts';
import { layoutShift, loaded, overflow, visit } from '../support/browser.ts';
import { matchPage, pagePaths } from '../../src/basics/paths.ts';
import { noBrowser } from '../support/chromium.ts';
import {
  comparedModel,
  comparedPair,
  comparisonAnswer,
  modelWithout,
} from '../support/comparison-answer.ts';
import { leftToLongForm, runs } from '../support/long.ts';
import { lastWeekdays, wavyPrices } from '../support/market.ts';
import { builtPages, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startTestView } from '../support/view.ts';

const SYMBOLS = ['AAPL', 'MSFT', 'NVDA'];
const dates = lastWeekdays(runs(3, 12));
const [firstDate, secondDate] = dates as [string, string];
const lastDate = dates.at(-1) as string;
/** What a model may write to attack the reader of its answers. */
const HOSTILE = `</pre><img src=x onerror="window.pwned=1"><script>window.pwned=2</script><a href="javascript:pwned=3">&amp;'"`;
const HOSTILE_MODEL = `<img src=x onerror=window.pwned=4>/"'%2F?#`;
const configuration = {
  models: ['model-a', 'model-b', HOSTILE_MODEL].map((signature) => ({ signature, enabled: true })),
  agent_config: { stock_symbols: SYMBOLS },
};
const script = {
  [`model-a ${firstDate}`]: [[['buy', { symbol: 'AAPL', amount: 30 }]]],
  [`model-a ${secondDate}`]: [
    [
      ['sell', { symbol: 'AAPL', amount: 10 }],
      ['buy', { symbol: 'MSFT', amount: 1_000 }],
    ],
  ],
  [`model-b ${firstDate}`]: [[['buy', { symbol: 'NVDA', amount: 20 }]]],
  [`${HOSTILE_MODEL} ${firstDate}`]: [
    [['buy', { symbol: HOSTILE, amount: 1, [HOSTILE]: HOSTILE }]],
    [['list_documents', {}]],
  ],
  [`${HOSTILE_MODEL} ${secondDate}`]: [[['fail', HOSTILE]]],
} satisfies Parameters<typeof scriptedAgent>[0];

let service: TestService;
let jobId: string;
let pages: Record<string, string>;
before(async (t) => {
  if (noBrowser) return;
  const agent = scriptedAgent(script, HOSTILE);
  const prices = wavyPrices(SYMBOLS, dates);
  service = await startTestService(t as TestContext, { configuration, prices, agent, pages: true });
  const dividends = [{ symbol: 'AAPL', exDate: secondDate, cash: 500_000 }];
  const stamp = { source: 'csv', recordedAt: '2025-01-01T00:00:00.000Z' };
  storeDividends(service.database, { dividends, spans: [], basis: 'as_paid' }, stamp);
  const published_at = '2020-01-01';
  const document = row({ id: HOSTILE.slice(0, 100).replaceAll(/[^ -~]/g, ''), published_at });
  await importRows(t as TestContext, service.database, [{ ...document, text: HOSTILE }]);
  jobId = (await service.runJob({ start_date: firstDate, end_date: lastDate })).job_id;
  const hostile = encodeURIComponent(HOSTILE_MODEL);
  pages = {
    overview: '/',
    compare: `/compare?models=model-a,${hostile}&date=${firstDate}`,
    jobs: '/job-list',
    model: '/models/model-a',
    'hostile model': `/models/${hostile}`,
    'model-day': `/model-days/model-a/${secondDate}`,
    'hostile model-day': `/model-days/${hostile}/${firstDate}`,
    'failed model-day': `/model-days/${hostile}/${secondDate}`,
    job: `/jobs/${jobId}`,
    data: '/data',
    document: `/documents/${encodeURIComponent(String(document['id']))}?as_of=${firstDate}`,
    API: '/api',
  };
});

/**
 * What the service may say of these models; the hostile one has a return on all days but the
 * second.
 */
const comparison = comparisonAnswer(
  [
    comparedModel('model-a', [0.03]),
    comparedModel(HOSTILE_MODEL, [0.02], { probability_best: 0.3, days_before_cutoff: 3 }),
    comparedModel('model-b', [-0.01], {
      probability_best: 0.001,
      interval: { low: -0.9876, high: 52.3456 },
    }),
    modelWithout('stale', HOSTILE),
    modelWithout('older', 'Stale'),
  ],
  dates.length - 1,
  {
    left_out: [{ date: secondDate, runs: [HOSTILE_MODEL], reason: HOSTILE }],
    left_out_models: [HOSTILE_MODEL],
  },
);

/** Two of them side by side. */
const twoCompared = {
  ...comparison,
  models: comparison.models.slice(0, 2),
  pairs: [
    comparedPair('model-a', HOSTILE_MODEL, 0.01, {
      sentence: HOSTILE,
      curve: dates.map((date, index) => ({ date, difference: index / 100 })),
    }),
  ],
};

const pairRows = (page: Page) => page.locator('table:has(caption:text-is("Pairs")) tbody tr');

const inBrowser = { skip: noBrowser };
const LINKS = ':is(header, main) a';
const inLongForm = { skip: noBrowser || leftToLongForm };
/**
 * The narrowest that pages must fit (WCAG 2.2, 1.4.10): a small phone, or a wider one with large
 * text.
 */
const PHONE = { width: 320, height: 640 };
/**
 * The share of the window that may move while a page loads; 0.1 is what search engines call good.
 */
const MAX_SHIFT = 0.05;

test(
  'every page says DEV, has no broken value, runs nothing that a model wrote, and fits on a phone',
  inBrowser,
  async (t) => {
    const reader = await visit(t, service.url, { viewport: PHONE });
    await reader.page.route('**/comparison*', (route) => route.fulfill({ json: twoCompared }));
    for (const [name, path] of Object.entries(pages)) {
      await reader.open(path);
      await reader.page.locator('.dev').waitFor();
      if (name === 'compare') await reader.page.locator('main .side .act.refusal').waitFor();
      const text = await reader.page.locator('body').innerText();
      if (name === 'model') assert.match(text, /What the model was asked/);
      if (name === 'job')
        assert.match(text, /(Portfolio value|Growth of)[^]*Leaderboard[^]*Left out[^]*Terms/);
      if (name === 'model') assert.match(text, /● dividend[^]*Holdings now[^]*All figures/);
      if (name === 'hostile model')
        assert.match(text, /1 model-day failed and has not been completed since\./);
      assert.doesNotMatch(text, /undefined|NaN|\[object|Invalid Date/, name);
      assert.match(await reader.page.title(), /^DEV · .+ · Trading Simulation$/, name);
      assert.equal(await overflow(reader), 0, `${name} is wider than a phone`);
      assert.ok(
        (await layoutShift(reader)) < MAX_SHIFT,
        `${name} moved by ${await layoutShift(reader)}`,
      );
      assert.equal(await reader.page.evaluate('window.pwned'), undefined, name);
      assert.equal(
        await reader.page.locator('img, main script, [onerror], a[href^="javascript"]').count(),
        0,
        name,
      );
      assert.equal(
        await reader.page.locator('[style*="url"], iframe, object, embed').count(),
        0,
        name,
      );
    }
  },
);

test(
  'a model-day shows the whole conversation as text, with the refusal folded',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open(pages['hostile model-day'] as string);
    assert.equal(await page.locator('.thread .assistant .text').first().innerText(), HOSTILE);
    const call = page.locator('.thread .refused');
    assert.match(
      await call.locator('summary').innerText(),
      /^buy\(symbol: <\/pre><img .*refused: /s,
    );
    assert.equal(await call.locator('pre').first().isVisible(), false);
    await call.locator('summary').click();
    assert.match(await call.locator('pre').first().innerText(), /"symbol": "<\/pre>/);
    assert.equal(await page.locator('.brief .text').isVisible(), false);
    await page.getByText('What the model knew that morning').click();
    assert.match(await page.locator('.brief .text').innerText(), /"date"/);
    assert.equal(await page.locator('.stack > .figures').count(), 1, 'one strip of figures');
    assert.match(
      await page.locator('main').innerText(),
      /Value at the close.*Trades.*Cost.*Took.*Conversation.*Trades.*Portfolio/s,
    );
  },
);

test(
  'a model-day asks only for that day, and shows its trades and the portfolio before and after',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (request.resourceType() === 'fetch') asked.push(`${pathname} ${searchParams.get('date')}`);
    });
    await open(`/model-days/model-a/${secondDate}`);
    // The first request of a tab also asks for the models, whose order gives them their colours.
    const own = asked.filter((request) => request !== '/models null').sort();
    assert.deepEqual(own, [`/reasoning ${secondDate}`, `/results ${secondDate}`]);
    assert.equal(asked.length, 3);
    const days = page
      .getByRole('navigation', { name: 'Other days of this model' })
      .getByRole('link');
    assert.deepEqual(await Promise.all((await days.all()).map((day) => day.getAttribute('href'))), [
      '/models/model-a',
      `/model-days/model-a/${firstDate}`,
      `/model-days/model-a/${dates[2]}`,
    ]);
    const rows = await page.locator('.portfolio tbody tr').allInnerTexts();
    assert.match(rows[1] ?? '', /^AAPL\t30\t20\t−10$/);
    const { results } = (await service.get(`/results?model=model-a&date=${secondDate}`)).body;
    const value = results.at(-1).portfolio_value.toLocaleString('en-US', {
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    });
    assert.match(await page.locator('.portfolio tfoot').innerText(), new RegExp(`\t${value}\t`));
    assert.equal(await page.locator('section table .sell').count(), 1);
  },
);

test(
  'a plot shows values on hover, hides lines, and has a logarithmic scale',
  inLongForm,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open('/');
    const over = page.locator('.curves .drawing');
    const box = (await over.boundingBox()) as {
      x: number;
      y: number;
      width: number;
      height: number;
    };
    const dateAt = async (share: number) => {
      await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
      return page.locator('.curves .tip p').innerText();
    };
    const day = (date: string) => new RegExp(` ${Number(date.slice(8))} `);
    assert.match(await dateAt(0.001), /^Start$/);
    const { models } = (await service.get('/performance?common=true')).body;
    const { start_value: start, curve } = models.find(
      ({ model }: { model: string }) => model === 'model-a',
    );
    const last = start * curve.at(-1).growth;
    assert.match(await dateAt(0.999), day(lastDate));
    const tip = page.locator('.curves .tip');
    assert.match(
      await tip.innerText(),
      new RegExp(
        `model-a\\s+${last.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`,
      ),
    );

    await page
      .locator('.curves')
      .getByRole('button', { name: /^model-a/ })
      .click();
    await dateAt(0.5);
    assert.doesNotMatch(await tip.innerText(), /model-a/);
    await page.getByRole('button', { name: 'Log scale' }).click();
    assert.equal(await page.locator('[data-action=log]').getAttribute('aria-pressed'), 'true');
    assert.match(await dateAt(0.001), /^Start$/);
  },
);

test(
  'a model that never traded although it tried says so above its figures',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open(pages['hostile model'] as string);
    const notices = page.locator('p.notice:not([hidden])');
    await notices.first().waitFor();
    assert.deepEqual(await notices.allInnerTexts(), [
      'It never traded, although it tried: 1 refused call.',
      '1 model-day failed and has not been completed since.',
    ]);
  },
);

test(
  'the overview ranks over common days; filters are in the address, work with Back, and go along to other pages',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open('/');
    const board = page.getByRole('region', { name: 'Leaderboard', exact: true });
    const days = dates.length - 2; // one failed, and the return of the next covers it
    const ranked = board.getByText(`Ranked over the ${days} day`);
    await ranked.waitFor();
    assert.equal(
      await board.locator('.caveat').innerText(),
      'not comparable: never traded · 1 failed day',
    );
    const line = page.locator('.curves').getByRole('button', { name: /^model-b/ });
    await line.click();
    await page.locator('.folded > summary').click();
    await page.locator('.choose').click();
    await page.locator('.panel').getByLabel('model-b', { exact: true }).check();
    await page.getByRole('button', { name: 'Show these' }).click();
    await page.waitForURL('**/?models=model-b');
    await board.getByText('Ranked over the ').waitFor();
    assert.deepEqual(await board.locator('tbody th a').allInnerTexts(), ['model-b']);
    assert.equal(
      await line.getAttribute('aria-pressed'),
      'false',
      'a hidden line stays hidden under other filters',
    );
    assert.equal(
      await page.evaluate('document.activeElement.textContent'),
      'model-b',
      'the focus stays on the filter',
    );
    assert.equal(
      await page.getByRole('link', { name: 'Compare', exact: true }).getAttribute('href'),
      '/compare?models=model-b',
    );
    await page.getByLabel('Benchmark').fill('AAPL');
    await page.getByLabel('Benchmark').press('Enter');
    await page.waitForURL('**/?models=model-b&benchmark=AAPL');
    await page.locator('.legend', { hasText: 'AAPL (benchmark)' }).waitFor();
    assert.equal(
      await board.locator('tbody th a').getAttribute('href'),
      '/models/model-b?benchmark=AAPL',
    );
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).search));
    const [year, month, day] = secondDate.split('-') as [string, string, string];
    await page.getByLabel('From', { exact: true }).pressSequentially(month + day + year);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/?models=model-b&start_date=${secondDate}&benchmark=AAPL`);
    await board.getByText('Ranked over the ').waitFor();
    const selection = board.locator('tbody tr', { hasText: 'model-b' }).locator('td').nth(4);
    await selection
      .getByText(/^Needs 20 days with a return, has \d+$/)
      .waitFor({ state: 'attached' });
    const dated = requested.filter(
      (search) => search.includes('start_date') && !search.includes('looks=daily'),
    );
    const figures = `?models=model-b&start_date=${secondDate}&benchmark=AAPL&common=true&by=entry`;
    assert.deepEqual(dated, [figures, `${figures}&details=true`], 'only for the whole date');
    for (const path of ['?models=model-b&benchmark=AAPL', '?models=model-b', '']) {
      await page.goBack();
      await page.waitForURL(`**/${path}`);
    }
    await ranked.waitFor();
    assert.equal(await board.locator('tbody tr').count(), 4, 'three models and the benchmark');
    assert.equal(
      await page.locator('.panel').isVisible(),
      false,
      'the list of models stays closed',
    );
  },
);

test('results are shown although models and jobs do not arrive', inLongForm, async (t) => {
  const { page } = await visit(t, service.url);
  const held: (() => Promise<void>)[] = [];
  for (const path of ['**/models', '**/jobs?*'])
    await page.route(path, (route) => void held.push(() => route.continue()));
  await page.goto(service.url);
  await page.getByRole('region', { name: 'Leaderboard', exact: true }).waitFor();
  assert.equal(held.length, 2);
  for (const release of held) await release();
  await page.getByRole('link', { name: 'All jobs' }).waitFor();
});

test('a click on a curve opens that day, and so does Enter', inBrowser, async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/?models=model-a');
  const over = page.locator('.curves .drawing');
  const { x, y, width, height } = (await over.boundingBox()) as {
    x: number;
    y: number;
    width: number;
    height: number;
  };
  let top = 0;
  do {
    assert.ok((top += 6) < height, 'the pointer does not reach the curve');
    await page.mouse.move(x + width - 14, y + top);
  } while (!(await over.evaluate((element) => element.matches('.on-curve'))));
  await page.mouse.click(x + width - 14, y + top);
  await page.waitForURL(`**/model-days/model-a/${lastDate}`);
  await page.goBack();
  const drawing = page.locator('.curves .drawing');
  await over.waitFor();
  await drawing.focus();
  for (const key of ['Home', 'Enter', 'ArrowRight', 'Enter']) await page.keyboard.press(key); // there is no day at the start
  await page.waitForURL(`**/model-days/model-a/${firstDate}`);
});

test(
  'a few failures are a note below the answer, and what a model thought has a label',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open('/');
    const order = `[...document.querySelectorAll('.answer, .trouble')].map((part) => part.className)`;
    assert.deepEqual(await page.evaluate(order), ['answer', 'notice trouble']);
    await page.route('**/reasoning*', async (route) => {
      const body = await (await route.fetch()).json();
      for (const message of body.sessions[0].conversation)
        if (message.role === 'assistant') message.summary = HOSTILE;
      await route.fulfill({ json: body });
    });
    await open(`/model-days/model-a/${secondDate}`);
    await page.getByText(`Thinking: ${HOSTILE}`).first().waitFor();
  },
);

test(
  'the leaderboard sorts by any figure in both directions, and marks models that cannot be compared',
  inLongForm,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open('/');
    const board = page.getByRole('region', { name: 'Leaderboard', exact: true });
    const names = () => board.locator('tbody th').allInnerTexts();
    const byReturn = await names();
    const caveat = board.locator('.caveat');
    assert.deepEqual(
      await caveat.allInnerTexts(),
      ['not comparable: never traded · 1 failed day'],
      'only on the model with a failed day, whose one order was malformed',
    );
    await board.getByRole('link', { name: 'Each model’s own days' }).click();
    await board.getByText('Each model is measured over all its own days.').waitFor();
    assert.deepEqual(await caveat.allInnerTexts(), [
      'not comparable: missing days, never traded · 1 failed day',
    ]);
    assert.match(
      (await caveat.getAttribute('title')) ?? '',
      /^It has 11 model-days in its period; model-a has 12\. It never traded, although it tried: 1 refused call\. 1 model-day failed/,
    );
    await page.goBack();
    await board.getByText('Ranked over the 10 days').waitFor();
    await page.getByRole('button', { name: 'Return', exact: true }).click();
    assert.deepEqual(await names(), byReturn.toReversed());
    await page.getByRole('button', { name: 'Trades', exact: true }).click();
    assert.equal((await names())[0], 'model-a');
    assert.equal(await page.locator('th[aria-sort]').innerText(), 'Trades');
  },
);

test(
  'the keyboard is enough to skip to the content, read a plot, open a model-day from the grid, and go back',
  inLongForm,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    await open('/');
    await page.locator('.curves').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    for (
      let presses = 0;
      !(await page.evaluate('document.activeElement.matches(".drawing")'));
      presses += 1
    ) {
      assert.ok(presses < 40, 'the tab key does not reach the plot');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('End');
    assert.match(
      await page.locator('.curves [role=status]').innerText(),
      new RegExp(` ${Number(lastDate.slice(8))} .*model-a `),
    );
    await page.keyboard.press('Escape');
    await open(`/jobs/${jobId}`);
    await page.locator('.job-grid td[tabindex="0"]').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/model-days/model-a/${secondDate}`);
    assert.match(await focused(), /^model-a, /);
    await page.goBack();
    await page.locator('.job-grid').waitFor();
    assert.match(page.url(), /\/jobs\//);
  },
);

test(
  'every link, followed with the keyboard, gives the focus to the heading of its page',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    const links = page.locator(LINKS);
    const [walked, reached] = [new Set<string>(), new Set<string>()];
    for (const path of Object.values(pages)) {
      await open(path);
      const hrefs = await page.evaluate<(string | null)[]>(
        `[...document.querySelectorAll('${LINKS}')].map((link) => (link.checkVisibility() ? link.getAttribute('href') : null))`,
      );
      for (const [index, href] of hrefs.entries()) {
        const target = href === null ? undefined : matchPage(href.replace(/\?.*/, ''))?.page;
        const way = leftToLongForm ? target : `${path} ${target}`;
        if (target === undefined || way === undefined || href === path || walked.has(way)) continue;
        walked.add(way);
        reached.add(target);
        await open(path);
        await links.nth(index).press('Enter');
        await loaded(page);
        assert.ok(
          await page.evaluate('document.activeElement.matches("main h1")'),
          `${path} ${href}`,
        );
      }
    }
    assert.deepEqual(reached, new Set(pagePaths));
  },
);

test(
  'every link leads to a URL that can be reloaded, and the back button works',
  inLongForm,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open('/');
    await page.getByRole('link', { name: 'model-a', exact: true }).click();
    await page.getByRole('region', { name: 'Portfolio value', exact: true }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/models/model-a');
    await page
      .getByRole('link', { name: longDate(secondDate) })
      .first()
      .click();
    await page.locator('.portfolio').waitFor();
    await page.getByRole('link', { name: /^Next day/ }).click();
    await page.waitForURL(`**/model-days/model-a/${dates[2]}`);
    for (const path of [`/model-days/model-a/${secondDate}`, '/models/model-a', '/']) {
      await page.goBack();
      await page.waitForURL(`**${path}`);
    }
    await page.locator('.curves').waitFor();
    await page.reload();
    await page.locator('.curves').waitFor();
  },
);

test(
  'Back finds a page as it was left: scrolled, sorted, with hidden lines and open folds',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url, { viewport: { width: 800, height: 300 } });
    const kept = () =>
      page.evaluate<object>('({ ...navigation.currentEntry.getState(), scroll: undefined })');
    const back = async () => {
      await page.goBack();
      await loaded(page);
    };
    await open('/?common=false');
    await page.getByRole('button', { name: 'Log scale' }).click();
    await page
      .locator('.curves')
      .getByRole('button', { name: /^model-b/ })
      .click();
    await page.getByRole('button', { name: 'Trades', exact: true }).click();
    await page.evaluate("dispatchEvent(new Event('pagehide'))"); // writes what waits
    const left = await kept();
    await page.getByRole('link', { name: 'model-a', exact: true }).first().scrollIntoViewIfNeeded();
    const scrolled = await page.evaluate<number>('scrollY');
    assert.ok(scrolled > 0);
    await page.getByRole('link', { name: 'model-a', exact: true }).first().click();
    await loaded(page);
    assert.equal(await page.evaluate('scrollY'), 0, 'a link leads to the top');
    await back();
    await until(
      'the page to be scrolled',
      async () => (await page.evaluate('scrollY')) === scrolled,
    );
    assert.equal(await page.locator('[data-action=log]').getAttribute('aria-pressed'), 'true');
    const hidden = page.locator('.curves .legend[aria-pressed=false] > span');
    assert.equal(await hidden.innerText(), 'model-b');
    assert.equal(await page.locator('th[aria-sort=descending]').innerText(), 'Trades');
    assert.deepEqual(await kept(), left);

    await open(`/model-days/model-a/${secondDate}`);
    const call = page.locator('.thread details', { hasText: 'refused' });
    await call.locator('summary').click();
    await page.getByRole('link', { name: 'Previous day' }).first().click();
    await loaded(page);
    await back();
    await call.locator('pre').first().waitFor();
    await page.reload();
    await call.locator('pre').first().waitFor();
  },
);

test(
  'the theme is the system’s or the one the switch was set to, which is remembered',
  inLongForm,
  async (t) => {
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
  },
);

test('times are in the reader’s time zone, and in UTC on hover', inLongForm, async (t) => {
  const { page, open } = await visit(t, service.url, { timezoneId: 'Asia/Tokyo' });
  await open(`/jobs/${jobId}`);
  const time = page.locator('time').first();
  const stamp = (await time.getAttribute('datetime')) as string;
  assert.equal(await time.getAttribute('title'), `${stamp.slice(0, 19).replace('T', ' ')} UTC`);
  const hour = new Date(Date.parse(stamp) + 9 * 3_600_000).toISOString().slice(11, 19);
  assert.ok((await time.innerText()).endsWith(hour));
});

test(
  'the API page lists every operation, its parameters and how curl asks it',
  inLongForm,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open('/api');
    const { paths } = (await service.get('/openapi.json')).body;
    await page.locator('.operation').first().waitFor();
    const operations = Object.values(paths).flatMap((methods) => Object.keys(methods as object));
    assert.equal(await page.locator('.operation').count(), operations.length);
    await page.locator('#getJobs > summary').click();
    const jobs = page.locator('#getJobs');
    assert.match(await jobs.getByRole('row', { name: /^status query/ }).innerText(), /status/);
    assert.equal(await jobs.locator('pre').innerText(), `curl '${service.url}/jobs'`);
    const trigger = page.locator('#postSimulateTrigger');
    await trigger.locator('summary').click();
    assert.match(
      await trigger.locator('pre').innerText(),
      /^curl -X POST '.*\/simulate\/trigger' .*-d '\{"start_date":/s,
    );
  },
);

test(
  'a view says which file it shows, starts no job and asks for nothing that it refuses',
  inLongForm,
  async (t) => {
    const view = await startTestView(t, service.settings.databasePath, {
      pages: await builtPages(),
    });
    const { page, open } = await visit(t, view.url);
    for (const [name, path] of Object.entries(pages)) {
      await open(path);
      await page.getByText('Viewing jobs.db. Nothing here changes it.').waitFor();
      assert.equal(
        await page.getByRole('button', { name: /^(start job|cancel)/i }).count(),
        0,
        name,
      );
    }
    await open('/');
    await page
      .getByRole('region', { name: 'Development mode' })
      .getByText('Nothing here is a real result.')
      .waitFor();
    await page
      .getByRole('row', { name: /model-a/ })
      .first()
      .waitFor();
    assert.equal(await page.getByText('Start a job').count(), 0);
    await open('/api');
    assert.equal(await page.getByText('POST', { exact: true }).count(), 0);
  },
);

test(
  'the form that starts a job shows half a row at the end of a long list of models, so that one sees that there are more',
  inBrowser,
  async (t) => {
    const models = Array.from({ length: 30 }, (_none, index) => ({
      signature: `model-${index}`,
      enabled: true,
    }));
    const many = await startTestService(t, {
      configuration: { ...configuration, models },
      pages: true,
    });
    const { page, open } = await visit(t, many.url);
    await open('/');
    const row = await page.waitForSelector('.trigger .choices .check');
    assert.equal(
      await row.evaluate((own) => (own.parentElement?.clientHeight ?? 0) / own.clientHeight),
      7.5,
    );
  },
);

test('what does not exist is explained in a sentence', inBrowser, async (t) => {
  const { page, open } = await visit(t, service.url, { provokes: [404, 400] });
  const missing: [string, RegExp][] = [
    ['/models/unknown', /Model unknown has no completed model-day/],
    ['/model-days/model-a/2020-01-01', /Model model-a has no session on Wed 1 Jan 2020/],
    ['/model-days/model-a/yesterday', /Invalid date format: yesterday/],
    ['/jobs/no-such-job', /There is no job no-such-job/],
  ];
  for (const [path, words] of missing) {
    await open(path);
    await page.locator('.notice', { hasText: words }).waitFor();
    assert.ok((await page.locator('main a[href^="/"]').count()) > 0, `${path} shows no way on`);
  }
});

test('a path without a page shows the way back', inLongForm, async (t) => {
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

test(
  'the page of comparisons shows a line per model, its runs and the benchmark, and a row per pair',
  inLongForm,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await page.route('**/comparison*', (route) => route.fulfill({ json: comparison }));
    await page.route('**/performance*', async (route) => {
      const body = await (await route.fetch()).json();
      await route.fulfill({ json: body });
    });
    await open('/?days=clean');
    await page
      .locator('main')
      .getByRole('link', { name: /^Compare the models/ })
      .click();
    await page.locator('.forest').waitFor();
    assert.equal(new URL(page.url()).search, '?days=clean');
    const controls = page.locator('.folded > summary');
    assert.equal(
      await controls.innerText(),
      'Every entry with 20 days, all dates, after the knowledge cutoff, 95 % intervalsChange',
    );
    const ways = await page
      .locator('main a[href^="/models/"]')
      .evaluateAll((links) => links.map((link) => String(link)));
    assert.deepEqual(
      ways.map((way) => new URL(way).search),
      Array.from(ways, () => '?days=clean'),
      'the filters go along',
    );
    assert.deepEqual(await page.locator('.forest tbody th a').allInnerTexts(), [
      'model-a',
      HOSTILE_MODEL,
      'model-b',
    ]);
    for (const [mark, count] of [
      ['.reach', 9],
      ['.run', 3],
      ['.mean', 3],
      ['.against', 3],
    ] as const)
      assert.equal(await page.locator(`.forest tbody ${mark}`).count(), count, mark);
    assert.match(
      await page.locator('.forest tbody tr').nth(1).innerText(),
      /# 3 of 11 days up to its cutoff.*\+2\.00 %.*30 %/s,
    );
    assert.equal(await pairRows(page).count(), 5, 'of ten');
    const missing = page.getByRole('region', { name: 'Left out', exact: true });
    await missing.getByText(/stale: <\/pre><img/).waitFor();
    await page
      .getByText(
        'Every return on this page is over the same 11 days from Wed 4 Jun 2025 to Mon 20 Oct 2025. 1 other day is left out.',
      )
      .waitFor();
    await page
      .getByText('it varies from run to run. The intervals hold however often you look. Sorted by')
      .waitFor();
    await page.getByText('These figures cover other days than the returns above').waitFor();
  },
);

test(
  'two models are side by side: their figures, and what both decided on a day that the reader chooses',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    await open('/compare?models=model-a,model-b');
    const { models, common } = (
      await service.get('/performance?models=model-a,model-b&common=true')
    ).body;
    assert.equal(
      await page.locator('.answer').innerText(),
      `It takes 20 days in common to say whether a difference could be chance; so far there are ${common.days}.`,
    );
    const [from, to] = [common.start_date, common.end_date].map(longDate);
    await page
      .getByText(
        `Every return on this page is over the same ${common.days} days from ${from} to ${to}.`,
      )
      .waitFor();
    await page.getByText('Once the models have 20 days in common, this page also shows').waitFor();
    assert.equal(await page.locator('.folded[open]').count(), 1, 'another choice is the way on');
    const shown = await page.locator('.forest tbody').innerText();
    const sides = page.getByRole('region', { name: 'Side by side', exact: true });
    assert.doesNotMatch(await sides.innerText(), /other days/);
    const returns = await sides.locator('tbody tr').first().locator('td').allInnerTexts();
    assert.deepEqual(shown.match(/[+−]\d+\.\d\d %/g), returns, 'one return per name');
    models.sort((one: any, other: any) => other.total_return - one.total_return);
    const trades = await sides
      .locator('tbody tr', { hasText: 'Trades' })
      .locator('td')
      .allInnerTexts();
    assert.deepEqual(
      trades,
      models.map(({ trading }: any) => String(trading.trades)),
    );
    const perYear = sides
      .locator('tbody tr', { hasText: 'Annualised return' })
      .locator('td')
      .first();
    await perYear.getByRole('button', { name: 'No figure' }).press('Enter');
    await perYear.getByText(models[0].unavailable.annualised_return).waitFor(); // on a phone too, which has no hover
    const titles = page.locator('.side h3');
    const column = (name: string) =>
      page.locator('.side', { has: page.getByRole('link', { name, exact: true }) });
    await page.getByLabel('Date', { exact: true }).selectOption(firstDate);
    await column('model-a').getByText('Bought 30 AAPL at').waitFor();
    await column('model-b').getByText('Bought 20 NVDA at').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Previous day' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Next day' }).click();
    await column('model-a').getByText('Sold 10 AAPL at').waitFor();
    await column('model-a').getByText('Order refused: buy 1,000 MSFT').waitFor();
    assert.match(await column('model-a').innerText(), /insufficient|cash/i);
    await column('model-b').getByText('No trade').waitFor();
    await page.waitForURL(`**/compare?models=model-a,model-b&date=${secondDate}`);
    await page.reload();
    await column('model-a').getByText('Sold 10 AAPL at').waitFor();
    assert.deepEqual(
      await titles.allInnerTexts(),
      models.map(({ model }: any) => model),
    );
    await titles.getByRole('link', { name: 'model-a', exact: true }).click();
    await page.waitForURL(`**/model-days/model-a/${secondDate}`);
  },
);

test(
  'the choice is in the address, works with Back, and stays when the service refuses it',
  inLongForm,
  async (t) => {
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
    await page.getByRole('button', { name: 'Show these' }).click();
    await page.waitForURL('**/compare?models=model-a&against=model-b');
    await page.getByLabel('From', { exact: true }).fill(firstDate);
    await page.keyboard.press('Enter');
    const query = `?models=model-a&start_date=${firstDate}&against=model-b`;
    await page.waitForURL(`**/compare${query}`);
    await page.locator('.forest').waitFor();
    assert.equal(await page.evaluate('document.activeElement?.name'), 'start_date');
    assert.equal(await page.locator('.choose').innerText(), 'model-a');
    await page.getByLabel('Confidence').selectOption('0.99');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('confidence: expected less').waitFor();
    assert.equal(await page.getByLabel('Confidence').inputValue(), '0.99');
    await page.goBack();
    await page.locator('.forest').waitFor();
    assert.equal(new URL(page.url()).search, query);
    const first = '?models=model-a&against=model-b';
    assert.deepEqual(asked, [
      '?against=model-b&looks=daily',
      ...[first, query, `${query}&confidence=0.99`, query].map(
        (chosen) => `${chosen}&curves=true&looks=daily`,
      ),
    ]);
  },
);

test(
  'a table has all pairs, how they differ and whether by more than chance; five are shown at first',
  inLongForm,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    const pairs = [
      comparedPair('model-a', 'model-b', 0.25, {
        shown: true,
        p_value_holm: 0.0004,
        sentence: HOSTILE,
      }),
    ];
    const models = comparison.models.filter(({ model }) => model.startsWith('model-'));
    await page.route('**/comparison*', (route) =>
      route.fulfill({ json: { ...comparison, models, pairs } }),
    );
    await open('/compare');
    assert.deepEqual(await pairRows(page).locator('> *').allInnerTexts(), [
      ...['model-a over model-b', HOSTILE, 'more than chance', '<0.001', '0.42'],
    ]);
    const many = Array.from({ length: 8 }, (_none, index) => comparedModel(`m${index}`, [0.01]));
    await page.route('**/comparison*', (route) =>
      route.fulfill({ json: comparisonAnswer(many, 30) }),
    );
    await open('/compare');
    assert.equal(await pairRows(page).count(), 5);
    await page.getByText('Show 23 more of 28').click();
    assert.equal(await pairRows(page).count(), 28);
    await page.getByText('Choose 2 to 4 models in the filters').waitFor();
  },
);

test('curves mark a knowledge cutoff with a line, and say it in words', inLongForm, async (t) => {
  const { page, open } = await visit(t, service.url);
  const drawn = async (path: string) => {
    await open(path);
    await page.locator('.drawn').first().waitFor();
    return page.locator('.drawn').first().locator('.cutoff').count();
  };
  assert.deepEqual([await drawn('/'), await drawn('/models/model-a')], [0, 0]);
  assert.equal(await page.getByText('Knowledge cutoff: ').count(), 0);
  await page.route('**/performance*', async (route) => {
    if (route.request().url().includes('format=csv')) return route.continue();
    const body = await (await route.fetch()).json();
    for (const one of body.models) if (one.model === 'model-a') one.knowledge_cutoff = dates[2];
    await route.fulfill({ json: body });
  });
  assert.deepEqual([await drawn('/'), await drawn('/models/model-a')], [1, 1]);
  await page
    .getByText(
      `Knowledge cutoff: ${longDate(String(dates[2]))} (model-a). A model may remember days on or before it.`,
    )
    .waitFor();
});

test(
  'the page shows what the service computes: every model, its benchmark, and a row for each pair',
  inLongForm,
  async (t) => {
    const month = lastWeekdays(21);
    const models = [
      { signature: 'calm', enabled: true, repeats: 2 },
      { signature: 'bold', enabled: true },
      { signature: 'held', enabled: true, basemodel: 'baseline/buy-and-hold' },
    ];
    const own = await startTestService(t, {
      configuration: { models, agent_config: { stock_symbols: SYMBOLS } },
      prices: wavyPrices(SYMBOLS, month),
      agent: await realAgentHere(),
      pages: true,
    });
    await own.runJob({ start_date: month[0], end_date: month.at(-1) });
    const { body } = await own.get('/comparison?looks=daily');
    const { page, open } = await visit(t, own.url);
    await open('/compare');
    const names = await page.locator('.forest tbody th a').allInnerTexts();
    assert.deepEqual(
      names,
      body.models.map(({ model }: { model: string }) => model),
    );
    assert.deepEqual(names.toSorted(), ['bold', 'calm', 'held']);
    assert.equal(await page.locator('.forest tbody .run').count(), 4);
    assert.equal(await page.locator('.forest tbody .against').count(), 3);
    assert.equal(await pairRows(page).count(), 3);
    assert.equal(await page.locator('.side').count(), 4, 'a column per run');
    await page.locator('.drawing').first().focus();
    for (const key of ['Home', 'ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL(`**/compare?date=${month[0]}`);
    await open('/compare?models=bold&against=held&confidence=0.9');
    assert.deepEqual(await pairRows(page).locator('.reason').allInnerTexts(), [
      (await own.get('/comparison?models=bold&against=held&confidence=0.9&looks=daily')).body
        .pairs[0].sentence,
    ]);
  },
);

test(
  'a model’s page shows what the service reports of its days, asks for nothing else, and follows its filters',
  inBrowser,
  async (t) => {
    const { page, open } = await visit(t, service.url);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url().slice(service.url.length)));
    await open('/models/model-a');
    const { details, round_trips: trips } = (
      await service.get('/performance?model=model-a&details=true')
    ).body.models[0];
    const region = (name: string) => page.getByRole('region', { name, exact: true });
    const percents = new Map(
      details.months.map((one: any) => [one.month, change(one.return).replace(' %', '')]),
    );
    const months = [...Array(12).keys()].map((place) => String(place + 1).padStart(2, '0'));
    const shown = await region('Returns by month, in percent')
      .locator('tbody td:not(.total)')
      .allInnerTexts();
    assert.deepEqual(
      shown,
      details.years.flatMap(({ year }: any) =>
        months.map((month) => percents.get(`${year}-${month}`) ?? ''),
      ),
    );
    assert.equal(
      await region('Deepest drawdowns').locator('tbody tr').count(),
      details.drawdowns.length,
    );
    const names = (caption: string) =>
      page.getByRole('table', { name: caption }).locator('tbody th').allInnerTexts();
    await page.getByText('Profit by symbol', { exact: true }).first().click();
    await page
      .getByRole('table', { name: 'Profit by symbol' })
      .locator('tbody th')
      .first()
      .waitFor();
    assert.deepEqual(
      await names('Profit by symbol'),
      details.symbols.map(({ symbol }: { symbol: string }) => symbol),
    );
    await page.getByText('All figures, with their meanings').click();
    const figures = page.getByRole('table', { name: 'All figures' });
    const figure = (name: string) => figures.getByRole('row', { name }).innerText();
    assert.match(
      await figure('Expectancy'),
      new RegExp(
        `${profit(trips.expectancy).replace('+', '\\+')}\\s+Mean profit of all round trips$`,
      ),
    );
    assert.match(await figure('Sharpe ratio'), /–\s+Mean over .*risk-free rate.*\. Needs 20 days/);
    assert.deepEqual(
      asked.filter((path) => /^\/(performance|holdings|results|reasoning)/.test(path)).sort(),
      [
        '/performance?model=model-a&by=entry&details=true',
        '/performance?model=model-a&table=actions&format=csv',
      ],
    );
    await page.locator('.folded > summary').click();
    await page.getByLabel('From', { exact: true }).fill(secondDate);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/models/model-a?start_date=${secondDate}`);
    await page.locator('main:not([aria-busy]) h1').waitFor();
    const span = (first: string) => `from ${unbrokenDate(first)} to ${unbrokenDate(lastDate)}`;
    await page.getByText(span(secondDate)).waitFor();
    await page.goBack();
    await page.getByText(span(firstDate)).waitFor();
  },
);
