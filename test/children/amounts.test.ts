import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { inLongForm } from '../support/long.ts';
import { auditScripts } from '../support/replays.ts';
import { type TestService, startTestService } from '../support/service.ts';

/**
 * Amounts beyond 2^53 / 10,000 dollars, and whatever else a model-day may throw: only it fails, in
 * words.
 */

const DATES = ['2025-11-10', '2025-11-11', '2025-11-12', '2025-11-13'] as const;
const WEEK = { start_date: DATES[0], end_date: DATES[2] };
const LATER = { start_date: DATES[3], end_date: DATES[3] };
const MOST = 100_000_000;

/** Of a symbol on the first dates: `open close`, each once or the last again and again. */
const bars = (symbol: string, prices: readonly string[], days: number = DATES.length) =>
  DATES.slice(0, days).map((date, day) => `${symbol} ${date} ${prices[day] ?? prices.at(-1)}`);
/** So that a date has prices, whatever becomes of the others. */
const MSFT = bars('MSFT', ['200 200']);

const configurationOf = (rich: readonly string[], symbols: readonly string[]) => ({
  models: [...rich, 'calm'].map((signature) => ({ signature, enabled: true })),
  agent_config: { stock_symbols: [...symbols, 'MSFT'], max_steps: 5 },
});
/** The calm model asks on every day for what the others hold. */
const calm = (symbols: readonly string[]): Script => {
  const asks: Script[string] = [
    [
      ...symbols.flatMap((symbol): Script[string][0] => [
        ['get_price', { symbol }],
        ['get_price_history', { symbol, days: 10 }],
      ]),
      ['buy', { symbol: 'MSFT', amount: 1 }],
    ],
  ];
  return Object.fromEntries(DATES.map((date) => [`calm ${date}`, asks]));
};
const buy = (symbol: string, amount: number): Script[string] => [[['buy', { symbol, amount }]]];

type Split = [symbol: string, date: string, numerator: number, denominator: number];
type Dividend = [symbol: string, exDate: string, dollars: number, basis: string];

function storeActions({ database }: TestService, splits: Split[], dividends: Dividend[]): void {
  const split =
    'INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES (?, ?, ?, ?)';
  const dividend = 'INSERT INTO dividends (symbol, ex_date, cash_e6, basis) VALUES (?, ?, ?, ?)';
  for (const row of splits) database.statement(split).run(...row);
  for (const [symbol, exDate, dollars, basis] of dividends)
    database.statement(dividend).run(symbol, exDate, dollars * 1e6, basis);
}

/** What all requests that read model-days answer: each must be answered, for all models. */
async function assertReadable(service: TestService, rich: string): Promise<void> {
  for (const path of [
    ...['/results', '/performance', '/performance?details=true', '/performance?model=calm'],
    ...['/models', `/holdings?model=${rich}`, '/decisions', '/comparison'],
  ])
    assert.equal((await service.get(path)).status, 200, path);
  const { damage, problems } = await auditScripts(service);
  assert.deepEqual([damage, problems.first], [[], []]);
}

const errorsOf = (details: any[], model: string): (string | null)[] =>
  details.filter((detail) => detail.model === model).map(({ error }) => error);

interface Case {
  prices: string[];
  days?: number;
  amount?: number;
  splits?: [date: string, numerator: number, denominator: number][];
  dividend?: [dollars: number, basis: string];
  /**
   * Of its model, on each date and on that of the next job, which starts from its last completed
   * day; null: completed.
   */
  errors: (RegExp | null)[];
}

const VALUE =
  /^The portfolio's value exceeds 900,719,925,474\.0991 dollars, the most that is counted exactly$/;
const SHARES = /^Cannot split .* too many shares$/;
const PRICE =
  /^The price of S\d on 2025-11-1[23], 10,000,000,000,000\.00 dollars, exceeds 900,719,925,474\.0991/;
const AMOUNT = /^An amount of 100,000,000,000,000\.00 dollars exceeds 900,719,925,474\.0991/;
const CASH = /^Cash per share of 1000000000000 dollars exceeds/;

const [FREE, SPLIT] = ['0.0001 0.0001', 1_000_000];
const cases: Record<string, Case> = {
  'a held position at the close': { prices: ['0.0001 10000000', FREE], errors: [VALUE] },
  'a held position at the next open': {
    prices: [FREE, '10000000 10000000', '10000000 10000000', '1 1'],
    errors: [null, VALUE, VALUE],
  },
  'a split into more shares than can be counted': {
    prices: [FREE],
    days: 3,
    errors: [null, null, SHARES, SHARES],
    splits: [
      [DATES[1], SPLIT, 1],
      [DATES[2], SPLIT, 1],
    ],
  },
  'a dividend beyond all cash': {
    prices: [FREE],
    days: 3,
    dividend: [1_000_000, 'as_paid'],
    errors: [null, AMOUNT, AMOUNT, AMOUNT],
  },
  'a dividend that a split multiplies': {
    prices: ['100 100'],
    days: 3,
    amount: 1,
    splits: [[DATES[2], SPLIT, 1]],
    dividend: [1_000_000, 'split_adjusted'],
    errors: [null, CASH, CASH, CASH],
  },
  'a previous close that a reverse split multiplies, of a position that is held': {
    prices: ['10 10000000'],
    days: 2,
    amount: 10,
    splits: [[DATES[2], 1, SPLIT]],
    errors: [null, null, PRICE, PRICE],
  },
};

test('amounts beyond what is counted exactly fail only the model-days of those who hold them, in words', async (t) => {
  const all = Object.entries(cases).map(([name, one], index) => ({
    ...{ name, symbol: `S${index}`, model: `rich-${index}`, days: 4, amount: MOST },
    ...one,
  }));
  const symbols = all.map(({ symbol }) => symbol);
  const orders = all.map(({ model, symbol, amount }) => [
    `${model} ${DATES[0]}`,
    buy(symbol, amount),
  ]);
  const service = await startTestService(t, {
    configuration: configurationOf(
      all.map(({ model }) => model),
      symbols,
    ),
    prices: [...MSFT, ...all.flatMap((one) => bars(one.symbol, one.prices, one.days))].join('\n'),
    agent: scriptedAgent({ ...calm(symbols), ...Object.fromEntries(orders) }),
  });
  storeActions(
    service,
    all.flatMap(({ symbol, splits = [] }) => splits.map((split): Split => [symbol, ...split])),
    all.flatMap(({ symbol, dividend }): Dividend[] =>
      dividend === undefined ? [] : [[symbol, DATES[1], ...dividend]],
    ),
  );
  const [week, later] = [await service.runJob(WEEK), await service.runJob(LATER)];
  assert.deepEqual([week.status, week.error, later.error], ['partial', null, null]);
  const details = [...week.details, ...later.details];
  assert.deepEqual(errorsOf(details, 'calm'), [null, null, null, null]);
  for (const { name, model, errors } of all)
    for (const [day, found] of errorsOf(details, model).entries())
      assert.match(String(found), errors[day] ?? /^null$/, `${name}, ${DATES[day]}`);
  await assertReadable(service, 'rich-0');
});

test(
  'sums and prices of today beyond what is counted exactly are reported, rounded, for all models',
  inLongForm,
  async (t) => {
    const turn: Script[string] = [
      [
        ['sell', { symbol: 'AAPL', amount: MOST }],
        ['buy', { symbol: 'AAPL', amount: MOST }],
      ],
    ];
    const orders = DATES.map((date, day) => [`rich ${date}`, day === 0 ? buy('AAPL', MOST) : turn]);
    const service = await startTestService(t, {
      configuration: configurationOf(['rich'], ['AAPL']),
      prices: [...MSFT, ...bars('AAPL', ['0.0001 5000', '5000 5000'])].join('\n'),
      agent: scriptedAgent({ ...calm(['AAPL']), ...Object.fromEntries(orders) }),
      isForged: true,
    });
    assert.equal((await service.runJob({ ...WEEK, end_date: DATES[3] })).status, 'completed');
    await assertReadable(service, 'rich');
    const { models } = (await service.get('/performance?model=rich')).body;
    assert.ok(models[0].trading.turnover > 0, JSON.stringify(models[0].trading));
    service.database
      .statement("UPDATE price_data SET close = 10000000 WHERE symbol = 'AAPL' AND date = ?")
      .run(DATES[3]);
    for (const path of ['/performance', '/performance?model=rich&details=true'])
      assert.equal((await service.get(path)).status, 200, path);
  },
);

/** What a bug may throw. */
const thrown = [new RangeError('a bug'), new Error('spawn EPERM'), 'words', null];
test('whatever a model-day throws, no other fails with it, and no job ends with it', async (t) => {
  const agent = scriptedAgent(calm(['AAPL']));
  const startChild: typeof agent.startChild = (program, rights, modelDay) => {
    if (modelDay.model === 'rich') throw thrown[DATES.indexOf(modelDay.date as never)];
    return agent.startChild(program, rights, modelDay);
  };
  const service = await startTestService(t, {
    configuration: configurationOf(['rich'], ['AAPL']),
    prices: [...MSFT, ...bars('AAPL', ['100 100'])].join('\n'),
    agent: { ...agent, startChild },
  });
  const { error, details } = await service.runJob({ ...WEEK, end_date: DATES[3] });
  assert.deepEqual([error, ...errorsOf(details, 'calm')], Array(5).fill(null));
  for (const found of errorsOf(details, 'rich')) assert.match(String(found), /^Internal error \(/);
  await assertReadable(service, 'rich');
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

test('whatever random model-days throw, everything stays readable', inLongForm, async (t) => {
  const week = fc.array(anyDay, { minLength: 4, maxLength: 4 });
  const check = async (days: typeof anyDay extends fc.Arbitrary<infer Day> ? Day[] : never) => {
    /** What there is of a day, with its date. */
    const dated = <Kind extends 'bar' | 'split' | 'dividend'>(kind: Kind) =>
      days.flatMap((day, index): [string, NonNullable<(typeof day)[Kind]>][] =>
        day[kind] === null ? [] : [[DATES[index] as string, day[kind]]],
      );
    const orders = days.map(({ calls }, index) => [
      `rich ${DATES[index]}`,
      calls.length === 0 ? [] : [calls.map(([name, amount]) => [name, { symbol: 'AAPL', amount }])],
    ]);
    const agent = scriptedAgent({ ...calm(['AAPL']), ...Object.fromEntries(orders) });
    const thrownOn = (date: string) => days[(DATES as readonly string[]).indexOf(date)]?.thrown;
    const startChild: typeof agent.startChild = (program, rights, modelDay) => {
      const thrown = modelDay.model === 'rich' ? thrownOn(modelDay.date) : null;
      if (thrown) throw thrown();
      return agent.startChild(program, rights, modelDay);
    };
    const own = dated('bar').map(([date, bar]) => `AAPL ${date} ${bar.join(' ')}`);
    const service = await startTestService(t, {
      configuration: configurationOf(['rich'], ['AAPL']),
      prices: [...MSFT, ...own].join('\n'),
      agent: { ...agent, startChild },
    });
    storeActions(
      service,
      dated('split').map(([date, split]) => ['AAPL', date, ...split]),
      dated('dividend').map(([date, dividend]) => ['AAPL', date, ...dividend]),
    );
    for (const job of [WEEK, LATER]) {
      const { error, details } = await service.runJob(job);
      assert.deepEqual([error, [...new Set(errorsOf(details, 'calm'))]], [null, [null]]);
      for (const { date, model, error: reason } of details)
        if (
          model === 'rich' &&
          reason !== null &&
          !(thrownOn(date) && /^Internal error \(/.test(reason))
        )
          assert.match(reason, WORDS);
    }
    await assertReadable(service, 'rich');
    await service.stop();
  };
  await fc.assert(fc.asyncProperty(week, check), { numRuns: 300 });
});
