import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { runs } from '../support/long.ts';
import { auditScripts } from '../support/replays.ts';
import { type TestService, startTestService } from '../support/service.ts';

/**
 * Amounts beyond 2^53 / 10,000 dollars, and whatever else a model-day may throw: only it fails, in
 * words.
 */

const configuration = {
  models: ['rich', 'calm'].map((signature) => ({ signature, enabled: true })),
  agent_config: { stock_symbols: ['AAPL', 'MSFT'], max_steps: 5 },
};
const DATES = ['2025-11-10', '2025-11-11', '2025-11-12'] as const;
const WEEK = { start_date: DATES[0], end_date: DATES[2] };
const LATER = { start_date: '2025-11-13', end_date: '2025-11-13' };
/** So that a date has prices, whatever becomes of AAPL. */
const MSFT = `
  MSFT 2025-11-10 200 200
  MSFT 2025-11-11 200 200
  MSFT 2025-11-12 200 200
  MSFT 2025-11-13 200 200`;

/** The calm model asks for what the rich one holds, on every day. */
const asks: Script[string] = [
  [
    ['get_price', { symbol: 'AAPL' }],
    ['get_price_history', { symbol: 'AAPL', days: 10 }],
    ['buy', { symbol: 'MSFT', amount: 1 }],
  ],
];
const scriptOf = (orders: Script[string]): Script => ({
  [`rich ${DATES[0]}`]: orders,
  ...Object.fromEntries([...DATES, LATER.start_date].map((date) => [`calm ${date}`, asks])),
});

type Split = [symbol: string, date: string, numerator: number, denominator: number];
type Dividend = [symbol: string, exDate: string, dollars: number, basis: string];

function storeActions(
  { database }: TestService,
  { splits = [], dividends = [] }: { splits?: Split[]; dividends?: Dividend[] },
): void {
  for (const split of splits)
    database
      .statement(
        'INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES (?, ?, ?, ?)',
      )
      .run(...split);
  for (const [symbol, exDate, dollars, basis] of dividends)
    database
      .statement('INSERT INTO dividends (symbol, ex_date, cash_e6, basis) VALUES (?, ?, ?, ?)')
      .run(symbol, exDate, dollars * 1e6, basis);
}

/** What all requests that read model-days answer: each must be answered, for all models. */
async function assertReadable(service: TestService): Promise<void> {
  for (const path of [
    '/results',
    '/performance',
    '/performance?details=true',
    '/performance?model=calm',
    '/models',
    '/holdings?model=rich',
    '/decisions',
    '/comparison',
  ])
    assert.equal((await service.get(path)).status, 200, path);
  const { damage, problems } = await auditScripts(service);
  assert.deepEqual([damage, problems.first], [[], []]);
}

const errorsOf = (details: any[], model: string): (string | null)[] =>
  details.filter((detail) => detail.model === model).map(({ error }) => error);

const all = (symbol: string, amount: number): Script[string] => [[['buy', { symbol, amount }]]];

interface Case {
  prices: string;
  orders: Script[string];
  splits?: Split[];
  dividends?: Dividend[];
  /** Of the rich model, per date; null: completed. */
  errors: (RegExp | null)[];
  /** And in the next job, which starts from its last completed day. */
  later: RegExp | null;
}

const VALUE =
  /^The portfolio's value exceeds 900,719,925,474\.0991 dollars, the most that is counted exactly$/;

const cases: [name: string, done: Case][] = [
  [
    'a held position at the close',
    {
      prices:
        'AAPL 2025-11-10 0.0001 10000000\nAAPL 2025-11-11 0.0001 0.0001\nAAPL 2025-11-12 0.0001 0.0001\nAAPL 2025-11-13 0.0001 0.0001',
      orders: all('AAPL', 100_000_000),
      errors: [VALUE, null, null],
      later: null,
    },
  ],
  [
    'a held position at the next open',
    {
      prices:
        'AAPL 2025-11-10 0.0001 0.0001\nAAPL 2025-11-11 10000000 10000000\nAAPL 2025-11-12 10000000 10000000\nAAPL 2025-11-13 1 1',
      orders: all('AAPL', 100_000_000),
      errors: [null, VALUE, VALUE],
      later: null,
    },
  ],
  [
    'a split into more shares than can be counted',
    {
      prices:
        'AAPL 2025-11-10 0.0001 0.0001\nAAPL 2025-11-11 0.0001 0.0001\nAAPL 2025-11-12 0.0001 0.0001',
      orders: all('AAPL', 100_000_000),
      splits: [
        ['AAPL', DATES[1], 1_000_000, 1],
        ['AAPL', DATES[2], 1_000_000, 1],
      ],
      errors: [
        null,
        null,
        /^Cannot split 100000000000000 AAPL by 1000000:1: too many shares$|^Cannot split .* too many shares$/,
      ],
      later: /too many shares/,
    },
  ],
  [
    'a dividend beyond all cash',
    {
      prices:
        'AAPL 2025-11-10 0.0001 0.0001\nAAPL 2025-11-11 0.0001 0.0001\nAAPL 2025-11-12 0.0001 0.0001',
      orders: all('AAPL', 100_000_000),
      dividends: [['AAPL', DATES[1], 1_000_000, 'as_paid']],
      errors: [
        null,
        /^An amount of 100,000,000,000,000\.00 dollars exceeds 900,719,925,474\.0991/,
        /^An amount of/,
      ],
      later: /^An amount of/,
    },
  ],
  [
    'a dividend that a split multiplies',
    {
      prices: 'AAPL 2025-11-10 100 100\nAAPL 2025-11-11 100 100\nAAPL 2025-11-12 100 100',
      orders: all('AAPL', 1),
      splits: [['AAPL', DATES[2], 1_000_000, 1]],
      dividends: [['AAPL', DATES[1], 1_000_000, 'split_adjusted']],
      errors: [null, /^Cash per share of 1000000000000 dollars exceeds/, /^Cash per share/],
      later: /^Cash per share/,
    },
  ],
  [
    'a previous close that a reverse split multiplies, of a position that is held',
    {
      prices: 'AAPL 2025-11-10 10 10000000\nAAPL 2025-11-11 10 10000000',
      orders: all('AAPL', 10),
      splits: [['AAPL', DATES[2], 1, 1_000_000]],
      errors: [
        null,
        null,
        /^The price of AAPL on 2025-11-12, 10,000,000,000,000\.00 dollars, exceeds 900,719,925,474\.0991/,
      ],
      later: /^The price of AAPL/,
    },
  ],
];
for (const [name, { prices, orders, splits, dividends, errors, later }] of cases) {
  test(`${name}, beyond what is counted exactly, fails only that model-day, in words`, async (t) => {
    const service = await startTestService(t, {
      configuration,
      prices: `${prices}${MSFT}`,
      agent: scriptedAgent(scriptOf(orders)),
    });
    storeActions(service, { ...(splits && { splits }), ...(dividends && { dividends }) });
    const { status, error, details } = await service.runJob(WEEK);
    assert.deepEqual(
      [status, error, errorsOf(details, 'calm')],
      ['partial', null, [null, null, null]],
    );
    assertErrors(errorsOf(details, 'rich'), errors);
    const next = await service.runJob(LATER);
    assert.deepEqual([next.error, errorsOf(next.details, 'calm')], [null, [null]]);
    assertErrors(errorsOf(next.details, 'rich'), [later]);
    await assertReadable(service);
  });
}

function assertErrors(
  errors: readonly (string | null)[],
  expected: readonly (RegExp | null)[],
): void {
  assert.equal(errors.length, expected.length);
  for (const [index, pattern] of expected.entries()) {
    if (pattern === null) assert.equal(errors[index], null);
    else assert.match(String(errors[index]), pattern);
  }
}

test('sums and prices of today beyond what is counted exactly are reported, rounded, for all models', async (t) => {
  const days = [...DATES, LATER.start_date];
  const prices = `AAPL ${DATES[0]} 0.0001 5000\n${days
    .slice(1)
    .map((date) => `AAPL ${date} 5000 5000`)
    .join('\n')}`;
  const turn: Script[string] = [
    [
      ['sell', { symbol: 'AAPL', amount: 100_000_000 }],
      ['buy', { symbol: 'AAPL', amount: 100_000_000 }],
    ],
  ];
  const script = {
    ...scriptOf(all('AAPL', 100_000_000)),
    ...Object.fromEntries(days.slice(1).map((date) => [`rich ${date}`, turn])),
  };
  const service = await startTestService(t, {
    configuration,
    prices: `${prices}${MSFT}`,
    agent: scriptedAgent(script),
    isForged: true,
  });
  assert.equal((await service.runJob({ ...WEEK, end_date: LATER.end_date })).status, 'completed');
  await assertReadable(service);
  const { models } = (await service.get('/performance?model=rich')).body;
  assert.equal(models[0].trading.turnover > 0, true, JSON.stringify(models[0].trading));
  service.database
    .statement("UPDATE price_data SET close = 10000000 WHERE symbol = 'AAPL' AND date = ?")
    .run(LATER.start_date);
  for (const path of ['/performance', '/performance?model=rich&details=true'])
    assert.equal((await service.get(path)).status, 200, path);
});

const anyPrice = fc.constantFrom(0.0001, 0.5, 100, 10_000_000);
const anyRatio = fc.constantFrom<[number, number]>([1_000_000, 1], [1, 1_000_000], [2, 1], [1, 3]);
const anyThrown = fc.constantFrom<() => unknown>(
  () => new TypeError('a bug'),
  () => new RangeError('Invalid array length'),
  () => new Error('spawn EPERM'),
  () => 'words',
  () => null,
);
const anyDay = fc.record({
  bar: fc.option(fc.tuple(anyPrice, anyPrice), { freq: 8 }),
  split: fc.option(anyRatio, { freq: 1 }),
  dividend: fc.option(
    fc.tuple(fc.constantFrom(0.01, 1, 1_000_000), fc.constantFrom('as_paid', 'split_adjusted')),
    { freq: 1 },
  ),
  calls: fc.array(
    fc.tuple(fc.constantFrom('buy', 'sell'), fc.constantFrom(1, 90, 20_000, 100_000_000)),
    { maxLength: 3 },
  ),
  thrown: fc.option(anyThrown, { freq: 1 }),
});
/** The failures that are words; a bug is an internal error, and only where one was thrown. */
const WORDS =
  / exceeds 900,719,925,474\.0991 dollars, the most that is counted exactly$| exceeds what is counted exactly$|: too many shares$|: no price of it is stored$/;

test('whatever a model-day throws, no other fails with it, no job ends with it, and everything stays readable', async (t) => {
  const week = fc.array(anyDay, { minLength: 4, maxLength: 4 });
  const dates = [...DATES, LATER.start_date];
  const check = async (days: typeof anyDay extends fc.Arbitrary<infer Day> ? Day[] : never) => {
    const bars = days.flatMap(({ bar }, index) =>
      bar === null ? [] : [`AAPL ${dates[index]} ${bar.join(' ')}`],
    );
    const orders = days.map(({ calls }, index): [string, Script[string]] => [
      `rich ${dates[index]}`,
      [
        calls.map(([name, amount]): Script[string][0][0] => [name, { symbol: 'AAPL', amount }]),
      ].filter((step) => step.length > 0),
    ]);
    const agent = scriptedAgent({ ...scriptOf([]), ...Object.fromEntries(orders) });
    const startChild: typeof agent.startChild = (program, rights, modelDay) => {
      const thrown = modelDay.model === 'rich' ? days[dates.indexOf(modelDay.date)]?.thrown : null;
      if (thrown) throw thrown();
      return agent.startChild(program, rights, modelDay);
    };
    const service = await startTestService(t, {
      configuration,
      prices: `${bars.join('\n')}${MSFT}`,
      agent: { ...agent, startChild },
    });
    storeActions(service, {
      splits: days.flatMap(({ split }, index): Split[] =>
        split === null ? [] : [['AAPL', String(dates[index]), ...split]],
      ),
      dividends: days.flatMap(({ dividend }, index): Dividend[] =>
        dividend === null ? [] : [['AAPL', String(dates[index]), ...dividend]],
      ),
    });
    for (const job of [WEEK, LATER]) {
      const { error, details } = await service.runJob(job);
      assert.deepEqual([error, [...new Set(errorsOf(details, 'calm'))]], [null, [null]]);
      for (const { date, model, error: reason } of details)
        if (
          model === 'rich' &&
          reason !== null &&
          !(days[dates.indexOf(date)]?.thrown && /^Internal error \(/.test(reason))
        )
          assert.match(reason, WORDS);
    }
    await assertReadable(service);
    await service.stop();
  };
  await fc.assert(fc.asyncProperty(week, check), { numRuns: runs(5, 300) });
});
