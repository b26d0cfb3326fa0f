import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { comparisonResponse } from '../../src/features/comparison/route.ts';
import { performanceResponse } from '../../src/features/performance/response.ts';
import { confidenceBoundary } from '../../src/features/comparison/looks.ts';
import { createNormals } from '../../src/features/statistics/random.ts';
import { compare, model } from '../support/comparisons.ts';
import { within } from '../support/near.ts';
import { insertReturns } from '../support/returns.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { like } from '../support/text-table.ts';
import { fillWithTrackRecords } from '../support/track-records.ts';
import { validBody } from '../support/valid-body.ts';
import { startTestView } from '../support/view.ts';
import { temporaryFolder } from '../support/folder.ts';

/** What GET /comparison reads, selects and refuses; the figures are tested in test/comparison. */

/** `count` returns of about one percent, with null on some days. */
function someReturns(
  name: string,
  count: number,
  failed: readonly number[] = [],
): (number | null)[] {
  const normal = createNormals(name);
  const all = Array.from({ length: count }, () => 0.001 + normal() / 100);
  return all.map((value, day) => (failed.includes(day) ? null : value));
}

const recent = weekdays('2025-06-02', '2025-07-11');
const returns = {
  alpha: someReturns('alpha', 30),
  beta: someReturns('beta', 30, [5]),
  gamma: someReturns('gamma', 30),
  'gamma#2': someReturns('gamma 2', 30),
  hold: someReturns('hold', 30),
  short: someReturns('short', 5),
};

const HOLD = { kind: 'baseline', basemodel: 'baseline/buy-and-hold' } as const;

const past = weekdays('2024-06-03', '2024-08-23');
const PAST_MODELS = 12;
const control = weekdays('2023-01-02', '2023-02-10');
const real = weekdays('2024-01-01', '2024-02-09');

const MISSED = 'No return on this day';
const ELSEWHERE =
  'Its previous model-day differs from that of the others, so its return covers other days';
const betaMissed = [
  { date: recent[5], runs: ['beta'], reason: MISSED },
  { date: recent[6], runs: ['beta'], reason: ELSEWHERE },
];

let service: TestService;
before(async (t) => {
  service = await startTestService(t as TestContext, {});
  const { database } = service;
  const [family, repeats] = ['gamma', 2];
  const second = { repeats, run: 2, parameters: { seed: 2 } };
  insertReturns(database, {
    dates: recent,
    runs: {
      alpha: { returns: returns.alpha },
      beta: { returns: returns.beta },
      gamma: { returns: returns.gamma, family, entry: { repeats } },
      'gamma#2': { returns: returns['gamma#2'], family, entry: second },
      hold: { returns: returns.hold, entry: HOLD },
    },
  });
  const few = { short: { returns: returns.short } };
  insertReturns(database, { dates: recent.slice(0, 5), runs: few });
  insertPast(database);
  insertMarkets(database);
  insertTerms(database);
  insertBenchmarks(database);
});

/** A quarter of 2022 in which the best three traded on other terms. */
const early = weekdays('2022-03-07', '2022-04-29');
function insertTerms(database: TestService['database']): void {
  const insert = (run: string, mean: number, agentConfig = {}) =>
    insertReturns(database, {
      dates: early,
      agentConfig,
      runs: { [run]: { returns: early.map((_, day) => mean + (day % 3) / 1000) } },
    });
  insert('usual', 0.0001);
  insert('like-it', 0.0002);
  insert('free', 0.0003, { commission_per_trade: 1 });
  insert('early-riser', 0.0004, { open: 'hidden' });
  insert('abroad', 0.0005, { stock_symbols: ['AAPL'] });
}

/** A benchmark that beats every model, one that every model beats, and one that came too late. */
function insertBenchmarks(database: TestService['database']): void {
  const insert = database.statement(
    'INSERT INTO price_data (symbol, date, open, close) VALUES (?, ?, ?, ?)',
  );
  for (const [day, date] of recent.entries()) {
    insert.run('QQQ', date, 100 + day, 101 + day * 1.5);
    insert.run('DOWN', date, 100 - day, 99.5 - day);
  }
  insert.run('LATE', recent.at(-1) as string, 1, 1);
}

/** Two quarters in which something is wrong with most models. */
function insertPast(database: TestService['database']): void {
  const of = (name: string, more = {}) => ({
    [name]: { returns: someReturns(name, past.length), ...more },
  });
  const knowledge_cutoff = past[29] as string;
  insertReturns(database, {
    dates: past,
    runs: {
      ...of('plain'),
      ...of('other'),
      refilled: { returns: someReturns('refilled', past.length, [10]) },
      ...of('recalls', { entry: { knowledge_cutoff: past[24] } }),
      ...of('unclean', { entry: { knowledge_cutoff: '2025-01-01' } }),
      idle: { returns: past.map(() => 0), entry: { knowledge_cutoff } },
      ruined: {
        returns: [...someReturns('ruined', past.length - 1), -1],
        entry: { knowledge_cutoff },
      },
    },
  });
  insertReturns(database, { dates: past.slice(10, 11), runs: { refilled: { returns: [0.01] } } });
  const halves = [past.slice(0, 30), past.slice(30)];
  for (const [half, dates] of halves.entries()) {
    const add = (run: string, entry = {}, agentConfig = {}) => {
      const returns = someReturns(`${run} ${half}`, dates.length);
      insertReturns(database, { dates, agentConfig, runs: { [run]: { returns, entry } } });
    };
    add('changed', {}, { max_steps: 10 + half });
    add('paid', {}, { dividends: half === 1 });
    add('unpaid', {}, { dividends: false });
    add('prompted', { prompt: half === 0 ? null : 'Be bold.' });
    add('repeated', { repeats: half === 0 ? 1 : 3 });
  }
}

/**
 * A market and its control, with a holiday each; in each a model-day failed, and one of the control
 * was never tried. A newcomer has only a few days.
 */
function insertMarkets(database: TestService['database']): void {
  const HOLIDAY = 12;
  const markets = [
    { dates: real, symbol: 'REAL', run: 'trader', lost: [4] },
    { dates: control, symbol: 'CTRL', run: 'trader-control', lost: [0, 7] },
  ];
  for (const { dates, symbol, run, lost } of markets) {
    const open = dates.filter((_, day) => day !== HOLIDAY);
    for (const date of open)
      database
        .statement('INSERT INTO price_data (symbol, date, open) VALUES (?, ?, 1)')
        .run(symbol, date);
    const all = someReturns(run, open.length, lost);
    const agentConfig = { stock_symbols: [symbol] };
    const untried = run === 'trader' ? [] : [20];
    const entry = run === 'trader' ? { knowledge_cutoff: real[3] as string } : {};
    const parts = [0, ...untried.map((day) => day + 1)];
    parts.forEach((from, part) => {
      const to = untried[part] ?? open.length;
      insertReturns(database, {
        dates: open.slice(from, to),
        agentConfig,
        runs: { [run]: { returns: all.slice(from, to), entry } },
      });
    });
  }
  const entry = { knowledge_cutoff: real[2] as string };
  insertReturns(database, {
    dates: real.slice(0, 5),
    agentConfig: { stock_symbols: ['REAL'] },
    runs: { newcomer: { returns: someReturns('newcomer', 5), entry } },
  });
}

function ask(query: string): Promise<any> {
  return validBody(service, `/comparison?${query}`, comparisonResponse);
}

const RECENT = 'start_date=2025-06-02';
const PAST = 'start_date=2024-06-03&end_date=2024-08-23';
const namesOf = (body: any) => body.models.map(({ model }: any) => model);
const modelIn = (body: any, name: string) => body.models.find(({ model }: any) => model === name);

const assertNear = within({ absolute: 1e-9 });

/** The figures of a row by their names; null where there is a reason instead of one. */
function assertFigures(found: any, report: object, what: string): void {
  for (const [name, figure] of Object.entries(report)) {
    if (['unavailable', 'curve', 'kind'].includes(name)) continue;
    const own = found[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    if (typeof figure !== 'object' || figure === null) assertNear(own, figure, `${what}: ${name}`);
    else if ('reason' in figure) assert.equal(own, null, `${what}: ${name}`);
    else assertFigures(own, figure, `${what}: ${name}`);
  }
}

test('the ledger and the arithmetic meet: entries with their runs, the days they share, and every figure', async () => {
  const body = await ask(RECENT);
  const expected = compare(
    [
      model('alpha', { alpha: returns.alpha }),
      model('beta', { beta: returns.beta }),
      model('gamma', { gamma: returns.gamma, 'gamma#2': returns['gamma#2'] }),
      model('hold', { hold: returns.hold }, { isDeterministic: true }),
    ],
    { window: { start: '2025-06-02', end: '' }, trials: 5 },
  );
  assert.deepEqual([body.start_date, body.end_date, body.days], ['2025-06-02', recent.at(-1), 28]);
  assert.deepEqual([body.left_out, body.left_out_models], [betaMissed, ['short']]);
  assert.deepEqual([body.models.length, body.pairs.length, body.leader.trials], [4, 6, 5]);
  for (const part of ['models', 'pairs', 'leader'] as const)
    assertFigures(body[part], expected[part], part);
  assert.deepEqual(await ask(RECENT), body, 'the same every time');
});

const selections: [query: string, models: string[], pairs: number, days: number][] = [
  [`${RECENT}&models=alpha,gamma`, ['alpha', 'gamma'], 1, 30],
  [`${RECENT}&models=gamma%232,alpha`, ['alpha', 'gamma#2'], 1, 30],
  [`${RECENT}&models=gamma,gamma%232`, ['gamma', 'gamma#2'], 1, 30],
  [`${RECENT}&models=alpha,beta,hold`, ['alpha', 'beta', 'hold'], 3, 28],
  [`${RECENT}&models=alpha,hold&against=gamma`, ['alpha', 'gamma', 'hold'], 2, 30],
  [`${RECENT}&models=alpha,hold&against=hold`, ['alpha', 'hold'], 1, 30],
  ['start_date=2025-06-03&end_date=2025-07-02&models=alpha,hold', ['alpha', 'hold'], 1, 22],
  ['start_date=1999-01-01&end_date=1999-12-31', [], 0, 0],
  [`${RECENT}&end_date=2025-06-26&models=alpha,hold`, ['alpha', 'hold'], 1, 19],
  [`${RECENT}&end_date=2025-06-26&models=alpha,beta`, ['alpha', 'beta'], 1, 17],
  ['start_date=2025-06-09&end_date=2025-06-19', ['alpha', 'beta', 'gamma', 'hold'], 6, 7], // nothing is named, and none has 20
  [`${PAST}&models=refilled,changed`, ['changed', 'refilled'], 1, 59], // both are unusable
];
test('which models are compared, over how many days', async () => {
  for (const [query, models, pairs, days] of selections) {
    const body = await ask(query);
    const found = [namesOf(body).sort(), body.pairs.length, body.days];
    assert.deepEqual(found, [models, pairs, days], query);
    const against = new URLSearchParams(query).get('against');
    if (against !== null) assert.ok(body.pairs.every((pair: any) => pair.against === against));
  }
});

const differs = (name: string) => `…${name} on ${past[30]} differs from …${name} on ${past[0]};…`;
const STALE =
  '1 of its 60 model-days is stale: …; 48 later model-days rest on it; ' +
  `npx trading-simulation-service trigger --start ${past[11]} --end ${past[59]} --models refilled --terms-of … --replace runs them again`;
/** A window, two or three models, of which the last has no figures for a reason, or has some. */
const reasons: [window: string, models: string, reason: string | null][] = [
  [RECENT, 'alpha,short', 'Needs 20 days with a return; it has 5'],
  [RECENT, 'alpha,plain', 'Needs 20 days with a return; it has 0'],
  [PAST, 'plain,other,refilled', STALE],
  [PAST.replace('2024-06-03', past[12] as string), 'plain,other,refilled', null],
  [PAST, 'plain,other,changed', differs('changed')],
  [PAST, 'plain,other,prompted', differs('prompted')],
  [PAST, 'plain,other,paid', differs('paid')],
  [PAST, 'plain,other,unpaid', null],
  [`end_date=${past[29]}`, 'plain,other,changed', null],
  [PAST, 'plain,other,repeated', null],
];
test('a model without figures says why, and the others have theirs', async () => {
  for (const [window, models, reason] of reasons) {
    const body = await ask(`${window}&models=${models}`);
    const name = models.split(',').at(-1);
    for (const own of body.models) {
      if (own.model !== name || reason === null)
        assert.equal(typeof own.standard_error_daily, 'number', `${own.model} of ${models}`);
      else assert.match(own.unavailable.standard_error_daily, like(reason));
    }
    const pair = body.pairs.find((one: any) => [one.model, one.against].includes(name));
    assert.equal(pair.p_value === null, reason !== null);
    assert.equal(pair.p_value === null, pair.unavailable.interval !== undefined);
  }
});

test('below 20 common days, a response says how many there are, which are left out, and why there are no figures', async () => {
  const body = await ask(`${RECENT}&end_date=2025-06-26&models=alpha,beta`);
  assert.deepEqual([body.days, body.left_out], [17, betaMissed]);
  const reasonFor = (name: string) => modelIn(body, name).unavailable.total_return;
  for (const [name, days] of [
    ['alpha', 19],
    ['beta', 18],
  ] as const)
    assert.equal(reasonFor(name), `Needs 20 days with a return; it has ${days}`);
  assert.equal(body.pairs[0].unavailable.difference, `No figures for alpha: ${reasonFor('alpha')}`);
  const byDefault = await ask('start_date=2025-06-09&end_date=2025-06-19');
  const found = [byDefault.left_out_models, modelIn(byDefault, 'gamma').unavailable.total_return];
  assert.deepEqual(found, [[], 'Needs 20 days with a return; its runs share 9']);
});

test('a model without figures costs the others no days and no adjustment, but counts as a trial', async () => {
  const two = await ask(`${PAST}&models=plain,other`);
  const three = await ask(`${PAST}&models=plain,other,refilled`);
  assert.deepEqual(three.left_out, []);
  const pairOf = ({ pairs }: any) => pairs.find(({ p_value: p }: any) => p !== null);
  assert.deepEqual(pairOf(three), pairOf(two));
  assert.deepEqual(three.leader, two.leader);
  assert.equal(two.leader.trials, PAST_MODELS);
});

test('clean days are those after the latest cutoff of the models with figures; all others are marked', async () => {
  const all = await ask(`${PAST}&models=plain,recalls`);
  assert.deepEqual([all.days, all.clean_after], [60, null]);
  const marked = ({ days_before_cutoff: days, knowledge_cutoff: cutoff }: any) => [days, cutoff];
  assert.deepEqual(marked(modelIn(all, 'plain')), [0, null]);
  assert.deepEqual(marked(modelIn(all, 'recalls')), [25, past[24]]);
  const clean = await ask(`${PAST}&models=plain,recalls,unclean&days=clean`);
  assert.deepEqual([clean.days, clean.clean_after], [35, past[24]]);
  assert.equal(modelIn(clean, 'recalls').days_before_cutoff, 0);
  assert.match(modelIn(clean, 'unclean').unavailable.interval, /it has 0$/);
  assert.equal((await ask(`${PAST}&models=plain,other&days=clean`)).days, 60);
  // The cutoff of a model whose clean days give no figures costs the others no days.
  const ruined = await ask(`${PAST}&models=plain,recalls,ruined&days=clean`);
  assert.deepEqual([ruined.days, ruined.clean_after], [35, past[24]]);
  assert.match(modelIn(ruined, 'ruined').unavailable.interval, /lost everything/);
});

test('by number, the days of two markets meet; failed and untried days are gaps at their numbers', async () => {
  const query = 'end_date=2024-02-09&models=trader,trader-control';
  const body = await ask(`${query}&align=number`);
  assert.equal(body.days, 29 - 8);
  const twice = (number: number, run: string) => [
    { number, runs: [run], reason: MISSED },
    { number: number + 1, runs: [run], reason: ELSEWHERE },
  ];
  assert.deepEqual(body.left_out, [
    ...twice(1, 'trader-control'),
    ...twice(5, 'trader'),
    ...twice(8, 'trader-control'),
    ...twice(21, 'trader-control'),
  ]);
  const withNewcomer = await ask(`${query},newcomer&align=number`);
  assert.equal(withNewcomer.days, 29 - 8);
  // Number 3; later ones are not among its days.
  assert.equal(modelIn(withNewcomer, 'newcomer').days_before_cutoff, 1);
  const clean = await ask(`${query}&align=number&days=clean`);
  // The days of the control market with clean numbers are clean.
  assert.deepEqual([clean.days, clean.clean_after], [19, real[3]]);
  assert.deepEqual(clean.left_out, body.left_out.slice(2));
  const byDate = await ask(query);
  assert.equal(byDate.days, 0);
  assert.match(
    modelIn(byDate, 'trader').unavailable.interval,
    /^Needs 20 days that .*; there are 0/,
  );
});

test('another confidence changes intervals and what is shown, not p-values', async () => {
  const usual = await ask(`${RECENT}&models=alpha,hold`);
  const half = await ask(`${RECENT}&models=alpha,hold&confidence=.5`);
  assert.deepEqual([usual.confidence, half.confidence], [0.95, 0.5]);
  const width = ({ pairs: [{ interval }] }: any) => interval.high - interval.low;
  assert.ok(width(half) < width(usual) / 2);
  assert.equal(half.pairs[0].p_value, usual.pairs[0].p_value);
});

test('for a look on any day intervals are wider and p-values larger, at the boundary of the days', async () => {
  const query = `${RECENT}&models=alpha,hold`;
  const [once, daily] = [await ask(`${query}&looks=once`), await ask(`${query}&looks=daily`)];
  assert.deepEqual(await ask(query), once);
  assert.deepEqual([once.looks, once.boundary, daily.looks], ['once', null, 'daily']);
  assertNear(daily.boundary, confidenceBoundary(daily.days, 0.05), 'boundary');
  const [[single], [always]] = [once.pairs, daily.pairs];
  const width = ({ low, high }: any) => high - low;
  for (const [wide, narrow] of [
    [always, single],
    ...daily.models.map((one: any, index: number) => [one, once.models[index]]),
  ])
    assert.ok(width(wide.interval) > 1.3 * width(narrow.interval));
  for (const field of ['p_value', 'p_value_holm', 'smallest_difference', 'days_needed'])
    assert.ok(always[field] > single[field], field);
  assert.match(single.sentence, / or wider, for a single look\)/);
  assert.match(always.sentence, / or wider, whichever day you look\)/);
  for (const field of ['difference', 'standard_error_daily', 'degrees_of_freedom', 'correlation'])
    assert.equal(always[field], single[field], field);
  assert.equal((await ask('looks=daily&start_date=1999-01-01&end_date=1999-12-31')).boundary, null);
});

test('an entry has one return: /performance by entry covers the days that are compared', async () => {
  const windows: [query: string, days: number][] = [
    [RECENT, 28],
    [`${RECENT}&models=gamma,hold`, 30],
    [`${RECENT}&models=gamma,beta,short`, 28],
    [`${PAST}&days=clean`, 30],
    ['', 0],
  ];
  for (const [query, days] of windows) {
    const path = `/performance?${query}&by=entry&common=true`;
    const body = await validBody<any>(service, path, performanceResponse);
    const { families, models, common, clean_after } = body;
    const compared = await ask(query);
    const found = [common.days, compared.days, clean_after];
    assert.deepEqual(found, [days, days, compared.clean_after], query);
    const figures = compared.models.filter((own: any) => own.total_return !== null);
    for (const { model, total_return, runs, run_returns } of figures) {
      const own = families.find(({ family }: any) => family === model);
      assertNear(own.mean_total_return, total_return, `${model} ${query}`);
      assert.equal(own.curve?.length, runs.length === 1 ? undefined : days);
      for (const [index, run] of runs.entries()) {
        const { total_return: found } = models.find((one: any) => one.model === run);
        assertNear(found, run_returns[index], `${run} ${query}`);
      }
    }
    // Entries without figures are ranked as well, unless they would cost the others days.
    for (const { model_days, model } of models) assert.equal(model_days, days, `${model} ${query}`);
  }
  const ranked = async (query: string) => {
    const path = `/performance?${query}&by=entry`;
    const { families } = await validBody<any>(service, path, performanceResponse);
    return families.map(({ family, runs }: any) => `${family} ${runs[0].model_days}`).join();
  };
  assert.equal(await ranked(RECENT), 'alpha 30,beta 29,gamma 30,hold 30,short 5');
  assert.equal(await ranked(`${RECENT}&model=gamma%232`), 'gamma 30');
  const shared = `/performance?${RECENT}&by=entry&common=true`;
  const { common } = await validBody<any>(service, shared, performanceResponse);
  const reason = 'It missed 23 of the 28 days compared, or a day before one of them';
  assert.deepEqual(common.left_out, [{ model: 'short', reason }]);
  const lacking = common.left_out_days.map(({ missing, models }: any) => `${missing} ${models}`);
  assert.deepEqual(lacking, ['1 beta', '1 beta']);
});

test('the answer names who leads, by how much, over which days, and what the benchmark made of them', async () => {
  const wide = 'start_date=2025-05-01&end_date=2025-12-31&models=alpha,beta,gamma';
  for (const query of [wide, `${wide}&benchmark=DOWN`, `${wide}&looks=daily`]) {
    const { models, pairs, answer, ...body } = await ask(query);
    const [leader, second] = models.toSorted((a: any, b: any) => b.total_return - a.total_return);
    const named = [answer.leader, answer.total_return, answer.against];
    assert.deepEqual(named, [leader.model, leader.total_return, second.model]);
    assertNear(answer.lead, leader.total_return - second.total_return, query);
    const pair = pairs.find((own: any) =>
      [leader, second].every(({ model }) => [own.model, own.against].includes(model)),
    );
    assert.equal(pair.model, leader.model);
    for (const end of ['low', 'high'])
      assertNear(answer.interval[end] / pair.interval[end], 1 + second.total_return, end);
    assert.equal(answer.shown, pair.shown);
    // Not the window that was asked for.
    const window = [answer.start_date, answer.end_date, answer.days, body.days];
    assert.deepEqual(window, [recent[0], recent.at(-1), 28, 28]);
    const path = `/performance?${query.replace('&looks=daily', '')}&by=entry&common=true`;
    const { benchmark } = await validBody<any>(service, path, performanceResponse);
    assert.deepEqual([benchmark.days, answer.benchmark.name], [28, benchmark.name]);
    assertNear(answer.benchmark.total_return, benchmark.total_return, query);
    const isBeaten = leader.total_return <= benchmark.total_return;
    assert.equal(isBeaten, benchmark.name === 'QQQ');
    assert.equal(answer.sentence.startsWith('No model beat the benchmark (QQQ)'), isBeaten);
  }
  const unpriced = await ask(`${wide}&benchmark=LATE`);
  assert.equal(unpriced.answer.benchmark, null);
  assert.match(unpriced.answer.unavailable.benchmark, /^LATE has no price at the start/);
  assert.doesNotMatch(unpriced.answer.sentence, /benchmark/);
  const { answer } = await ask('models=trader,trader-control&align=number');
  assert.deepEqual([answer.benchmark, answer.start_date, answer.end_date], [null, null, null]);
  assert.equal(answer.unavailable.benchmark, 'Days with the same number fall on different dates');
});

test('job_id restricts the days, the runs of an entry and the trials to those of the job', async () => {
  const jobs = service.database
    .statement(`SELECT DISTINCT job_id FROM trading_sessions WHERE model = 'changed' ORDER BY date`)
    .all();
  const [first, second] = jobs.map((row) => row['job_id']);
  const days = async (query: string) => {
    const { models, leader } = await ask(`${query}&models=changed`);
    return [models[0].unavailable.interval ?? 'figures', leader.trials];
  };
  assert.match((await days(PAST))[0], /^It was called in two ways/);
  assert.deepEqual(await days(`${PAST}&job_id=${first}`), ['figures', 1]);
  assert.deepEqual(await days(`${PAST}&job_id=${second}`), ['figures', 1]);
  const [none] = await days(`job_id=${second}&end_date=${past[29]}`);
  assert.equal(none, 'Needs 20 days with a return; it has 0');
  const body = await ask(`job_id=${second}`);
  const found = [body.start_date, body.end_date, namesOf(body)];
  assert.deepEqual(found, [past[30], past.at(-1), ['changed']]);
});

test('the tables have the figures of the response', async () => {
  const query = `${RECENT}&models=alpha,gamma,short`;
  const body = await ask(query);
  const table = async (name: string) => {
    const response = await fetch(`${service.url}/comparison?${query}&format=csv&table=${name}`);
    const disposition = response.headers.get('content-disposition');
    assert.equal(disposition, `attachment; filename="${name}.csv"`);
    return (await response.text()).split('\r\n');
  };
  const [head = '', ...rows] = await table('models');
  assert.match(
    head,
    /^model,runs,run_returns,total_return,interval_low,.*,probability_best,knowledge_cutoff,days_before_cutoff,incomparable,unavailable,study$/,
  );
  const { run_returns: runs, total_return: total, interval: own } = modelIn(body, 'gamma');
  const start = ['gamma', 2, `gamma:${runs[0]} gamma#2:${runs[1]}`, total, own.low].join();
  assert.match(rows.join('\n'), new RegExp(`^${RegExp.escape(start)}`, 'm'));
  assert.ok(rows.includes('short,1,short:,,,,,,,true,,,0,,Needs 20 days with a return; it has 5,'));
  const [, ...pairs] = await table('pairs');
  assert.equal(pairs.length, 3 + 1);
  const { model: one, against, difference, interval, sentence } = body.pairs[0];
  assert.ok(pairs[0]?.startsWith([one, against, difference, interval.low, interval.high].join()));
  assert.ok(pairs[0]?.includes(`"${sentence}"`));
});

test('with curves=true each pair has a curve with a point per day compared; the tables do not change', async () => {
  const query = `${RECENT}&models=alpha,gamma,short`;
  const [plain, body] = [await ask(query), await ask(`${query}&curves=true`)];
  const [pair, ...without] = body.pairs;
  const alpha = model('alpha', { alpha: returns.alpha });
  const gamma = model('gamma', { gamma: returns.gamma, 'gamma#2': returns['gamma#2'] });
  const [expected] = compare([alpha, gamma], { curves: true }).pairs;
  assert.equal(pair.curve.length, expected?.curve?.length);
  for (const [day, { difference }] of expected?.curve?.entries() ?? []) {
    assert.equal(pair.curve[day].date, recent[day]);
    assertNear(pair.curve[day].difference, difference, `day ${day}`);
  }
  assertNear(pair.curve.at(-1).difference, pair.difference, 'the last point');
  const reason = 'No figures for short: Needs 20 days with a return; it has 5';
  for (const { curve, correlation, unavailable } of without)
    assert.deepEqual([curve, correlation, unavailable.correlation], [[], null, reason]);
  assert.equal(without.length, 2);
  assert.deepEqual({ ...body, pairs: body.pairs.map(({ curve: _, ...one }: any) => one) }, plain);
  const numbered = 'end_date=2024-02-09&models=trader,trader-control&align=number&curves=true';
  const { curve } = (await ask(numbered)).pairs[0];
  const numbers = curve.slice(0, 4).map(({ number }: any) => number);
  assert.deepEqual(numbers, [3, 4, 7, 10]);
  const csv = async (more: string) => {
    const url = `${service.url}/comparison?${query},beta,hold&format=csv&table=pairs${more}`;
    return (await fetch(url)).text();
  };
  assert.equal(await csv('&curves=true'), await csv(''));
  assert.doesNotMatch(await csv(''), /correlation|curve/);
});

test('before any entry has twenty days, all are compared, however many runs each has', async (t) => {
  const path = join(temporaryFolder(), 'jobs.db');
  fillWithTrackRecords(path, { models: ['a', 'a#2', 'b'], days: 16 });
  const { models, left_out_models } = (await (await startTestView(t, path)).get('/comparison'))
    .body;
  assert.deepEqual([models.map(({ model }: any) => model), left_out_models], [['a', 'b'], []]);
});

test('the sentence compares only what trades in one market, and names each model that it leaves out', async () => {
  const { answer, models, pairs } = await ask('start_date=2022-03-07&end_date=2022-04-29');
  assert.deepEqual([answer.leader, answer.against], ['free', 'like-it']);
  assert.deepEqual(answer.left_out.sort(), ['abroad', 'early-riser']);
  assert.match(
    answer.sentence,
    / Not compared: abroad \(its universe is not that of early-riser and 3 more\); early-riser \(its open is not that of abroad and 3 more\)\.$/,
  );
  const marks = models.map(({ model: name, incomparable: all }: any) => [
    name,
    ...all.map(({ kind }: any) => kind),
  ]);
  assert.deepEqual(marks.sort(), [
    ['abroad', 'universe'],
    ['early-riser', 'open'],
    ['free', 'costs'],
    ['like-it'],
    ['usual'],
  ]);
  assert.equal(pairs.length, 10, 'pairs have their figures all the same');
  const { incomparable } = (
    await service.get('/performance?start_date=2022-03-07&end_date=2022-04-29')
  ).body;
  const marked = incomparable.map(({ model: name, kind }: any) => [name, kind]);
  assert.deepEqual(marked.sort(), marks.filter((own: string[]) => own.length > 1).sort());
});

test('an entry that cannot be compared is named, though it is the first of its table', async () => {
  const { answer } = await ask(`${PAST}&models=plain,other,refilled,changed`);
  assert.deepEqual(answer.left_out.sort(), ['changed', 'refilled']);
  assert.match(
    answer.sentence,
    / Not compared: changed \(it was called in two ways\); refilled \(1 of its 60 model-days is stale\)\.$/,
  );
  const { answer: without } = await ask(RECENT);
  assert.match(without.sentence, / Not compared: short \(too few model-days\)\.$/);
});
