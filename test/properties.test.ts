import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { weekdays } from '../src/core/time/calendar.ts';
import { realAgentHere } from './support/agent-here.ts';
import { contradictions } from './support/agreement.ts';
import { differences } from './support/csv-agreement.ts';
import { inLongForm, isLong, runs } from './support/long.ts';
import { importFile } from '../src/features/price-files/import.ts';
import { startTestService, type TestService } from './support/service.ts';

/**
 * What must not change a figure, and how figures of one question follow from those of another:
 * through HTTP, over prices made at random and players that the program has.
 */

type Json = any;

/** What a share costs at the open and at the close of a day, in cents. */
type Bar = readonly [open: number, close: number];
/** Symbol by symbol, a bar of each date. */
type Prices = Record<string, Bar[]>;

const SYMBOLS = ['AAA', 'BBB', 'CCC'];
const MODELS = ['simulated', 'hold', 'equal', 'momentum', 'random'];
// In the long form there are enough for the figures of comparisons.
const DATES = weekdays('2025-10-06', isLong ? '2025-11-05' : '2025-10-15');
const [FIRST, LAST] = [DATES[0] as string, DATES.at(-1) as string];
const CASH = 10_000;

/** From the price before, in hundredths of a percent. */
const anyMove = fc.integer({ min: -1500, max: 1500 });
const anyBars: fc.Arbitrary<Bar[]> = fc
  .tuple(
    fc.integer({ min: 1000, max: 90_000 }),
    fc.array(fc.tuple(anyMove, anyMove), { minLength: DATES.length, maxLength: DATES.length }),
  )
  .map(([start, days]) => {
    let price = start;
    const next = (move: number) => (price = Math.max(1, Math.round(price * (1 + move / 10_000))));
    return days.map(([overnight, session]) => [next(overnight), next(session)] as const);
  });
const anyPrices: fc.Arbitrary<Prices> = fc.record(
  Object.fromEntries(SYMBOLS.map((symbol) => [symbol, anyBars])),
);
const anyPlace = fc.integer({ min: 1, max: DATES.length - 1 });

/** Checks a property over a few services; fast-check prints the seed of one that fails. */
async function check<Values extends [unknown, ...unknown[]]>(
  property: fc.IAsyncPropertyWithHooks<Values>,
): Promise<void> {
  await fc.assert(property, { numRuns: runs(1, 25), endOnFailure: !isLong });
}

const BASEMODELS: Record<string, string> = {
  ...{ hold: 'buy-and-hold', equal: 'equal-weight', momentum: 'momentum', random: 'random' },
};
const ENTRIES = MODELS.map((signature) => {
  const { [signature]: name } = BASEMODELS;
  return { signature, enabled: true, ...(name && { basemodel: `baseline/${name}` }) };
});

/** A line per bar, with prices that are `times` as high. */
function linesOf(prices: Prices, times = 1): string[] {
  const dollars = (cents: number) => ((cents * times) / 100).toFixed(2);
  return Object.entries(prices).flatMap(([symbol, bars]) =>
    bars.map(([open, close], index) => {
      const ends = [Math.max(open, close), Math.min(open, close), close].map(dollars);
      return [symbol, DATES[index], dollars(open), ...ends, 1000].join(',');
    }),
  );
}

async function importLines(service: TestService, lines: readonly string[]): Promise<void> {
  const path = join(service.folder, 'prices.csv');
  writeFileSync(path, ['symbol,date,open,high,low,close,volume', ...lines, ''].join('\n'));
  const { clock } = service;
  await importFile(service.database, path, { clock, as: 'raw', onRefused: assert.fail });
}

/** A service over these prices, without a job. */
async function open(t: TestContext, lines: readonly string[], cash = CASH): Promise<TestService> {
  const service = await startTestService(t, {
    configuration: {
      models: ENTRIES,
      agent_config: { stock_symbols: SYMBOLS, initial_cash: cash },
    },
    agent: await realAgentHere(),
    settings: { maxSimulationDays: 31 },
  });
  if (lines.length > 0) await importLines(service, lines);
  return service;
}

async function run(
  service: TestService,
  first: string | undefined,
  last: string | undefined,
  more: object = {},
): Promise<void> {
  const { status } = await service.runJob({ start_date: first, end_date: last, ...more });
  assert.equal(status, 'completed');
}

/** A response without what depends on the order of events: ids, jobs and times. */
async function ask(service: TestService, path: string): Promise<Json> {
  const { status, body } = await service.get(path);
  assert.equal(status, 200, path);
  assert.deepEqual(contradictions(path, body), []);
  const left = 'id job_id session_id created_at timestamp started_at completed_at'.split(' ');
  const isLeft = (key: string) => left.includes(key) || /seconds$/.test(key);
  return JSON.parse(JSON.stringify(body, (key, value) => (isLeft(key) ? undefined : value)));
}

/** All figures of some models. */
async function figures(service: TestService, models: readonly string[]): Promise<Json[]> {
  const names = models.join(',');
  // How good the leader is depends on how many were tried, and so on all models.
  const { leader: _, ...comparison } = await ask(service, `/comparison?models=${names}`);
  const paths = [
    `/performance?details=true&benchmark=universe&models=${names}`,
    `/decisions?limit=200&models=${names}`,
    ...models.flatMap((model) => [`/results?model=${model}`, `/holdings?model=${model}`]),
    ...models.map((model) => `/reasoning?include_full_conversation=true&model=${model}`),
  ];
  return [comparison, ...(await Promise.all(paths.map((path) => ask(service, path))))];
}

/** A range compounds what its two parts make, and has the sum of their amounts. */
async function assertCompounds(service: TestService, place: number): Promise<void> {
  const between = (first: string | undefined, last: string | undefined) =>
    ask(service, `/performance?benchmark=universe&start_date=${first}&end_date=${last}`);
  const whole = await between(FIRST, LAST);
  const one = await between(FIRST, DATES[place - 1]);
  const two = await between(DATES[place], LAST);
  const near = (value: number, expected: number) => {
    const isNear = Math.abs(value - expected) < 1e-8 * Math.max(1, Math.abs(expected));
    assert.ok(isNear, `${value}, not ${expected}`);
  };
  const compounds = (all: Json, a: Json, b: Json) =>
    near((1 + a.total_return) * (1 + b.total_return), 1 + all.total_return);
  compounds(whole.benchmark, one.benchmark, two.benchmark);
  for (const [index, all] of whole.models.entries()) {
    const [a, b] = [one.models[index], two.models[index]];
    compounds(all, a, b);
    assert.equal(a.end_value, b.start_value);
    assert.deepEqual([a.start_value, b.end_value], [all.start_value, all.end_value]);
    near(a.profit + b.profit, all.profit);
    for (const sum of ['trades', 'bought', 'sold', 'commission'])
      near(a.trading[sum] + b.trading[sum], all.trading[sum]);
    const days = (model: Json) =>
      model.curve.map((point: Json) => [point.date, point.value, point.daily_return]);
    assert.deepEqual([...days(a), ...days(b)], days(all));
  }
}

const tables: Record<string, string[]> = {
  '/results': ['?', '?model=equal&'],
  '/performance': ['?', '?common=true&', '?table=trades&', '?table=actions&'],
  '/holdings': MODELS.map((model) => `?model=${model}&`),
  '/comparison': ['?', '?table=pairs&', '?against=hold&'],
  '/decisions': ['?', '?kind=trade&'],
  '/jobs': ['?limit=1&'],
};

/** Wherever a response is also CSV, that says what the JSON says. */
async function assertTables(service: TestService, place: number): Promise<void> {
  const { paths } = (await service.get('/openapi.json')).body;
  const withTable = Object.keys(paths).filter((path) =>
    paths[path].get?.parameters?.some(({ name }: Json) => name === 'format'),
  );
  assert.deepEqual(withTable.sort(), Object.keys(tables).sort());
  const [start, end] = [`start_date=${DATES[place]}&`, `end_date=${DATES[place]}&`];
  const windows = isLong ? ['', start, end] : [start];
  for (const path of withTable)
    for (const query of tables[path] as string[])
      for (const window of path === '/jobs' ? [''] : windows) {
        const jsonPath = path + query.replace(/table=\w+&/, '') + window;
        const response = await fetch(`${service.url}${path}${query}${window}format=csv`);
        const { body } = await service.get(jsonPath);
        assert.deepEqual(contradictions(jsonPath, body), []);
        assert.deepEqual(differences(path + query + window, await response.text(), body), []);
      }
}

test('one job over a range leaves what two jobs leave that split it at any date; its figures compound; a response as CSV says what its JSON says', async (t) => {
  await check(
    fc.asyncProperty(anyPrices, anyPlace, async (prices, place) => {
      const [whole, parts] = [await open(t, linesOf(prices)), await open(t, linesOf(prices))];
      await run(whole, FIRST, LAST);
      await run(parts, FIRST, DATES[place - 1]);
      await run(parts, DATES[place], LAST);
      assert.deepEqual(await figures(parts, MODELS), await figures(whole, MODELS));
      await assertCompounds(whole, place);
      await assertTables(whole, place);
      await Promise.all([whole.stop(), parts.stop()]);
    }),
  );
});

/**
 * Powers of two: then what the players compute in binary fractions of a dollar is multiplied
 * exactly too, and they decide the same. Hence no tolerance.
 */
const anyFactor = fc.constantFrom(2, 4, 16);
/** The simulated model draws by its cash. */
const SCALED_MODELS = MODELS.filter((model) => model !== 'simulated');

test('k times the prices and cash: k times the amounts', inLongForm, async (t) => {
  await check(
    fc.asyncProperty(anyPrices, anyFactor, async (prices, factor) => {
      const one = await open(t, linesOf(prices));
      const other = await open(t, linesOf(prices, factor), CASH * factor);
      for (const service of [one, other])
        await run(service, FIRST, LAST, { models: SCALED_MODELS });
      const records = async (service: TestService, times: number) =>
        (await ask(service, '/results')).results.map((record: Json) => {
          const amounts = ['price', 'cash', 'portfolio_value', 'daily_profit'].map((name) =>
            record[name] === null ? null : Math.round(record[name] * 10_000 * times),
          );
          const { model, date, action_type: type, symbol, amount, holdings } = record;
          const { daily_return_pct } = record;
          return [model, date, type, symbol, amount, holdings, daily_return_pct, ...amounts];
        });
      assert.deepEqual(await records(other, 1), await records(one, factor));
      const returns = async (service: TestService) => {
        const path = '/performance?details=true&benchmark=universe';
        return (await ask(service, path)).models.map((model: Json) => {
          const { total_return, max_drawdown, winning_days_share, best_day, relative } = model;
          const { exposure, turnover } = model.trading;
          const { win_rate, profit_factor, payoff_ratio } = model.round_trips;
          const { months, drawdowns } = model.details;
          const curve = model.curve.map((point: Json) => {
            const { date, daily_return, growth, drawdown } = point;
            return [date, daily_return, growth, drawdown];
          });
          return [
            [total_return, max_drawdown, winning_days_share, best_day, relative, curve],
            [exposure, turnover, win_rate, profit_factor, payoff_ratio],
            [months, drawdowns],
          ];
        });
      };
      assert.deepEqual(await returns(other), await returns(one));
      await Promise.all([one.stop(), other.stop()]);
    }),
  );
});

test('another model, job or symbol changes no figure of a model', inLongForm, async (t) => {
  await check(
    fc.asyncProperty(anyPrices, anyBars, anyPlace, async (prices, bars, place) => {
      const models = ['simulated', 'equal'];
      const [without, beside] = [await open(t, linesOf(prices)), await open(t, linesOf(prices))];
      await run(without, FIRST, LAST, { models });
      await run(beside, FIRST, LAST, { models: ['hold', 'random'] });
      await run(beside, FIRST, LAST, { models: ['momentum', ...models] });
      await importLines(beside, linesOf({ ZZZ: bars }));
      await run(beside, DATES[place], LAST, { models: ['random'], replace_existing: true });
      assert.deepEqual(await figures(beside, models), await figures(without, models));
      await Promise.all([without.stop(), beside.stop()]);
    }),
  );
});
