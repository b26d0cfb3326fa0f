import assert from 'node:assert/strict';
import {
  change,
  longDate,
  profit,
  nonBreakingDate,
} from '../../src/features/pages/browser/format.ts';
import { button, loaded, region, test, visit } from '../support/browser.ts';
import {
  dates,
  firstDate,
  HOSTILE,
  lastDate,
  pages,
  secondDate,
  service,
  thirdDate,
} from '../support/page-story.ts';
import { until } from '../support/until.ts';

/** What a reader finds on the pages, chooses there and comes back to. */

test('a model-day shows the whole conversation as text, with the refusal and the brief folded', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open(pages.hostileDay);
  assert.equal(await page.locator('.thread .assistant .text').first().innerText(), HOSTILE);
  const call = page.locator('.thread .refused');
  assert.match(await call.locator('summary').innerText(), /^buy\(symbol: <\/pre><img .*refused: /s);
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
});

test('a model-day asks only for that day, shows its trades, what the model thought, and the portfolio before and after', async (t) => {
  const { page, open } = await visit(t, service.url);
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (request.resourceType() === 'fetch') asked.push(`${pathname} ${searchParams.get('date')}`);
  });
  await page.route('**/reasoning*', async (route) => {
    const body = await (await route.fetch()).json();
    for (const message of body.sessions[0].conversation)
      if (message.role === 'assistant') message.summary = HOSTILE;
    await route.fulfill({ json: body });
  });
  await open(`/model-days/model-a/${secondDate}`);
  // The first request of a tab also asks for the models, whose order gives them their colours.
  const own = ['/models null', `/reasoning ${secondDate}`, `/results ${secondDate}`];
  assert.deepEqual(asked.sort(), own);
  await page.getByText(`Thinking: ${HOSTILE}`).first().waitFor();
  const days = page.getByRole('navigation', { name: 'Other days of this model' });
  assert.deepEqual(
    await days.getByRole('link').evaluateAll((all) => all.map((day) => day.getAttribute('href'))),
    ['/models/model-a', ...[firstDate, thirdDate].map((day) => `/model-days/model-a/${day}`)],
  );
  const rows = await page.locator('.portfolio tbody tr').allInnerTexts();
  assert.match(rows[1] ?? '', /^AAPL\t30\t20\t−10$/);
  const { results } = (await service.get(`/results?model=model-a&date=${secondDate}`)).body;
  const value = profit(results.at(-1).portfolio_value).replace('+', '');
  assert.match(await page.locator('.portfolio tfoot').innerText(), new RegExp(`\t${value}\t`));
  assert.equal(await page.locator('section table .sell').count(), 1);
});

test('the overview ranks over common days; filters are in the address, work with Back, and go along to other pages', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/');
  const order = `[...document.querySelectorAll('.answer, .trouble')].map((part) => part.className)`;
  assert.deepEqual(await page.evaluate(order), ['answer', 'notice trouble'], 'failures come after');
  const board = region(page, 'Leaderboard');
  const days = dates.length - 2; // one failed, and the return of the next covers it
  const ranked = board.getByText(`Ranked over the ${days} day`);
  await ranked.waitFor();
  const caveat = await board.locator('.caveat').innerText();
  assert.equal(caveat, 'not comparable: never traded · 1 failed day');
  const line = page.locator('.curves').getByRole('button', { name: /^model-b/ });
  await line.click();
  await page.locator('.folded > summary').click();
  await page.locator('.choose').click();
  await page.locator('.panel').getByLabel('model-b', { exact: true }).check();
  await button(page, 'Show these').click();
  await page.waitForURL('**/?models=model-b');
  await board.getByText('Ranked over the ').waitFor();
  assert.deepEqual(await board.locator('tbody th a').allInnerTexts(), ['model-b']);
  assert.equal(await line.getAttribute('aria-pressed'), 'false', 'a hidden line stays hidden');
  const focused = await page.evaluate('document.activeElement.textContent');
  assert.equal(focused, 'model-b', 'the focus stays on the filter');
  const compare = page.getByRole('link', { name: 'Compare', exact: true });
  assert.equal(await compare.getAttribute('href'), '/compare?models=model-b');
  await page.getByLabel('Benchmark').fill('AAPL');
  await page.getByLabel('Benchmark').press('Enter');
  await page.waitForURL('**/?models=model-b&benchmark=AAPL');
  await page.locator('.legend', { hasText: 'AAPL (benchmark)' }).waitFor();
  const model = board.locator('tbody th a');
  assert.equal(await model.getAttribute('href'), '/models/model-b?benchmark=AAPL');
  const requested: string[] = [];
  page.on('request', (request) => requested.push(new URL(request.url()).search));
  const [year, month, day] = secondDate.split('-') as [string, string, string];
  await page.getByLabel('From', { exact: true }).pressSequentially(month + day + year);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/?models=model-b&start_date=${secondDate}&benchmark=AAPL`);
  await board.getByText('Ranked over the ').waitFor();
  const dated = requested.filter((search) => /^(?!.*looks=daily).*start_date/.test(search));
  const figures = `?models=model-b&start_date=${secondDate}&benchmark=AAPL&common=true&by=entry`;
  assert.deepEqual(dated, [figures], 'only for the whole date, and without details');
  for (const path of ['?models=model-b&benchmark=AAPL', '?models=model-b', '']) {
    await page.goBack();
    await page.waitForURL(`**/${path}`);
  }
  await ranked.waitFor();
  assert.equal(await board.locator('tbody tr').count(), 4, 'three models and the benchmark');
  assert.equal(await page.locator('.panel').isVisible(), false, 'the list of models stays closed');
});

test('a click on a curve opens that day, and so does Enter', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/?models=model-a');
  const drawing = page.locator('.curves .drawing');
  // Figures that arrive later move the plot, so that the pointer may miss the curve once.
  await until('the day on the curve', async () => {
    if (page.url().endsWith(`/model-days/model-a/${lastDate}`)) return true;
    const [box] = await drawing.evaluateAll((all) =>
      all.map((element) => element.getBoundingClientRect().toJSON()),
    );
    const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
    for (let top = 6; top < height; top += 6) {
      await page.mouse.move(x + width - 14, y + top);
      const isOn = (all: Element[]) => all.some((element) => element.matches('.on-curve'));
      if (!(await drawing.evaluateAll(isOn))) continue; // which does not wait on a page that is left
      await page.mouse.click(x + width - 14, y + top);
      break;
    }
    return false;
  });
  await page.goBack();
  await loaded(page);
  await until('the first day', async () => {
    if (page.url().endsWith(`/model-days/model-a/${firstDate}`)) return true;
    const isFocused = await drawing.evaluateAll(([element]) => {
      (element as HTMLElement | undefined)?.focus();
      return element !== undefined;
    });
    const keys = ['Home', 'Enter', 'ArrowRight', 'Enter']; // there is no day at the start
    if (isFocused) for (const key of keys) await page.keyboard.press(key);
    return false;
  });
});

test('Back finds a page as it was left: scrolled, sorted, with hidden lines and open folds', async (t) => {
  const { page, open } = await visit(t, service.url, { viewport: { width: 800, height: 300 } });
  const kept = () =>
    page.evaluate<object>('({ ...navigation.currentEntry.getState(), scroll: undefined })');
  const back = () => page.goBack().then(() => loaded(page));
  await open('/?common=false');
  await button(page, 'Log scale').click();
  await page
    .locator('.curves')
    .getByRole('button', { name: /^model-b/ })
    .click();
  await button(page, 'Trades').click();
  await page.evaluate("dispatchEvent(new Event('pagehide'))"); // writes what waits
  const left = await kept();
  const model = page.getByRole('link', { name: 'model-a', exact: true }).first();
  await model.scrollIntoViewIfNeeded();
  const scrolled = await page.evaluate<number>('scrollY');
  assert.ok(scrolled > 0);
  await model.click();
  await loaded(page);
  assert.equal(await page.evaluate('scrollY'), 0, 'a link leads to the top');
  await back();
  await until('the page to be scrolled', async () => scrolled === (await page.evaluate('scrollY')));
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
});

test('what does not exist is explained in a sentence', async (t) => {
  const { page, open } = await visit(t, service.url, { provokes: [404, 400, 422] });
  const missing: [path: string, words: RegExp][] = [
    ['/models/unknown', /Model unknown has no completed model-day/],
    ['/model-days/model-a/2020-01-01', /Model model-a has no session on Wed 1 Jan 2020/],
    ['/model-days/model-a/yesterday', /Invalid date format: yesterday/],
    ['/jobs/no-such-job', /There is no job no-such-job/],
    ['/documents/one?as_of=2025-01-02', /^There is no such document\.$/],
    ['/documents/one?as_of=x', /^as_of: Invalid date format: x\. Expected YYYY-MM-DD$/],
  ];
  for (const [path, words] of missing) {
    await open(path);
    await page.locator('.notice', { hasText: words }).waitFor();
    assert.ok((await page.locator('main a[href^="/"]').count()) > 0, `${path} shows no way on`);
  }
});

test('two models are side by side: their figures, and what both decided on a day that the reader chooses', async (t) => {
  const { page, open } = await visit(t, service.url);
  await open('/compare?models=model-a,model-b');
  const performance = '/performance?models=model-a,model-b&common=true';
  const { models, common } = (await service.get(performance)).body;
  assert.equal(
    await page.locator('.answer').innerText(),
    `It takes 20 days in common to say whether a difference could be chance; so far there are ${common.days}.`,
  );
  const span = `${longDate(common.start_date)} to ${longDate(common.end_date)}`;
  const over = `Every return on this page is over the same ${common.days} days from ${span}.`;
  await page.getByText(over).waitFor();
  await page.getByText('Once the models have 20 days in common, this page also shows').waitFor();
  assert.equal(await page.locator('.folded[open]').count(), 1, 'another choice is the way on');
  const shown = await page.locator('.forest tbody').innerText();
  const sides = region(page, 'Side by side');
  assert.doesNotMatch(await sides.innerText(), /other days/);
  const cells = (name: string) => sides.locator('tbody tr', { hasText: name }).locator('td');
  const returns = await sides.locator('tbody tr').first().locator('td').allInnerTexts();
  assert.deepEqual(shown.match(/[+−]\d+\.\d\d %/g), returns, 'one return per name');
  models.sort((one: any, other: any) => other.total_return - one.total_return);
  const trades = models.map(({ trading }: any) => String(trading.trades));
  assert.deepEqual(await cells('Trades').allInnerTexts(), trades);
  const perYear = cells('Annualised return').first();
  await button(page, 'No figure').and(perYear.getByRole('button')).press('Enter');
  await perYear.getByText(models[0].unavailable.annualised_return).waitFor(); // on a phone too, which has no hover
  const titles = page.locator('.side h3');
  const column = (name: string) =>
    page.locator('.side', { has: page.getByRole('link', { name, exact: true }) });
  await page.getByLabel('Date', { exact: true }).selectOption(firstDate);
  await column('model-a').getByText('Bought 30 AAPL at').waitFor();
  await column('model-b').getByText('Bought 20 NVDA at').waitFor();
  assert.equal(await button(page, 'Previous day').isDisabled(), true);
  await button(page, 'Next day').click();
  await column('model-a').getByText('Sold 10 AAPL at').waitFor();
  await column('model-a').getByText('Order refused: buy 1,000 MSFT').waitFor();
  assert.match(await column('model-a').innerText(), /insufficient|cash/i);
  await column('model-b').getByText('No trade').waitFor();
  await page.waitForURL(`**/compare?models=model-a,model-b&date=${secondDate}`);
  await page.reload();
  await column('model-a').getByText('Sold 10 AAPL at').waitFor();
  const names = models.map(({ model }: any) => model);
  assert.deepEqual(await titles.allInnerTexts(), names);
  await titles.getByRole('link', { name: 'model-a', exact: true }).click();
  await page.waitForURL(`**/model-days/model-a/${secondDate}`);
});

test('a model’s page shows what the service reports of its days, asks for nothing else, and follows its filters', async (t) => {
  const { page, open } = await visit(t, service.url);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url().slice(service.url.length)));
  await open('/models/model-a');
  const reported = (await service.get('/performance?model=model-a&details=true')).body.models[0];
  const { details, round_trips: trips } = reported;
  const percents = new Map<string, string>(
    details.months.map((one: any) => [one.month, change(one.return).replace(' %', '')]),
  );
  const months = [...Array(12).keys()].map((place) => String(place + 1).padStart(2, '0'));
  const calendar = region(page, 'Returns by month, in percent');
  assert.deepEqual(
    await calendar.locator('tbody td:not(.total)').allInnerTexts(),
    details.years.flatMap(({ year }: any) =>
      months.map((month) => percents.get(`${year}-${month}`) ?? ''),
    ),
  );
  const falls = await region(page, 'Deepest drawdowns').locator('tbody tr').count();
  assert.equal(falls, details.drawdowns.length);
  await page.getByText('Profit by symbol', { exact: true }).first().click();
  const symbols = page.getByRole('table', { name: 'Profit by symbol' }).locator('tbody th');
  await symbols.first().waitFor();
  const traded = details.symbols.map(({ symbol }: { symbol: string }) => symbol);
  assert.deepEqual(await symbols.allInnerTexts(), traded);
  await page.getByText('All figures, with their meanings').click();
  const figures = page.getByRole('table', { name: 'All figures' });
  const figure = (name: string) => figures.getByRole('row', { name }).innerText();
  const expectancy = RegExp.escape(profit(trips.expectancy));
  const meaning = new RegExp(`${expectancy}\\s+Mean profit of all round trips$`);
  assert.match(await figure('Expectancy'), meaning);
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
  const span = (first: string) => `from ${nonBreakingDate(first)} to ${nonBreakingDate(lastDate)}`;
  await page.getByText(span(secondDate)).waitFor();
  await page.goBack();
  await page.getByText(span(firstDate)).waitFor();
});
