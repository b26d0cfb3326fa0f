import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstMessages } from '../../src/agent/prompt.ts';
import { addDays, weekdays } from '../../src/basics/calendar.ts';
import { openDatabase } from '../../src/database/database.ts';
import { dividendBases, type DividendBasis } from '../../src/database/splits-and-dividends.ts';
import { fromDollars, money } from '../../src/basics/money.ts';
import { cashPerShare, dividendOn, payDividend } from '../../src/trading/morning.ts';
import { auditOf, type Books, createBooks, type Order } from '../support/books.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { runs } from '../support/long.ts';
import { readPrices } from '../support/prices.ts';
import { anyBars, anyEvents, booksIn } from '../support/random-books.ts';

/** 2025-01-09 is a holiday. AAPL does not move; ORLY halves on the morning of 2025-01-06. */
const PRICES = `
  AAPL 2025-01-02 100 100
  AAPL 2025-01-03 100 100
  AAPL 2025-01-06 100 100
  AAPL 2025-01-07 100 100
  AAPL 2025-01-08 100 100
  AAPL 2025-01-10 100 100
  ORLY 2025-01-02 40 40
  ORLY 2025-01-03 40 40
  ORLY 2025-01-06 20 20
  ORLY 2025-01-07 20 20`;

type Told = [symbol: string, exDate: string, cash: number, basis?: DividendBasis];
type Day = [date: string, ...orders: Order[]];

interface Case {
  dividends: Told[];
  splits?: [symbol: string, date: string, numerator: number, denominator: number][];
  days: Day[];
  source?: string;
  paysDividends?: boolean;
}

const TEN: Order = ['buy', 'AAPL', 10];
const TEN_ORLY: Order = ['buy', 'ORLY', 10];

/** Books in which everything was known before the first day. */
async function booksOf({
  dividends,
  splits = [],
  days,
  source = 'csv',
  paysDividends = true,
}: Case): Promise<Books> {
  const books = createBooks(':memory:', { paysDividends });
  for (const { symbol, date, open, close } of readPrices(PRICES))
    books.setBar(symbol, date, { open, close, source });
  for (const split of splits) books.setSplit(...split);
  for (const dividend of dividends) books.setDividend(...dividend);
  books.wait(3600);
  for (const [date, ...orders] of days) await books.day(date, orders);
  return books;
}

const cases: [name: string, done: Case, table: string][] = [
  [
    'what was held at the close before is paid, whatever is traded on the ex-date',
    {
      dividends: [['AAPL', '2025-01-03', 0.26]],
      days: [
        ['2025-01-02', TEN],
        ['2025-01-03', ['sell', 'AAPL', 10]],
      ],
    },
    `2025-01-02 buy AAPL 10 100       => 9000 10000 0 AAPL:10
     2025-01-03 dividend AAPL 10 0.26 => 9002.6 10002.6 2.6 AAPL:10
     2025-01-03 sell AAPL 10 100      => 10002.6 10002.6 2.6`,
  ],
  [
    'what is bought at the open of the ex-date gets nothing, then or later',
    {
      dividends: [['AAPL', '2025-01-03', 1]],
      days: [['2025-01-02', TEN], ['2025-01-03', TEN], ['2025-01-06']],
    },
    `2025-01-02 buy AAPL 10 100    => 9000 10000 0 AAPL:10
     2025-01-03 dividend AAPL 10 1 => 9010 10010 10 AAPL:10
     2025-01-03 buy AAPL 10 100    => 8010 10010 10 AAPL:20
     2025-01-06 no_trade           => 8010 10010 0 AAPL:20`,
  ],
  [
    'a position opened at the open of the ex-date gets nothing',
    { dividends: [['AAPL', '2025-01-03', 1]], days: [['2025-01-03', TEN], ['2025-01-06']] },
    `2025-01-03 buy AAPL 10 100 => 9000 10000 0 AAPL:10
     2025-01-06 no_trade        => 9000 10000 0 AAPL:10`,
  ],
  [
    'what was sold the day before gets nothing',
    {
      dividends: [['AAPL', '2025-01-06', 1]],
      days: [['2025-01-02', TEN], ['2025-01-03', ['sell', 'AAPL', 10]], ['2025-01-06']],
    },
    `2025-01-02 buy AAPL 10 100  => 9000 10000 0 AAPL:10
     2025-01-03 sell AAPL 10 100 => 10000 10000 0
     2025-01-06 no_trade         => 10000 10000 0`,
  ],
  [
    'an ex-date on a holiday counts on the next day',
    { dividends: [['AAPL', '2025-01-09', 0.5]], days: [['2025-01-08', TEN], ['2025-01-10']] },
    `2025-01-08 buy AAPL 10 100      => 9000 10000 0 AAPL:10
     2025-01-10 dividend AAPL 10 0.5 => 9005 10005 5 AAPL:10
     2025-01-10 no_trade             => 9005 10005 5 AAPL:10`,
  ],
  [
    'two ex-dates between two days leave two records, in order; those of the first day and after the second do not count',
    {
      dividends: [
        ['AAPL', '2025-01-08', 2],
        ['AAPL', '2025-01-03', 8],
        ['AAPL', '2025-01-06', 1],
        ['AAPL', '2025-01-11', 4],
      ],
      days: [['2025-01-03', TEN], ['2025-01-10']],
    },
    `2025-01-03 buy AAPL 10 100    => 9000 10000 0 AAPL:10
     2025-01-10 dividend AAPL 10 1 => 9010 10010 10 AAPL:10
     2025-01-10 dividend AAPL 10 2 => 9030 10030 30 AAPL:10
     2025-01-10 no_trade           => 9030 10030 30 AAPL:10`,
  ],
  [
    'on one day the dividend comes before the split',
    {
      dividends: [['ORLY', '2025-01-06', 1]],
      splits: [['ORLY', '2025-01-06', 2, 1]],
      days: [['2025-01-03', TEN_ORLY], ['2025-01-06']],
    },
    `2025-01-03 buy ORLY 10 40     => 9600 10000 0 ORLY:10
     2025-01-06 dividend ORLY 10 1 => 9610 9810 -190 ORLY:10
     2025-01-06 split ORLY 10 20   => 9610 10010 10 ORLY:20
     2025-01-06 no_trade           => 9610 10010 10 ORLY:20`,
  ],
  [
    'a dividend after a split is paid on the new shares',
    {
      dividends: [['ORLY', '2025-01-07', 1]],
      splits: [['ORLY', '2025-01-06', 2, 1]],
      days: [['2025-01-03', TEN_ORLY], ['2025-01-07']],
    },
    `2025-01-03 buy ORLY 10 40     => 9600 10000 0 ORLY:10
     2025-01-07 split ORLY 10 20   => 9600 10000 0 ORLY:20
     2025-01-07 dividend ORLY 20 1 => 9620 10020 20 ORLY:20
     2025-01-07 no_trade           => 9620 10020 20 ORLY:20`,
  ],
  [
    'a holding that a reverse split paid out gets nothing',
    {
      dividends: [['AAPL', '2025-01-07', 1]],
      splits: [['AAPL', '2025-01-06', 1, 20]],
      days: [['2025-01-03', TEN], ['2025-01-07']],
    },
    `2025-01-03 buy AAPL 10 100   => 9000 10000 0 AAPL:10
     2025-01-07 split AAPL -10 100 => 9050 9050 -950
     2025-01-07 no_trade           => 9050 9050 -950`,
  ],
  [
    'half a unit is rounded to the even one, up and down, and a payment of nothing leaves its record',
    {
      dividends: [
        ['AAPL', '2025-01-03', 0.00005],
        ['ORLY', '2025-01-03', 0.00015],
      ],
      days: [['2025-01-02', ['buy', 'AAPL', 1], ['buy', 'ORLY', 1]], ['2025-01-03']],
    },
    `2025-01-02 buy AAPL 1 100           => 9900 10000 0 AAPL:1
     2025-01-02 buy ORLY 1 40            => 9860 10000 0 AAPL:1 ORLY:1
     2025-01-03 dividend AAPL 1 0        => 9860 10000 0 AAPL:1 ORLY:1
     2025-01-03 dividend ORLY 1 0.0002   => 9860.0002 10000.0002 0.0002 AAPL:1 ORLY:1
     2025-01-03 no_trade                 => 9860.0002 10000.0002 0.0002 AAPL:1 ORLY:1`,
  ],
  [
    'on split-adjusted prices, cash as paid is divided by the splits from the ex-date on',
    {
      dividends: [['AAPL', '2025-01-03', 1]],
      splits: [
        ['AAPL', '2025-01-02', 7, 1],
        ['AAPL', '2025-01-03', 2, 1],
        ['AAPL', '2025-06-02', 2, 1],
      ],
      days: [['2025-01-02', TEN], ['2025-01-03']],
      source: 'yahoo',
    },
    `2025-01-02 buy AAPL 10 100       => 9000 10000 0 AAPL:10
     2025-01-03 dividend AAPL 10 0.25 => 9002.5 10002.5 2.5 AAPL:10
     2025-01-03 no_trade              => 9002.5 10002.5 2.5 AAPL:10`,
  ],
  [
    'on raw prices, a split-adjusted amount is multiplied by the splits from the ex-date on',
    {
      dividends: [['AAPL', '2025-01-03', 0.25, 'split_adjusted']],
      splits: [
        ['AAPL', '2025-01-02', 7, 1],
        ['AAPL', '2025-06-02', 4, 1],
      ],
      days: [['2025-01-02', TEN], ['2025-01-03']],
    },
    `2025-01-02 buy AAPL 10 100    => 9000 10000 0 AAPL:10
     2025-01-03 dividend AAPL 10 1 => 9010 10010 10 AAPL:10
     2025-01-03 no_trade           => 9010 10010 10 AAPL:10`,
  ],
  [
    'a split-adjusted amount is paid as it is on split-adjusted prices',
    {
      dividends: [['AAPL', '2025-01-03', 0.25, 'split_adjusted']],
      splits: [['AAPL', '2025-06-02', 4, 1]],
      days: [['2025-01-02', TEN], ['2025-01-03']],
      source: 'disguise',
    },
    `2025-01-02 buy AAPL 10 100       => 9000 10000 0 AAPL:10
     2025-01-03 dividend AAPL 10 0.25 => 9002.5 10002.5 2.5 AAPL:10
     2025-01-03 no_trade              => 9002.5 10002.5 2.5 AAPL:10`,
  ],
];
const UNPAID = `
  2025-01-02 buy AAPL 10 100 => 9000 10000 0 AAPL:10
  2025-01-03 no_trade        => 9000 10000 0 AAPL:10`;
const HELD: Case = {
  dividends: [['AAPL', '2025-01-03', 1]],
  days: [['2025-01-02', TEN], ['2025-01-03']],
};
cases.push(
  ['prices of Stooq contain dividends, so none is paid', { ...HELD, source: 'stooq' }, UNPAID],
  ['synthetic prices have no dividends', { ...HELD, source: 'synthetic' }, UNPAID],
  [
    'a job without dividends has the ledger that it had before dividends were known',
    { ...HELD, paysDividends: false },
    UNPAID,
  ],
);
for (const [name, done, table] of cases) {
  test(`dividends: ${name}`, async () => {
    const { database } = await booksOf(done);
    assert.deepEqual(ledgerOf(database, 'model-a'), ledger(table));
    assert.deepEqual(await auditOf(database), { problems: [], unverifiable: [], stale: [] });
    database.close();
  });
}

const NOT_STALE: string[] = [];
const STALE = ['model-a 2025-01-03'];
/**
 * What happens after a day that paid 1 dollar on 10 shares of AAPL, and whether it is stale then.
 */
const changes: [
  name: string,
  change: (books: Books) => void,
  stale: string[],
  done?: Partial<Case>,
][] = [
  [
    'learned late',
    ({ setDividend }) => setDividend('AAPL', '2025-01-03', 1),
    STALE,
    { dividends: [] },
  ],
  ['revised', ({ setDividend }) => setDividend('AAPL', '2025-01-03', 1.01), STALE],
  [
    'revised to the same cash, but split-adjusted',
    ({ setDividend }) => setDividend('AAPL', '2025-01-03', 1, 'split_adjusted'),
    STALE,
  ],
  [
    'revised, and back',
    ({ setDividend }) => (
      setDividend('AAPL', '2025-01-03', 2), setDividend('AAPL', '2025-01-03', 1)
    ),
    NOT_STALE,
  ],
  ['removed', ({ remove }) => remove('dividends', 'AAPL', '2025-01-03'), STALE],
  [
    'removed, and told again',
    ({ remove, setDividend }) => (
      remove('dividends', 'AAPL', '2025-01-03'), setDividend('AAPL', '2025-01-03', 1)
    ),
    NOT_STALE,
  ],
  [
    'moved to a later date',
    ({ database }) => void database.statement(`UPDATE dividends SET ex_date = '2025-01-06'`).run(),
    STALE,
  ],
  [
    'another, of the day it started from',
    ({ setDividend }) => setDividend('AAPL', '2025-01-02', 1),
    NOT_STALE,
  ],
  [
    'another, of a later date',
    ({ setDividend }) => setDividend('AAPL', '2025-01-06', 1),
    NOT_STALE,
  ],
  [
    'another, of something not held',
    ({ setDividend }) => setDividend('ORLY', '2025-01-03', 1),
    NOT_STALE,
  ],
  [
    'learned late, by a job without dividends',
    ({ setDividend }) => setDividend('AAPL', '2025-01-03', 1),
    NOT_STALE,
    { dividends: [], paysDividends: false },
  ],
  [
    'learned late, where prices contain dividends',
    ({ setDividend }) => setDividend('AAPL', '2025-01-03', 1),
    NOT_STALE,
    { dividends: [], source: 'stooq' },
  ],
  [
    'a later split learned, of raw prices',
    ({ setSplit }) => setSplit('AAPL', '2025-06-02', 4, 1),
    NOT_STALE,
  ],
  [
    'a later split learned, of split-adjusted prices',
    ({ setSplit }) => setSplit('AAPL', '2025-06-02', 4, 1),
    STALE,
    { source: 'yahoo' },
  ],
  [
    'a later split removed, of split-adjusted prices',
    ({ remove }) => remove('stock_splits', 'AAPL', '2025-06-02'),
    STALE,
    { source: 'yahoo', splits: [['AAPL', '2025-06-02', 4, 1]] },
  ],
  [
    'a later split corrected, of split-adjusted prices',
    ({ setSplit }) => setSplit('AAPL', '2025-06-02', 5, 1),
    STALE,
    { source: 'yahoo', splits: [['AAPL', '2025-06-02', 4, 1]] },
  ],
  [
    'an earlier split learned, of split-adjusted prices',
    ({ setSplit }) => setSplit('AAPL', '2025-01-02', 4, 1),
    NOT_STALE,
    { source: 'yahoo' },
  ],
];
for (const [name, change, stale, done] of changes) {
  test(`a dividend, ${name}: ${stale.length === 0 ? 'the day that paid is not stale' : 'the day is stale'}, and adds up as of its commit`, async () => {
    const books = await booksOf({ ...HELD, ...done });
    books.wait(3600);
    change(books);
    assert.deepEqual(await auditOf(books.database), { problems: [], unverifiable: [], stale });
    books.database.close();
  });
}

const told = (books: Books) => books.setDividend('AAPL', '2025-01-03', 1);
/** What happens while a day is open that started with 10 shares of AAPL. */
const meanwhile: [name: string, change: (books: Books) => void, dividends: Told[]][] = [
  ['learned', told, []],
  ['removed', ({ remove }) => remove('dividends', 'AAPL', '2025-01-03'), HELD.dividends],
];
for (const [name, change, dividends] of meanwhile) {
  test(`a dividend ${name} while its day runs makes the day stale`, async () => {
    const books = await booksOf({ dividends, days: [['2025-01-02', TEN]] });
    const session = await books.open('2025-01-03');
    change(books);
    await books.complete(session);
    assert.deepEqual(await auditOf(books.database), {
      problems: [],
      unverifiable: [],
      stale: STALE,
    });
    books.database.close();
  });
}

test('the brief says which dividends were received, and the tools see the same cash', async () => {
  const books = await booksOf({
    dividends: [
      ['AAPL', '2025-01-03', 0.260001],
      ['AAPL', '2025-01-05', 1],
    ],
    days: [['2025-01-02', TEN]],
  });
  const session = await books.open('2025-01-06');
  const { brief } = session;
  assert.deepEqual(brief.dividends, [
    { symbol: 'AAPL', exDate: '2025-01-03', shares: 10, cashPerShare: 0.260001, cash: 2.6 },
    { symbol: 'AAPL', exDate: '2025-01-05', shares: 10, cashPerShare: 1, cash: 10 },
  ]);
  const toolCalls = [{ id: '1', name: 'get_portfolio', arguments: '{}' }];
  const { results } = await session.answer({
    type: 'answer',
    content: '',
    toolCalls,
    reasoning: null,
    usage: null,
    note: null,
  });
  const { cash, holdings, portfolioValue } = brief;
  assert.deepEqual(JSON.parse(results[0]?.content ?? ''), {
    cash,
    holdings,
    portfolio_value: portfolioValue,
  });
  assert.equal(cash, 9012.6);
  const [, user] = firstMessages(brief);
  assert.match(
    String(user?.content),
    /\n\nDividends received this morning:\nAAPL: 2.6, which is 0.260001 on each of 10 shares \(ex-date 2025-01-03\)\nAAPL: 10, /,
  );
  const none = await (await booksOf({ ...HELD, days: [] })).open('2025-01-03');
  assert.equal('dividends' in none.brief, false);
  assert.doesNotMatch(
    firstMessages(none.brief)
      .map(({ content }) => content)
      .join(),
    /ividend/,
  );
});

test('a session interrupted before a dividend was learned continues with the prices of its morning, and is stale', async () => {
  const books = await booksOf({ dividends: [], days: [['2025-01-02', TEN]] });
  const first = await books.open('2025-01-03');
  first.leave();
  told(books);
  const resumed = await books.reopen(first.modelDay);
  await resumed.resume();
  await resumed.prompt(firstMessages(resumed.brief));
  await books.complete(resumed);
  assert.deepEqual(ledgerOf(books.database, 'model-a').slice(1), [
    '2025-01-03 no_trade => 9000 10000 0 AAPL:10',
  ]);
  assert.deepEqual(await auditOf(books.database), { problems: [], unverifiable: [], stale: STALE });
});

const anyRatio = fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000 }));
const anyCash = fc.integer({ min: 1, max: 1_000_000_000 });
const RUNS = runs(40, 5_000);

/**
 * Whether `rounded` is numerator / denominator, rounded to the nearest integer and halves to the
 * even one.
 */
function isRoundedHalfEven(rounded: bigint, numerator: bigint, denominator: bigint): boolean {
  const twice = 2n * (rounded * denominator - numerator);
  const isTie = twice === denominator || twice === -denominator;
  return isTie ? rounded % 2n === 0n : twice < denominator && twice > -denominator;
}

test('cash per share is the amount times or over all splits, rounded once, halves to even', () => {
  fc.assert(
    fc.property(
      anyCash,
      fc.constantFrom(...dividendBases),
      fc.array(anyRatio, { maxLength: 3 }),
      (cash, basis, ratios) => {
        const splits = ratios
          .map(
            ([numerator, denominator], index) =>
              `2025-01-0${index + 1} ${numerator}:${denominator}`,
          )
          .join(', ');
        const product = (at: 0 | 1) => ratios.reduce((all, ratio) => all * BigInt(ratio[at]), 1n);
        const [times, by] =
          basis === 'as_paid' ? [product(1), product(0)] : [product(0), product(1)];
        if (BigInt(cash) * times > BigInt(Number.MAX_SAFE_INTEGER) * by) {
          assert.throws(() => cashPerShare({ cash, basis, splits }), RangeError);
          return;
        }
        const perShare = BigInt(cashPerShare({ cash, basis, splits }));
        assert.ok(isRoundedHalfEven(perShare, BigInt(cash) * times, by), `${perShare}`);
      },
    ),
    { numRuns: RUNS },
  );
});

test('a payment is shares times cash per share, rounded once, halves to even; nothing else changes', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_000_000 }),
      anyCash,
      fc.integer({ min: 0, max: 1_000_000_000 }),
      (shares, perShare, cash) => {
        const holdings = new Map([
          ['MSFT', 3],
          ...(shares === 0 ? [] : [['AAPL', shares] as const]),
        ]);
        const paid = payDividend({ cash: money(cash), holdings }, { symbol: 'AAPL', perShare });
        assert.ok(isRoundedHalfEven(BigInt(paid.cash), BigInt(shares) * BigInt(perShare), 100n));
        assert.equal(paid.cash, dividendOn(shares, perShare));
        assert.deepEqual(paid, {
          shares,
          cash: paid.cash,
          portfolio: { cash: cash + paid.cash, holdings },
        });
      },
    ),
    { numRuns: RUNS },
  );
});

test('cash per share that no number holds exactly is refused, not rounded', () => {
  const dividend = {
    cash: 1_000_000_000_000,
    basis: 'split_adjusted',
    splits: '2025-01-01 1000000:1',
  } as const;
  assert.throws(
    () => cashPerShare(dividend),
    /^RangeError: Cash per share of 1000000000000 dollars exceeds what is counted exactly$/,
  );
});

const FIRST = '2025-01-01';
const DAYS = 8;
const anyDay = fc.record({
  takesPart: fc.boolean(),
  order: fc.tuple(
    fc.constantFrom('buy', 'sell'),
    fc.constantFrom('AAPL', 'MSFT'),
    fc.integer({ min: 1, max: 30 }),
  ),
});
const anyDividend = fc.record({
  symbol: fc.constantFrom('AAPL', 'MSFT'),
  day: fc.integer({ min: 0, max: DAYS }),
  cash: fc.integer({ min: 1, max: 2_000_000 }),
});

test('along any history cash is what was there, plus sales and dividends, minus purchases, to the last unit', async () => {
  const database = openDatabase(':memory:');
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyDay, { minLength: DAYS, maxLength: DAYS }),
      fc.uniqueArray(anyDividend, {
        maxLength: 8,
        selector: ({ symbol, day }) => `${symbol} ${day}`,
      }),
      async (days, dividends) => {
        const books = createBooks(database);
        for (const symbol of ['AAPL', 'MSFT', 'ORLY'])
          for (let day = 0; day < DAYS; day += 1)
            books.setBar(symbol, addDays(FIRST, day), { open: 37 + day, close: 38 + day });
        for (const { symbol, day, cash } of dividends)
          books.setDividend(symbol, addDays(FIRST, day), cash / 1_000_000);
        let cash = BigInt(fromDollars(10_000));
        const held: Record<string, bigint> = { AAPL: 0n, MSFT: 0n };
        let last = 0;
        for (const [day, { takesPart, order }] of days.entries()) {
          if (!takesPart) continue;
          await books.day(addDays(FIRST, day), [order]);
          for (const dividend of dividends)
            if (dividend.day > last && dividend.day <= day) {
              const millionths = (held[dividend.symbol] ?? 0n) * BigInt(dividend.cash);
              const [units, rest] = [millionths / 100n, millionths % 100n];
              cash += units + (rest > 50n || (rest === 50n && units % 2n === 1n) ? 1n : 0n);
            }
          const [side, symbol, amount] = order;
          const cost = BigInt(amount) * BigInt(37 + day) * 10_000n;
          if (side === 'buy' && cost <= cash) {
            cash -= cost;
            held[symbol] = (held[symbol] ?? 0n) + BigInt(amount);
          } else if (side === 'sell' && BigInt(amount) <= (held[symbol] ?? 0n)) {
            cash += cost;
            held[symbol] = (held[symbol] ?? 0n) - BigInt(amount);
          }
          last = day;
        }
        const end = database
          .statement('SELECT cash_e4 FROM positions ORDER BY position_id DESC LIMIT 1')
          .get()?.['cash_e4'];
        if (end !== undefined) assert.equal(BigInt(Number(end)), cash);
        assert.deepEqual(await auditOf(database), { problems: [], unverifiable: [], stale: [] });
      },
    ),
    { numRuns: runs(8, 200) },
  );
  database.close();
});

/** Dollars with four decimals, as prices are stored. */
const rounded = (dollars: number) => Math.round(dollars * 10_000) / 10_000;

/**
 * A year of raw bars whose opens fall by exactly what a dividend or a split takes out of the share.
 */
function rawYear(
  dates: readonly string[],
  paid: ReadonlyMap<string, number>,
  ratios: ReadonlyMap<string, number>,
) {
  let close = 2;
  return dates.map((date, day) => {
    const open = rounded((close - (paid.get(date) ?? 0)) / (ratios.get(date) ?? 1));
    close = rounded(open * (1 + Math.sin(day * 1.7) / 50 + 0.001));
    return { date, open, close };
  });
}

/**
 * The same year as sources of adjusted closes show it: earlier prices are scaled by every dividend
 * and split after them.
 */
function adjustedYear(
  bars: ReturnType<typeof rawYear>,
  paid: ReadonlyMap<string, number>,
  ratios: ReadonlyMap<string, number>,
) {
  let factor = 1;
  return bars.toReversed().map(({ date, open, close }, index) => {
    const adjusted = { date, open: rounded(open * factor), close: rounded(close * factor) };
    const before = bars.at(-2 - index)?.close ?? 1;
    factor *= (before - (paid.get(date) ?? 0)) / before / (ratios.get(date) ?? 1);
    return adjusted;
  });
}

test('a year of buy-and-hold: raw prices, splits and reinvested dividends make what adjusted closes do, but for whole shares and cents', async () => {
  const dates = weekdays('2024-01-02', '2024-12-31');
  const exDates = [30, 95, 160, 225].map((day) => dates[day] as string);
  const paid = new Map(exDates.map((date, quarter) => [date, 0.012 + quarter / 1_000]));
  const ratios = new Map([[dates[120] as string, 2]]);
  const books = createBooks();
  const raw = rawYear(dates, paid, ratios);
  for (const { date, ...bar } of raw) books.setBar('AAPL', date, bar);
  for (const { date, ...bar } of adjustedYear(raw, paid, ratios))
    books.setBar('MSFT', date, { ...bar, source: 'stooq' });
  for (const [date, cash] of paid) books.setDividend('AAPL', date, cash);
  for (const [date, ratio] of ratios) books.setSplit('AAPL', date, ratio, 1);
  books.wait(3600);
  const invest = async (date: string, symbol: string, model: string) => {
    const session = await books.open(date, model);
    const open = session.brief.quotes.find((quote) => quote.symbol === symbol)?.open ?? NaN;
    await books.complete(session, [['buy', symbol, Math.floor(session.brief.cash / open)]]);
  };
  await invest(dates[0] as string, 'AAPL', 'model-a');
  await invest(dates[0] as string, 'MSFT', 'model-b');
  for (const date of exDates) await invest(date, 'AAPL', 'model-a');
  for (const model of ['model-a', 'model-b']) await books.day(dates.at(-1) as string, [], model);
  const rows = books.database
    .statement(
      `SELECT model, portfolio_value_e4 / 10000.0 AS value FROM positions JOIN trading_sessions USING (session_id) WHERE date = ?`,
    )
    .all(dates.at(-1) as string);
  const [own, other] = ['model-a', 'model-b'].map((model) =>
    Number(rows.findLast((row) => row['model'] === model)?.['value']),
  );
  const share = Math.max(...raw.map(({ close }) => close));
  const difference = Math.abs((own ?? NaN) - (other ?? NaN));
  assert.ok(
    difference < 6 * share,
    `${own} and ${other} differ by more than the shares that six purchases could not buy`,
  );
  const received = books.database
    .statement(
      `SELECT sum(amount * price_e4) / 10000.0 AS dollars FROM positions WHERE action_type = 'dividend'`,
    )
    .get();
  assert.ok(
    Number(received?.['dollars']) > 20 * difference,
    `dividends of ${received?.['dollars']} matter`,
  );
  assert.deepEqual(await auditOf(books.database), { problems: [], unverifiable: [], stale: [] });
});

/** All that a session leaves, without its time stamps. */
function leftBy({ database }: Books): unknown[] {
  const columns =
    'session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct';
  return [
    `SELECT ${columns} FROM positions ORDER BY position_id`,
    'SELECT * FROM holdings',
    'SELECT * FROM session_prices',
    'SELECT * FROM session_splits',
    'SELECT * FROM session_dividends',
    'SELECT session_id, model, date, status, started_from_session_id, initial_cash_e4, pays_dividends FROM trading_sessions',
  ].map((sql) => database.statement(sql).all());
}

test('without dividends, whatever is known of them changes neither what a session leaves nor its brief', async () => {
  const [database, other] = [openDatabase(':memory:'), openDatabase(':memory:')];
  await fc.assert(
    fc.asyncProperty(anyBars, anyEvents, async (bars, events) => {
      const silent = events
        .filter(({ type }) => type !== 'dividend')
        .map((event) =>
          event.type === 'day'
            ? { ...event, meanwhile: event.meanwhile.filter(({ type }) => type !== 'dividend') }
            : event,
        );
      const without = await booksIn(database, bars, silent, { paysDividends: false });
      const told = await booksIn(other, bars, events, { paysDividends: false });
      assert.deepEqual(leftBy(told), leftBy(without));
      const brief = async (books: Books) => (await books.open('2025-02-03')).brief;
      assert.deepEqual(await brief(told), await brief(without));
    }),
    { numRuns: runs(8, 200) },
  );
  database.close();
  other.close();
});
