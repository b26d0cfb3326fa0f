import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import type * as v from 'valibot';
import { performanceResponse } from '../../src/api/performance-response.ts';
import type { Script } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { within } from '../support/near.ts';
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
const commonOf = (start: string | null, end: string | null, days: number) => ({
  ...{ start_date: start, end_date: end, days },
  left_out: [] as { model: string; reason: string }[],
  left_out_days: [] as { date: string; missing: number; models: string[] }[],
});
/** These days of the month are not shared by a model. */
const unshared = (model: string, ...days: number[]) => ({
  left_out_days: days.map((day) => ({ date: `2025-11-${day}`, missing: 1, models: [model] })),
});

type Choice = Pick<
  v.InferOutput<typeof performanceResponse>,
  'clean_after' | 'common' | 'without_clean_days'
>;
/** A query → the model-days of each model in the response, and what is said about the choice. */
const choices: [query: string, days: Record<string, number>, choice: Partial<Choice>][] = [
  ['', { all: 6, fails: 5, short: 2, twice: 6, 'twice#2': 6, unclean: 6 }, {}],
  ['?models=twice,short', { short: 2, twice: 6, 'twice#2': 6 }, {}],
  ['?models=twice%232', { 'twice#2': 6 }, {}],
  ['?models=twice,twice%232', { twice: 6, 'twice#2': 6 }, {}],
  ['?models=all,fails&job_id=JOB&start_date=2025-11-13', { all: 3, fails: 3 }, {}],
  [
    '?common=true', // no model has enough days for a comparison: the days are those that all share
    { all: 1, fails: 1, short: 1, twice: 1, 'twice#2': 1, unclean: 1 },
    {
      common: {
        ...commonOf('2025-11-17', '2025-11-17', 1),
        left_out_days: DATES.slice(0, -1).map((date) => {
          const isOfTwo = ['2025-11-12', '2025-11-13'].includes(date);
          return {
            date,
            missing: isOfTwo ? 2 : 1,
            models: [...(isOfTwo ? ['fails'] : []), 'short'],
          };
        }),
      },
    },
  ],
  [
    '?common=true&models=all,fails,twice',
    { all: 4, fails: 4, twice: 4, 'twice#2': 4 },
    // On the day after it failed, its return covers two days.
    { common: { ...commonOf('2025-11-10', '2025-11-17', 4), ...unshared('fails', 12, 13) } },
  ],
  [
    '?common=true&models=all,short',
    { all: 1, short: 1 }, // the first day of short is measured from its open
    {
      common: {
        ...commonOf('2025-11-17', '2025-11-17', 1),
        ...unshared('short', 10, 11, 12, 13, 14),
      },
    },
  ],
  [
    '?common=true&models=all,short&start_date=2025-11-13',
    { all: 1, short: 1 },
    { common: { ...commonOf('2025-11-17', '2025-11-17', 1), ...unshared('short', 13, 14) } },
  ],
  [
    '?common=true&models=twice,short',
    { short: 1, twice: 1, 'twice#2': 1 },
    {
      common: {
        ...commonOf('2025-11-17', '2025-11-17', 1),
        ...unshared('short', 10, 11, 12, 13, 14),
      },
    },
  ],
  [
    '?common=true&models=fails,short',
    { fails: 1, short: 1 },
    {
      common: { ...commonOf('2025-11-17', '2025-11-17', 1), ...unshared('short', 10, 11, 13, 14) },
    },
  ],
  ['?common=true&model=fails', { fails: 5 }, { common: commonOf('2025-11-10', '2025-11-17', 5) }],
  ['?common=true&end_date=2025-11-07', {}, { common: commonOf(null, null, 0) }],
  [
    '?days=clean',
    { all: 4, fails: 3, short: 1, twice: 4, 'twice#2': 4 },
    { clean_after: '2025-11-11', without_clean_days: [UNCLEAN] },
  ],
  ['?days=clean&models=all,short', { all: 6, short: 1 }, {}], // one clean day of short does not cost the other five of its own
  ['?days=clean&models=short', { short: 1 }, { clean_after: '2025-11-14' }],
  ['?days=clean&models=all,twice', { all: 6, twice: 6, 'twice#2': 6 }, {}],
  ['?days=clean&models=all,unclean', { all: 6 }, { without_clean_days: [UNCLEAN] }],
  ['?days=clean&model=fails&start_date=2025-11-14', { fails: 2 }, { clean_after: '2025-11-11' }],
  [
    '?days=clean&end_date=2025-11-12&models=all,fails',
    { all: 3 },
    {
      without_clean_days: [
        {
          model: 'fails',
          reason: 'Its last model-day, 2025-11-11, is not after its knowledge cutoff, 2025-11-11',
        },
      ],
    },
  ],
  [
    '?days=clean&common=true&models=all,fails,twice', // too few clean days for the cutoff to count
    { all: 2, fails: 2, twice: 2, 'twice#2': 2 },
    {
      common: { ...commonOf('2025-11-14', '2025-11-17', 2), ...unshared('fails', 10, 11, 12, 13) },
    },
  ],
  [
    '?days=clean&common=true&models=all,unclean',
    {},
    {
      without_clean_days: [
        { model: 'unclean', reason: 'None of its model-days is after the knowledge cutoff' },
      ],
      common: { ...commonOf(null, null, 0), ...unshared('unclean', 10, 11, 12, 13, 14, 17) },
    },
  ],
];
for (const [query, days, choice] of choices) {
  test(`GET /performance${query} has the model-days ${JSON.stringify(days)}`, async () => {
    const {
      models: reports,
      clean_after,
      common,
      without_clean_days,
      count,
    } = await ask(query.replace('JOB', job));
    if (query.includes('end_date=2025-11-12'))
      assert.equal(clean_after, null, 'the cutoff of a model without clean days does not count');
    assert.deepEqual(
      Object.fromEntries(reports.map((report) => [report.model, report.model_days])),
      days,
    );
    const said = { clean_after: null, common: null, without_clean_days: [], ...choice };
    assert.deepEqual([{ clean_after, common, without_clean_days }, count], [said, reports.length]);
    for (const { curve, knowledge_cutoff: cutoff } of reports)
      if (query.includes('clean'))
        assert.ok(curve.every(({ date }) => date > (cutoff ?? '') && date > (clean_after ?? '')));
  });
}

test('every figure is over the common days: returns link over the days between, the benchmark has the same dates', async () => {
  const { models: reports, benchmark } = await ask(
    '?common=true&details=true&models=all,fails,twice',
  );
  const [all] = reports;
  assert.ok(all !== undefined);
  const dates = DATES.filter((date) => !['2025-11-12', '2025-11-13'].includes(date));
  assert.deepEqual(
    [all.curve.map(({ date }) => date), benchmark.curve.map(({ date }) => date)],
    [dates, dates],
  );
  // Of 10,000 dollars 10 shares: 10,100, 9,990, (10,210, 10,000,) 10,050, 10,300
  const growth = [1.01, 0.999, (0.999 * 10_050) / 10_000, (0.999 * 10_300) / 10_000];
  for (const [index, point] of all.curve.entries()) assertNear(point.growth, growth[index]);
  assertNear(all.total_return, (growth.at(-1) ?? NaN) - 1);
  assert.deepEqual(
    [all.profit, all.trading.unrealised_profit],
    [290, 300],
    'without the 10 of the days between',
  );
  assert.deepEqual(
    all.details?.symbols.map(({ symbol, profit }) => [symbol, profit]),
    [['AAPL', 290]],
  );
  assert.deepEqual([all.longest_winning_run, all.longest_losing_run], [2, 1]);
  assert.equal(
    new Set(reports.map(({ relative }) => relative.benchmark_return)).size,
    1,
    'the same times for every model',
  );
  // AAPL from the open of the first date to the close of the second, and over the last two dates
  const own = [1.1, 0.99, 0.99 * 1.05, 0.99 * 1.3];
  for (const [index, { value }] of benchmark.curve.entries()) assertNear(value, own[index]);
  assertNear(benchmark.total_return, all.relative.benchmark_return);
});

test('the tables have the chosen days only', async () => {
  const lines = async (query: string) =>
    (await (await fetch(`${service.url}/performance?format=csv&${query}`)).text())
      .split('\r\n')
      .slice(1, -1);
  assert.deepEqual(
    (await lines('common=true&model=fails')).map((line) => line.slice(0, 16)),
    DATES.filter((date) => date !== '2025-11-12').map((date) => `fails,${date}`),
  );
  const trades = 'table=trades&models=twice,all';
  assert.deepEqual(
    (await lines(trades)).map((line) => line.split(',')[0]),
    ['all', 'twice'],
  );
  assert.deepEqual(
    await lines(`${trades}&days=clean&models=twice,fails`.replace(trades, 'table=trades')),
    [],
    'bought before',
  );
});

test('a model whose model-days have all failed is named with the reason, unless other models are chosen', async () => {
  const day = 'start_date=2025-11-12&end_date=2025-11-12';
  const reason = '1 model-day failed, and none was completed';
  for (const query of [day, `${day}&common=true`, `${day}&days=clean`, `${day}&models=fails`])
    assert.deepEqual(
      (await ask(`?${query}`)).without_completed_days,
      [{ model: 'fails', reason }],
      query,
    );
  for (const query of ['', `?${day}&models=all`, '?common=true', '?model=all'])
    assert.deepEqual((await ask(query)).without_completed_days, [], query);
});

test('failed model-days count within the filters until one is completed', async () => {
  const failed = async (query: string) => {
    const { models: reports } = await ask(query);
    return Object.fromEntries(reports.map((report) => [report.model, report.failed_model_days]));
  };
  const none = { all: 0, twice: 0, 'twice#2': 0, unclean: 0 };
  assert.deepEqual(await failed(''), { ...none, fails: 1, short: 0 });
  assert.deepEqual(await failed('?days=clean&models=fails'), { fails: 1 });
  assert.deepEqual(await failed('?days=clean&models=fails&end_date=2025-11-13'), { fails: 1 });
  assert.deepEqual(await failed('?common=true'), { ...none, fails: 1, short: 0 });
  assert.deepEqual(await failed(`?job_id=${job}&model=fails`), { fails: 1 });
  assert.deepEqual(await failed('?model=fails&start_date=2025-11-13'), { fails: 0 });
  assert.deepEqual(await failed('?model=fails&end_date=2025-11-11'), { fails: 0 });
  const setCutoff = (date: string) =>
    service.database
      .statement(
        `UPDATE simulation_runs SET entry = json_set(entry, '$.knowledge_cutoff', ?) WHERE model = 'fails'`,
      )
      .run(date);
  setCutoff('2025-11-12');
  assert.deepEqual(
    await failed('?days=clean&models=fails'),
    { fails: 0 },
    'it failed on an unclean day',
  );
  setCutoff('2025-11-11');
  await runJobHere(
    service,
    {},
    { start_date: '2025-11-12', end_date: '2025-11-12', models: ['fails'] },
  );
  assert.deepEqual(await failed('?model=fails'), { fails: 0 });
  assert.deepEqual(
    await failed(`?job_id=${job}&model=fails`),
    { fails: 1 },
    'the job itself still has a failed day',
  );
  service.database
    .statement(`UPDATE job_details SET status = 'skipped' WHERE job_id = ? AND status = 'failed'`)
    .run(job);
  assert.deepEqual(
    await failed(`?job_id=${job}&model=fails`),
    { fails: 0 },
    'a skipped day has not failed',
  );
});

test('a day that starts from nothing has no return, and so is not common', async () => {
  const of = `session_id IN (SELECT session_id FROM trading_sessions WHERE model = 'unclean' AND date = '2025-11-13')`;
  service.database
    .statement(`UPDATE positions SET daily_profit_e4 = portfolio_value_e4 WHERE ${of}`)
    .run();
  const { common, models: reports } = await ask('?common=true&models=all,unclean');
  assert.deepEqual(
    [common?.days, common?.left_out_days],
    [5, [{ date: '2025-11-13', missing: 1, models: ['unclean'] }]],
  );
  assert.deepEqual(
    reports.map((report) => report.model_days),
    [5, 5],
  );
});
