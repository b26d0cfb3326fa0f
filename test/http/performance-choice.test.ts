import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import type * as v from 'valibot';
import { performanceResponse } from '../../src/features/performance/response.ts';
import { weekdays } from '../../src/core/time/calendar.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { within } from '../support/near.ts';
import { insertReturns } from '../support/returns.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

/**
 * Two weeks of AAPL, of which model-a and each run of the family hold 10 shares from the first day
 * on.
 */
const DATES = ['2025-11-10', '2025-11-11', '2025-11-12', '2025-11-13', '2025-11-14', '2025-11-17'];
const CLOSES = [110, 99, 121, 100, 105, 130];
const PRICES = DATES.map((date, index) => `AAPL ${date} 100 ${CLOSES[index]}`).join('\n');
const models = [
  { signature: 'all', enabled: true },
  { signature: 'fails', enabled: true, knowledge_cutoff: '2025-11-11' },
  { signature: 'short', enabled: true, knowledge_cutoff: '2025-11-14' },
  { signature: 'twice', enabled: true, repeats: 2 },
  { signature: 'unclean', enabled: true, knowledge_cutoff: '2025-12-31' },
];
const buys: Script[string] = [[['buy', { symbol: 'AAPL', amount: 10 }]]];
const script: Script = {
  'all 2025-11-10': buys,
  'twice 2025-11-10': buys,
  'fails 2025-11-12': [[['fail', 'no']]],
};

let service: TestService;
let job: string;
before(async (t) => {
  service = await startTestService(t as TestContext, {
    isForged: true,
    configuration: { models, agent_config: { stock_symbols: ['AAPL'] } },
    prices: PRICES,
  });
  const range = { start_date: '2025-11-10', end_date: '2025-11-17' };
  job = (
    await runJobHere(service, script, { ...range, models: ['all', 'fails', 'twice', 'unclean'] })
  ).job_id;
  await runJobHere(service, script, { ...range, start_date: '2025-11-14', models: ['short'] });
});

const ask = (query: string) => validBody(service, `/performance${query}`, performanceResponse);
const assertNear = within({ absolute: 1e-9 });

const UNCLEAN = {
  model: 'unclean',
  reason: 'Its last model-day, 2025-11-17, is not after its knowledge cutoff, 2025-12-31',
};

/** The days that are shared, from the first to the last; of those left out, the models that lack them. */
const commonOf = (span: string, days: number, leftOut: Record<number, string[]> = {}) => {
  const [start_date = null, end_date = null] = span === '' ? [] : span.split(' ').map(dateOf);
  const left_out_days = Object.entries(leftOut).map(([day, missing]) => ({
    ...{ date: dateOf(day), missing: missing.length, models: missing },
  }));
  return { start_date, end_date, days, left_out: [], left_out_days };
};
const dateOf = (day: string) => `2025-11-${day}`;
/** These days of the month are not shared by a model. */
const lacks = (model: string, ...days: number[]) =>
  Object.fromEntries(days.map((day) => [day, [model]]));

type Choice = Pick<
  v.InferOutput<typeof performanceResponse>,
  'clean_after' | 'common' | 'without_clean_days'
>;
const NOT_YET = {
  model: 'fails',
  reason: 'Its last model-day, 2025-11-11, is not after its knowledge cutoff, 2025-11-11',
};
const TWICE = { twice: 6, 'twice#2': 6 };
const LAST_OF_SHORT = commonOf('17 17', 1, lacks('short', 10, 11, 12, 13, 14));
/** A query → the model-days of each model in the response, and what is said about the choice. */
const choices: [query: string, days: Record<string, number>, choice: Partial<Choice>][] = [
  ['', { all: 6, fails: 5, short: 2, ...TWICE, unclean: 6 }, {}],
  ['?models=twice,short', { short: 2, ...TWICE }, {}],
  ['?models=twice%232', { 'twice#2': 6 }, {}],
  ['?models=all,fails&job_id=JOB&start_date=2025-11-13', { all: 3, fails: 3 }, {}],
  [
    '?common=true&models=all,fails,twice',
    { all: 4, fails: 4, twice: 4, 'twice#2': 4 },
    // On the day after it failed, its return covers two days.
    { common: commonOf('10 17', 4, lacks('fails', 12, 13)) },
  ],
  ['?common=true&models=all,short', { all: 1, short: 1 }, { common: LAST_OF_SHORT }], // the first day of short is measured from its open
  [
    '?common=true&models=all,short&start_date=2025-11-13',
    { all: 1, short: 1 },
    { common: commonOf('17 17', 1, lacks('short', 13, 14)) },
  ],
  ['?common=true&end_date=2025-11-07', {}, { common: commonOf('', 0) }],
  [
    '?days=clean',
    { all: 4, fails: 3, short: 1, twice: 4, 'twice#2': 4 },
    { clean_after: '2025-11-11', without_clean_days: [UNCLEAN] },
  ],
  ['?days=clean&models=all,short', { all: 6, short: 1 }, {}], // one clean day of short does not cost the other five of its own
  ['?days=clean&models=short', { short: 1 }, { clean_after: '2025-11-14' }],
  ['?days=clean&models=all,unclean', { all: 6 }, { without_clean_days: [UNCLEAN] }],
  [
    '?days=clean&end_date=2025-11-12&models=all,fails',
    { all: 3 },
    { clean_after: null, without_clean_days: [NOT_YET] }, // the cutoff of a model without clean days does not count
  ],
  [
    '?days=clean&common=true&models=all,fails,twice',
    { all: 2, fails: 2, twice: 2, 'twice#2': 2 },
    { clean_after: '2025-11-11', common: commonOf('14 17', 2, lacks('fails', 12, 13)) },
  ],
  [
    '?days=clean&common=true&models=all,unclean',
    {},
    {
      without_clean_days: [UNCLEAN],
      common: commonOf('', 0, lacks('unclean', 10, 11, 12, 13, 14, 17)),
    },
  ],
];
test('which model-days a query chooses, and what is said about the choice', async () => {
  for (const [query, days, choice] of choices) {
    const body = await ask(query.replace('JOB', job));
    const { models: reports, clean_after, common, without_clean_days, count } = body;
    const found = reports.map((report) => [report.model, report.model_days]);
    assert.deepEqual([Object.fromEntries(found), count], [days, reports.length], query);
    const said = { clean_after: null, common: null, without_clean_days: [], ...choice };
    assert.deepEqual({ clean_after, common, without_clean_days }, said, query);
    for (const { curve, knowledge_cutoff: cutoff } of reports)
      if (query.includes('clean'))
        assert.ok(curve.every(({ date }) => date > (cutoff ?? '') && date > (clean_after ?? '')));
  }
});

test('every figure is over the common days: returns link over the days between, the benchmark has the same dates', async () => {
  const query = '?common=true&details=true&models=all,fails,twice';
  const { models: reports, benchmark } = await ask(query);
  const [all] = reports;
  assert.ok(all !== undefined);
  const dates = DATES.filter((date) => !['2025-11-12', '2025-11-13'].includes(date));
  for (const { curve } of [all, benchmark])
    assert.deepEqual(
      curve.map(({ date }) => date),
      dates,
    );
  // Of 10,000 dollars 10 shares: 10,100, 9,990, (10,210, 10,000,) 10,050, 10,300
  const growth = [1.01, 0.999, (0.999 * 10_050) / 10_000, (0.999 * 10_300) / 10_000];
  for (const [index, point] of all.curve.entries()) assertNear(point.growth, growth[index]);
  assertNear(all.total_return, (growth.at(-1) ?? NaN) - 1);
  // Without the 10 of the days between.
  assert.deepEqual([all.profit, all.trading.unrealised_profit], [290, 300]);
  assert.equal(all.details?.symbols[0]?.profit, 290);
  assert.deepEqual([all.longest_winning_run, all.longest_losing_run], [2, 1]);
  const passive = new Set(reports.map(({ relative }) => relative.benchmark_return));
  assert.equal(passive.size, 1, 'the same times for every model');
  // AAPL from the open of the first date to the close of the second, and over the last two dates
  const own = [1.1, 0.99, 0.99 * 1.05, 0.99 * 1.3];
  for (const [index, { value }] of benchmark.curve.entries()) assertNear(value, own[index]);
  assertNear(benchmark.total_return, all.relative.benchmark_return);
});

test('the tables have the chosen days only', async () => {
  const lines = async (query: string) => {
    const response = await fetch(`${service.url}/performance?format=csv&${query}`);
    return (await response.text()).split('\r\n').slice(1, -1);
  };
  assert.deepEqual(
    (await lines('common=true&model=fails')).map((line) => line.slice(0, 16)),
    DATES.filter((date) => date !== '2025-11-12').map((date) => `fails,${date}`),
  );
  const traders = (await lines('table=trades&models=twice,all')).map((line) => line.split(',')[0]);
  assert.deepEqual(traders, ['all', 'twice']);
  const bought = await lines('table=trades&days=clean&models=twice,fails');
  assert.deepEqual(bought, [], 'bought before');
});

test('a model whose model-days have all failed is named with the reason, unless other models are chosen', async () => {
  const day = 'start_date=2025-11-12&end_date=2025-11-12';
  const reason = '1 model-day failed, and none was completed';
  for (const query of [day, `${day}&common=true`, `${day}&days=clean`, `${day}&models=fails`])
    assert.deepEqual((await ask(`?${query}`)).without_completed_days, [{ model: 'fails', reason }]);
  for (const query of ['', `?${day}&models=all`, '?common=true', '?model=all'])
    assert.deepEqual((await ask(query)).without_completed_days, [], query);
});

test('failed model-days count within the filters until one is completed', async () => {
  const failed = async (query: string) => {
    const { models: reports } = await ask(query);
    return Object.fromEntries(reports.map((report) => [report.model, report.failed_model_days]));
  };
  const others = { all: 0, twice: 0, 'twice#2': 0, unclean: 0, short: 0 };
  for (const query of ['', '?common=true'])
    assert.deepEqual(await failed(query), { ...others, fails: 1 });
  const ofJob = `?job_id=${job}&model=fails`;
  const check = async (query: string, fails: number) =>
    assert.deepEqual(await failed(query), { fails }, query);
  await check('?days=clean&models=fails', 1);
  await check(ofJob, 1);
  await check('?model=fails&start_date=2025-11-13', 0);
  await check('?model=fails&end_date=2025-11-11', 0);
  const setCutoff = service.database.statement(
    `UPDATE simulation_runs SET entry = json_set(entry, '$.knowledge_cutoff', ?) WHERE model = 'fails'`,
  );
  setCutoff.run('2025-11-12');
  await check('?days=clean&models=fails', 0); // it failed on an unclean day
  setCutoff.run('2025-11-11');
  const again = { start_date: '2025-11-12', end_date: '2025-11-12', models: ['fails'] };
  await runJobHere(service, {}, again);
  await check('?model=fails', 0);
  await check(ofJob, 1); // the job itself still has a failed day
  service.database
    .statement(`UPDATE job_details SET status = 'skipped' WHERE job_id = ? AND status = 'failed'`)
    .run(job);
  await check(ofJob, 0); // a skipped day has not failed
});

test('clean days follow one rule, whatever else a query asks for', async (t) => {
  const forged = await startTestService(t, { isForged: true });
  const dates = weekdays('2025-06-02', '2025-06-27');
  const returns = dates.map((_, day) => (day % 5) / 100 - 0.01);
  const run = (knowledge_cutoff: string, own: (number | null)[] = returns) => {
    return { returns: own, entry: { knowledge_cutoff } };
  };
  insertReturns(forged.database, {
    dates,
    runs: { alpha: run('2025-06-04'), beta: run('2025-06-13') },
  });
  // Of the failures only the later one is after the cutoffs.
  const failed = { returns: [null, null] };
  const failures = { alpha: failed, beta: failed, gamma: run('2025-06-30', failed.returns) };
  insertReturns(forged.database, { dates: ['2025-05-30', '2025-06-30'], runs: failures });
  forged.database
    .statement(`UPDATE jobs SET status = 'partial' WHERE start_date = '2025-05-30'`)
    .run();
  // Those of a model without any completed day are not after its own.
  for (const query of ['', '&by=entry', '&common=true', '&by=entry&common=true']) {
    const {
      models,
      clean_after,
      without_completed_days: never,
    } = await validBody(forged, `/performance?days=clean${query}`, performanceResponse);
    const found = models.map((one) => [one.model, one.model_days, one.failed_model_days]);
    assert.deepEqual(
      [clean_after, found],
      [
        '2025-06-13',
        [
          ['alpha', 10, 1],
          ['beta', 10, 1],
        ],
      ],
      query,
    );
    assert.deepEqual(never, [], query);
  }
});

test('a run that is named beside its entry counts once, on the days of the entry', async (t) => {
  const forged = await startTestService(t, { isForged: true });
  const dates = weekdays('2025-06-02', '2025-06-27');
  const returns = dates.map((_, day) => (day % 5) / 100 - 0.01);
  const later = returns.map((own, day) => (day < 5 ? null : own));
  insertReturns(forged.database, {
    dates,
    runs: { one: { returns: later }, 'one#2': { returns, family: 'one' } },
  });
  for (const models of ['one', 'one,one%232', 'one%232,one']) {
    const path = `/performance?by=entry&models=${models}`;
    const { models: found } = await validBody(forged, path, performanceResponse);
    const told = found.map((own) => [own.model, own.model_days, own.usage.model_days_without_cost]);
    // The first return of the later run starts from its initial cash.
    const days = 14;
    assert.deepEqual(
      told,
      [
        ['one', days, days],
        ['one#2', days, days],
      ],
      models,
    );
  }
});
